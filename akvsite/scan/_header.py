"""The header of an akvlog file (``shim/AKVLOG.md``), and what is refused because of it."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from akvsite.errors import BadInput
from akvsite.escape import escape

MAGIC = b"\x89AKVLOG\n"
VERSION = 1
HEADER_BYTES = 4096
RECORD_BYTES = 64
COUNTS_MOST = 1024
#: Where the number of reserved records is, which grows while the file is written.
RESERVED_AT = 192
#: Room for names that is read at most; names are held in memory together.
NAMES_MOST = 256 << 20

_FRONT = struct.Struct("<8sIIIIQQQQQQII4q4qIIi")
_COUNTERS = struct.Struct("<QQQQQ")


@dataclass(frozen=True)
class Clocks:
    """One reading of the clocks, in nanoseconds: realtime and raw lie between two readings of the monotonic clock."""

    monotonic_before_ns: int
    realtime_ns: int
    monotonic_after_ns: int
    monotonic_raw_ns: int


@dataclass(frozen=True)
class Header:
    """Every field of the header. Offsets and sizes are in bytes; counts of records are in records."""

    version: int
    wraps: bool
    names_at: int
    names_bytes: int
    counts_at: int
    counts: int
    records_at: int
    capacity: int
    pid: int
    parent_pid: int
    start: Clocks
    #: None while the process runs, and where it never reached its normal exit.
    close: Clocks | None
    closed: bool
    #: 0 no, 1 capacity reached, 2 disk full, 3 other error.
    stopped: int
    errno: int
    #: Records that the file was made long enough for; None where it does not say.
    made: int | None
    reserved: int
    names_reserved: int
    records_lost: int
    names_lost: int
    device_times_lost: int
    events_asked: int
    #: None where the file was not closed: it is counted at the close.
    device_times_unread: int | None
    producer: str
    executable: str


def read_header(path: Path, file: IO[bytes]) -> Header:
    """The header of an open file. Raises ``BadInput`` where the file is no akvlog of this version."""
    head = os.pread(file.fileno(), HEADER_BYTES, 0)
    if head[: len(MAGIC)] != MAGIC[: len(head)] or not head:
        raise BadInput(path, "no akvlog: it does not begin with the magic bytes")
    if len(head) < HEADER_BYTES:
        raise BadInput(path, f"the header is cut: {len(head):,} of {HEADER_BYTES:,} bytes are there")
    front = _FRONT.unpack_from(head)
    version, header_bytes, record_bytes, flags = front[1:5]
    names_at, names_bytes, counts_at, counts, records_at, capacity, pid, parent = front[5:13]
    closed, stopped, errno = front[21:]

    def refuse(at: int, why: str) -> BadInput:
        return BadInput(path, why, place=f"byte {at}")

    if version != VERSION:
        raise refuse(8, f"akvlog version {version}, and this reads version {VERSION}")
    if header_bytes != HEADER_BYTES:
        raise refuse(12, f"a header of {header_bytes:,} bytes; version {VERSION} has {HEADER_BYTES:,}")
    if record_bytes != RECORD_BYTES:
        raise refuse(16, f"records of {record_bytes:,} bytes; version {VERSION} has {RECORD_BYTES}")
    if names_bytes > NAMES_MOST:
        raise refuse(32, f"{names_bytes:,} bytes of names; at most {NAMES_MOST:,} are read")
    if counts > COUNTS_MOST:
        raise refuse(48, f"{counts:,} counts; version {VERSION} has at most {COUNTS_MOST:,}")
    if records_at % HEADER_BYTES or records_at < HEADER_BYTES:
        raise refuse(56, f"records at byte {records_at:,}, which is no multiple of {HEADER_BYTES:,} after it")
    wraps = bool(flags & 1)
    if wraps and (capacity == 0 or capacity & (capacity - 1)):
        raise refuse(64, f"wraps after {capacity:,} records, which is no power of two")
    (made,) = struct.unpack_from("<Q", head, 160)
    (reserved,) = struct.unpack_from("<Q", head, RESERVED_AT)
    (names_reserved,) = struct.unpack_from("<Q", head, 256)
    records_lost, names_lost, times_lost, asked, unread = _COUNTERS.unpack_from(head, 320)
    return Header(
        version=version,
        wraps=wraps,
        names_at=names_at,
        names_bytes=names_bytes,
        counts_at=counts_at,
        counts=counts,
        records_at=records_at,
        capacity=capacity,
        pid=pid,
        parent_pid=parent,
        start=Clocks(*front[13:17]),
        close=Clocks(*front[17:21]) if any(front[17:21]) else None,
        closed=closed == 1,
        stopped=stopped,
        errno=errno,
        made=made or None,
        reserved=reserved,
        names_reserved=names_reserved,
        records_lost=records_lost,
        names_lost=names_lost,
        device_times_lost=times_lost,
        events_asked=asked,
        device_times_unread=unread if closed == 1 else None,
        producer=escape(head[384:512].partition(b"\0")[0]),
        executable=escape(head[512:1024].partition(b"\0")[0]),
    )
