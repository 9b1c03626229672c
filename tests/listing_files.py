"""A listing's files read back in Python as the browser's script reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from akvsite import listings

Files = dict[str, str]


def written(
    columns: Sequence[listings.Column], rows: Sequence[tuple[Any, ...]], batch: int = listings.PIECE_ROWS
) -> tuple[listings.Listing, Files]:
    """The listing of ``rows`` and its files by name: each row its own id and a value for each column."""
    files: Files = {}
    batches = [rows[at : at + batch] for at in range(0, len(rows), batch)]
    made = listings.write("x", "Which rows?", columns, batches, files.__setitem__)
    return made, files


def index(files: Mapping[str, str]) -> dict[str, Any]:
    called = re.fullmatch(r"akvListing\((.*)\);\n", files["x/index.js"], re.DOTALL)
    assert called
    told: dict[str, Any] = json.loads(called[1])
    return told


def read(files: Mapping[str, str]) -> dict[str, list[Any]]:
    """Every value of every column, in order; whole numbers beyond those that a browser holds exactly are texts."""
    told = index(files)
    found: dict[str, list[Any]] = {column["name"]: [] for column in told["columns"]}
    for number, rows in enumerate(told["pieces"]):
        called = re.fullmatch(rf"akvPiece\({number},(.*)\);\n", files[f"x/{number}.js"], re.DOTALL)
        assert called
        piece = json.loads(called[1])
        for name, values in found.items():
            values += _decoded(piece[name], rows)
    return found


def _decoded(column: dict[str, Any], rows: int) -> list[Any]:
    if "c" in column:
        values = [column["c"]] * rows
    elif "t" in column:
        values = [None if at is None else column["t"][at] for at in column["i"]]
    elif "d" in column:
        last, values = 0, []
        for step in column["d"]:
            # Numbers of a browser are floats, and each of these is added as one.
            last = last if step is None else int(float(last) + float(step))
            values.append(None if step is None else last)
    else:
        values = column["v"]
    for at, text in column.get("raw", {}).items():
        values[int(at)] = text
    return list(values)
