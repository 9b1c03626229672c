"""The scanner: akvlog files (``shim/AKVLOG.md``) and text logs of the Unified Runtime as Arrow tables.

There are two engines that give the same tables: ``rust`` where the crate in ``scanner/`` is installed, and ``python``,
which uses numpy. Records are read in pieces, so memory does not grow with the file; a file may still be written.

    with open_log(path) as log:
        for batch in log.batches("calls"):
            ...
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

import pyarrow as pa

from akvsite.scan._engines import Engine, choose
from akvsite.scan._header import Clocks, Header, read_header
from akvsite.scan._names import read_counts, read_names
from akvsite.scan._slots import find_slots
from akvsite.scan._source import open_plain
from akvsite.scan._tables import TABLES, UR_TEXT
from akvsite.scan._tally import KINDS, Tally, account
from akvsite.scan._ur_text import TextCounts

__all__ = [
    "KINDS",
    "TABLES",
    "Clocks",
    "Header",
    "Log",
    "Tally",
    "TextCounts",
    "UrText",
    "open_log",
    "read_ur_text",
]

#: Records of the file that one batch covers; and the most, so that offsets of lists stay in 32 bits.
ROWS = 1 << 16
ROWS_MOST = 1 << 24


class Log:
    """An open akvlog file. Header and slots are those of the moment it was opened."""

    def __init__(self, path: Path, file: IO[bytes], engine: Engine) -> None:
        self.path = path
        self.header = read_header(path, file)
        #: Which engine reads the records: ``rust`` or ``python``.
        self.engine = engine.name
        self.file_bytes = os.fstat(file.fileno()).st_size
        self._engine = engine
        self._file = file
        self._slots = find_slots(self.header, self.file_bytes)

    @property
    def names(self) -> pa.Table:
        """Names of calls and objects, libraries and notes: columns of ``_tables.NAMES``, in the order of the file."""
        return read_names(self._file, self.header)

    @property
    def counts(self) -> pa.Table:
        """Calls that could only be counted: name ``id`` and ``count``, without those never made."""
        return read_counts(self._file, self.header)

    def pieces(self, *tables: str, rows: int = ROWS) -> Iterator[dict[str, pa.RecordBatch]]:
        """Several tables (without names: all) in one pass: what each ``rows`` records of the file hold, oldest first.

        A table without rows in a piece is left out of it. Raises ``ValueError`` for a table that there is not, and for
        less than one record or more than ``ROWS_MOST``.
        """
        for table in tables:
            if table not in TABLES:
                raise ValueError(f"no table {table!r}; there are {', '.join(TABLES)}")
        if not 1 <= rows <= ROWS_MOST:
            raise ValueError(f"a piece has 1 to {ROWS_MOST:,} records, not {rows:,}")
        return self._engine.batches(self._file, self._slots, tables or tuple(TABLES), rows)

    def batches(self, table: str, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """The rows of ``calls``, ``devices``, ``objects``, ``clocks`` or ``marks``, oldest first.

        Each batch covers ``rows`` records of the file, of any kind; where none is of this table there is no batch.
        Raises as ``pieces`` does.
        """
        return (piece[table] for piece in self.pieces(table, rows=rows) if table in piece)

    def table(self, table: str) -> pa.Table:
        """All rows of a table in memory: for files known to be small."""
        return pa.Table.from_batches(self.batches(table), schema=TABLES[table])

    def tally(self) -> Tally:
        """Count every record, so that each reserved one is accounted for. Reads the file once through."""
        return account(self.header, self._slots, self._engine.find(self._file, self._slots))

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_log(path: str | os.PathLike[str], engine: str | None = None) -> Log:
    """Open an akvlog file, plain or gzip.

    ``engine`` is ``rust``, ``python`` or None for Rust where it is installed. Raises ``BadInput`` where the file is no
    akvlog, is of another version or its header is cut, and where the engine asked for is not there.
    """
    path = Path(path)
    chosen = choose(engine)
    file = open_plain(path)
    try:
        return Log(path, file, chosen)
    except BaseException:
        file.close()
        raise


class UrText:
    """A text log of the Unified Runtime, open for reading."""

    def __init__(self, path: Path, file: IO[bytes], engine: Engine) -> None:
        self.path = path
        self.engine = engine.name
        self.file_bytes = os.fstat(file.fileno()).st_size
        #: Of the lines read so far.
        self.counts = TextCounts()
        self._engine = engine
        self._file = file

    def batches(self, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Calls in batches of about ``rows``, in the order in which they returned; those that did not come last.

        Columns: ``line`` it was read from, ``name``, ``depth`` (calls open around it, of any thread), ``result`` and
        ``duration_ns`` where the line has them, ``params``, ``returned``. Raises ``ValueError`` for fewer than one row.
        """
        if not 1 <= rows <= ROWS_MOST:
            raise ValueError(f"a batch has 1 to {ROWS_MOST:,} rows, not {rows:,}")
        self.counts = TextCounts()
        return self._engine.ur_text(self._file, self.counts, rows)

    def table(self) -> pa.Table:
        """All calls in memory: for files known to be small."""
        return pa.Table.from_batches(self.batches(), schema=UR_TEXT)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> UrText:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_ur_text(path: str | os.PathLike[str], engine: str | None = None) -> UrText:
    """Open a text log of the tracing layer or of ``urtrace``, plain or gzip. Raises ``BadInput`` where it cannot be read."""
    path = Path(path)
    chosen = choose(engine)
    return UrText(path, open_plain(path), chosen)
