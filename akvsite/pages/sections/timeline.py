"""One step on the device's axis: kernels and copies on their queues, with the gaps between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from akvsite.charts import timeline
from akvsite.pages import Record
from akvsite.pages._html import number_of, text
from akvsite.pages._run import Run, counter_of

TITLE = "On the device's axis"

#: Lanes in one chart.
LANES = 24

#: Records shown of a capture that draws no steps.
WITHOUT_STEPS = 2_000


def write(run: Run) -> str:
    step = middle_step(run)
    if step is not None:
        rows = run.desk.ask("interval", run_id=run.id, step_id=step["step_id"], order="start_ns,interval_id")
        what = f"step {step['number']}" if step["number"] is not None else step["name"]
        why = f"{what}: the middle one of those with device records, which belong to it by their call"
    else:
        rows = run.desk.ask("interval", run_id=run.id, order="start_ns,interval_id", limit=WITHOUT_STEPS)
        why = f"{number_of(len(rows), 'device record')}, from the first on: no step is known for any"
        what = "the first records"
    rows = [r for r in rows if r["start_ns"] is not None]
    if not rows:
        return ""
    # Times of two clocks have no place on one axis: what the vendor converted has one, each counter its own.
    clock = Counter(map(counter_of, rows)).most_common(1)[0][0]
    other = sum(counter_of(r) != clock for r in rows)
    rows = [r for r in rows if counter_of(r) == clock]
    origin = min(r["start_ns"] for r in rows)
    every = len(rows)
    rows, count = fullest(rows, lambda r: (r["device"], r["kind"], r["queue"]), LANES)
    notes = [why]
    if len(rows) < every:
        notes.append(
            f"{LANES} of {count} lanes, those with most records; {number_of(every - len(rows), 'record')} of the others not drawn"
        )
    if other:
        notes.append(f"{other} records on another clock are not drawn")
    lanes = sorted({(r["device"], r["kind"] != "kernel", r["kind"], r["queue"]) for r in rows})
    place = {key: n for n, key in enumerate(lanes)}
    several = len({r["device"] for r in rows}) > 1
    rows.sort(key=lambda r: (place[r["device"], r["kind"] != "kernel", r["kind"], r["queue"]], r["start_ns"]))
    intervals = drawn(rows, lambda r: _lane(r, several), origin)
    chart = timeline.draw(
        f"What lay on the device's queues in {what}?",
        intervals,
        run.footer(
            method=f"{number_of(len(rows), 'device record')}, one counter stamps all of them",
            seen=run.seen(),
            axis="constraints" if clock else "vendor",
            notes=tuple(notes),
        ),
        origin="first device record shown, device clock",
    )
    return f"\n{text(why[0].upper() + why[1:])}. A gap is a stretch without a record.\n\n" + run.desk.figure(
        run.page, "timeline", chart, "interval"
    )


def _lane(row: Record, several: bool) -> str:
    """What a lane is called: handles are long, so the device is left out where there is one and no number stands for it."""
    of_queue = f"{row['kind']} · queue {row['queue']}"
    return of_queue if not several and row["clock"] else f"device {row['device']} · {of_queue}"


def fullest(rows: list[Record], lane: Callable[[Record], Hashable], most: int) -> tuple[list[Record], int]:
    """The rows of at most ``most`` lanes, those with most rows, in their order; and how many lanes there are."""
    lanes = Counter(map(lane, rows))
    shown = {name for name, _ in lanes.most_common(most)}
    return [r for r in rows if lane(r) in shown], len(lanes)


def drawn(rows: Iterable[Record], lane: Callable[[Record], str], origin: int) -> list[timeline.Interval]:
    """Rows with a kind, a name and times as they are drawn, in ns after ``origin``; an end that is not known stays so."""
    return [
        timeline.Interval(
            lane=lane(r),
            kind=r["kind"],
            start_ns=r["start_ns"] - origin,
            end_ns=None if r["end_ns"] is None else r["end_ns"] - origin,
            name=r["name"],
        )
        for r in rows
    ]


def placed(rows: Iterable[Record], lane: Callable[[Record], str], origin: int) -> list[timeline.Interval]:
    """Rows of ``host_interval`` as they are drawn: both ends as wide as their bounds, of unknown width where there is none."""
    own = list(rows)
    return [
        replace(made, start_bound_ns=r["start_bound_ns"], end_bound_ns=r["end_bound_ns"])
        for made, r in zip(drawn(own, lane, origin), own, strict=True)
    ]


def middle_step(run: Run) -> Record | None:
    """The middle one of the steps that device records belong to; None where there is none."""
    with_records = run.desk.ask("step_interval_count", run_id=run.id, warm_up=0, order="start_ns,step_id")
    return with_records[len(with_records) // 2] if with_records else None
