"""The band of possible clocks: small cases whose answers can be told by hand, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from calibration import clock_exact

from akvsite.clock import Constraints, blind_range, feasible, least_wander

NONE = np.empty(0, np.int64)
EPOCH = 1_770_000_000 * 10**9
SECOND = 10**9


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def bounds(upper: list[tuple[int, int]], lower: list[tuple[int, int]]) -> Constraints:
    sides = [np.array(side, np.int64).reshape(-1, 2).T for side in (upper, lower)]
    return Constraints(*sides[0], *sides[1])


def test_one_reading_holds_the_clock_there_and_cones_away_from_it() -> None:
    reading = Constraints.of_readings(ints(EPOCH + 100), ints(5_000), ints(EPOCH + 1_100), 50)
    assert reading.upper_x.tolist() == [5_000] and reading.upper_y.tolist() == [EPOCH + 1_100 - 5_000]
    assert reading.lower_x.tolist() == [5_050] and reading.lower_y.tolist() == [EPOCH + 100 - 5_050]
    band = feasible(reading, slope_ppm=200, wander_ppm=2)
    assert band.consistent and band.bounded and band.least_wander_ppm == 0
    low, high = band.of(ints(5_000, 5_000 + SECOND), less_ns=EPOCH - 5_000)
    # A slope up to 200 ppm and a wander up to 2 on top: 202 us a second, and 0.01 ns over the tick.
    assert high == pytest.approx([1_100, 1_100 + 202_000], abs=1e-6)
    assert low == pytest.approx([50 - 0.0101, 50 - 202_000 + 0.0101], abs=1e-6)
    host, half = band.at(ints(5_000))
    assert host.tolist() == [EPOCH + 575] and half.tolist() == [526]


def test_two_readings_pin_the_slope_between_them() -> None:
    """Both are 10 ns wide: the slope is known to 20 ns in a second, and the clock may wander by 2 ppm in between."""
    apart = Constraints.of_readings(ints(0, SECOND), ints(0, SECOND), ints(10, SECOND + 10), 0)
    band = feasible(apart)
    low, high = band.of(ints(0, SECOND // 2, SECOND))
    assert (low[[0, 2]], high[[0, 2]]) == (pytest.approx([0, 0]), pytest.approx([10, 10]))
    exact = clock_exact.optimum(apart, ints(0, SECOND // 2, SECOND), 200, 2)
    assert high[1] >= exact[1][1] + 10 - 1e-6 and high[1] - low[1] <= 1.25 * (exact[1][1] - exact[0][1])
    assert 10 + 1_000 <= high[1] <= 10 + 1_500


def test_no_constraint_and_constraints_of_one_kind() -> None:
    for known, ends in (
        (bounds([], []), (-np.inf, np.inf)),
        (bounds([(0, 7)], []), (-np.inf, 7)),
        (bounds([], [(0, 7)]), (7, np.inf)),
    ):
        band = feasible(known)
        assert band.consistent and not band.bounded and least_wander(known) == 0
        assert [side.tolist() for side in band.of(ints(0))] == [[ends[0]], [ends[1]]]
        with pytest.raises(ValueError, match="bound one side at most"):
            band.at(ints(0))
        assert [side.tolist() for side in band.at(NONE)] == [[], []]
    assert len(bounds([], [])) == 0 and len(bounds([(0, 1), (0, 1)], [(3, 0)])) == 3
    empty = Constraints.of_readings(NONE, NONE, NONE, 52).with_(
        Constraints.of_causality(NONE, NONE, NONE, NONE, 52)
    )
    assert len(empty) == 0 and feasible(empty).of(NONE)[0].tolist() == []


def test_all_at_one_place_say_nothing_of_the_slope() -> None:
    band = feasible(bounds([(3, 9), (3, 8), (3, 8)], [(3, 1), (3, 2)]))
    low, high = band.of(ints(3, 3 + 10**6))
    assert (low[0], high[0]) == (2, 8)
    assert (low[1], high[1]) == (pytest.approx(2 - 202), pytest.approx(8 + 202))


def test_contradiction_at_one_place_is_mended_by_no_wander() -> None:
    known = bounds([(3, 1)], [(3, 2)])
    assert not feasible(known, wander_ppm=1000).consistent and least_wander(known) == math.inf
    assert feasible(bounds([(3, 2)], [(3, 2)]), wander_ppm=0).consistent


def test_inconsistent_gives_no_time() -> None:
    # Forwards by 1 ms in a second, and back.
    known = bounds([(0, 0), (2 * SECOND, 0)], [(SECOND, 1_000_000)])
    band = feasible(known)
    assert not band.consistent and band.least_wander_ppm == pytest.approx(1000)
    for ask in (band.of, band.at):
        with pytest.raises(ValueError, match="no clock meets all constraints"):
            ask(ints(0))
    assert feasible(known, wander_ppm=1000.1).consistent


def test_a_resolution_of_52_for_52_083_is_a_slope_that_no_oscillator_has() -> None:
    device = np.arange(0, 10 * SECOND, SECOND // 10)
    host = (device * (Fraction(625, 12) / 52)).astype(np.float64).astype(np.int64)
    readings = Constraints.of_readings(host - 500, device, host + 500, 52)
    # 1603 ppm less the 200 that are allowed, and what the brackets leave.
    assert not feasible(readings).consistent
    assert least_wander(readings) == pytest.approx(1603 - 200, abs=1)


def test_a_reversed_bracket_is_refused_with_its_place() -> None:
    with pytest.raises(
        ValueError, match="reading 1: the host's clock after it, 9, is before that before it, 10"
    ):
        Constraints.of_readings(ints(0, 10), ints(0, 10), ints(0, 9), 1)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Constraints(ints(1), NONE, NONE, NONE), "1 times and 0 bounds of the upper"),
        (lambda: Constraints(NONE, NONE, np.array([np.nan]), ints(0)), "lower_x: number 0 is not finite"),
        (lambda: Constraints(ints(1).reshape(1, 1), ints(1), NONE, NONE), "2 dimensions"),
        (lambda: Constraints(np.array([2**63], np.uint64), ints(1), NONE, NONE), "63 bits"),
        (lambda: Constraints.of_readings(ints(1), NONE, ints(1), 1), "0 device times"),
        (lambda: Constraints.of_causality(ints(1), NONE, NONE, NONE, 1), "1 starts of 0 submissions"),
        (lambda: Constraints.of_causality(NONE, NONE, NONE, NONE, -1), "a tick of -1 ns"),
        (lambda: feasible(bounds([], []), wander_ppm=-1), "wander of -1 ppm"),
        (lambda: feasible(bounds([], []), slope_ppm=math.nan), "slope of nan ppm"),
    ],
)  # fmt: skip
def test_what_is_no_constraint_is_refused(make, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_rounded_ticks_hold_half_a_nanosecond_less() -> None:
    """19.2 MHz: times of ticks are rounded to nanoseconds, so each constraint moves outwards to the next whole one."""
    tick = Fraction(625, 12)
    whole = Constraints.of_readings(ints(0), ints(1_000), ints(200), tick)
    assert whole.upper_x.tolist() == [999] and whole.upper_y.tolist() == [200 - 999]
    assert whole.lower_x.tolist() == [1_053] and whole.lower_y.tolist() == [-1_053]
    parts = Constraints.of_readings(ints(EPOCH), np.array([1_000.25]), ints(EPOCH + 200), tick)
    assert parts.upper_x.tolist() == [999.75] and parts.upper_y.tolist() == [EPOCH + 200 - 999]
    assert parts.upper_y.dtype == np.int64  # an epoch as a float is 256 ns coarse


def test_no_nanosecond_is_lost_at_epoch_times() -> None:
    host = ints(1_999_999_999_999_999_999, 2_000_000_000_000_000_007)
    band = feasible(Constraints.of_readings(host, ints(3, 11), host, 0), wander_ppm=0)
    assert [side.tolist() for side in band.at(ints(3, 11))] == [host.tolist(), [0, 0]]
    low, high = band.of(ints(3))
    assert low[0] < 1_999_999_999_999_999_996 < high[0]  # as floats they are 256 ns apart, and go outwards
    low, high = band.of(ints(3), less_ns=1_999_999_999_999_999_990)
    assert (low[0], high[0]) == (pytest.approx(6), pytest.approx(6))


def test_the_half_width_covers_the_rounding_of_the_middle() -> None:
    band = feasible(bounds([(0, 5)], [(0, 2)]))
    host, half = band.at(ints(0))
    assert host[0] - half[0] <= 2 and host[0] + half[0] >= 5 and half[0] == 2
    host, half = band.at(np.array([0.25]))
    assert host[0] - half[0] <= 2.25 and host[0] + half[0] >= 5.25
    # 2.5 is no nanosecond, and 2 is 2.5 away from the upper end.
    halves = feasible(Constraints(ints(0), np.array([4.5]), ints(0), np.array([0.5])))
    assert [side.tolist() for side in halves.at(ints(0))] == [[2], [3]]


def test_causality_alone_bounds_and_a_start_is_not_the_end_of_its_tick() -> None:
    causal = Constraints.of_causality(ints(1_000), ints(6_000), ints(2_000), ints(9_000), 100)
    assert causal.lower_x.tolist() == [1_100] and causal.lower_y.tolist() == [4_900]
    assert causal.upper_x.tolist() == [2_000] and causal.upper_y.tolist() == [7_000]
    assert feasible(causal).bounded


def test_the_blind_range_is_what_causality_leaves_to_a_constant() -> None:
    readings = Constraints.of_readings(ints(1_000), ints(0), ints(1_200), 0)
    causal = Constraints.of_causality(ints(0), ints(600), ints(0), ints(1_900), 0)
    # The clock is ahead by 1,000 to 1,200 + c, and by 600 to 1,900.
    assert blind_range(readings, causal) == (pytest.approx(600 - 1_200), pytest.approx(1_900 - 1_000))
    late = Constraints.of_readings(ints(21_000), ints(0), ints(21_200), 0)
    assert blind_range(late, causal)[1] == pytest.approx(-19_100)


def test_the_blind_range_is_open_where_nothing_limits_it() -> None:
    readings = Constraints.of_readings(ints(1_000), ints(0), ints(1_200), 0)
    starts = Constraints.of_causality(ints(0), ints(600), NONE, NONE, 0)
    none = Constraints.of_causality(NONE, NONE, NONE, NONE, 0)
    assert blind_range(readings, none) == blind_range(none, starts) == (-math.inf, math.inf)
    assert blind_range(readings, starts) == (pytest.approx(-600), math.inf)


@pytest.mark.parametrize("direction", [1, -1])
def test_the_blind_range_is_of_slopes_at_which_all_agree(direction: int) -> None:
    """Readings and causality each allow slopes from -0.88 to 2 ppm; above 0.4 ppm no constant makes them agree."""
    half = direction * SECOND // 2
    readings = bounds([(3 * half, 0)], [(0, 0)])
    causal = bounds([(-half // 2, 0)], [(2 * half, 1_400)])
    assert blind_range(readings, causal) == (pytest.approx(-40), pytest.approx(600))


def test_the_blind_range_of_what_never_agrees_is_refused() -> None:
    readings = Constraints.of_readings(ints(0, SECOND), ints(0, SECOND), ints(9, SECOND + 9), 0)
    # By causality the clock gains 100 ppm, by the readings none.
    causal = bounds([(0, 5)], [(SECOND, 100_000)])
    assert feasible(causal).consistent
    with pytest.raises(ValueError, match="no constant makes"):
        blind_range(readings, causal)
    with pytest.raises(ValueError, match="or one of them not with itself"):
        blind_range(bounds([(0, 0)], [(0, 1)]), causal)
