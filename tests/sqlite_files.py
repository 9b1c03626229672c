"""SQLite files for tests, kept as their SQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def made(path: Path, sql: str) -> Path:
    """An SQLite file at ``path`` that holds what the statements say."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(sql)
    return path
