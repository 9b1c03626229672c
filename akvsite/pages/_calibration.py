"""How often the bands really held: the results of ``make calibration``, kept beside the pages that show them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import akvsite

RESULTS = Path(__file__).with_name("calibration.json")


@dataclass(frozen=True)
class Row:
    """One case: ``got`` in ``unit``, of how many trials (0: no share), and the range stated for it, if any."""

    case: str
    got: float
    unit: str
    of: int
    stated: tuple[float, float] | None

    @property
    def inside(self) -> bool:
        return self.stated is None or self.stated[0] <= self.got <= self.stated[1]


@dataclass(frozen=True)
class Table:
    """The rows of one grid, when they were made and whether of the sources as they are now."""

    title: str
    date: str
    numpy: str
    #: The package that the rows speak of: ``estimators`` or ``clock``.
    rests_on: str
    of_these_sources: bool
    rows: tuple[Row, ...]


def sources_digest(package: str) -> str:
    """SHA-256 over the names and bytes of the Python files of ``akvsite/<package>/``."""
    root = Path(akvsite.__file__).parent / package
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def tables(results: Path = RESULTS) -> list[Table]:
    """The kept results, a table a title, in the order in which they were written. None kept: no tables."""
    if not results.is_file():
        return []
    made: dict[tuple[str, str], Table] = {}
    for grid in json.loads(results.read_text(encoding="utf-8"))["grids"].values():
        fresh = grid["sources"] == sources_digest(grid["rests_on"])
        for title in dict.fromkeys(cell["grid"] for cell in grid["cells"]):
            rows = tuple(_row(cell) for cell in grid["cells"] if cell["grid"] == title)
            key = title, grid["rests_on"]
            rows = made[key].rows + rows if key in made else rows
            fresh_so_far = fresh and (key not in made or made[key].of_these_sources)
            date = min(grid["date"], made[key].date) if key in made else grid["date"]
            made[key] = Table(title, date, grid["numpy"], grid["rests_on"], fresh_so_far, rows)
    return list(made.values())


def _row(cell: dict[str, Any]) -> Row:
    stated = None if cell["low"] is None else (cell["low"], cell["high"])
    return Row(cell["case"], cell["got"], cell["unit"], cell["of"], stated)
