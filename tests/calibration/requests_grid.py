"""TTFT and TPOT over requests of one run: those in flight together share their waiting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators as est

from . import simulate
from .cell import Cell
from .cover import covered

REPEATS = 2000
BATCH = 250
GRID, STATED = "requests", (93.0, 98.5)


def cells(quick: bool = False) -> Iterator[Cell]:
    repeats = BATCH if quick else REPEATS
    for concurrency in (4, 32):
        for rounds in (50, 100, 200):
            for shared in (1.0, 3.0):
                yield from of_requests(GRID, concurrency, rounds, shared, 0.0, STATED, repeats)
            yield from of_requests(GRID, concurrency, rounds, 3.0, 0.5, STATED, repeats)


def of_requests(
    grid: str,
    concurrency: int,
    rounds: int,
    shared: float,
    carried: float,
    stated: tuple[float, float] | None,
    repeats: int,
) -> Iterator[Cell]:
    """``shared`` is the sd of a round's waiting beside 1 of each request; ``carried`` its phi from round to round."""
    rng = np.random.default_rng([15, concurrency, rounds, round(10 * shared), round(100 * carried)])
    seen: dict[float, list[float]] = {0.5: [], 0.95: []}
    for _ in range(repeats // BATCH):
        rows = simulate.requests(rng, BATCH, concurrency, rounds, shared, carried)
        for p, shares in seen.items():
            bands = [est.request_quantile(row, p, unit="ms", concurrency=concurrency) for row in rows]
            shares.append(covered(bands, simulate.true_request_quantile(p, shared)))
    for p, shares in seen.items():
        waits = f"waiting {shared:g} to 1" + (f", carried over {carried}" if carried else "")
        case = f"p{100 * p:.0f}, concurrency {concurrency}, {rounds} rounds, {waits}"
        yield Cell(grid, case, float(np.mean(shares)), stated, of=repeats)
