"""Memory snapshots of torch's allocator (``torch.cuda.memory._dump_snapshot``), pickle of protocol 2 to 5, plain or gzip.

The fields are those of ``torch/csrc/cuda/memory_snapshot.cpp``, as ``torch/cuda/_memory_viz.py`` reads them.

- Segments and their blocks, as they were when the snapshot was taken, go to ``memory_segment`` and ``memory_block``.
- The history before it (``device_traces``) goes to ``memory_event``; its times are microseconds of the wall clock.
- Stacks and annotations name files of a machine, and stay in the file.

It is read without Python's unpickler: of a pickle that asks for a class or a function nothing is read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from akvsite.errors import BadInput
from akvsite.escape import escape_text
from akvsite.readers._head import Blocks
from akvsite.readers._pickled import NotPlain, Pickled
from akvsite.readers._redact import redact
from akvsite.reading import BATCH_ROWS, Counted, Ending, Fact, Part, Process, Rejected, Rows

MOST_BYTES = 1 << 29
_MOST_PROTOCOL = 5
#: Whether the size of an entry of the history comes or goes; that of any other is kept out, as with `oom` and `snapshot`.
_SIGN = {
    "alloc": 1, "free_requested": -1, "free_completed": -1,
    "segment_alloc": 1, "segment_free": -1, "segment_map": 1, "segment_unmap": -1,
}  # fmt: skip

Record = dict[str, Any]


class TorchMemory:
    NAME = "torch_memory"
    VERSION = 1
    ABOUT = "memory snapshot of torch's allocator (pickle), plain or gzip"
    LEVEL = "device"
    EPOCH = True

    def sniff(self, head: bytes, path: Path) -> bool:
        if len(head) < 2 or head[0] != 0x80 or not 2 <= head[1] <= _MOST_PROTOCOL:
            return False
        return b"segments" in head[:256] or b"device_traces" in head[:256]

    def read(self, path: Path) -> Iterator[Part]:
        data, cut = _whole(path)
        pickled = Pickled(data)
        try:
            snapshot = pickled.value()
        except NotPlain as error:
            why = f"{error.why} ({cut})" if cut else error.why
            raise BadInput(path.name, why, place=f"byte {error.at}") from None
        snapshot = snapshot if isinstance(snapshot, dict) else {}
        segments, traces = (snapshot.get(key) for key in ("segments", "device_traces"))
        if not isinstance(segments, list):
            raise BadInput(path.name, "no list of segments in it")
        reading = _Reading(segments, traces if isinstance(traces, list) else [])
        if reading.records > pickled.containers:
            raise BadInput(path.name, "one record stands in it several times")
        yield Process(0, "unknown")
        yield from _facts(snapshot.get("allocator_settings"))
        for table, rows in (
            ("memory_event", reading.events()), ("memory_segment", reading.segments()), ("memory_block", reading.blocks()),
        ):  # fmt: skip
            yield from _batches(table, rows)
        if pickled.end < len(data):
            yield Rejected(
                "follows the end of the pickle", f"byte {pickled.end}", f"{len(data) - pickled.end} bytes"
            )
        yield from (Counted(what, fate, count) for (what, fate), count in reading.counts.items() if count)
        yield Ending(truncated=cut is not None, last_ns=reading.last_ns)


class _Reading:
    """Rows of the three tables, in the order ``events``, ``segments``, ``blocks``: a later one uses what one before saw."""

    def __init__(self, segments: list[Any], traces: list[Any]) -> None:
        self._segments = segments
        self._traces = traces
        #: When what lies at an address of a device was handed out, of what was not given back since.
        self._since: dict[tuple[int, int], int | None] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        self.last_ns: int | None = None
        #: Records that will be looked at, counted before the first.
        self.records = sum(map(_length, traces)) + sum(1 + _length(_get(s, "blocks")) for s in segments)

    def events(self) -> Iterator[Record | Rejected]:
        for device, trace in enumerate(self._traces):
            for number, entry in enumerate(trace if isinstance(trace, list) else ()):
                place = f"device_traces[{device}][{number}]"
                action = entry.get("action") if isinstance(entry, dict) else None
                if not isinstance(action, str):
                    yield self._reject("entry of the history", "no action", place, entry)
                    continue
                found = self._numbers("entry of the history", place, entry, ("size",), ("addr", "time_us"))
                if isinstance(found, Rejected):
                    yield found
                    continue
                size, address, time_us = (found.get(name) for name in ("size", "addr", "time_us"))
                at = None if time_us is None else time_us * 1000
                if address is not None and action == "alloc":
                    self._since[device, address] = at
                elif address is not None and action == "free_completed":
                    self._since.pop((device, address), None)
                if at is not None:
                    self.last_ns = max(at, self.last_ns or 0)
                sign = _SIGN.get(action)
                self.counts[f"entry of the history: {escape_text(action)[:60]}", "memory_event"] += 1
                yield {
                    "at_ns": at, "device": device, "address": address, "bytes": sign * size if sign and size is not None else None,
                    "action": escape_text(action)[:60], "stream": _text(entry.get("stream")),
                }  # fmt: skip

    def segments(self) -> Iterator[Record | Rejected]:
        for number, segment in enumerate(self._segments):
            found = self._numbers(
                "segment", f"segments[{number}]", segment, ("address", "total_size"),
                ("device", "allocated_size", "active_size", "requested_size"),
            )  # fmt: skip
            if isinstance(found, Rejected):
                yield found
                continue
            pool = segment.get("segment_pool_id")
            expandable = segment.get("is_expandable")
            self.counts["segment", "memory_segment"] += 1
            yield {
                "device": found.get("device"), "address": found["address"], "bytes": found["total_size"],
                "allocated_bytes": found.get("allocated_size"), "active_bytes": found.get("active_size"),
                "requested_bytes": found.get("requested_size"), "stream": _text(segment.get("stream")),
                "kind": _text(segment.get("segment_type")),
                "pool": ", ".join(map(str, map(_text, pool))) if isinstance(pool, tuple) and len(pool) == 2 else None,
                "expandable": int(expandable) if isinstance(expandable, bool) else None,
            }  # fmt: skip

    def blocks(self) -> Iterator[Record | Rejected]:
        for number, segment in enumerate(self._segments):
            base, device = _whole_number(_get(segment, "address")), _whole_number(_get(segment, "device"))
            blocks = _get(segment, "blocks")
            at = base
            for place, block in enumerate(blocks if isinstance(blocks, list) else ()):
                where = f"segments[{number}].blocks[{place}]"
                found = self._numbers("block", where, block, ("size",), ("address", "requested_size"))
                if isinstance(found, Rejected):
                    at = None
                    yield found
                    continue
                # Older files have no address: blocks lie one after the other.
                address = found.get("address", at)
                at = None if address is None else address + found["size"]
                state = _text(block.get("state"))
                if base is None or address is None or address >= 1 << 64 or state is None:
                    yield self._reject("block", "no state, or nobody knows where it lies", where, block)
                    continue
                held = (device or 0, address) if state.startswith("active") else None
                self.counts[f"block: {state}", "memory_block"] += 1
                yield {
                    "device": device, "segment": base, "address": address, "bytes": found["size"],
                    "requested_bytes": found.get("requested_size"), "state": state,
                    "since_ns": self._since.get(held) if held else None,
                }  # fmt: skip

    def _numbers(
        self, what: str, place: str, record: Any, needed: tuple[str, ...], others: tuple[str, ...]
    ) -> dict[str, int] | Rejected:
        """The fields that are there, as whole numbers from 0; a rejection where one is anything else."""
        if not isinstance(record, dict):
            return self._reject(what, "not a record", place, record)
        found = {}
        for name in needed + others:
            value = record.get(name)
            if value is None and name in others:
                continue
            number = _whole_number(value)
            most = 1 << 64 if name in ("address", "addr") else 1 << 52
            if number is None or number >= most:
                return self._reject(what, f"{name} is no number that fits", place, record)
            found[name] = number
        return found

    def _reject(self, what: str, reason: str, place: str, record: Any) -> Rejected:
        self.counts[what, "quarantine"] += 1
        return Rejected(reason, place, _said(record))


def _whole(path: Path) -> tuple[bytearray, str | None]:
    """The bytes, and why they stop before their end where they do."""
    blocks, data = Blocks(path), bytearray()
    for block in blocks:
        data += block
        if len(data) > MOST_BYTES:
            raise BadInput(path.name, f"larger than {MOST_BYTES >> 20} MiB")
    return data, blocks.cut


def _facts(settings: Any) -> Iterator[Fact]:
    for key, value in settings.items() if isinstance(settings, dict) else ():
        if isinstance(key, str) and isinstance(value, bool | int | float | str) and value != "":
            said = str(value).lower() if isinstance(value, bool) else redact(escape_text(str(value)))[:200]
            yield Fact("software", f"allocator.{escape_text(key)[:60]}", said)


def _batches(table: str, found: Iterator[Record | Rejected]) -> Iterator[Part]:
    while some := list(islice(found, BATCH_ROWS)):
        rows = [{"process": 0, **row} for row in some if not isinstance(row, Rejected)]
        if rows:
            yield Rows(table, pa.Table.from_pylist(rows, schema=_SCHEMAS[table]))
        yield from (part for part in some if isinstance(part, Rejected))


def _get(record: Any, key: str) -> Any:
    return record.get(key) if isinstance(record, dict) else None


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _whole_number(value: Any) -> int | None:
    """A whole number from 0; True is none."""
    return value if type(value) is int and value >= 0 else None


def _text(value: Any) -> str | None:
    if isinstance(value, str) and value:
        return escape_text(value)[:60]
    return str(value) if type(value) is int else None


def _said(record: Any) -> str:
    """A record with what is plain in it: what is nested may be so without end."""
    if not isinstance(record, dict):
        return type(record).__name__
    plain = {
        key if isinstance(key, str) else str(key): value if isinstance(value, bool | int | float | str) else type(value).__name__
        for key, value in list(record.items())[:40]
        if key not in ("frames", "user_metadata", "compile_context")
    }  # fmt: skip
    return escape_text(json.dumps(plain))[:2000]


_SCHEMAS = {
    "memory_event": pa.schema(
        [
            ("process", pa.int64()), ("at_ns", pa.int64()), ("device", pa.int64()), ("address", pa.uint64()),
            ("bytes", pa.int64()), ("action", pa.string()), ("stream", pa.string()),
        ]
    ),
    "memory_segment": pa.schema(
        [
            ("process", pa.int64()), ("device", pa.int64()), ("address", pa.uint64()), ("bytes", pa.int64()),
            ("allocated_bytes", pa.int64()), ("active_bytes", pa.int64()), ("requested_bytes", pa.int64()),
            ("stream", pa.string()), ("kind", pa.string()), ("pool", pa.string()), ("expandable", pa.int64()),
        ]
    ),
    "memory_block": pa.schema(
        [
            ("process", pa.int64()), ("device", pa.int64()), ("segment", pa.uint64()), ("address", pa.uint64()),
            ("bytes", pa.int64()), ("requested_bytes", pa.int64()), ("state", pa.string()), ("since_ns", pa.int64()),
        ]
    ),
}  # fmt: skip

READER = TorchMemory()
