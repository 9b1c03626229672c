"""Time of a thousand bands over 5,000 steps each, beside named peers in the same process.

    python benchmarks/estimators.py

Peers: ``np.quantile`` of the same rows, which is a value without a band; and the i.i.d. bootstrap in numpy (200
resamples, percentile band), the band most often seen on such data, timed on fewer rows since its time is the same for
each. Ratios are printed, since times belong to a host; whether a thousand bands take under a second is said too.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from akvsite.estimators import mean_rows, quantile_rows, throughput_rows

ROWS, STEPS, RESAMPLES = 1000, 5000, 200
PEER_ROWS = 20
REPEATS = 3


def bootstrap(
    rows: NDArray[np.int64], statistic: Callable[..., NDArray[np.float64]], rng: np.random.Generator
) -> list[NDArray[np.float64]]:
    """Percentile bands of a statistic from resamples that take steps as independent."""
    bands = []
    for row in rows:
        resampled = statistic(row[rng.integers(0, len(row), (RESAMPLES, len(row)))], axis=1)
        bands.append(np.quantile(resampled, [0.025, 0.975]))
    return bands


def seconds_a_band(work: Callable[[], object], bands: int) -> float:
    """The shortest of a few repeats, a band."""
    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken) / bands


def main() -> None:
    rng = np.random.default_rng(5)
    rows = (20e6 + 5e5 * rng.standard_normal((ROWS, STEPS))).astype(np.int64)
    few = rows[:PEER_ROWS]
    resampled = {
        "median": seconds_a_band(lambda: bootstrap(few, np.median, rng), PEER_ROWS),
        "mean": seconds_a_band(lambda: bootstrap(few, np.mean, rng), PEER_ROWS),
    }
    plain = seconds_a_band(lambda: np.quantile(rows, 0.5, axis=1), ROWS)
    cases: tuple[tuple[str, str, Callable[[], object]], ...] = (
        ("p50", "median", lambda: quantile_rows(rows, 0.5, unit="ns")),
        ("p95", "median", lambda: quantile_rows(rows, 0.95, unit="ns")),
        ("mean", "mean", lambda: mean_rows(rows, unit="ns")),
        ("throughput", "mean", lambda: throughput_rows(rows)),
    )
    for name, peer, work in cases:
        ours = seconds_a_band(work, ROWS)
        print(
            f"{name:<10} {ROWS} bands of {STEPS} steps {'within' if ours * ROWS < 1 else 'beyond'} one second;"
            f" i.i.d. bootstrap of the {peer} / ours: {resampled[peer] / ours:.0f};"
            f" ours / np.quantile without a band: {ours / plain:.2f}"
        )


if __name__ == "__main__":
    main()
