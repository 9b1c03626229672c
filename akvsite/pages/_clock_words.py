"""What is said of two clocks, in the words of the printed line."""

from __future__ import annotations

from collections.abc import Sequence

from akvsite.estimate import outward, written
from akvsite.pages import Record

#: What a bounded conversion rests on; the wander is added.
_ASSUMES = "if one counter stamps all, brackets are true and the rate wanders by <= {wander:g} ppm"


def line(clocks: Sequence[Record]) -> str:
    """What is printed of a run's device clocks: the widest bound of those that have one, and which have none."""
    parts = [_bounded([c for c in clocks if c["state"] == "bounded"])]
    others: dict[str, list[Record]] = {}
    for c in clocks:
        if c["state"] != "bounded":
            others.setdefault(c["state"], []).append(c)
    parts += [_SAID[state](own) for state, own in others.items()]
    return " · ".join(part for part in parts if part)


def _bounded(clocks: Sequence[Record]) -> str:
    if not clocks:
        return ""
    widest = max(clocks, key=lambda c: (c["half_widest_ns"] or 0, c["bound_id"]))
    of = f" (the widest of {len(clocks)} device clocks)" if len(clocks) > 1 else ""
    half, most = outward(widest["half_median_ns"], "ns"), outward(widest["half_widest_ns"], "ns")
    return f"±{half} (widest {most}){of} {_ASSUMES.format(wander=widest['wander_ppm'])} · {blind(widest)}"


def blind(clock: Record) -> str:
    """The range of a constant bias that would go unseen."""
    low, high = clock["blind_low_ns"], clock["blind_high_ns"]
    if low is None and high is None:
        return "blind to any constant bias: no call tells of one"
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
    said = "device to host by the vendor, unproven: bound unknown"
    if len(clocks) > 1:
        return f"{said} · {len(clocks)} device clocks"
    early = clocks[0]["early"]
    most = f", the most by {written(clocks[0]['early_most_ns'], 'ns')}" if early else ""
    before = f" · {early:,} records begin before their call{most}" if early else ""
    return f"{said} · causality alone is {blind(clocks[0])}{before}"


def _inconsistent(clocks: Sequence[Record]) -> str:
    return (
        "inconsistent: no clock meets all readings and all causality, so no device time is on the host's axis"
    )


def _unbounded(clocks: Sequence[Record]) -> str:
    return f"device clock, not converted: {clocks[0]['because']}; no host time may be compared with it"


_SAID = {"unproven": _vendor, "inconsistent": _inconsistent, "unbounded": _unbounded}
