"""The schema: every table and column, out of the dataclasses that make them."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page
from akvsite.pages._html import Cell, prose, table


def write(desk: Desk) -> Iterator[Page]:
    parts = [
        "# Schema\n\nOne SQLite file, STRICT tables, foreign keys on. Times are integer nanoseconds on the capture's own axis. "
        "64-bit ids are kept as two's complement; `hex64(id)` shows their unsigned value. NULL means unknown, never 0.\n"
    ]
    for described in desk.documents()["tables"].values():
        parts.append(f"\n## `{described.name}` {{ #{described.name} }}\n\n{described.about}\n")
        parts.append(
            table(
                ["column", "type", "unit", "may be NULL", "what it holds"],
                [
                    [
                        c.name,
                        c.sql_type + (", 64-bit id" if c.unsigned else ""),
                        c.unit or "",
                        "yes" if c.nullable else "no",
                        Cell(prose(c.about)),
                    ]
                    for c in described.columns
                ],
            )
        )
    yield Page("schema", "\n".join(parts))
