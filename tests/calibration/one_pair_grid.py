"""The range of single pairs: how often one more pair of the same kind lies in it, whatever they are distributed like."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators as est

from .cell import Cell
from .cover import covered

REPEATS = 8000


def cells(quick: bool = False) -> Iterator[Cell]:
    repeats = REPEATS // 8 if quick else REPEATS
    for k in (2, 5, 8, 10):
        exact = 100 * (k - 1) / (k + 1)
        noise = 300 * (exact * (100 - exact) / 1e4 / repeats) ** 0.5
        stated = (round(exact - noise, 2), min(100.0, round(exact + noise, 2)))
        for name, draw in (("normal", _normal), ("heavy tails", _heavy), ("two modes", _two_modes)):
            pairs = draw(np.random.default_rng([7, k]), (repeats, k + 1))
            inside = [
                covered([est.one_pair(est.over_runs(row[:k], unit="%"))], float(row[k])) for row in pairs
            ]
            case = f"one more pair within k {k}, {name} (says {exact:.1f} %)"
            yield Cell("one more pair", case, float(np.mean(inside)), stated, of=repeats)


def _normal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(0, 5, shape)


def _heavy(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_t(2, shape)


def _two_modes(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(0, 1, shape) + 20 * (rng.random(shape) < 0.2)
