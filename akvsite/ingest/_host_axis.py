"""Bring the device times of a run to the host's axis, and keep what is known of that."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from akvsite import manifest
from akvsite.link import device_lanes, host_axis
from akvsite.store import Store

#: Rows of the store that are in memory as Python objects at once.
PIECE = 50_000

#: What a run says of its device times: the least of what is known of its devices, whatever is declared.
_CLOCK_STATEMENT = f"""
    UPDATE run SET clock = CASE
        WHEN EXISTS (SELECT 1 FROM level3_device d WHERE d.run_id = :run AND d.clock IS NULL) THEN clock
        WHEN EXISTS (SELECT 1 FROM clock_bound b WHERE b.run_id = :run AND b.state = '{host_axis.INCONSISTENT}')
            THEN '{host_axis.INCONSISTENT}'
        WHEN EXISTS (SELECT 1 FROM clock_bound b WHERE b.run_id = :run)
             AND NOT EXISTS (SELECT 1 FROM clock_bound b WHERE b.run_id = :run AND b.state <> '{host_axis.BOUNDED}')
            THEN '{host_axis.BOUNDED}'
        ELSE '{manifest.DEVICE_CLOCK}' END
    WHERE id = :run AND EXISTS (SELECT 1 FROM level3_device d WHERE d.run_id = :run)
    """


def bring_to_host(store: Store, run_id: int) -> None:
    """Fill ``clock_bound``, ``clock_knot`` and ``device_on_host`` of a run whose rows and links are whole."""
    connection, run = store.connection, {"run": run_id}
    connection.execute("DELETE FROM clock_bound WHERE run_id = :run", run)
    connection.execute(
        "DELETE FROM device_on_host WHERE interval_id IN (SELECT id FROM level3_device WHERE run_id = :run)",
        run,
    )
    drains = device_lanes.Drains.of(
        connection.execute(device_lanes.DRAINS_QUERY, run), connection.execute(device_lanes.QUEUES_QUERY, run)
    )
    readings = device_lanes.Readings.of(connection.execute(device_lanes.READINGS_QUERY, run))
    for lane in device_lanes.lanes(_pieces(connection.execute(device_lanes.INTERVALS_QUERY, run)), drains):
        own = {device: read for (process, device), read in readings.items() if process == lane.process}
        _write(store, run_id, host_axis.bound_of(lane, own))
    connection.execute(_CLOCK_STATEMENT, run)


def bring_others(store: Store) -> None:
    """The runs that were stored before there were clock bounds."""
    waiting = store.rows(
        "SELECT r.id FROM run r WHERE NOT EXISTS (SELECT 1 FROM clock_bound b WHERE b.run_id = r.id)"
        f" AND EXISTS (SELECT 1 FROM level3_device d WHERE d.run_id = r.id AND d.kind IN {device_lanes.CONVERTED})"
    )
    for row in waiting:
        with store.transaction():
            bring_to_host(store, row["id"])


def _pieces(cursor: sqlite3.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    while piece := cursor.fetchmany(PIECE):
        yield piece


def _write(store: Store, run_id: int, bound: host_axis.Bound) -> None:
    bound_id = store.insert("clock_bound", {"run_id": run_id, **bound.row})
    store.connection.executemany(
        f"INSERT INTO clock_knot (bound_id, device_ns, low_ns, high_ns) VALUES ({bound_id:d}, ?, ?, ?)",
        bound.knots,
    )
    none = device_lanes.NONE
    store.connection.executemany(
        "INSERT INTO device_on_host (interval_id, start_ns, start_bound_ns, end_ns, end_bound_ns)"
        f" VALUES (?, nullif(?, {none}), nullif(?, {none}), nullif(?, {none}), nullif(?, {none}))",
        zip(
            bound.ids.tolist(),
            *(side.tolist() for pair in (bound.start, bound.end) for side in pair),
            strict=True,
        ),
    )
