"""Simulated runs whose truth is known exactly: a seeded generator in, whole arrays out.

A run is a stationary AR(1) series with standard normal values (phi: correlation of neighbouring steps), to
which spikes are added: a share ``SPIKE_SHARE`` of steps takes an exponential extra of mean ``SPIKE_MEAN``,
alone or in bursts.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Spikes = Literal["none", "iid", "burst"]

SPIKE_SHARE = 0.02
SPIKE_MEAN = 5.0
BURST_LENGTH = 5.0


def runs(rng: np.random.Generator, repeats: int, n: int, phi: float, spikes: Spikes = "none") -> Floats:
    """(repeats, n) steps, each row one run."""
    series = np.empty((n, repeats))
    series[0] = rng.standard_normal(repeats)
    for step in range(1, n):
        series[step] = phi * series[step - 1] + math.sqrt(1 - phi**2) * rng.standard_normal(repeats)
    if spikes != "none":
        series += _spiked(rng, repeats, n, spikes) * rng.exponential(SPIKE_MEAN, (n, repeats))
    return np.ascontiguousarray(series.T)


def true_quantile(p: float, spikes: Spikes = "none") -> float:
    """The p quantile of one step of ``runs``, whatever phi is: bisection on the exact distribution."""
    low, high = -10.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, spikes) < p else (low, middle)
    return (low + high) / 2


def true_mean(spikes: Spikes = "none") -> float:
    return 0.0 if spikes == "none" else SPIKE_SHARE * SPIKE_MEAN


def run_statistics(
    rng: np.random.Generator, repeats: int, k: int, between: float, within: float = 0.01
) -> Floats:
    """(repeats, k) statistics of runs around a truth of 1: spread between runs, and within each."""
    return 1 + math.hypot(between, within) * rng.standard_normal((repeats, k))


def abba(
    rng: np.random.Generator, repeats: int, order: str, ratio: float, drift: float, noise: float = 0.01
) -> tuple[Floats, Floats]:
    """(repeats, k) statistics of A and of B, made in ``order`` while the host drifts by ``drift`` in all."""
    which = np.array([made == "B" for made in order])
    level = np.where(which, ratio, 1.0) * (1 + drift * np.linspace(0, 1, len(order)))
    values = level * np.exp(noise * rng.standard_normal((repeats, len(order))))
    return values[:, ~which], values[:, which]


def triples(
    rng: np.random.Generator,
    repeats: int,
    k: int,
    copy: float,
    compute: float,
    overlap: float,
    noise: float = 0.02,
) -> tuple[Floats, Floats, Floats]:
    """(repeats, k) times of copy, of compute and of both, where ``overlap`` of the shorter is hidden."""
    both = copy + compute - overlap * min(copy, compute)
    return tuple(  # type: ignore[return-value]
        time * (1 + noise * rng.standard_normal((repeats, k))) for time in (copy, compute, both)
    )


#: One run in five 10 % higher.
TWO_MODES_MEAN = 1.02


def two_modes(rng: np.random.Generator, repeats: int, k: int) -> Floats:
    """(repeats, k) statistics of runs that land in one of two modes."""
    return np.where(rng.random((repeats, k)) < 0.2, 1.1, 1.0) + 0.005 * rng.standard_normal((repeats, k))


def requests(
    rng: np.random.Generator, repeats: int, concurrency: int, rounds: int, shared: float, carried: float = 0.0
) -> Floats:
    """(repeats, rounds * concurrency) latencies in completion order: in each round the short ones first.

    Each is a normal of its own (sd 1) and the waiting of its round (normal, sd ``shared``), an AR(1) over rounds.
    """
    waiting = shared * runs(rng, repeats, rounds, carried)
    own = np.sort(rng.standard_normal((repeats, rounds, concurrency)), axis=2)
    return (waiting[:, :, None] + own).reshape(repeats, -1)


def true_request_quantile(p: float, shared: float) -> float:
    return true_quantile(p) * math.hypot(1, shared)


def _spiked(rng: np.random.Generator, repeats: int, n: int, spikes: Spikes) -> NDArray[np.bool_]:
    if spikes == "iid":
        return rng.random((n, repeats)) < SPIKE_SHARE
    ends = 1 / BURST_LENGTH
    starts = ends * SPIKE_SHARE / (1 - SPIKE_SHARE)  # so that the share of spiked steps is SPIKE_SHARE
    spiked = np.empty((n, repeats), dtype=bool)
    spiked[0] = rng.random(repeats) < SPIKE_SHARE
    for step in range(1, n):
        chance = rng.random(repeats)
        spiked[step] = np.where(spiked[step - 1], chance >= ends, chance < starts)
    return spiked


def _below(y: float, spikes: Spikes) -> float:
    """P(step <= y): a normal, mixed with a normal plus an exponential of rate 1 / SPIKE_MEAN."""
    plain = _normal(y)
    if spikes == "none":
        return plain
    rate = 1 / SPIKE_MEAN
    with_spike = plain - math.exp(rate**2 / 2 - rate * y) * _normal(y - rate)
    return (1 - SPIKE_SHARE) * plain + SPIKE_SHARE * with_spike


def _normal(y: float) -> float:
    return 0.5 * math.erfc(-y / math.sqrt(2))
