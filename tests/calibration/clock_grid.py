"""The clock's band on simulated captures: whether it holds the truth, how wide it is, which faults it shows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

import numpy as np

from akvsite.clock import Constraints, blind_range, feasible, least_wander

from . import clock_exact
from . import clock_simulate as sim
from .cell import Cell
from .clock_naive import Naive, naive

GRID = "clock"
CAPTURES, FAULTY, WIDTHS, BLIND = 10_000, 1_000, 1_000, 1_000
POINTS, WIDTH_POINTS = 2_000, 100
#: The exact optimum looks at all pairs: few readings and few kernels.
MOST_FOR_OPTIMUM = 150
FEWEST_FOR_LINE = 10
MANY = 500_000
ANY = "captures of any kind"


def cells(quick: bool = False) -> Iterator[Cell]:
    """All cells; ``quick`` looks at a fiftieth of the captures."""
    part = 50 if quick else 1
    yield from sound(CAPTURES // part)
    yield from width(WIDTHS // part)
    yield from faults(FAULTY // part)
    yield from silent(FAULTY // part)
    yield from blind(BLIND // part)
    yield from fitted(FAULTY // part)
    yield from not_done(FAULTY // part)
    yield from speed(MANY // part)


def rng_of(*key: int) -> np.random.Generator:
    return np.random.default_rng([1900, *key])


def any_capture(*key: int) -> sim.Capture:
    rng = rng_of(*key)
    return sim.capture(rng, sim.any_plan(rng))


def share(case: str, found: list[bool], stated: tuple[float, float] | None = None) -> Cell:
    """How many of so many, in percent."""
    return Cell(GRID, case, 100 * sum(found) / len(found), stated, of=len(found))


def sound(n: int) -> Iterator[Cell]:
    """Captures of any kind without a fault: none is called inconsistent, and each band holds the truth everywhere."""
    refused, held, causal, halves = [], [], [], []
    for i in range(n):
        made = any_capture(1, i)
        band = feasible(made.constraints())
        refused.append(not band.consistent)
        held.append(band.consistent and made.holds_truth(band, POINTS))
        causal.append(made.holds_truth(feasible(made.causality()), POINTS))
        if band.consistent:
            halves.append(float(np.median(band.at(made.times(WIDTH_POINTS)[0])[1])))
    yield share(f"truth inside at all {POINTS:,} times, of {n:,} captures", held, (100, 100))
    yield share("truth inside at all of them, from causality alone", causal, (100, 100))
    yield share(f"called inconsistent without a fault, of {n:,}", refused, (0, 0))
    yield Cell(GRID, "half-width, median of captures", median(halves) / 1e3, None, "us")


def width(n: int) -> Iterator[Cell]:
    """Width over that of the narrowest band that holds every possible clock (``clock_exact``)."""
    means, worst = [], 1.0
    for i in range(n):
        rng = rng_of(2, i)
        plan = sim.any_plan(rng)
        few = replace(
            plan,
            readings=min(plan.readings, MOST_FOR_OPTIMUM),
            kernels=min(plan.kernels, MOST_FOR_OPTIMUM),
        )
        known = sim.capture(rng, few).constraints()
        first, last = (int(end(known.upper_x)) for end in (np.min, np.max))
        at = np.linspace(first, last, WIDTH_POINTS).round().astype(np.int64)
        low, high = feasible(known).of(at, less_ns=int(known.upper_y[0]))
        least, most = clock_exact.optimum(known, at, sim.SLOPE_PPM, sim.WANDER_PPM)
        means.append(float((high - low).mean() / (most - least).mean()))
        worst = max(worst, float(((high - low) / (most - least)).max()))
    yield Cell(
        GRID, f"width over the optimum's, mean of {n:,} captures", float(np.mean(means)), (1, 1.05), "×"
    )
    yield Cell(
        GRID, f"width over the optimum's, most at any of {WIDTH_POINTS} times of each", worst, (1, 1.25), "×"
    )


def flagged(fault: sim.Fault, n: int, anyhow: bool) -> list[bool]:
    """Whether each of ``n`` captures with the fault is inconsistent."""
    found = []
    for i in range(n):
        rng = rng_of(3, sim.FAULTS.index(fault), i)
        plan = sim.any_plan(rng) if anyhow else sim.Plan()
        found.append(not feasible(sim.faulty(rng, plan, fault)).consistent)
    return found


def faults(n: int) -> Iterator[Cell]:
    """In a minute with ten readings a second the clock itself wanders by all that is allowed."""
    for fault in sim.FAULTS:
        yield share(f"flagged: {fault}", flagged(fault, n, False), (99, 100))
    for fault in sim.FAULTS:
        if fault not in ("slew of 5 ppm", "jump of 10 us"):  # which are looked at more closely in ``silent``
            yield share(f"flagged: {fault}, {ANY}", flagged(fault, n, True))


def silent(n: int) -> Iterator[Cell]:
    """What is no contradiction though the clock leaves the assumption, and how often the band then misses the truth.

    A slew of less than twice the wander need not show, and in a short capture or one of few readings nor does more.
    """
    minute, any_ = (lambda _: sim.Plan()), sim.any_plan
    for case, plan_of, alter, by in (
        ("slew of 3 ppm on top of a wander of 2", minute, sim.slewed, 3e-6),
        (f"slew of 5 ppm, {ANY}", any_, sim.slewed, 5e-6),
        (f"jump of 10 us, {ANY}", any_, sim.jumped, 1e4),
    ):
        shown, missed = [], []
        for i in range(n):
            rng = rng_of(7, i)
            plan = plan_of(rng)
            made = sim.capture(rng, plan, alter(rng, plan, by * rng.choice([-1, 1])))
            band = feasible(made.constraints())
            shown.append(not band.consistent)
            missed.append(band.consistent and not made.holds_truth(band, POINTS))
        yield share(f"flagged: {case}", shown)
        yield share(f"not flagged, and truth outside: {case}", missed)


def blind(n: int) -> Iterator[Cell]:
    """The range of a constant bias that goes unseen: the one that is there lies in it, be it none or 20 us."""
    none, planted, wide = [], [], []
    for i in range(n):
        made = any_capture(4, i)
        low, high = blind_range(made.readings(), made.causality())
        none.append(low <= sim.FLOAT_NS and high >= -sim.FLOAT_NS)
        wide.append(high - low)
        late = replace(made, before=made.before + 20_000, after=made.after + 20_000)
        low, high = blind_range(late.readings(), made.causality())
        planted.append(low - sim.FLOAT_NS <= -20_000 <= high + sim.FLOAT_NS)
    yield share(f"no bias is in the blind range, of {n:,} captures without one", none, (100, 100))
    yield share(f"a bias of 20 us is in the blind range, of {n:,}", planted, (100, 100))
    yield Cell(GRID, "length of the blind range, median", median(wide) / 1e3, None, "us")


def fitted(n: int) -> Iterator[Cell]:
    """Why the wander is declared: with the least that the data allow nothing is ever inconsistent."""
    slewed, jumped, held = [], [], []
    for i in range(n):
        for found, fault in ((slewed, "slew of 5 ppm"), (jumped, "jump of 10 us")):
            known = sim.faulty(rng_of(5, i), sim.Plan(), fault)
            found.append(not feasible(known, wander_ppm=least_wander(known)).consistent)
        made = any_capture(5, i)
        known = made.constraints()
        held.append(made.holds_truth(feasible(known, wander_ppm=least_wander(known)), POINTS))
    yield share("wander fitted, not declared: flagged slew of 5 ppm", slewed)
    yield share("wander fitted, not declared: flagged jump of 10 us", jumped)
    yield share("wander fitted, not declared: truth inside at all times", held)


def not_done(n: int) -> Iterator[Cell]:
    """What other rules make of captures without a fault."""
    made = (any_capture(1, i) for i in range(n))
    found = Naive(
        *zip(*(naive(each, POINTS) for each in made if each.plan.readings >= FEWEST_FOR_LINE), strict=True)
    )
    for rule, errors in (
        ("one anchor", found.anchor),
        ("nearest reading", found.nearest),
        ("straight line", found.line),
    ):
        case = f"not done: {rule}, largest error of a capture"
        yield Cell(GRID, f"{case}, median", median(errors) / 1e3, None, "us")
        yield Cell(GRID, f"{case}, most", max(errors) / 1e3, None, "us")
    covers = 100 * float(np.mean(found.line_covers))
    yield Cell(GRID, "not done: straight line, truth inside its 95 % interval", covers, None)


def many(n: int) -> Constraints:
    """Four ``n`` constraints: ``n`` readings and ``n`` kernels, each with its submission and its wait, in 20 minutes."""
    rng = rng_of(6)
    made = sim.capture(rng, sim.Plan(span=1.2e12, readings=n, kernels=n, waits=1.0))
    return made.constraints()


def speed(n: int) -> Iterator[Cell]:
    known = many(n)
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        feasible(known)
        taken.append(time.perf_counter() - began)
    yield Cell(GRID, f"a band from {len(known):,} constraints, median of 5", median(taken), (0, 1), "s")
