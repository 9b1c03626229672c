"""What must hold of every band, on clocks and constraints that hypothesis makes up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from calibration import clock_exact
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from akvsite.clock import SLOPE_PPM, WANDER_PPM, Band, Constraints, blind_range, feasible, least_wander

SPAN = 10**9
NEAR = 1e-6  # ns: what floats may lose
PPB = Fraction(1, 10**9)
few = settings(max_examples=50)
places = st.integers(0, SPAN)


@dataclass(frozen=True)
class Clock:
    """A clock within the assumption, exactly: knots of ``y(x)``, and how far its rate strays from its mean, ppm."""

    knots: list[tuple[int, Fraction]]
    strays_ppm: float

    def ahead(self, x: int) -> Fraction:
        for (x0, y0), (x1, y1) in pairwise(self.knots):
            if x <= x1:
                return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        raise AssertionError("beyond the clock")


@st.composite
def clocks(draw: st.DrawFn) -> Clock:
    s = draw(st.integers(-200_000, 200_000))
    strays = draw(st.lists(st.integers(-2_000, 2_000), min_size=1, max_size=6))
    edges = sorted(
        draw(st.sets(st.integers(1, SPAN - 1), min_size=len(strays) - 1, max_size=len(strays) - 1))
    )
    knots = [(0, Fraction(draw(st.integers(-(10**6), 10**6))))]
    for stray, x in zip(strays, [*edges, SPAN], strict=True):
        last_x, last_y = knots[-1]
        knots.append((x, last_y + (s + stray) * PPB * (x - last_x)))
    return Clock(knots, max(map(abs, strays)) / 1000)


widths = st.integers(0, 3_000)


@st.composite
def true_constraints(draw: st.DrawFn, clock: Clock) -> Constraints:
    upper = draw(st.lists(st.tuples(places, widths), max_size=12))
    lower = draw(st.lists(st.tuples(places, widths), max_size=12))
    return Constraints(
        [x for x, _ in upper],
        [math.ceil(clock.ahead(x)) + width for x, width in upper],
        [x for x, _ in lower],
        [math.floor(clock.ahead(x)) - width for x, width in lower],
    )  # fmt: skip


@st.composite
def known_clocks(draw: st.DrawFn) -> tuple[Clock, Constraints]:
    clock = draw(clocks())
    return clock, draw(true_constraints(clock))


#: Constraints that no clock needs to meet: slopes between them are up to hundreds of ppm.
any_constraints = st.builds(
    lambda upper, lower: Constraints(
        [10**6 * x for x, _ in upper],
        [y for _, y in upper],
        [10**6 * x for x, _ in lower],
        [y - 300 for _, y in lower],
    ),
    st.lists(st.tuples(st.integers(0, 12), st.integers(-300, 300)), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 12), st.integers(-300, 300)), min_size=1, max_size=8),
)
grid = np.linspace(-0.1 * SPAN, 1.1 * SPAN, 61).round().astype(np.int64)


def inside(inner: Band, outer: Band) -> bool:
    (low, high), (outer_low, outer_high) = inner.of(grid), outer.of(grid)
    return bool((outer_low <= low + NEAR).all() and (high <= outer_high + NEAR).all())


def same(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...], near: float = NEAR) -> bool:
    return all(np.allclose(a, b, rtol=0, atol=near) for a, b in zip(one, other, strict=True))


def shifted(known: Constraints, host: int = 0, device: int = 0, scale: int = 1) -> Constraints:
    return Constraints(
        scale * known.upper_x + device,
        scale * known.upper_y + host - device,
        scale * known.lower_x + device,
        scale * known.lower_y + host - device,
    )


@few
@given(known_clocks(), st.lists(places, min_size=1))
def test_the_truth_is_inside_where_the_assumption_holds(
    made: tuple[Clock, Constraints], at: list[int]
) -> None:
    clock, known = made
    band = feasible(known)
    assert band.consistent
    truth = [float(clock.ahead(x)) for x in at]
    low, high = band.of(np.array(at))
    assert (low <= np.array(truth) + NEAR).all() and (np.array(truth) <= high + NEAR).all()
    if band.bounded:
        host, half = band.at(np.array(at))
        for x, middle, width in zip(at, host.tolist(), half.tolist(), strict=True):
            assert abs(x + clock.ahead(x) - middle) <= width + NEAR


@few
@given(known_clocks())
def test_the_least_wander_is_no_more_than_the_clock_had(made: tuple[Clock, Constraints]) -> None:
    clock, known = made
    least = least_wander(known)
    assert least <= clock.strays_ppm + NEAR
    assert feasible(known).least_wander_ppm == pytest.approx(least, abs=NEAR)


@few
@given(known_clocks(), st.data())
def test_wider_brackets_never_narrow_the_band(made: tuple[Clock, Constraints], data: st.DataObject) -> None:
    _, known = made
    more = [
        np.array(data.draw(st.lists(widths, min_size=len(side), max_size=len(side))), np.int64)
        for side in (known.upper_x, known.lower_x)
    ]
    wider = Constraints(known.upper_x, known.upper_y + more[0], known.lower_x, known.lower_y - more[1])
    assert inside(feasible(known), feasible(wider))


@few
@given(known_clocks(), st.data())
def test_one_more_constraint_never_widens_the_band(
    made: tuple[Clock, Constraints], data: st.DataObject
) -> None:
    clock, known = made
    assert inside(feasible(known.with_(data.draw(true_constraints(clock)))), feasible(known))


@few
@given(known_clocks())
def test_a_wider_assumption_never_narrows_the_band(made: tuple[Clock, Constraints]) -> None:
    _, known = made
    band = feasible(known)
    assert inside(band, feasible(known, wander_ppm=3.0)) and inside(band, feasible(known, slope_ppm=250.0))


@few
@given(known_clocks(), st.integers(0, 2**60), st.integers(0, 2**60))
def test_other_origins_change_the_origin_alone(
    made: tuple[Clock, Constraints], host: int, device: int
) -> None:
    _, known = made
    band, other = feasible(known), feasible(shifted(known, host, device))
    assert same(band.of(grid), other.of(grid + device, less_ns=host - device))
    if band.bounded:
        # A middle between two nanoseconds may go to either, so the two agree to one.
        (at, half), (at_other, half_other) = band.at(grid), other.at(grid + device)
        assert (np.abs(at_other - host - at) <= 1).all() and (np.abs(half_other - half) <= 1).all()


@few
@given(known_clocks())
def test_another_unit_changes_the_unit_alone(made: tuple[Clock, Constraints]) -> None:
    _, known = made
    scaled = feasible(shifted(known, scale=1000))
    low, high = scaled.of(1000 * grid)
    assert same(feasible(known).of(grid), (low / 1000, high / 1000))
    assert least_wander(known) == pytest.approx(scaled.least_wander_ppm, abs=NEAR)


@few
@given(known_clocks(), st.randoms(use_true_random=False))
def test_the_order_of_constraints_changes_nothing(made: tuple[Clock, Constraints], random_) -> None:
    _, known = made
    order = [random_.sample(range(len(side)), len(side)) for side in (known.upper_x, known.lower_x)]
    other = Constraints(
        known.upper_x[order[0]], known.upper_y[order[0]], known.lower_x[order[1]], known.lower_y[order[1]]
    )
    assert same(feasible(known).of(grid), feasible(other).of(grid), near=0)


@given(any_constraints)
def test_inconsistent_is_what_all_pairs_say(known: Constraints) -> None:
    exact = exact_least_wander(known)
    least = least_wander(known)
    if exact is None:
        assert least == math.inf and not feasible(known).consistent
        return
    assert least == pytest.approx(float(exact) * 1e6, abs=NEAR)
    assume(abs(least - WANDER_PPM) > NEAR)
    assert feasible(known).consistent == (least < WANDER_PPM)
    assert feasible(known).least_wander_ppm == pytest.approx(least, abs=NEAR)


@given(any_constraints, any_constraints)
def test_at_the_least_wander_itself_one_clock_is_left_and_is_found(
    readings: Constraints, causality: Constraints
) -> None:
    known = readings.with_(causality)
    least = least_wander(known)
    assume(math.isfinite(least))
    band = feasible(known, wander_ppm=least)
    low, high = band.of(np.concatenate((grid, known.upper_x, known.lower_x)))
    assert band.consistent and (low <= high + NEAR).all()
    low_c, high_c = blind_range(readings, causality, wander_ppm=least)
    assert low_c <= NEAR and high_c >= -NEAR


@given(any_constraints)
def test_every_possible_clock_is_inside_and_little_else(known: Constraints) -> None:
    band = feasible(known, wander_ppm=40)
    assume(band.consistent)
    low, high = band.of(grid, less_ns=int(known.upper_y[0]))
    least, most = clock_exact.optimum(known, grid, SLOPE_PPM, 40)
    assert (low <= least + NEAR).all() and (most <= high + NEAR).all()
    # At the constraints themselves nothing is given away.
    at = np.concatenate((known.upper_x, known.lower_x))
    low, high = band.of(at, less_ns=int(known.upper_y[0]))
    least, most = clock_exact.optimum(known, at, SLOPE_PPM, 40)
    assert (high - low <= 1.3 * (most - least) + NEAR).all()


@few
@given(known_clocks(), st.data())
def test_the_blind_range_is_that_of_constants_that_go_unseen(
    made: tuple[Clock, Constraints], data: st.DataObject
) -> None:
    clock, readings = made
    causality = data.draw(true_constraints(clock))
    low, high = blind_range(readings, causality)
    assert low <= NEAR and high >= -NEAR
    for end, inwards in ((low, 1), (high, -1)):
        if math.isfinite(end):
            inner = math.ceil(end) if inwards > 0 else math.floor(end)
            if low <= inner <= high:
                assert feasible(shifted(readings, host=inner).with_(causality), wander_ppm=2.0001).consistent
            outer = inner - 2 * inwards
            assert not feasible(shifted(readings, host=outer).with_(causality)).consistent


def exact_least_wander(known: Constraints) -> Fraction | None:
    """From all pairs, in fractions; None where at one place a lower bound is above an upper one."""
    slope = Fraction(200, 10**6)
    lowest, highest = -slope, slope
    crossed = [Fraction(0)]
    for x, u in zip(known.upper_x.tolist(), known.upper_y.tolist(), strict=True):
        for z, low in zip(known.lower_x.tolist(), known.lower_y.tolist(), strict=True):
            if x == z and low > u:
                return None
            if x > z:
                highest = min(highest, Fraction(u - low, x - z))
            elif x < z:
                lowest = max(lowest, Fraction(low - u, z - x))
    crossed += [(lowest - highest) / 2, lowest - slope, -slope - highest]
    return max(crossed)
