"""What may not change an estimate: the unit of its samples, the origin of time, and, for refusals, any value at all."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akvsite import estimators as est
from akvsite.estimate import Estimate

NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
ORIGIN = 2 * 10**18

shapes = st.tuples(st.integers(200, 420), st.integers(0, 10**6), st.sampled_from([1000, 10**4, 10**6]))


def series(shape: tuple[int, int, int]) -> np.ndarray:
    """Step times in whole microseconds or coarser, as whole nanoseconds: a tick that every unit can write."""
    n, seed, tick = shape
    rng = np.random.default_rng([31, seed])
    return (20_000_000 + 2_000_000 * rng.standard_exponential(n)).astype(np.int64) // tick * tick


def in_unit(values: np.ndarray, unit: str) -> np.ndarray:
    return values if unit == "ns" else values / NS[unit]


@settings(max_examples=40, deadline=None)
@given(shapes, st.sampled_from(sorted(NS)), st.sampled_from([0.05, 0.5, 0.95, 0.99]))
def test_a_quantile_reads_the_same_in_every_unit(shape: tuple[int, int, int], unit: str, p: float) -> None:
    ns = series(shape)
    made = est.quantile(in_unit(ns, unit), p, unit=unit)
    assert made.text("p") == est.quantile(ns, p, unit="ns").text("p")


@settings(max_examples=40, deadline=None)
@given(shapes, shapes, st.sampled_from(sorted(NS)))
def test_the_rest_is_the_same_number_in_every_unit(
    one: tuple[int, int, int], two: tuple[int, int, int], unit: str
) -> None:
    n = min(one[0], two[0])
    a, b = series(one)[:n], series(two)[:n] + 1_000_000
    made = made_of(in_unit(a, unit), in_unit(b, unit), unit)
    for plain, other in zip(made_of(a, b, "ns"), made, strict=True):
        scale = NS[unit] if other.unit == unit else 1
        assert other.value is not None and plain.value is not None, plain
        assert other.value * scale == pytest.approx(plain.value, rel=1e-9, abs=1e-4)
        assert (other.low is None, other.refusal) == (plain.low is None, plain.refusal)
        if other.low is not None and plain.low is not None:
            assert (other.low * scale, (other.high or 0) * scale) == pytest.approx(
                (plain.low, plain.high), rel=1e-6, abs=1e-4
            )


def made_of(a: np.ndarray, b: np.ndarray, unit: str) -> list[Estimate]:
    """Of every estimator, made from two series of steps in one unit."""
    sides = [est.quantile(side, 0.5, unit=unit) for side in (a, b)]
    rest = {"r1": sides[1], "r2": est.mean(b, unit=unit)}
    also = est.with_history(sides[0], rest, run="r0").also
    assert also is not None
    return [
        *(est.mean(side, unit=unit) for side in (a, b)),
        est.throughput(a, time_unit=unit),  # type: ignore[arg-type]
        est.paired_steps(a, b, unit=unit),
        *est.budget({"part": a // 2 if unit == "ns" else a / 2}, a, unit=unit).values(),
        est.over_runs(a[:7], unit=unit),
        est.median_run(a[:7], unit=unit),
        est.difference_of_paired_runs(a[:5], b[:5], unit=unit),
        est.ratio_of_paired_runs(a[:5], b[:5]),
        est.difference_of_two_runs(*sides),
        est.ratio_of_two_runs(*sides),
        also,
        *est.decile_shift(a, b, unit=unit).values(),
        *est.decile_shift([a, 2 * a], [b, b], unit=unit).values(),
    ]  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(shapes, shapes, st.integers(-ORIGIN, ORIGIN))
def test_differences_have_no_origin(one: tuple[int, int, int], two: tuple[int, int, int], shift: int) -> None:
    """Both sides moved by as much, as far as 2e18 ns (times since 1970): not a nanosecond is lost."""
    n = min(one[0], two[0])
    a, b = series(one)[:n], series(two)[:n]
    assert est.paired_steps(a + shift, b + shift, unit="ns") == est.paired_steps(a, b, unit="ns")
    pairs = est.difference_of_paired_runs(a[:6] + shift, b[:6] + shift, unit="ns")
    assert pairs == est.difference_of_paired_runs(a[:6], b[:6], unit="ns")
    moved, plain = (
        est.difference_of_two_runs(*(est.quantile(x + by, 0.5, unit="ns") for x in (a, b)))
        for by in (shift, 0)
    )
    assert (moved.value, moved.low, moved.high) == (plain.value, plain.low, plain.high)
    assert est.decile_shift(a + shift, b + shift, unit="ns") == est.decile_shift(a, b, unit="ns")


@pytest.mark.parametrize("shift", [ORIGIN, -ORIGIN])
def test_a_quantile_and_the_spread_of_runs_are_exact_far_from_0(shift: int) -> None:
    values = series((300, 3, 1000))
    near, far = (est.quantile(values + by, 0.95, unit="ns") for by in (0, shift))
    assert [far.value, far.low, far.high] == [end + shift for end in (near.value, near.low, near.high) if end]
    assert [type(end) for end in (far.value, far.low, far.high)] == [int, int, int]
    runs = np.array([0, 2, 4]) + shift
    made = est.over_runs(runs, unit="ns")
    assert made.dots == tuple(runs.tolist())
    half = 4.302652729911275 * 2 / math.sqrt(3)
    assert made.high is not None and made.low is not None
    assert made.high - made.low == pytest.approx(2 * half, abs=1024)


def refusable(n: int) -> list[Callable[[np.ndarray], Estimate]]:
    """Of every estimator that may refuse, at this count of samples."""
    half = n // 2

    def of_pairs(x: np.ndarray, order: str) -> Estimate:
        return est.ratio_of_paired_runs(x[:4], x[-4:], order=order)

    def of_history(x: np.ndarray, name: str) -> Estimate:
        made = est.with_history(
            est.quantile(x, 0.5, unit="ms"), {name: est.mean(x, unit="ms")}, run="r0"
        ).also
        assert made is not None
        return made

    return [
        *(lambda x, p=p: est.quantile(x, p, unit="ms") for p in (0.01, 0.5, 0.95, 0.99, 0.999)),  # type: ignore[misc]
        *(lambda x, c=c: est.request_quantile(x, 0.5, unit="ms", concurrency=c) for c in (None, 4, 64)),  # type: ignore[misc]
        lambda x: est.mean(x, unit="ms"),
        lambda x: est.throughput(x),
        lambda x: est.paired_steps(x[:half], x[:half], unit="ms"),
        lambda x: est.budget({"part": x}, x, unit="ms")[est.UNATTRIBUTED],
        lambda x: est.over_runs(x[:1], unit="ms"),
        lambda x: est.median_run(x[:5], unit="ms"),
        lambda x: of_pairs(x, "AAAABBBB"),
        lambda x: of_pairs(x, "ABBAABBA"),
        lambda x: est.difference_of_two_runs(*(est.quantile(side, 0.5, unit="ms") for side in (x[:half], x))),
        lambda x: est.ratio_of_two_runs(*(est.mean(side, unit="ms") for side in (x[:half], x))),
        lambda x: est.overlap_triples(x[:1], x[:1], x[:1]),
        lambda x: est.decile_shift(x[:half], x, unit="ms")[0.5],
        lambda x: est.decile_shift([x, x], [x], unit="ms")[0.5],
        lambda x: of_history(x, "r0"),
        lambda x: of_history(x, "r1"),
    ]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([8, 71, 199, 200, 398, 400]), st.data())
def test_no_refusal_depends_on_values_and_every_one_prints_its_reason(n: int, data: st.DataObject) -> None:
    one = np.arange(1.0, n + 1)
    kinds = st.sampled_from(["constant", "spikes", "walk", "drift"])
    other = {
        "constant": np.full(n, 3.0),
        "spikes": np.where(np.arange(n) % 17 == 3, 1e9, 1e-3),
        "walk": 1e6 + np.cumsum(np.random.default_rng(n).standard_normal(n)),
        "drift": np.exp(np.linspace(0, 30, n)),
    }[data.draw(kinds)]
    refused = 0
    for make in refusable(n):
        made, again = make(one), make(other)
        assert (made.refusal, made.low is None) == (again.refusal, again.low is None)
        for printed in (made, again):
            if printed.low is None:
                refused += 1
                assert printed.refusal and printed.refusal in printed.text()
                assert printed.refusal in printed.as_row()["text"]
    assert refused
