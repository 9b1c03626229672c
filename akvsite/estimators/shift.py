"""How far each decile of one side lies from that of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from akvsite.estimate import Estimate, unknown
from akvsite.estimators._bounds import mover, over_units
from akvsite.estimators._ranks import rank_of, ranks_of
from akvsite.estimators._rules import percentile, steady, terms_for, too_few
from akvsite.estimators._samples import Series, exact_difference, side_runs

DECILES = tuple(tenth / 10 for tenth in range(1, 10))


def decile_shift(
    a: ArrayLike | Sequence[ArrayLike], b: ArrayLike | Sequence[ArrayLike], *, unit: str
) -> dict[float, Estimate]:
    """How far each decile of B lies from that of A: nine differences ``B - A``, keyed 0.1 to 0.9.

    One run a side (one series each): both deciles' bands by the rule of ``quantile``, joined by MOVER. k runs
    a side (k series each, pair by pair): t with k - 1 degrees on the pairs' differences, which assumes
    interleaved pairs. Each of the nine holds 1 - 0.05 / 9, so that all nine hold at once with at least 95 %
    (Bonferroni), however they depend on each other. No bands where a lone run has n < 200 or the sides have
    unlike numbers of runs. Source of the shift function: Doksum, Annals of Statistics 2, 1974; Wilcox,
    The Statistician 44, 1995 for deciles; Dunn, JASA 56, 1961 for holding all at once by the bound of Bonferroni.
    """
    sides = [side_runs(a), side_runs(b)]
    if not all(len(side) and all(len(run) for run in side) for side in sides):
        return {p: unknown("no samples", unit) for p in DECILES}
    each = 1 - 0.05 / len(DECILES)
    if len(sides[0]) == len(sides[1]) == 1:
        return {p: _shift_of_two(sides[0][0], sides[1][0], p, unit, each) for p in DECILES}
    return {p: _shift_of_pairs(sides[0], sides[1], p, unit, each) for p in DECILES}


def _shift_of_two(a: Series, b: Series, p: float, unit: str, confidence: float) -> Estimate:
    sides = [ranks_of(run[None, :], p, terms_for(len(run), p), confidence).ends(0) for run in (a, b)]
    terms = " and ".join(str(terms_for(len(run), p)) for run in (a, b))
    value, low, high = mover(sides[0], sides[1])
    made = Estimate(
        value,
        low,
        high,
        min(len(a), len(b)),
        unit,
        f"shift of {percentile(p)}: order statistics, EWC B={terms}, MOVER, Bonferroni over 9",
        scope="these two runs only, nine deciles at once; between runs: unknown (1 run a side)",
        assumes=steady(min(len(a), len(b))),
    )
    why = too_few(min(len(a), len(b)), p)
    return replace(made, low=None, high=None, refusal=why) if why else made


def _shift_of_pairs(a: list[Series], b: list[Series], p: float, unit: str, confidence: float) -> Estimate:
    at = [np.array([np.sort(run)[rank_of(len(run), p) - 1] for run in side]) for side in (a, b)]
    method = f"differences of pairs' {percentile(p)}"
    if len(a) != len(b):
        value = float(at[1].mean()) - float(at[0].mean())
        why = f"{len(a)} runs against {len(b)} are not pairs"
        return Estimate(value, None, None, min(len(a), len(b)), unit, method, refusal=why)
    made = over_units(
        exact_difference(at[0], at[1]).astype(np.float64), unit, False, "pair", method, confidence
    )
    return replace(
        made,
        confidence=0.95,
        method=f"{made.method}, Bonferroni over 9",
        scope=f"{made.scope}, nine deciles at once",
        assumes="pairs interleaved and independent",
    )
