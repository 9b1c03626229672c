"""The second band of one run, from the spread of archived runs that a person named."""

from __future__ import annotations

import math

import pytest

from akvsite import estimators as est
from akvsite.estimate import Estimate, unknown

THIS = Estimate(20.0, 19.9, 20.2, 1840, "ms", "EWC B=4", scope=est.ONE_RUN)


def named(*values: float, unit: str = "ms") -> dict[str, Estimate]:
    return {
        f"r{n}": Estimate(v, None, None, 1840, unit, "x", refusal="not asked")
        for n, v in enumerate(values, 1)
    }


def test_the_band_is_t_times_the_spread_around_this_run() -> None:
    made = est.with_history(
        THIS, named(10.0, 12.0, 14.0), run="r0"
    )  # sd 2, t_2 4.303, and their mean plays no part
    assert made.also is not None
    assert (made.low, made.high, made.scope) == (THIS.low, THIS.high, THIS.scope), (
        "the first band is not touched"
    )
    half = 4.302652729911275 * 2
    assert (made.also.low, made.also.high) == pytest.approx((20 - half, 20 + half))
    assert (made.also.value, made.also.n, made.also.dots) == (20.0, 3, (10.0, 12.0, 14.0))
    assert made.also.method == "history of 3 runs: r1, r2, r3; t on their spread, 2 df"
    assert made.also.scope == "configuration, by history"
    assert made.also.text().endswith("95 %, configuration, by history")
    assert "same host and contract" in made.also.footer()


def test_on_logs_it_is_a_factor() -> None:
    also = est.with_history(
        THIS, named(1.0, math.e**2), run="r0", log=True
    ).also  # sd of logs sqrt 2, t_1 12.706
    assert also is not None
    factor = math.exp(12.706204736432095 * math.sqrt(2))
    assert (also.low, also.high) == pytest.approx((20 / factor, 20 * factor))
    assert also.method.startswith("history of 2 runs: r1, r2 (logs)")
    with pytest.raises(ValueError, match="above 0"):
        est.with_history(THIS, named(1.0, 0.0), run="r0", log=True)


@pytest.mark.parametrize(
    "history, refusal",
    [
        ({}, "history needs 2 named runs or more, 0 named"),
        (named(10.0), "history needs 2 named runs or more, 1 named"),
        ({**named(10.0, 12.0), "this": THIS}, "the named runs hold this run itself (this)"),
        ({**named(10.0, 12.0), "r9": named(1.0, unit="us")["r1"]}, "another unit than ms in r9"),
        ({**named(10.0, 12.0), "r9": unknown("no steps", "ms")}, "no value in r9"),
    ],
)
def test_a_refused_history_says_why_and_leaves_the_run_as_it_is(
    history: dict[str, Estimate], refusal: str
) -> None:
    made = est.with_history(THIS, history, run="this")
    assert made.also is not None
    assert (made.low, made.also.low, made.also.refusal) == (19.9, None, refusal)
    assert refusal in made.also.text() and all(name in made.also.method for name in history)


def test_a_spread_far_from_0_is_not_lost() -> None:
    far = {
        n: Estimate(2 * 10**18 + v, None, None, 9, "ns", "x", refusal="not asked")
        for n, v in (("p", 0), ("q", 2))
    }
    also = est.with_history(Estimate(2 * 10**18, 0, 2 * 10**18, 9, "ns", "x"), far, run="r0").also
    assert also is not None and also.high is not None
    assert also.high - 2 * 10**18 == pytest.approx(12.706204736432095 * math.sqrt(2), abs=256)


def test_without_a_value_there_is_nothing_to_add_to() -> None:
    nothing = unknown("no steps", "ms")
    assert est.with_history(nothing, named(1.0, 2.0), run="r0") is nothing
    with pytest.raises(ValueError, match="no second band yet"):
        est.with_history(est.over_runs([1, 2, 3, 4, 5, 6], unit="ms"), named(1.0, 2.0), run="r0")
