"""What looking on costs: a loop run plain and under tracers, in blocks that hold each treatment once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from akvsite.estimate import Estimate
from akvsite.estimators._samples import Floats
from akvsite.estimators.runs import difference_of_paired_runs, over_runs

#: The smallest step of memory that the kernel tells of, byte.
PAGE_BYTES = 4096


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
