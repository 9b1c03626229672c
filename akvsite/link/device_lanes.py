"""What a store knows of the times of each device: records with their calls and waits, and readings of both clocks.

A lane is the records of one device in one process on one clock: one counter, as is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from akvsite.link import Ids, Mask

#: Columns of ``INTERVALS_QUERY`` that are numbers, and those that are texts.
_NUMBERS = (0, 1, 3, 4, 5, 6, 7, 8, 9, 11)
_TEXTS = (2, 10)
#: What no time is: it stands for NULL in whole columns.
NONE = -(2**63)
#: Kinds of device records that are work of the device.
WORK = "('kernel', 'copy', 'fill', 'communication', 'graph replay')"
#: Work, and spans between timing events: what is brought to the host's axis.
CONVERTED = f"{WORK[:-1]}, 'span')"
#: Spans have no call. What the runner knows of one: it began no earlier than the first launch phase of its step, and had
#: ended when the last phase came back that waited for the device. A phase without an end saw nothing.
_STEP_PHASES = """
    SELECT s.process_id, s.number, min(CASE WHEN f.name = 'launch' THEN f.start_ns END) AS launched,
           max(CASE WHEN f.name = 'wait' THEN f.end_ns END) AS waited
    FROM level1_runner f JOIN step s ON s.id = f.step_id
    WHERE f.run_id = :run AND f.name IN ('launch', 'wait') AND s.nested = 0
    GROUP BY s.process_id, s.number HAVING count(DISTINCT s.id) = 1
    """
#: Work with the calls that it belongs to, and when a call that waited for that call's event came back. A wait that went
#: wrong saw nothing; one whose result is not on record (a trace of the vendor has none) may have been a mere question.
INTERVALS_QUERY = f"""
    WITH waited AS (
        SELECT w.maker_id, min(c.end_ns) AS at FROM edge_wait w JOIN level4_edge c ON c.id = w.call_id
        WHERE w.run_id = :run AND w.maker_id IS NOT NULL AND c.kind = 'wait' AND c.result = 0
        GROUP BY w.maker_id),
    phases AS ({_STEP_PHASES})
    SELECT d.id, d.process_id, d.device, d.clock IS NOT NULL,
           coalesce(d.start_ns, {NONE}), coalesce(d.end_ns, {NONE}), coalesce(d.submitted_ns, {NONE}),
           coalesce(c.start_ns, p.launched, {NONE}), coalesce(c.end_ns, {NONE}), coalesce(c.process_id, 0), c.queue,
           coalesce(min(CASE WHEN c.blocking = 1 AND c.result = 0 THEN c.end_ns END, w.at),
                    CASE WHEN c.blocking = 1 AND c.result = 0 THEN c.end_ns END, w.at, p.waited, {NONE})
    FROM level3_device d
    LEFT JOIN link l ON l.interval_id = d.id
    LEFT JOIN level4_edge c ON c.id = l.call_id
    LEFT JOIN waited w ON w.maker_id = c.id
    LEFT JOIN phases p ON d.kind = 'span' AND p.process_id = d.process_id AND p.number = d.step
    WHERE d.run_id = :run AND d.kind IN {CONVERTED}
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

#: When queues were made: a handle that was handed out anew is another queue.
QUEUES_QUERY = """
    SELECT process_id, printf('0x%x', object), end_ns FROM level4_edge
    WHERE run_id = :run AND object IS NOT NULL AND end_ns IS NOT NULL AND coalesce(result, 0) = 0
      AND (name GLOB 'urQueueCreate*' OR name GLOB '*StreamCreate*')
    """

#: Readings of both clocks. A reading without a time, or with the host's clock running backwards, says nothing.
READINGS_QUERY = """
    SELECT process_id, device, host_before_ns, device_ns, host_after_ns, max(coalesce(resolution_ns, 0), 0)
    FROM clock_sample
    WHERE run_id = :run AND host_before_ns <= host_after_ns AND device_ns IS NOT NULL
    ORDER BY process_id, device, host_before_ns
    """


@dataclass
class Drains:
    """Calls that emptied a queue (or the device, under None): when each was entered and came back, by process."""

    _of: dict[tuple[int, str | None], Ids]
    #: When a handle was handed out, by process and handle.
    _made: dict[tuple[int, str], Ids]

    @classmethod
    def of(
        cls, rows: Iterable[tuple[int, str | None, int, int]], made: Iterable[tuple[int, str, int]] = ()
    ) -> Drains:
        found: dict[tuple[int, str | None], list[tuple[int, int]]] = {}
        for process, queue, entered, returned in rows:
            found.setdefault((process, queue), []).append((entered, returned))
        handed: dict[tuple[int, str], list[int]] = {}
        for process, queue, at in made:
            handed.setdefault((process, queue), []).append(at)
        return cls(
            {key: np.array(sorted(times), np.int64) for key, times in found.items()},
            {key: np.array(sorted(times), np.int64) for key, times in handed.items()},
        )

    def first_return(self, process: int, queue: str | None, after: Ids) -> Ids:
        """The earliest return (n,) of a drain that was entered at ``after`` (n,) or later; ``NONE`` where there is none."""
        known = self._of.get((process, queue))
        if known is None:
            return np.full(len(after), NONE, np.int64)
        made = self._made.get((process, queue), np.empty(0, np.int64)) if queue else np.empty(0, np.int64)
        life, asked = (np.searchsorted(made, times, side="right") for times in (known[:, 0], after))
        first = np.full(len(after), NONE, np.int64)
        for each in np.unique(life):
            entered, returned = known[life == each].T
            earliest = np.append(np.minimum.accumulate(returned[::-1])[::-1], NONE)
            rows = asked == each
            first[rows] = earliest[np.searchsorted(entered, after[rows])]
        return first


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


def lanes(rows: Iterator[Sequence[tuple[Any, ...]]], drains: Drains) -> Iterator[Lane]:
    """The lanes of ``INTERVALS_QUERY``'s rows, which come in pieces and in their order."""
    numbers, (device, queue), (names, queues) = _columns(rows)
    if not len(device):
        return
    key = np.stack([numbers[1], device, numbers[2]])
    edges = [0, *(np.flatnonzero((key[:, 1:] != key[:, :-1]).any(axis=0)) + 1).tolist(), len(device)]
    devices = np.bincount(np.unique(key[:2, edges[:-1]], axis=1)[0])
    for first, last in pairwise(edges):
        part = slice(first, last)
        i, p, o, s, e, b, n, r, c, w = (column[part] for column in numbers)
        # A call that waits does not say for which device: where there are several, it is taken for none.
        seen = _first_seen(w, drains, c, queue[part], queues, r) if devices[p[0]] == 1 else w
        yield Lane(int(p[0]), names[device[first]], bool(o[0]), i, s, e, b, n, seen)


def _columns(rows: Iterator[Sequence[tuple[Any, ...]]]) -> tuple[list[Ids], list[Ids], list[list[str]]]:
    """Numbers as arrays (n,), then devices and queues as places among their names. Rows are let go piece by piece."""
    numbers: list[list[Ids]] = [[] for _ in _NUMBERS]
    texts: list[list[pa.Array]] = [[], []]
    for piece in rows:
        columns = list(zip(*piece, strict=True))
        for kept, at in zip(numbers, _NUMBERS, strict=True):
            kept.append(np.array(columns[at], np.int64))
        for kept, at in zip(texts, _TEXTS, strict=True):
            kept.append(pa.array(columns[at], pa.string()).dictionary_encode())
    found = [_numbered(kept) for kept in texts]
    return (
        [np.concatenate(kept) if kept else np.empty(0, np.int64) for kept in numbers],
        [places for places, _ in found],
        [names for _, names in found],
    )


def _numbered(pieces: Sequence[pa.Array]) -> tuple[Ids, list[str]]:
    """For each text (n,) the place of its name among the names; -1 for none."""
    coded = (
        pa.chunked_array(pieces, pa.dictionary(pa.int32(), pa.string())).unify_dictionaries().combine_chunks()
    )
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
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

    def outside(self, times: Ids) -> Ids:
        """By how much times (n,) lie before the first reading or after the last one, ns; 0 where they do not."""
        away: Ids = np.maximum(np.maximum(self.device.min() - times, times - self.device.max()), 0)
        return away

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
