"""What is said of two clocks, in the words of the printed line."""

from __future__ import annotations

from collections.abc import Sequence

from akvsite.estimate import written
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
    worst = max(clocks, key=lambda c: (c["half_worst_ns"] or 0, c["bound_id"]))
    of = f" (the widest of {len(clocks)} device clocks)" if len(clocks) > 1 else ""
    half, most = written(worst["half_median_ns"], "ns"), written(worst["half_worst_ns"], "ns")
    return f"±{half} (worst {most}){of} {_ASSUMES.format(wander=worst['wander_ppm'])} · {blind(worst)}"


def blind(clock: Record) -> str:
    """The range of a constant bias that would go unseen."""
    low, high = clock["blind_low_ns"], clock["blind_high_ns"]
    if low is None and high is None:
        return "blind to any constant bias: no call tells of one"
    ends = [
        "unbounded" if end is None else f"{'+' if end > 0 else ''}{written(end, 'ns')}" for end in (low, high)
    ]
    return f"blind to a constant bias of {ends[0]} to {ends[1]}"


def _vendor(clocks: Sequence[Record]) -> str:
    said = "device to host by the vendor, unproven: bound unknown"
    if len(clocks) > 1:
        return f"{said} · {len(clocks)} device clocks"
    early = clocks[0]["early"]
    worst = f", the most by {written(clocks[0]['early_worst_ns'], 'ns')}" if early else ""
    before = f" · {early:,} records begin before their call{worst}" if early else ""
    return f"{said} · causality alone is {blind(clocks[0])}{before}"


def _inconsistent(clocks: Sequence[Record]) -> str:
    return (
        "inconsistent: no clock meets all readings and all causality, so no device time is on the host's axis"
    )


def _unbounded(clocks: Sequence[Record]) -> str:
    return f"device clock, not converted: {clocks[0]['because']}; no host time may be compared with it"


_SAID = {"unproven": _vendor, "inconsistent": _inconsistent, "unbounded": _unbounded}
