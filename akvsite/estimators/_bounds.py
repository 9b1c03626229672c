"""Where bands come from: t quantiles, long-run variance, units that are independent, two bands joined."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from akvsite.estimate import Estimate, unknown
from akvsite.estimators._rules import ONE_RUN, steady_mean, terms_for, too_few
from akvsite.estimators._samples import Floats, Series, dots_of, offsets
from akvsite.estimators.systematic import of_difference, of_ratio


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


def ewc(rows: Floats, terms: int) -> Floats:
    """Long-run variance of each row: the mean of squares of its first ``terms`` cosine sums."""
    sums = (rows - rows.mean(axis=1, keepdims=True)) @ _cosines(rows.shape[1], terms)
    variance: Floats = np.mean(sums**2, axis=1)
    return variance


def means(rows: Series, unit: str, cut: int) -> list[Estimate]:
    """The mean of each row of (runs, steps), with a t band on its long-run variance."""
    n = rows.shape[1]
    if not n:
        return [unknown("no samples", unit) for _ in rows]
    parts = [offsets(row) for row in rows]
    values = [base + float(rest.mean()) for base, rest in parts]
    if why := too_few(n):
        return [
            Estimate(
                value, None, None, n, unit, "mean", scope=ONE_RUN, refusal=why, cut=cut, dots=dots_of(row)
            )
            for value, row in zip(values, rows, strict=True)
        ]
    terms = terms_for(n)
    # Squares of very small or large numbers leave the range of a float.
    sizes = [float(rest.max()) or 1.0 for _, rest in parts]
    scaled = np.stack([rest / size for (_, rest), size in zip(parts, sizes, strict=True)])
    spreads = student_t(0.95, terms) * np.sqrt(ewc(scaled, terms) / n)
    method = f"mean, EWC-t B={terms}"
    return [
        Estimate(v, v - half, v + half, n, unit, method, scope=ONE_RUN, assumes=steady_mean(n), cut=cut)
        for v, half in zip(
            values, (size * float(s) for size, s in zip(sizes, spreads, strict=True)), strict=True
        )
    ]


def mean_of(series: Series, unit: str, cut: int) -> Estimate:
    return means(series[None, :], unit, cut)[0]


def over_units(
    values: Series, unit: str, log: bool, what: str, method: str, confidence: float = 0.95
) -> Estimate:
    """t over independent units (runs, pairs, triples): one value each."""
    k = len(values)
    if not k:
        return unknown(f"no {what}s", unit)
    base, rest = offsets(np.log(values) if log else values)
    centre = base + float(rest.mean())
    value = math.exp(centre) if log else centre
    method = f"t over {method}" + (" (logs)" if log and what == "run" else "")
    dots = dots_of(values)
    if k == 1:
        return Estimate(
            value, None, None, 1, unit, method, refusal=f"between {what}s: unknown (1 {what})", dots=dots
        )
    size = float(rest.max()) or 1.0
    half = size * student_t(confidence, k - 1) * float(np.std(rest / size, ddof=1)) / math.sqrt(k)
    low, high = (math.exp(centre - half), exp_of(centre + half)) if log else (centre - half, centre + half)
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


def exp_of(exponent: float) -> float:
    return math.exp(exponent) if exponent < 709 else math.inf


def mover(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    """``b - a`` and its ends, from (value, low, high) of both: each end joins the gaps that lead to it."""
    value = b[0] - a[0]
    below, above = math.hypot(b[0] - b[1], a[2] - a[0]), math.hypot(b[2] - b[0], a[0] - a[1])
    return value, value - below, value + above


def of_two_runs(a: Estimate, b: Estimate, *, log: bool) -> Estimate:
    if a.unit != b.unit:
        raise ValueError(f"two runs in two units: {a.unit} and {b.unit}")
    if a.confidence != b.confidence:
        raise ValueError(f"two bands of two confidences: {a.confidence} and {b.confidence}")
    unit, n = ("ratio" if log else a.unit), min(a.n, b.n)
    with_parts = of_ratio if log else of_difference
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
        return with_parts(Estimate(value, None, None, n, unit, method, scope=scope, refusal=why), a, b)
    ends = [
        (x.value, x.low, x.high)
        for x in (a, b)
        if x.value is not None and x.low is not None and x.high is not None
    ]
    if log:
        ends = [(log_of(at), log_of(low), log_of(high)) for at, low, high in ends]
    value, low, high = mover(ends[0], ends[1])
    if log:
        value, low, high = b.value / a.value, math.exp(low) if low > -math.inf else low, exp_of(high)
    methods = " / ".join(dict.fromkeys((a.method, b.method)))
    assumes = "; ".join(dict.fromkeys(part for part in (a.assumes, b.assumes) if part))
    made = Estimate(
        value,
        min(low, value),
        max(high, value),
        n,
        unit,
        f"{method} of {methods}",
        scope=scope,
        assumes=assumes,
    )
    return with_parts(made, a, b)


def log_of(value: float) -> float:
    if value <= 0:
        return -math.inf
    return math.log(value) if value < math.inf else math.inf


def with_order(made: Estimate, order: str | None) -> Estimate:
    """The estimate of pairs, refused where the order of runs makes a drift look like an effect."""
    if made.value is None or made.low is None:
        return made
    if order is None:
        return replace(made, assumes="pairs independent, interleaved in ABBA blocks (order not recorded)")
    couples = [order[at : at + 2] for at in range(0, len(order), 2)]
    if len(couples) != made.n or set(couples) != {"AB", "BA"}:
        why = f"runs in the order {order} are not interleaved ABBA pairs: a drift would be read as an effect"
        return replace(made, low=None, high=None, scope="", assumes="", refusal=why)
    return replace(made, assumes=f"pairs independent, interleaved as {order}")
