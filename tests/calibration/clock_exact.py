"""The narrowest band that holds every possible clock, by another way than ``akvsite.clock``: all pairs, and no sweep.

For a place ``x`` the most that a clock can be ahead is the greatest ``v`` for which some ``s`` meets all of

    v <= u_i + (s + wander)(x - x_i)   for ceilings before x,       lowest <= s <= highest
    v <= u_i - (s - wander)(x_i - x)   for ceilings after x

a linear programme of two variables: the maximum over ``s`` of the least of n lines, which is concave, so that halving the
range of ``s`` by the sign of the least line's slope finds it. The range of ``s`` itself is over all n * m pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akvsite.clock import Constraints

Floats = NDArray[np.float64]
HALVINGS = 70


def slopes(constraints: Constraints, slope_ppm: float, wander_ppm: float) -> tuple[float, float] | None:
    """The range of ``s`` by all pairs, or None where no clock is possible."""
    ux, uy, lx, ly = _relative(constraints)
    run = ux[:, None] - lx[None, :]
    rise = uy[:, None] - ly[None, :]
    if (rise[run == 0] < 0).any():
        return None
    wander = wander_ppm * 1e-6
    later, earlier = run > 0, run < 0
    highest = min(slope_ppm * 1e-6, (rise[later] / run[later]).min(initial=np.inf) + wander)
    lowest = max(-slope_ppm * 1e-6, (rise[earlier] / run[earlier]).max(initial=-np.inf) - wander)
    return (lowest, highest) if lowest <= highest else None


def optimum(
    constraints: Constraints, x: NDArray[np.int64], slope_ppm: float, wander_ppm: float
) -> tuple[Floats, Floats]:
    """The least and the most (n,) that a possible clock is ahead at ``x`` (n,), less the first upper bound."""
    found = slopes(constraints, slope_ppm, wander_ppm)
    assert found is not None
    ux, uy, lx, ly = _relative(constraints)
    at = (x - int(constraints.upper_x[0])).astype(np.float64)
    wander = wander_ppm * 1e-6
    most = _greatest(at[:, None] - ux, uy, wander, *found)
    # Upside down a floor is a ceiling, and rates change sign.
    least = -_greatest(at[:, None] - lx, -ly, wander, -found[1], -found[0])
    return least, most


def _greatest(run: Floats, height: Floats, wander: float, low: float, high: float) -> Floats:
    """For each place (n,): the maximum over ``s`` of the least of the lines ``height + s run + wander |run|``, (n, m)."""
    base = height + wander * np.abs(run)
    lows, highs = np.full(len(run), low), np.full(len(run), high)
    rows = np.arange(len(run))
    for _ in range(HALVINGS):
        s = (lows + highs) / 2
        rising = run[rows, (base + s[:, None] * run).argmin(axis=1)] > 0
        lows, highs = np.where(rising, s, lows), np.where(rising, highs, s)
    return np.maximum((base + lows[:, None] * run).min(axis=1), (base + highs[:, None] * run).min(axis=1))


def _relative(constraints: Constraints) -> tuple[Floats, Floats, Floats, Floats]:
    x, y = int(constraints.upper_x[0]), int(constraints.upper_y[0])
    return (
        (constraints.upper_x - x).astype(np.float64),
        (constraints.upper_y - y).astype(np.float64),
        (constraints.lower_x - x).astype(np.float64),
        (constraints.lower_y - y).astype(np.float64),
    )
