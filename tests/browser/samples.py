"""A drawing of every mark, with what is hard to draw in it: unknown, refused and unbounded numbers, hostile names."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from akvsite.charts import (
    Drawing,
    Footer,
    bands,
    budget,
    clock,
    distribution,
    occupancy,
    runs,
    series,
    shift,
    timeline,
    trials,
)
from akvsite.estimate import Estimate, counted, unknown

FOOTER = Footer(
    level="edge, dev host",
    control="capture on, +33 % [29, 37] against its control, 8 ABBA pairs: not a speed",
    seen="kernels 555 of 555 launched, copies 12 of 12, replays 0 of 0",
    clock="±1.1 us (worst 3.1) if one counter, brackets true, wander <= 2 ppm · blind to a constant bias of"
    " -4.2..+5.3 us",
)
HOSTILE = (
    "</script><img src=x onerror=\"document.title='hit'\">",
    "a\"b'c&d<e>",
    "right\u202eto left \u05e9\u05dc\u05d5\u05dd",
    "line\u2028separator",
    "k" * 10_000,
    "=HYPERLINK(1)",
)


def ms(value: float, low: float | None, high: float | None, **more: Any) -> Estimate:
    """An estimate over one run, given in milliseconds."""
    number: dict[str, float | None] = {"value": value, "low": low, "high": high}
    if more.get("systematic"):
        number["systematic"] = more.pop("systematic")
    ns = {key: end * 1e6 if end is not None else None for key, end in number.items()}
    about = {
        "n": 1840,
        "method": "EWC B=4",
        "scope": "this run only; between runs: unknown (1 run)",
        "assumes": "a steady series after the cut, phi <= 0.95",
        "use": "structure, not speed",
        "cut": 160,
        "refusal": "" if low is not None else "n 4 < 8",
    }
    return Estimate(**ns, unit="ns", **(about | more))  # type: ignore[arg-type]


#: The clock's bound as a number's systematic part, ms, and a conversion whose bound nobody knows.
CLOCK: dict[str, Any] = {"systematic": 0.11, "systematic_of": "clock"}
UNPROVEN: dict[str, Any] = {"systematic": None, "systematic_of": "clock, unproven"}

STEP = ms(21.34, 21.10, 21.61)
SIDES = (("one copy queue", 21.3), ("two copy queues", 20.1))


def draw_bands() -> Drawing:
    kernel = (
        "gemm_kernel<cutlass::epilogue::thread::LinearCombination<float, half>, 128, 64, 32, {}>::operator()"
    )
    return bands.draw(
        "Where does device time go, by kernel?",
        [
            bands.Row(kernel.format("true"), ms(2.31, 2.12, 2.58)),
            bands.Row(kernel.format("false"), ms(1.97, 1.80, math.inf)),
            bands.Row("softmax_warp_forward", ms(1.22, -math.inf, 1.31, **CLOCK)),
            bands.Row(
                "copy host to device",
                ms(1.74, 1.52, 1.95, dots=(1.5e6, 1.61e6, 1.83e6, 1.97e6), **CLOCK),
            ),
            bands.Row("from call to kernel", ms(1.4, 1.3, 1.5, **UNPROVEN)),
            bands.Row("from call to copy", ms(1.6, None, None, **UNPROVEN)),
            bands.Row("rms_norm", ms(0.91, None, None)),
            bands.Row("rotary_embedding", unknown("no device records", "ns")),
            bands.Row("block table upload", counted(610_000, "ns")),
        ],
        FOOTER,
        headline=[("p50 step", STEP)],
        axis="mean time a launch",
    )


def draw_groups() -> Drawing:
    rows = []
    for number, phase in enumerate(("schedule", "prepare", "launch", "wait", "sample", "send")):
        at = 0.4 + 0.7 * number % 2.3
        rows.append(bands.Row(phase, ms(at, at * 0.93, at * 1.06), "p50"))
        rows.append(bands.Row(phase, ms(at * 1.6, at * 1.35, at * 2.1), "p95"))
    return bands.draw("How long does each phase of a step take?", rows, FOOTER, axis="time a step")


def draw_hostile() -> Drawing:
    rows = [bands.Row(name, ms(1 + n, 0.9 + n, 1.2 + n), "A") for n, name in enumerate(HOSTILE)]
    return bands.draw(
        f"What is in {HOSTILE[0]}?", rows, FOOTER, headline=[(HOSTILE[1], STEP)], axis=HOSTILE[2]
    )


def draw_budget() -> Drawing:
    return budget.draw(
        "What is a step's time made of?",
        [
            budget.Region("attention", ms(8.1, 7.9, 8.4)),
            budget.Region("feed forward", ms(6.4, 6.2, 6.5)),
            budget.Region("KV copy wait, from the call to the event that ends it", ms(2.2, 1.4, 3.1)),
            budget.Region("sampling", ms(0.7, None, None)),
            budget.Region("detokenise", unknown("the region was not recorded", "ns")),
            budget.Region("not attributed", ms(-1.1, -1.9, 0.2), attributed=False),
        ],
        FOOTER,
        headline=[("mean step", STEP)],
        axis="mean time a step",
    )


def draw_distribution() -> Drawing:
    chance = random.Random(4)
    samples = {side: [chance.lognormvariate(0, 0.08) * at * 1e6 for _ in range(1840)] for side, at in SIDES}
    long = "two copy queues, blocks one layer ahead"
    samples[long] = samples.pop("two copy queues")
    samples[long][7] = math.nan
    return distribution.draw(
        "How are the steps of both sides distributed?",
        samples,
        FOOTER,
        unit="ns",
        axis="step time",
        bounds={"one copy queue": 220_000, long: None},
    )


def draw_series(n: int = 640) -> Drawing:
    chance = random.Random(5)
    samples: list[float | None] = [
        (21 + chance.gauss(0, 0.4) + (1.5 if i > 420 else 0) + 240 * (i == 0) + 4 * math.exp(-i / 12)) * 1e6
        for i in range(n)
    ]
    samples[300:312] = [None] * 12
    return series.draw(
        "Is the step time steady over the run?",
        samples,
        FOOTER,
        unit="ns",
        cut=60,
        headline=[("p50 step", STEP)],
        axis="step time",
    )


def draw_occupancy(n: int = 400) -> Drawing:
    chance = random.Random(11)
    times = np.array(sorted(chance.randrange(10**10) for _ in range(n)), dtype=np.int64)
    waiting = np.array([chance.randrange(9) for _ in range(n)], dtype=np.int64)
    return occupancy.draw(
        "How many requests wait, and how many are in the batch?",
        [
            occupancy.Count("waiting", times, waiting),
            occupancy.Count("in the batch", times[::2], np.minimum(waiting[::2] + 4, 8)),
        ],
        FOOTER,
        origin="the first event of the scheduler",
        last_ns=10**10,
        axis="requests",
    )


def draw_runs() -> Drawing:
    chance = random.Random(6)
    found = []
    for pair in range(8):
        for side, at in SIDES:
            v = at + chance.gauss(0, 0.25)
            found.append(runs.Run(side, f"run {pair + 1}", ms(v, v - 0.2, v + 0.25), pair=f"{pair}"))
    over = [
        (side, ms(at, at - 0.3, at + 0.3, n=8, method="t over runs", scope="8 runs")) for side, at in SIDES
    ]
    return runs.draw(
        "How far do runs of one side lie apart?", found, FOOTER, bands=over, axis="p50 step time"
    )


AT_ONCE: dict[str, Any] = {"scope": "8 pairs, nine deciles at once"}


def draw_shift() -> Drawing:
    deciles = [
        (
            d,
            ms(
                -1.3 + d / 60,
                -1.9 + d / 60,
                -0.8 + d / 40,
                method="quantile difference, Bonferroni over 9",
                **AT_ONCE,
            ),
        )
        for d in range(10, 90, 10)
    ]
    deciles.append((90, ms(0.4, None, None, refusal="n 12 < 20 in the tail")))
    return shift.draw("How do the two sides differ at each decile?", deciles, FOOTER, sides=("A", "B"))


def draw_timeline(n: int = 40) -> Drawing:
    intervals = []
    for i in range(n):
        at = 520_000 * i
        intervals.append(
            timeline.Interval("GPU 0 · compute queue", "kernel", at, at + 410_000, f"gemm {i}", 9000, 9000)
        )
        if i % 3 == 0:
            intervals.append(
                timeline.Interval(
                    "GPU 0 · copy queue", "copy to device", at + 60_000, at + 720_000, "", 40_000, 60_000
                )
            )
        intervals.append(
            timeline.Interval("host thread 12", "call", at - 90_000, at - 60_000, "urEnqueueKernelLaunch")
        )
        if i % 4 == 1:
            lane = "GPU 0 · by the vendor"
            intervals.append(timeline.Interval(lane, "copy to device", at, at + 600_000, "", None, None))
    intervals.append(timeline.Interval("host thread 12", "wait", 520_000 * n, None, "urQueueFinish"))
    return timeline.draw(
        "Do copies run while the card computes?", intervals, FOOTER, origin="start of step 40, host clock"
    )


def draw_trials() -> Drawing:
    chance = random.Random(7)

    def over(at: float, spread: float) -> Estimate:
        return Estimate(at, at - spread, at + spread, 12, "1", "t over repeats", scope="12 fresh processes")

    return trials.draw(
        "How much of the copy time is hidden behind compute?",
        [
            trials.Treatment("one queue", [chance.gauss(0.1, 0.6) for _ in range(12)], over(0.1, 0.35)),
            trials.Treatment(
                "two queues", [-2.8, *(min(1.0, chance.gauss(0.8, 0.1)) for _ in range(11))], over(0.5, 0.6)
            ),
            trials.Treatment("capture on", [0.4, None, 0.6], unknown("2 of 3 repeats have a control", "1")),
        ],
        FOOTER,
        unit="1",
        references=[("no overlap", 0.0), ("full overlap", 1.0)],
        axis="overlap, share of the shorter",
    )


def draw_clock() -> Drawing:
    chance = random.Random(8)
    knots = []
    for i in range(60):
        at = i * 700_000_000
        middle = 5_000_000 + at // 8_000 + int(chance.gauss(0, 300))
        knots.append(clock.Knot(at, middle - 900 - 200 * (i % 7), middle + 900 + 150 * (i % 5)))
    return clock.draw("How well are the two clocks joined?", knots, FOOTER)


#: By the name of the mark's module; a mark without a drawing here fails a test.
BY_MARK: dict[str, Callable[[], Drawing]] = {
    "bands": draw_bands,
    "budget": draw_budget,
    "clock": draw_clock,
    "distribution": draw_distribution,
    "occupancy": draw_occupancy,
    "series": draw_series,
    "runs": draw_runs,
    "shift": draw_shift,
    "timeline": draw_timeline,
    "trials": draw_trials,
}
