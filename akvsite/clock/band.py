"""Device time on the host's axis, as a band that holds whatever the clocks did within stated limits.

``x`` is the device's time and ``y(x)`` how far the host's clock is ahead of it, both in nanoseconds: an event that the
device stamped ``x`` happened at ``x + y(x)`` on the host's clock. ``y`` is not measured anywhere. It is enclosed:

- A reading of the device's clock between two of the host's (``host before``, ``device``, ``host after``): the device
  showed ``k`` somewhere between the two, so at the start of tick ``k`` the host's clock was not beyond *after*, and at the
  start of the next tick it was not short of *before*. Where in between is not known, and no middle is taken.
- Causality: a kernel does not begin before the entry of the call that submitted it, and has ended when the wait that saw
  its end returns.
- The assumption, printed with each result: the rate of one clock against the other stays within ``wander`` of some rate
  ``s`` that is not known, and ``|s|`` is at most ``slope``; that is ``|y' - s| <= wander``, ``|s| <= slope``. The defaults
  are 200 and 2 parts in a million. Both are declared, never fitted to the data: a wander fitted to the data makes faults
  of the readings disappear in it. A change of rate by less than twice the wander need not be seen.
- One counter stamps all of the device's times, and brackets are true: the host's clock was read before and after.

Where no clock meets all of that, the constraints are *inconsistent*, and no time is converted. Which slopes ``s`` are
possible is found exactly; so is whether there is any, and the least wander at which there would be. The band is then made
for a few parts of the range of ``s``, and holds all of theirs: it contains every possible clock, and is a little wider
than the narrowest band that does, since within a part it lets ``s`` differ from one constraint to the next.

Times are integers up to 63 bits; origins are subtracted before anything becomes a float, so that nothing is lost while
a capture spans less than 2**53 ns (104 days). Sorting is all that takes more than linear time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from akvsite.clock._blind import Gap, most_and_least
from akvsite.clock._sweep import Floats, Points, Roof, ceilings, cross, floors, needed, possible_slopes
from akvsite.clock.constraints import Constraints, Times, origin_of, since, times_of

#: Most that the two rates differ, parts in a million: crystals and what adjusts them stay far within.
SLOPE_PPM = 200.0
#: Most that the rate strays from its own mean, parts in a million.
WANDER_PPM = 2.0

Ints = NDArray[np.int64]

_PPM = 1e-6
#: Beyond this, floats are coarser than nanoseconds.
_EXACT = 2**53
#: What is lost below this is no matter: every tick and every rounding is coarser by far.
_FINE_NS = 0.01


@dataclass(frozen=True, eq=False)
class Band:
    """How far the host's clock may be ahead of the device's, at any device time; from ``feasible``."""

    #: Whether any clock meets the constraints and the assumption.
    consistent: bool
    #: Whether there are constraints of both kinds: then both bounds are finite everywhere.
    bounded: bool
    slope_ppm: float
    wander_ppm: float
    #: The least wander that the constraints allow, parts in a million: above ``wander_ppm`` they are inconsistent.
    least_wander_ppm: float
    #: An integer that the bounds lie around, ns: for ``of``, where the clocks are far apart.
    around_ns: int
    #: How coarse the floats are in which the bounds are computed, ns: they are widened by it.
    _step_ns: float = field(repr=False)
    _first_ns: int = field(repr=False)
    _ceiling: Roof | None = field(repr=False)
    _floor: Roof | None = field(repr=False)

    def of(self, x: Times, less_ns: int = 0) -> tuple[Floats, Floats]:
        """The least and the most that the host's clock is ahead at device times ``x`` (n,), ns, float64 (n,) each.

        ``-inf`` and ``inf`` where nothing bounds it. ``less_ns`` is subtracted before floats are made. Beyond 2**53 ns
        floats are coarser than a nanosecond, and bounds are rounded outwards: with ``less_ns=band.around_ns`` nothing
        is lost. Raises ``ValueError`` where the constraints are inconsistent.
        """
        low, high = self._around(since(times_of("x", x), self._first_ns))
        rest = self.around_ns - less_ns
        low, high = low + float(rest), high + float(rest)
        return (np.nextafter(low, -np.inf), np.nextafter(high, np.inf)) if abs(rest) > _EXACT else (low, high)

    def at(self, x: Times) -> tuple[Ints, Ints]:
        """Device times ``x`` (n,), ns, on the host's axis: the middle of what is possible, and the half-width, int64.

        The middle is rounded to a nanosecond; the half-width is rounded up and covers that. Raises ``ValueError`` where
        the constraints are inconsistent, or bound one side alone.
        """
        x = times_of("x", x)
        if self.consistent and not self.bounded and len(x):
            raise ValueError("no time is converted: the constraints bound one side at most")
        after = since(x, self._first_ns)
        low, high = self._around(after)
        if np.issubdtype(x.dtype, np.integer):
            host = x + np.rint((low + high) / 2).astype(np.int64)
            middle = host - x
        else:
            middle = np.rint(after + (low + high) / 2) - after
            host = np.rint(after + middle).astype(np.int64) + self._first_ns
        half = np.ceil(np.maximum(high - middle, middle - low)).astype(np.int64)
        return host + self.around_ns, half

    def _around(self, after: Floats) -> tuple[Floats, Floats]:
        """The bounds less ``around_ns``, at times since ``_first_ns``."""
        if not self.consistent:
            raise ValueError("no time is converted: no clock meets all constraints")
        low = np.full(len(after), -np.inf) if self._floor is None else -self._floor.at(after)
        high = np.full(len(after), np.inf) if self._ceiling is None else self._ceiling.at(after)
        return low - self._step_ns, high + self._step_ns


def feasible(
    constraints: Constraints, *, slope_ppm: float = SLOPE_PPM, wander_ppm: float = WANDER_PPM
) -> Band:
    """The band of all clocks that meet the constraints and ``|y' - s| <= wander``, ``|s| <= slope``.

    Raises ``ValueError`` where slope or wander is negative or not finite.
    """
    _check_rates(slope_ppm, wander_ppm)
    slope, wander = slope_ppm * _PPM, wander_ppm * _PPM
    known = _Known.of(constraints)
    few, lowest, highest, least_ppm = _possible(known, slope_ppm, wander_ppm)
    consistent = least_ppm <= wander_ppm
    ceiling = floor = None
    if consistent:
        lowest, highest = max(lowest - wander, -slope), min(highest + wander, slope)
        if lowest > highest:  # by rounding, where one slope is left
            lowest = highest = (lowest + highest) / 2
        if len(few.ceiling):
            ceiling = Roof.of(few.ceiling, lowest, highest, wander)
        if len(few.floor):
            # Upside down, a floor is a ceiling and slopes change sign.
            floor = Roof.of(few.floor.upside_down(), -highest, -lowest, wander)
    return Band(
        consistent=consistent,
        bounded=len(known.ceiling) > 0 and len(known.floor) > 0,
        slope_ppm=slope_ppm,
        wander_ppm=wander_ppm,
        least_wander_ppm=least_ppm,
        around_ns=known.around_ns,
        _step_ns=_step_of(few, slope + wander),
        _first_ns=known.first_ns,
        _ceiling=ceiling,
        _floor=floor,
    )


def least_wander(constraints: Constraints, *, slope_ppm: float = SLOPE_PPM) -> float:
    """The least wander at which some clock meets the constraints, parts in a million.

    Exact, without a search: a wander ``w`` widens the possible slopes by ``w`` at both ends, so it must be half of what
    they are crossed by, or more, and bring them to ``[-slope, slope]``. ``inf`` where at one place a lower bound is above
    an upper one, which no wander mends. It is a lower bound of what the clock really did, no estimate of it.
    """
    _check_rates(slope_ppm, 0.0)
    return _possible(_Known.of(constraints), slope_ppm, WANDER_PPM)[3]


def blind_range(
    readings: Constraints,
    causality: Constraints,
    *,
    slope_ppm: float = SLOPE_PPM,
    wander_ppm: float = WANDER_PPM,
) -> tuple[float, float]:
    """The range of a constant ``c``, ns, such that readings with ``c`` added to their host times agree with causality.

    What all host times made from the readings may be wrong by, unseen: the true ones may be later by any such ``c``
    (earlier, where it is negative). Zero is outside where the readings contradict causality as they are. ``-inf`` or
    ``inf`` where nothing limits it: without readings, or without starts or ends. Exact but for float rounding. Raises
    ``ValueError`` where readings or causality are inconsistent in themselves, or no constant makes them agree.
    """
    _check_rates(slope_ppm, wander_ppm)
    together = _Known.of(readings.with_(causality))
    read, causal = (
        _Known.of(part, together.first_ns, together.around_ns).needed((slope_ppm + wander_ppm) * _PPM)
        for part in (readings, causality)
    )
    found = _agreeing(read, causal, slope_ppm, wander_ppm)
    if found is None and _possible(together, slope_ppm, wander_ppm)[3] <= wander_ppm:
        return 0.0, 0.0  # by rounding, where one clock alone is left
    if found is None:
        raise ValueError("no constant makes readings agree with causality, or one of them not with itself")
    return found


def _agreeing(
    read: _Known, causal: _Known, slope_ppm: float, wander_ppm: float
) -> tuple[float, float] | None:
    """``blind_range`` of constraints that are in order; None where it is empty."""
    slope, wander = slope_ppm * _PPM, wander_ppm * _PPM
    lowest, highest = -slope, slope
    for part in (read, causal):
        if cross(part.floor, part.ceiling):
            return None
        low, high = possible_slopes(part.floor, part.ceiling, slope)
        lowest, highest = max(lowest, low - wander), min(highest, high + wander)
    if lowest > highest:
        return None
    up = Gap.of(read.floor, causal.ceiling, wander)
    down = Gap.of(causal.floor, read.ceiling, wander)
    return most_and_least(up, down, lowest, highest)


@dataclass(frozen=True, eq=False)
class _Known:
    """Constraints in the order of time, as floats since ``first_ns`` and around ``around_ns``."""

    floor: Points
    ceiling: Points
    first_ns: int
    around_ns: int

    @classmethod
    def of(cls, of: Constraints, first_ns: int | None = None, around_ns: int | None = None) -> _Known:
        if first_ns is None:
            first_ns = min((origin_of(x.min()) for x in (of.upper_x, of.lower_x) if len(x)), default=0)
        if around_ns is None:
            # The tightest ones: a loose one may lie so far off that a float since it is coarser than a nanosecond.
            tightest = of.lower_y.max() if len(of.lower_y) else of.upper_y.min() if len(of.upper_y) else None
            around_ns = 0 if tightest is None else origin_of(tightest)
        return cls(
            floors(since(of.lower_x, first_ns), since(of.lower_y, around_ns)),
            ceilings(since(of.upper_x, first_ns), since(of.upper_y, around_ns)),
            first_ns,
            around_ns,
        )

    def needed(self, rate: float) -> _Known:
        """Those that say anything about clocks whose rate is within ``-rate`` and ``rate``."""
        floor = needed(self.floor.upside_down(), -rate, rate).upside_down()
        return _Known(floor, needed(self.ceiling, -rate, rate), self.first_ns, self.around_ns)


def _step_of(few: _Known, rate: float) -> float:
    """The step of a float as large as any that the bounds are made from, a few times over."""
    largest = max(
        (
            float(np.abs(points.y).max() + rate * np.abs(points.x).max())
            for points in (few.floor, few.ceiling)
            if len(points)
        ),
        default=0.0,
    )
    step = 4 * float(np.spacing(largest))
    return step if step > _FINE_NS else 0.0


def _possible(known: _Known, slope_ppm: float, wander_ppm: float) -> tuple[_Known, float, float, float]:
    """The constraints that matter within these rates, and of them ``_slopes``; the least wander is that of all."""
    few = known.needed((slope_ppm + wander_ppm) * _PPM)
    lowest, highest, least_ppm = _slopes(few.floor, few.ceiling, slope_ppm)
    if least_ppm > wander_ppm:
        # What was left out is implied by the rest within the stated rates, and not beyond.
        least_ppm = _slopes(known.floor, known.ceiling, slope_ppm)[2]
    return few, lowest, highest, least_ppm


def _slopes(floor: Points, ceiling: Points, slope_ppm: float) -> tuple[float, float, float]:
    """The least and the greatest slope at a wander of 0 (crossed where there is none), and the least wander, ppm."""
    slope = slope_ppm * _PPM
    if cross(floor, ceiling):
        return slope, -slope, math.inf
    lowest, highest = possible_slopes(floor, ceiling, slope)
    least = max(0.0, (lowest - highest) / 2, lowest - slope, -slope - highest)
    return lowest, highest, least / _PPM


def _check_rates(slope_ppm: float, wander_ppm: float) -> None:
    if not (0 <= slope_ppm < 1e6 and 0 <= wander_ppm < 1e6):
        raise ValueError(f"a slope of {slope_ppm} ppm and a wander of {wander_ppm} ppm")
