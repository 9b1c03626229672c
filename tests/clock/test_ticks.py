from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akvsite.clock import UNITS, Resolution, Unit, resolution, ticks_between, unwrapped

HZ = Resolution(19_200_000, "cycles a second")
ROUNDED = Resolution(52, "ns a tick")


def test_a_wrap_is_undone_in_ticks_before_they_are_converted() -> None:
    """D1 (CHIP-SPV/chipStar#128): 36 valid bits, a kernel across the wrap."""
    ticks = ticks_between(68_718_903_659, 240_385, 36)
    assert ticks == 813_462
    # 42.368 ms: 42,367,812.5 ns exactly, and a half goes to the even one. 52 ns a tick would say 42.300 ms.
    assert HZ.ns(ticks) == 42_367_812
    assert ROUNDED.ns(ticks) == 42_300_024


def test_an_hour_in_cycles_a_second_and_in_rounded_nanoseconds() -> None:
    """D2 (intel/llvm#21279): the same ticks under the two meanings of the field."""
    assert HZ.ns(69_120_000_000) == 3_600 * 10**9 and not HZ.rounded
    assert ROUNDED.ns(69_120_000_000) == 3_594_240_000_000 and ROUNDED.rounded
    assert "rounded" in str(ROUNDED) and "rounded" not in str(HZ)


@pytest.mark.parametrize(("value", "unit"), [(52, None), (19_200_000, None), (52, "us"), (52, "")])
def test_a_resolution_without_a_known_unit_is_refused(value: int, unit: str | None) -> None:
    with pytest.raises(ValueError, match="timer resolution"):
        resolution(value, unit)


@pytest.mark.parametrize("value", [0, -52])
def test_a_resolution_that_is_none_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="is none"):
        resolution(value, "ns a tick")


@given(st.integers(1, 64), st.data())
def test_what_was_wrapped_is_unwrapped(bits: int, data: st.DataObject) -> None:
    turn = 1 << bits
    most = min(turn - 1, 2**57)
    start = data.draw(st.integers(0, turn - 1))
    steps = data.draw(st.lists(st.integers(0, most), max_size=30))
    truth = np.concatenate(([0], np.cumsum(np.array(steps, dtype=object)))).tolist()
    seen = np.array([(start + t) % turn for t in truth], np.uint64)
    assert unwrapped(seen, bits).tolist() == truth


@given(st.integers(1, 10**12), st.integers(0, 2**63 - 1))
def test_conversion_is_exact_to_half_a_nanosecond(hz: int, ticks: int) -> None:
    assert abs(Resolution(hz, "cycles a second").ns(ticks) - Fraction(ticks * 10**9, hz)) <= Fraction(1, 2)


@given(
    st.integers(1, 10**12),
    st.sampled_from(UNITS),
    st.lists(st.integers(-(2**40), 2**40) | st.integers(0, 2**62)),
)
def test_many_ticks_are_converted_as_one_is(value: int, unit: Unit, ticks: list[int]) -> None:
    clock = Resolution(value, unit)
    ns = [clock.ns(tick) for tick in ticks]
    if all(abs(each) < 2**62 for each in ns):
        assert clock.ns_of(np.array(ticks, np.int64)).tolist() == ns
    elif any(abs(each) > 2**63 for each in ns):
        with pytest.raises(ValueError, match="63 bits"):
            clock.ns_of(np.array(ticks, np.int64))


def test_a_half_goes_to_the_even_nanosecond() -> None:
    two_a_tick = Resolution(2 * 10**9, "cycles a second")
    assert two_a_tick.ns_of(np.array([1, 3, 5, -1, -3])).tolist() == [0, 2, 2, 0, -2]
    assert HZ.ns_of(np.array([], np.int64)).tolist() == []


def test_what_cannot_be_a_counter_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 36 valid bits"):
        unwrapped(np.array([1 << 36], np.uint64), 36)
    with pytest.raises(ValueError, match="1 to 64 valid bits"):
        ticks_between(0, 1, 0)
    with pytest.raises(ValueError, match="63 bits"):
        unwrapped(np.array([0, 2**63, 1, 2**63], np.uint64), 64)
    assert unwrapped(np.array([], np.uint64), 36).tolist() == []
