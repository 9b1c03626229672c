"""The full grid: ``python -m tests.calibration`` prints how often each band contains the truth, in percent.

Seeds are fixed. The exit code is 1 where a cell lies outside the range stated for it; cases in which a method
is known not to hold are printed with the calibration they really get, and have no range.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from akvsite import estimators as est

from . import simulate
from .cover import covered

REPEATS = 4000
BATCH = 500  # rows at once: 500 runs of 5,000 steps are 20 MB
PHIS = (0.0, 0.5, 0.8, 0.95)
COUNTS = (500, 1000, 2000, 5000)
SPIKES: tuple[simulate.Spikes, ...] = ("none", "iid", "burst")


class Cell(NamedTuple):
    case: str
    percent: float
    stated: tuple[float, float] | None

    @property
    def inside(self) -> bool:
        return self.stated is None or self.stated[0] <= self.percent <= self.stated[1]

    def __str__(self) -> str:
        stated = f"{self.stated[0]:.1f} to {self.stated[1]:.1f}" if self.stated else "no range stated"
        return f"{self.case:<58} {self.percent:6.2f}   {stated}{'' if self.inside else '   OUTSIDE'}"


def of_one_run(
    phi: float,
    n: int,
    spikes: simulate.Spikes,
    quantiles: tuple[float, ...],
    stated: tuple[float, float] | None,
) -> Iterator[Cell]:
    """Coverage of quantiles of single runs, in batches that fit into memory."""
    rng = np.random.default_rng([1, round(phi * 100), n, SPIKES.index(spikes)])
    shares: dict[float, list[float]] = {p: [] for p in quantiles}
    for _ in range(REPEATS // BATCH):
        rows = simulate.runs(rng, BATCH, n, phi, spikes)
        for p, seen in shares.items():
            bands = est.quantile_rows(rows, p, unit="")
            seen.append(covered(bands, simulate.true_quantile(p, spikes)))
    for p, seen in shares.items():
        yield Cell(
            f"p{100 * p:.0f} of one run, phi {phi}, n {n}, spikes {spikes}", float(np.mean(seen)), stated
        )


def quantile_grid() -> Iterator[Cell]:
    cells = []
    for phi in PHIS:
        for n in COUNTS:
            for spikes in SPIKES:
                for cell in of_one_run(phi, n, spikes, (0.5, 0.95), (93.0, 98.5)):
                    cells.append(cell)
                    yield cell
    yield Cell("mean over these cells", float(np.mean([cell.percent for cell in cells])), (94.0, 96.5))
    for phi in PHIS:
        for spikes in SPIKES:
            yield from of_one_run(phi, 5000, spikes, (0.99,), (93.0, 100.0))


def known_limits() -> Iterator[Cell]:
    for n in COUNTS:
        yield from of_one_run(0.98, n, "none", (0.5, 0.95), None)
    for n in COUNTS:
        rows = simulate.runs(np.random.default_rng([2, n]), REPEATS // 2, n, 0.0, "burst")
        bands = [est.mean(row, unit="") for row in rows]
        case = f"mean of one run, phi 0, n {n}, spikes burst"
        yield Cell(case, covered(bands, simulate.true_mean("burst")), None)
    for k in (3, 5, 10):
        rng = np.random.default_rng([3, k])
        values = np.where(rng.random((REPEATS, k)) < 0.2, 1.1, 1.0) + 0.005 * rng.standard_normal(
            (REPEATS, k)
        )
        yield Cell(f"two-mode runs (1 in 5 at +10 %), k {k}", over_runs(values, 1.02), None)
    a, b = simulate.abba(np.random.default_rng(4), REPEATS, "AAAABBBB", ratio=1.0, drift=0.03)
    pairs = zip(a, b, strict=True)
    yield Cell(
        "AAAABBBB with 3 % drift", covered((est.ratio_of_paired_runs(*pair) for pair in pairs), 1.0), None
    )


def over_runs(values: simulate.Floats, truth: float) -> float:
    return covered((est.over_runs(row, unit="") for row in values), truth)


def runs_grid() -> Iterator[Cell]:
    for k in (2, 3, 5, 10):
        for between in (0.0, 0.01, 0.03):
            values = simulate.run_statistics(
                np.random.default_rng([5, k, round(between * 100)]), 2 * REPEATS, k, between
            )
            yield Cell(
                f"t over runs, k {k}, between-run sd {between:.0%}", over_runs(values, 1.0), (93.5, 96.5)
            )


def comparison_grid() -> Iterator[Cell]:
    for k in (3, 5, 8, 20):
        for copy, compute, overlap in ((1.0, 2.0, 0.0), (1.0, 2.0, 0.5), (2.0, 1.0, 0.9), (1.0, 1.2, 1.0)):
            rng = np.random.default_rng([6, k, round(10 * overlap)])
            times = simulate.triples(rng, REPEATS, k, copy, compute, overlap)
            case = f"overlap triples, k {k}, copy {copy} compute {compute} truth {overlap}"
            yield Cell(case, covered(map(est.overlap_triples, *times), overlap), (94.0, 98.5))
    for order in ("ABBA" * 2, "ABBABAAB", "ABBA" * 4, "ABBABAAB" * 2):
        for drift in (0.0, 0.03):
            rng = np.random.default_rng([7, len(order), round(drift * 100)])
            pairs = zip(*simulate.abba(rng, REPEATS, order, 1.02, drift), strict=True)
            case = f"pairs in {order}, drift {drift:.0%}"
            yield Cell(case, covered((est.ratio_of_paired_runs(*pair) for pair in pairs), 1.02), (94.0, 98.5))


def main() -> int:
    outside = 0
    print(f"{'case':<58} {'percent':>7}  stated")
    for grid in (quantile_grid, runs_grid, comparison_grid, known_limits):
        for cell in grid():
            print(cell, flush=True)
            outside += not cell.inside
    print(f"{outside} cells outside their range")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
