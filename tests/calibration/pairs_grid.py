"""Overlap from triples, and pairs of runs in ABBA blocks while the host drifts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators as est

from . import simulate
from .cell import Cell
from .cover import covered

REPEATS = 4000
STATED = (94.0, 98.5)


def cells(quick: bool = False) -> Iterator[Cell]:
    repeats = REPEATS // 8 if quick else REPEATS
    for k in (3, 5, 8, 20):
        for copy, compute, overlap in (
            (1.0, 2.0, 0.0),
            (1.0, 2.0, 0.5),
            (2.0, 1.0, 0.9),
            (1.0, 1.2, 1.0),
            (1.0, 1.0, 0.5),
        ):
            rng = np.random.default_rng([10, k, round(10 * overlap), round(10 * compute)])
            times = simulate.triples(rng, repeats, k, copy, compute, overlap)
            case = f"overlap triples, k {k}, copy {copy} compute {compute} truth {overlap}"
            yield Cell("pairs", case, covered(map(est.overlap_triples, *times), overlap), STATED, of=repeats)
    for order in ("ABBA" * 2, "ABBABAAB", "ABBA" * 4, "ABBABAAB" * 2):
        for drift in (0.0, 0.03):
            rng = np.random.default_rng([11, len(order), order.count("AA"), round(drift * 100)])
            pairs = zip(*simulate.abba(rng, repeats, order, 1.02, drift), strict=True)
            bands = (est.ratio_of_paired_runs(*pair, order=order) for pair in pairs)
            case = f"ratio of pairs in {order}, drift {drift:.0%}"
            yield Cell("pairs", case, covered(bands, 1.02), STATED, of=repeats)
