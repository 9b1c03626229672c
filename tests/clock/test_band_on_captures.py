"""A short look at what ``python -m tests.calibration`` checks on its full grid: simulated captures, fixed seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from calibration import clock_grid
from calibration import clock_simulate as sim

from akvsite.clock import Constraints, blind_range, feasible, least_wander


def rng_of(*key: int) -> np.random.Generator:
    return np.random.default_rng([2026, *key])


@pytest.mark.parametrize("part", ["sound", "width", "blind"])
def test_the_grid_in_short(part: str) -> None:
    cells = list(getattr(clock_grid, part)(40))
    assert any(cell.stated for cell in cells)
    assert [str(cell) for cell in cells if not cell.inside] == []


@pytest.mark.parametrize("fault", sim.FAULTS)
def test_a_planted_fault_is_inconsistent(fault: sim.Fault) -> None:
    found = [feasible(sim.faulty(rng_of(1, i), sim.Plan(), fault)) for i in range(12)]
    assert not any(band.consistent for band in found)
    assert all(band.least_wander_ppm > band.wander_ppm for band in found)


def test_a_wrap_undone_is_no_fault() -> None:
    rng = rng_of(2)
    made = sim.wrapped(rng, sim.capture(rng, sim.Plan()))
    assert not feasible(made.readings()).consistent
    assert feasible(sim.unwrapped_again(made)).consistent


def test_a_wander_fitted_to_the_data_shows_no_fault() -> None:
    """Why it is declared."""
    jumped = sim.faulty(rng_of(3), sim.Plan(), "jump of 10 us")
    assert not feasible(jumped).consistent
    assert feasible(jumped, wander_ppm=least_wander(jumped)).consistent


def test_causality_and_readings_together_are_no_wider_than_either() -> None:
    made = sim.capture(rng_of(4), sim.Plan(readings=30))
    x, _ = made.times(200)
    both, read, causal = (
        np.subtract(*feasible(known).of(x, sim.EPOCH_NS)[::-1])
        for known in (made.constraints(), made.readings(), made.causality())
    )
    assert (both <= read + 1e-6).all() and (both <= causal + 1e-6).all()
    assert both.mean() < 0.99 * read.mean() and both.mean() < 0.99 * causal.mean()


def test_a_bias_is_in_the_blind_range_until_causality_shows_it() -> None:
    made = sim.capture(rng_of(5), sim.Plan())
    low, high = blind_range(made.readings(), made.causality())
    for bias, shown in (
        (int(high) - 50, False),
        (int(high) + 50, True),
        (int(low) + 50, False),
        (int(low) - 50, True),
    ):
        moved = replace(made, before=made.before + bias, after=made.after + bias).constraints()
        assert feasible(moved).consistent != shown


def test_many_constraints_give_what_few_of_them_do_where_the_rest_says_nothing() -> None:
    """Sweeps over hundreds of thousands of constraints, of which all but a few are far from the clock."""
    rng = rng_of(6)
    made = sim.capture(rng, sim.Plan())
    known = made.constraints()
    first, last = int(known.upper_x.min()), int(known.upper_x.max())
    x = rng.integers(first, last, 200_000)
    far = Constraints(x, np.interp(x, *ceiling_line(known)).astype(np.int64) + 10**8, [], [])
    at, _ = made.times(500)
    few, many = feasible(known).of(at, sim.EPOCH_NS), feasible(known.with_(far)).of(at, sim.EPOCH_NS)
    assert np.array_equal(few[0], many[0]) and np.array_equal(few[1], many[1])


def ceiling_line(known: Constraints) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(known.upper_x)
    return known.upper_x[order], known.upper_y[order]
