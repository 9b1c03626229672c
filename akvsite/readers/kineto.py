"""Chrome trace JSON as torch's profiler (Kineto) writes it, plain or gzip: CUDA, ROCm, XPU, MTIA and CPU.

- Host intervals go to ``level2_host``, engine and profiler step annotations to ``step`` as well.
- Device intervals go to ``level3_device``. Synchronization rows that the profiler draws on a queue are kept
  there with kind ``wait``: they are no work. ``gpu_user_annotation`` is no row: the profiler draws it around
  device records.
- Runtime and driver calls go to ``level4_edge``; ``[memory]`` instants to ``memory_event``.
- Everything else is counted by kind and reason, and what cannot be used goes to the quarantine as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from akvsite.escape import escape_text
from akvsite.readers import _chrome_words as words
from akvsite.readers._chrome_head import by_unitrace, is_chrome_trace
from akvsite.readers._chrome_json import CHUNK, Beside
from akvsite.readers._chrome_reading import Reading
from akvsite.readers._chrome_rows import BAD_TIME, Builder
from akvsite.readers._chrome_values import MOST, Processes, whole
from akvsite.readers._head import BLOCK
from akvsite.reading import Fact, Part, Process, Rejected

_TIMES = ("start_ns", "end_ns", "at_ns")


class Kineto:
    NAME = "kineto"
    VERSION = 3
    ABOUT = "Chrome trace JSON of torch's profiler (Kineto), plain or gzip"
    LEVEL = "device"
    EPOCH = True

    def __init__(self, block: int = BLOCK, chunk: int = CHUNK) -> None:
        self._block = block
        self._chunk = chunk

    def sniff(self, head: bytes, path: Path) -> bool:
        if not head:
            return path.name.endswith((".json", ".json.gz"))
        return is_chrome_trace(head) and not by_unitrace(head)

    def read(self, path: Path) -> Iterator[Part]:
        reading = _Reading(path, self._block, self._chunk)
        yield from reading.events()
        yield from reading.processes()
        yield from reading.rows()
        yield from reading.facts()
        yield from reading.counts()
        yield reading.ending(reading.base)


class _Reading(Reading):
    """One file, from its bytes to its parts. The steps of ``Kineto.read``, in their order."""

    def __init__(self, path: Path, block: int, chunk: int) -> None:
        super().__init__(path, block, chunk, Builder())
        self._beside: dict[str, Any] = {}
        self.base = 0
        self._main = 0
        self._rank: int | None = None

    def events(self) -> Iterator[Part]:
        yield from super().events()
        yield from self._take_base()

    def remember(self, part: Beside) -> bool:
        known = {
            *words.SOFTWARE,
            *words.CAPTURE,
            "deviceProperties",
            "distributedInfo",
            "baseTimeNanoseconds",
        }
        if part.raw is not None and part.key in known:
            try:
                self._beside[part.key] = json.loads(part.raw, parse_float=Decimal)
            except (ValueError, RecursionError, ArithmeticError):
                return False
            return True
        return False

    def _take_base(self) -> Iterator[Part]:
        base = self._beside.get("baseTimeNanoseconds")
        if base is None:
            return
        number = whole(base)
        if number is None or not number >= 0:
            yield Rejected(BAD_TIME, "baseTimeNanoseconds", str(base)[:1000])
        else:
            self.base = number

    def processes(self) -> Iterator[Part]:
        found = self._builder.processes
        info = self._beside.get("distributedInfo")
        self._rank = whole(info.get("rank")) if isinstance(info, dict) else None
        device_rows = any(fate == "level3_device" for _, fate in self._builder.counts)
        self._main = _profiled(found)
        if self._main == len(found.found):
            if not device_rows:
                return
            found.of_text("unknown")
        for index, process in enumerate(found.found):
            name = self._builder.names.get(process.pid) or self._builder.labels.get(process.pid)
            yield Process(index, process.pid, self._rank, name)

    def settle(self, table: str, rows: pa.Table) -> tuple[list[Rejected], pa.Table]:
        """``rows`` on the capture's own axis, and with the process of device rows."""
        rejected: list[Rejected] = []
        if self.base:
            rejected, rows = self._on_axis(table, rows)
        if table == "level3_device":
            at = rows.schema.get_field_index("process")
            rows = rows.set_column(at, "process", pa.array(self._owners(rows), pa.int64()))
        return rejected, rows

    def _on_axis(self, table: str, rows: pa.Table) -> tuple[list[Rejected], pa.Table]:
        times = [name for name in _TIMES if name in rows.column_names]
        too_far = pa.scalar(MOST - self.base, pa.int64())
        fits = np.ones(rows.num_rows, bool)
        for name in times:
            fits &= pc.fill_null(pc.less_equal(rows.column(name), too_far), True).to_numpy()
        rejected = []
        if not fits.all():
            for row in rows.filter(pa.array(~fits)).to_pylist():
                # The base came after the events: the record's bytes are gone, its values are not.
                raw = json.dumps({k: v for k, v in row.items() if v is not None and k != "process"})
                rejected.append(
                    Rejected(BAD_TIME, f"{table}, relative to baseTimeNanoseconds {self.base}", raw)
                )
                self._builder.recount(table, "quarantine")
            rows = rows.filter(pa.array(fits))
        for name in times:
            at = rows.schema.get_field_index(name)
            rows = rows.set_column(at, name, pc.add(rows.column(name), pa.scalar(self.base, pa.int64())))
        return rejected, rows

    def _owners(self, rows: pa.Table) -> Any:
        """The process of each device row: that whose call has its correlation id, else the profiled one."""
        owners = np.full(rows.num_rows, self._main, np.int64)
        callers = [i for i, p in enumerate(self._builder.processes.found) if p.calls]
        if len(callers) > 1:
            ids = rows.column("correlation").to_numpy()
            for index in callers:
                known = self._builder.processes.found[index].correlations
                if index != self._main and known:
                    owners[np.isin(ids, np.concatenate(known))] = index
            main = self._builder.processes.found[self._main].correlations
            if main:
                owners[np.isin(ids, np.concatenate(main))] = self._main
        return owners

    def facts(self) -> Iterator[Part]:
        for part, keys in (("software", words.SOFTWARE), ("capture", words.CAPTURE)):
            yield from (Fact(part, k, v) for k in keys if (v := _plain(self._beside.get(k))) is not None)
        info = self._beside.get("distributedInfo")
        if isinstance(info, dict):
            for key in words.DISTRIBUTED:
                if (value := _plain(info.get(key))) is not None:
                    yield Fact("capture", f"distributed.{key}", value)
        if self.base:
            yield Fact("capture", "baseTimeNanoseconds", str(self.base))
        if self._builder.window is not None:
            start, end = self._builder.window
            yield Fact("capture", "profiler window start_ns", str(start + self.base))
            if end is not None:
                yield Fact("capture", "profiler window end_ns", str(end + self.base))
        yield from _device_facts(self._beside.get("deviceProperties"))


def _profiled(processes: Processes) -> int:
    """The process of a file's device rows: most calls, else most host rows; one past the last is none."""
    found = processes.found
    candidates = [i for i, p in enumerate(found) if p.host_rows and p.pid not in words.NO_PROCESS]
    if not candidates:
        return len(found)
    return max(candidates, key=lambda i: (found[i].calls, found[i].host_rows, -i))


def _plain(value: Any) -> str | None:
    if isinstance(value, bool) or value is None:
        return None if value is None else str(value).lower()
    if isinstance(value, int | Decimal):
        return str(value)[:40]
    return escape_text(value)[:200] if isinstance(value, str) and value else None


def _device_facts(properties: Any) -> Iterator[Fact]:
    if not isinstance(properties, list):
        return
    for number, device in enumerate(properties[:1024]):
        if isinstance(device, dict):
            index = _plain(device.get("id")) or str(number)
            for key in words.DEVICE_PROPERTIES:
                if (value := _plain(device.get(key))) is not None:
                    yield Fact("device", f"{index}.{key}", value)


READER = Kineto()
