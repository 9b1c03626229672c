"""The systematic part: the clock's bound stays apart from the band, and no estimate drops it in silence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akvsite import estimators as est
from akvsite.estimate import Estimate, counted, declared, unknown

SERIES = 20_000_000 + 1000 * (np.arange(300) * 7 % 31)


def of_run(value: float, low: float, high: float, part: float | None = 0.0, of: str = "clock") -> Estimate:
    called = "" if part == 0 else of
    return Estimate(value, low, high, 1000, "ms", "EWC B=4", systematic=part, systematic_of=called)


def test_the_largest_bound_of_the_samples_is_the_part() -> None:
    plain = est.quantile(SERIES, 0.5, unit="ns")
    made = est.with_clock(plain, np.linspace(900, 3100, 300), "bounded")
    assert (made.low, made.high, made.value) == (plain.low, plain.high, plain.value), (
        "the band is not touched"
    )
    assert (made.systematic, made.systematic_of) == (3100, "clock")
    assert plain.low is not None and made.low_in_all == plain.low - 3100
    assert "clock ±3.1 us, together [" in made.text()
    assert est.with_clock(est.mean(SERIES / 1e6, unit="ms"), [3100], "bounded").systematic == 3100 / 1e6


@pytest.mark.parametrize(
    "bounds, state, called",
    [
        ([1100.0, None], "bounded", "clock"),
        ([1100.0, math.inf], "bounded", "clock"),
        (None, "bounded", "clock"),
        ([], "bounded", "clock"),
        ([1100.0], "unproven", "clock, unproven"),
        (None, "vendor, unproven", "clock, unproven"),
        (None, "unbounded", "clock, unbounded"),
    ],
)
def test_a_bound_that_is_not_known_is_none_and_not_0(
    bounds: list[float | None] | None, state: str, called: str
) -> None:
    made = est.with_clock(est.quantile(SERIES, 0.5, unit="ns"), bounds, state)
    assert (made.systematic, made.systematic_of, made.low_in_all) == (None, called, None)
    assert f"{called}: bound unknown" in made.text()


def test_what_has_no_clock_keeps_none_and_what_cannot_have_one_is_refused() -> None:
    for made in (counted(5, "launches"), declared(4, "ms"), unknown("no steps", "ns")):
        assert est.with_clock(made, [5], "bounded") is made
    with pytest.raises(ValueError, match="no part of a number in 'ratio'"):
        est.with_clock(Estimate(1, 1, 1, 9, "ratio", "x"), [5], "bounded")
    with pytest.raises(ValueError, match="state of a clock"):
        est.with_clock(of_run(10, 9, 11), [5], "inconsistent")
    with pytest.raises(ValueError, match="0 or more"):
        est.with_clock(of_run(10, 9, 11), [5, -1], "bounded")


def test_two_parts_add_linearly() -> None:
    once = est.with_clock(of_run(10, 9, 11), [1e6], "bounded")
    assert est.with_clock(once, [2e6], "bounded").systematic == 3
    made = est.difference_of_two_runs(of_run(10, 9, 11, 0.3), of_run(20, 18, 22, 0.4))
    assert made.systematic == pytest.approx(0.7) and made.systematic_of == "clock"
    plain = est.difference_of_two_runs(of_run(10, 9, 11), of_run(20, 18, 22))
    assert (made.low, made.high) == (plain.low, plain.high) and plain.systematic_of == ""


def test_an_unknown_part_of_one_side_makes_that_of_both_unknown() -> None:
    a, b = of_run(10, 9, 11, 0.3), of_run(20, 18, 22, None, "clock, unproven")
    for made in (est.difference_of_two_runs(a, b), est.ratio_of_two_runs(b, a)):
        assert (made.systematic, made.systematic_of) == (None, "clock, unproven")
    other = est.difference_of_two_runs(a, of_run(20, 18, 22, 0.1, "trigger"))
    assert other.systematic_of == "clock and trigger"


def test_a_refused_difference_keeps_its_part() -> None:
    short = est.with_clock(est.quantile(SERIES[:50], 0.5, unit="ns"), [700], "bounded")
    for make in (est.difference_of_two_runs, est.ratio_of_two_runs):
        made = make(short, short)
        assert made.low is None and made.systematic and made.systematic_of == "clock"


ends = st.floats(0.5, 100)


@given(
    st.lists(ends, min_size=6, max_size=6),
    st.floats(0, 0.4),
    st.floats(0, 0.4),
    st.floats(-1, 1),
    st.floats(-1, 1),
)
def test_a_ratio_holds_whatever_the_two_clocks_do_within_their_bounds(
    numbers: list[float], part_a: float, part_b: float, off_a: float, off_b: float
) -> None:
    """With the values, and with both ends of the ratio's band, moved as far as the bounds allow."""
    (la, va, ua), (lb, vb, ub) = sorted(numbers[:3]), sorted(numbers[3:])
    a, b = of_run(va, la, ua, part_a), of_run(vb, lb, ub, part_b)
    made = est.ratio_of_two_runs(a, b)
    assert made.value is not None and made.low is not None and made.high is not None
    if part_a or part_b:
        assert made.systematic is not None
        moved = (1 + off_b * part_b / vb) / (1 + off_a * part_a / va)
        for ratio in (made.low, made.value, made.high):
            assert abs(ratio * moved - ratio) <= made.systematic * (1 + 1e-9)


def test_a_ratio_whose_lower_side_may_be_0_has_no_known_part() -> None:
    made = est.ratio_of_two_runs(of_run(10, 9, 11, 10.0), of_run(20, 18, 22, 0.1))
    assert (made.systematic, made.systematic_of) == (None, "clock")


def test_no_other_estimate_of_estimates_drops_it() -> None:
    made = of_run(10, 9, 11, 0.3)
    also = est.with_history(made, {"r1": made, "r2": replace(made, value=10.5)}, run="r0").also
    assert also and (also.systematic, also.systematic_of) == (0.3, "clock")
