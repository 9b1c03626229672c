"""One step on the host's axis: runtime calls in their threads, and below them the device's records as wide as the clocks leave open."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from akvsite.calls import EXPECTS
from akvsite.charts import timeline
from akvsite.pages import Record
from akvsite.pages._html import number_of, text
from akvsite.pages._run import Run, process_names
from akvsite.pages.sections.timeline import drawn, fullest, middle_step, placed

TITLE = "Calls on the host's axis"

#: Lanes in one chart, and calls where no step bounds them.
LANES = 24
WITHOUT_STEPS = 200
DEVICE_LANES = 8
MOST = 20_000


def write(run: Run) -> str:
    step = middle_step(run)
    if step is not None:
        what = f"step {step['number']}" if step["number"] is not None else str(step["name"])
        rows = run.desk.ask(
            "runtime_call", run_id=run.id, step_id=step["step_id"], order="start_ns,call_id", limit=MOST
        )
        question = f"Which runtime calls were made in {what}?"
        why = f"{what}: the middle one of those with device records"
    else:
        rows = _from_middle(run)
        question = "Which runtime calls were made from the middle launch or copy on?"
        why = f"{number_of(len(rows), 'call')}, from the middle one on of those that put work on a queue: no step is known for device records"
    if not rows:
        return ""
    origin = rows[0]["start_ns"]
    beneath, about_beneath = _beneath(run, step, rows)
    lane_of = _lanes(run, rows)
    kept, count = fullest(rows, lane_of, LANES)
    kept.sort(key=lane_of)
    notes = [why]
    if len(kept) < len(rows):
        notes.append(
            f"{LANES} of {count} lanes, those with most calls; {number_of(len(rows) - len(kept), 'call is', 'calls are')} not drawn"
        )
    chart = timeline.draw(
        question,
        [*drawn(kept, lane_of, origin), *beneath],
        run.footer(
            method=f"{number_of(len(kept), 'call')}, by the host's clock"
            + (f", and {number_of(len(beneath), 'device record')}, by two clocks" if beneath else ""),
            seen=run.seen() if beneath else "",
            axis="both" if beneath else "host",
            notes=tuple(notes),
        ),
        origin="start of the first call shown, host clock",
    )
    return f"\n{text(why[0].upper() + why[1:] + '. ' + about_beneath)}\n\n" + run.desk.figure(
        run.page, "call-timeline", chart, "runtime_call"
    )


def _from_middle(run: Run) -> list[Record]:
    """Calls from the middle one on of those that put work on a queue: the first ones are the start of a program, in which
    kernels are built."""
    calls = run.desk.columns("runtime_call", run_id=run.id, only=("call_id", "start_ns", "kind"))
    order = np.lexsort((calls["call_id"], calls["start_ns"]))
    works = np.flatnonzero(np.isin(calls["kind"][order], list(EXPECTS)))
    if not len(works):
        return []
    middle = int(works[(len(works) - 1) // 2])
    shown = calls["call_id"][order[middle : middle + WITHOUT_STEPS]]
    return [
        row for call in shown.tolist() for row in run.desk.ask("runtime_call", run_id=run.id, call_id=call)
    ]


def _beneath(run: Run, step: Record | None, calls: list[Record]) -> tuple[list[timeline.Interval], str]:
    """The device's records that belong to the calls shown, on the host's axis, and what is said of them."""
    if not run.listed["intervals"]:
        return [], ""
    if step is not None:
        rows = run.desk.ask(
            "host_interval", run_id=run.id, step_id=step["step_id"], order="start_ns,interval_id"
        )
    else:
        works = [c["call_id"] for c in calls if c["kind"] in EXPECTS]
        rows = [r for call in works for r in run.desk.ask("host_interval", run_id=run.id, call_id=call)]
    rows = [r for r in rows if r["start_ns"] is not None]
    if not rows:
        return [], (
            "No device record is on this axis: their clock could not be brought to the host's "
            f"({run.clock_line})."
        )
    devices = len({(r["process_id"], r["device"]) for r in rows}) > 1
    processes = len({r["process_id"] for r in rows}) > 1
    called = process_names(run.desk, run.id)

    def lane(row: Record) -> str:
        of_queue = f"{row['kind']} · queue {row['queue']}"
        of_device = f"device {row['device']} · {of_queue}" if devices else of_queue
        return f"{of_device} · {called[row['process_id']]}" if processes else of_device

    kept, count = fullest(rows, lane, DEVICE_LANES)
    kept.sort(key=lane)
    left = len(rows) - len(kept)
    said = f"Below the calls: {number_of(len(kept), 'device record')} of theirs, each end as wide as the clocks leave open. "
    return placed(kept, lane, calls[0]["start_ns"]), said + (
        f"Not drawn: {number_of(left, 'record')} of {number_of(count - DEVICE_LANES, 'more queue')}. "
        if left
        else ""
    )


def _lanes(run: Run, rows: list[Record]) -> Callable[[Record], str]:
    """What the lane of a call is called: its thread, and of which tool and process where there are several."""
    tools, processes = (len({r[key] for r in rows}) > 1 for key in ("source", "process_id"))
    called = process_names(run.desk, run.id)

    def lane(row: Record) -> str:
        of_tool = f"{row['source']} · " if tools else ""
        of_process = f" · {called[row['process_id']]}" if processes and not tools else ""
        return f"{of_tool}thread {row['thread'] or 'unknown'}{of_process}" + (
            " · inside others" if row["nested"] else ""
        )

    return lane
