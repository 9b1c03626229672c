"""Real repeats, one left out: twelve runs of one decode loop on one lent H200 host, six a side, level off.

The truth is not known here. What the band of one run holds of the other runs is no coverage of that band: it speaks of
its own run only, and a miss is no fault of it. It shows how far runs of one configuration lie apart, which is why one
run says nothing about its configuration. Neither is a band over five runs a band for a sixth: it speaks of their
long-run middle. By history, a band holds that middle; another run lies further off. So no range is stated; were the
runs normal and alike, the second would hold the sixth run in 68 % and the third in 89 %.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from akvsite import estimators as est
from akvsite.estimate import Estimate

from .cell import Cell

CAPTURES = Path(__file__).parents[2] / "captures"
GRID = "real repeats, one left out"


def cells(quick: bool = False) -> Iterator[Cell]:
    """Percent of trials in which a band holds the statistic of a run that it was not made from."""
    sides = [runs_of(side) for side in "ab"]
    for what in ("mean", "p50", "p95"):
        made = [{name: statistic(steps, what) for name, steps in side.items()} for side in sides]
        yield _cell(f"{what}: band of one run holds another run", [t for side in made for t in _of_one(side)])
        yield _cell(
            f"{what}: band over five runs holds the sixth", [t for side in made for t in _of_five(side)]
        )
        yield _cell(
            f"{what}: one run with the history of four others holds the sixth",
            [t for side in made for t in _by_history(side)],
        )


def runs_of(side: str) -> dict[str, np.ndarray]:
    """Step times in ns after the declared cut, int64 (n,), by the name of the run."""
    found = {}
    for folder in sorted(CAPTURES.glob(f"h200-decode-off-{side}?")):
        cut = tomllib.loads((folder / "capture.toml").read_text())["warm_up_steps"]
        steps = pq.read_table(folder / "steps.parquet", columns=["start_ns", "end_ns"])
        start, end = (steps[name].to_numpy() for name in ("start_ns", "end_ns"))
        found[folder.name] = (end - start)[cut:]
    return found


def statistic(steps: np.ndarray, what: str) -> Estimate:
    if what == "mean":
        return est.mean(steps, unit="ns")
    return est.quantile(steps, {"p50": 0.5, "p95": 0.95}[what], unit="ns")


def holds(band: Estimate, other: Estimate) -> bool:
    assert band.low is not None and band.high is not None and other.value is not None
    return band.low <= other.value <= band.high


def _of_one(side: dict[str, Estimate]) -> Iterator[bool]:
    for band, other in permutations(side.values(), 2):
        yield holds(band, other)


def _of_five(side: dict[str, Estimate]) -> Iterator[bool]:
    for out in side:
        rest = [made.value for name, made in side.items() if name != out]
        yield holds(est.over_runs(np.array(rest, np.float64), unit="ns"), side[out])


def _by_history(side: dict[str, Estimate]) -> Iterator[bool]:
    for this, out in permutations(side, 2):
        others = {name: made for name, made in side.items() if name not in (this, out)}
        also = est.with_history(side[this], others, run=this).also
        assert also is not None
        yield holds(also, side[out])


def _cell(case: str, trials: list[bool]) -> Cell:
    return Cell(GRID, case, 100 * float(np.mean(trials)), None, of=len(trials))
