"""One step on the host's axis: runtime calls in their threads. The device's records of it are on the chart before."""

from __future__ import annotations

from collections import Counter

from akvsite.charts import timeline
from akvsite.pages import Record
from akvsite.pages._html import text
from akvsite.pages._run import UNCONVERTED, Run
from akvsite.pages.sections.timeline import drawn, middle_step

TITLE = "Calls on the host's axis"

#: Lanes in one chart, and calls where no step bounds them.
LANES = 24
WITHOUT_STEPS = 200
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
        rows = run.desk.ask("call_from_middle", run_id=run.id, order="start_ns,call_id", limit=WITHOUT_STEPS)
        question = "Which runtime calls were made from the middle launch or copy on?"
        why = f"{len(rows):,} calls, from the middle one on of those that put work on a queue: no step is known for device records"
    if not rows:
        return ""
    origin = rows[0]["start_ns"]
    sources = {r["source"] for r in rows}
    lanes = Counter(_lane(r, sources) for r in rows)
    shown = {lane for lane, _ in lanes.most_common(LANES)}
    kept = sorted((r for r in rows if _lane(r, sources) in shown), key=lambda r: _lane(r, sources))
    notes = [why]
    if len(kept) < len(rows):
        notes.append(
            f"{LANES} of {len(lanes)} lanes, those with most calls; {len(rows) - len(kept)} calls are not drawn"
        )
    chart = timeline.draw(
        question,
        drawn(kept, lambda r: _lane(r, sources), origin),
        run.footer(method=f"{len(kept)} calls, by the host's clock", notes=tuple(notes)),
        origin="start of the first call shown, host clock",
    )
    beside = (
        " Its device records are on the device's own clock, on a chart of their own: no time there may be compared with one here."
        if run.clock == UNCONVERTED and run.listed["intervals"]
        else ""
    )
    return f"\n{text(why[0].upper() + why[1:] + '.' + beside)}\n\n" + run.desk.figure(
        run.page, "call-timeline", chart, "runtime_call" if step is not None else "call_from_middle"
    )


def _lane(row: Record, sources: set[str]) -> str:
    of_tool = f"{row['source']} · " if len(sources) > 1 else ""
    return f"{of_tool}thread {row['thread'] or 'unknown'}" + (" · inside others" if row["nested"] else "")
