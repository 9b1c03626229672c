"""What looking on costs: a loop run plain and under tracers, in blocks that hold each treatment once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from akvsite.estimate import Estimate, unknown
from akvsite.estimators._rules import FEWEST_SAMPLES
from akvsite.estimators._samples import Floats
from akvsite.estimators.runs import difference_of_paired_runs, over_runs, ratio_of_paired_runs

#: The smallest step of memory that the kernel tells of, byte.
PAGE_BYTES = 4096
#: Pairs below which no band of an effect of looking is stated.
FEWEST_PAIRS = 8

Statistic = Literal["median", "mean"]


@dataclass(frozen=True)
class LoopRun:
    """One run of the loop, in a fresh process.

    ``segments_ns``: the times of its equal segments, float64 (n,), by what was timed. ``memory``: bytes between the
    segments and at both ends, float64 (n + 1,), by kind.
    """

    treatment: str
    segments_ns: Mapping[str, Floats]
    memory: Mapping[str, Floats]


def order_in_pairs(treatments: Iterable[str], a: str, b: str) -> str:
    """The order in which two treatments were run, as the estimators of pairs take it.

    >>> order_in_pairs(["x", "y", "z", "z", "y", "x"], "x", "z")
    'ABBA'
    """
    return "".join({a: "A", b: "B"}[t] for t in treatments if t in (a, b))


def time_per_call(runs: Sequence[LoopRun], treatment: str, arm: str, calls: float) -> list[float]:
    """ns a call, of each run of the treatment in order: the median segment by its ``calls``, loop and all."""
    return [float(np.median(run.segments_ns[arm])) / calls for run in runs if run.treatment == treatment]


def plain_time(runs: Sequence[LoopRun], plain: str, arm: str, calls: float) -> Estimate:
    """The loop itself, a call, over runs: what anything added stands beside. Assumes what ``over_runs`` does."""
    return over_runs(time_per_call(runs, plain, arm, calls), unit="ns")


def added_time(runs: Sequence[LoopRun], plain: str, treatment: str, arm: str, calls: float) -> Estimate:
    """What a treatment adds to a call: t on the differences of pairs of one block.

    Assumes what ``difference_of_paired_runs`` does, and is refused where it is.
    """
    order = order_in_pairs((run.treatment for run in runs), plain, treatment)
    first, second = (time_per_call(runs, name, arm, calls) for name in (plain, treatment))
    return difference_of_paired_runs(first, second, unit="ns", order=order)


def growth(
    runs: Sequence[LoopRun], treatment: str, kind: str, calls: float, *, half: int | None = None
) -> Estimate:
    """Bytes of memory that stay with each call, over runs: of all segments, or of the first or second half (0, 1).

    Runs that differ by less than a page agree to the last digit; the Estimate says how fine that is. Assumes what
    ``over_runs`` does.
    """
    grown, segments = [], 0
    for run in runs:
        if run.treatment != treatment:
            continue
        points = run.memory[kind]
        middle = (len(points) - 1) // 2
        part = points if half is None else points[: middle + 1] if half == 0 else points[middle:]
        segments = len(part) - 1
        grown.append(float(part[-1] - part[0]) / (segments * calls))
    number = over_runs(grown, unit="bytes")
    if not segments:
        return number
    fine = f"memory read in pages, {PAGE_BYTES / (segments * calls):.2g} B a call"
    return replace(number, assumes="; ".join(filter(None, (number.assumes, fine))))


@dataclass(frozen=True)
class LevelRun:
    """One run in a fresh process, at a capture level or under another treatment: its measured ``steps`` as two numbers, ns.

    Of a command that is timed as a whole both are that time, and ``steps`` is 1.
    """

    level: str
    block: int
    steps: int
    median_ns: float
    mean_ns: float


def step_at_level(runs: Iterable[LevelRun], level: str, statistic: Statistic) -> Estimate:
    """The step at a level, over its runs. Assumes what ``over_runs`` does."""
    return over_runs([_of(run, statistic) for run in runs if run.level == level], unit="ns")


def effect_of_looking(
    runs: Sequence[LevelRun], plain: str, level: str, statistic: Statistic, *, fewest: int = FEWEST_SAMPLES
) -> Estimate:
    """What a level adds to a step, in per cent of the step at level ``plain``: t on log differences of pairs of one block.

    ``runs`` are in the order in which they were run. No band below 8 pairs, or where a run has less than ``fewest``
    steps: 200, and 1 for a command that is timed as a whole. Assumes what ``ratio_of_paired_runs`` does, and is refused
    where it is.
    """
    first, second = (
        {run.block: _of(run, statistic) for run in runs if run.level == name} for name in (plain, level)
    )
    if not first or first.keys() != second.keys():
        return unknown(f"not every block has a run at {level} and one at {plain}", "%")
    if min(*first.values(), *second.values()) <= 0:
        return unknown("a ratio of pairs needs step times above 0", "%")
    order = order_in_pairs((run.level for run in runs), plain, level)
    blocks = sorted(first)
    ratio = ratio_of_paired_runs([first[b] for b in blocks], [second[b] for b in blocks], order=order)
    steps = min(run.steps for run in runs)
    why = ratio.refusal
    if len(blocks) < FEWEST_PAIRS:
        why = f"{len(blocks)} {'pair' if len(blocks) == 1 else 'pairs'} < {FEWEST_PAIRS}"
    elif steps < fewest:
        why = f"{steps} steps a run < {fewest}"
    made = replace(
        ratio,
        value=None if ratio.value is None else _per_cent(ratio.value),
        low=None if why or ratio.low is None else _per_cent(ratio.low),
        high=None if why or ratio.high is None else _per_cent(ratio.high),
        unit="%",
        method=f"{ratio.method}, in per cent",
        dots=tuple(map(_per_cent, ratio.dots)),
        refusal=why,
    )
    return replace(made, scope="", assumes="") if why else made


def one_pair(effect: Estimate) -> Estimate:
    """What one more pair of the same kind may differ by, in per cent: its value the median pair of ``effect``.

    The band holds the pairs from least to most. Where pairs are exchangeable, the next of k + 1 lies outside the k before
    it with probability 2 / (k + 1), whatever their distribution (order statistics; David and Nagaraja, "Order
    Statistics", 3rd edition, 2003, section 7.3): the confidence is (k - 1) / (k + 1), 77.7 % for 8 pairs. No band below
    2 pairs.
    """
    pairs = sorted(effect.dots)
    if not pairs:
        return unknown(effect.refusal or "no pairs", "%")
    k = len(pairs)
    made = Estimate(
        float(np.median(pairs)), None, None, k, "%", "a single pair, least to most, distribution-free",
        refusal="1 pair has no range", dots=effect.dots,
    )  # fmt: skip
    if k < 2:
        return made
    return replace(
        made,
        low=pairs[0],
        high=pairs[-1],
        refusal="",
        scope="one more pair",
        assumes="pairs exchangeable",
        confidence=(k - 1) / (k + 1),
    )


def _of(run: LevelRun, statistic: Statistic) -> float:
    return run.median_ns if statistic == "median" else run.mean_ns


def _per_cent(ratio: float) -> float:
    return 100 * (ratio - 1)
