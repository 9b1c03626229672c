"""By which constants one set of constraints may be shifted and still agree with another: the ends of a polygon.

For a rate around ``s``, floors shifted by ``c`` agree with ceilings if ``c`` is at most ``gap(s)``, the least of
``u - l - s (z - x) + wander |z - x|`` over all pairs of a floor ``(x, l)`` and a ceiling ``(z, u)``: a minimum of lines in
``s``, so concave. Each value takes two passes, and comes with the slope of the line that it lies on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from akvsite.clock._sweep import Pairs, Points

#: A concave function of ``s``: its value, and the slope of a line that touches it there and is nowhere below it.
Concave = Callable[[float], tuple[float, float]]
#: Shifts nearer to each other than this are one, ns: it stops a search, always outside of the true range.
NEAR_NS = 1e-6


@dataclass(frozen=True, eq=False)
class Gap:
    """``gap(s)`` of floors that are shifted and ceilings that are not; ``inf`` where either is missing."""

    later: Pairs
    earlier: Pairs
    wander: float

    @classmethod
    def of(cls, floor: Points, ceiling: Points, wander: float) -> Gap:
        later = Pairs.of(floor, ceiling, also_at_one_place=True)
        earlier = Pairs.of(floor.mirrored(), ceiling.mirrored(), also_at_one_place=True)
        return cls(later, earlier, wander)

    def __call__(self, s: float) -> tuple[float, float]:
        least, slope = math.inf, 0.0
        # A ceiling before a floor is one after it in reversed time, where rates have the other sign.
        for pairs, sign in ((self.later, 1), (self.earlier, -1)):
            if len(pairs.ceiling):
                slack, _, run = pairs.least_slack(sign * s - self.wander)
                if slack < least:
                    least, slope = slack, -sign * run
        return least, slope


def most_and_least(up: Gap, down: Gap, lowest: float, highest: float) -> tuple[float, float] | None:
    """The range of ``c`` with ``-down(s) <= c <= up(s)`` for some ``s`` in the range, or None where there is none."""

    def room(s: float) -> tuple[float, float]:
        (a, slope_a), (b, slope_b) = up(s), down(s)
        return a + b, slope_a + slope_b

    first = _first_not_negative(room, lowest, highest)
    last = _first_not_negative(_reversed(room), -highest, -lowest)
    if first is None or last is None:
        return None
    last = max(first, -last)  # rounding may cross them where one s is left
    return -_greatest(down, first, last), _greatest(up, first, last)


def _reversed(of: Concave) -> Concave:
    def reversed_(s: float) -> tuple[float, float]:
        value, slope = of(-s)
        return value, -slope

    return reversed_


def _first_not_negative(of: Concave, s: float, end: float) -> float | None:
    """The least ``s`` up to ``end`` where a concave function is not negative: Newton's method, from the left alone."""
    while True:
        value, slope = of(s)
        if value >= 0:
            return s
        if slope <= 0:
            return None
        following = s - value / slope
        if following > end:
            return None
        if following <= s:
            return s
        s = following


def _greatest(of: Concave, low: float, high: float) -> float:
    """The maximum of a concave function: where two of its lines cross is above it, and the next place to look."""
    (at_low, rising), (at_high, falling) = of(low), of(high)
    if rising <= 0 or low >= high:
        return at_low
    if falling >= 0:
        return at_high
    while True:
        s = (at_high - at_low + rising * low - falling * high) / (rising - falling)
        top = at_low + rising * (s - low)
        value, slope = of(s)
        if value >= top - NEAR_NS or not low < s < high:
            return max(top, value)
        if slope > 0:
            low, at_low, rising = s, value, slope
        else:
            high, at_high, falling = s, value, slope
