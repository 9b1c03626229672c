"""Which calls held the host, for how long, and which events they named."""

from __future__ import annotations

from akvsite.estimate import written
from akvsite.pages._html import Cell, code, counted, table, text
from akvsite.pages._run import Run

TITLE = "Host waits"

LISTED = 30
LONGEST = 15

_ABOUT = (
    "Calls that wait by their name, and calls that their caller asked to block. A call and what it waited for are associated: "
    "that the time was spent for that reason is not said. A call that names no event waits for its queue, or for nothing that is on record."
)


def write(run: Run) -> str:
    listed = run.desk.ask("wait_cost", run_id=run.id, order="source,-total_ns,name")
    if not listed:
        return ""
    cost = table(
        ["call", "recorded by", "calls", "never returned", "host time, sum", "longest", "events named", "of these, call known"],
        [
            [
                Cell(code(r["name"], 60), r["name"]), r["source"], counted(r["waits"]), counted(r["open_waits"]), _total(r["total_ns"]),
                _total(r["longest_ns"]), counted(r["events"]), Cell(text(f"{r['makers_known']:,} of {r['events']:,}"), r["makers_known"]),
            ]
            for r in listed
        ],
        caption="Sums and longest, counted from the records",
    )  # fmt: skip
    return f"\n{text(_ABOUT)}\n{cost}{_longest(run)}{_waited_for(run)}"


def _longest(run: Run) -> str:
    rows = run.desk.ask("host_wait", run_id=run.id, order="-duration_ns,call_id", limit=LONGEST)
    return table(
        ["call", "thread", "queue", "time inside it", "events named"],
        [
            [
                Cell(code(r["name"], 60), r["name"]),
                r["thread"] or "unknown",
                r["queue"] or "none named",
                Cell("never returned") if r["duration_ns"] is None else _total(r["duration_ns"]),
                counted(r["events"]),
            ]
            for r in rows
        ],
        caption=f"The {len(rows)} longest, each as it was recorded",
    )


def _waited_for(run: Run) -> str:
    rows = run.desk.ask("wait_for", run_id=run.id, order="-holds,-host_ns,name,maker,ran", limit=LISTED)
    if not rows:
        return ""
    return table(
        [
            "call",
            "waits",
            "for an event of",
            "which ran",
            "events",
            "calls",
            "their time, not to be added up",
        ],
        [
            [
                Cell(code(r["name"], 60), r["name"]),
                "the host" if r["holds"] else "a queue",
                Cell(code(r["maker"], 60), r["maker"]) if r["maker"] else "unknown: not handed out on record",
                Cell(code(r["ran"], 60), r["ran"]) if r["ran"] else "no device record known",
                counted(r["events"]),
                counted(r["calls"]),
                _total(r["host_ns"]),
            ]
            for r in rows
        ],
        caption=f"What was waited for, by the lifetime of each event's handle; up to {LISTED} rows",
    )


def _total(ns: int | None) -> Cell:
    return Cell("none") if ns is None else Cell(text(written(ns, "ns")), ns)
