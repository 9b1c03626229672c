"""Sweeps over constraints in the order of device time. Plain floats relative to an origin; numpy alone; no n^2.

A constraint is a point ``(x, y)``: a ceiling says that the clock is at most ``y`` at ``x``, a floor at least. The
rate of the clock lies in ``[s - wander, s + wander]`` for one unknown ``s``. For a given ``s`` some clock meets all
constraints if and only if each floor and each ceiling can be met together:

- floor ``(x, l)`` before ceiling ``(z, u)``:  ``l + (s - wander)(z - x) <= u``, so ``s <= (u - l)/(z - x) + wander``;
- ceiling before floor:                        ``u + (s + wander)(z - x) >= l``, so ``s >= (l - u)/(z - x) - wander``;
- at the same place:                           ``l <= u``, whatever ``s`` is.

(Only if: by integration. If: the smallest of all ceilings' cones is a clock of that kind, as a minimum of functions
whose rates are in the range, and no floor is above it, since none is above any one cone.) So the possible ``s`` are an
interval, and its ends are extreme slopes between a floor and a ceiling.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Slots = NDArray[np.intp]
#: Over so many parts of the range of slopes a band is made, at the least: see ``Roof``.
FEWEST_PARTS = 4
#: A constraint by less than this above what others imply is kept, ns: only rounding makes such a difference.
NEAR_NS = 1e-6


@dataclass(frozen=True, eq=False)
class Points:
    """Constraints of one kind: ``x`` (n,) strictly increasing, ``y`` (n,)."""

    x: Floats
    y: Floats

    def __len__(self) -> int:
        return len(self.x)

    def mirrored(self) -> Points:
        """In reversed time: what was before is after, and slopes change sign."""
        return Points(-self.x[::-1], self.y[::-1])

    def upside_down(self) -> Points:
        """A floor as a ceiling, and the reverse."""
        return Points(self.x, -self.y)


def ceilings(x: Floats, y: Floats) -> Points:
    """In order of ``x``; of several at one place the lowest."""
    order = slice(None) if (x[1:] > x[:-1]).all() else np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    first = np.flatnonzero(np.concatenate(([True], x[1:] > x[:-1]))) if len(x) else np.empty(0, np.intp)
    if len(first) < len(x):
        x, y = x[first], np.minimum.reduceat(y, first)
    return Points(x, y)


def floors(x: Floats, y: Floats) -> Points:
    """In order of ``x``; of several at one place the highest."""
    return ceilings(x, -y).upside_down()


def cross(floor: Points, ceiling: Points) -> bool:
    """Whether a floor is above a ceiling at one and the same place."""
    if not len(floor) or not len(ceiling):
        return False
    at = np.minimum(np.searchsorted(floor.x, ceiling.x), len(floor) - 1)
    return bool(((floor.x[at] == ceiling.x) & (floor.y[at] > ceiling.y)).any())


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of a floor ``(x, l)`` and a ceiling ``(z, u)`` that is not before it. Found once, swept for many slopes."""

    floor: Points
    ceiling: Points
    #: How many floors are before each ceiling, at least one.
    before: Slots

    @classmethod
    def of(cls, floor: Points, ceiling: Points, *, also_at_one_place: bool) -> Pairs:
        before = np.searchsorted(floor.x, ceiling.x, side="right" if also_at_one_place else "left")
        some = int(np.searchsorted(before, 1))  # ceilings that have no floor before them come first
        return cls(floor, Points(ceiling.x[some:], ceiling.y[some:]), before[some:])

    def least_slack(self, slope: float) -> tuple[float, float, float]:
        """The least ``u - l - slope (z - x)`` of all pairs, and that pair's ``u - l`` and ``z - x``; there is a pair.

        One pass, as a running maximum of ``l - slope x``.
        """
        lifted = self.floor.y - slope * self.floor.x
        slack = self.ceiling.y - slope * self.ceiling.x - np.maximum.accumulate(lifted)[self.before - 1]
        last = int(slack.argmin())
        first = int(lifted[: self.before[last]].argmax())
        rise = float(self.ceiling.y[last] - self.floor.y[first])
        return float(slack[last]), rise, float(self.ceiling.x[last] - self.floor.x[first])


def most_slope(floor: Points, ceiling: Points, at_most: float) -> float:
    """The least slope ``(u - l) / (z - x)`` from a floor to a ceiling after it, or ``at_most`` where that is less.

    Newton's method (Dinkelbach's, for the least of ratios): where the least slack at a slope is negative, the slope of
    the pair that has it is the next one. Slopes only fall, never below the least ratio, and a few passes are enough.
    It ends where no slack is negative, or where rounding keeps the slope from falling.
    """
    pairs = Pairs.of(floor, ceiling, also_at_one_place=False)
    slope = at_most
    while len(pairs.ceiling):
        slack, rise, run = pairs.least_slack(slope)
        if slack >= 0 or rise / run >= slope:
            break
        slope = rise / run
    return slope


def possible_slopes(floor: Points, ceiling: Points, most: float) -> tuple[float, float]:
    """The range of ``s`` at a wander of 0, cut to ``[-most, most]`` where it is wider; crossed where there is none."""
    highest = most_slope(floor, ceiling, most)
    lowest = -most_slope(floor.mirrored(), ceiling.mirrored(), most)
    return lowest, highest


def parts_of(lowest: float, highest: float) -> list[tuple[float, float]]:
    """Four to nine parts of a range of slopes, as their ends; one where it is a single slope.

    Inner ends are multiples of a power of two, so that the parts of a wider range are made of whole parts of a
    narrower one, and a wider range never gives a narrower band.
    """
    if lowest >= highest:
        return [(lowest, highest)]
    step = 2.0 ** np.floor(np.log2((highest - lowest) / FEWEST_PARTS))
    inner = step * np.arange(np.floor(lowest / step) + 1, np.ceil(highest / step))
    return list(pairwise([lowest, *inner.tolist(), highest]))


@dataclass(frozen=True, eq=False)
class Cones:
    """The least ceiling at any place, where rates are from ``falling`` to ``rising``.

    ``U(x) = min(min over x_i <= x of u_i + rising (x - x_i), min over x_i >= x of u_i - falling (x_i - x))``, of which
    the two inner minima are kept: one running minimum from each side, with one more for places beyond the ends.
    """

    from_left: Floats
    from_right: Floats
    falling: float
    rising: float

    @classmethod
    def of(cls, ceiling: Points, falling: float, rising: float) -> Cones:
        from_left = np.minimum.accumulate(ceiling.y - rising * ceiling.x)
        from_right = np.minimum.accumulate((ceiling.y - falling * ceiling.x)[::-1])[::-1]
        return cls(
            np.concatenate(([np.inf], from_left)), np.concatenate((from_right, [np.inf])), falling, rising
        )

    def at(self, x: Floats, up_to: Slots | slice, from_: Slots | slice) -> Floats:
        """At ``x`` (n,), which has so many ceilings up to it, and the first of those from it on."""
        return np.minimum(self.from_left[up_to] + self.rising * x, self.from_right[from_] + self.falling * x)


def needed(ceiling: Points, falling: float, rising: float) -> Points:
    """Those that the others do not imply where rates are from ``falling`` to ``rising``, or within: often a few."""
    cones = Cones.of(ceiling, falling, rising)
    # Each place has itself on both sides.
    own = ceiling.y <= cones.at(ceiling.x, slice(1, None), slice(None, -1)) + NEAR_NS
    return Points(ceiling.x[own], ceiling.y[own])


@dataclass(frozen=True, eq=False)
class Roof:
    """The most that a clock can be at any place: for each part of the range of ``s`` its cones, and of these the highest.

    Within a part, a ceiling before ``x`` takes the greatest ``s`` and one after it the least, which is more than one
    clock can do; the more parts, the less is given away.
    """

    x: Floats
    parts: tuple[Cones, ...]

    @classmethod
    def of(cls, ceiling: Points, lowest: float, highest: float, wander: float) -> Roof:
        """Over ceilings, for ``s`` from ``lowest`` to ``highest``."""
        few = needed(ceiling, lowest - wander, highest + wander)
        parts = (Cones.of(few, low - wander, high + wander) for low, high in parts_of(lowest, highest))
        return cls(few.x, tuple(parts))

    def at(self, x: Floats) -> Floats:
        """The height at ``x`` (n,), any order; ``inf`` where there is no ceiling at all."""
        up_to = np.searchsorted(self.x, x, side="right")
        from_ = np.searchsorted(self.x, x, side="left")
        height = self.parts[0].at(x, up_to, from_)
        for part in self.parts[1:]:
            np.maximum(height, part.at(x, up_to, from_), out=height)
        return height
