"""A short look at what ``python -m tests.calibration`` checks on its full grid, with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

from akvsite import estimators as est
from akvsite.estimate import Estimate

from . import comparison_grid, history_grid, simulate
from .cover import covered


def rng_of(*key: int) -> np.random.Generator:
    return np.random.default_rng([2018, *key])


@pytest.mark.parametrize("n", [1000, 2000])
@pytest.mark.parametrize("spikes", ["none", "burst"])
def test_quantiles_of_one_run(n: int, spikes: simulate.Spikes) -> None:
    rows = simulate.runs(rng_of(n, len(spikes)), 1000, n, 0.8, spikes)
    for p in (0.5, 0.95):
        bands = est.quantile_rows(rows, p, unit="ms")
        assert 92.5 <= covered(bands, simulate.true_quantile(p, spikes)) <= 98.5, p


def test_p99_from_5000_steps() -> None:
    rows = simulate.runs(rng_of(99), 1000, 5000, 0.8, "iid")
    assert covered(est.quantile_rows(rows, 0.99, unit="ms"), simulate.true_quantile(0.99, "iid")) >= 92.5


def test_mean_and_throughput_of_one_run() -> None:
    rows = 20 + simulate.runs(rng_of(1), 1000, 1000, 0.8)
    assert 92.5 <= covered([est.mean(row, unit="ms") for row in rows], 20.0) <= 98.5
    assert 92.5 <= covered([est.throughput(row, time_unit="ms") for row in rows], 50.0) <= 98.5


def test_paired_steps() -> None:
    a, b = (simulate.runs(rng_of(2, side), 1000, 1000, 0.8) for side in (0, 1))
    bands = [est.paired_steps(x, y + 0.5, unit="ms") for x, y in zip(a, b, strict=True)]
    assert 92.5 <= covered(bands, 0.5) <= 98.5


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("between", [0.0, 0.03])
def test_t_over_runs(k: int, between: float) -> None:
    values = simulate.run_statistics(rng_of(3, k, round(between * 100)), 4000, k, between)
    assert 93.5 <= covered([est.over_runs(row, unit="ms") for row in values], 1.0) <= 96.5


def test_median_run_reaches_its_exact_confidence() -> None:
    values = simulate.run_statistics(rng_of(4), 4000, 6, 0.03)
    bands = [est.median_run(row, unit="ms") for row in values]
    assert bands[0].confidence == 1 - 2 / 2**6
    assert covered(bands, 1.0) == pytest.approx(96.875, abs=1.0)


def test_abba_pairs_under_drift() -> None:
    a, b = simulate.abba(rng_of(5), 4000, "ABBABAAB" * 2, ratio=1.02, drift=0.03)
    bands = [est.ratio_of_paired_runs(x, y) for x, y in zip(a, b, strict=True)]
    assert 94.0 <= covered(bands, 1.02) <= 98.0


def test_runs_of_one_kind_after_those_of_the_other_are_why_an_order_is_asked_for() -> None:
    order = "AAAABBBB"
    a, b = simulate.abba(rng_of(6), 2000, order, ratio=1.0, drift=0.03)
    assert covered([est.ratio_of_paired_runs(x, y) for x, y in zip(a, b, strict=True)], 1.0) < 75
    assert est.ratio_of_paired_runs(a[0], b[0], order=order).low is None


@pytest.mark.parametrize("copy, compute, overlap", [(1.0, 2.0, 0.5), (2.0, 1.0, 0.9), (1.0, 1.2, 1.0)])
def test_overlap_triples(copy: float, compute: float, overlap: float) -> None:
    times = simulate.triples(rng_of(7, round(10 * overlap)), 3000, 8, copy, compute, overlap)
    assert 94.0 <= covered(map(est.overlap_triples, *times), overlap) <= 98.0


def test_same_distribution_comparison_misses_zero_as_often_as_it_says() -> None:
    a, b = simulate.abba(rng_of(8), 4000, "ABBA" * 4, ratio=1.0, drift=0.0)
    bands = [est.difference_of_paired_runs(x, y, unit="ms") for x, y in zip(a, b, strict=True)]
    assert 3.5 <= 100 - covered(bands, 0.0) <= 6.5


def test_two_equal_runs_are_kept_apart_no_more_often_than_stated() -> None:
    a, b = (20 + simulate.runs(rng_of(9, side), 1000, 1000, 0.8) for side in (0, 1))
    sides = zip(est.quantile_rows(a, 0.5, unit="ms"), est.quantile_rows(b, 0.5, unit="ms"), strict=True)
    assert covered([est.ratio_of_two_runs(x, y) for x, y in sides], 1.0) >= 95.0


def test_decile_shift_of_two_runs_holds_at_all_nine_at_once() -> None:
    a, b = (simulate.runs(rng_of(10, side), 500, 1000, 0.8) for side in (0, 1))
    assert all_nine_covered([est.decile_shift(x, y, unit="ms") for x, y in zip(a, b, strict=True)]) >= 95.0


def test_decile_shift_of_run_pairs_holds_at_all_nine_at_once() -> None:
    k, repeats = 4, 600
    a, b = (
        simulate.runs(rng_of(10, side), k * repeats, 300, 0.8).reshape(repeats, k, 300) for side in (0, 1)
    )
    shifts = [est.decile_shift(x, y, unit="ms") for x, y in zip(a, b, strict=True)]
    assert all_nine_covered(shifts) >= 93.5


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("between", [0.0, 0.03])
def test_history_of_named_runs(k: int, between: float) -> None:
    values = simulate.run_statistics(rng_of(12, k, round(between * 100)), 2000, k + 1, between)
    assert 93.0 <= covered(history_grid.by_history(values), 1.0) <= 97.0


def test_history_of_longer_runs_is_why_their_length_is_printed_as_an_assumption() -> None:
    archived = simulate.run_statistics(rng_of(13, 1), 1000, 5, 0.0, 0.005)
    this = simulate.run_statistics(rng_of(13, 2), 1000, 1, 0.0, 0.01)
    bands = list(history_grid.by_history(np.hstack([this, archived])))
    assert covered(bands, 1.0) < 85
    assert "about as long" in bands[0].assumes


def test_remainder_of_a_budget_below_0() -> None:
    parts = [20 + simulate.runs(rng_of(14, part), 500, 500, 0.8) for part in range(2)]
    total = parts[0] + parts[1] + simulate.runs(rng_of(14, 2), 500, 500, 0.8) - 0.5
    bands = [
        est.budget({"launch": x, "wait": y}, all_, unit="ms")[est.UNATTRIBUTED]
        for x, y, all_ in zip(*parts, total, strict=True)
    ]
    assert 92.0 <= covered(bands, -0.5) <= 98.5


def test_requests_that_share_their_waiting() -> None:
    rows = simulate.requests(rng_of(15), 1000, 8, 50, 3.0, 0.5)
    for p in (0.5, 0.95):
        bands = [est.request_quantile(row, p, unit="ms", concurrency=8) for row in rows]
        assert 92.5 <= covered(bands, simulate.true_request_quantile(p, 3.0)) <= 98.5


def test_fewer_rounds_than_asked_for_are_why_they_are_asked_for() -> None:
    """Steps in place of requests: the same rule, without the refusal, over 10 rounds of 40."""
    rows = simulate.requests(rng_of(16), 1000, 40, 10, 3.0, 0.8)
    assert est.request_quantile(rows[0], 0.5, unit="ms", concurrency=40).low is None
    assert covered(est.quantile_rows(rows, 0.5, unit="ms"), simulate.true_request_quantile(0.5, 3.0)) < 90


def test_from_steps_to_the_interval_of_two_equal_sides() -> None:
    steps = simulate.runs(rng_of(17), 500 * 8, 300, 0.8, "burst").reshape(500, 8, 300)
    b_side = np.array([made == "B" for made in "ABBABAAB"])
    bands = [
        est.difference_of_paired_runs(line[~b_side], line[b_side], unit="ms", order="ABBABAAB")
        for line in comparison_grid.p50_of(steps)
    ]
    assert 2.5 <= comparison_grid.missed(bands) <= 7.5


def all_nine_covered(shifts: list[dict[float, Estimate]]) -> float:
    return 100 * float(np.mean([covered(nine.values(), 0.0) == 100 for nine in shifts]))


def test_a_tied_top_does_not_make_a_band_too_narrow() -> None:
    """Where more than 5 % of a sample are at a cap, 1{y <= cap} is constant, and 1{y < cap} still speaks."""
    share = 0.04
    rows = rng_of(11).random((1000, 500))
    rows[rows > 1 - share] = 1.0
    bands = est.quantile_rows(rows, 0.95, unit="ms")
    assert covered(bands, 0.95) >= 93.0
