"""Objects of the runtime: how many were made, retained and released, and how many that leaves as the run goes on."""

from __future__ import annotations

from collections import defaultdict

from akvsite.calls import handle_of_call
from akvsite.pages import Record
from akvsite.pages._html import counted, table, text
from akvsite.pages._run import Run

TITLE = "Handles"

PARTS = 8
ACTS = ("created", "retained", "released")
EVENT = "event"
#: One call releases memory of every sort: where it is used, sorts cannot be told apart.
MEMORY, EITHER = ("device memory", "host memory"), "memory, of either sort"

_ABOUT = (
    "Told from the names of the calls that succeeded; an event is also made by a call that hands one out. What was made or released "
    "where no recorder looked is not here, so that a balance above none is a question, and no finding."
)

#: For each act, calls in each eighth of the run.
Parts = dict[str, list[int]]


def write(run: Run) -> str:
    rows = run.desk.ask("handle_call", run_id=run.id, order="source,name,part")
    sources: dict[str, dict[str, Parts]] = {}
    for row in rows:
        _take(sources.setdefault(row["source"], defaultdict(lambda: {act: [0] * PARTS for act in ACTS})), row)
    lines = []
    for source, kinds in sources.items():
        for kind, parts in sorted(_merged(kinds).items()):
            balance = [
                sum(parts["created"][:end]) + sum(parts["retained"][:end]) - sum(parts["released"][:end])
                for end in (2, 4, 6, 8)
            ]
            totals = [counted(sum(parts[act])) for act in ACTS]
            lines.append([kind, source, *totals, *map(counted, balance)])
    if not lines:
        return ""
    heads = ["object", "recorded by", *ACTS, "left after 1/4", "after 2/4", "after 3/4", "at the end"]
    return f"\n{text(_ABOUT)}\n" + table(
        heads, lines, caption="Counts of calls; left: created and retained less released, at four points of the run's time"
    )  # fmt: skip


def _take(kinds: dict[str, Parts], row: Record) -> None:
    does = handle_of_call(row["name"])
    if does is not None:
        kinds[does[0]][does[1]][row["part"]] += row["calls"]
    elif row["name"].startswith("urEnqueue") and row["events"]:
        kinds[EVENT]["created"][row["part"]] += row["events"]


def _merged(kinds: dict[str, Parts]) -> dict[str, Parts]:
    """The kinds, with all memory as one where its releases do not say which sort they are of."""
    if EITHER not in kinds:
        return kinds
    kept = {kind: parts for kind, parts in kinds.items() if kind not in (*MEMORY, EITHER)}
    mixed = [kinds[kind] for kind in (*MEMORY, EITHER) if kind in kinds]
    kept["memory"] = {act: [sum(parts[act][n] for parts in mixed) for n in range(PARTS)] for act in ACTS}
    return kept
