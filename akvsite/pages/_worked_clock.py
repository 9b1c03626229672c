"""A worked example of the clock's band: three readings, what they allow, and a fourth that contradicts them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from akvsite.clock import SLOPE_PPM, WANDER_PPM, Band, Constraints, Resolution, feasible
from akvsite.pages._html import Cell, items, table, text

#: A counter of 19.2 MHz, whose tick is 52.083 ns.
COUNTER = Resolution(19_200_000, "cycles a second")


@dataclass(frozen=True)
class Reading:
    """The host's clock, the device's counter, the host's clock again: ns, ticks, ns."""

    before_ns: int
    ticks: int
    after_ns: int

    @property
    def device_ns(self) -> int:
        return COUNTER.ns(self.ticks)

    def bounds_ns(self) -> tuple[int, int]:
        """How far the host's clock is ahead at least and at most there, to the nanosecond outwards."""
        alone = feasible(constraints((self,)), slope_ppm=0.0, wander_ppm=0.0)
        low, high = alone.of(np.array([self.device_ns]))
        return math.floor(low[0]), math.ceil(high[0])


READINGS = (
    Reading(5_000_000_000, 19_200_000, 5_000_002_400),
    Reading(6_000_010_000, 38_400_000, 6_000_013_900),
    Reading(7_000_019_500, 57_600_000, 7_000_021_300),
)
#: Taken 20 us late on the host: nothing within a wander of 2 ppm explains it.
LATE = Reading(8_000_049_700, 76_800_000, 8_000_051_900)


def constraints(readings: tuple[Reading, ...]) -> Constraints:
    before, device, after = np.array([[r.before_ns, r.device_ns, r.after_ns] for r in readings]).T
    return Constraints.of_readings(before, device, after, COUNTER.tick_ns)


def worked() -> str:
    """The example as HTML and Markdown; every number is computed here from the readings above."""
    band = feasible(constraints(READINGS))
    late = feasible(constraints((*READINGS, LATE)))
    return (
        text(
            f"A counter of {COUNTER} was read three times, each time between two readings of the host's clock. "
            "Each reading bounds how far the host is ahead of the device there, from both sides:"
        )
        + table(
            ["host before, ns", "device, ticks", "device, ns", "host after, ns", "ahead at least, ns", "ahead at most, ns"],
            [[r.before_ns, r.ticks, r.device_ns, r.after_ns, *r.bounds_ns()] for r in READINGS],
        )
        + text(
            f"With a slope of {SLOPE_PPM:g} ppm at most and a wander of {WANDER_PPM:g} ppm, some clock meets all three: "
            f"the least wander that they need is {band.least_wander_ppm:.2g} ppm. A device time then lies on the host's axis so:"
        )
        + table(["device time, ms", "on the host's axis, ns", "known to within, ns"], _converted(band))
        + "\nBetween readings the band is wider, since the clock may wander there; beyond the last one it grows without end.\n"
        + items(
            [
                f"{text('It says:')} {text('the device stamped this time within so many ns of that host time, whatever the two clocks did within these limits.')}",
                f"{text('It does not say:')} {text('that the middle is more likely than the ends, nor what a constant bias of all readings would be, which only causality limits.')}",
                text(
                    f"A fourth reading, 20 us late, is told at once: the four need a wander of {late.least_wander_ppm:.3g} ppm, so they are "
                    f"{'inconsistent' if not late.consistent else 'consistent'} at {WANDER_PPM:g} ppm, and no time is converted."
                ),
            ]
        )
    )  # fmt: skip


def _converted(band: Band) -> list[list[Cell | int]]:
    at = np.array([500_000_000, 1_000_000_000, 1_500_000_000, 2_000_000_000, 3_000_000_000, 4_000_000_000])
    host, half = band.at(at)
    return [
        [int(x) // 1_000_000, int(h), Cell(f"±{w:,}", int(w))] for x, h, w in zip(at, host, half, strict=True)
    ]
