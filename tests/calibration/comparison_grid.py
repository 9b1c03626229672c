"""Two sides drawn from the same distribution, the whole way: how often the interval misses zero.

Steps of each run, then p50 of each run, then pairs, then the interval: as a comparison page makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from akvsite import estimators as est
from akvsite.estimate import Estimate

from . import simulate
from .cell import Cell
from .cover import covered

REPEATS = 2000
BATCH = 250
STEPS = 500
#: An interval of 95 % misses in 5 %; what is left of this range is the noise of the trials and of small k.
MISSES = (3.5, 6.5)
#: A drift makes pairs differ by turns, up and down: that leaves their mean and widens their spread, so few miss.
MISSES_UNDER_DRIFT = (0.0, 6.5)
#: Bands of two runs are joined as if both erred at once: wide rather than narrow.
MISSES_OF_TWO = (0.0, 5.0)
#: Nine deciles at once, by a bound: together they may miss less often than in 5 %.
MISSES_AT_ONCE = (0.0, 6.5)


def cells(quick: bool = False) -> Iterator[Cell]:
    repeats = BATCH if quick else REPEATS
    for order in ("ABBA" * 2, "ABBABAAB" * 2):
        for between in (0.0, 0.5):
            for drift in (0.0, 1.0):
                yield from _pairs(order, between, drift, repeats)
    yield from _unpaired(repeats)
    for n in (500, 2000):
        yield from _two_runs(n, repeats)


def missed(bands: Iterable[Estimate]) -> float:
    return 100 - covered(bands, 0.0)


def _pairs(order: str, between: float, drift: float, repeats: int) -> Iterator[Cell]:
    """Both sides alike; levels of runs and the drift are in units of the sd of a step."""
    k = len(order) // 2
    b_side = np.array([made == "B" for made in order])
    rng = np.random.default_rng([12, len(order), round(10 * between), round(10 * drift)])
    of_pairs, at_once = [], []
    for _ in range(repeats // BATCH):
        levels = between * rng.standard_normal((BATCH, 2 * k)) + drift * np.linspace(0, 1, 2 * k)
        steps = simulate.runs(rng, BATCH * 2 * k, STEPS, 0.8, "burst").reshape(BATCH, 2 * k, STEPS)
        steps += 20 + levels[:, :, None]
        middles = p50_of(steps)
        for line, runs in zip(middles, steps, strict=True):
            of_pairs.append(
                est.difference_of_paired_runs(line[~b_side], line[b_side], unit="ms", order=order)
            )
            if drift == 0:
                nine = est.decile_shift(runs[~b_side], runs[b_side], unit="ms")
                at_once.append(covered(nine.values(), 0.0) < 100)
    case = f"p50 of {k} pairs in {order}, between-run sd {between}, drift {drift}"
    stated = MISSES_UNDER_DRIFT if drift else MISSES
    yield Cell("same on both sides, misses", case, missed(of_pairs), stated, of=repeats)
    if at_once:
        case = f"nine deciles at once of {k} pairs, between-run sd {between}"
        got = 100 * float(np.mean(at_once))
        yield Cell("same on both sides, misses", case, got, MISSES_AT_ONCE, of=repeats)


def p50_of(steps: simulate.Floats) -> simulate.Floats:
    """(repeats, runs) medians of (repeats, runs, steps)."""
    repeats, runs, n = steps.shape
    made = est.quantile_rows(steps.reshape(-1, n), 0.5, unit="ms")
    return np.array([one.value for one in made], np.float64).reshape(repeats, runs)


def _unpaired(repeats: int) -> Iterator[Cell]:
    """Runs of both sides in an order drawn by chance and not recorded, taken as pairs by their place."""
    for drift in (0.0, 1.0):
        rng = np.random.default_rng([13, round(drift)])
        bands = []
        for _ in range(repeats // BATCH):
            steps = simulate.runs(rng, BATCH * 16, STEPS, 0.8, "burst").reshape(BATCH, 16, STEPS)
            levels = 0.5 * rng.standard_normal((BATCH, 16)) + drift * np.linspace(0, 1, 16)
            for line in p50_of(steps + levels[:, :, None]):
                b_side = rng.permutation(16) < 8
                bands.append(est.difference_of_paired_runs(line[~b_side], line[b_side], unit="ms"))
        case = f"p50 of 8 runs a side in random order, as pairs by place, drift {drift}"
        if drift:
            yield Cell("where the bands do not hold", case, covered(bands, 0.0), None, of=repeats)
        else:
            yield Cell("same on both sides, misses", case, missed(bands), MISSES, of=repeats)


def _two_runs(n: int, repeats: int) -> Iterator[Cell]:
    """One run a side: the interval speaks of these two runs, which have the same long-run value here."""
    rng = np.random.default_rng([14, n])
    seen: dict[str, list[float]] = {}
    for _ in range(repeats // BATCH):
        a, b = (20 + simulate.runs(rng, BATCH, n, 0.8, "burst") for _ in range(2))
        for p in (0.5, 0.95):
            sides = list(zip(*(est.quantile_rows(side, p, unit="ms") for side in (a, b)), strict=True))
            differences = [est.difference_of_two_runs(*pair) for pair in sides]
            seen.setdefault(f"difference of p{100 * p:.0f}", []).append(missed(differences))
            ratios = [est.ratio_of_two_runs(*pair) for pair in sides]
            seen.setdefault(f"ratio of p{100 * p:.0f}", []).append(100 - covered(ratios, 1.0))
        nine = [est.decile_shift(x, y, unit="ms") for x, y in zip(a, b, strict=True)]
        apart = [covered(one.values(), 0.0) < 100 for one in nine]
        seen.setdefault("nine deciles at once", []).append(100 * float(np.mean(apart)))
    for what, shares in seen.items():
        case = f"{what}, one run a side, phi 0.8, bursts, n {n}"
        yield Cell("same on both sides, misses", case, float(np.mean(shares)), MISSES_OF_TWO, of=repeats)
