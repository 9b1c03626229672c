"""What stands beside the chosen token: why all of it is an association, and what would show a cause."""

from __future__ import annotations

from akvsite.pages import Record
from akvsite.pages._html import link, text
from akvsite.pages._run import Run
from akvsite.pages._stamps import Stamped, comparison_link, run_link, stamped_comparisons, stamped_runs
from akvsite.pages.experiments import TITLES

#: By its name among the contracts of captures: the engine whose way to hold text back is known here.
REFERENCE_ENGINE = "akvsite reference engine"
#: Names of each kind, at most.
NAMED = 2

_ASSOCIATED = (
    "An association, no cause: what is drawn and linked here is on record in its step or while it waited. That it took long for that "
    "reason no record says."
)
_PROOF = (
    "To prove a reason takes runs that differ in the suspected part alone (such as which prefills run in between, or when text is "
    "let go), each in a fresh process, with capture off"
)
_WAY = link("how a claim gets its control", "../discipline.html#what-it-stands-on-and-its-control")
_HOLDS = (
    "Its detokeniser waits until the bytes of its tokens make whole characters (UTF-8), and until then there is no text to send: "
    "a step may make a token and no text."
)


def beside(run: Run) -> str:
    """Three paragraphs of HTML, which the script puts beneath what it says of the token."""
    lines = (text(_ASSOCIATED), f"{text(_PROOF)}: {_WAY}.", _here(run))
    return '\n<div class="akv-why">\n' + "\n".join(f"<p>{line}</p>" for line in lines) + "\n</div>\n"


def holds(run: Run) -> str:
    """Why text of this run's engine can be held back, as far as that is known."""
    if run.listed["engine"] == REFERENCE_ENGINE:
        return _HOLDS
    return "Why this engine held it back is not on record."


def _here(run: Run) -> str:
    """What the store has of the same engine on the same host, by name: comparisons, runs with capture off, experiments."""
    desk = run.desk
    runs = {row["name"]: row for row in desk.ask("run_list", order="name") if _alike(run, row)}
    off = [name for name, row in runs.items() if row["level"] == "off" and row["tokens"]]
    found = [row for row in desk.ask("experiment_list", order="experiment") if row["experiment"] in runs]
    stamped = stamped_runs(desk)
    parts = [
        _comparisons(run, set(runs)),
        _named("capture off", [run_link(n, stamped, "../", folder="tokens") for n in off], "../tokens.html"),
        _named("experiments", [_experiment(row, stamped) for row in found], "../experiments.html"),
    ]
    said = "; ".join(part for part in parts if part)
    return f"Of this engine on this host: {said or 'no comparison, no run with capture off, no experiment'}."


def _alike(run: Run, row: Record) -> bool:
    """Whether both say the same of engine and host; of a host that is not stated nothing is known to be the same."""
    return not row["excluded"] and all(
        row[key] is not None and row[key] == run.listed[key] for key in ("engine", "host")
    )


def _comparisons(run: Run, runs: set[str]) -> str:
    """Those of these runs alone, those with this run first, and how many of them could be such a proof at all."""
    found: dict[str, list[Record]] = {}
    for row in run.desk.ask("comparison_list", order="comparison,side,place"):
        found.setdefault(row["comparison"], []).append(row)
    own = {name: members for name, members in found.items() if all(m["run"] in runs for m in members)}
    off = sum(all(m["level"] == "off" for m in members) for members in own.values())
    names = sorted(own, key=lambda name: (all(m["run"] != run.name for m in own[name]), name))
    stamped = stamped_comparisons(run.desk)
    links = [comparison_link(name, name, stamped, "../") for name in names]
    return _named(
        f"comparisons ({off or 'none'} with capture off on both sides)", links, "../comparisons.html"
    )


def _experiment(row: Record, stamped: Stamped) -> str:
    folder = "experiments" if row["what"] in TITLES else "runs"
    return run_link(row["experiment"], stamped, "../", folder=folder)


def _named(what: str, links: list[str], everything: str) -> str:
    if not links:
        return ""
    more = f", {link(f'{len(links) - NAMED} more', everything)}" if len(links) > NAMED else ""
    return f"{text(what)} {', '.join(links[:NAMED])}{more}"
