"""The Chrome trace that unitrace (pti-gpu) writes, plain or gzip: Level Zero and OpenCL on Intel's devices.

- Calls of the drivers go to ``level4_edge``, with the id of the device record that they submitted, which an arrow says.
- Device commands go to ``level3_device``; a queue is the engine and the thread, as unitrace draws them.
- Everything else of the host (SYCL, ITT, MPI) goes to ``level2_host`` as annotation, and to ``step`` where it names one.

Its times are floating numbers of microseconds: near the present date they are whole quarters, and no gap below 0.5 us
can be read from them. How device times came to the host's clock is the vendor's: unproven.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from akvsite.readers._chrome_head import by_unitrace, is_chrome_trace
from akvsite.readers._chrome_json import CHUNK
from akvsite.readers._chrome_reading import Reading
from akvsite.readers._chrome_values import LEAST
from akvsite.readers._head import BLOCK
from akvsite.readers._unitrace_commands import CONVERSION
from akvsite.readers._unitrace_rows import Longs, UnitraceBuilder
from akvsite.reading import Fact, Part, Process, Rejected

#: Times before September 2001 are none of a date: with UNITRACE_SystemTime they count from the host's start.
_A_DATE = 10**18


class Unitrace:
    NAME = "unitrace"
    VERSION = 1
    ABOUT = "Chrome trace JSON of unitrace (pti-gpu), plain or gzip"
    LEVEL = "device"
    EPOCH = True

    def __init__(self, block: int = BLOCK, chunk: int = CHUNK) -> None:
        self._block = block
        self._chunk = chunk

    def sniff(self, head: bytes, path: Path) -> bool:
        return is_chrome_trace(head) and by_unitrace(head)

    def read(self, path: Path) -> Iterator[Part]:
        reading = _Reading(path, self._block, self._chunk, UnitraceBuilder())
        yield from reading.events()
        yield from reading.processes()
        yield from reading.rows()
        yield from reading.facts()
        yield from reading.counts()
        yield reading.ending()


class _Reading(Reading):
    """One file, from its bytes to its parts. The steps of ``Unitrace.read``, in their order."""

    owned = True

    def __init__(self, path: Path, block: int, chunk: int, builder: UnitraceBuilder) -> None:
        super().__init__(path, block, chunk, builder)
        self._found = builder
        self._owners: dict[str, int] = {}
        self._main = 0
        self._first: Longs = np.empty(0, np.int64)
        self._instead: dict[int, tuple[Longs, Longs]] = {}

    def processes(self) -> Iterator[Part]:
        found = self._found.processes
        if any(fate == "level3_device" for _, fate in self._found.counts) and not found.found:
            found.of_text("unknown")
        of_side: dict[str, int] = {}
        for pid, side in self._found.sides["host"].items():
            of_side.setdefault(side, found.of_text(pid))
        # The process of a device's records is that whose arrows lead to it; without arrows that with most calls.
        self._main = max(range(len(found.found)), key=lambda i: (found.found[i].calls, -i), default=0)
        for pid, side in self._found.sides["device"].items():
            if side in of_side:
                self._owners[pid] = of_side[side]
        self._first, self._instead = self._found.first_ids()
        for index, process in enumerate(found.found):
            yield Process(index, process.pid, self._found.ranks.get(process.pid), None)

    def settle(self, table: str, rows: pa.Table) -> tuple[list[Rejected], pa.Table]:
        if table == "level4_edge":
            rows = _with(rows, "correlation", self._ids_of_calls(rows))
        elif table == "level3_device":
            rows = self._on_devices(rows)
        return [], rows

    def _ids_of_calls(self, rows: pa.Table) -> pa.Array:
        column = rows.column("correlation").combine_chunks()
        ids = self._first[column.fill_null(-1).to_numpy()]
        return pa.array(ids, mask=ids == LEAST)

    def _on_devices(self, rows: pa.Table) -> pa.Table:
        """Names of devices and queues for the numbers they are drawn under, and the process of each record."""
        devices = rows.column("device").combine_chunks().dictionary_encode()
        queues = rows.column("queue").combine_chunks().dictionary_encode()
        pids, tids = devices.dictionary.to_pylist(), queues.dictionary.to_pylist()
        owners = np.array([self._owners.get(pid, self._main) for pid in pids], np.int64)[
            devices.indices.to_numpy()
        ]
        known = {pid: device.name for pid, device in self._found.devices.items()}
        names = pa.array([known.get(pid, pid) for pid in pids], pa.string()).take(devices.indices)
        both = devices.indices.to_numpy().astype(np.int64) * len(tids) + queues.indices.to_numpy()
        pairs, places = np.unique(both, return_inverse=True)
        lanes = [(pids[pair // len(tids)], tids[pair % len(tids)]) for pair in pairs.tolist()]
        drawn = pa.array([self._found.queues.get(lane, lane[1]) for lane in lanes], pa.string()).take(
            pa.array(places)
        )
        rows = _with(_with(_with(rows, "device", names), "queue", drawn), "process", pa.array(owners))
        return _with(rows, "correlation", self._ids_of_records(rows, owners))

    def _ids_of_records(self, rows: pa.Table, owners: Longs) -> pa.Array:
        column = rows.column("correlation").combine_chunks()
        ids = column.fill_null(0).to_numpy().copy()
        for owner, (given, first) in self._instead.items():
            place = np.minimum(np.searchsorted(given, ids), len(given) - 1)
            own = (owners == owner) & (given[place] == ids)
            ids[own] = first[place[own]]
        return pa.array(ids, mask=~np.asarray(column.is_valid().to_numpy(zero_copy_only=False), bool))

    def facts(self) -> Iterator[Part]:
        models = {
            f"{device.name}.name": device.model for device in self._found.devices.values() if device.model
        }
        yield from (Fact("device", key, model) for key, model in models.items())
        yield Fact("device", "conversion", CONVERSION)
        last = self._found.last
        if last is None:
            return
        # Written as a floating number of microseconds, a time of so many has steps of that.
        yield Fact("device", "time step", f"{max(1, round(math.ulp(abs(last) / 1000) * 1000))} ns")
        dated = "CLOCK_REALTIME, as the vendor made it of CLOCK_MONOTONIC_RAW: how far off is unknown"
        yield Fact(
            "capture",
            "host axis",
            dated if last >= _A_DATE else "CLOCK_MONOTONIC_RAW, as the vendor wrote it",
        )


def _with(rows: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return rows.set_column(rows.schema.get_field_index(name), name, column)


READER = Unitrace()
