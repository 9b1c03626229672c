"""Time of a thousand p50 bands over 5,000 steps each, beside a named peer in the same process.

    python benchmarks/estimate.py

The peer is the i.i.d. bootstrap of the median in numpy (200 resamples, percentile band), the band most often
seen on such data. It is timed on fewer rows, since its time is the same for each. Only the ratio is printed:
times belong to a host.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from akvsite.estimators import quantile_rows

ROWS, STEPS, RESAMPLES = 1000, 5000, 200
PEER_ROWS = 20
REPEATS = 3


def bootstrap(rows: NDArray[np.int64], rng: np.random.Generator) -> list[NDArray[np.float64]]:
    """Percentile bands of the median from resamples that take steps as independent."""
    bands = []
    for row in rows:
        medians = np.median(row[rng.integers(0, len(row), (RESAMPLES, len(row)))], axis=1)
        bands.append(np.quantile(medians, [0.025, 0.975]))
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
    ours = seconds_a_band(lambda: quantile_rows(rows, 0.5, unit="ns"), ROWS)
    peer = seconds_a_band(lambda: bootstrap(rows[:PEER_ROWS], rng), PEER_ROWS)
    print(
        f"{ROWS} bands of {STEPS} steps: {'within' if ours * ROWS < 1 else 'beyond'} one second on this host"
    )
    print(f"time of a band, i.i.d. bootstrap ({RESAMPLES} resamples, numpy) / EWC: {peer / ours:.0f}")


if __name__ == "__main__":
    main()
