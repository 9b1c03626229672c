"""Where device records lie on the host's axis, and how far that is known.

Times of the device's own clock are converted by ``akvsite.clock`` alone, from readings of both clocks and from
causality: what a call submitted begins no earlier than the call, and what a host call waited for has ended when that call
returns. Times that the vendor converted stay as they are; what causality says about them is told beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from akvsite import clock
from akvsite.link import Ids, Mask

#: The word of ``level3_device.clock`` for times of the device's own clock.
DEVICE = "device"
CONSTRAINTS, VENDOR = "constraints", "vendor"
BOUNDED, INCONSISTENT, UNBOUNDED, UNPROVEN = "bounded", "inconsistent", "unbounded", "unproven"

#: What no time is: it stands for NULL in whole columns.
NONE = -(2**63)
#: A length up to which a vendor's rate, off by 20 ppm at most, adds no more than a nanosecond.
LONGEST_NS = 50_000
#: Points of a band that are kept for its drawing.
KNOTS = 400

#: Work with the calls that it belongs to, and when a call that waited for that call's event came back. A wait that went
#: wrong saw nothing; one whose result is not on record (a trace of the vendor has none) may have been a mere question.
INTERVALS_QUERY = f"""
    WITH waited AS (
        SELECT w.maker_id, min(c.end_ns) AS at FROM edge_wait w JOIN level4_edge c ON c.id = w.call_id
        WHERE w.run_id = :run AND w.maker_id IS NOT NULL AND c.kind = 'wait' AND c.result = 0
        GROUP BY w.maker_id)
    SELECT d.id, d.process_id, d.device, d.clock IS NOT NULL,
           coalesce(d.start_ns, {NONE}), coalesce(d.end_ns, {NONE}), coalesce(d.submitted_ns, {NONE}),
           coalesce(c.start_ns, {NONE}), coalesce(c.end_ns, {NONE}), coalesce(c.process_id, 0), c.queue,
           coalesce(min(CASE WHEN c.blocking = 1 AND c.result = 0 THEN c.end_ns END, w.at),
                    CASE WHEN c.blocking = 1 AND c.result = 0 THEN c.end_ns END, w.at, {NONE})
    FROM level3_device d
    LEFT JOIN link l ON l.interval_id = d.id
    LEFT JOIN level4_edge c ON c.id = l.call_id
    LEFT JOIN waited w ON w.maker_id = c.id
    WHERE d.run_id = :run AND d.kind IN ('kernel', 'copy', 'fill', 'communication', 'graph replay')
    ORDER BY d.process_id, d.device, d.clock IS NOT NULL, d.id
    """

#: Calls that come back when everything given to a queue, or to the device, before them has ended.
DRAINS_QUERY = """
    SELECT process_id, CASE WHEN name GLOB '*DeviceSynchronize*' OR name GLOB '*CtxSynchronize*' THEN NULL ELSE queue END,
           start_ns, end_ns
    FROM level4_edge
    WHERE run_id = :run AND kind = 'wait' AND coalesce(result, 0) = 0 AND start_ns IS NOT NULL AND end_ns IS NOT NULL
      AND (name GLOB '*DeviceSynchronize*' OR name GLOB '*CtxSynchronize*'
           OR (queue IS NOT NULL AND (name GLOB 'urQueueFinish*' OR name GLOB '*StreamSynchronize*')))
    """

#: Readings of both clocks. A reading without a time, or with the host's clock running backwards, says nothing.
READINGS_QUERY = """
    SELECT process_id, device, host_before_ns, device_ns, host_after_ns, coalesce(resolution_ns, 0)
    FROM clock_sample
    WHERE run_id = :run AND host_before_ns <= host_after_ns AND device_ns IS NOT NULL
    ORDER BY process_id, device, host_before_ns
    """


@dataclass
class Drains:
    """Calls that emptied a queue (or the device, under None): when each was entered and came back, by process."""

    _of: dict[tuple[int, str | None], list[tuple[int, int]]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[tuple[int, str | None, int, int]]) -> Drains:
        found: dict[tuple[int, str | None], list[tuple[int, int]]] = {}
        for process, queue, entered, returned in rows:
            found.setdefault((process, queue), []).append((entered, returned))
        return cls(found)

    def first_return(self, process: int, queue: str | None, after: Ids) -> Ids:
        """The earliest return (n,) of a drain that was entered at ``after`` (n,) or later; ``NONE`` where there is none."""
        known = sorted(self._of.get((process, queue), ()))
        if not known:
            return np.full(len(after), NONE, np.int64)
        entered, returned = np.array(known, np.int64).T
        earliest = np.append(np.minimum.accumulate(returned[::-1])[::-1], NONE)
        return earliest[np.searchsorted(entered, after)]


@dataclass(frozen=True)
class Lane:
    """Records of one device in one process, on one clock: times int64 (n,) each, ``NONE`` where one is not known."""

    process: int
    device: str
    own_clock: bool
    ids: Ids
    start: Ids
    end: Ids
    submitted: Ids
    #: When the call that submitted it was entered.
    entered: Ids
    #: When a host call that waited for its end came back.
    waited: Ids

    @property
    def begun_after_call(self) -> Mask:
        """Which records have both a start and a call, (n,)."""
        mask: Mask = (self.start != NONE) & (self.entered != NONE)
        return mask

    @property
    def waited_for(self) -> Mask:
        """Which records have both an end and a host call that waited for it, (n,)."""
        mask: Mask = (self.end != NONE) & (self.waited != NONE)
        return mask


def lanes(rows: Sequence[tuple[Any, ...]], drains: Drains) -> Iterator[Lane]:
    """The lanes of ``INTERVALS_QUERY``'s rows, which are in their order."""
    if not rows:
        return
    ids, processes, devices, own, start, end, submitted, entered, returned, callers, queues, waited = zip(
        *rows, strict=True
    )
    device, names = _numbered(devices)
    queue, queues_named = _numbered(queues)
    numbers = [
        np.array(column, np.int64)
        for column in (ids, processes, own, start, end, submitted, entered, returned, callers, waited)
    ]
    key = np.stack([numbers[1], device, numbers[2]])
    edges = [0, *(np.flatnonzero((key[:, 1:] != key[:, :-1]).any(axis=0)) + 1).tolist(), len(rows)]
    for first, last in pairwise(edges):
        part = slice(first, last)
        i, p, o, s, e, b, n, r, c, w = (column[part] for column in numbers)
        seen = _first_seen(w, drains, c, queue[part], queues_named, r)
        yield Lane(int(p[0]), names[device[first]], bool(o[0]), i, s, e, b, n, seen)


def _numbered(texts: Sequence[str | None]) -> tuple[Ids, list[str]]:
    """For each text (n,) the place of its name among the names; -1 for none."""
    coded = pa.array(texts, pa.string()).dictionary_encode()
    return coded.indices.fill_null(-1).to_numpy().astype(np.int64), coded.dictionary.to_pylist()


def _first_seen(
    waited: Ids, drains: Drains, callers: Ids, queue: Ids, names: Sequence[str], returned: Ids
) -> Ids:
    """When the host first knew that each record (n,) had ended; ``NONE`` where it never did."""
    far = np.iinfo(np.int64).max
    first = np.where(waited == NONE, far, waited)
    called = returned != NONE
    for process in np.unique(callers[called]).tolist():
        mine = called & (callers == process)
        # What empties the device empties each of its queues.
        for number in [None, *np.unique(queue[mine & (queue >= 0)]).tolist()]:
            rows = np.flatnonzero(mine if number is None else mine & (queue == number))
            found = drains.first_return(process, None if number is None else names[number], returned[rows])
            first[rows] = np.minimum(first[rows], np.where(found == NONE, far, found))
    return np.where(first == far, NONE, first)


@dataclass(frozen=True)
class Readings:
    """Readings of both clocks, in the order in which they were taken: int64 (n,) each."""

    before: Ids
    device: Ids
    after: Ids
    #: Tick of the device's times as the runtime gives it; None where it does not.
    tick_ns: int | None

    @classmethod
    def of(cls, rows: Iterable[tuple[int, str, int, int, int, int]]) -> dict[tuple[int, str], Readings]:
        """By process and device, from rows of ``READINGS_QUERY``."""
        found: dict[tuple[int, str], list[tuple[int, ...]]] = {}
        for process, device, *times in rows:
            found.setdefault((process, device), []).append(tuple(times))
        made = {}
        for key, times_of in found.items():
            before, at, after, tick = np.array(times_of, np.int64).T
            made[key] = cls(before, at, after, int(tick.max()) or None)
        return made


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


def bound_of(lane: Lane, readings: Readings | None, axis_bound_ns: int = 0) -> Bound:
    """The bound of one lane. ``axis_bound_ns``: how far the host's own axis is known, which is added linearly."""
    return _converted(lane, readings, axis_bound_ns) if lane.own_clock else _of_vendor(lane)


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
        "early": 0,
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
    for tick in range(int(distinct[0]) + 1, 7, -1):
        rest = distinct % tick
        if ((rest <= 1) | (rest == tick - 1)).all():
            return tick
    return None


def _converted(lane: Lane, readings: Readings | None, axis_bound_ns: int) -> Bound:
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
    least, most = clock.blind_range(read, causal)
    # What would have to be added is the bias with its sign turned. Outwards: what is not seen is not told too small.
    row["blind_low_ns"] = math.floor(-most) if math.isfinite(most) else None
    row["blind_high_ns"] = math.ceil(-least) if math.isfinite(least) else None
    if not band.bounded:
        return Bound(row | {"state": UNBOUNDED, "because": _missing(row)})
    times = np.concatenate([side[side != NONE] for side in (lane.start, lane.end)])
    half = band.at(times)[1]
    row["half_median_ns"], row["half_widest_ns"] = _median_and_widest(half)
    alone = clock.feasible(causal)
    if alone.consistent and alone.bounded:
        half = alone.at(times)[1]
        row["causal_half_median_ns"], row["causal_half_widest_ns"] = _median_and_widest(half)
    start, end = (_on_host(band, side, axis_bound_ns) for side in (lane.start, lane.end))
    bound = Bound(row, _knots(band, times, readings), lane.ids, start, end)
    early = (bound.start[0] < lane.entered)[begun]
    row["early"] = int(np.count_nonzero(early))
    if early.any():
        row["early_most_ns"] = int((lane.entered - bound.start[0])[begun].max())
    return bound


def _on_host(band: clock.Band, times: Ids, axis_bound_ns: int) -> tuple[Ids, Ids]:
    """Middles and half-widths, int64 (n,) each; ``NONE`` where there is no time."""
    middle, half = np.full(len(times), NONE, np.int64), np.full(len(times), NONE, np.int64)
    known = times != NONE
    middle[known], half[known] = band.at(times[known])
    half[known] += axis_bound_ns
    return middle, half


def _knots(band: clock.Band, times: Ids, readings: Readings | None) -> list[tuple[int, int, int]]:
    every = np.unique(np.concatenate([times, readings.device]) if readings else times)
    at = every[np.unique(np.linspace(0, len(every) - 1, KNOTS).round().astype(np.int64))]
    # In whole nanoseconds: on an axis that counts from 1970 a float has a step of 256 ns.
    middle, half = band.at(at)
    return list(zip(at.tolist(), (middle - half - at).tolist(), (middle + half - at).tolist(), strict=True))


def _missing(row: Mapping[str, Any]) -> str:
    """Why there is no bound: which side nothing holds."""
    if row["readings"]:
        return "the readings hold one side alone"
    if not row["starts"] and not row["ends"]:
        return "no reading of both clocks, and no call that submitted a record or waited for one"
    held = "submitted" if row["starts"] else "waited for"
    return f"no reading of both clocks; records were {held}, which holds one side alone"


def _median_and_widest(half: Ids) -> tuple[int, int]:
    return math.ceil(np.median(half)), int(half.max())
