"""One run with the history of others: how often the second band holds the configuration's long-run value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators as est
from akvsite.estimate import Estimate

from . import simulate
from .cell import Cell
from .cover import covered

REPEATS = 8000
STEPS_REPEATS = 2000
STATED = (93.5, 96.5)


def cells(quick: bool = False) -> Iterator[Cell]:
    less = 8 if quick else 1
    for k in (2, 3, 5, 10):
        for between in (0.0, 0.01, 0.03):
            rng = np.random.default_rng([7, k, round(between * 100)])
            values = simulate.run_statistics(rng, REPEATS // less, k + 1, between)
            case = f"history of {k} runs, between-run sd {between:.0%}, within 1%"
            yield Cell("history", case, covered(by_history(values), 1.0), STATED, of=len(values))
    rng = np.random.default_rng([7, 99])
    values = np.exp(simulate.run_statistics(rng, REPEATS // less, 6, 0.3, 0.05) - 1)
    case = "history of 5 runs (logs), runs differ by a factor of 1.3"
    yield Cell("history", case, covered(by_history(values, log=True), 1.0), STATED, of=len(values))
    for k in (3, 5, 10):
        yield from _from_steps(k, STEPS_REPEATS // less)
    archived = simulate.run_statistics(np.random.default_rng([8, 1]), REPEATS // less, 5, 0.01, 0.005)
    this = simulate.run_statistics(np.random.default_rng([8, 2]), REPEATS // less, 1, 0.01, 0.01)
    case = "history of 5 runs four times as long as this one, between 1%, within 1%"
    got = covered(by_history(np.hstack([this, archived])), 1.0)
    yield Cell("where the bands do not hold", case, got, None, of=len(this))


def by_history(values: simulate.Floats, *, log: bool = False) -> Iterator[Estimate]:
    """(repeats, 1 + k) statistics: the first is this run's, the others are archived, at another level."""
    for line in values:
        this, *archived = (of_run(value) for value in line)
        moved = {f"r{n}": of_run((one.value or 0) * 1.1) for n, one in enumerate(archived)} if log else {
            f"r{n}": of_run((one.value or 0) + 0.1) for n, one in enumerate(archived)
        }  # fmt: skip
        also = est.with_history(this, moved, run="this", log=log).also
        assert also is not None
        yield also


def of_run(value: float) -> Estimate:
    return Estimate(value, value, value, 1000, "ms", "one statistic")


def _from_steps(k: int, repeats: int) -> Iterator[Cell]:
    """The whole way: runs of 500 steps in bursts, each at a level of its own, p50 of each, history."""
    rng = np.random.default_rng([9, k])
    level = 0.5 * rng.standard_normal((repeats * (k + 1), 1))
    rows = level + simulate.runs(rng, repeats * (k + 1), 500, 0.8, "burst")
    middles = np.array([made.value for made in est.quantile_rows(rows, 0.5, unit="ms")])
    bands = by_history(middles.reshape(repeats, k + 1))
    case = f"history of {k} runs from their steps (p50, phi 0.8, bursts)"
    yield Cell("history", case, covered(bands, simulate.true_quantile(0.5, "burst")), STATED, of=repeats)
