"""Quantiles of one run: how often the band holds the true quantile, over correlation, length and spikes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators as est

from . import simulate
from .cell import Cell
from .cover import covered

REPEATS = 4000
BATCH = 500  # rows at once: 500 runs of 5,000 steps are 20 MB
PHIS = (0.0, 0.5, 0.8, 0.95)
COUNTS = (500, 1000, 2000, 5000)
FEW = (200, 300)  # where the band says that it assumes phi <= 0.8
SPIKES: tuple[simulate.Spikes, ...] = ("none", "iid", "burst")
STATED = (93.0, 98.5)


def cells(quick: bool = False) -> Iterator[Cell]:
    repeats = BATCH if quick else REPEATS
    main = []
    for phi in PHIS:
        for n in COUNTS:
            for spikes in SPIKES:
                for cell in of_one_run("quantiles", phi, n, spikes, (0.5, 0.95), STATED, repeats):
                    main.append(cell)
                    yield cell
    everywhere = float(np.mean([cell.got for cell in main]))
    yield Cell("quantiles", f"mean over these {len(main)} cells", everywhere, (94.0, 96.5))
    for phi in (0.0, 0.5, 0.8):
        for n in FEW:
            for spikes in SPIKES:
                yield from of_one_run("quantiles of few steps", phi, n, spikes, (0.5, 0.95), STATED, repeats)
    for phi in PHIS:
        for spikes in SPIKES:
            yield from of_one_run("p99", phi, 5000, spikes, (0.99,), (93.0, 100.0), repeats)


def of_one_run(
    grid: str,
    phi: float,
    n: int,
    spikes: simulate.Spikes,
    quantiles: tuple[float, ...],
    stated: tuple[float, float] | None,
    repeats: int,
) -> Iterator[Cell]:
    """Coverage of quantiles of single runs, in batches that fit into memory."""
    rng = np.random.default_rng([1, round(phi * 100), n, SPIKES.index(spikes)])
    shares: dict[float, list[float]] = {p: [] for p in quantiles}
    for _ in range(repeats // BATCH):
        rows = simulate.runs(rng, BATCH, n, phi, spikes)
        for p, seen in shares.items():
            bands = est.quantile_rows(rows, p, unit="")
            seen.append(covered(bands, simulate.true_quantile(p, spikes)))
    for p, seen in shares.items():
        case = f"p{100 * p:.0f} of one run, phi {phi}, n {n}, spikes {spikes}"
        yield Cell(grid, case, float(np.mean(seen)), stated, of=repeats)
