"""How numbers get their bands. Every rule was chosen by simulation, which ``tests/calibration`` repeats.

Steps of one run depend on each other, so bands of one run rest on a long-run variance: equal-weighted cosines
(EWC; Lazarus, Lewis, Stock and Watson, "HAR Inference: Recommendations for Practice", JBES 36(4), 2018),
which give a t distribution with as many degrees as there are cosines. Runs are the unit of everything said
about a configuration.

Samples are one-dimensional, in the order in which they happened, finite, integer or float, in ``unit``.
``cut`` is the number of warm-up samples that the capture declares; it is never chosen from the data. An empty
sample is ``unknown``; samples that are not numbers are a ``ValueError``. A refusal depends on counts alone,
never on an effective sample size estimated from the same data: refusing so selects the samples that look too
good.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from akvsite.estimate import Estimate, unknown, written

Series = NDArray[Any]
Floats = NDArray[np.float64]

ONE_RUN = "this run only; between runs: unknown (1 run)"
STEADY = "steady series after the cut, phi <= 0.95"
STEADY_MEAN = f"{STEADY}, no rare bursts"
FEWEST_SAMPLES = 200
FEWEST_SAMPLES_P99 = 5000
FEWEST_ROUNDS = 50
DECILES = tuple(tenth / 10 for tenth in range(1, 10))
UNATTRIBUTED = "unattributed"
STEP = "step"
_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


# --- one run -----------------------------------------------------------------------------------------------


def quantile(samples: ArrayLike, p: float, *, unit: str, cut: int = 0) -> Estimate:
    """The ``p`` quantile of the steps of one run: order statistic ceil(n p), between two other ones.

    The band inverts the empirical distribution at p +- t_B sqrt(LRV / n), where LRV is the EWC long-run
    variance of the indicator (y <= q) with B = 4 cosines below n 2000, 6 below 5000, else 8; beyond p95
    always 4. Where q is tied, the larger one of (y <= q) and (y < q) counts, since one of the two may be
    constant. An end outside the sample is unbounded.

    No band for n < 200, for p99 with n < 5000, and beyond p99, where nothing was calibrated. Value and ends
    of integer samples are exact integers.

    >>> quantile(range(71), 0.99, unit="ms").text("p99")
    'p99 70.0 ms no band: p99 needs n >= 5000, n is 71; upper bound of p99 is unbounded (n < 299)'
    """
    series = _series(samples, cut)
    return _quantiles(series[None, :], p, unit, _terms(len(series), p), _too_few(len(series), p), cut)[0]


def quantile_rows(samples: ArrayLike, p: float, *, unit: str, cut: int = 0) -> list[Estimate]:
    """``quantile`` of every row of a (runs, steps) array: the same numbers, computed for all rows at once."""
    rows = _checked(samples, 2, cut)
    n = rows.shape[1]
    return _quantiles(rows, p, unit, _terms(n, p), _too_few(n, p), cut)


def request_quantile(
    samples: ArrayLike, p: float, *, unit: str, concurrency: float, cut: int = 0
) -> Estimate:
    """The ``p`` quantile of TTFT or TPOT over requests in completion order: ``quantile`` with B = 4.

    Requests in flight together share their waiting, so no band is given where requests / concurrency < 50, or
    for fewer than 200 requests, or for p99 of fewer than 5000.
    """
    if not concurrency > 0:
        raise ValueError(f"concurrency is above 0, not {concurrency}")
    series = _series(samples, cut)
    n = len(series)
    why = _too_few(n, p, "requests")
    if not why and n / concurrency < FEWEST_ROUNDS:
        why = f"requests / concurrency {n / concurrency:.4g} < {FEWEST_ROUNDS}"
    made = _quantiles(series[None, :], p, unit, 4, why, cut)[0]
    return made if made.value is None else replace(made, assumes=f"completion order; {STEADY}")


def mean(samples: ArrayLike, *, unit: str, cut: int = 0) -> Estimate:
    """The mean over the steps of one run, with a t band on its EWC long-run variance; no band for n < 200.

    A mean follows its largest samples: where bursts of spikes are rare (a handful a run), its band covers
    less than it says (``tests/calibration`` prints how much). The quantiles do not suffer from this.
    """
    return _mean(_series(samples, cut), unit, cut)


def throughput(
    durations: ArrayLike,
    *,
    unit: str = "steps/s",
    time_unit: Literal["ns", "us", "ms", "s"] = "ns",
    per_step: float = 1.0,
    cut: int = 0,
) -> Estimate:
    """Rate of one run, a second: ``per_step`` over the mean duration, never over the median.

    ``durations`` are in ``time_unit``; the band is that of the mean, turned over. The upper end is unbounded
    where the band of the mean reaches 0; a mean that is not above 0 leaves the rate unknown.
    """
    time = mean(durations, unit=time_unit, cut=cut)
    if time.value is None or time.value <= 0:
        return unknown(time.refusal or "the mean duration is not above 0", unit, n=time.n)
    scale = per_step * _SECOND[time_unit]
    rate = replace(time, value=scale / time.value, unit=unit, dots=(), method=f"1 / mean time, {time.method}")
    if time.low is None or time.high is None:
        return rate
    return replace(rate, low=scale / time.high, high=scale / time.low if time.low > 0 else math.inf)


def paired_steps(a: ArrayLike, b: ArrayLike, *, unit: str, cut: int = 0) -> Estimate:
    """Mean of ``b`` minus ``a`` over steps that belong together one by one: EWC on their differences."""
    made = _mean(_difference(_series(a, cut), _series(b, cut)), unit, cut)
    return replace(made, method=made.method.replace("mean", "mean of paired differences b - a"))


def budget(
    regions: Mapping[str, ArrayLike], total: ArrayLike, *, unit: str, cut: int = 0
) -> dict[str, Estimate]:
    """Where the mean step goes: an estimate a region, then ``unattributed``, then ``step``.

    ``regions`` maps a name to its time summed inside each step, ``total`` holds the steps' times, all of one
    length. The remainder is formed inside each step too and is never clipped: below 0 it says that regions
    overlap. Means add up; medians and percentiles are never added.
    """
    steps = _series(total, cut)
    rest, made = steps, {}
    for name, sums in regions.items():
        if name in (UNATTRIBUTED, STEP):
            raise ValueError(f"{name!r} is not a region's name")
        series = _series(sums, cut)
        rest = _difference(series, rest)
        made[name] = _mean(series, unit, cut)
    return {**made, UNATTRIBUTED: _mean(rest, unit, cut), STEP: _mean(steps, unit, cut)}


# --- runs --------------------------------------------------------------------------------------------------


def over_runs(values: ArrayLike, *, unit: str, log: bool = False) -> Estimate:
    """One statistic a run (k values) over runs of one configuration: t with k - 1 degrees, or on logs.

    One run has no band at this level: between runs is unknown. Every value is kept in ``dots``; from six runs
    on ``also`` holds ``median_run``. With ``log``, which is for ratios, the value is the geometric mean, and
    values not above 0 are a ``ValueError``.
    """
    runs = _series(values).astype(np.float64)
    if log and (runs <= 0).any():
        raise ValueError("a logarithm needs values above 0")
    made = _over_units(runs, unit, log, "run", "one statistic a run")
    return replace(made, also=median_run(values, unit=unit)) if len(runs) >= 6 else made


def median_run(values: ArrayLike, *, unit: str) -> Estimate:
    """The median over runs within [min, max]: no shape assumed, confidence exactly 1 - 2^(1 - k).

    No band for k < 6, where that confidence is below 95 %. Source: the binomial law of order statistics
    (David and Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1).
    """
    runs = _series(values)
    k = len(runs)
    if not k:
        return unknown("no runs", unit)
    base, rest = _offsets(runs)
    middle = base + float(np.median(rest))
    made = Estimate(
        middle,
        None,
        None,
        k,
        unit,
        "median run",
        refusal=f"{k} runs < 6 for 95 % from [min, max]",
        dots=_dots(runs),
    )
    if k < 6:
        return made
    return replace(
        made,
        low=runs.min().item(),
        high=runs.max().item(),
        refusal="",
        method="median run, [min, max], distribution-free",
        scope=f"median of {k} runs",
        assumes="runs independent",
        confidence=1 - 2.0 ** (1 - k),
    )


def ratio_of_two_runs(a: Estimate, b: Estimate) -> Estimate:
    """One run over one run, ``b / a``, by MOVER on logs of their bands: these two runs only.

    ``a`` and ``b`` are estimates of one run each, in one unit. No band where a side has none; an end that
    meets 0 or an unbounded end is unbounded. Source: Zou and Donner, "Construction of confidence limits about
    effect measures", Statistics in Medicine 27, 2008 (method of variance estimates recovery). It is wide
    rather than narrow here: two wide-tailed bands are joined as if they erred together, and two equal runs
    miss 1 in 1 to 3 % of cases, not in 5 %.
    """
    return _of_two_runs(a, b, log=True)


def difference_of_two_runs(a: Estimate, b: Estimate) -> Estimate:
    """One run minus one run, ``b - a``, by MOVER (see ``ratio_of_two_runs``): these two runs only."""
    return _of_two_runs(a, b, log=False)


def ratio_of_paired_runs(a: ArrayLike, b: ArrayLike, *, order: str | None = None) -> Estimate:
    """k runs over k runs, ``b / a``: t on the log differences of pairs from interleaved ABBA blocks.

    ``a[i]`` and ``b[i]`` are one statistic of the two runs of pair i, above 0. ``order`` is the order in
    which the runs were made, such as "ABBABAAB"; an order whose pairs are not side by side, or all lie the
    same way round, gets no band, since a drift would be read as an effect (AAAABBBB with 3 % drift covered 64
    %).
    """
    first, second = _pairs(a, b)
    if (first <= 0).any() or (second <= 0).any():
        raise ValueError("a ratio needs values above 0")
    made = _over_units(
        np.exp(np.log(second) - np.log(first)), "ratio", True, "pair", "log differences of pairs"
    )
    return _with_order(made, order)


def difference_of_paired_runs(a: ArrayLike, b: ArrayLike, *, unit: str, order: str | None = None) -> Estimate:
    """k runs minus k runs, ``b - a``: t on the differences of pairs (see ``ratio_of_paired_runs``)."""
    first, second = _pairs(a, b)
    return _with_order(_over_units(second - first, unit, False, "pair", "differences of pairs"), order)


def overlap_triples(copy_alone: ArrayLike, compute_alone: ArrayLike, both: ArrayLike) -> Estimate:
    """Overlap from wall clock: f = (Tc + Tk - Tb) / min(Tc, Tk) over k interleaved triples.

    Times above 0, in any one unit. The band is t with k - 1 degrees on the linearised triples z = f_c Tc +
    f_k Tk - Tb / min(Tc, Tk) (delta method; f_c, f_k the slopes of f at the means). f is 0 where they take
    turns and 1 where the shorter hides wholly; it is never clipped, since at a truth of 1 half of all
    estimates exceed it.
    """
    sides = [_series(side).astype(np.float64) for side in (copy_alone, compute_alone, both)]
    if len({len(side) for side in sides}) != 1:
        raise ValueError("a triple has three times")
    if any((side <= 0).any() for side in sides):
        raise ValueError("times of a triple are above 0")
    unit = "fraction of the shorter"
    if not len(sides[0]):
        return unknown("no triples", unit)
    c, k, b = (float(side.mean()) for side in sides)
    shorter = min(c, k)
    slope_c, slope_k = ((b - k) / c**2, 1 / c) if c < k else (1 / k, (b - c) / k**2)
    line = slope_c * sides[0] + slope_k * sides[1] - sides[2] / shorter
    each = (sides[0] + sides[1] - sides[2]) / np.minimum(sides[0], sides[1])
    made = _over_units(line, unit, False, "triple", "linearised triples")
    value = (c + k - b) / shorter
    made = replace(made, value=value, dots=_dots(each), assumes="triples interleaved and independent")
    if made.low is None or made.high is None:
        return made
    half = (
        made.high - made.low
    ) / 2  # the line is tangent at the means: its own mean is not f, its spread is
    return replace(made, low=value - half, high=value + half)


def decile_shift(
    a: ArrayLike | Sequence[ArrayLike], b: ArrayLike | Sequence[ArrayLike], *, unit: str
) -> dict[float, Estimate]:
    """How far each decile of B lies from that of A: nine differences ``B - A``, keyed 0.1 to 0.9.

    One run a side (one series each): both deciles' bands by the rule of ``quantile``, joined by MOVER. k runs
    a side (k series each, pair by pair): t with k - 1 degrees on the pairs' differences, which assumes
    interleaved pairs. Each of the nine holds 1 - 0.05 / 9, so that all nine hold at once with at least 95 %
    (Bonferroni), however they depend on each other. No bands where a lone run has n < 200 or the sides have
    unlike numbers of runs. Source of the shift function: Doksum, Annals of Statistics 2, 1974; Wilcox,
    The Statistician 44, 1995 for deciles.
    """
    sides = [_runs(a), _runs(b)]
    if not all(len(side) and all(len(run) for run in side) for side in sides):
        return {p: unknown("no samples", unit) for p in DECILES}
    each = 1 - 0.05 / len(DECILES)
    if len(sides[0]) == len(sides[1]) == 1:
        return {p: _shift_of_two(sides[0][0], sides[1][0], p, unit, each) for p in DECILES}
    return {p: _shift_of_pairs(sides[0], sides[1], p, unit, each) for p in DECILES}


# --- how a quantile is bound -------------------------------------------------------------------------------


class _Ranks(NamedTuple):
    """Sorted rows, and the ranks (from 1) of value, low and high; ranks outside 1..n are unbounded."""

    ordered: Series
    at: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def ends(self, row: int) -> tuple[float, float, float]:
        line, low, high = self.ordered[row], int(self.low[row]), int(self.high[row])
        return (
            line[self.at - 1].item(),
            line[low - 1].item() if low >= 1 else -math.inf,
            line[high - 1].item() if high <= len(line) else math.inf,
        )


_ROUNDING = 1e-9  # 1000 * 0.95 is 950, whatever the float product says


def _ranks(rows: Series, p: float, terms: int, confidence: float) -> _Ranks:
    n = rows.shape[1]
    ordered = np.sort(rows, axis=1)
    at = _rank(n, p)
    q = ordered[:, at - 1 : at]
    variance = _ewc((rows <= q).astype(np.float64), terms)
    tied = (ordered[:, max(at - 2, 0)] == q[:, 0]) & (at > 1) | (ordered[:, min(at, n - 1)] == q[:, 0]) & (
        at < n
    )
    if tied.any():
        variance[tied] = np.maximum(variance[tied], _ewc((rows[tied] < q[tied]).astype(np.float64), terms))
    half = student_t(confidence, terms) * np.sqrt(variance / n)
    low = np.floor(n * (p - half) + _ROUNDING).astype(np.int64)
    high = np.ceil(n * (p + half) - _ROUNDING).astype(np.int64) + 1
    return _Ranks(ordered, at, low, high)


def _quantiles(rows: Series, p: float, unit: str, terms: int, why: str, cut: int) -> list[Estimate]:
    if not 0 < p < 1:
        raise ValueError(f"a quantile lies between 0 and 1, not at {p}")
    n = rows.shape[1]
    if not n:
        return [unknown("no samples", unit) for _ in rows]
    if why:
        lines, at = np.sort(rows, axis=1), _rank(n, p)
        return [
            Estimate(
                line[at - 1].item(),
                None,
                None,
                n,
                unit,
                "order statistic",
                scope=ONE_RUN,
                refusal=why,
                one_sided=_one_sided(line, p, unit),
                cut=cut,
                dots=_dots(row) if n < FEWEST_SAMPLES else (),
            )
            for line, row in zip(lines, rows, strict=True)
        ]
    ranks = _ranks(rows, p, terms, 0.95)
    method = f"order statistics, EWC B={terms}"
    return [
        Estimate(*ranks.ends(row), n, unit, method, scope=ONE_RUN, assumes=STEADY, cut=cut)
        for row in range(len(rows))
    ]


def _rank(n: int, p: float) -> int:
    return min(max(math.ceil(n * p - _ROUNDING), 1), n)


def _beyond_p95(p: float) -> bool:
    return min(p, 1 - p) < 0.05 - _ROUNDING


def _terms(n: int, p: float = 0.5) -> int:
    """How many cosines: few enough for phi 0.95 at this n."""
    if n < 2000 or _beyond_p95(p):
        return 4
    return 6 if n < 5000 else 8


def _percentile(p: float) -> str:
    return f"p{100 * p:.6g}"


def _too_few(n: int, p: float = 0.5, what: str = "n") -> str:
    """Why there is no band for ``n`` samples, or nothing."""
    if min(p, 1 - p) < 0.01 - _ROUNDING:
        return f"no rule is calibrated for {_percentile(p)}"
    if _beyond_p95(p) and n < FEWEST_SAMPLES_P99:
        needs = f"{what} >= {FEWEST_SAMPLES_P99}"
        return f"{_percentile(p)} needs {needs}, {what} {'is' if what == 'n' else 'are'} {n}"
    return f"{what} {n} < {FEWEST_SAMPLES}" if n < FEWEST_SAMPLES else ""


def _one_sided(line: Series, p: float, unit: str) -> str:
    """What the extreme of the sample alone bounds: P(max < q) is p^n where steps are independent."""
    needed = math.ceil(math.log(0.05) / math.log(max(p, 1 - p)) - _ROUNDING)
    side, extreme = ("upper", line[-1]) if p >= 0.5 else ("lower", line[0])
    if len(line) < needed:
        return f"{side} bound of {_percentile(p)} is unbounded (n < {needed})"
    if not _beyond_p95(p):
        return ""
    shown = written(extreme.item(), unit)
    return f"{side} bound of {_percentile(p)} is {shown} only if steps were independent (n >= {needed})"


def _shift_of_two(a: Series, b: Series, p: float, unit: str, confidence: float) -> Estimate:
    sides = [_ranks(run[None, :], p, _terms(len(run), p), confidence).ends(0) for run in (a, b)]
    terms = " and ".join(str(_terms(len(run), p)) for run in (a, b))
    value, low, high = _mover(sides[0], sides[1])
    made = Estimate(
        value,
        low,
        high,
        min(len(a), len(b)),
        unit,
        f"shift of {_percentile(p)}: order statistics, EWC B={terms}, MOVER, Bonferroni over 9",
        scope="these two runs only, nine deciles at once; between runs: unknown (1 run a side)",
        assumes=STEADY,
    )
    why = _too_few(min(len(a), len(b)), p)
    return replace(made, low=None, high=None, refusal=why) if why else made


def _shift_of_pairs(a: list[Series], b: list[Series], p: float, unit: str, confidence: float) -> Estimate:
    at = [np.array([np.sort(run)[_rank(len(run), p) - 1] for run in side]) for side in (a, b)]
    method = f"differences of pairs' {_percentile(p)}"
    if len(a) != len(b):
        value = float(at[1].mean()) - float(at[0].mean())
        why = f"{len(a)} runs against {len(b)} are not pairs"
        return Estimate(value, None, None, min(len(a), len(b)), unit, method, refusal=why)
    made = _over_units(_difference(at[0], at[1]).astype(np.float64), unit, False, "pair", method, confidence)
    return replace(
        made,
        confidence=0.95,
        method=f"{made.method}, Bonferroni over 9",
        scope=f"{made.scope}, nine deciles at once",
        assumes="pairs interleaved and independent",
    )


# --- t, EWC, MOVER -----------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def student_t(confidence: float, degrees: int) -> float:
    """The two-sided t quantile: P(|T| <= t) = ``confidence`` with whole ``degrees`` of freedom.

    Bisection on the angle atan(t / sqrt(degrees)), in which the distribution is a finite sum of powers of
    sine and cosine (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4).

    >>> round(student_t(0.95, 4), 3), round(student_t(0.95, 1), 3)
    (2.776, 12.706)
    """
    if not 0 < confidence < 1 or degrees < 1:
        raise ValueError(f"no t quantile at {confidence} with {degrees} degrees")
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        angle = (low + high) / 2
        low, high = (angle, high) if _within_angle(angle, degrees) < confidence else (low, angle)
    return math.sqrt(degrees) * math.tan((low + high) / 2)


def _within_angle(angle: float, degrees: int) -> float:
    odd, square = degrees % 2, math.cos(angle) ** 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for step in range(1, degrees // 2 + 1):
        total += term
        term *= square * (2 * step - 1 + odd) / (2 * step + odd)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


@lru_cache(maxsize=4)
def _cosines(n: int, terms: int) -> Floats:
    angles = np.pi / n * np.outer(np.arange(n) + 0.5, np.arange(1, terms + 1))
    weights: Floats = np.sqrt(2 / n) * np.cos(angles)
    return weights


def _ewc(rows: Floats, terms: int) -> Floats:
    """Long-run variance of each row: the mean of squares of its first ``terms`` cosine sums."""
    sums = (rows - rows.mean(axis=1, keepdims=True)) @ _cosines(rows.shape[1], terms)
    variance: Floats = np.mean(sums**2, axis=1)
    return variance


def _mean(series: Series, unit: str, cut: int) -> Estimate:
    n = len(series)
    if not n:
        return unknown("no samples", unit)
    base, rest = _offsets(series)
    value = base + float(rest.mean())
    why = _too_few(n)
    if why:
        dots = _dots(series)
        return Estimate(value, None, None, n, unit, "mean", scope=ONE_RUN, refusal=why, cut=cut, dots=dots)
    terms = _terms(n)
    size = float(rest.max()) or 1.0  # squares of very small or large numbers leave the range of a float
    half = size * student_t(0.95, terms) * math.sqrt(float(_ewc(rest[None, :] / size, terms)[0]) / n)
    method = f"mean, EWC-t B={terms}"
    return Estimate(
        value, value - half, value + half, n, unit, method, scope=ONE_RUN, assumes=STEADY_MEAN, cut=cut
    )


def _over_units(
    values: Floats, unit: str, log: bool, what: str, method: str, confidence: float = 0.95
) -> Estimate:
    """t over independent units (runs, pairs, triples): one value each."""
    k = len(values)
    if not k:
        return unknown(f"no {what}s", unit)
    base, rest = _offsets(np.log(values) if log else values)
    centre = base + float(rest.mean())
    value = math.exp(centre) if log else centre
    method = f"t over {method}" + (" (logs)" if log and what == "run" else "")
    dots = _dots(values)
    if k == 1:
        return Estimate(
            value, None, None, 1, unit, method, refusal=f"between {what}s: unknown (1 {what})", dots=dots
        )
    size = float(rest.max()) or 1.0
    half = size * student_t(confidence, k - 1) * float(np.std(rest / size, ddof=1)) / math.sqrt(k)
    low, high = (math.exp(centre - half), _exp(centre + half)) if log else (centre - half, centre + half)
    return Estimate(
        value,
        low,
        high,
        k,
        unit,
        f"{method}, {k - 1} df",
        scope=f"{k} {what}s",
        assumes=f"{what}s independent",
        dots=dots,
    )


def _exp(exponent: float) -> float:
    return math.exp(exponent) if exponent < 709 else math.inf


def _mover(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    """``b - a`` and its ends, from (value, low, high) of both: each end joins the gaps that lead to it."""
    value = b[0] - a[0]
    below, above = math.hypot(b[0] - b[1], a[2] - a[0]), math.hypot(b[2] - b[0], a[0] - a[1])
    return value, value - below, value + above


def _of_two_runs(a: Estimate, b: Estimate, *, log: bool) -> Estimate:
    if a.unit != b.unit:
        raise ValueError(f"two runs in two units: {a.unit} and {b.unit}")
    if a.confidence != b.confidence:
        raise ValueError(f"two bands of two confidences: {a.confidence} and {b.confidence}")
    unit, n = ("ratio" if log else a.unit), min(a.n, b.n)
    if a.value is None or b.value is None:
        return unknown(
            "; ".join(f"{side}: {x.text()}" for side, x in (("a", a), ("b", b)) if x.value is None), unit
        )
    if log and (a.value <= 0 or b.value <= 0):
        return unknown("a ratio needs values above 0", unit, n=n)
    scope = "these two runs only; between runs: unknown (1 run a side)"
    method = "MOVER on logs" if log else "MOVER"
    if a.low is None or a.high is None or b.low is None or b.high is None:
        why = "; ".join(f"{side}: {x.refusal or x.kind}" for side, x in (("a", a), ("b", b)) if x.low is None)
        value = b.value / a.value if log else b.value - a.value
        return Estimate(value, None, None, n, unit, method, scope=scope, refusal=why)
    ends = [
        (x.value, x.low, x.high)
        for x in (a, b)
        if x.value is not None and x.low is not None and x.high is not None
    ]
    if log:
        ends = [(_log(at), _log(low), _log(high)) for at, low, high in ends]
    value, low, high = _mover(ends[0], ends[1])
    if log:
        value, low, high = b.value / a.value, math.exp(low) if low > -math.inf else low, _exp(high)
    methods = " / ".join(dict.fromkeys((a.method, b.method)))
    assumes = "; ".join(dict.fromkeys(part for part in (a.assumes, b.assumes) if part))
    return Estimate(
        value,
        min(low, value),
        max(high, value),
        n,
        unit,
        f"{method} of {methods}",
        scope=scope,
        assumes=assumes,
    )


def _log(value: float) -> float:
    if value <= 0:
        return -math.inf
    return math.log(value) if value < math.inf else math.inf


def _with_order(made: Estimate, order: str | None) -> Estimate:
    """The estimate of pairs, refused where the order of runs lets a drift pass for an effect."""
    if made.value is None or made.low is None:
        return made
    if order is None:
        return replace(made, assumes="pairs independent, interleaved in ABBA blocks (order not recorded)")
    couples = [order[at : at + 2] for at in range(0, len(order), 2)]
    if len(couples) != made.n or set(couples) != {"AB", "BA"}:
        why = f"runs in the order {order} are not interleaved ABBA pairs: a drift would be read as an effect"
        return replace(made, low=None, high=None, scope="", assumes="", refusal=why)
    return replace(made, assumes=f"pairs independent, interleaved as {order}")


# --- samples -----------------------------------------------------------------------------------------------


def _checked(samples: ArrayLike, dimensions: int, cut: int) -> Series:
    """Samples after the cut as int64, uint64 or float64, the last axis being time."""
    if cut < 0:
        raise ValueError(f"a cut is a number of samples, not {cut}")
    array = np.asarray(samples)
    if array.ndim != dimensions:
        raise ValueError(f"samples have {dimensions} dimension(s), not {array.ndim}")
    array = array[..., cut:]
    if array.size == 0:
        return array.astype(np.float64)
    if array.dtype.kind not in "iuf":
        why = "what is missing is left out, and counted"
        raise ValueError(f"samples are integers or floats, not {array.dtype}: {why}")
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        missing = array.size - int(np.isfinite(array).sum())
        if missing:
            raise ValueError(f"{missing} of {array.size} samples are not finite")
        return array
    return array if array.dtype == np.uint64 else array.astype(np.int64)


def _series(samples: ArrayLike, cut: int = 0) -> Series:
    return _checked(samples, 1, cut)


def _runs(side: ArrayLike | Sequence[ArrayLike]) -> list[Series]:
    """One series or a sequence of series, as a list of series."""
    if isinstance(side, np.ndarray):
        return [_series(run) for run in (side if side.ndim == 2 else [side])]
    runs: list[ArrayLike] = list(side)  # type: ignore[arg-type]
    if not runs or np.ndim(runs[0]) == 0:
        return [_series(runs)]  # type: ignore[arg-type]
    return [_series(run) for run in runs]


def _offsets(series: Series) -> tuple[float, Floats]:
    """The smallest sample and each one's distance from it: exact for integers, however far from 0."""
    base = series.min()
    if series.dtype.kind in "iu" and int(series.max()) - int(base) >= 2**63:
        return 0, series.astype(np.float64)
    return base.item(), (series - base).astype(np.float64)


def _difference(a: Series, b: Series) -> Series:
    """``b - a``, in integers where both are and none overflows."""
    if len(a) != len(b):
        raise ValueError(f"series of one length are needed, not {len(a)} and {len(b)}")
    if a.dtype.kind == b.dtype.kind == "i" and len(a):
        widest = max(abs(int(bound)) for side in (a, b) for bound in (side.min(), side.max()))
        if widest < 2**62:
            return b - a
    return b.astype(np.float64) - a.astype(np.float64)


def _pairs(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    first, second = _series(a).astype(np.float64), _series(b).astype(np.float64)
    if len(first) != len(second):
        raise ValueError(f"pairs need as many runs a side, not {len(first)} and {len(second)}")
    return first, second


def _dots(values: Series) -> tuple[float, ...]:
    return tuple(values.tolist())
