"""How bands are made: numbers computed again by hand, what may not change them, and what gets no band."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import math
import pkgutil
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akvsite import estimate, estimators
from akvsite import estimators as est
from akvsite.estimate import Estimate

VERDICTS = re.compile(
    r"\b(faster|slower|better|worse|regression|improvement|wins?|significant|pass(es|ed)?|fail(s|ed|ure)?)\b",
    re.I,
)
#: Two-sided 95 % points of t, from printed tables.
T95 = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    6: 2.447,
    7: 2.365,
    8: 2.306,
    9: 2.262,
    10: 2.228,
    30: 2.042,
}
T99 = {1: 63.657, 2: 9.925, 4: 4.604, 8: 3.355, 30: 2.750}
T_4 = 2.7764451051977934
T_6 = 2.4469118511449692
T_8 = 2.3060041352041667


def steps(n: int, seed: int = 0) -> np.ndarray:
    """Steps around 20 ms in whole nanoseconds, each leaning on the one before."""
    rng = np.random.default_rng([74, seed, n])
    noise = rng.standard_normal(n)
    for at in range(1, n):
        noise[at] = 0.8 * noise[at - 1] + 0.6 * noise[at]
    return (20_000_000 + 500_000 * noise).astype(np.int64)


def ewc_by_hand(x: list[float], terms: int) -> float:
    n = len(x)
    middle = math.fsum(x) / n
    sums = [
        math.sqrt(2 / n)
        * math.fsum(math.cos(math.pi * j * (i + 0.5) / n) * (v - middle) for i, v in enumerate(x))
        for j in range(1, terms + 1)
    ]
    return math.fsum(s * s for s in sums) / terms


def quantile_by_hand(x: list[int], p: Fraction, terms: int, t: float) -> tuple[float, float, float]:
    n, ordered = len(x), sorted(x)
    q = ordered[math.ceil(n * p) - 1]
    half = t * math.sqrt(ewc_by_hand([float(y <= q) for y in x], terms) / n)
    low, high = math.floor(n * (float(p) - half)), math.ceil(n * (float(p) + half)) + 1
    return q, ordered[low - 1] if low >= 1 else -math.inf, ordered[high - 1] if high <= n else math.inf


def band(made: Estimate) -> tuple[float | None, float | None, float | None]:
    return made.value, made.low, made.high


# --- t ---


def test_t_is_that_of_the_printed_tables() -> None:
    for confidence, table in ((0.95, T95), (0.99, T99)):
        for degrees, t in table.items():
            assert est.student_t(confidence, degrees) == pytest.approx(t, abs=6e-4), degrees


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 8, 50])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 0.05 / 9])
def test_t_agrees_with_its_density_added_up(degrees: int, confidence: float) -> None:
    """Simpson's rule over the angle atan(t / sqrt(degrees)): there the density is a power of the cosine."""
    end = math.atan(est.student_t(confidence, degrees) / math.sqrt(degrees))
    grid = np.linspace(0, end, 2001)
    weights = np.where(np.arange(2001) % 2, 4.0, 2.0)
    weights[[0, -1]] = 1.0
    area = float(weights @ np.cos(grid) ** (degrees - 1)) * end / 2000 / 3
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    assert 2 * constant * area == pytest.approx(confidence, abs=1e-10)


# --- one run, computed again ---


@pytest.mark.parametrize(
    "n, terms, t", [(200, 4, T_4), (1999, 4, T_4), (2000, 6, T_6), (4999, 6, T_6), (5000, 8, T_8)]
)
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(95, 100), Fraction(1, 10)])
def test_quantile_is_the_written_formula(n: int, terms: int, t: float, p: Fraction) -> None:
    series = steps(n)
    assert len(set(series.tolist())) > 0.99 * n
    made = est.quantile(series, float(p), unit="ns")
    assert band(made) == quantile_by_hand(series.tolist(), p, terms, t)
    assert made.method == f"order statistics, EWC B={terms}"
    assert (made.n, made.refusal, made.scope) == (n, "", "this run only; between runs: unknown (1 run)")
    assert made.assumes == f"steady series after the cut, phi <= {0.8 if n < 500 else 0.95}"


def test_p99_from_5000_on_has_four_cosines() -> None:
    series = steps(5000)
    made = est.quantile(series, 0.99, unit="ns")
    assert band(made) == quantile_by_hand(series.tolist(), Fraction(99, 100), 4, T_4)


def test_quantile_of_tied_steps_takes_the_larger_variance() -> None:
    series = np.minimum(steps(400), np.sort(steps(400))[370])
    made = est.quantile(series, 0.95, unit="ns")
    cap = int(series.max())
    assert (
        all(series <= cap) and made.value == cap
    )  # the indicator of the formula is constant here: no width at all
    half = T_4 * math.sqrt(ewc_by_hand([float(y < cap) for y in series], 4) / 400)
    assert half > 0 and made.low == sorted(series.tolist())[math.floor(400 * (0.95 - half)) - 1]


def test_rows_at_once_are_the_rows_one_by_one() -> None:
    rows = np.stack([steps(300, seed) for seed in range(5)])
    rows[3] = rows[3] // 10**6  # ties
    assert est.quantile_rows(rows, 0.5, unit="ns") == [est.quantile(row, 0.5, unit="ns") for row in rows]
    short = rows[:, :100]
    assert est.quantile_rows(short, 0.99, unit="ns") == [est.quantile(row, 0.99, unit="ns") for row in short]
    assert est.quantile_rows(rows[:, :0], 0.5, unit="ns")[0].kind == "unknown"


@pytest.mark.parametrize("n, terms, t", [(200, 4, T_4), (2000, 6, T_6), (5000, 8, T_8)])
def test_mean_and_throughput_are_the_written_formula(n: int, terms: int, t: float) -> None:
    series = steps(n)
    exact = sum(series.tolist()) / n
    half = t * math.sqrt(ewc_by_hand([float(y) for y in series], terms) / n)
    made = est.mean(series, unit="ns")
    assert band(made) == pytest.approx((exact, exact - half, exact + half), rel=1e-12)
    rate = est.throughput(series, per_step=32, unit="tokens/s")
    assert band(rate) == pytest.approx(
        (32e9 / exact, 32e9 / (exact + half), 32e9 / (exact - half)), rel=1e-12
    )
    assert (rate.unit, rate.method) == ("tokens/s", f"1 / mean time, mean, EWC-t B={terms}")


def test_throughput_is_unbounded_where_the_mean_may_be_0_and_unknown_where_it_is() -> None:
    wild = np.zeros(200)
    wild[:5] = 1.0
    assert est.throughput(wild, time_unit="s").high == math.inf
    assert est.throughput(np.zeros(300)).text() == "unknown: the mean duration is not above 0"


def test_paired_steps_are_the_mean_of_differences() -> None:
    a, b = steps(500, 1) + 2**60, steps(500, 2) + 2**60
    made, plain = est.paired_steps(a, b, unit="ns"), est.mean(b - a, unit="ns")
    assert band(made) == band(plain)
    assert made.method == "mean of paired differences b - a, EWC-t B=4"


def test_budget_adds_up_inside_each_step() -> None:
    total = steps(300)
    regions = {"launch": total // 3, "wait": total // 2}
    made = est.budget(regions, total, unit="ns")
    assert list(made) == ["launch", "wait", "unattributed", "step"]
    assert band(made["unattributed"]) == band(est.mean(total - total // 3 - total // 2, unit="ns"))
    parts = sum(made[name].value or 0 for name in ("launch", "wait", "unattributed"))
    assert parts == pytest.approx(made["step"].value, rel=1e-12)
    overlapping = est.budget({"a": total, "b": total}, total, unit="ns")
    assert (overlapping["unattributed"].value or 0) < 0
    with pytest.raises(ValueError, match="not a region's name"):
        est.budget({"step": total}, total, unit="ns")


# --- runs, computed again ---


def test_over_runs_by_hand() -> None:
    made = est.over_runs([10.0, 12.0, 14.0], unit="ms")  # mean 12, sd 2, t_2 4.303
    half = 4.302652729911275 * 2 / math.sqrt(3)
    assert band(made) == pytest.approx((12, 12 - half, 12 + half))
    assert (made.n, made.dots, made.scope, made.also) == (3, (10, 12, 14), "3 runs", None)
    logs = est.over_runs(
        [1.0, math.e**2], unit="ratio", log=True
    )  # logs 0 and 2: mean 1, sd sqrt 2, t_1 12.706
    assert band(logs) == pytest.approx((math.e, math.exp(1 - 12.706204736), math.exp(1 + 12.706204736)))


def test_one_run_says_nothing_about_the_configuration() -> None:
    made = est.over_runs([10.0], unit="ms")
    assert (made.low, made.refusal) == (None, "between runs: unknown (1 run)")
    assert made.text("step") == "step 10.0 ms no band: between runs: unknown (1 run)"
    assert est.over_runs([], unit="ms").text() == "unknown: no runs"
    assert est.median_run([], unit="ms").text() == "unknown: no runs"


def test_from_six_runs_on_the_median_run_has_a_band_of_its_own() -> None:
    also = est.over_runs([3, 1, 2, 6, 5, 4], unit="ms").also
    assert also and band(also) == (3.5, 1, 6)
    assert also.confidence == 0.96875 and also.text() == "3.5 ms [1.0, 6.0] 96.8 %, median of 6 runs"
    few = est.median_run([3, 1, 2, 5, 4], unit="ms")
    assert (few.value, few.low, few.refusal) == (3, None, "5 runs < 6 for 95 % from [min, max]")


def of_run(value: float, low: float | None, high: float | None, **more: Any) -> Estimate:
    return Estimate(value, low, high, 1000, "ms", "EWC B=4", **more)


def test_mover_by_hand() -> None:
    """Zou and Donner's limits: each end from the gap below one side and the gap above the other."""
    a, b = of_run(10, 9, 13), of_run(20, 16, 23)
    made = est.difference_of_two_runs(a, b)
    assert band(made) == (10, 10 - math.hypot(4, 3), 10 + math.hypot(3, 1))
    ratio = est.ratio_of_two_runs(a, b)
    log = math.log
    below, above = math.hypot(log(20 / 16), log(13 / 10)), math.hypot(log(23 / 20), log(10 / 9))
    assert band(ratio) == pytest.approx((2, 2 * math.exp(-below), 2 * math.exp(above)))
    assert ratio.text().endswith("95 %, these two runs only")
    assert (ratio.unit, ratio.method) == ("ratio", "MOVER on logs of EWC B=4")


def test_ratio_of_two_runs_has_an_end_only_where_both_sides_have_one() -> None:
    sure = of_run(10, 9, 11)
    assert est.ratio_of_two_runs(of_run(10, 9, math.inf), sure).low == -math.inf
    assert est.ratio_of_two_runs(sure, of_run(10, 9, math.inf)).high == math.inf
    assert est.ratio_of_two_runs(of_run(1, -1, 2), sure).high == math.inf
    refused = est.ratio_of_two_runs(sure, of_run(20, None, None, refusal="n 71 < 200"))
    assert (refused.value, refused.low, refused.refusal) == (2, None, "b: n 71 < 200")
    assert est.ratio_of_two_runs(of_run(-1, -2, 2), sure).kind == "unknown"
    assert (
        est.ratio_of_two_runs(est.quantile([], 0.5, unit="ms"), sure).text()
        == "unknown: a: unknown: no samples"
    )
    with pytest.raises(ValueError, match="two units"):
        est.ratio_of_two_runs(sure, Estimate(1, 1, 1, 1, "s", ""))


def test_paired_runs_by_hand() -> None:
    made = est.difference_of_paired_runs([1, 2, 3], [2, 4, 6], unit="ms")  # 1, 2, 3: mean 2, sd 1
    half = 4.302652729911275 / math.sqrt(3)
    assert band(made) == pytest.approx((2, 2 - half, 2 + half))
    ratio = est.ratio_of_paired_runs([1, 1, 1], [1, math.e, math.e**2])
    half = 4.302652729911275 / math.sqrt(3)
    assert band(ratio) == pytest.approx((math.e, math.exp(1 - half), math.exp(1 + half)))
    assert ratio.text().endswith("3 pairs") and len(ratio.dots) == 3
    assert est.ratio_of_paired_runs([1], [2]).refusal == "between pairs: unknown (1 pair)"


@pytest.mark.parametrize(
    "order, kept", [("ABBAABBA", True), ("ABBABAAB", True), ("AAAABBBB", False), ("ABABABAB", False)]
)
def test_an_order_in_which_a_drift_is_an_effect_gets_no_band(order: str, kept: bool) -> None:
    made = est.ratio_of_paired_runs([1, 2, 3, 4], [2, 3, 4, 5], order=order)
    assert (made.low is not None) == kept
    assert order in (made.assumes if kept else made.refusal)


@pytest.mark.parametrize("c, k, b", [(10.0, 20.0, 24.0), (20.0, 10.0, 24.0), (10.0, 10.0, 9.0)])
def test_overlap_triples_by_differences(c: float, k: float, b: float) -> None:
    """The slopes are taken by nudging each mean, not by the formula."""
    rng = np.random.default_rng(5)
    times = [middle * (1 + 0.01 * rng.standard_normal(8)) for middle in (c, k, b)]
    if c == k:
        times[1] = times[0]  # a tie of the means: one side's slopes

    def overlap(c: float, k: float, b: float) -> float:
        return (c + k - b) / min(c, k)

    means = [float(time.mean()) for time in times]
    value, step = overlap(*means), 1e-6
    up = [overlap(*(m + step * (i == j) for i, m in enumerate(means))) for j in range(3)]
    down = [overlap(*(m - step * (i == j) for i, m in enumerate(means))) for j in range(3)]
    if c == k:  # k is taken as the shorter one
        slopes = [1 / means[1], (means[2] - means[0]) / means[1] ** 2, -1 / means[1]]
    else:
        slopes = [(u - d) / (2 * step) for u, d in zip(up, down, strict=True)]
    line = sum(slope * time for slope, time in zip(slopes, times, strict=True))
    half = 2.364624251592784 * float(np.std(line, ddof=1)) / math.sqrt(8)
    made = est.overlap_triples(*times)
    assert band(made) == pytest.approx((value, value - half, value + half), rel=1e-6)


def test_overlap_is_never_clipped() -> None:
    made = est.overlap_triples([10, 10.1], [20, 20.1], [19, 19.2])
    assert made.value is not None and made.value > 1
    assert est.overlap_triples([1.0], [1.0], [1.0]).refusal == "between triples: unknown (1 triple)"
    assert est.overlap_triples([], [], []).kind == "unknown"
    with pytest.raises(ValueError, match="above 0"):
        est.overlap_triples([1.0], [0.0], [1.0])


# --- decile shift ---


def test_decile_shift_of_two_runs_joins_wider_bands() -> None:
    a, b = steps(2000, 1), steps(2000, 2) + 10_000_000
    made = est.decile_shift(a, b, unit="ns")
    assert list(made) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    at = sorted(b.tolist())[999] - sorted(a.tolist())[999]
    t = est.student_t(1 - 0.05 / 9, 6)
    sides = [quantile_by_hand(side.tolist(), Fraction(1, 2), 6, t) for side in (a, b)]
    (qa, la, ua), (qb, lb, ub) = sides
    assert band(made[0.5]) == (at, at - math.hypot(qb - lb, ua - qa), at + math.hypot(ub - qb, qa - la))
    lone = est.difference_of_two_runs(*(est.quantile(side, 0.5, unit="ns") for side in (a, b)))
    assert lone.low is not None and made[0.5].low is not None and made[0.5].low < lone.low
    assert (
        made[0.5]
        == est.decile_shift([a], [b], unit="ns")[0.5]
        == est.decile_shift(a.tolist(), [b], unit="ns")[0.5]
    )


def test_decile_shift_of_runs_is_t_over_pairs() -> None:
    a, b = [steps(100, seed) for seed in (1, 2, 3)], [steps(150, seed) for seed in (4, 5, 6)]
    made = est.decile_shift(a, b, unit="ns")[0.9]
    shifts = [sorted(y.tolist())[134] - sorted(x.tolist())[89] for x, y in zip(a, b, strict=True)]
    middle = sum(shifts) / 3
    t = est.student_t(1 - 0.05 / 9, 2)
    half = t * math.sqrt(sum((s - middle) ** 2 for s in shifts) / 2 / 3)
    assert band(made) == pytest.approx((middle, middle - half, middle + half))
    assert "3 pairs, nine deciles at once" in made.text() and made.dots == tuple(shifts)


def test_decile_shift_refuses() -> None:
    short = est.decile_shift(steps(199), steps(500), unit="ns")
    assert {made.refusal for made in short.values()} == {"n 199 < 200"}
    unlike = est.decile_shift([steps(300), steps(300)], [steps(300)], unit="ns")
    assert {made.refusal for made in unlike.values()} == {"2 runs against 1 are not pairs"}
    assert {made.kind for made in est.decile_shift([], steps(300), unit="ns").values()} == {"unknown"}


# --- refusals ---


def test_p99_of_71_latencies_says_why_not_and_beside_it_what_can_be_said() -> None:
    """The largest of 71 is no bound of p99: that needs 299 at least, and a band needs more."""
    latencies = np.linspace(40.0, 128.42, 71)
    made = est.quantile(latencies, 0.99, unit="ms")
    assert (made.value, made.low, made.high) == (128.42, None, None)
    assert made.refusal == "p99 needs n >= 5000, n is 71"
    assert made.one_sided == "upper bound of p99 is unbounded (n < 299)"
    assert made.text("p99") == f"p99 128 ms no band: {made.refusal}; {made.one_sided}"
    asked = est.request_quantile(latencies, 0.99, unit="ms", concurrency=1)
    assert (asked.low, asked.one_sided) == (None, made.one_sided)
    assert asked.refusal == "p99 needs requests >= 5000, requests are 71"


@pytest.mark.parametrize(
    "n, p, refusal, one_sided",
    [
        (199, 0.5, "n 199 < 200", ""),
        (1, 0.5, "n 1 < 200", "upper bound of p50 is unbounded (n < 5)"),
        (58, 0.95, "n 58 < 200", "upper bound of p95 is unbounded (n < 59)"),
        (58, 0.05, "n 58 < 200", "lower bound of p5 is unbounded (n < 59)"),
        (298, 0.99, "p99 needs n >= 5000, n is 298", "upper bound of p99 is unbounded (n < 299)"),
        (
            299,
            0.99,
            "p99 needs n >= 5000, n is 299",
            "upper bound of p99 is 298.0 ms only if steps were independent (n >= 299)",
        ),
        (
            4999,
            0.01,
            "p1 needs n >= 5000, n is 4999",
            "lower bound of p1 is 0 ms only if steps were independent (n >= 299)",
        ),
        (
            9000,
            0.999,
            "no rule is calibrated for p99.9",
            "upper bound of p99.9 is 8.999 s only if steps were independent (n >= 2995)",
        ),
        (200, 0.5, "", ""),
        (200, 0.95, "", ""),
        (5000, 0.99, "", ""),
    ],
)
def test_refusals_of_one_run(n: int, p: float, refusal: str, one_sided: str) -> None:
    made = est.quantile(range(n), p, unit="ms")
    assert (made.refusal, made.one_sided) == (refusal, one_sided)
    assert (made.low is None) == bool(refusal)
    assert made.dots == (tuple(range(n)) if n < 200 else ())


@pytest.mark.parametrize(
    "n, concurrency, refusal",
    [
        (199, 1, "requests 199 < 200"),
        (800, 17, "requests / concurrency 47.06 < 50"),
        (800, 16, ""),
        (200, 4, ""),
    ],
)
def test_refusals_of_requests(n: int, concurrency: int, refusal: str) -> None:
    made = est.request_quantile(steps(n), 0.5, unit="ns", concurrency=concurrency)
    assert made.refusal == refusal and (made.low is None) == bool(refusal)


def test_requests_have_four_cosines_at_any_count() -> None:
    series = steps(5000)
    made = est.request_quantile(series, 0.5, unit="ns", concurrency=8)
    assert band(made) == quantile_by_hand(series.tolist(), Fraction(1, 2), 4, T_4)
    assert made.assumes.startswith("completion order") and "one round in flight" in made.assumes


def test_an_end_beyond_the_sample_is_unbounded() -> None:
    slow = np.arange(300)  # a drift from end to end: nothing bounds its p95 from above
    made = est.quantile(slow, 0.95, unit="ms")
    assert made.high == math.inf and "unbounded" in made.text()
    assert made.as_row()["high"] is None and made.as_row()["high_unbounded"]


def test_warm_up_is_cut_by_the_declared_number_and_printed() -> None:
    series = steps(2000)
    made = est.quantile(series, 0.5, unit="ns", cut=160)
    assert band(made) == band(est.quantile(series[160:], 0.5, unit="ns"))
    assert "n 1840 (160 cut, declared)" in made.footer()
    assert est.quantile(series, 0.5, unit="ns", cut=1900).refusal == "n 100 < 200"
    assert est.mean(series, unit="ns", cut=5000).kind == "unknown"


@pytest.mark.parametrize(
    "samples", [[1.0, math.nan], [1.0, math.inf], [1, None], ["1"], [True], [[1.0]], 3.0, np.array([1 + 1j])]
)
def test_what_is_missing_is_not_a_sample(samples: Any) -> None:
    with pytest.raises(ValueError, match=r"samples|finite"):
        est.quantile(samples, 0.5, unit="ns")


# --- what may not change an estimate ---

whole = st.integers(-(2**40), 2**40)
series_of = st.tuples(st.integers(200, 420), st.integers(0, 10**6), st.sampled_from([1, 7, 10**6]))


def drawn(shape: tuple[int, int, int]) -> np.ndarray:
    n, seed, tick = shape
    return steps(n, seed) // tick


@settings(max_examples=60, deadline=None)
@given(series_of, st.integers(-(2**61), 2**61), st.integers(1, 1000), st.sampled_from([0.05, 0.5, 0.9, 0.95]))
def test_quantiles_follow_units_and_origin_exactly(
    shape: tuple[int, int, int], shift: int, scale: int, p: float
) -> None:
    series = drawn(shape)
    plain = est.quantile(series, p, unit="ns")
    moved = est.quantile(series * scale + shift, p, unit="ns")
    for end, other in zip(band(plain), band(moved), strict=True):
        assert end is not None
        assert other == (end * scale + shift if math.isfinite(end) else end)
    assert isinstance(moved.value, int)
    assert plain.low is not None and plain.value is not None and plain.high is not None
    assert plain.low <= plain.value <= plain.high
    finite = [end for end in band(plain) if end is not None and math.isfinite(end)]
    assert set(finite) <= set(series.tolist())


@settings(max_examples=60, deadline=None)
@given(series_of, st.integers(-(2**50), 2**50), st.floats(1e-9, 1e9))
def test_means_follow_units_and_origin(shape: tuple[int, int, int], shift: int, scale: float) -> None:
    series = drawn(shape)
    plain, moved, scaled = (est.mean(x, unit="ns") for x in (series, series + shift, series * scale))
    assert (
        plain.value is not None
        and plain.low is not None
        and moved.value is not None
        and moved.low is not None
    )
    half, slack = plain.value - plain.low, 1e-6 + abs(shift) * 1e-15
    assert moved.value - shift == pytest.approx(plain.value, abs=slack)
    assert moved.value - moved.low == pytest.approx(half, rel=1e-9, abs=slack)
    assert band(scaled) == pytest.approx([end * scale for end in band(plain) if end is not None], rel=1e-9)


runs_of = st.lists(st.floats(0.1, 1000), min_size=2, max_size=8)


@given(runs_of, st.floats(1e-9, 1e9))
def test_runs_follow_units_and_stay_within_their_band(values: list[float], scale: float) -> None:
    for log in (False, True):
        plain = est.over_runs(values, unit="ms", log=log)
        scaled = est.over_runs([v * scale for v in values], unit="ms", log=log)
        assert plain.low is not None and plain.value is not None and plain.high is not None
        assert plain.low <= plain.value <= plain.high
        size = max(abs(end) for end in band(plain) if end is not None)
        assert [end / scale for end in band(scaled) if end is not None] == pytest.approx(
            list(band(plain)), rel=1e-6, abs=1e-12 * size
        )


@given(st.lists(st.tuples(*[st.floats(1, 100)] * 3), min_size=2, max_size=8), st.floats(1e-9, 1e9))
def test_ratios_and_overlap_have_no_unit(triples: list[tuple[float, float, float]], scale: float) -> None:
    sides = [np.array(side) for side in zip(*triples, strict=True)]
    for plain, scaled in (
        (est.overlap_triples(*sides), est.overlap_triples(*(side * scale for side in sides))),
        (
            est.ratio_of_paired_runs(*sides[:2]),
            est.ratio_of_paired_runs(*(side * scale for side in sides[:2])),
        ),
    ):
        assert plain.low is not None and plain.value is not None and plain.high is not None
        assert plain.low <= plain.value <= plain.high
        if abs(sides[0].mean() - sides[1].mean()) > 1e-9:  # else scaling may change which one is the shorter
            assert band(scaled) == pytest.approx(
                band(plain), rel=1e-6, abs=1e-9 * (1 + plain.high - plain.low)
            )


@given(st.lists(st.floats(0.1, 100), min_size=6, max_size=6))
def test_ratio_turned_over_is_one_over_the_ratio(ends: list[float]) -> None:
    a, b = (of_run(middle, low, high) for low, middle, high in (sorted(ends[:3]), sorted(ends[3:])))
    there, back = est.ratio_of_two_runs(a, b), est.ratio_of_two_runs(b, a)
    assert there.low is not None and there.value is not None and there.high is not None
    assert there.low <= there.value <= there.high
    assert band(back) == pytest.approx((1 / there.value, 1 / there.high, 1 / there.low))


def test_numbers_far_from_the_origin_lose_nothing() -> None:
    near, far = steps(300), steps(300).astype(np.uint64) + np.uint64(2**63)
    made = est.quantile(far, 0.5, unit="ns")
    assert made.value == 2**63 + int(est.quantile(near, 0.5, unit="ns").value or 0)
    spread = est.mean(np.array([-(2**63), 2**63 - 1] * 150), unit="ns")
    assert spread.value is not None and abs(spread.value) < 2**40
    tiny, plain = est.mean(near * 1e-200, unit="s"), est.mean(near * 1.0, unit="s")
    assert tiny.high is not None and plain.high is not None and tiny.high * 1e200 == pytest.approx(plain.high)


# --- words ---


def test_no_verdict_is_ever_written() -> None:
    a, b = steps(300, 1), steps(300, 2)
    made = [
        est.quantile(a, 0.5, unit="ns"),
        est.quantile(a, 0.99, unit="ns"),
        est.request_quantile(a, 0.5, unit="ns", concurrency=100),
        est.mean(a, unit="ns"),
        est.throughput(a),
        est.paired_steps(a, b, unit="ns"),
        *est.budget({"wait": a // 2}, a, unit="ns").values(),
        est.over_runs([1, 2, 3, 4, 5, 6], unit="ms"),
        est.ratio_of_two_runs(est.mean(a, unit="ns"), est.mean(b, unit="ns")),
        est.ratio_of_paired_runs([1, 2], [2, 1], order="AABB"),
        est.ratio_of_paired_runs([1, 2], [2, 1], order="ABBA"),
        est.difference_of_paired_runs([1], [2], unit="ms"),
        est.overlap_triples([1, 2], [2, 3], [3, 4]),
        *est.decile_shift(a, b, unit="ns").values(),
        *est.decile_shift([a, b], [b, a], unit="ns").values(),
    ]
    for one in made:
        written = json.dumps(one.as_row(), allow_nan=False)
        assert not VERDICTS.search(written), written
        assert one.method and (one.refusal or (one.scope and one.assumes)), written


def test_every_public_estimator_says_what_it_does() -> None:
    public: list[Callable[..., Any]] = [
        made
        for name, made in vars(est).items()
        if inspect.isfunction(made) and made.__module__.startswith(est.__name__) and not name.startswith("_")
    ]
    assert len(public) >= 14
    assert all(inspect.getdoc(made) for made in public)


_PARTS = [importlib.import_module(f"{est.__name__}.{m.name}") for m in pkgutil.iter_modules(est.__path__)]


@pytest.mark.parametrize("module", [estimate, estimators, *_PARTS])
def test_examples_in_docstrings_hold(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_requests_without_a_declared_concurrency_have_no_band() -> None:
    made = est.request_quantile(range(5_000), 0.5, unit="ns", concurrency=None)
    assert made.value is not None and made.low is None
    assert "declares no concurrency" in made.text()
