"""Which device intervals belong to which runtime call, and how many records of each kind were seen.

A link is an association: it says that two records carry the same id, never that one caused the other. Nothing is
clamped: a kernel that starts before its call keeps its link and its times.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from akvsite.calls import EXPECTS

Ids = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

CALLS_SEEN = "calls with device records"
RECORDS_SEEN = "device records with a call"
STEPS_SEEN = "steps with device records"
SHIM = "shim"
#: How a link was made.
CORRELATION, EVENT = "correlation id", "event handle"


@dataclass
class Side:
    """Rows that carry an id, gathered batch by batch while they are written; arrays of equal length, (n,) each."""

    ids: list[Ids] = field(default_factory=list)
    processes: list[Ids] = field(default_factory=list)
    keys: list[Ids] = field(default_factory=list)

    def add(self, ids: Ids, processes: Ids, keys: Ids) -> None:
        if len(ids):
            self.ids.append(ids)
            self.processes.append(processes)
            self.keys.append(keys)

    def whole(self) -> tuple[Ids, Ids, Ids]:
        """Ids, processes and keys, int64 (n,) each."""
        ids, processes, keys = (
            np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
            for parts in (self.ids, self.processes, self.keys)
        )
        return ids, processes, keys


@dataclass
class Both:
    """Calls and device records that carry ids of one sort."""

    calls: Side = field(default_factory=Side)
    intervals: Side = field(default_factory=Side)


@dataclass(frozen=True)
class Waits:
    """Events that calls waited for, (n,) each; calls and makers by their ``call_index``."""

    processes: Ids
    calls: Ids
    events: Ids
    makers: Ids
    maker_known: Mask


@dataclass
class Gathered:
    """What the rows of files that share a clock and their ids are associated by.

    ``keyed`` says that each interval's process is stated and not guessed.
    """

    keyed: bool = False
    #: The id that the vendor's tracer gives to a call and its device records.
    correlation: Both = field(default_factory=Both)
    #: The number of a call's record in a file of the shim, which reads the device times from the call's event.
    call_index: Both = field(default_factory=Both)
    waits: list[Waits] = field(default_factory=list)


@dataclass(frozen=True)
class Links:
    """Pairs of ids, int64 (n,) each, and how many intervals found calls in more than one process."""

    call_ids: Ids
    interval_ids: Ids
    processes: Ids
    ambiguous: int


def by_correlation(gathered: Gathered) -> Links:
    """Join calls and intervals that carry the same correlation id.

    One call may have many intervals (a graph replay has), and each interval has one call. The id is keyed by
    process: where the intervals say whose they are, an id is looked for in that process alone. Device records of a
    trace do not say it: one whose id occurs in calls of several processes is left unlinked and counted.
    """
    return _linked(gathered.correlation, gathered.keyed)


def by_event(gathered: Gathered, taken: Ids) -> Links:
    """Join the calls of the shim and the device times that it read from their events; not those of ``taken`` (n,)."""
    links = _linked(gathered.call_index, gathered.keyed)
    free = ~np.isin(links.interval_ids, taken)
    return Links(links.call_ids[free], links.interval_ids[free], links.processes[free], links.ambiguous)


def _linked(both: Both, keyed: bool) -> Links:
    calls, processes, keys = both.calls.whole()
    intervals, owners, wanted = both.intervals.whole()
    none = np.empty(0, dtype=np.int64)
    if not len(calls) or not len(intervals):
        return Links(none, none, none, 0)
    if not keyed:
        return _join(calls, processes, keys, intervals, wanted)
    parts = [
        _join(
            calls[processes == one], processes[processes == one], keys[processes == one],
            intervals[owners == one], wanted[owners == one],
        )
        for one in np.unique(processes)
    ]  # fmt: skip
    return Links(
        np.concatenate([p.call_ids for p in parts]),
        np.concatenate([p.interval_ids for p in parts]),
        np.concatenate([p.processes for p in parts]),
        0,
    )


def _join(calls: Ids, processes: Ids, keys: Ids, intervals: Ids, wanted: Ids) -> Links:
    order = np.lexsort((calls, processes, keys))
    calls, processes, keys = calls[order], processes[order], keys[order]
    first = np.searchsorted(keys, wanted, side="left")
    last = np.searchsorted(keys, wanted, side="right")
    found = last > first
    # Several calls of one process with one id (a driver call inside its runtime call) all belong; the first in file
    # order, which is the outer one, takes the interval so that its device time is counted once.
    unique = np.zeros(len(wanted), dtype=bool)
    unique[found] = processes[first[found]] == processes[last[found] - 1]
    chosen = first[unique]
    return Links(calls[chosen], intervals[unique], processes[chosen], int(np.count_nonzero(found & ~unique)))


def rows_of_calls(calls: Side, processes: Ids, keys: Ids) -> Ids:
    """The row of the call that has each key (n,) in its process (n,); 0 where there is none."""
    ids, owners, numbers = calls.whole()
    found = np.zeros(len(keys), dtype=np.int64)
    for process in np.unique(owners):
        order = np.flatnonzero(owners == process)
        order = order[np.argsort(numbers[order], kind="stable")]
        asked = np.flatnonzero(processes == process)
        place = np.searchsorted(numbers[order], keys[asked])
        place[place == len(order)] = 0
        hit = numbers[order[place]] == keys[asked]
        found[asked[hit]] = ids[order[place[hit]]]
    return found


#: Which rows of ``level4_edge`` (``c``) stand for one call each. What the vendor's tracer recorded does; of the shim's
#: rows those that succeeded, that lie in no other call, and that the vendor's tracer has not: where it was there too,
#: only what was made while it was and only if the two agree on any call, since else the same call would count twice.
_ONE_CALL = f"""
    (c.source <> '{SHIM}' OR (
        coalesce(c.nested, 0) = 0 AND coalesce(c.result, 0) = 0
        AND NOT EXISTS (SELECT 1 FROM same_call s WHERE s.shim_id = c.id)
        AND (NOT EXISTS (SELECT 1 FROM level4_edge v WHERE v.run_id = :run AND v.source <> '{SHIM}')
             OR (EXISTS (SELECT 1 FROM same_call s WHERE s.run_id = :run)
                 AND c.start_ns >= (SELECT min(v.start_ns) FROM level4_edge v WHERE v.run_id = :run AND v.source <> '{SHIM}')
                 AND c.start_ns <= (SELECT max(v.start_ns) FROM level4_edge v WHERE v.run_id = :run AND v.source <> '{SHIM}')))))
    """

#: Filled after the links: for each process, kind and direction, records seen of records expected.
SEEN_STATEMENTS: tuple[str, ...] = (
    f"""
    INSERT INTO seen (run_id, process_id, direction, kind, seen, expected)
    SELECT c.run_id, c.process_id, '{CALLS_SEEN}',
           CASE c.kind {" ".join(f"WHEN '{call}' THEN '{record}'" for call, record in EXPECTS.items())} END,
           sum(EXISTS (SELECT 1 FROM link l WHERE l.call_id = c.id)), count(*)
    FROM level4_edge c
    WHERE c.run_id = :run AND c.kind IN ({", ".join(f"'{kind}'" for kind in EXPECTS)}) AND {_ONE_CALL}
    GROUP BY c.process_id, c.kind
    """,
    # Where the vendor's device records are there, the shim's are the same work again, on another clock.
    f"""
    INSERT INTO seen (run_id, process_id, direction, kind, seen, expected)
    SELECT d.run_id, d.process_id, '{RECORDS_SEEN}', d.kind, count(l.interval_id), count(*)
    FROM level3_device d
    LEFT JOIN link l ON l.interval_id = d.id
    WHERE d.run_id = :run AND d.kind IN ('kernel', 'copy', 'fill', 'communication', 'graph replay')
      AND (d.clock IS NULL OR NOT EXISTS (SELECT 1 FROM level3_device v WHERE v.run_id = :run AND v.clock IS NULL))
    GROUP BY d.process_id, d.kind
    """,
    f"""
    INSERT INTO seen (run_id, process_id, direction, kind, seen, expected)
    SELECT s.run_id, s.process_id, '{STEPS_SEEN}', 'step', count(a.step_id), count(*)
    FROM step s
    LEFT JOIN (SELECT DISTINCT c.step_id FROM link l JOIN level4_edge c ON c.id = l.call_id
               WHERE l.run_id = :run AND c.step_id IS NOT NULL) a ON a.step_id = s.id
    WHERE s.run_id = :run AND s.nested = 0
      AND EXISTS (SELECT 1 FROM level3_device d WHERE d.run_id = :run AND d.kind <> 'span')
      -- Where two tools drew the steps of one process, calls lie in those of one of them: the other says nothing here.
      AND (s.process_id IN (SELECT x.process_id FROM level4_edge c JOIN step x ON x.id = c.step_id WHERE c.run_id = :run)
           OR NOT EXISTS (SELECT 1 FROM process p JOIN process o ON o.run_id = p.run_id AND o.pid = p.pid AND o.id <> p.id
                          JOIN step x ON x.run_id = o.run_id AND x.process_id = o.id
                          WHERE p.id = s.process_id AND p.pid <> 'unknown'))
    GROUP BY s.process_id
    """,
)

#: An engine may draw one iteration twice, one annotation inside another: the inner one is marked, and nothing is
#: counted twice. Inside is where it begins before the outer one ends; a step without a start lies in none.
NESTED_STATEMENT = """
    UPDATE step SET nested = n.nested FROM (
        SELECT id, coalesce(outer_end >= end_ns AND outer_end > start_ns, 0) AS nested
        FROM (SELECT id, start_ns, end_ns, max(end_ns) OVER (
                  PARTITION BY process_id, source, start_ns IS NULL ORDER BY start_ns, end_ns DESC, id
                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS outer_end
              FROM step WHERE run_id = :run)) AS n
    WHERE n.id = step.id
    """

#: Who draws an engine's steps itself, in the words of ``step.source``.
ENGINE_SOURCES = "('probe', 'engine counter')"

#: The place of each step (``id``) among those of its process and source, from 1. A profiler that was on in chosen steps
#: alone saw none of the first: where the engine's own steps of that process have the same number, theirs is the place.
_PLACES = f"""
    WITH own AS (
        SELECT s.id, s.process_id, s.source, s.warm_up, s.number, p.pid, s.source IN {ENGINE_SOURCES} AS engine,
               row_number() OVER (PARTITION BY s.process_id, s.source ORDER BY s.start_ns IS NULL, s.start_ns, s.id) AS place
        FROM step s JOIN process p ON p.id = s.process_id
        WHERE s.run_id = :run AND s.nested = 0),
    places AS (
        SELECT id, process_id, source, warm_up, CASE WHEN engine THEN place ELSE coalesce(
            min(CASE WHEN engine AND number IS NOT NULL THEN place END) OVER (PARTITION BY pid, number), place) END AS place
        FROM own)
    """

#: The declared number of steps is cut from the start of each process; never a number chosen from the data.
WARM_UP_STATEMENT = (
    _PLACES + "UPDATE step SET warm_up = 1 WHERE id IN (SELECT id FROM places WHERE place <= :cut)"
)

#: The first step of a source whose file says of its warm-up what the capture does not declare: a file may repeat the
#: declaration, step by step, and may not cut anything else.
UNDECLARED_WARM_UP_QUERY = (
    _PLACES
    + """
    SELECT id, place, warm_up, sum(warm_up) OVER (PARTITION BY process_id, source) AS marked FROM places
    ORDER BY marked = 0, warm_up = (place <= :cut), id LIMIT 1
    """
)

#: Tables whose rows know their step.
STEP_TABLES = ("level1_runner", "level2_host", "level4_edge")

#: A host row belongs to the step in which it began (steps of a process follow each other; where they overlap the one
#: that began last is taken). ``Steps`` says the same of rows on their way in; this is for rows that came first.
STEP_STATEMENTS: tuple[str, ...] = tuple(
    f"""
    UPDATE {table} SET step_id = (
        SELECT CASE WHEN s.end_ns > {table}.start_ns THEN s.id END FROM step s
        WHERE s.run_id = {table}.run_id AND s.process_id = {table}.process_id AND s.start_ns <= {table}.start_ns
          AND s.nested = 0
        ORDER BY s.start_ns DESC LIMIT 1)
    WHERE run_id = :run AND process_id IN (SELECT DISTINCT process_id FROM step WHERE run_id = :run)
      AND start_ns >= (SELECT min(start_ns) FROM step WHERE run_id = :run)
      AND start_ns < (SELECT max(end_ns) FROM step WHERE run_id = :run)
    """
    for table in STEP_TABLES
)

#: What ``Steps`` is made of.
STEPS_QUERY = "SELECT id, process_id, start_ns, end_ns FROM step WHERE run_id = ? AND nested = 0 AND start_ns IS NOT NULL"


class Steps:
    """The steps of a run, by process and start: int64 (n,) each, the end of an unfinished step below every time."""

    def __init__(self, ids: Ids, processes: Ids, starts: Ids, ends: Ids) -> None:
        self._of: dict[int, tuple[Ids, Ids, Ids]] = {}
        order = np.lexsort((ids, starts))
        for process in np.unique(processes).tolist():
            mine = order[processes[order] == process]
            self._of[process] = (ids[mine], starts[mine], ends[mine])

    def at(self, processes: Ids, times: Ids, known: Mask) -> Ids:
        """The step of each row that began at ``times`` (n,), where its start is ``known``; 0 for none."""
        found = np.zeros(len(times), dtype=np.int64)
        for process, (ids, starts, ends) in self._of.items():
            rows = np.flatnonzero(known & (processes == process))
            last = np.searchsorted(starts, times[rows], side="right") - 1
            inside = (last >= 0) & (ends[last] > times[rows])
            found[rows[inside]] = ids[last[inside]]
        return found
