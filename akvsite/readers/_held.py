"""Rows held back until the end of their file, compressed, in memory first and then on disk.

Some of what a row needs stands after it: the rank, the base of the times, the process of a device. And steps
go into the store before the rows that lie in them. So rows wait here; memory stays bounded by ``IN_MEMORY``
bytes a table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pyarrow as pa

from akvsite.reading import BATCH_ROWS
from akvsite.tables import CAPTURED

IN_MEMORY = 8 << 20


class Held:
    """One compressed Arrow stream a table."""

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
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed by replay)
        self._writer = pa.ipc.new_stream(
            self._file, schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
        )
        self._waiting: list[pa.Table] = []
        self._count = 0

    def add(self, rows: pa.Table) -> None:
        self._waiting.append(rows)
        self._count += rows.num_rows
        if self._count >= BATCH_ROWS // 8:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            self._writer.write_table(
                pa.concat_tables(self._waiting).combine_chunks(), max_chunksize=BATCH_ROWS
            )
        self._waiting = []
        self._count = 0
        # The pool keeps what it was given: 50 MB over a file of 216 thousand events.
        pa.default_memory_pool().release_unused()

    def replay(self) -> Iterator[pa.Table]:
        self._write()
        self._writer.close()
        self._file.seek(0)
        with self._file, pa.ipc.open_stream(self._file) as stream:
            for batch in stream:
                yield pa.Table.from_batches([batch])
