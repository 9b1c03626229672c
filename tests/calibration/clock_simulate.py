"""Simulated captures of two clocks whose truth is known: a seeded generator in, whole arrays out.

A device's clock runs at pieces of constant rate around a rate ``s``; its counter shows whole ticks. Readings lie between
two of the host's times, with the latch anywhere between them and widths with a heavy tail. Kernels have an entry of
their submission before, and some the return of a wait after. All of the host's times are epoch nanoseconds, all of the
device's are nanoseconds since a start long before, from ticks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from akvsite.clock import Band, Constraints, Resolution, unwrapped

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Fault = Literal[
    "52 ns a tick for 52.083",
    "missed wrap of 32 bits",
    "slew of 5 ppm",
    "slew of 500 ppm",
    "jump of 10 us",
    "readings 20 us late",
    "readings 20 us early",
    "half of the brackets 20 us late",
]

FAULTS: tuple[Fault, ...] = get_args(Fault)

#: What floats lose in the truth itself.
FLOAT_NS = 1e-3
EPOCH_NS = 1_770_000_000_123_456_789
SLOPE_PPM, WANDER_PPM = 200.0, 2.0
CLOCKS = (Resolution(19_200_000, "cycles a second"), Resolution(12_000_000, "cycles a second"))
#: The clock's start: so many ticks are a whole number of nanoseconds for either clock.
BOOT_TICKS = 12 * 10**9


@dataclass(frozen=True)
class Plan:
    """What a capture is like: a minute, ten readings a second and a thousand kernels, unless said otherwise; ns."""

    span: float = 60e9
    readings: int = 600
    kernels: int = 1000
    #: Most that the rate really strays from its mean, ppm.
    wander: float = WANDER_PPM
    pieces: int = 12
    #: The share of kernels for whose end a host call waits.
    waits: float = 0.25
    clock: Resolution = CLOCKS[0]


@dataclass(frozen=True, eq=False)
class Truth:
    """How far the host's clock is ahead of the device's: straight between knots. Times since both clocks' origins."""

    x: Floats
    y: Floats

    def ahead(self, x: Floats) -> Floats:
        return np.interp(x, self.x, self.y)


@dataclass(frozen=True, eq=False)
class Capture:
    """What was recorded: readings (n,), starts (m,) with their submissions, ends (k,) with their waits."""

    plan: Plan
    truth: Truth
    ticks: Ints
    before: Ints
    after: Ints
    starts: Ints
    submitted: Ints
    ends: Ints
    waited: Ints

    def readings(self, resolution: Resolution | None = None) -> Constraints:
        clock = resolution or self.plan.clock
        return Constraints.of_readings(self.before, clock.ns_of(self.ticks), self.after, clock.tick_ns)

    def causality(self, resolution: Resolution | None = None) -> Constraints:
        clock = resolution or self.plan.clock
        return Constraints.of_causality(
            clock.ns_of(self.starts), self.submitted, clock.ns_of(self.ends), self.waited, clock.tick_ns
        )

    def constraints(self, resolution: Resolution | None = None) -> Constraints:
        return self.readings(resolution).with_(self.causality(resolution))

    def times(self, count: int) -> tuple[Ints, Floats]:
        """``count`` device times, ns, from a little before the first event to a little after the last, and the truth:
        how far the host's clock is ahead there, less ``EPOCH_NS``.
        """
        boot = int(self.plan.clock.ns_of(np.array([BOOT_TICKS]))[0])
        x = np.linspace(-0.01 * self.plan.span, 1.01 * self.plan.span, count).round()
        return x.astype(np.int64) + boot, self.truth.ahead(x) - boot

    def holds_truth(self, band: Band, count: int) -> bool:
        """Whether the band holds the truth at all of ``count`` times."""
        x, truth = self.times(count)
        low, high = band.of(x, less_ns=EPOCH_NS)
        return bool(((low <= truth + FLOAT_NS) & (truth <= high + FLOAT_NS)).all())


def any_plan(rng: np.random.Generator) -> Plan:
    """A plan as captures differ: from 2 s to 4 minutes, a reading every millisecond to every second, one of two clocks."""
    span = 2e9 * 120 ** rng.random()
    readings = int(np.clip(span / rng.choice([1e6, 1e7, 1e8, 1e9]), 2, 3000))
    return Plan(
        span,
        readings,
        kernels=int(10 ** rng.uniform(1, 3.2)),
        wander=WANDER_PPM * rng.choice([rng.random(), 1.0]),
        pieces=int(rng.integers(1, 40)),
        clock=CLOCKS[int(rng.integers(2))],
    )


def truth_of(rng: np.random.Generator, plan: Plan) -> Truth:
    """Rates anywhere in the range, or now at one end and now at the other, which is the worst that is allowed."""
    s = rng.uniform(-SLOPE_PPM, SLOPE_PPM)
    edges = np.sort(rng.uniform(-0.02, 1.02, plan.pieces - 1)) * plan.span
    x = np.concatenate(([-0.02 * plan.span], edges, [1.02 * plan.span]))
    stray = rng.uniform(-1, 1, plan.pieces) if rng.random() < 0.7 else rng.choice([-1.0, 1.0], plan.pieces)
    y = np.concatenate(([0.0], np.cumsum((s + plan.wander * stray) * 1e-6 * np.diff(x))))
    return Truth(x, y + rng.uniform(0, 1e6))


def capture(rng: np.random.Generator, plan: Plan, truth: Truth | None = None) -> Capture:
    truth = truth or truth_of(rng, plan)
    at = np.sort(rng.random(plan.readings)) * plan.span
    width = bracket_widths(rng, plan.readings)
    inside = rng.random(plan.readings)
    start = np.sort(rng.random(plan.kernels)) * plan.span * 0.999
    end = np.minimum(start + rng.lognormal(11, 1.5, plan.kernels), plan.span)
    waited = end[rng.random(plan.kernels) < plan.waits]
    return Capture(
        plan,
        truth,
        _ticks(at, plan),
        _below(truth, at, inside * width),
        _above(truth, at, (1 - inside) * width),
        _ticks(start, plan),
        _below(truth, start, 3e3 + rng.exponential(12e3, len(start)) + _queued(rng, len(start))),
        _ticks(waited, plan),
        _above(truth, waited, 2e3 + rng.exponential(8e3, len(waited))),
    )


def bracket_widths(rng: np.random.Generator, n: int) -> Floats:
    """Widths of brackets, ns: about two microseconds, and one in fifteen with a tail that falls like 1 / width."""
    width = 600 + rng.lognormal(7.2, 0.6, n)
    late = rng.random(n) < 1 / 15
    return np.where(late, width + 5e3 * (rng.pareto(1.0, n) + 1), width)


def faulty(rng: np.random.Generator, plan: Plan, fault: Fault) -> Constraints:
    """The constraints of a capture with one fault in it."""
    if fault.startswith("slew"):
        added = 5e-6 if fault == "slew of 5 ppm" else 500e-6
        return capture(rng, plan, slewed(rng, plan, added * rng.choice([-1, 1]))).constraints()
    if fault == "jump of 10 us":
        return capture(rng, plan, jumped(rng, plan, 1e4 * rng.choice([-1, 1]))).constraints()
    made = capture(rng, plan)
    if fault == "52 ns a tick for 52.083":
        return made.constraints(Resolution(52, "ns a tick"))
    if fault == "missed wrap of 32 bits":
        return wrapped(rng, made).constraints()
    late = {"readings 20 us late": 20_000, "readings 20 us early": -20_000}.get(fault)
    shift = 20_000 * (rng.random(plan.readings) < 0.5) if late is None else late
    return replace(made, before=made.before + shift, after=made.after + shift).constraints()


def slewed(rng: np.random.Generator, plan: Plan, rate: float) -> Truth:
    """A third of the capture at another rate."""
    truth = truth_of(rng, plan)
    begin = rng.uniform(0.1, 0.55) * plan.span
    x = np.sort(np.concatenate((truth.x, [begin, begin + plan.span / 3])))
    return Truth(x, truth.ahead(x) + rate * np.clip(x - begin, 0, plan.span / 3))


def jumped(rng: np.random.Generator, plan: Plan, by: float) -> Truth:
    truth = truth_of(rng, plan)
    at = rng.uniform(0.1, 0.9) * plan.span
    x = np.sort(np.concatenate((truth.x, [at, at + 1])))
    return Truth(x, truth.ahead(x) + by * (x > at))


def wrapped(rng: np.random.Generator, made: Capture) -> Capture:
    """The counter wraps within the capture, and who reads it takes its 32 bits as they are."""
    last = int(made.ticks.max() - BOOT_TICKS)
    offset = 2**32 - int(rng.uniform(0.1, 0.9) * last) - BOOT_TICKS
    sides = {side: (getattr(made, side) + offset) % 2**32 for side in ("ticks", "starts", "ends")}
    return replace(made, **sides)


def unwrapped_again(made: Capture) -> Constraints:
    """The readings of a wrapped capture, unwrapped."""
    return replace(made, ticks=unwrapped(made.ticks.astype(np.uint64), 32)).readings()


def _ticks(x: Floats, plan: Plan) -> Ints:
    tick = plan.clock.tick_ns
    # Floor of x / tick in floats may be one too many or too few next to an edge: integers decide.
    ticks = np.floor(x * (tick.denominator / tick.numerator)).astype(np.int64)
    ticks -= ticks * tick.numerator > x * tick.denominator
    return ticks + BOOT_TICKS


def _below(truth: Truth, x: Floats, by: Floats) -> Ints:
    return np.floor(x + truth.ahead(x) - by).astype(np.int64) + EPOCH_NS


def _above(truth: Truth, x: Floats, by: Floats) -> Ints:
    return np.ceil(x + truth.ahead(x) + by).astype(np.int64) + EPOCH_NS


def _queued(rng: np.random.Generator, n: int) -> Floats:
    """Two in three kernels wait behind others, for up to milliseconds."""
    return np.where(rng.random(n) < 2 / 3, rng.exponential(1e6, n), 0.0)
