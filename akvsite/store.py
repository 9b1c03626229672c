"""The store: one SQLite file, STRICT tables, one transaction a capture.

Schema changes are the numbered files of ``schema/``, applied by sqlite-utils' migrations; a test holds them against
the dataclasses of ``tables``. Bulk rows go through prepared statements in one transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import sqlite_utils

from akvsite.errors import BadInput
from akvsite.tables import TABLES, captured_columns, conform

BUSY_SECONDS = 30.0

_SQLITE_MAGIC = b"SQLite format 3\x00"


def _migrations() -> sqlite_utils.Migrations:
    migrations = sqlite_utils.Migrations("akvsite")
    files = sorted((f for f in resources.files("akvsite.schema").iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    for file in files:
        script = file.read_text(encoding="utf-8")

        def apply(db: sqlite_utils.Database, script: str = script) -> None:
            for statement in script.split(";\n"):
                if statement.strip():
                    db.conn.execute(statement)

        migrations(name=file.name.removesuffix(".sql"))(apply)
    return migrations


class Store:
    """An open store. Use ``Store.open`` or ``Store.read``; close it, or use it as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path
        self.db = sqlite_utils.Database(connection)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open for writing; the file is made, and its schema brought up to date, where needed.

        Raises ``BadInput`` where the path holds something that is not a store of this project.
        """
        _refuse_foreign_file(path)
        try:
            # Autocommit: transactions are begun by name, so that none is begun by accident.
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            _prepare(connection)
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError:
                # Some network file systems cannot share the index of a write-ahead log.
                connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            store = cls(connection, path)
            store._migrate()
        except sqlite3.DatabaseError as error:
            raise BadInput(path, f"cannot be used as a store: {error}") from error
        return store

    @classmethod
    def read(cls, path: Path) -> Store:
        """Open for reading only. Raises ``BadInput`` where there is no store."""
        if not path.is_file():
            raise BadInput(path, "no such store; make one with `akvsite ingest PATH`")
        _refuse_foreign_file(path)
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        _prepare(connection)
        store = cls(connection, path)
        try:
            # A read-only connection cannot record migrations, so the applied names are read directly.
            applied = {row[0] for row in connection.execute("SELECT name FROM _sqlite_migrations")}
        except sqlite3.DatabaseError as error:
            raise BadInput(path, f"is not a store of akvsite: {error}") from error
        if any(m.name not in applied for m in _migrations()._migrations):
            raise BadInput(path, "was made by an earlier version; `akvsite ingest` brings it up to date")
        return store

    def _migrate(self) -> None:
        tables = set(self.db.table_names())
        if tables and "_sqlite_migrations" not in tables:
            raise BadInput(self.path, f"is a SQLite file, but not a store of akvsite (it has {sorted(tables)[0]!r})")
        migrations = _migrations()
        if "_sqlite_migrations" in tables and not migrations.pending(self.db):
            return
        # The write lock comes first, so that of two processes that open a new store together one finds it made.
        with self.transaction():
            known = {m.name for m in migrations._migrations}
            migrations.apply(self.db)
            strange = [m.name for m in migrations.applied(self.db) if m.name not in known]
        if strange:
            raise BadInput(self.path, f"was made by a later version (it has {strange[0]!r})")

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
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """Rows of a query as dicts, in the order of the query."""
        cursor = self.connection.execute(sql, parameters)
        names = [d[0] for d in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def columns(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> dict[str, np.ndarray]:
        """Columns of a query as numpy arrays: int64 where every value is an integer, else float64 or object."""
        cursor = self.connection.execute(sql, parameters)
        names = [d[0] for d in cursor.description or ()]
        fetched = cursor.fetchall()
        if not fetched:
            return {name: np.empty(0, dtype=np.int64) for name in names}
        return {name: _array(values) for name, values in zip(names, zip(*fetched, strict=True), strict=True)}

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

    def write(self, table: str, rows: pa.Table, process_ids: np.ndarray) -> np.ndarray:
        """Insert ``rows``; ``process_ids`` (n,) are the store's. Returns the ids given, int64 (n,).

        Raises ``ValueError`` where a column is missing, unknown, of another type or empty where it may not be.
        """
        described = TABLES[table]
        body = conform(table, rows)
        count = body.num_rows
        if table not in self._next_id:
            self._next_id[table] = 1 + (self._store.one(f"SELECT max(id) FROM {table}") or 0)
        first = self._next_id[table]
        ids = np.arange(first, first + count, dtype=np.int64)
        self._next_id[table] = first + count
        names = ["id", "run_id", "process_id", *(c.name for c in captured_columns(described))]
        values = [ids.tolist(), [self._run_id] * count, process_ids.tolist(), *(c.to_pylist() for c in body.columns)]
        self._store.connection.executemany(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
            zip(*values, strict=True),
        )
        return ids


def hexadecimal(value: int | None) -> str | None:
    """The unsigned 64-bit reading of a stored id, in hexadecimal; also available in SQL as ``hex64(x)``.

    >>> hexadecimal(-1)
    '0xffffffffffffffff'
    """
    return None if value is None else f"0x{value & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.create_function("hex64", 1, hexadecimal, deterministic=True)


def _refuse_foreign_file(path: Path) -> None:
    if path.is_dir():
        raise BadInput(path, "is a folder, not a store")
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            if file.read(16) != _SQLITE_MAGIC:
                raise BadInput(path, "exists and is not a SQLite file; it is left as it is")
    elif not path.parent.is_dir():
        raise BadInput(path, "the folder for the store does not exist")


def _array(values: tuple[Any, ...]) -> np.ndarray:
    if any(v is None for v in values):
        if all(v is None or isinstance(v, (int, float)) for v in values):
            return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
        return np.array(values, dtype=object)
    if all(type(v) is int for v in values):
        return np.array(values, dtype=np.int64)
    if all(isinstance(v, (int, float)) for v in values):
        return np.array(values, dtype=np.float64)
    return np.array(values, dtype=object)
