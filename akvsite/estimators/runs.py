"""Numbers over runs: one configuration, one run against one, pairs against pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from akvsite.estimate import Estimate, unknown
from akvsite.estimators._bounds import of_two_runs, over_units, with_order
from akvsite.estimators._samples import dots_of, exact_difference, offsets, one_series, paired


def over_runs(values: ArrayLike, *, unit: str, log: bool = False) -> Estimate:
    """One statistic a run (k values) over runs of one configuration: t with k - 1 degrees, or on logs.

    One run has no band at this level: between runs is unknown. Every value is kept in ``dots``; from six runs
    on ``also`` holds ``median_run``. With ``log``, which is for ratios, the value is the geometric mean, and
    values not above 0 are a ``ValueError``. Assumes that runs are independent and deviate about normally; two modes
    break that, so the runs are always drawn as dots. Source: Student, "The probable error of a mean", Biometrika 6,
    1908.
    """
    runs = one_series(values)
    if log and (runs <= 0).any():
        raise ValueError("a logarithm needs values above 0")
    made = over_units(runs, unit, log, "run", "one statistic a run")
    if made.low is not None:
        made = replace(made, assumes="runs independent, of one mode")
    return replace(made, also=median_run(values, unit=unit)) if len(runs) >= 6 else made


def median_run(values: ArrayLike, *, unit: str) -> Estimate:
    """The median over runs within [min, max]: no shape assumed, confidence exactly 1 - 2^(1 - k).

    No band for k < 6, where that confidence is below 95 %. Source: the binomial law of order statistics
    (David and Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1).
    """
    runs = one_series(values)
    k = len(runs)
    if not k:
        return unknown("no runs", unit)
    base, rest = offsets(runs)
    middle = base + float(np.median(rest))
    made = Estimate(
        middle,
        None,
        None,
        k,
        unit,
        "median run",
        refusal=f"{k} runs < 6 for 95 % from [min, max]",
        dots=dots_of(runs),
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
    miss 1 in 1 to 3 % of cases, not in 5 %. Assumes what the two bands do, and that the runs are independent.

    Systematic parts of both sides (``with_clock``) stay apart from the band and are converted: parts s_a and s_b
    raise the ratio by at most the factor (1 + s_b / b) / (1 - s_a / a), which is taken at the band's upper end.
    """
    return of_two_runs(a, b, log=True)


def difference_of_two_runs(a: Estimate, b: Estimate) -> Estimate:
    """One run minus one run, ``b - a``, by MOVER (see ``ratio_of_two_runs``): these two runs only.

    Systematic parts of both sides stay apart from the band and add linearly; where one is not known, neither is
    their sum.
    """
    return of_two_runs(a, b, log=False)


def ratio_of_paired_runs(a: ArrayLike, b: ArrayLike, *, order: str | None = None) -> Estimate:
    """k runs over k runs, ``b / a``: t on the log differences of pairs from interleaved ABBA blocks.

    ``a[i]`` and ``b[i]`` are one statistic of the two runs of pair i, above 0. ``order`` is the order in
    which the runs were made, such as "ABBABAAB"; an order whose pairs are not side by side, or all lie the
    same way round, gets no band, since a drift would be read as an effect (AAAABBBB with 3 % drift covered 64
    %).
    """
    first, second = paired(a, b)
    if (first <= 0).any() or (second <= 0).any():
        raise ValueError("a ratio needs values above 0")
    made = over_units(
        np.exp(np.log(second) - np.log(first)), "ratio", True, "pair", "log differences of pairs"
    )
    return with_order(made, order)


def difference_of_paired_runs(a: ArrayLike, b: ArrayLike, *, unit: str, order: str | None = None) -> Estimate:
    """k runs minus k runs, ``b - a``: t on the differences of pairs; the rest as ``ratio_of_paired_runs``."""
    # In whole numbers where they are: two times far from 0 lose nothing.
    each = exact_difference(one_series(a), one_series(b))
    return with_order(over_units(each, unit, False, "pair", "differences of pairs"), order)
