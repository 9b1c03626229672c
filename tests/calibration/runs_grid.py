"""One statistic a run, over runs of one configuration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators as est

from . import simulate
from .cell import Cell
from .cover import covered

REPEATS = 8000
STATED = (93.5, 96.5)


def cells(quick: bool = False) -> Iterator[Cell]:
    repeats = REPEATS // 8 if quick else REPEATS
    for k in (2, 3, 5, 10):
        for between in (0.0, 0.01, 0.03):
            rng = np.random.default_rng([5, k, round(between * 100)])
            values = simulate.run_statistics(rng, repeats, k, between)
            for log in (False, True):
                case = f"t over runs{' (logs)' if log else ''}, k {k}, between-run sd {between:.0%}"
                bands = (est.over_runs(row, unit="ratio", log=log) for row in values)
                # The middle of the logs of values around 1 is the log of their median, which is 1 but for the spread.
                yield Cell("runs", case, covered(bands, 1.0), STATED, of=repeats)
    for k in (6, 10):
        values = simulate.run_statistics(np.random.default_rng([6, k]), repeats, k, 0.03)
        exact = 100 * (1 - 2.0 ** (1 - k))
        noise = 300 * (exact * (100 - exact) / 1e4 / repeats) ** 0.5
        stated = (round(exact - noise, 2), min(100.0, round(exact + noise, 2)))
        bands = (est.median_run(row, unit="ms") for row in values)
        case = f"median run, [min, max], k {k} (says {exact:.1f} %)"
        yield Cell("runs", case, covered(bands, 1.0), stated, of=repeats)
