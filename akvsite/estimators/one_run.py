"""Numbers of one run: quantiles, mean, throughput, paired steps, budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from numpy.typing import ArrayLike

from akvsite.estimate import Estimate, unknown
from akvsite.estimators._bounds import mean_of, means
from akvsite.estimators._ranks import quantiles
from akvsite.estimators._rules import terms_for, too_few
from akvsite.estimators._samples import checked, exact_difference, one_series

FEWEST_ROUNDS = 50
UNATTRIBUTED = "unattributed"
STEP = "step"
TimeUnit = Literal["ns", "us", "ms", "s"]
_STEADY_REQUESTS = "completion order, steady after the cut, phi <= 0.5 from one round in flight to the next"
_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


def quantile(samples: ArrayLike, p: float, *, unit: str, cut: int = 0) -> Estimate:
    """The ``p`` quantile of the steps of one run: order statistic ceil(n p), between two other ones.

    The band inverts the empirical distribution at p +- t_B sqrt(LRV / n), where LRV is the EWC long-run
    variance of the indicator (y <= q) with B = 4 cosines below n 2000, 6 below 5000, else 8; beyond p95
    always 4. Where q is tied, the larger one of (y <= q) and (y < q) counts, since one of the two may be
    constant. An end outside the sample is unbounded.

    No band for n < 200, for p99 with n < 5000, and beyond p99, where nothing was calibrated. Value and ends
    of integer samples are exact integers. Assumes a steady series after the cut, with a correlation phi of
    neighbouring steps of at most 0.95, below 500 steps of at most 0.8. Sources: Woodruff, "Confidence intervals for medians and other position measures", JASA
    47, 1952 (a band for the share, carried over to the quantile); Lazarus, Lewis, Stock and Watson, JBES 36(4), 2018
    (EWC).

    >>> quantile(range(71), 0.99, unit="ms").text("p99")
    'p99 70.0 ms no band: p99 needs n >= 5000, n is 71; upper bound of p99 is unbounded (n < 299)'
    """
    series = one_series(samples, cut)
    return quantiles(series[None, :], p, unit, terms_for(len(series), p), too_few(len(series), p), cut)[0]


def quantile_rows(samples: ArrayLike, p: float, *, unit: str, cut: int = 0) -> list[Estimate]:
    """``quantile`` of every row of a (runs, steps) array: the same numbers, computed for all rows at once."""
    rows = checked(samples, 2, cut)
    n = rows.shape[1]
    return quantiles(rows, p, unit, terms_for(n, p), too_few(n, p), cut)


def request_quantile(
    samples: ArrayLike, p: float, *, unit: str, concurrency: float | None, cut: int = 0
) -> Estimate:
    """The ``p`` quantile of TTFT or TPOT over requests in completion order: ``quantile`` with B = 4.

    Requests in flight together share their waiting, so no band is given where requests / concurrency < 50, or
    for fewer than 200 requests, or for p99 of fewer than 5000; and none where ``concurrency`` is None, which is
    "not declared". Assumes a series that is steady in completion order. Requests in flight together (a round) may
    share their waiting wholly, and a round may lean on the one before with a correlation of up to 0.5. Sources: as
    ``quantile``.
    """
    if concurrency is not None and not concurrency > 0:
        raise ValueError(f"concurrency is above 0, not {concurrency}")
    series = one_series(samples, cut)
    n = len(series)
    why = too_few(n, p, "requests")
    if concurrency is None:
        why = "the capture declares no concurrency, so requests / concurrency is unknown"
    elif not why and n / concurrency < FEWEST_ROUNDS:
        why = f"requests / concurrency {n / concurrency:.4g} < {FEWEST_ROUNDS}"
    made = quantiles(series[None, :], p, unit, 4, why, cut)[0]
    return made if made.low is None else replace(made, assumes=_STEADY_REQUESTS)


def mean(samples: ArrayLike, *, unit: str, cut: int = 0) -> Estimate:
    """The mean over the steps of one run, with a t band on its EWC long-run variance; no band for n < 200.

    Assumes a steady series after the cut, phi as for ``quantile``, and no rare bursts: a mean follows its largest samples, and
    where bursts of spikes are rare (a handful a run) its band covers less than it says. The quantiles do not suffer
    from this. Source: Lazarus, Lewis, Stock and Watson, JBES 36(4), 2018.
    """
    return mean_of(one_series(samples, cut), unit, cut)


def mean_rows(samples: ArrayLike, *, unit: str, cut: int = 0) -> list[Estimate]:
    """``mean`` of every row of a (runs, steps) array: the same numbers, computed for all rows at once."""
    return means(checked(samples, 2, cut), unit, cut)


def throughput(
    durations: ArrayLike,
    *,
    unit: str = "steps/s",
    time_unit: TimeUnit = "ns",
    per_step: float = 1.0,
    cut: int = 0,
) -> Estimate:
    """Rate of one run, a second: ``per_step`` over the mean duration, never over the median.

    ``durations`` are in ``time_unit``; the band is that of ``mean``, turned over, and assumes the same. The upper end
    is unbounded where the band of the mean reaches 0; a mean that is not above 0 leaves the rate unknown.
    """
    return _rate_of(mean(durations, unit=time_unit, cut=cut), unit, per_step)


def throughput_rows(
    durations: ArrayLike,
    *,
    unit: str = "steps/s",
    time_unit: TimeUnit = "ns",
    per_step: float = 1.0,
    cut: int = 0,
) -> list[Estimate]:
    """``throughput`` of every row of a (runs, steps) array, computed for all rows at once."""
    return [_rate_of(time, unit, per_step) for time in mean_rows(durations, unit=time_unit, cut=cut)]


def _rate_of(time: Estimate, unit: str, per_step: float) -> Estimate:
    if time.value is None or time.value <= 0:
        return unknown(time.refusal or "the mean duration is not above 0", unit, n=time.n)
    scale = per_step * _SECOND[time.unit]
    rate = replace(time, value=scale / time.value, unit=unit, dots=(), method=f"1 / mean time, {time.method}")
    if time.low is None or time.high is None:
        return rate
    return replace(rate, low=scale / time.high, high=scale / time.low if time.low > 0 else math.inf)


def paired_steps(a: ArrayLike, b: ArrayLike, *, unit: str, cut: int = 0) -> Estimate:
    """Mean of ``b`` minus ``a`` over steps that belong together one by one: ``mean`` of their differences.

    Two series of one length, in one unit; two of unlike lengths are a ``ValueError``. What both share, step by step,
    leaves the difference. Assumes what ``mean`` does, of the series of differences: not of either side.
    """
    made = mean_of(exact_difference(one_series(a, cut), one_series(b, cut)), unit, cut)
    return replace(made, method=made.method.replace("mean", "mean of paired differences b - a"))


def budget(
    regions: Mapping[str, ArrayLike], total: ArrayLike, *, unit: str, cut: int = 0
) -> dict[str, Estimate]:
    """Where the mean step goes: an estimate a region, then ``unattributed``, then ``step``.

    ``regions`` maps a name to its time summed inside each step, ``total`` holds the steps' times, all of one
    length. The remainder is formed inside each step too and is never clipped: below 0 it says that regions
    overlap. Means add up; medians and percentiles are never added. Each band is that of ``mean``, of its own series,
    and assumes the same; each holds for itself at 95 %, not all of them at once.
    """
    steps = one_series(total, cut)
    rest, made = steps, {}
    for name, sums in regions.items():
        if name in (UNATTRIBUTED, STEP):
            raise ValueError(f"{name!r} is not a region's name")
        series = one_series(sums, cut)
        rest = exact_difference(series, rest)
        made[name] = mean_of(series, unit, cut)
    return {**made, UNATTRIBUTED: mean_of(rest, unit, cut), STEP: mean_of(steps, unit, cut)}
