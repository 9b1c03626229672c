"""Calls as the vendor's tracer and our own recorder saw them: which are the same, and which only one of them has."""

from __future__ import annotations

from collections import defaultdict

from akvsite.pages import Record
from akvsite.pages._html import Cell, captured, code, counted, number_of, table, text
from akvsite.pages._run import Run

TITLE = "Calls as two tools saw them"

LISTED = 60
WORK = ("launch", "copy", "fill", "graph replay")

#: Facts that say how the axes of the two were joined, and which libraries fetch calls past the recorder.
_FACTS = ("host axis", "akvlog.note.fetches", "akvlog.note.unseen")

_ABOUT = (
    "No id is in both records. A row of each is taken for the same call where both have the same name in the same thread, in the same order, "
    "and the recorder's interval holds the vendor's, to a microsecond more than the bound of the axis; a driver call that the recorder saw inside a "
    "runtime call of the vendor's, of the same kind of work, is that call too. Each call counts once in what was seen; sums of the two are never added up."
)


def write(run: Run) -> str:
    # The same question as the section on calls: where one tool alone recorded there is nothing to put side by side.
    if len({r["source"] for r in run.desk.ask("call_cost", run_id=run.id, order="-host_ns,name")}) < 2:
        return ""
    rows = run.desk.ask("call_both", run_id=run.id, order="kind,thread,vendor,shim")
    if not any(r["vendor"] for r in rows) or not any(r["shim"] for r in rows):
        return ""
    unseen = [r for r in rows if not (r["vendor"] and r["shim"])]
    only_counted = {r["name"]: r["count"] for r in run.desk.ask("call_counted", run_id=run.id)}
    return "\n".join([f"\n{text(_ABOUT)}\n", _by_thread(rows), _unseen(unseen, only_counted), _facts(run)])


def _by_thread(rows: list[Record]) -> str:
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for r in rows:
        which = (
            "both"
            if r["vendor"] and r["shim"]
            else "vendor"
            if r["vendor"]
            else "nested"
            if r["nested"]
            else "shim"
        )
        counts[r["thread"] or "unknown", r["kind"]][which] += r["calls"]
    order = sorted(counts.items(), key=lambda item: (item[0][1] not in WORK, -sum(item[1].values()), item[0]))
    return table(
        ["thread", "kind", "in both, in order", "vendor's tracer alone", "recorder alone", "recorder alone, inside another call"],
        [
            [thread, kind, *(counted(own[which]) for which in ("both", "vendor", "shim", "nested"))]
            for (thread, kind), own in order[:LISTED]
        ],
        caption="Calls by thread and kind while both recorded, counted",
    )  # fmt: skip


def _unseen(rows: list[Record], counts: dict[str, int]) -> str:
    rows = sorted(rows, key=lambda r: (r["kind"] not in WORK, -r["calls"], r["vendor"] or r["shim"]))
    if not rows:
        return "\nEvery call of either is in the other.\n"
    return table(
        ["call", "kind", "thread", "not seen by", "calls", "with device records"],
        [
            [
                Cell(code(r["vendor"] or r["shim"], 60), r["vendor"] or r["shim"]), r["kind"], r["thread"] or "unknown",
                _by_whom(r, counts),
                counted(r["calls"]), counted(r["with_records"]),
            ]
            for r in rows[:LISTED]
        ],
        caption=f"What one of them did not see, by name; up to {LISTED} of {number_of(len(rows), 'row')}. The library that made a call is not on record",
    )  # fmt: skip


def _by_whom(row: Record, counts: dict[str, int]) -> str:
    if not row["vendor"]:
        return "the vendor's tracer" + (", nor asked for: inside another call" if row["nested"] else "")
    if row["vendor"] in counts:
        return f"the recorder, which does not time it ({counts[row['vendor']]:,} counted in the whole run)"
    return "the recorder"


def _facts(run: Run) -> str:
    facts = [f for f in run.desk.ask("fact_list", run_id=run.id, order="key") if f["key"] in _FACTS]
    return table(["fact", "value"], [[f["key"], captured(f["value"])] for f in facts]) if facts else ""
