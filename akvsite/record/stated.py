"""What a command states of itself: ``facts.json`` in ``$AKV_FILES``, which becomes facts of the capture.

    {"contract": {"output_hash": "9f86d081…"}, "engine": {"operators": "rms_norm"}, "software": {}, "device": {}}

An object of tables of plain values. What the launcher knows itself is not overruled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from akvsite.errors import BadInput, visible
from akvsite.record.clean import Facts, Value, clean
from akvsite.record.plain import read_plain

NAME = "facts.json"
#: Its tables, and the part of the capture that each belongs to; ``engine`` is a table of the part ``capture``.
TABLES = ("contract", "software", "device", "engine")
MOST_BYTES = 1 << 16
_LONGEST_KEY = 100


@dataclass
class Stated:
    """The tables, and one line for what was left out."""

    tables: dict[str, dict[str, Value]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def under(self, table: str, own: Facts) -> Facts:
        """The table with ``own`` over it; where both say something and not the same, a line."""
        stated = self.tables.get(table, {})
        for key, value in stated.items():
            if key in own and own[key] != value:
                self.left_out.append(
                    f"{NAME}: {table}.{clean(key)} is {clean(str(value))} there, and known otherwise"
                )
        return {**stated, **own}


def take(folder: Path) -> Stated:
    """Read the file, and take it away: its facts stand in the declaration."""
    path = folder / NAME
    if not path.exists() and not path.is_symlink():
        return Stated()
    made = Stated()
    try:
        text = read_plain(path, MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise BadInput(NAME, f"more than {MOST_BYTES:,} bytes of facts")
        made.tables = _tables(json.loads(text))
    except (BadInput, OSError, ValueError, RecursionError) as error:
        why = error.why if isinstance(error, BadInput) else visible(error)
        made.left_out.append(f"{NAME}: its facts are missing: {clean(why)}")
    path.unlink(missing_ok=True)
    return made


def _tables(found: object) -> dict[str, dict[str, Value]]:
    if not isinstance(found, dict):
        raise BadInput(NAME, "is no object of tables")
    made: dict[str, dict[str, Value]] = {}
    for name, table in found.items():
        if name not in TABLES:
            raise BadInput(NAME, f"has a table {name!r}; known are {', '.join(TABLES)}")
        if not isinstance(table, dict):
            raise BadInput(NAME, f"{name} is no table")
        for key, value in table.items():
            if not key.strip() or len(key) > _LONGEST_KEY:
                raise BadInput(
                    NAME, f"{name} has a key that is empty or longer than {_LONGEST_KEY} characters"
                )
            if not isinstance(value, (str, int, float, bool)) or (
                isinstance(value, int) and abs(value) >= 2**63
            ):
                raise BadInput(NAME, f"{name}.{key} is no plain value")
            if isinstance(value, float) and not abs(value) < float("inf"):
                raise BadInput(NAME, f"{name}.{key} is no finite number")
        made[name] = table
    return made
