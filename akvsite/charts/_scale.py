"""Scales and units: one factor for a whole chart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from akvsite.charts._form import AXIS, DOMAIN, TICKS
from akvsite.errors import visible
from akvsite.estimate import Estimate

_TIME: Final = (("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9))


_BYTES: Final = tuple((name, 1024.0**power) for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB")))


_RATES: Final = tuple((f"{name}/s", size) for name, size in _BYTES)


_FAMILIES: Final = {name: family for family in (_TIME, _BYTES, _RATES) for name, _ in family} | {
    "bytes": _BYTES
}


@dataclass(frozen=True)
class Scale:
    """From an Estimate's unit to the axis's: one factor for the whole chart."""

    unit: str
    factor: float
    low: float
    high: float
    #: No number has a place on the axis, which then has no ticks.
    empty: bool = False

    def fill(self, axis: str) -> dict[str, Any]:
        """The axis as a mark's skeleton wants it: title, domain and ticks."""
        none = {"labels": False, "ticks": False, "grid": False}
        return {AXIS: self.title(axis), DOMAIN: [self.low, self.high], TICKS: none if self.empty else {}}

    def __call__(self, value: float | None) -> float | None:
        """The value on the axis; what is not finite has no place on it."""
        return value * self.factor if value is not None and math.isfinite(value) else None

    def title(self, axis: str) -> str:
        if self.empty:
            return visible(f"{axis}: unknown" if axis else "unknown")
        unit = f"({self.unit})" if self.unit and self.unit != "1" else ""
        return visible(" ".join(part for part in (axis, unit) if part))

    def clamped(self, value: float | None) -> float | None:
        """An end of a band on the axis; an unbounded one lies at the axis's end."""
        if value is not None and math.isinf(value):
            return self.low if value < 0 else self.high
        return self(value)


def scale(unit: str, values: Iterable[float | None], *, zero: bool = False) -> Scale:
    """A scale that holds every finite value with room at both ends; times and bytes get the unit that reads best."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    largest = max((abs(value) for value in finite), default=0.0)
    factor, shown = 1.0, unit
    if unit in _FAMILIES and largest > 0:
        sizes = dict(_FAMILIES[unit])
        base = sizes.get(unit, 1.0)
        # Two of a unit, not one: an axis from 0 to 1.2 ms reads better in us.
        fitting = [name for name, size in sizes.items() if largest * base >= 2 * size]
        shown = fitting[-1] if fitting else next(iter(sizes))
        factor = base / sizes[shown]
    low, high = min(finite, default=0.0) * factor, max(finite, default=1.0) * factor
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = (high - low) * 0.04 or abs(high) * 0.04 or 1.0
    # Room, except at a zero that a bar stands on.
    return Scale(
        shown,
        factor,
        0.0 if zero and low == 0.0 else low - room,
        0.0 if zero and high == 0.0 and low < 0.0 else high + room,
        empty=not finite,
    )


def unit_of(estimates: Iterable[Estimate]) -> str:
    """The one unit of all known Estimates; a chart does not mix units."""
    units = {e.unit for e in estimates if e.value is not None}
    if len(units) > 1:
        raise ValueError(f"one axis, one unit, not {', '.join(sorted(units))}")
    return units.pop() if units else ""


def band_values(estimates: Iterable[Estimate]) -> list[float | None]:
    """Every number that an axis must have room for."""
    known = [e for e in estimates if e.value is not None]
    own = [n for e in known for n in (e.value, e.low, e.high, e.low_in_all, e.high_in_all, *e.dots)]
    return own + [number for e in known if e.also for number in (e.also.low, e.also.high)]
