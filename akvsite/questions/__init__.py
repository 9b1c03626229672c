"""Questions: one ``.sql`` file each. Its header is the caption and the column docs; its query becomes a view.

A header is a comment: the first paragraph is the caption (one sentence that says what is asked), any further
paragraphs say how it is answered, and a line ``-- @column  what it holds, unit`` stands for each column. Files whose
name begins with an underscore are helpers: views that other questions use, documented the same way.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

_COLUMN = re.compile(r"@(\w+)\s+(.+)")


@dataclass(frozen=True)
class Question:
    """One question: its name (the view's), caption, method, columns and SQL."""

    name: str
    caption: str
    method: str
    columns: dict[str, str]
    sql: str
    text: str

    @property
    def helper(self) -> bool:
        return self.name.startswith("_")


def parse(name: str, text: str) -> Question:
    """Read one file. Raises ``ValueError`` where the header does not say what it must."""
    header: list[str] = []
    lines = text.splitlines()
    while lines and lines[0].startswith("--"):
        header.append(lines.pop(0).removeprefix("--").strip())
    paragraphs: list[str] = []
    columns: dict[str, str] = {}
    paragraph: list[str] = []
    for line in [*header, ""]:
        match = _COLUMN.match(line)
        if match:
            columns[match[1]] = match[2]
        elif line:
            paragraph.append(line)
        elif paragraph:
            paragraphs.append(" ".join(paragraph))
            paragraph = []
    sql = "\n".join(lines).strip().rstrip(";")
    if not paragraphs or not columns or not sql:
        raise ValueError(f"question {name}: needs a caption, a line for each column, and a query")
    return Question(name, paragraphs[0], " ".join(paragraphs[1:]), columns, sql, text)


@cache
def questions() -> dict[str, Question]:
    """All questions by name."""
    found = {}
    for file in sorted(resources.files(__name__).iterdir(), key=lambda f: f.name):
        if file.name.endswith(".sql"):
            name = file.name.removesuffix(".sql")
            found[name] = parse(name, file.read_text(encoding="utf-8"))
    return found


def statements(connection: sqlite3.Connection) -> Iterator[str]:
    """What makes the views of this store equal to the questions; nothing where they are already."""
    wanted = {q.name: f"CREATE VIEW {q.name} AS\n{q.sql}" for q in questions().values()}
    present = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'"))
    if present == wanted:
        return
    for name in present:
        yield f"DROP VIEW {name}"
    yield from wanted.values()
