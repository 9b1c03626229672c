"""Records of an akvlog file as columns of the level tables: batches in, batches out, nothing row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from akvsite.calls import direction_of_copy, kind_of_call, kind_of_interval
from akvsite.reading import Rejected
from akvsite.tables import DEVICE_CLOCK, NO_DEVICE

Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]

BLOCKING, NESTED, EVENT_ASKED, PROFILING_CHANGED, CUT = 1, 4, 8, 16, 32
#: What SQLite holds as a whole number, and what a time may be at most.
MOST = 2**63 - 1
BEYOND = "beyond 2^63 - 1"

UNKNOWN_CALL = "record of an unknown call"
UNKNOWN_KERNEL = "kernel of unknown name"


@dataclass
class Values:
    """Values that no column can hold: each becomes NULL and is kept in ``rejected`` as it was."""

    rejected: list[Rejected] = field(default_factory=list)

    def numbers(self, index: Words, values: Words, what: str, known: Mask | None = None) -> pa.Array:
        """int64 (n,): NULL for what is not ``known`` and for what does not fit."""
        fits = values <= np.uint64(MOST)
        known = np.ones(len(values), bool) if known is None else known
        for row in np.flatnonzero(known & ~fits).tolist():
            self.rejected.append(Rejected(f"{what} {BEYOND}", f"record {index[row]}", str(values[row])))
        return pa.array(values.astype(np.int64), mask=~(known & fits))

    def take(self) -> list[Rejected]:
        taken, self.rejected = self.rejected, []
        return taken


class Names:
    """Names of calls by their id, and what follows from them; an id without a name is an unknown call."""

    def __init__(self, entries: pa.Table) -> None:
        self._names = np.array([f"unknown call {id}" for id in range(1 << 16)], dtype=object)
        self.known = np.zeros(1 << 16, bool)
        for entry in entries.to_pylist():
            if entry["what"] == 1 and entry["complete"]:
                self._names[entry["id"]] = entry["text"]
                self.known[entry["id"]] = True

    def __getitem__(self, id: int) -> str:
        return str(self._names[id])

    def texts(self, ids: npt.NDArray[np.uint16], said: Callable[[str], str | None] = str) -> pa.Array:
        """What ``said`` makes of the name of each id (n,), as text; NULL where it says None."""
        unique, places = np.unique(ids, return_inverse=True)
        return pa.array([said(self[id]) for id in unique.tolist()], pa.string()).take(pa.array(places))

    def those(self, chosen: Callable[[str], bool]) -> Mask:
        """For each id (65536,) whether its name is known and ``chosen``."""
        marks = np.zeros(1 << 16, bool)
        for id in np.flatnonzero(self.known).tolist():
            marks[id] = chosen(self[id])
        return marks


def column(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    """A column (n,) without NULLs; below a NULL the scanner writes 0."""
    array = batch.column(name)
    if array.null_count:
        array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    return np.asarray(array.to_numpy(zero_copy_only=False))


def texts_of(values: npt.NDArray[Any], said: Callable[[int], str | None]) -> pa.Array:
    """What ``said`` makes of each number (n,), as text."""
    unique, places = np.unique(values, return_inverse=True)
    return pa.array([said(value) for value in unique.tolist()], pa.string()).take(pa.array(places))


def handle_text(handle: int) -> str | None:
    """
    >>> handle_text(2**32 + 5), handle_text(0)
    ('0x100000005', None)
    """
    return f"{handle:#x}" if handle else None


def calls(batch: pa.RecordBatch, names: Names, kernels: Objects, values: Values) -> pa.Table:
    """Rows of ``level4_edge``; ``kernels`` (n,) are the names of what was launched, None where there is none."""
    index = column(batch, "index")
    flags = column(batch, "flags")
    opened = column(batch, "open").astype(bool)
    ids = column(batch, "name")
    bytes_, event, object_ = (column(batch, name) for name in ("bytes", "event", "object"))

    def flag(bit: int) -> pa.Array:
        return pa.array((flags & bit != 0).astype(np.int64))

    return pa.table(
        {
            "process": pa.array(np.zeros(len(index), np.int64)),
            "name": names.texts(ids),
            "start_ns": values.numbers(index, column(batch, "enter_ns"), "time of entry"),
            "end_ns": values.numbers(index, column(batch, "exit_ns"), "time of return", ~opened),
            "thread": texts_of(column(batch, "thread"), str),
            "source": pa.array(["shim"]).take(pa.array(np.zeros(len(index), np.int64))),
            "kind": names.texts(ids, kind_of_call),
            "queue": texts_of(column(batch, "queue"), handle_text),
            "event": pa.array(event, mask=event == 0),
            "bytes": values.numbers(index, bytes_, "bytes", bytes_ > 0),
            "result": pa.array(column(batch, "result").astype(np.int64), mask=opened),
            "object": pa.array(object_, mask=object_ == 0),
            "object_name": pa.array(kernels, pa.string()),
            "blocking": flag(BLOCKING),
            "nested": flag(NESTED),
            "event_asked": flag(EVENT_ASKED),
            "open": pa.array(opened.astype(np.int64)),
            "call_index": pa.array(index),
        }
    )


@dataclass
class Timed:
    """The calls that have device records: what those need of them, (n,) each, in order of their index."""

    index: Words
    name: npt.NDArray[np.uint16]
    kernel: Objects
    queue: Words
    bytes: Words

    @classmethod
    def together(cls, parts: list[Timed]) -> Timed:
        """All of them, and one more at the end that stands for every call that is not there."""
        none = np.zeros(1, np.uint64)
        gone = cls(none - np.uint64(1), none.astype(np.uint16), np.array([None], object), none, none)
        columns = ("index", "name", "kernel", "queue", "bytes")
        return cls(*(np.concatenate([getattr(part, c) for part in [*parts, gone]]) for c in columns))

    def places(self, calls: Words) -> npt.NDArray[np.int64]:
        """Where each call (n,) stands: at the end where it is not there."""
        last = len(self.index) - 1
        place = np.searchsorted(self.index[:last], calls)
        return np.where(self.index[place] == calls, place, last)


def intervals(batch: pa.RecordBatch, timed: Timed, names: Names, device: str, values: Values) -> pa.Table:
    """Rows of ``level3_device``, on the device's own clock."""
    index, call = column(batch, "index"), column(batch, "call")
    place = timed.places(call)
    found = place < len(timed.index) - 1
    ids, moved = timed.name[place], timed.bytes[place]
    kinds = np.where(found, _plain(names.texts(ids, kind_of_interval)), "other")
    kernels = pa.array(timed.kernel[place], pa.string()).fill_null(UNKNOWN_KERNEL)
    name = np.where(kinds == "kernel", _plain(kernels), _plain(names.texts(ids)))
    name = np.where(found, name, UNKNOWN_CALL)
    direction = _plain(names.texts(ids, direction_of_copy))
    direction[kinds != "copy"] = None
    queue = texts_of(timed.queue[place], lambda q: handle_text(q) or NO_DEVICE)

    def time(column_name: str) -> pa.Array:
        # 0 is none: no device clock stands there.
        ticks = column(batch, column_name)
        return values.numbers(index, ticks, f"device time ({column_name})", ticks > 0)

    return pa.table(
        {
            "process": pa.array(np.zeros(len(index), np.int64)),
            "name": pa.array(name, pa.string()),
            "start_ns": time("start"),
            "end_ns": time("end"),
            "kind": pa.array(kinds, pa.string()),
            "device": pa.array([device] * len(index), pa.string()),
            "queue": queue,
            "bytes": values.numbers(index, moved, "bytes", (moved > 0) & (moved <= np.uint64(MOST))),
            "direction": pa.array(direction, pa.string()),
            "appended_ns": time("queued"),
            "submitted_ns": time("submitted"),
            "call_index": pa.array(call),
            "clock": pa.array([DEVICE_CLOCK] * len(index), pa.string()),
        }
    )


def _plain(texts: pa.Array) -> Objects:
    return np.asarray(texts.to_numpy(zero_copy_only=False), dtype=object)


def clock_samples(batch: pa.RecordBatch, values: Values, source: str) -> pa.Table:
    """Rows of ``clock_sample``, taken by ``source``."""
    index = column(batch, "index")

    def time(name: str, what: str, *, zero_is_none: bool = False) -> pa.Array:
        times = column(batch, name)
        return values.numbers(index, times, what, times > 0 if zero_is_none else None)

    return pa.table(
        {
            "process": pa.array(np.zeros(len(index), np.int64)),
            "device": texts_of(column(batch, "device"), lambda d: handle_text(d) or NO_DEVICE),
            "host_before_ns": time("before_ns", "host time"),
            "host_after_ns": time("after_ns", "host time"),
            "device_ns": time("device_time", "device time", zero_is_none=True),
            "host_reported_ns": time("host_time", "host time of the runtime", zero_is_none=True),
            "resolution_ns": time("resolution", "resolution", zero_is_none=True),
            "source": pa.array([source] * len(index), pa.string()),
        }
    )
