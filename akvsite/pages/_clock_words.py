"""What is said of two clocks, in the words of the printed line."""

from __future__ import annotations

from collections.abc import Sequence

from akvsite.estimate import outward, written
from akvsite.pages import Record

#: What a bounded conversion rests on.
_ASSUMES = "if one counter stamps all, brackets are true, and rates differ by <= {slope:g} and wander by <= {wander:g} ppm"
_UNSEEN = "blind to any constant bias: no call tells of one"


def line(clocks: Sequence[Record], axis_bound_ns: int = 0) -> str:
    """What is printed of a run's device clocks: the widest bound of those that have one, and which have none.

    ``axis_bound_ns``: how far the axes of two tools are known against each other, where a run has two.
    """
    of_state: dict[str, list[Record]] = {}
    for clock in clocks:
        of_state.setdefault(clock["state"], []).append(clock)
    parts = [_SAID[state](of_state[state]) for state in _SAID if state in of_state]
    if axis_bound_ns and "bounded" in of_state:
        parts.append(f"against times of another tool ±{outward(axis_bound_ns, 'ns')} more")
    return " · ".join(parts)


def _bounded(clocks: Sequence[Record]) -> str:
    known = [c for c in clocks if c["half_widest_ns"] is not None]
    if not known:
        return "bounded, and no record has a time"
    widest = max(known, key=lambda c: (c["half_widest_ns"], c["bound_id"]))
    of = f" (the widest of {len(clocks)} device clocks)" if len(clocks) > 1 else ""
    half, most = outward(widest["half_median_ns"], "ns"), outward(widest["half_widest_ns"], "ns")
    assumes = _ASSUMES.format(slope=widest["slope_ppm"], wander=widest["wander_ppm"])
    return f"±{half} (widest {most}){of} {assumes} · {blind(clocks)}{_outside(clocks)}"


def _outside(clocks: Sequence[Record]) -> str:
    """Beyond its readings a clock is known by the assumed rates alone; a counter that wrapped there is not seen."""
    away = sum(c["outside"] or 0 for c in clocks)
    if not away:
        return ""
    most = written(max(c["outside_most_ns"] or 0 for c in clocks), "ns")
    return f" · {away:,} times lie outside the readings, by {most} at most: there the rates are assumed"


def blind(clocks: Sequence[Record]) -> str:
    """The constant biases that would go unseen: of one clock, or of any of several."""
    told = [c for c in clocks if c["state"] in ("bounded", "unproven")]
    if not told:
        return "constant bias: not told"
    ranges = [
        (c["blind_low_ns"], c["blind_high_ns"]) for c in told if c["readings"] or c["made_by"] == "vendor"
    ]
    if not ranges:
        return "made from causality alone: there is no reading that could be biased"
    if any(low is None and high is None for low, high in ranges):
        return _UNSEEN
    if any(low is not None and high is not None and low > high for low, high in ranges):
        return "no constant bias fits what was submitted and waited for"
    lows, highs = zip(*ranges, strict=True)
    low = None if None in lows else min(lows)
    high = None if None in highs else max(highs)
    return f"blind to a constant bias of {_end(low, -1)} to {_end(high, 1)}"


def tick(tick_ns: int | None, by: str | None) -> str:
    """The tick of a device's counter, and how it is known."""
    if tick_ns is None:
        return "unknown"
    how = "as the runtime gives it" if by == "runtime" else "told from the lengths of its records"
    return f"{tick_ns} ns, {how}"


def _end(at_ns: int | None, side: int) -> str:
    """An end of a range, with two digits where rounding makes the range no narrower."""
    if at_ns is None:
        return "unbounded"
    size = outward(abs(at_ns), "ns") if at_ns * side > 0 else written(abs(at_ns), "ns")
    return ("-" if at_ns < 0 else "+" if at_ns > 0 else "") + size


def _vendor(clocks: Sequence[Record]) -> str:
    of = f" ({len(clocks)} device clocks)" if len(clocks) > 1 else ""
    early = sum(c["early"] or 0 for c in clocks)
    most = written(max(c["early_most_ns"] or 0 for c in clocks), "ns")
    before = f" · records that begin before their call: {early:,}, by {most} at most" if early else ""
    said = f"device to host by the vendor, unproven: bound unknown{of}"
    return f"{said} · causality alone: {blind(clocks)}{before}"


def _inconsistent(clocks: Sequence[Record]) -> str:
    return (
        "inconsistent: no clock meets all readings and all causality, so no device time is on the host's axis"
    )


def _unbounded(clocks: Sequence[Record]) -> str:
    return f"device clock, not converted: {clocks[0]['because']}; no host time may be compared with it"


_SAID = {"bounded": _bounded, "unproven": _vendor, "inconsistent": _inconsistent, "unbounded": _unbounded}
