"""Where device records lie on the host's axis, and how far that is known.

Times of the device's own clock are converted by ``akvsite.clock`` alone, from readings of both clocks and from
causality: what a call submitted begins no earlier than the call, and what a host call waited for has ended when that call
returns. Times that the vendor converted stay as they are; what causality says about them is told beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from akvsite import clock
from akvsite.link import Ids
from akvsite.link.device_lanes import NONE, Lane, Readings
from akvsite.tables import NO_DEVICE

CONSTRAINTS, VENDOR = "constraints", "vendor"
BOUNDED, INCONSISTENT, UNBOUNDED, UNPROVEN = "bounded", "inconsistent", "unbounded", "unproven"

#: A length up to which a vendor's rate, off by 20 ppm at most, adds no more than a nanosecond.
LONGEST_NS = 50_000
#: No counter that stamps kernels is coarser: 4 us.
LARGEST_TICK_NS = 4_096
#: Stretches of a band that are kept for its drawing, at most.
KNOTS = 400


@dataclass(frozen=True)
class Bound:
    """What is known of one lane: a row of ``clock_bound``, its knots, and the records that were converted."""

    row: Mapping[str, Any]
    #: (device time, low, high): how far the host's clock is ahead, ns.
    knots: Sequence[tuple[int, int, int]] = ()
    #: Ids of records with their starts and ends on the host's axis and the half-widths, int64 (n,) each.
    ids: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    start: tuple[Ids, Ids] = field(default_factory=lambda: (np.empty(0, np.int64),) * 2)
    end: tuple[Ids, Ids] = field(default_factory=lambda: (np.empty(0, np.int64),) * 2)


def bound_of(lane: Lane, readings: Mapping[str, Readings]) -> Bound:
    """The bound of one lane, with the readings that its process took, by device."""
    if not lane.own_clock:
        return _of_vendor(lane)
    if lane.device == NO_DEVICE:
        why = "its records do not say of which device they are, so that one counter may not have stamped them all"
        return Bound(_row(lane, CONSTRAINTS, UNBOUNDED, why))
    return _converted(lane, readings.get(lane.device))


def _row(lane: Lane, made_by: str, state: str, because: str | None) -> dict[str, Any]:
    known = (lane.start != NONE) & (lane.submitted != NONE)
    return {
        "process_id": lane.process,
        "device": lane.device,
        "made_by": made_by,
        "state": state,
        "because": because,
        "readings": 0,
        "starts": int(np.count_nonzero(lane.begun_after_call)),
        "ends": int(np.count_nonzero(lane.waited_for)),
        "slope_ppm": clock.SLOPE_PPM,
        "wander_ppm": clock.WANDER_PPM,
        "at_submission": int(np.count_nonzero(known & (lane.start == lane.submitted))),
        "submissions": int(np.count_nonzero(known)),
    }


def _of_vendor(lane: Lane) -> Bound:
    """The vendor's times, and the constant by which they may all be wrong without an effect before its cause."""
    begun, seen = lane.begun_after_call, lane.waited_for
    delay = lane.start[begun] - lane.entered[begun]
    row = _row(lane, VENDOR, UNPROVEN, "the vendor's conversion, which is not in the file")
    both = (lane.start != NONE) & (lane.end != NONE)
    tick = tick_of_lengths(lane.end[both] - lane.start[both])
    row |= {"tick_ns": tick, "tick_by": "lengths" if tick else None}
    if len(delay):
        # A start may be stated too early by a tick, where one is known.
        row |= {"blind_high_ns": int(delay.min()) + (tick or 0), "early": int(np.count_nonzero(delay < 0))}
        row["early_most_ns"] = int(-delay.min()) if row["early"] else None
    if seen.any():
        row["blind_low_ns"] = -int((lane.waited[seen] - lane.end[seen]).min())
    low, high = row.get("blind_low_ns"), row.get("blind_high_ns")
    if low is not None and high is not None and low > high:
        row["because"] += "; no constant brings it into agreement with what was submitted and waited for"
    return Bound(row)


def tick_of_lengths(lengths: Ids) -> int | None:
    """The tick of a counter, ns, from the lengths (n,) of what it stamped; None where they do not show it.

    The greatest number of 8 ns or more that all short lengths are whole multiples of, to a nanosecond of rounding
    either way. Long ones are left out: a vendor's conversion stretches them by its own rate. A hundred lengths, fifty of
    them different, agree by chance with less than 1 in 10^20.

    >>> tick_of_lengths(32 * np.arange(1, 201) + np.arange(200) % 3 - 1)
    32
    """
    short = lengths[(lengths > 0) & (lengths <= LONGEST_NS)]
    distinct = np.unique(short)
    if len(short) < 100 or len(distinct) < 50:
        return None
    few = distinct[:: max(1, len(distinct) // 16)]
    for tick in range(min(int(distinct[0]) + 1, LARGEST_TICK_NS), 7, -1):
        # Most are told by a few of the lengths.
        if _whole(few, tick) and _whole(distinct, tick):
            return tick
    return None


def _whole(lengths: Ids, tick: int) -> bool:
    rest = lengths % tick
    return bool(((rest <= 1) | (rest == tick - 1)).all())


def _converted(lane: Lane, readings: Readings | None) -> Bound:
    begun, seen = lane.begun_after_call, lane.waited_for
    tick = readings.tick_ns if readings else None
    # The runtime rounds to whole nanoseconds as well, which may be one more.
    width = (tick or 0) + 1
    causal = clock.Constraints.of_causality(
        lane.start[begun], lane.entered[begun], lane.end[seen], lane.waited[seen], width
    )
    none = np.empty(0, np.int64)
    read = (
        clock.Constraints.of_readings(readings.before, readings.device, readings.after, width)
        if readings
        else clock.Constraints.of_readings(none, none, none, width)
    )
    band = clock.feasible(read.with_(causal))
    row = _row(lane, CONSTRAINTS, BOUNDED, None) | {
        "readings": len(readings.before) if readings else 0,
        "tick_ns": tick,
        "tick_by": "runtime" if tick else None,
    }
    row["least_wander_ppm"] = band.least_wander_ppm if math.isfinite(band.least_wander_ppm) else None
    if not band.consistent:
        why = "no clock within the stated slope and wander meets all readings and all causality"
        return Bound(row | {"state": INCONSISTENT, "because": why})
    if readings:
        least, most = clock.blind_range(read, causal)
        # What would have to be added is the bias with its sign turned. Outwards: what is not seen is not told too small.
        row["blind_low_ns"] = math.floor(-most) if math.isfinite(most) else None
        row["blind_high_ns"] = math.ceil(-least) if math.isfinite(least) else None
    if not band.bounded:
        return Bound(row | {"state": UNBOUNDED, "because": _missing(row)})
    start, end = (_on_host(band, side, width) for side in (lane.start, lane.end))
    times = np.concatenate([side[side != NONE] for side in (lane.start, lane.end)])
    row["half_median_ns"], row["half_widest_ns"] = _median_and_widest(start, end)
    alone = clock.feasible(causal) if readings else band
    if alone.consistent and alone.bounded:
        row["causal_half_median_ns"], row["causal_half_widest_ns"] = _median_and_widest(
            *(_on_host(alone, side, width) for side in (lane.start, lane.end))
        )
    if readings and len(times):
        away = readings.outside(times)
        row |= {"outside": int(np.count_nonzero(away)), "outside_most_ns": int(away.max()) or None}
    early = (lane.entered - start[0])[begun]
    row["early"] = int(np.count_nonzero(early > 0))
    row["early_most_ns"] = int(early.max()) if row["early"] else None
    return Bound(row, _knots(band, times, readings), lane.ids, start, end)


def _on_host(band: clock.Band, times: Ids, width_ns: int) -> tuple[Ids, Ids]:
    """Middles and half-widths, int64 (n,) each; ``NONE`` where there is no time.

    What was stamped ``k`` happened in the tick that begins at ``k``: after the earliest that this can have been, and
    before the latest that the next one can have begun.
    """
    middle, half = np.full(len(times), NONE, np.int64), np.full(len(times), NONE, np.int64)
    known = times != NONE
    (begins, before), (ends, after) = band.at(times[known]), band.at(times[known] + width_ns)
    least, most = begins - before, ends + after
    middle[known] = least + (most - least) // 2
    half[known] = most - middle[known]
    return middle, half


def _median_and_widest(*sides: tuple[Ids, Ids]) -> tuple[int | None, int | None]:
    """Of the half-widths of records, whose times are known."""
    half = np.concatenate([widths[widths != NONE] for _, widths in sides])
    return (math.ceil(np.median(half)), int(half.max())) if len(half) else (None, None)


def _knots(band: clock.Band, times: Ids, readings: Readings | None) -> list[tuple[int, int, int]]:
    """The band where it is widest in each of some stretches of device time, of its records and of evenly spaced times.

    In whole nanoseconds: on an axis that counts from 1970 a float has a step of 256 ns.
    """
    every = np.concatenate([times, readings.device]) if readings else times
    if not len(every):
        return []
    first, last = int(every.min()), int(every.max())
    stretches = min(KNOTS, 2 * len(np.unique(every)))
    evenly = first + (np.linspace(0, 1, 16 * stretches) * (last - first)).astype(np.int64)
    at = np.unique(np.concatenate([every, np.clip(evenly, first, last)]))
    middle, half = band.at(at)
    stretch = np.minimum((at - first) / max(last - first, 1) * stretches, stretches - 1).astype(np.int64)
    # The widest place of each stretch: least and most of it together would hold the clocks' drift as well.
    order = np.lexsort((-half, stretch))
    widest = order[np.flatnonzero(np.diff(stretch[order], prepend=-1))]
    x, low, high = at[widest], (middle - half - at)[widest], (middle + half - at)[widest]
    return list(zip(x.tolist(), low.tolist(), high.tolist(), strict=True))


def _missing(row: Mapping[str, Any]) -> str:
    """Why there is no bound: which side nothing holds."""
    if row["readings"]:
        return "the readings hold one side alone"
    if not row["starts"] and not row["ends"]:
        return "no reading of both clocks, and no call that submitted a record or waited for one"
    held = "submitted" if row["starts"] else "waited for"
    return f"no reading of both clocks; records were {held}, which holds one side alone"
