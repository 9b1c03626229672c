"""Worked examples: small fixed data, and the numbers that the estimators really make of them when a site is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akvsite import estimators as est
from akvsite.estimate import Estimate

Lines = list[tuple[str, Estimate]]


@dataclass(frozen=True)
class Worked:
    """One example: the data in words, the numbers by name, and what they say and do not say."""

    title: str
    #: Names of the estimators that it shows.
    of: tuple[str, ...]
    data: str
    lines: Callable[[], Lines]
    says: str
    not_said: str


def steps(n: int, seed: int, middle_ns: int = 21_300_000) -> NDArray[np.int64]:
    """Step times in ns, int64 (n,), each leaning on the one before: the same on every machine.

    The multiplier and the increment are those of "Numerical Recipes" (2nd edition, section 7.1).
    """
    state, leaning = seed, 0.0
    made = np.empty(n, np.int64)
    for at in range(n):
        state = (1664525 * state + 1013904223) % 2**32
        leaning = 0.8 * leaning + state / 2**32 - 0.5
        made[at] = middle_ns + round(1_000_000 * leaning)
        if state % 97 == 0:
            made[at] += 6_000_000
    return made


def _percentiles() -> Lines:
    run = steps(2000, 1)
    return [(f"p{100 * p:.0f} step", est.quantile(run, p, unit="ns", cut=160)) for p in (0.5, 0.95, 0.99)] + [
        ("p99 of 71 latencies", est.quantile(steps(71, 2), 0.99, unit="ns"))
    ]


def _means() -> Lines:
    run = steps(2000, 1)
    return [
        ("mean step", est.mean(run, unit="ns", cut=160)),
        ("tokens", est.throughput(run, unit="tokens/s", per_step=32, cut=160)),
        ("mean of 71 steps", est.mean(run[160:231], unit="ns")),
    ]


def _budget() -> Lines:
    total = steps(1000, 3)
    regions = {"launch": total // 5 + steps(1000, 4) // 50, "wait": total * 4 // 5}
    return list(est.budget(regions, total, unit="ns").items())


def _paired_steps() -> Lines:
    shared = steps(600, 5)
    other = shared + steps(600, 6, 300_000) // 10
    return [("the same 600 steps, two builds", est.paired_steps(shared, other, unit="ns"))]


def _requests() -> Lines:
    ttft = steps(400, 7, 90_000_000)
    return [
        (f"p50 TTFT, concurrency {c or 'not declared'}", est.request_quantile(ttft, 0.5, unit="ns", concurrency=c))
        for c in (4, 16, None)
    ]  # fmt: skip


MEDIANS_NS = np.array([21_320_000, 21_470_000, 21_180_000, 21_390_000, 21_260_000, 21_610_000])


def _runs() -> Lines:
    of_six = est.over_runs(MEDIANS_NS, unit="ns")
    assert of_six.also is not None
    return [
        ("p50 of 1 run", est.over_runs(MEDIANS_NS[:1], unit="ns")),
        ("p50 of 3 runs", est.over_runs(MEDIANS_NS[:3], unit="ns")),
        ("p50 of 6 runs", of_six),
        ("beside it", of_six.also),
    ]


def _history() -> Lines:
    this = est.quantile(steps(2000, 1), 0.5, unit="ns", cut=160)
    archived = {f"archived-{at}": est.quantile(steps(2000, 10 + at, int(m)), 0.5, unit="ns") for at, m in enumerate(MEDIANS_NS[:5])}  # fmt: skip
    made = est.with_history(this, archived, run="this")
    none = est.with_history(this, {"this": this, **archived}, run="this")
    assert made.also is not None and none.also is not None
    return [("p50 step", made), ("beside it", made.also), ("with itself named", none.also)]


def _two_runs() -> Lines:
    a, b = (est.quantile(steps(2000, seed), 0.5, unit="ns", cut=160) for seed in (1, 8))
    return [
        ("A", a),
        ("B", b),
        ("B - A", est.difference_of_two_runs(a, b)),
        ("B / A", est.ratio_of_two_runs(a, b)),
    ]


A_NS = np.array([21_320_000, 21_470_000, 21_180_000, 21_390_000])
B_NS = np.array([20_910_000, 21_040_000, 20_840_000, 20_880_000])


def _pairs() -> Lines:
    return [
        ("B - A", est.difference_of_paired_runs(A_NS, B_NS, unit="ns", order="ABBABAAB")),
        ("B / A", est.ratio_of_paired_runs(A_NS, B_NS, order="ABBABAAB")),
        ("B / A, all of A first", est.ratio_of_paired_runs(A_NS, B_NS, order="AAAABBBB")),
    ]


def _shift() -> Lines:
    nine = est.decile_shift(steps(2000, 1)[160:], steps(2000, 8)[160:], unit="ns")
    return [(f"p{100 * p:.0f}, B - A", nine[p]) for p in (0.1, 0.5, 0.9)]


def _overlap() -> Lines:
    copy, compute = [10.1, 9.9, 10.0, 10.2], [20.0, 20.3, 19.9, 20.2]
    return [
        ("overlap", est.overlap_triples(copy, compute, [23.9, 24.3, 24.1, 24.2])),
        ("overlap, all hidden", est.overlap_triples(copy, compute, [19.9, 20.2, 20.0, 20.1])),
    ]


def _clock() -> Lines:
    gap = est.quantile(steps(1000, 9, 2_000_000) // 50, 0.5, unit="ns")
    bounded = est.with_clock(gap, np.linspace(900, 3100, 1000), "bounded")
    return [
        ("launch to start", bounded),
        ("by the vendor's clock", est.with_clock(gap, None, "unproven")),
        ("B - A", est.difference_of_two_runs(bounded, bounded)),
    ]


WORKED = (
    Worked(
        "Percentiles of one run",
        ("quantile", "quantile_rows"),
        "2,000 steps of one run, each leaning on the one before, of which the capture declares 160 as warm-up; and 71 latencies.",
        _percentiles,
        "Were this run to go on for ever under the same conditions, its percentile would lie in the band, in 95 of 100 such runs. Value and ends are steps that occurred.",
        "What the next run would show: its level may be another. Nor what p99 is, from so few steps: where there is no band the reason stands in its place, and beside it what the count alone allows to say.",
    ),
    Worked(
        "Mean and rate of one run",
        ("mean", "mean_rows", "throughput", "throughput_rows"),
        "The same 2,000 steps, 32 tokens a step; and 71 of them.",
        _means,
        "The rate is one over the mean time, so it is that of the whole run, with its spikes.",
        "What a typical step takes: a mean follows its largest steps. Where bursts of spikes are rare, the band holds less often than it says (the table of limits has the figures).",
    ),
    Worked(
        "Where the mean step goes",
        ("budget",),
        "1,000 steps with two regions, of which the second begins before the first has ended.",
        _budget,
        "Means of regions and remainder add up to the mean step, since they are formed inside each step.",
        "That percentiles add up: they do not, and are never added. A remainder below 0 is kept: regions overlap by at least so much.",
    ),
    Worked(
        "Steps in pairs",
        ("paired_steps",),
        "600 steps that did the same work twice.",
        _paired_steps,
        "By how much the mean step of these two series differs: what both share, step by step, has left the difference.",
        "Anything about runs: both series are one run each.",
    ),
    Worked(
        "TTFT and TPOT over requests",
        ("request_quantile",),
        "400 requests in the order in which they completed.",
        _requests,
        "What the median of this run's requests would be, were the run to go on. Requests over concurrency is the number of rounds, and waits are shared within one.",
        "A band where requests wait together in few rounds: 400 requests in 25 rounds are 25 waits, not 400.",
    ),
    Worked(
        "Several runs of one configuration",
        ("over_runs", "median_run"),
        "p50 of six runs of one configuration, of which the first, the first three and all are taken.",
        _runs,
        "The long-run value of the configuration, from how far its runs lie apart. From six runs on, a second band assumes no shape.",
        "With one run: anything. Steps within a run, however many, do not tell how runs differ.",
    ),
    Worked(
        "One run and its history",
        ("with_history",),
        "p50 of one run, and of five archived ones that a person named.",
        _history,
        "The first band is of this run. The second adds the spread of the named runs, and speaks of the configuration as far as this run is one like them.",
        "That the archived runs were chosen well: their names are printed so that it can be seen.",
    ),
    Worked(
        "One run against one run",
        ("difference_of_two_runs", "ratio_of_two_runs"),
        "Two runs of 2,000 steps.",
        _two_runs,
        "By how much these two runs differ, as far as their own steps tell.",
        "That the two configurations differ: two runs of one configuration may lie as far apart.",
    ),
    Worked(
        "Runs in pairs",
        ("difference_of_paired_runs", "ratio_of_paired_runs"),
        "p50 of four runs a side, made in the order ABBABAAB; then the same numbers as if all of A had been made first.",
        _pairs,
        "By how much the configurations differ on this host, while it may have drifted.",
        "Anything where one side was made after the other: a drift of the host would be read as their difference.",
    ),
    Worked(
        "Two distributions",
        ("decile_shift",),
        "Two runs of 2,000 steps; three of the nine deciles are printed here.",
        _shift,
        "Where in the distribution two runs differ. All nine bands hold at once, so each is wider than it were alone.",
        "That the steps of B are those of A, moved: deciles are not the same steps.",
    ),
    Worked(
        "Overlap from the wall clock",
        ("overlap_triples",),
        "Four interleaved triples, ms: a copy alone, compute alone, both together.",
        _overlap,
        "How much of the shorter one is hidden, from wall clock alone.",
        "A number held between 0 and 1: where all is hidden, half of all estimates are above 1, and cutting them off would lower the rest.",
    ),
    Worked(
        "What the clock adds",
        ("with_clock",),
        "1,000 gaps between a launch on the host and a start on the device, whose clock is bound to 0.9 to 3.1 us.",
        _clock,
        "The band is what more samples would narrow; the clock's part is not, so it stands apart and is added outside. Two runs have two clocks, and their parts add.",
        "That the clock errs by so much: it errs by no more. Where the vendor converted the times, nobody knows by how much, and no number takes that place.",
    ),
)
