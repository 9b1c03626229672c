"""Home: the latest runs by host role, what counts as speed, retractions, open claims, inquiries."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page, Record, _feed
from akvsite.pages._html import items, link, number_of, quote, recorded, table, text
from akvsite.pages._listed import READERS
from akvsite.pages._stamps import (
    Stamped,
    comparison_link,
    mark,
    retraction_link,
    run_cell,
    run_link,
    stamped,
    stamped_comparisons,
    stamped_runs,
)

LATEST = 15
LATEST_RETRACTIONS = LATEST_INQUIRIES = 5
#: Runs that are named with each of the pages that follow their tokens, steps or calls: a name is one step from the reader's question.
LATEST_FOLLOWED = 24


def write(desk: Desk) -> Iterator[Page]:
    under = stamped_runs(desk)
    runs = [r for r in desk.ask("run_list", order="-started,name") if not r["excluded"]]
    parts = [
        "# What was measured, and how far it is known\n",
        text(
            "Captures of LLM decode engines at four levels, with every number's band, what was seen of it, and what it may be used for. "
            "The pages collect; the engineer judges."
        )
        + "\n",
        "\n## What counts as speed\n",
        _speed(runs, under),
        "\n## Follow a token, a step, a call\n",
        items(_followed(runs, under, *reader) for reader in READERS),
    ]
    for role, words in (
        ("proof", "Proof hosts: quiet, capture off"), ("dev", "Development hosts: busy on purpose"), ("unknown", "No host declared"),
    ):  # fmt: skip
        of_role = [r for r in runs if r["role"] == role]
        if not of_role:
            if role == "proof":
                parts.append(f"\n## {words}\n\nNo run was captured on a proof host yet.\n")
            continue
        parts.append(f"\n## {words}\n" + _table(of_role[:LATEST], under))
        if len(of_role) > LATEST:
            parts.append(f"\n{len(of_role) - LATEST} more under {link('Runs', 'runs.html')}.\n")
    parts += [_retractions(desk), _claims(desk), _inquiries(desk), _comparisons(desk)]
    yield Page("index", "\n".join(parts))


def _speed(runs: list[Record], under: Stamped) -> str:
    speed = [r for r in runs if r["use"] == "speed"]
    rule = "Speed is stated only from runs at level off on a proof host. Everything else is structure, or a comparison under the same load."
    if not speed:
        return f"{text(rule)} No run here states speed.\n"
    return f"{text(rule)}\n" + items(run_link(r["name"], under) for r in speed)


def _followed(runs: list[Record], under: Stamped, folder: str, title: str, count: str) -> str:
    """The page of all runs that have such rows, and those of the latest of them over which no retraction stands."""
    having = [r["name"] for r in runs if r[count]]
    named = [name for name in having if name not in under][:LATEST_FOLLOWED]
    latest = ", ".join(link(name, f"{folder}/{name}.html") for name in named)
    more = (
        f" and {link(f'{len(having) - len(named)} more', f'{folder}.html')}"
        if len(having) > len(named)
        else ""
    )
    return f"{link(title, f'{folder}.html')} ({number_of(len(having), 'run')})" + (
        f": {latest}{more}" if latest else ""
    )


def _table(runs: list[Record], under: Stamped) -> str:
    return table(
        ["run", "level", "host", "steps", "device records", "calls", "captured"],
        [
            [run_cell(r["name"], under), r["level"], r["host"] or "not stated", recorded(r["steps"]), recorded(r["intervals"]),
             recorded(r["calls"]), r["started"] or "not stated"]
            for r in runs
        ],
    )  # fmt: skip


def _comparisons(desk: Desk) -> str:
    titles = {r["comparison"]: r["title"] for r in desk.ask("comparison_list", order="comparison")}
    under = stamped_comparisons(desk)
    lines = [comparison_link(name, title, under) for name, title in titles.items()]
    return "\n## Comparisons\n" + (items(lines) if lines else "\nNone declared.\n")


def _claims(desk: Desk) -> str:
    claims = [c for c in desk.ask("claim_list", order="-date,claim") if c["state"] == "open"]
    lines = [
        f"{link(c['claim'], 'claims/' + c['claim'] + '.html')} ({text(c['date'])}): {quote(c['statement'])}"
        for c in claims
    ]
    return "\n## Open claims\n" + (items(lines) if lines else "\nNone.\n")


def _retractions(desk: Desk) -> str:
    rows = desk.ask("retraction_list", order="-date,retraction", limit=LATEST_RETRACTIONS)
    lines = [
        f"{retraction_link(r['retraction'], '')} ({text(r['date'])}), of claim {link(r['claim'], 'claims/' + r['claim'] + '.html')}: {quote(r['reason'])}"
        for r in rows
    ]
    return (
        f"\n## Latest retractions\n{items(lines) if lines else chr(10) + 'None.' + chr(10)}\n{_feed.link()}\n"
    )


def _inquiries(desk: Desk) -> str:
    under = stamped(desk, "inquiry")
    lines = [
        link(r["title"], f"inquiries/{r['inquiry']}.html")
        + mark(under.get(r["inquiry"], ()))
        + f" ({text(r['date'])}): {quote(r['symptom'])}"
        for r in desk.ask("inquiry_list", order="-date,inquiry", limit=LATEST_INQUIRIES)
    ]
    return "\n## Latest inquiries\n" + (items(lines) if lines else "\nNone.\n")
