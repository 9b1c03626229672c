"""The life of a token over several files of a run: steps, the client's clock, and the device.

Everything here is an association: by the number of a step, by the name of a request, by the phase in which a call was made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from akvsite.link import ENGINE_SOURCES, STEP_TABLES, Ids, Mask
from akvsite.link.device_lanes import NONE, WORK

#: Processes of a run that drew no steps, and the one other file of the same process that did: the probe's.
STEPS_FROM_QUERY = f"""
    SELECT p.id AS process, min(o.id) AS of FROM process p
    JOIN process o ON o.run_id = p.run_id AND o.pid = p.pid AND o.id <> p.id AND (o.rank IS p.rank OR o.rank IS NULL OR p.rank IS NULL)
    WHERE p.run_id = :run AND p.pid <> 'unknown'
      AND NOT EXISTS (SELECT 1 FROM step s WHERE s.run_id = :run AND s.process_id = p.id)
      AND EXISTS (SELECT 1 FROM step s WHERE s.run_id = :run AND s.process_id = o.id AND s.source IN {ENGINE_SOURCES})
    GROUP BY p.id HAVING count(DISTINCT o.id) = 1
    """
STEPS_FROM_STATEMENTS: tuple[str, ...] = tuple(
    f"""
    UPDATE {table} SET step_id = (
        SELECT CASE WHEN s.end_ns > {table}.start_ns THEN s.id END FROM step s
        WHERE s.run_id = :run AND s.process_id = :of AND s.start_ns <= {table}.start_ns AND s.nested = 0
        ORDER BY s.start_ns DESC LIMIT 1)
    WHERE run_id = :run AND process_id = :process AND step_id IS NULL
    """
    for table in STEP_TABLES
)

_OF_ENGINE = (
    "(arrived_ns IS NOT NULL OR scheduled_ns IS NOT NULL OR launched_ns IS NOT NULL OR device_first_ns IS NOT NULL"
    " OR device_last_ns IS NOT NULL OR sampled_ns IS NOT NULL OR copied_ns IS NOT NULL OR detokenised_ns IS NOT NULL"
    " OR sent_ns IS NOT NULL)"
)
#: Rows that a client wrote and an engine did not, and rows of an engine that no client has seen yet.
BOTH_SIDES_QUERY = f"SELECT max({_OF_ENGINE} AND client_ns IS NULL) AND max(NOT {_OF_ENGINE}) AS both FROM token WHERE run_id = :run"
TOKENS_QUERY = f"""
    SELECT t.id, t.request, t.number, t.tokens, t.client_ns, p.ingest_id, {_OF_ENGINE}
    FROM token t JOIN process p ON p.id = t.process_id
    WHERE t.run_id = :run AND t.number >= 0 AND coalesce(t.tokens, 1) > 0 AND ({_OF_ENGINE} = (t.client_ns IS NULL))
    ORDER BY t.id
    """

#: Launch phases with the number of their step, where that number is of one step alone.
LAUNCHES_QUERY = """
    SELECT p.pid, f.process_id, s.number, f.start_ns, f.end_ns
    FROM level1_runner f JOIN step s ON s.id = f.step_id JOIN process p ON p.id = f.process_id
    WHERE f.run_id = :run AND f.name = 'launch' AND f.start_ns IS NOT NULL AND f.end_ns IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM step o WHERE o.run_id = :run AND o.process_id = s.process_id AND o.number = s.number
                      AND o.id <> s.id AND o.nested = 0)
    ORDER BY f.start_ns, f.id
    """
#: Device work with the call that it belongs to, on the host's axis: as the vendor converted it, else with its bound.
WORK_QUERY = f"""
    SELECT p.pid, c.start_ns, d.clock IS NULL,
           CASE WHEN d.clock IS NULL THEN d.start_ns ELSE h.start_ns END AS start_ns,
           CASE WHEN d.clock IS NULL THEN d.end_ns ELSE h.end_ns END AS end_ns,
           coalesce(max(h.start_bound_ns, h.end_bound_ns), {NONE})
    FROM link l
    JOIN level4_edge c ON c.id = l.call_id
    JOIN level3_device d ON d.id = l.interval_id
    JOIN process p ON p.id = c.process_id
    LEFT JOIN device_on_host h ON h.interval_id = d.id
    WHERE l.run_id = :run AND d.kind IN {WORK} AND c.start_ns IS NOT NULL
      AND CASE WHEN d.clock IS NULL THEN d.start_ns ELSE h.start_ns END IS NOT NULL
      AND CASE WHEN d.clock IS NULL THEN d.end_ns ELSE h.end_ns END IS NOT NULL
    """
SPANS_QUERY = """
    SELECT d.process_id, d.step, h.start_ns, h.end_ns, max(h.start_bound_ns, h.end_bound_ns)
    FROM level3_device d JOIN device_on_host h ON h.interval_id = d.id
    WHERE d.run_id = :run AND d.kind = 'span' AND d.step IS NOT NULL AND h.start_ns IS NOT NULL AND h.end_ns IS NOT NULL
    """
#: ``found`` holds (process, step, first, last, bound).
DEVICE_STATEMENT = """
    UPDATE token SET device_first_ns = found.first, device_last_ns = found.last, device_bound_ns = found.bound
    FROM temp.device_of_step AS found
    WHERE token.run_id = :run AND found.process = token.process_id AND found.step = token.step
      AND token.device_first_ns IS NULL AND token.device_last_ns IS NULL
    """


@dataclass(frozen=True)
class Joined:
    """Rows of an engine (n,) with the time (n,) at which the client saw them, and rows of clients (m,) that they replace.

    ``left``: rows of clients that stay, since the engine has no row of each of their tokens, or several.
    """

    engine: Ids
    client_ns: Ids
    gone: Ids
    gone_from: Ids
    left: int


def joined(rows: Iterable[tuple[Any, ...]]) -> Joined:
    """From rows of ``TOKENS_QUERY``: a chunk of the client belongs to the tokens at its place and those after it."""
    columns = list(zip(*rows, strict=True)) or [()] * 7
    names: dict[str, int] = {}
    request = np.array([names.setdefault(name, len(names)) for name in columns[1]], np.int64)
    ids, number, size, at, file = (
        np.array([1 if v is None else v for v in columns[place]], np.int64) for place in (0, 2, 3, 4, 5)
    )
    of_engine = np.array(columns[6], bool)
    engine = _ordered(of_engine, request, number)
    client = _ordered(~of_engine, request, number)
    # One number for each place of each request.
    most = int(max(number.max(initial=0), 0)) + 1
    place = request[engine] * most + number[engine]
    chunk = request[client] * most + number[client]
    alone = _alone(place)
    first = np.searchsorted(place, chunk, side="left")
    reach = np.minimum(number[client] + size[client], most) - number[client]
    last = np.searchsorted(place, chunk + reach, side="left")
    several = np.concatenate([[0], np.cumsum(~alone)])
    whole = (last - first == size[client]) & (several[last] == several[first]) & _alone(chunk)
    # No two chunks may hold the same token.
    whole &= ~_overlap(first, last)
    counts = (last - first)[whole]
    starts = (
        np.repeat(first[whole] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        if len(counts)
        else first[:0]
    )
    rows_of = engine[starts + np.arange(int(counts.sum()))]
    return Joined(
        ids[rows_of],
        np.repeat(at[client[whole]], counts),
        ids[client[whole]],
        file[client[whole]],
        int(np.count_nonzero(~whole)),
    )


def _ordered(chosen: Mask, request: Ids, number: Ids) -> Ids:
    rows = np.flatnonzero(chosen)
    return rows[np.lexsort((number[rows], request[rows]))]


def _alone(keys: Ids) -> Mask:
    """Which of the keys (n,), in order, no other one equals."""
    same = np.zeros(len(keys) + 1, bool)
    same[1:-1] = keys[1:] == keys[:-1]
    return ~(same[:-1] | same[1:])


def _overlap(first: Ids, last: Ids) -> Mask:
    """Which stretches (n,), by their start, reach into the next one, or are reached into."""
    into = np.zeros(len(first) + 1, bool)
    if len(first) > 1:
        into[1:-1] = np.maximum.accumulate(last)[:-1] > first[1:]
    return into[:-1] | into[1:]


def device_of_steps(
    launches: Iterable[tuple[Any, ...]], work: Iterable[tuple[Any, ...]], spans: Iterable[tuple[Any, ...]]
) -> list[tuple[int, int, int, int, int | None]]:
    """(process, step, first start, last end, bound) of the device work of each step, ns; a bound that is not known is None.

    From rows of ``LAUNCHES_QUERY``, ``WORK_QUERY`` and ``SPANS_QUERY``. Work is of the step in whose launch phase its call
    was entered. Where a vendor's records are there they stand for the step, else those of a shim, else the spans.
    """
    phases: dict[str, list[tuple[int, int, int, int]]] = {}
    for pid, process, number, start, end in launches:
        phases.setdefault(pid, []).append((start, end, process, number))
    calls: dict[tuple[str, int], list[tuple[int, int, int, int]]] = {}
    for pid, entered, vendor, start, end, bound in work:
        if pid in phases:
            calls.setdefault((pid, 1 - vendor), []).append((entered, start, end, bound))
    found: dict[tuple[int, int], tuple[int, int, int | None]] = {}
    for (pid, _), rows in sorted(calls.items()):
        begin, finish, process, number = np.array(phases[pid], np.int64).T
        entered, start, end, bound = np.array(rows, np.int64).T
        at = np.searchsorted(begin, entered, side="right") - 1
        inside = (at >= 0) & (finish[at] > entered)
        at = at[inside]
        for key, value in _extent(process[at], number[at], start[inside], end[inside], bound[inside]):
            found.setdefault(key, value)
    columns = list(zip(*spans, strict=True))
    if columns:
        for key, value in _extent(*(np.array(c, np.int64) for c in columns)):
            found.setdefault(key, value)
    return [(process, step, *value) for (process, step), value in sorted(found.items())]


def _extent(
    process: Ids, step: Ids, start: Ids, end: Ids, bound: Ids
) -> Iterable[tuple[tuple[int, int], tuple[int, int, int | None]]]:
    """First start, last end and widest bound of each step."""
    if not len(process):
        return
    order = np.lexsort((step, process))
    process, step, start, end, bound = (values[order] for values in (process, step, start, end, bound))
    begins = np.flatnonzero(np.concatenate([[True], (process[1:] != process[:-1]) | (step[1:] != step[:-1])]))
    first, last = np.minimum.reduceat(start, begins), np.maximum.reduceat(end, begins)
    widest, least = np.maximum.reduceat(bound, begins), np.minimum.reduceat(bound, begins)
    for row, at in enumerate(begins.tolist()):
        # One record without a bound leaves the step without one.
        known = int(widest[row]) if least[row] != NONE else None
        yield (int(process[at]), int(step[at])), (int(first[row]), int(last[row]), known)
