"""Tokens of each run: a page a run, on which each of them can be followed, and the list of them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import numpy as np

from akvsite.milestones import TOKEN
from akvsite.pages import Desk, Page, Record, _token_life, _token_proof, _token_time, _token_tracer
from akvsite.pages._html import counted, link, number_of, table, text
from akvsite.pages._listed import LISTINGS, closer
from akvsite.pages._quoted import quoted
from akvsite.pages._reader import absent, reader
from akvsite.pages._run import Run, load
from akvsite.pages._stamps import run_cell, stamped_runs, stamps
from akvsite.pages._token_life import Lives
from akvsite.pages.sections.tokens import ON_DEVICE, word

#: Steps with device records that are named, at most.
RECORDED = 16
_LIST = "A page a run. Each token can be followed there, from its request's arrival to its client, as far as its milestones are on record: they are so for all of its run's tokens where nothing else is said."


def write(desk: Desk) -> Iterator[Page]:
    runs = [r for r in desk.ask("run_list", order="name") if r["tokens"]]
    yield Page("tokens", _list(desk, runs))
    for listed in runs:
        yield Page(f"tokens/{listed['name']}", _page(load(desk, listed)))


def _list(desk: Desk, runs: list[Record]) -> str:
    stamped = stamped_runs(desk)
    accounts = {row["run_id"]: row for row in desk.ask("token_account")}
    rows = [
        [
            run_cell(r["name"], stamped, folder="tokens"),
            r["level"],
            r["role"],
            counted(r["tokens"]),
            *_milestones(accounts.get(r["run_id"])),
        ]
        for r in runs
    ]
    columns = [
        "run",
        "level",
        "host role",
        "tokens or chunks",
        "on record of some tokens",
        "on record of none",
    ]
    return f"# Tokens\n\n{text(_LIST)}\n" + table(columns, rows, sortable=True)


def _milestones(account: Record | None) -> list[str]:
    """Which milestones some tokens have, with how many, and which none: all others are on record of all of them."""
    if account is None:
        return ["–", ", ".join(map(word, TOKEN))]
    count = account["tokens"]
    some = [f"{word(m)}: {account[m]:,} of {count:,}" for m in TOKEN if 0 < account[m] < count]
    none = [word(m) for m in TOKEN if not account[m]]
    return [", ".join(part) or "–" for part in (some, none)]


def _page(run: Run) -> str:
    lives = _token_life.lives_of(run)
    return "\n".join(
        part
        for part in (
            f"# Tokens of {text(run.name)}\n",
            stamps(run.desk, "../", run=run.name),
            closer(run, "../", "tokens"),
            "" if lives.has.any() else absent(run, "What happened to a token inside the engine", "runner"),
            _recorded(run, lives),
            _token_proof.beside(run),
            _reader(run, lives),
            _token_time.write(run, lives),
            _token_tracer.write(run, lives.warming),
        )
        if part
    )


def _recorded(run: Run, lives: Lives) -> str:
    """Which steps' tokens have device milestones, where not all of them have: each as a link to its first token."""
    with_one = np.isin(lives.place, _token_life.DEVICE) | np.isin(lives.to_place, _token_life.DEVICE)
    tokens = np.unique(lives.owner[with_one])
    tokens = tokens[lives.steps[tokens] >= 0]
    steps, first = np.unique(lives.steps[tokens], return_index=True)
    known = len(np.unique(lives.steps[lives.steps >= 0]))
    if not 0 < len(steps) < known:
        return ""
    links = [
        link(f"{lives.step[at]:.0f}", f"{quote(run.name)}.html#token={at}")
        for at in tokens[first[:RECORDED]].tolist()
    ]
    more = f" and {len(steps) - RECORDED:,} more" if len(steps) > RECORDED else ""
    says = " In the words of the capture:" if run.note else ""
    return (
        f"\nOf {number_of(known, 'step')} with tokens {len(steps):,} have device records: step {', '.join(links)}{more}.{says}\n"
        + quoted(run.note or "")
    )


def _reader(run: Run, lives: Lives) -> str:
    first, unasked = _opens(lives)
    return reader(
        run,
        "life",
        "How did one token live?",
        listings=("tokens", "steps", "requests", "events", "phases", "calls", "intervals"),
        seen=run.seen() or ("how many there should be is unknown" if run.listed["intervals"] else ""),
        axis="both",
        # What the script calls things, said once.
        milestones=[
            {
                "name": name,
                "word": word(name),
                "device": name in ON_DEVICE,
                "tells": _teller(run, lives, name),
            }
            for name in TOKEN
        ],
        segments=list(_token_life.SEGMENTS),
        # What would tell of a kind of rows that the run has none of: empty where the run is already at that level.
        levels={one.name: "" if run.at_level(one.level) else one.level for one in LISTINGS},
        level=run.level,
        first=first,
        unasked=unasked,
        holds=_token_proof.holds(run),
        alike=_token_life.between_records(run),
    )


def _opens(lives: Lives) -> tuple[int, str]:
    """The row that is shown where none was chosen, and what is said of it."""
    if not lives.has.any():
        return (
            0,
            "Nothing was chosen, and no life is known: of no token two milestones are on record. This is the first row. ",
        )
    shown, besides = lives.has & ~lives.warm_up, "warm-up left out"
    if not shown.any():
        shown, besides = lives.has, "each of a step declared as warm-up"
    longest = int(np.where(shown, lives.life, np.iinfo(np.int64).min).argmax())
    return (
        longest,
        f"Nothing was chosen: this is the longest life of the run, {besides}; below are lists by life and, where a client's times are on record, by gap. ",
    )


def _teller(run: Run, lives: Lives, milestone: str) -> str:
    """What would have a milestone on record that a token lacks: no level where the run has it for other tokens, or is at it."""
    place = TOKEN.index(milestone)
    have = np.unique(lives.owner[(lives.place == place) | (lives.to_place == place)])
    steps, known = (len(np.unique(of[of >= 0])) for of in (lives.steps[have], lives.steps))
    has = f"that of {steps:,} of {number_of(known, 'step')} is on record"
    if milestone == "client":
        return (
            f"a record of its client (there is one for {len(have):,} of {number_of(len(lives.life), 'token')})"
            if len(have)
            else "a file of its client"
        )
    if milestone in ON_DEVICE:
        if not run.listed["intervals"] and not len(have):
            return (
                "what level device records, of which this run has nothing on record"
                if run.at_level("device")
                else "level device"
            )
        return f"device records that are linked with its step ({has})"
    if not len(have) and not run.at_level("runner"):
        return "level runner"
    return f"an engine that writes it down ({has})"
