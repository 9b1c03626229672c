"""The engine that needs no Rust: records to Arrow columns with numpy, a piece of the file at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from akvsite.scan._slots import MOST_CONTINUATIONS, Slots, Words
from akvsite.scan._tables import TABLES
from akvsite.scan._tally import Found

OPEN, CALL, MORE, OBJECT, DEVICE, CLOCK = 1, 2, 3, 4, 5, 6
PROBE_FIRST, PROBE_LAST = 16, 63
WORDS_MOST = 6
PIECE = 1 << 16

Index = npt.NDArray[np.int64]
Column = npt.NDArray[Any]


class _Piece:
    """Consecutive records: ``count`` of its own, then those that its last call may continue in."""

    def __init__(self, file: IO[bytes], slots: Slots, first: int, count: int, ahead: int) -> None:
        self.first, self.count = first, count
        self.words: Words = slots.read(file, first, count + ahead)
        commit = self.words[:, 0]
        # The sum wraps at 64 bits as the recorder's does; only the low half of index + 1 is there to compare.
        at = np.arange(1, count + ahead + 1, dtype=np.uint64) + np.uint64(first)
        whole = (commit >> np.uint64(32)) == (at & np.uint64(0xFFFFFFFF))
        self.kind = np.where(whole, commit & np.uint64(0xFF), 0).astype(np.uint8)

    def rows(self, low: int, high: int) -> Index:
        """Places of the records of these kinds, both included, among those that are this piece's own."""
        own = self.kind[: self.count]
        return np.flatnonzero((own >= low) & (own <= high))

    def index(self, rows: Index) -> Column:
        return rows.astype(np.uint64) + np.uint64(self.first)

    def word(self, rows: Index, place: int) -> Column:
        words: Column = self.words[rows, place]
        return words

    def flags(self, rows: Index) -> Column:
        return (self.word(rows, 0) >> np.uint64(8)).astype(np.uint8)

    def name(self, rows: Index) -> Column:
        return (self.word(rows, 0) >> np.uint64(16)).astype(np.uint16)

    def thread(self, rows: Index) -> Column:
        return self.word(rows, 3).astype(np.uint32)

    def result(self, rows: Index) -> Column:
        return (self.word(rows, 3) >> np.uint64(32)).astype(np.uint32).view(np.int32)

    def continuations(self) -> tuple[Index, Index]:
        """Places of the continuations of this piece's calls, and of the calls that they belong to."""
        more = np.flatnonzero(self.kind == MORE)
        if not len(more):
            return more, more
        place = np.arange(len(self.kind))
        before = np.maximum.accumulate(np.where(self.kind == MORE, -1, place))[more]
        call = (before >= 0) & ((self.kind[before] == CALL) | (self.kind[before] == OPEN))
        mine = call & (before < self.count) & (more - before <= MOST_CONTINUATIONS)
        return more[mine], before[mine]


def batches(
    file: IO[bytes], slots: Slots, tables: Sequence[str], rows: int
) -> Iterator[dict[str, pa.RecordBatch]]:
    """The rows of each table, by piece of ``rows`` records; a table without rows in a piece is left out."""
    for first, count, ahead in slots.pieces(file, rows):
        piece = _Piece(file, slots, first, count, ahead)
        found = {}
        for table in tables:
            columns = _MAKERS[table](piece)
            if len(columns[0]):
                found[table] = pa.RecordBatch.from_arrays(
                    [pa.array(c) for c in columns], schema=TABLES[table]
                )
        yield found


def find(file: IO[bytes], slots: Slots) -> Found:
    """Count every record."""
    found = Found()
    for first, count, ahead in slots.pieces(file, PIECE):
        found.add(_count(_Piece(file, slots, first, count, ahead)))
    return found


def _count(piece: _Piece) -> Found:
    more, _ = piece.continuations()
    what = piece.word(more, 1) & np.uint64(0xFFFF)
    calls = piece.rows(OPEN, CALL)
    # Only times of the host's clock count, and 0 is none.
    others = piece.rows(OBJECT, OBJECT), piece.rows(CLOCK, CLOCK), piece.rows(PROBE_FIRST, PROBE_LAST)
    times = piece.words[np.concatenate((calls, *others))][:, 1:3]
    times = times[times > 0]
    return Found(
        kinds=_counted(piece.kind[: piece.count]),
        names=_counted(piece.name(calls)),
        attached=len(more),
        unknown_words=int(np.count_nonzero((what < 1) | (what > 4))),
        first_ns=int(times.min()) if len(times) else None,
        last_ns=int(times.max()) if len(times) else None,
    )


def _counted(values: Column) -> dict[int, int]:
    counts = np.bincount(values)
    return {int(value): int(counts[value]) for value in np.flatnonzero(counts)}


def _calls(piece: _Piece) -> list[Any]:
    rows = piece.rows(OPEN, CALL)
    opened = piece.kind[rows] == OPEN
    return [
        piece.index(rows), piece.name(rows), piece.flags(rows), opened, piece.thread(rows), piece.word(rows, 1),
        _where(~opened, piece.word(rows, 2)), _where(~opened, piece.result(rows)),
        *(piece.word(rows, place) for place in (4, 5, 6, 7)),
        *_lists(piece, rows),
    ]  # fmt: skip


def _where(known: npt.NDArray[np.bool_], values: Column) -> pa.Array:
    """The values where they are known, null elsewhere (with a zero below it, so that both engines write the same)."""
    return pa.array(np.where(known, values, values.dtype.type(0)), mask=~known)


def _lists(piece: _Piece, rows: Index) -> list[pa.ListArray]:
    """The words of the continuations, a list for each call and what they are."""
    more, owner = piece.continuations()
    what = (piece.words[more, 1] & np.uint64(0xFFFF)).astype(np.int64)
    count = np.minimum((piece.words[more, 1] >> np.uint64(16)) & np.uint64(0xFFFF), WORDS_MOST).astype(
        np.int64
    )
    row = np.searchsorted(rows, owner)
    lists = []
    for kind in (1, 2, 3, 4):
        these = what == kind
        taken = np.arange(WORDS_MOST) < count[these, None]
        values = piece.words[more[these], 2:][taken]
        sizes = np.bincount(row[these], weights=count[these], minlength=len(rows)).astype(np.int64)
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
        lists.append(pa.ListArray.from_arrays(pa.array(offsets), pa.array(values)))
    return lists


def _devices(piece: _Piece) -> list[Any]:
    rows = piece.rows(DEVICE, DEVICE)
    times = (piece.word(rows, place) for place in (4, 5, 6, 7))
    return [
        piece.index(rows), piece.word(rows, 1), piece.word(rows, 2), piece.thread(rows), piece.result(rows), *times,
    ]  # fmt: skip


def _objects(piece: _Piece) -> list[Any]:
    rows = piece.rows(OBJECT, OBJECT)
    return [
        piece.index(rows), piece.word(rows, 1), piece.thread(rows), piece.result(rows), piece.word(rows, 4),
        piece.word(rows, 5),
    ]  # fmt: skip


def _marks(piece: _Piece) -> list[Any]:
    rows = piece.rows(PROBE_FIRST, PROBE_LAST)
    return [
        piece.index(rows), piece.kind[rows], piece.flags(rows), piece.name(rows), piece.thread(rows),
        piece.word(rows, 1), piece.word(rows, 2), piece.result(rows),
        *(piece.word(rows, place) for place in (4, 5, 6, 7)),
    ]  # fmt: skip


def _clocks(piece: _Piece) -> list[Any]:
    rows = piece.rows(CLOCK, CLOCK)
    rest = (piece.word(rows, place) for place in (4, 5, 6, 7))
    return [
        piece.index(rows), piece.word(rows, 1), piece.word(rows, 2), piece.thread(rows), piece.result(rows), *rest,
    ]  # fmt: skip


_MAKERS: dict[str, Callable[[_Piece], list[Any]]] = {
    "calls": _calls,
    "devices": _devices,
    "objects": _objects,
    "clocks": _clocks,
    "marks": _marks,
}
