"""Time of a clock's band from two million constraints, beside numpy's sort of as many numbers in the same process.

    python benchmarks/clock.py

Half of the constraints are of readings, half of starts and ends of kernels, each in its own order, as they come out of a
capture. Then 100,000 times are brought to the host's axis, and the range of a constant bias is found. Seconds belong to
this host; what should be read is the ratio to the sort, which any band needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from akvsite.clock import Constraints, blind_range, feasible, least_wander

READINGS = KERNELS = 500_000
ASKED = 100_000
SPAN_NS = 1_200 * 10**9
REPEATS = 5
EPOCH_NS = 1_770_000_000 * 10**9


def captured(rng: np.random.Generator) -> tuple[Constraints, Constraints]:
    """Readings and causality of a clock that gains 50 ppm and wanders by less than 1."""

    def host(x: np.ndarray) -> np.ndarray:
        return EPOCH_NS + x + (5e-5 * x + 1e4 * np.sin(x / 2e10)).astype(np.int64)

    at, start = (np.sort(rng.integers(0, SPAN_NS, n)) for n in (READINGS, KERNELS))
    before, after = (rng.integers(200, 3_000, READINGS) for _ in "ba")
    end = start + rng.integers(1_000, 200_000, KERNELS)
    late, seen = (rng.integers(4_000, 50_000, KERNELS) for _ in "ls")
    return (
        Constraints.of_readings(host(at) - before, at, host(at) + after, 52),
        Constraints.of_causality(start, host(start) - late, end, host(end) + seen, 52),
    )


def seconds(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return median(taken)


def main() -> None:
    rng = np.random.default_rng(19)
    readings, causality = captured(rng)
    known = readings.with_(causality)
    numbers = rng.random(len(known))
    sort = seconds(lambda: np.sort(numbers))
    band = feasible(known)
    at = rng.integers(0, SPAN_NS, ASKED)
    print(f"{len(known):,} constraints; median of {REPEATS}; np.sort of as many float64 takes {sort:.3f} s")
    for name, work in (
        ("band", lambda: feasible(known)),
        ("least wander", lambda: least_wander(known)),
        ("blind range", lambda: blind_range(readings, causality)),
        (f"{ASKED:,} times on the host's axis", lambda: band.at(at)),
    ):
        taken = seconds(work)
        print(f"{name:<36} {taken:.3f} s, {taken / sort:.1f} times the sort")


if __name__ == "__main__":
    main()
