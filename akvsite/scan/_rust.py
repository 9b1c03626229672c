"""The engine in Rust, where the crate in ``scanner/`` is installed: pieces of the file on several threads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import IO, TypeVar

import akvscan
import pyarrow as pa

from akvsite.scan._header import RESERVED_AT
from akvsite.scan._slots import Slots
from akvsite.scan._tables import TABLES, UR_TEXT
from akvsite.scan._tally import Found
from akvsite.scan._ur_text import TextCounts

#: Each thread holds one piece and the columns made from it.
THREADS = min(4, os.cpu_count() or 1)
PIECE = 1 << 18

Batches = dict[str, pa.RecordBatch]
_Piece = tuple[int, int, int]
_Done = TypeVar("_Done")


class Rust:
    """Records to Arrow columns, handed over without a copy."""

    name = "rust"

    def batches(self, file: IO[bytes], slots: Slots, tables: Sequence[str], rows: int) -> Iterator[Batches]:
        named = [(table, TABLES[table].names) for table in tables]

        def work(piece: _Piece) -> Batches:
            found = akvscan.batches(file.fileno(), _slots(slots), piece, named)
            return {
                table: _batch(columns, TABLES[table])
                for table, columns in zip(tables, found, strict=True)
                if columns is not None
            }

        return _in_order(work, slots.pieces(file, rows))

    def find(self, file: IO[bytes], slots: Slots) -> Found:
        def work(piece: _Piece) -> Found:
            kinds, names, *rest = akvscan.count(file.fileno(), _slots(slots), piece)
            return Found(dict(kinds), dict(names), *rest)

        found = Found()
        for more in _in_order(work, slots.pieces(file, PIECE)):
            found.add(more)
        return found

    def ur_text(self, file: IO[bytes], counts: TextCounts, rows: int) -> Iterator[pa.RecordBatch]:
        reader = akvscan.UrText()
        while (columns := reader.next(file.fileno(), rows, UR_TEXT.names)) is not None:
            counts.set(reader.counts())
            yield _batch(columns, UR_TEXT)
        counts.set(reader.counts())


def _batch(columns: object, schema: pa.Schema) -> pa.RecordBatch:
    """The batch as it is; where its types are not the schema's, whoever built the crate built another version."""
    batch = pa.record_batch(columns)
    if not batch.schema.equals(schema):
        raise TypeError(f"the scanner gives {batch.schema}, and {schema} is read: install ./scanner again")
    return batch


def _slots(slots: Slots) -> tuple[int, int, int | None]:
    return slots.at, slots.capacity, RESERVED_AT if slots.turning else None


def _in_order(work: Callable[[_Piece], _Done], pieces: Iterable[_Piece]) -> Iterator[_Done]:
    """What ``work`` makes of each piece, in their order, with no more of them under way than there are threads."""
    pieces = iter(pieces)
    first, second = next(pieces, None), next(pieces, None)
    if first is None:
        return
    if second is None:  # a small file: threads would take longer to start than to work
        yield work(first)
        return
    waiting: deque[Future[_Done]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        try:
            for piece in chain((first, second), pieces):
                waiting.append(pool.submit(work, piece))
                if len(waiting) > THREADS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for left in waiting:
                left.cancel()


ENGINE = Rust()
