"""Rows held back until the end of their file, in memory first and then on disk, compressed.

Some of what a row needs stands after it: the rank, the base of the times, the process of a device. And steps
go into the store before the rows that lie in them. So rows wait here; memory stays bounded by ``IN_MEMORY``
bytes a table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from akvsite.reading import BATCH_ROWS
from akvsite.tables import CAPTURED

IN_MEMORY = 16 << 20


class Held:
    """One stream of rows a table."""

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}

    def add(self, table: str, rows: pa.Table) -> None:
        if table not in self._streams:
            self._streams[table] = _Stream(rows.schema)
        self._streams[table].add(rows)

    def replay(self) -> Iterator[tuple[str, pa.Table]]:
        """Every row again, table by table in the order in which the store wants them; each stream is closed
        after it.
        """
        for table in sorted(self._streams, key=CAPTURED.index):
            for rows in self._streams[table].replay():
                yield table, rows


class _Stream:
    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._kept: list[pa.Table] = []
        self._kept_bytes = 0
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchStreamWriter | None = None

    def add(self, rows: pa.Table) -> None:
        self._kept.append(rows)
        self._kept_bytes += rows.nbytes
        # Most traces end before this; a long one goes on in a file, compressed, in pieces of the same size.
        if self._kept_bytes > IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by replay)
            self._writer = pa.ipc.new_stream(
                self._file, self._schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
            )
        assert self._writer is not None
        self._writer.write_table(pa.concat_tables(self._kept).combine_chunks(), max_chunksize=BATCH_ROWS)
        self._kept, self._kept_bytes = [], 0
        # The pool keeps what it was given: 50 MB over a file of 216 thousand events.
        pa.default_memory_pool().release_unused()

    def replay(self) -> Iterator[pa.Table]:
        if self._file is None:
            kept, self._kept = pa.concat_tables(self._kept), []
            for start in range(0, kept.num_rows, BATCH_ROWS):
                yield kept.slice(start, BATCH_ROWS)
            return
        self._spill()
        assert self._writer is not None
        self._writer.close()
        self._file.seek(0)
        with self._file, pa.ipc.open_stream(self._file) as stream:
            for batch in stream:
                yield pa.Table.from_batches([batch])
