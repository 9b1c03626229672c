"""Where the methods do not hold, and what they really get there. No range is stated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators as est
from akvsite.estimate import Estimate
from akvsite.estimators._ranks import quantiles

from . import simulate
from .cell import Cell
from .cover import covered
from .quantile_grid import BATCH, FEW, SPIKES, of_one_run
from .requests_grid import of_requests

REPEATS = 4000
GRID = "where the bands do not hold"


def cells(quick: bool = False) -> Iterator[Cell]:
    repeats = BATCH if quick else REPEATS
    for phi in (0.98, 0.99):
        for n in (500, 1000, 2000, 5000):
            yield from of_one_run(GRID, phi, n, "none", (0.5, 0.95), None, repeats)
    for n in FEW:
        for spikes in SPIKES:
            yield from of_one_run(GRID, 0.95, n, spikes, (0.5, 0.95), None, repeats)
    yield from _p99_of_few(repeats)
    yield from _means(repeats)
    yield from _runs_with_two_modes(repeats)
    yield from _one_side_after_the_other(repeats)
    yield from of_requests(GRID, 32, 50, 3.0, 0.8, None, repeats // 2)
    yield from _few_rounds(repeats // 2)


def _p99_of_few(repeats: int) -> Iterator[Cell]:
    """The band that is refused, made all the same."""
    for n in (1000, 2000, 4000):
        rng = np.random.default_rng([20, n])
        rows = simulate.runs(rng, repeats, n, 0.8, "burst")
        bands = quantiles(rows, 0.99, "", 4, "", 0)
        case = f"p99 of one run where it is refused, phi 0.8, n {n}, spikes burst"
        yield Cell(GRID, case, covered(bands, simulate.true_quantile(0.99, "burst")), None, of=repeats)


def _means(repeats: int) -> Iterator[Cell]:
    for n in (200, 300):
        rows = simulate.runs(np.random.default_rng([21, n]), repeats, n, 0.95)
        got = covered(est.mean_rows(rows, unit=""), 0.0)
        yield Cell(GRID, f"mean of one run, phi 0.95, n {n}, spikes none", got, None, of=repeats)
    for n in (500, 1000, 2000, 5000):
        rows = simulate.runs(np.random.default_rng([21, n]), repeats // 2, n, 0.0, "burst")
        bands = est.mean_rows(rows, unit="")
        case = f"mean of one run, phi 0, n {n}, spikes burst"
        yield Cell(GRID, case, covered(bands, simulate.true_mean("burst")), None, of=repeats // 2)


def _runs_with_two_modes(repeats: int) -> Iterator[Cell]:
    for k in (3, 5, 10):
        values = simulate.two_modes(np.random.default_rng([22, k]), repeats, k)
        bands: Iterator[Estimate] = (est.over_runs(row, unit="") for row in values)
        case = f"t over runs with two modes (1 in 5 at +10 %), k {k}"
        yield Cell(GRID, case, covered(bands, simulate.TWO_MODES_MEAN), None, of=repeats)


def _one_side_after_the_other(repeats: int) -> Iterator[Cell]:
    """No order is given, for with it these pairs are refused."""
    pairs = zip(*simulate.abba(np.random.default_rng(23), repeats, "AAAABBBB", 1.0, 0.03), strict=True)
    bands = (est.ratio_of_paired_runs(*pair) for pair in pairs)
    yield Cell(GRID, "ratio of pairs in AAAABBBB, drift 3%", covered(bands, 1.0), None, of=repeats)


def _few_rounds(repeats: int) -> Iterator[Cell]:
    """The rule of requests without its refusal: B = 4 below 2,000 steps is the same band."""
    for rounds, concurrency in ((10, 40), (25, 16)):
        rows = simulate.requests(np.random.default_rng([25, rounds]), repeats, concurrency, rounds, 3.0, 0.8)
        for p in (0.5, 0.95):
            got = covered(est.quantile_rows(rows, p, unit=""), simulate.true_request_quantile(p, 3.0))
            case = f"p{100 * p:.0f} of 400 requests in {rounds} rounds, where it is refused, carried over 0.8"
            yield Cell(GRID, case, got, None, of=repeats)
