"""The store: one SQLite file, STRICT tables, one transaction a capture.

Schema changes are the numbered files of ``schema/``, applied by sqlite-utils' migrations; a test holds them against
the dataclasses of ``tables``. Bulk rows go through prepared statements in one transaction.
"""

from __future__ import annotations

import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import sqlite_utils

from akvsite.conform import captured_columns, conform
from akvsite.errors import BadInput
from akvsite.tables import TABLES

BUSY_SECONDS = 30.0

#: Rows of a query that are in memory as tuples at once, where its columns are wanted.
_PIECE = 50_000


def _migrations() -> sqlite_utils.Migrations:
    migrations = sqlite_utils.Migrations("akvsite")
    files = sorted(
        (f for f in resources.files("akvsite.schema").iterdir() if f.name.endswith(".sql")),
        key=lambda f: f.name,
    )
    for file in files:
        script = file.read_text(encoding="utf-8")

        def apply(db: sqlite_utils.Database, script: str = script) -> None:
            for statement in script.split(";\n"):
                if statement.strip():
                    db.conn.execute(statement)

        migrations(name=file.name.removesuffix(".sql"))(apply)
    return migrations


def _names() -> list[str]:
    return [m.name for m in _migrations()._migrations]


class Store:
    """An open store. Use ``Store.open`` or ``Store.read``; close it, or use it as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path
        self.db = sqlite_utils.Database(connection)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open for writing; the file is made, and its schema brought up to date, where needed.

        Raises ``BadInput`` where the path holds something that is not a store of this project; it is not touched.
        """
        _refuse_no_file(path)
        if path.is_file() and path.stat().st_size:
            # Looked at first: even the journal mode would change a file that is somebody else's.
            with cls._look(path, "ro", "rw") as found:
                found.refuse_strange()
        connection = None
        try:
            # Autocommit: transactions are begun by name, so that none is begun by accident.
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            _prepare(connection)
            _journal(connection)
            store = cls(connection, path)
            store._migrate()
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise BadInput(path, f"cannot be used as a store: {error}") from error
            raise
        return store

    @classmethod
    def read(cls, path: Path) -> Store:
        """Open for reading only. Raises ``BadInput`` where there is no store."""
        _refuse_no_file(path)
        if not path.is_file():
            raise BadInput(path, "no such store; make one with `akvsite ingest PATH`")
        store = cls._look(path, "ro")
        try:
            store.refuse_strange()
            if set(_names()) - store.applied():
                raise BadInput(path, "was made by an earlier version; `akvsite ingest` brings it up to date")
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def _look(cls, path: Path, *modes: str) -> Store:
        """The file as it is, whatever it holds, in the first of ``modes`` in which it can be read.

        What a kill left in a plain journal has to be taken back first, which needs the mode ``rw``.
        """
        # Where nothing can be written beside the file, as on a disc, the index of its log cannot be made. A file that
        # has no log is whole without one.
        logs = [path.with_name(f"{path.name}-{log}") for log in ("wal", "journal")]
        whole = () if any(log.exists() for log in logs) else ("ro&immutable=1",)
        for mode in (*modes, *whole):
            connection = None
            try:
                address = f"{path.resolve().as_uri()}?mode={mode}"
                connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
                _prepare(connection)
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                return cls(connection, path)
            except sqlite3.DatabaseError as error:
                if connection is not None:
                    connection.close()
                fault = error
                if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                    raise BadInput(
                        path,
                        "cannot be read as a store: it is not a SQLite file, or damaged; it is left as it is",
                    ) from error
                if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                    break
        raise BadInput(path, f"cannot be read as a store: {fault}") from fault

    def applied(self) -> set[str]:
        """Names of the schema changes that the store has."""
        return {m.name for m in _migrations().applied(self.db)}

    def refuse_strange(self) -> None:
        """Raises ``BadInput`` where the file is not a store, or one of a later version."""
        tables = sorted(name for name in self.db.table_names() if not name.startswith("sqlite_"))
        applied = self.applied()
        if tables and not applied:
            raise BadInput(self.path, f"is a SQLite file, but not a store of akvsite (it has {tables[0]!r})")
        if strange := sorted(applied - set(_names())):
            raise BadInput(self.path, f"was made by a later version (it has {strange[0]!r})")

    def _migrate(self) -> None:
        if self.applied() >= set(_names()):
            return
        # The write lock comes first, so that of processes that open a new store together one makes it, and the
        # others find it made.
        with self.transaction():
            self.refuse_strange()
            _migrations().apply(self.db)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Takes the write lock at once, so that two writers wait instead of failing half way."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            # A full disk ends the transaction by itself.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Nobody writes to the store meanwhile, in this process or another."""
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield
        finally:
            connection.close()

    def begin_reading(self) -> None:
        """From now on, until ``end_reading``, the store is as it is now, whoever writes to it."""
        self.connection.execute("BEGIN")
        # It begins with the first row that is read, and not before.
        self.one("SELECT count(*) FROM sqlite_master")

    def end_reading(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the store for all that is read, even while a capture is being ingested."""
        self.begin_reading()
        try:
            yield
        finally:
            self.end_reading()

    def allow_reading_only(self) -> None:
        """From now on a statement may read this store and nothing else: no other file, no setting, no writing."""
        self.connection.set_authorizer(_reading_only)

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """Rows of a query as dicts, in the order of the query."""
        cursor = self.connection.execute(sql, parameters)
        names = _apart([d[0] for d in cursor.description or ()])
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def batches(
        self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = (), *, size: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Rows of a query as tuples, at most ``size`` at once: however many there are, memory is that of one batch."""
        cursor = self.connection.execute(sql, parameters)
        while batch := cursor.fetchmany(size):
            yield batch

    def columns(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> dict[str, np.ndarray]:
        """Columns of a query as numpy arrays: int64 where every value is an integer, else float64 or object."""
        cursor = self.connection.execute(sql, parameters)
        names = _apart([d[0] for d in cursor.description or ()])
        gathered = [_Gathered() for _ in names]
        # Piece by piece: of a million rows as tuples nothing is left but their values.
        while piece := cursor.fetchmany(_PIECE):
            for column, values in zip(gathered, zip(*piece, strict=True), strict=True):
                column.add(values)
        return {name: column.whole() for name, column in zip(names, gathered, strict=True)}

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The single value of a query, or None."""
        row = self.connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def insert(self, table: str, row: Mapping[str, Any]) -> int:
        """Insert one row and return its id (0 where the table has none)."""
        names = list(row)
        marks = ", ".join("?" * len(names))
        cursor = self.connection.execute(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", [row[n] for n in names]
        )
        return cursor.lastrowid or 0


class RowWriter:
    """Writes a capture's rows in bulk inside the running transaction, and gives them their ids."""

    def __init__(self, store: Store, run_id: int) -> None:
        self._store = store
        self._run_id = run_id
        self._next_id: dict[str, int] = {}
        #: How long the rows of each table last together, in ns: whoever hands rows over keeps their sum in 64 bits.
        self.lasted: defaultdict[str, float] = defaultdict(float)

    def write(
        self, table: str, rows: pa.Table, process_ids: np.ndarray, step_ids: np.ndarray | None = None
    ) -> np.ndarray:
        """Insert ``rows``; ``process_ids`` (n,) are the store's, and so are ``step_ids`` (n,), 0 for none.

        Returns the ids given, int64 (n,). Raises ``ValueError`` where a column is missing, unknown, of another type
        or empty where it may not be.
        """
        body = conform(table, rows)
        count = body.num_rows
        if table not in self._next_id:
            self._next_id[table] = 1 + (self._store.one(f"SELECT max(id) FROM {table}") or 0)
        first = self._next_id[table]
        self._next_id[table] = first + count
        values: dict[str, Iterable[Any]] = {
            "id": range(first, first + count),
            "process_id": process_ids.tolist(),
        }
        if step_ids is not None and step_ids.any():
            values["step_id"] = [step or None for step in step_ids.tolist()]
        for column in captured_columns(TABLES[table]):
            # A column without a value is NULL by itself: half of a device record's are.
            if body[column.name].null_count < count:
                values[column.name] = body[column.name].to_pylist()
        self._store.connection.executemany(
            f"INSERT INTO {table} (run_id, {', '.join(values)})"
            f" VALUES ({self._run_id:d}, {', '.join('?' * len(values))})",
            zip(*values.values(), strict=True),
        )
        return np.arange(first, first + count, dtype=np.int64)


def _apart(names: list[str]) -> list[str]:
    """Column names of a query, the second of two equal ones numbered, so that none hides another."""
    return [
        name if name not in names[:i] else f"{name}:{names[:i].count(name)}" for i, name in enumerate(names)
    ]


def hexadecimal(value: int | None) -> str | None:
    """The unsigned 64-bit reading of a stored id, in hexadecimal; also available in SQL as ``hex64(x)``.

    >>> hexadecimal(-1)
    '0xffffffffffffffff'
    """
    return None if value is None else f"0x{value & 0xFFFF_FFFF_FFFF_FFFF:016x}"


#: Settings that can be asked for, and change nothing.
_ASKED = frozenset(
    {
        "compile_options", "foreign_key_check", "foreign_key_list", "function_list", "index_info", "index_list",
        "index_xinfo", "integrity_check", "quick_check", "table_info", "table_list", "table_xinfo",
    }
)  # fmt: skip


def _reading_only(action: int, first: str | None, *_: str | None) -> int:
    reads = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    # Table functions such as json_each are declared on their first use, which SQLite takes for an update of its schema.
    declares = action == sqlite3.SQLITE_UPDATE and first == "sqlite_master"
    if action in reads or declares or (action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _ASKED):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.create_function("hex64", 1, hexadecimal, deterministic=True)


def _journal(connection: sqlite3.Connection) -> None:
    """A write-ahead log where the file system can share one, else a plain journal."""
    # Of processes that open a new store together, one changes the mode; that lock does not wait by itself.
    for attempt in range(100):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                break
            time.sleep(0.01 * (1 + attempt % 5))
    # Some network file systems cannot share the index of a write-ahead log.
    connection.execute("PRAGMA journal_mode = DELETE").fetchone()


def _refuse_no_file(path: Path) -> None:
    # What is in a file SQLite alone may look at: whoever else closes a file of a store that this process has open takes
    # SQLite's locks away (https://sqlite.org/howtocorrupt.html, 2.2).
    if path.is_dir():
        raise BadInput(path, "is a folder, not a store")
    if path.exists() and not path.is_file():
        raise BadInput(path, "is not a file")
    if not path.parent.is_dir():
        raise BadInput(path, "the folder for the store does not exist")


class _Gathered:
    """A column that comes in pieces: whole numbers as arrays, all else as it is, each text once."""

    def __init__(self) -> None:
        self._pieces: list[np.ndarray | tuple[Any, ...]] = []
        self._texts: dict[str, str] = {}

    def add(self, values: tuple[Any, ...]) -> None:
        kinds = set(map(type, values))
        if kinds == {int}:
            self._pieces.append(np.array(values, dtype=np.int64))
        elif str in kinds:
            once = self._texts.setdefault
            self._pieces.append(tuple(once(v, v) if type(v) is str else v for v in values))
        else:
            self._pieces.append(values)

    def whole(self) -> np.ndarray:
        if all(isinstance(piece, np.ndarray) for piece in self._pieces):
            return np.concatenate([np.empty(0, dtype=np.int64), *self._pieces])
        return _array(
            tuple(
                value
                for piece in self._pieces
                for value in (piece.tolist() if isinstance(piece, np.ndarray) else piece)
            )
        )


def _array(values: tuple[Any, ...]) -> np.ndarray:
    kinds = set(map(type, values))  # one pass without a step of Python for each value
    if kinds == {int}:
        return np.array(values, dtype=np.int64)
    if kinds <= {int, float}:
        return np.array(values, dtype=np.float64)
    if kinds <= {int, float, type(None)}:
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    return np.array(values, dtype=object)
