"""What the printed line says of two clocks."""

from __future__ import annotations

from typing import Any

import pytest

from akvsite.pages import _clock_words as words


def clock(**more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "bound_id": 1, "made_by": "constraints", "state": "bounded", "because": None, "readings": 3, "slope_ppm": 200.0,
        "wander_ppm": 2.0, "half_median_ns": 1_050, "half_widest_ns": 3_020, "blind_low_ns": -4_150, "blind_high_ns": 5_210,
        "outside": 0, "outside_most_ns": None, "early": 0, "early_most_ns": None,
    }  # fmt: skip
    return made | more


VENDOR = {
    "made_by": "vendor",
    "state": "unproven",
    "readings": 0,
    "half_median_ns": None,
    "half_widest_ns": None,
}


def test_a_bounded_clock_says_how_far_and_on_what_it_rests() -> None:
    assert words.line([clock()]) == (
        "±1.1 us (widest 3.1 us) if one counter stamps all, brackets are true, and rates differ by <= 200 and wander by "
        "<= 2 ppm · blind to a constant bias of -4.2 us to +5.3 us"
    )


def test_of_several_the_widest_is_told_and_the_biases_of_all() -> None:
    said = words.line([clock(), clock(half_widest_ns=900, blind_low_ns=None, blind_high_ns=7_000)])
    assert "(widest 3.1 us) (the widest of 2 device clocks)" in said
    assert "blind to a constant bias of unbounded to +7.0 us" in said
    assert "blind to any constant bias" in words.line([clock(), clock(blind_low_ns=None, blind_high_ns=None)])


def test_where_there_are_no_readings_nothing_could_be_biased() -> None:
    said = words.line([clock(readings=0, blind_low_ns=None, blind_high_ns=None)])
    assert "made from causality alone: there is no reading that could be biased" in said


def test_a_vendors_clock_is_unproven_whatever_causality_says() -> None:
    one = clock(**VENDOR, blind_low_ns=None, blind_high_ns=-600, early=1, early_most_ns=600)
    assert words.line([one]) == (
        "device to host by the vendor, unproven: bound unknown · causality alone: blind to a constant bias of unbounded "
        "to -600.0 ns · records that begin before their call: 1, by 600.0 ns at most"
    )
    two = words.line([one, clock(**VENDOR, early=2, early_most_ns=50)])
    assert (
        "(2 device clocks)" in two and "records that begin before their call: 3, by 600.0 ns at most" in two
    )


def test_a_range_that_is_empty_is_not_printed_as_one() -> None:
    said = words.line([clock(**VENDOR, blind_low_ns=440_000, blind_high_ns=6_000)])
    assert "no constant bias fits what was submitted and waited for" in said
    assert "440" not in said


@pytest.mark.parametrize("state", ["inconsistent", "unbounded"])
def test_what_was_not_converted_has_no_bound_and_no_bias(state: str) -> None:
    said = words.line([clock(state=state, because="why", half_median_ns=None, half_widest_ns=None)])
    assert "±" not in said and "blind" not in said
    assert words.blind([clock(state=state)]) == "constant bias: not told"


def test_what_lies_outside_the_readings_and_between_two_tools_is_said() -> None:
    said = words.line([clock(outside=3, outside_most_ns=3_573_000_000_000)], axis_bound_ns=400_000)
    assert "3 times lie outside the readings, by 3573 s at most: there the rates are assumed" in said
    assert "against times of another tool ±400 us more" in said


def test_a_tick_says_how_it_is_known() -> None:
    assert words.tick(32, "lengths") == "32 ns, told from the lengths of its records"
    assert words.tick(None, None) == "unknown"
