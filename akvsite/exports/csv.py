"""A folder of CSV files, one for each kind of rows: UTF-8, and no text that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from akvsite.escape import csv_cell
from akvsite.exports._folder import write_about
from akvsite.exports._rows import ROWS, TEXT, Source, columns
from akvsite.wording import number_of

ENDING = "-csv"
ABOUT = "a folder of CSV files, one for each kind of rows"
NEXT = "its about.json says what each column holds; any reader of CSV opens the rest"


def write(source: Source, out: Path, progress: Callable[[str], None]) -> dict[str, int]:
    """Fill the folder ``out``, which does not exist yet; rows by file.

    Where a retraction stands over the run, each row says so in a last column ``retracted``, as a chart's CSV file does.
    """
    out.mkdir()
    stamp = [csv_cell("; ".join(source.retractions()))] if source.retractions() else []
    written = {}
    for kind in ROWS:
        names = columns(kind)
        texts = [at for at, name in enumerate(names) if name in TEXT]
        count = 0
        with (out / f"{kind.name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*names, *(["retracted"] if stamp else [])])
            for batch in source.rows(kind):
                writer.writerows([*_defused(row, texts), *stamp] for row in batch)
                count += len(batch)
                progress(f"{kind.name}: {number_of(count, 'row')}")
        written[kind.name] = count
    write_about(source, out, written)
    return written


def _defused(row: tuple[Any, ...], texts: list[int]) -> list[Any]:
    cells = list(row)
    for at in texts:
        cells[at] = _cell(cells[at])
    return cells


@lru_cache(maxsize=10_000)
def _cell(text: Any) -> Any:
    return csv_cell(text)
