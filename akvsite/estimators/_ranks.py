"""How a quantile is bound: order statistics around p."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from akvsite.estimate import Estimate, unknown, written
from akvsite.estimators._bounds import ewc, student_t
from akvsite.estimators._rules import FEWEST_SAMPLES, ONE_RUN, ROUNDING, beyond_p95, percentile, steady
from akvsite.estimators._samples import Series, dots_of


class Ranks(NamedTuple):
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


def ranks_of(rows: Series, p: float, terms: int, confidence: float) -> Ranks:
    n = rows.shape[1]
    ordered = np.sort(rows, axis=1)
    at = rank_of(n, p)
    q = ordered[:, at - 1 : at]
    variance = ewc((rows <= q).astype(np.float64), terms)
    tied = (ordered[:, max(at - 2, 0)] == q[:, 0]) & (at > 1) | (ordered[:, min(at, n - 1)] == q[:, 0]) & (
        at < n
    )
    if tied.any():
        variance[tied] = np.maximum(variance[tied], ewc((rows[tied] < q[tied]).astype(np.float64), terms))
    half = student_t(confidence, terms) * np.sqrt(variance / n)
    low = np.floor(n * (p - half) + ROUNDING).astype(np.int64)
    high = np.ceil(n * (p + half) - ROUNDING).astype(np.int64) + 1
    return Ranks(ordered, at, low, high)


def quantiles(rows: Series, p: float, unit: str, terms: int, why: str, cut: int) -> list[Estimate]:
    if not 0 < p < 1:
        raise ValueError(f"a quantile lies between 0 and 1, not at {p}")
    n = rows.shape[1]
    if not n:
        return [unknown("no samples", unit) for _ in rows]
    if why:
        lines, at = np.sort(rows, axis=1), rank_of(n, p)
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
                one_sided=one_sided_of(line, p, unit),
                cut=cut,
                dots=dots_of(row) if n < FEWEST_SAMPLES else (),
            )
            for line, row in zip(lines, rows, strict=True)
        ]
    ranks = ranks_of(rows, p, terms, 0.95)
    method = f"order statistics, EWC B={terms}"
    return [
        Estimate(*ranks.ends(row), n, unit, method, scope=ONE_RUN, assumes=steady(n), cut=cut)
        for row in range(len(rows))
    ]


def rank_of(n: int, p: float) -> int:
    return min(max(math.ceil(n * p - ROUNDING), 1), n)


def one_sided_of(line: Series, p: float, unit: str) -> str:
    """What the extreme of the sample alone bounds: P(max < q) is p^n where steps are independent."""
    needed = math.ceil(math.log(0.05) / math.log(max(p, 1 - p)) - ROUNDING)
    side, extreme = ("upper", line[-1]) if p >= 0.5 else ("lower", line[0])
    if len(line) < needed:
        return f"{side} bound of {percentile(p)} is unbounded (n < {needed})"
    if not beyond_p95(p):
        return ""
    shown = written(extreme.item(), unit)
    return f"{side} bound of {percentile(p)} is {shown} only if steps were independent (n >= {needed})"
