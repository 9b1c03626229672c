"""Means of one run: mean, throughput, paired steps, and the remainder of a budget."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators as est

from . import simulate
from .cell import Cell
from .cover import covered

REPEATS, BATCH = 4000, 500
STATED = (93.0, 98.5)
MIDDLE = 20.0


def cells(quick: bool = False) -> Iterator[Cell]:
    repeats = BATCH if quick else REPEATS
    for phi in (0.0, 0.5, 0.8, 0.95):
        for n in (200, 500, 1000, 2000, 5000):
            if n >= 500 or phi <= 0.8:  # what the band says that it assumes
                yield from of_one_run(phi, n, repeats)


def of_one_run(phi: float, n: int, repeats: int) -> Iterator[Cell]:
    """One cell a quantity. Regions take a part of each step, and what they leave is a series of its own."""
    rng = np.random.default_rng([2, round(phi * 100), n])
    seen: dict[str, list[float]] = {}
    for _ in range(repeats // BATCH):
        a, b = (MIDDLE + simulate.runs(rng, BATCH, n, phi) for _ in range(2))
        spiked = MIDDLE + simulate.runs(rng, BATCH, n, phi, "iid")
        rest = simulate.runs(rng, BATCH, n, phi) - 0.5
        regions = [{"launch": x, "wait": y} for x, y in zip(a, b, strict=True)]
        totals = a + b + rest
        for what, bands, truth in (
            ("mean", est.mean_rows(a, unit="ms"), MIDDLE),
            ("mean, single spikes", est.mean_rows(spiked, unit="ms"), MIDDLE + simulate.true_mean("iid")),
            ("throughput", est.throughput_rows(a, time_unit="ms"), 1000 / MIDDLE),
            (
                "paired steps",
                [est.paired_steps(x, y, unit="ms") for x, y in zip(a, b + 0.5, strict=True)],
                0.5,
            ),
            (
                "remainder of a budget, below 0",
                [
                    est.budget(parts, total, unit="ms")[est.UNATTRIBUTED]
                    for parts, total in zip(regions, totals, strict=True)
                ],
                -0.5,
            ),
        ):
            seen.setdefault(what, []).append(covered(bands, truth))
    for what, shares in seen.items():
        yield Cell("means", f"{what}, phi {phi}, n {n}", float(np.mean(shares)), STATED, of=repeats)
