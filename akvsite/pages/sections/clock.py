"""How far the times of each device are known on the host's axis, and what that rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from akvsite.charts import clock
from akvsite.estimate import outward, written
from akvsite.pages import Record
from akvsite.pages import _clock_words as clock_words
from akvsite.pages._html import Cell, counted, link, table, text
from akvsite.pages._run import Run, process_names

TITLE = "Two clocks"

#: Charts of a run with many devices or ranks.
DRAWN = 4

_ABOUT = (
    "A device's time on the host's axis is an interval. Where a capture holds readings of both clocks and the calls around the "
    "device's work, it is made here from what cannot be otherwise: a reading lies inside its bracket, work begins no earlier than "
    "the call that submitted it, and has ended when a call that waited for it comes back; what lies between two timing events of a "
    "step begins no earlier than its launch phase, and has ended when its wait phase is over. A clock's error is systematic: more "
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
    return f"\n{text(' '.join(about))} {method}\n{_known(run)}" + "".join(_charts(run))


def _known(run: Run) -> str:
    """One column a device: what is known, and under it what that rests on."""
    facts: list[tuple[str, Callable[[Record], Cell | str]]] = [
        ("on the host's axis", lambda c: c["state"] + (f": {c['because']}" if c["because"] else "")),
        ("half-width, median and widest", lambda c: _half(c["half_median_ns"], c["half_widest_ns"])),
        ("from causality alone", lambda c: _half(c["causal_half_median_ns"], c["causal_half_widest_ns"])),
        ("constant bias that nothing would show", _blind),
        ("records that begin before their call", _early),
        ("readings of both clocks", lambda c: counted(c["readings"])),
        ("times of records outside the readings", _outside),
        ("records with a call before them", lambda c: _of(c["starts"], c["records"])),
        ("records that a host call waited for", lambda c: _of(c["ends"], c["records"])),
        ("tick of the device's times", _tick),
        ("least wander that the constraints allow", _wander),
        ("records that begin exactly when submitted", _at_submission),
    ]
    return table(
        ["what", *(_device(c, run) for c in run.clocks)],
        [[name, *(say(c) for c in run.clocks)] for name, say in facts],
    )


def _of(part: int, whole: int) -> Cell:
    return Cell(text(f"{part:,} of {whole:,} (counted)"), part)


def _blind(clock: Record) -> Cell:
    return Cell(text(clock_words.blind([clock]).removeprefix("blind to a constant bias of ")))


def _outside(clock: Record) -> Cell:
    if clock["outside"] is None:
        return Cell("there are no readings")
    return Cell(text(f"{clock['outside']:,} (counted){_by(clock['outside_most_ns'])}"), clock["outside"])


def _early(clock: Record) -> Cell:
    if clock["early"] is None:
        return Cell("unknown: they are not on the host's axis")
    said = f"{clock['early']:,} of {clock['starts']:,} (counted){_by(clock['early_most_ns'])}"
    return Cell(text(said), clock["early"])


def _by(most_ns: int | None) -> str:
    return f", by {written(most_ns, 'ns')} at most" if most_ns else ""


def _tick(clock: Record) -> str:
    return clock_words.tick(clock["tick_ns"], clock["tick_by"])


def _device(clock: Record, run: Run) -> str:
    several = len({c["process_id"] for c in run.clocks}) > 1
    by = "converted by the vendor" if clock["made_by"] == "vendor" else "its own clock"
    return f"device {clock['device']}, {by}" + (
        f", {process_names(run.desk, run.id)[clock['process_id']]}" if several else ""
    )


def _named(clock: Record, run: Run) -> str:
    return "the device's" if len(run.clocks) == 1 else f"that of {_device(clock, run)}"


def _half(median: float | None, widest: float | None) -> Cell:
    if median is None or widest is None:
        return Cell("unknown")
    return Cell(text(f"±{outward(median, 'ns')}, ±{outward(widest, 'ns')}"), median)


def _at_submission(clock: Record) -> Cell:
    if not clock["submissions"]:
        return Cell("submissions are not on record")
    return _of(clock["at_submission"], clock["submissions"])


def _wander(clock: Record) -> Cell:
    if clock["made_by"] == "vendor":
        return Cell("not looked at")
    least = "none is enough" if clock["least_wander_ppm"] is None else f"{clock['least_wander_ppm']:.3g} ppm"
    return Cell(text(f"{least}; {clock['wander_ppm']:g} ppm are assumed"), clock["least_wander_ppm"])


def _charts(run: Run) -> Iterator[str]:
    bounded = [c for c in run.clocks if c["state"] == "bounded"]
    for number, c in enumerate(bounded[:DRAWN]):
        rows = run.desk.ask("clock_band", run_id=run.id, bound_id=c["bound_id"], order="device_ns")
        knots = [clock.Knot(r["device_ns"], r["low_ns"], r["high_ns"]) for r in rows]
        chart = clock.draw(
            f"How far was the host's clock ahead of {_named(c, run)}?",
            knots,
            run.footer(
                axis="both",
                method=f"feasible band of {c['readings']:,} readings, {c['starts']:,} starts and {c['ends']:,} ends",
                seen=run.seen(),
            ),
        )
        yield run.desk.figure(run.page, f"clock-{number}" if number else "clock", chart, "clock_band")
