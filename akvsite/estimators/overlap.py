"""Overlap of copy and compute, from the wall clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from akvsite.estimate import Estimate, unknown
from akvsite.estimators._bounds import over_units
from akvsite.estimators._samples import dots_of, one_series


def overlap_triples(copy_alone: ArrayLike, compute_alone: ArrayLike, both: ArrayLike) -> Estimate:
    """Overlap from wall clock: f = (Tc + Tk - Tb) / min(Tc, Tk) over k interleaved triples.

    Times above 0, in any one unit. The band is t with k - 1 degrees on the linearised triples z = f_c Tc +
    f_k Tk - Tb / min(Tc, Tk) (delta method; f_c, f_k the slopes of f at the means). f is 0 where they take
    turns and 1 where the shorter hides wholly; it is never clipped, since at a truth of 1 half of all
    estimates exceed it. Assumes that triples are interleaved and independent, and that
    their noise is small beside their times. Source: the
    delta method for ratios (Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 6).
    """
    sides = [one_series(side).astype(np.float64) for side in (copy_alone, compute_alone, both)]
    if len({len(side) for side in sides}) != 1:
        raise ValueError("a triple has three times")
    if any((side <= 0).any() for side in sides):
        raise ValueError("times of a triple are above 0")
    unit = "fraction of the shorter"
    if not len(sides[0]):
        return unknown("no triples", unit)
    c, k, b = (float(side.mean()) for side in sides)
    shorter = min(c, k)
    slope_c, slope_k = ((b - k) / c**2, 1 / c) if c < k else (1 / k, (b - c) / k**2)
    line = slope_c * sides[0] + slope_k * sides[1] - sides[2] / shorter
    each = (sides[0] + sides[1] - sides[2]) / np.minimum(sides[0], sides[1])
    made = over_units(line, unit, False, "triple", "linearised triples")
    value = (c + k - b) / shorter
    made = replace(made, value=value, dots=dots_of(each), assumes="triples interleaved and independent")
    if made.low is None or made.high is None:
        return made
    half = (
        made.high - made.low
    ) / 2  # the line is tangent at the means: its own mean is not f, its spread is
    return replace(made, low=value - half, high=value + half)
