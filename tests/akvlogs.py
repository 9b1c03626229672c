"""Akvlog files for tests, written the slow and plain way: what ``shim/AKVLOG.md`` says, and on request what it forbids.

log = AkvLog(names=["urQueueCreate", "urEnqueueKernelLaunch"])
call = log.call(1, enter=10, exit=25, waits=[0xE1, 0xE2], work=[64, 1, 1])
log.device(call, event=0xE3, start=900, end=950)
log.hole()
log.write(tmp_path / "ur-1.akvlog")
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAGIC = b"\x89AKVLOG\n"
HOLE, OPEN, CALL, MORE, OBJECT, DEVICE, CLOCK = range(7)
BLOCKING, CONTINUED, NESTED, EVENT_ASKED, PROFILING_CHANGED, CUT = 1, 2, 4, 8, 16, 32
WAITS, WORK, ADDRESSES, HANDLES = 1, 2, 3, 4
CALL_NAME, OBJECT_NAME, LIBRARY, NOTE = 1, 2, 3, 4
_U64 = (1 << 64) - 1


def record(kind: int, index: int, words: Sequence[int], *, flags: int = 0, name: int = 0) -> bytes:
    """64 bytes: the commit word of ``index`` and seven words of 64 bits (fewer are filled with zeros)."""
    commit = kind | flags << 8 | name << 16 | ((index + 1) & 0xFFFFFFFF) << 32
    words = [w & _U64 for w in words]
    return struct.pack("<8Q", commit, *words, *[0] * (7 - len(words)))


def pair(low: int, high: int) -> int:
    """A u32 and an i32 in one word, as thread and result are."""
    return (low & 0xFFFFFFFF) | (high & 0xFFFFFFFF) << 32


def name_entry(
    text: bytes, what: int = CALL_NAME, id: int = 0, *, cut: bool = False, complete: bool = True
) -> bytes:
    head = struct.pack("<IHH", len(text) | (1 << 31 if complete else 0), what | (1 << 15 if cut else 0), id)
    return head + text + bytes(-len(text) % 8)


@dataclass
class AkvLog:
    """Collects records, then writes the file. Records get the next index; where the file wraps the last ones stay."""

    names: Sequence[str | bytes] = ()
    capacity: int = 1 << 16
    wraps: bool = False
    first_index: int = 0
    names_bytes: int = 1 << 13
    counts: dict[int, int] = field(default_factory=dict)
    closed: bool = True
    #: Fields of the header that are to be other than what follows from the records.
    header: dict[str, Any] = field(default_factory=dict)
    records: list[bytes] = field(default_factory=list)
    entries: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        for id, text in enumerate(self.names):
            self.add_name(text, id=id)

    def add_name(self, text: str | bytes, what: int = CALL_NAME, id: int = 0, **states: bool) -> int:
        """An entry of the names; its offset, counted from the start of the names."""
        at = sum(map(len, self.entries))
        self.entries.append(name_entry(text.encode() if isinstance(text, str) else text, what, id, **states))
        return at

    def add_raw_name(self, entry: bytes) -> None:
        """Bytes among the names as they are, such as eight zeros: reserved and never written."""
        self.entries.append(entry)

    def add(self, kind: int, words: Sequence[int] = (), *, flags: int = 0, name: int = 0) -> int:
        """A record of any kind; its absolute index."""
        index = self.first_index + len(self.records)
        self.records.append(record(kind, index, words, flags=flags, name=name))
        return index

    def hole(self, raw: bytes = bytes(64)) -> int:
        """A slot that was reserved and never committed, or holds ``raw``."""
        self.records.append(raw)
        return self.first_index + len(self.records) - 1

    def call(
        self,
        name: int,
        *,
        enter: int,
        exit: int = 0,
        open: bool = False,
        thread: int = 1,
        result: int = 0,
        queue: int = 0,
        event: int = 0,
        object: int = 0,
        bytes: int = 0,
        flags: int = 0,
        **lists: Sequence[int],
    ) -> int:
        """A call, or one that is open; ``waits``, ``work``, ``addresses`` and ``handles`` become continuations."""
        kinds = {"waits": WAITS, "work": WORK, "addresses": ADDRESSES, "handles": HANDLES}
        pieces = [
            (kinds[key], words[at : at + 6], len(words))
            for key, words in lists.items()
            for at in range(0, len(words), 6)
        ]
        index = self.add(
            OPEN if open else CALL,
            [enter, 0 if open else exit, pair(thread, 0 if open else result), queue, event, object, bytes],
            flags=flags | (CONTINUED if pieces else 0),
            name=name,
        )
        for number, (what, words, total) in enumerate(pieces, 1):
            self.more(what, words, total=total, flags=CONTINUED if number < len(pieces) else 0)
        return index

    def more(
        self,
        what: int,
        words: Sequence[int],
        *,
        count: int | None = None,
        total: int | None = None,
        flags: int = 0,
    ) -> int:
        """A continuation on its own: after no call it is a stray."""
        count = len(words) if count is None else count
        head = what | count << 16 | (len(words) if total is None else total) << 32
        return self.add(MORE, [head, *words], flags=flags)

    def object(self, handle: int, name_offset: int, *, at: int = 0, what: int = 1, thread: int = 1) -> int:
        return self.add(OBJECT, [at, 0, pair(thread, what), handle, name_offset])

    def device(
        self, call: int, event: int, *, queued: int = 0, submitted: int = 0, start: int = 0, end: int = 0,
        result: int = 0, thread: int = 1,
    ) -> int:  # fmt: skip
        return self.add(DEVICE, [call, event, pair(thread, result), queued, submitted, start, end])

    def clock(
        self, before: int, after: int, *, device: int, device_time: int, host_time: int = 0, resolution: int = 1,
        result: int = 0, thread: int = 1,
    ) -> int:  # fmt: skip
        return self.add(
            CLOCK, [before, after, pair(thread, result), device, device_time, host_time, resolution]
        )

    def mark(
        self,
        kind: int,
        name: int,
        start: int,
        end: int,
        *values: int,
        value: int = 0,
        thread: int = 1,
        flags: int = 0,
    ) -> int:
        """A record of a probe: kinds 16 to 63, and up to four further words."""
        return self.add(kind, [start, end, pair(thread, value), *values], flags=flags, name=name)

    def build(self) -> bytes:
        """The bytes of the file."""
        names = b"".join(self.entries)
        records_at = -(-(12288 + self.names_bytes) // 4096) * 4096
        reserved = self.first_index + len(self.records)
        fields: dict[str, Any] = {
            "magic": MAGIC, "version": 1, "header_bytes": 4096, "record_bytes": 64, "flags": int(self.wraps),
            "names_at": 12288, "names_bytes": self.names_bytes, "counts_at": 4096, "counts": 1024,
            "records_at": records_at, "capacity": self.capacity, "pid": 4711, "parent_pid": 4710,
            "start": (1_000, 1_700_000_000_000_000_000, 1_100, 1_050),
            "close": (9_000, 1_700_000_000_000_008_000, 9_100, 9_050) if self.closed else (0, 0, 0, 0),
            "closed": int(self.closed), "stopped": 0, "errno": 0, "made": 0, "reserved": reserved, "names_reserved": len(names),
            "records_lost": 0, "names_lost": 0, "device_times_lost": 0, "events_asked": 0, "device_times_unread": 0,
            "producer": b"akv_test 1", "executable": b"/opt/engine/bin/decode",
        }  # fmt: skip
        unknown = set(self.header) - set(fields)
        assert not unknown, unknown
        fields |= self.header
        file = bytearray(records_at)
        struct.pack_into(
            "<8sIIIIQQQQQQII4q4qIIi", file, 0,
            *(fields[k] for k in ("magic", "version", "header_bytes", "record_bytes", "flags", "names_at", "names_bytes")),
            *(fields[k] for k in ("counts_at", "counts", "records_at", "capacity", "pid", "parent_pid")),
            *fields["start"], *fields["close"], fields["closed"], fields["stopped"], fields["errno"],
        )  # fmt: skip
        struct.pack_into("<Q", file, 160, fields["made"])
        struct.pack_into("<Q", file, 192, fields["reserved"])
        struct.pack_into("<Q", file, 256, fields["names_reserved"])
        counters = ("records_lost", "names_lost", "device_times_lost", "events_asked", "device_times_unread")
        struct.pack_into("<5Q", file, 320, *(fields[k] for k in counters))
        file[384 : 384 + len(fields["producer"])] = fields["producer"]
        file[512 : 512 + len(fields["executable"])] = fields["executable"]
        for id, count in self.counts.items():
            struct.pack_into("<Q", file, 4096 + 8 * id, count)
        kept = names[: self.names_bytes]
        file[12288 : 12288 + len(kept)] = kept
        return bytes(file) + self._slots()

    def _slots(self) -> bytes:
        if not self.wraps:
            return bytes(64 * self.first_index) + b"".join(self.records)
        slots = bytearray(64 * min(self.capacity, self.first_index + len(self.records)))
        for index, raw in enumerate(self.records, self.first_index):
            slot = index % self.capacity
            slots[64 * slot : 64 * slot + 64] = raw
        return bytes(slots)

    def write(self, path: Path, *, cut: int | None = None, grown: int = 0) -> Path:
        """Write the file; ``cut`` keeps so many bytes of it, ``grown`` adds zeros; a name in ``.gz`` is compressed."""
        content = (self.build() + bytes(grown))[:cut]
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
        return path
