"""How far the times of each device are known on the host's axis, and what that rests on."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.charts import clock
from akvsite.estimate import written
from akvsite.pages import Record
from akvsite.pages import _clock_words as clock_words
from akvsite.pages._html import Cell, counted, link, table, text
from akvsite.pages._run import Run

TITLE = "Two clocks"

#: Charts of a run with many devices or ranks.
DRAWN = 4

_ABOUT = (
    "A device's time on the host's axis is an interval. Where a capture holds readings of both clocks and the calls around the "
    "device's work, it is made here from what cannot be otherwise: a reading lies inside its bracket, work begins no earlier than "
    "the call that submitted it, and has ended when a call that waited for it comes back. A clock's error is systematic: more "
    "records do not make it smaller, so it is told beside the statistical band and added outside it."
)
_VENDOR = (
    "Times that a tool of the vendor converted are shown as they are. How it was done is not in the file, so no bound is known; "
    "causality tells the constant by which all of them could be wrong unseen. Some vendors move a start that would come before its "
    "submission to the submission."
)


def write(run: Run) -> str:
    if not run.clocks:
        return ""
    about = [_ABOUT] if any(c["made_by"] == "constraints" for c in run.clocks) else []
    about += [_VENDOR] if any(c["made_by"] == "vendor" for c in run.clocks) else []
    method = f"See {link('Method', '../method.html#two-clocks')}."
    return f"\n{text(' '.join(about))} {method}\n{_known(run)}{_rests_on(run)}" + "".join(_charts(run))


def _known(run: Run) -> str:
    rows = [
        [
            _device(c, run),
            c["state"] + (f": {c['because']}" if c["because"] else ""),
            _half(c["half_median_ns"], c["half_worst_ns"]),
            _half(c["causal_half_median_ns"], c["causal_half_worst_ns"]),
            clock_words.blind(c),
            Cell(text(f"{c['early']:,} of {c['starts']:,}" + _by(c["early_worst_ns"])), c["early"]),
        ]
        for c in run.clocks
    ]
    return table(
        [
            "device",
            "on the host's axis",
            "half-width, median and worst",
            "from causality alone",
            "constant bias",
            "records before their call",
        ],
        rows,
        caption="What is known",
    )


def _rests_on(run: Run) -> str:
    rows = [
        [
            _device(c, run),
            counted(c["readings"]),
            Cell(text(f"{c['starts']:,} of {c['records']:,}"), c["starts"]),
            Cell(text(f"{c['ends']:,} of {c['records']:,}"), c["ends"]),
            "not stated" if c["tick_ns"] is None else f"{c['tick_ns']} ns, stated by the runtime",
            _wander(c),
            Cell(text(f"{c['at_submission']:,} of {c['submissions']:,}"), c["at_submission"]),
        ]
        for c in run.clocks
    ]
    return table(
        [
            "device",
            "readings of both clocks",
            "records with a call before",
            "records waited for",
            "tick of its times",
            "least wander, and the wander assumed",
            "begin exactly when submitted",
        ],
        rows,
        caption="What it rests on, counted",
    )


def _device(clock: Record, run: Run) -> str:
    several = len({c["process_id"] for c in run.clocks}) > 1
    by = "converted by the vendor" if clock["made_by"] == "vendor" else "its own clock"
    return f"device {clock['device']}, {by}" + (f", process {clock['process_id']}" if several else "")


def _half(median: float | None, worst: float | None) -> Cell:
    if median is None or worst is None:
        return Cell("unknown")
    return Cell(text(f"±{written(median, 'ns')}, ±{written(worst, 'ns')}"), median)


def _by(worst_ns: int | None) -> str:
    return f", by {written(worst_ns, 'ns')} at most" if worst_ns else ""


def _wander(clock: Record) -> Cell:
    if clock["made_by"] == "vendor":
        return Cell("not looked at")
    least = "none is enough" if clock["least_wander_ppm"] is None else f"{clock['least_wander_ppm']:.3g} ppm"
    return Cell(text(f"{least}; {clock['wander_ppm']:g} ppm"), clock["least_wander_ppm"])


def _charts(run: Run) -> Iterator[str]:
    bounded = [c for c in run.clocks if c["state"] == "bounded"]
    for number, c in enumerate(bounded[:DRAWN]):
        rows = run.desk.ask("clock_band", run_id=run.id, bound_id=c["bound_id"], order="device_ns")
        knots = [clock.Knot(r["device_ns"], r["low_ns"], r["high_ns"]) for r in rows]
        chart = clock.draw(
            f"How far was the host's clock ahead of {_device(c, run).split(',')[0]}'s?",
            knots,
            run.footer(
                axis="both",
                method=f"feasible band of {c['readings']:,} readings, {c['starts']:,} starts and {c['ends']:,} ends",
                seen=run.seen(),
            ),
        )
        yield run.desk.figure(run.page, f"clock-{number}" if number else "clock", chart, "clock_band")
