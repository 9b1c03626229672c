"""The full grids: ``python -m tests.calibration`` prints how often each band contains the truth, in percent.

Seeds are fixed. The exit code is 1 where a cell lies outside the range stated for it; cases in which a method is known
not to hold are printed with what they really get, and have no range. ``--write`` keeps the results for the Method page.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import inspect
import json
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from akvsite.pages._calibration import RESULTS, sources_digest

from . import __path__ as folder
from .cell import Cell

#: Grids that take longest go first, so that they do not end alone.
LONG = ("clock", "quantile", "mean", "comparison")


def grids() -> list[str]:
    """Every ``NAME_grid.py`` beside this file."""
    names = [m.name.removesuffix("_grid") for m in pkgutil.iter_modules(folder) if m.name.endswith("_grid")]
    return sorted(names, key=lambda name: (name not in LONG, LONG.index(name) if name in LONG else 0, name))


def cells_of(name: str, quick: bool) -> list[Cell]:
    cells: Callable[..., Iterable[Cell]] = importlib.import_module(f"{__package__}.{name}_grid").cells
    return list(cells(quick) if "quick" in inspect.signature(cells).parameters else cells())


def rests_on(name: str) -> str:
    """The package of akvsite whose sources the results of a grid belong to."""
    return "clock" if name == "clock" else "estimators"


def written(made: dict[str, list[Cell]], digests: dict[str, str], kept: str | None) -> str:
    """The results as JSON; those of grids that were not run now stay as they were."""
    results = json.loads(kept)["grids"] if kept else {}
    for name, cells in made.items():
        results[name] = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "numpy": np.__version__,
            "rests_on": rests_on(name),
            "sources": digests[rests_on(name)],
            "cells": [
                {
                    "grid": cell.grid,
                    "case": cell.case,
                    "got": round(float(cell.got), 4),
                    "low": cell.stated[0] if cell.stated else None,
                    "high": cell.stated[1] if cell.stated else None,
                    "unit": cell.unit,
                    "of": cell.of,
                }
                for cell in cells
            ],
        }
    return json.dumps({"grids": dict(sorted(results.items()))}, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    known = grids()
    asked = argparse.ArgumentParser(prog="python -m tests.calibration", description=__doc__)
    asked.add_argument("--only", action="append", choices=known, metavar="GRID", help=", ".join(known))
    asked.add_argument("--quick", action="store_true", help="few trials: a cell may lie outside by chance")
    asked.add_argument("--write", action="store_true", help=f"keep the results in {RESULTS.name}")
    given = asked.parse_args()
    if given.quick and given.write:
        asked.error("--write keeps results of full grids, not of --quick ones")
    names = given.only or known
    # Of the sources as they are now, before the grids run: a change meanwhile must not look calibrated.
    digests = {package: sources_digest(package) for package in {rests_on(name) for name in names}}
    made: dict[str, list[Cell]] = {}
    print(f"{'case':<72} {'got':>12}   stated")
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        running = {name: pool.submit(cells_of, name, given.quick) for name in names}
        for name, cells in running.items():
            made[name] = cells.result()
            print(f"-- {name}", *made[name], sep="\n", flush=True)
    outside = sum(not cell.inside for cells in made.values() for cell in cells)
    print(f"{outside} of {sum(map(len, made.values()))} cells outside their range")
    if given.write:
        kept = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else None
        RESULTS.write_text(written(made, digests, kept), encoding="utf-8")
        print(f"written to {RESULTS.name}")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
