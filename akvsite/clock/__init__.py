"""Two clocks: a device's ticks as nanoseconds (``ticks``), and those on the host's axis as a band (``band``)."""

from akvsite.clock.band import (
    SLOPE_PPM,
    WANDER_PPM,
    Band,
    blind_range,
    feasible,
    least_wander,
)
from akvsite.clock.constraints import Constraints
from akvsite.clock.ticks import UNITS, Resolution, Unit, resolution, ticks_between, unwrapped

__all__ = [
    "SLOPE_PPM",
    "UNITS",
    "WANDER_PPM",
    "Band",
    "Constraints",
    "Resolution",
    "Unit",
    "blind_range",
    "feasible",
    "least_wander",
    "resolution",
    "ticks_between",
    "unwrapped",
]
