"""What others do with the same readings, and this project does not: one anchor, the nearest reading, a straight line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .clock_simulate import EPOCH_NS, Capture, Floats


class Naive(NamedTuple):
    """Worst errors (ns) of one capture, and the share of times at which the line's 95 % interval holds the truth."""

    anchor: float
    nearest: float
    line: float
    line_covers: float


def naive(made: Capture, count: int) -> Naive:
    """Each rule takes the middle of a bracket for the moment of the latch."""
    at, truth = made.times(count)
    device = made.plan.clock.ns_of(made.ticks)
    x, x_at = (device - device[0]).astype(np.float64), (at - device[0]).astype(np.float64)
    ahead = ((made.before - EPOCH_NS - device) + (made.after - made.before) // 2).astype(np.float64)
    cuts = (x[1:] + x[:-1]) / 2
    nearest = ahead[np.searchsorted(cuts, x_at)]
    line, half = straight_line(x, ahead, x_at)
    return Naive(
        worst(ahead[0] - truth),
        worst(nearest - truth),
        worst(line - truth),
        float(np.mean(np.abs(line - truth) <= half)),
    )


def straight_line(x: Floats, y: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Least squares at ``at``, and the half-width of the line's 95 % interval as if errors were independent, normal."""
    centred, from_centre = x - x.mean(), at - x.mean()
    slope = (centred @ (y - y.mean())) / (centred @ centred)
    left = y - y.mean() - slope * centred
    sd = np.sqrt(left @ left / (len(x) - 2))
    return y.mean() + slope * from_centre, 1.96 * sd * np.sqrt(
        1 / len(x) + from_centre**2 / (centred @ centred)
    )


def worst(errors: Floats) -> float:
    return float(np.abs(errors).max())
