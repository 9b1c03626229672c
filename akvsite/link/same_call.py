"""Calls that the shim and the vendor's tracer both recorded.

There is no id that both carry. A row of each is taken for the same call where both have the same name in the same
thread of the same process, the shim's contains the vendor's, and the order is kept: an association, no more. A runtime
that is linked into a library is not seen by the shim, which sees the driver's call inside it: work of the same kind
inside the vendor's row is taken for that row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from akvsite.calls import EXPECTS, plain_name
from akvsite.link import Ids

ORDER = "order in the thread"
#: How far the vendor's host times may be off, ns: its conversion is not proven, and was seen to be off by 0.15 us.
VENDOR_NS = 1_000

#: Processes of a run that both tools looked at. Where one pid is in several files of a tool nothing is told.
PROCESSES_QUERY = """
    SELECT min(shim) AS shim, min(vendor) AS vendor FROM (
        SELECT DISTINCT s.id AS shim, v.id AS vendor
        FROM process s JOIN process v ON v.run_id = s.run_id AND v.pid = s.pid AND (v.rank IS s.rank OR s.rank IS NULL)
        WHERE s.run_id = :run AND s.pid <> 'unknown'
          AND EXISTS (SELECT 1 FROM level4_edge c WHERE c.run_id = :run AND c.process_id = s.id AND c.source = 'shim')
          AND EXISTS (SELECT 1 FROM level4_edge c WHERE c.run_id = :run AND c.process_id = v.id AND c.source <> 'shim'))
    GROUP BY shim HAVING count(DISTINCT vendor) = 1
    """
CALLS_QUERY = """
    SELECT id, name, kind, thread, start_ns, end_ns FROM level4_edge
    WHERE run_id = :run AND process_id = :process AND (source = 'shim') = :shim
      AND start_ns IS NOT NULL AND end_ns IS NOT NULL AND thread IS NOT NULL
    ORDER BY start_ns, id
    """
#: The steps of a process are in the file of the tool that drew them: the shim's calls of that process lie in them too.
STEPS_STATEMENT = """
    UPDATE level4_edge SET step_id = (
        SELECT CASE WHEN s.end_ns > level4_edge.start_ns THEN s.id END FROM step s
        WHERE s.run_id = :run AND s.process_id = :vendor AND s.start_ns <= level4_edge.start_ns AND s.nested = 0
        ORDER BY s.start_ns DESC LIMIT 1)
    WHERE run_id = :run AND process_id = :shim AND source = 'shim'
    """


@dataclass(frozen=True)
class Calls:
    """Calls of one tool in one process, by start: int64 (n,) each.

    ``group`` is one for each thread and name, ``work`` one for each thread and kind of work, and -1 for no work.
    """

    ids: Ids
    group: Ids
    work: Ids
    starts: Ids
    ends: Ids

    @classmethod
    def of(
        cls, rows: Iterable[tuple[int, str, str, str, int, int]], groups: dict[tuple[str, str], int]
    ) -> Calls:
        """From rows of ``CALLS_QUERY``; ``groups`` numbers threads and plain names, and grows."""
        plain: dict[str, str] = {}
        columns: tuple[list[int], ...] = ([], [], [], [], [])
        for id, name, kind, thread, start, end in rows:
            if name not in plain:
                plain[name] = plain_name(name)
            group = groups.setdefault((thread, plain[name]), len(groups))
            work = groups.setdefault((thread, f"work: {kind}"), len(groups)) if kind in EXPECTS else -1
            for values, value in zip(columns, (id, group, work, start, end), strict=True):
                values.append(value)
        return cls(*(np.array(values, np.int64) for values in columns))


def same_calls(shim: Calls, vendor: Calls, bound_ns: int) -> tuple[Ids, Ids]:
    """Pairs of ids, int64 (n,) each, of rows that are taken for one call. ``bound_ns`` is how far the axes may differ."""
    partner = np.full(len(vendor.ids), -1, np.int64)
    for group in np.intersect1d(shim.group, vendor.group):
        mine, theirs = np.flatnonzero(shim.group == group), np.flatnonzero(vendor.group == group)
        own = _in_order(
            shim.starts[mine], shim.ends[mine], vendor.starts[theirs], vendor.ends[theirs], bound_ns
        )
        partner[theirs[own >= 0]] = mine[own[own >= 0]]
    alone = np.ones(len(shim.ids), bool)
    alone[partner[partner >= 0]] = False
    for work in np.intersect1d(shim.work[alone], vendor.work[partner < 0]):
        if work < 0:
            continue
        mine = np.flatnonzero(alone & (shim.work == work))
        theirs = np.flatnonzero((partner < 0) & (vendor.work == work))
        own = _in_order(
            vendor.starts[theirs], vendor.ends[theirs], shim.starts[mine], shim.ends[mine], bound_ns
        )
        partner[theirs[own[own >= 0]]] = mine[own >= 0]
    found = partner >= 0
    return shim.ids[partner[found]], vendor.ids[found]


def _in_order(starts: Ids, ends: Ids, inner_starts: Ids, inner_ends: Ids, bound_ns: int) -> Ids:
    """For each inner interval the place of the first outer one that contains it and is not taken; -1 for none."""
    # Calls of one thread and name do not overlap, so both their ends are in order.
    first = np.searchsorted(np.maximum.accumulate(ends), inner_ends - bound_ns, side="left")
    last = np.searchsorted(starts, inner_starts + bound_ns, side="right") - 1
    found = np.full(len(inner_starts), -1, np.int64)
    free = 0
    for place, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if (taken := max(low, free)) <= high:
            found[place] = taken
            free = taken + 1
    return found
