"""The names and the counts of an akvlog file."""

from __future__ import annotations

import os
import re
from typing import IO

import numpy as np
import pyarrow as pa

from akvsite.escape import escape
from akvsite.scan._header import Header
from akvsite.scan._tables import COUNTS, NAMES

_COMPLETE = 1 << 31
_CUT = 1 << 15
_SOMETHING = re.compile(rb"[^\0]")


def read_names(file: IO[bytes], header: Header) -> pa.Table:
    """Entries in the order of the file; ``complete`` is false for one whose text was never finished."""
    area = _read(file, header.names_at, min(header.names_bytes, header.names_reserved))
    columns: dict[str, list[object]] = {name: [] for name in NAMES.names}
    at = 0
    # From one byte that is set to the next, so that room that was never used costs nothing.
    while found := _SOMETHING.search(area, at):
        at = found.start() & ~7
        if at + 8 > len(area):
            break
        length = int.from_bytes(area[at : at + 4], "little")
        what = int.from_bytes(area[at + 4 : at + 6], "little")
        end = at + 8 + (length & ~_COMPLETE)
        if end > len(area):
            break
        text = escape(area[at + 8 : end])
        entry = (at, what & ~_CUT, int.from_bytes(area[at + 6 : at + 8], "little"), bool(what & _CUT), text)
        for name, value in zip(NAMES.names, (*entry, bool(length & _COMPLETE)), strict=True):
            columns[name].append(value)
        at = (end + 7) & ~7
    return pa.table(columns, schema=NAMES)


def read_counts(file: IO[bytes], header: Header) -> pa.Table:
    """Calls that could only be counted, by name id; those never made are left out."""
    words = _read(file, header.counts_at, 8 * header.counts)
    counts = np.frombuffer(words, "<u8", len(words) // 8)
    ids = np.flatnonzero(counts)
    return pa.table({"id": ids.astype(np.uint16), "count": counts[ids]}, schema=COUNTS)


def _read(file: IO[bytes], at: int, size: int) -> bytes:
    """What there is of these bytes; an offset beyond the file is one where nothing is."""
    if at >= os.fstat(file.fileno()).st_size:
        return b""
    pieces = []
    while size > 0 and (piece := os.pread(file.fileno(), min(size, 1 << 24), at)):
        pieces.append(piece)
        at += len(piece)
        size -= len(piece)
    return b"".join(pieces)
