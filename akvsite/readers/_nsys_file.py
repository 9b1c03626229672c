"""An SQLite file of unknown origin, read only: its tables, and their rows in batches, whatever is in them.

The file is opened as it lies there: nothing is written beside it, and a write-ahead log beside it is not read (the
file's hash, by which a capture is known, does not cover one). Only true tables are read, never a view, a virtual table
or an index, and no value of more than ``MOST_BYTES``; a value of another type than asked for comes back described.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput
from akvsite.escape import escape

ROWS = 16_384
#: SQLite reads no value that is larger.
MOST_BYTES = 16 << 20
#: Texts are cut after so many bytes.
TEXT_BYTES = 4096
#: No row of any table takes less: a damaged file may lead round in circles, and seem to have more rows than that.
LEAST_ROW_BYTES = 6
#: A message of SQLite may quote bytes of the file, which Python then cannot decode.
_FAULTS = (sqlite3.Error, UnicodeError)


@dataclass(frozen=True)
class TableOfFile:
    name: str
    columns: frozenset[str]


class Damaged(Exception):  # noqa: N818 (raise Damaged)
    """A table that cannot be read on, and after how many rows."""

    def __init__(self, row: int, why: str) -> None:
        self.row = row
        self.why = why
        super().__init__(why)


class SqliteFile:
    """The tables of a file, ``tables`` by name, and the names of what is there and is not read, in ``others``.

    Raises ``BadInput`` where the file is no SQLite file that can be opened.
    """

    def __init__(self, path: Path) -> None:
        self._size = path.stat().st_size
        if (end := _pages_end(path)) > self._size:
            # Where it breaks off inside a page, SQLite would take what is missing for zeros.
            raise BadInput(path.name, f"is cut short: {self._size} of {end} bytes are there")
        self.tables: dict[str, TableOfFile] = {}
        self.others: dict[str, str] = {}
        try:
            self._connection = _connected(path)
        except _FAULTS as error:
            raise BadInput(path.name, f"cannot be opened: {_line(error)}") from error
        try:
            self._prepare()
            self._list()
        except _FAULTS as error:
            self.close()
            raise BadInput(path.name, f"not a whole SQLite file: {_line(error)}") from error

    def close(self) -> None:
        self._connection.close()

    def _prepare(self) -> None:
        connection = self._connection
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
        for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {pragma}")
        if connection.execute("PRAGMA encoding").fetchone()[0] != b"UTF-8":
            raise sqlite3.DataError("its texts are not UTF-8")

    def _list(self) -> None:
        found = self._connection.execute("SELECT name, type, rootpage, sql FROM sqlite_schema ORDER BY rowid")
        for name, kind, page, sql in found:
            text = escape(name or b"")
            if kind == b"table" and page and sql and sql.upper().startswith(b"CREATE TABLE"):
                if not text.startswith("sqlite_"):
                    columns = self._connection.execute(f"PRAGMA table_info({_quoted(text)})")
                    self.tables[text] = TableOfFile(text, frozenset(escape(c[1]) for c in columns))
            elif kind not in (b"index", b"table") or not page:
                self.others[text] = "virtual table" if kind == b"table" else escape(kind)

    def count(self, table: str) -> int | None:
        """Rows of ``table``; None where the file is damaged there."""
        most = self._size // LEAST_ROW_BYTES + 1
        inner = f"SELECT 1 FROM {_quoted(table)} NOT INDEXED LIMIT {most}"
        try:
            count: int = self._connection.execute(f"SELECT count(*) FROM ({inner})").fetchone()[0]
        except _FAULTS:
            return None
        return count if count < most else None

    def batches(
        self, table: TableOfFile, whole: Sequence[str], texts: Sequence[str] = (), where: str = "1"
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Rows of ``table`` as tuples, at most ``ROWS`` at once: the columns ``whole``, then ``texts``.

        In a column of whole numbers stands an int, a float, None, or bytes that describe a value of another type; in one
        of texts bytes or None. A column that the table does not have is None. Raises ``Damaged``.
        """
        wanted = [
            *(_whole(c) if c in table.columns else "NULL" for c in whole),
            *(_text(c) if c in table.columns else "NULL" for c in texts),
        ]
        query = f"SELECT {', '.join(wanted)} FROM {_quoted(table.name)} NOT INDEXED WHERE {where}"
        seen = 0
        try:
            cursor = self._connection.execute(query)
        except _FAULTS as error:
            raise Damaged(0, _line(error)) from error
        while True:
            rows: list[tuple[Any, ...]] = []
            why = ""
            try:
                # What was read before a fault stays in the list.
                rows.extend(islice(cursor, ROWS))
            except _FAULTS as error:
                why = _line(error)
            seen += len(rows)
            if rows:
                yield rows
            if not why and seen > self._size // LEAST_ROW_BYTES:
                why = "it seems to have more rows than the file has room for"
            if why:
                raise Damaged(seen, why)
            if len(rows) < ROWS:
                return

    def counts_of(self, table: TableOfFile, column: str) -> dict[object, int]:
        """Rows by the value of a column: an int, None, or bytes for another type. Empty where it cannot be read."""
        value = _whole(column) if column in table.columns else "NULL"
        try:
            return dict(
                self._connection.execute(
                    f"SELECT {value}, count(*) FROM {_quoted(table.name)} NOT INDEXED GROUP BY 1"
                )
            )
        except _FAULTS:
            return {}

    def numbered(self, table: str, ids: Sequence[int]) -> dict[int, bytes]:
        """``value`` by ``id`` of the rows of ``table`` with these ids; what cannot be read is left out."""
        found: dict[int, bytes] = {}
        for first in range(0, len(ids), 500):
            some = ids[first : first + 500]
            marks = ", ".join("?" * len(some))
            query = f"SELECT id, {_text('value')} FROM {_quoted(table)} WHERE id IN ({marks})"
            try:
                found.update(self._connection.execute(query, some).fetchall())
            except _FAULTS:
                # One of them cannot be read: the others can.
                if len(some) > 1:
                    for one in some:
                        found.update(self.numbered(table, [one]))
        return {key: value for key, value in found.items() if value is not None}


def table_names(path: Path) -> list[str]:
    """The names of the tables of an SQLite file, as far as they can be had."""
    try:
        with closing(_connected(path)) as connection:
            connection.text_factory = bytes
            return [
                escape(row[0])
                for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            ]
    except _FAULTS:
        return []


def _pages_end(path: Path) -> int:
    """Where the last page ends, in bytes, as the header has it; 0 where it does not say."""
    with path.open("rb") as file:
        head = file.read(100)
    size = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big") if head[24:28] == head[92:96] else 0
    return pages * (65536 if size == 1 else size)


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _whole(column: str) -> str:
    c = _quoted(column)
    # Numbers sort before every text: asked first, that is cheaper than the type.
    return (
        f"CASE WHEN {c} < '' THEN {c} WHEN typeof({c}) = 'blob' THEN 'blob of ' || length({c}) || ' bytes'"
        f" WHEN typeof({c}) = 'text' THEN 'text ' || substr({c}, 1, 64) END"
    )


def _text(column: str) -> str:
    c = _quoted(column)
    return f"CASE WHEN typeof({c}) = 'null' THEN NULL ELSE CAST(substr(CAST({c} AS BLOB), 1, {TEXT_BYTES}) AS BLOB) END"


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
