"""Device time, from ticks: unwrapped by the counter's valid bits, and converted exactly.

A counter wraps, and its resolution is given in one of two units, depending on the version of a structure: whole
nanoseconds a tick, which is rounded, or cycles a second, which is exact (Level Zero's ``ze_device_properties_t``,
versions 1.0 and 1.2). Taking one for the other is wrong by a factor; taking the rounded one loses up to 5.8 seconds an
hour at 19.2 MHz. So the unit travels with the number, and a number without a unit is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Unit = Literal["ns a tick", "cycles a second"]
UNITS: tuple[Unit, ...] = ("ns a tick", "cycles a second")


@dataclass(frozen=True)
class Resolution:
    """How long a tick is: ``value`` in ``unit``."""

    value: int
    unit: Unit

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"the unit of a resolution is one of {', '.join(UNITS)}, not {self.unit!r}")
        if self.value <= 0:
            raise ValueError(f"a resolution of {self.value} {self.unit} is none")

    @property
    def rounded(self) -> bool:
        """Whether the vendor rounded it: whole nanoseconds hide a part of the tick."""
        return self.unit == "ns a tick"

    @property
    def tick_ns(self) -> Fraction:
        """One tick in nanoseconds, exactly as stated."""
        return Fraction(self.value) if self.rounded else Fraction(10**9, self.value)

    def ns(self, ticks: int) -> int:
        """Nanoseconds of so many ticks, to the nearest."""
        return round(ticks * self.tick_ns)

    def ns_of(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Nanoseconds of so many ticks since an origin, (n,): ``ns`` of each, by integers alone.

        Rounded to the nearest, so by at most 0.5 ns of what the resolution states, a half to the even one. Raises
        ``ValueError`` where a number of nanoseconds leaves 63 bits.
        """
        ticks = np.asarray(ticks, np.int64)
        if not len(ticks):
            return ticks
        tick = self.tick_ns
        whole, rest = np.divmod(ticks, tick.denominator)
        if max(abs(int(whole.min())), abs(int(whole.max())) + 1) * tick.numerator >= 2**63:
            raise ValueError("the ticks span more than 63 bits of nanoseconds")
        ns = whole * tick.numerator
        # What is left is less than one denominator: its product fits unless a counter is faster than some GHz.
        left = rest if tick.denominator * tick.numerator < 2**63 else rest.astype(object)
        # Not divmod: numpy has none for Python's integers.
        part, beyond = left * tick.numerator // tick.denominator, left * tick.numerator % tick.denominator
        under = tick.denominator - beyond
        part, up = part.astype(np.int64), (beyond > under).astype(np.int64)
        rounded: NDArray[np.int64] = ns + part + np.where(beyond == under, (ns + part) & 1, up)
        return rounded

    def __str__(self) -> str:
        return f"{self.value} {self.unit}" + (" (rounded)" if self.rounded else "")


def resolution(value: int, unit: str | None) -> Resolution:
    """A resolution as a file states it. Raises ``ValueError`` where it does not say the unit.

    >>> str(resolution(19_200_000, "cycles a second")), str(resolution(52, "ns a tick"))
    ('19200000 cycles a second', '52 ns a tick (rounded)')
    """
    for known in UNITS:
        if unit == known:
            return Resolution(value, known)
    raise ValueError(
        f"timer resolution {value} without a unit: 'ns a tick' and 'cycles a second' both occur, and are "
        "not told from the number"
        if unit is None
        else f"timer resolution in {unit!r}; known are {', '.join(UNITS)}"
    )


def ticks_between(start: int, end: int, valid_bits: int) -> int:
    """Ticks from ``start`` to ``end`` of a counter of ``valid_bits`` bits, which wrapped at most once.

    >>> ticks_between(68_718_903_659, 240_385, 36)
    813462
    """
    _check_bits(valid_bits)
    return (end - start) % (1 << valid_bits)


def unwrapped(ticks: NDArray[np.uint64], valid_bits: int) -> NDArray[np.int64]:
    """Ticks since the first sample, int64 (n,), of samples in the order in which they were taken.

    Assumes less than one whole turn of the counter between two samples: a turn of 36 bits at 19.2 MHz takes 3,579 s,
    one of 32 bits 224 s. Raises ``ValueError`` where a sample has more bits than are valid, or the sum leaves 63 bits.
    """
    _check_bits(valid_bits)
    ticks = np.asarray(ticks, np.uint64)
    if not len(ticks):
        return np.empty(0, np.int64)
    mask = np.uint64((1 << valid_bits) - 1)
    if (beyond := np.flatnonzero(ticks > mask)).size:
        raise ValueError(
            f"sample {beyond[0]} is {int(ticks[beyond[0]]):#x}: more than {valid_bits} valid bits"
        )
    # Unsigned subtraction wraps at 64 bits, and the mask brings it to the counter's own width.
    steps = (ticks[1:] - ticks[:-1]) & mask
    # The sum is checked in floating point, where it cannot wrap; near the limit that is exact enough to refuse.
    if steps.astype(np.float64).sum() >= 2.0**63:
        raise ValueError("the samples span more than 63 bits of ticks")
    return np.concatenate(([0], np.cumsum(steps.astype(np.int64)))).astype(np.int64)


def _check_bits(valid_bits: int) -> None:
    if not 1 <= valid_bits <= 64:
        raise ValueError(f"a counter has 1 to 64 valid bits, not {valid_bits}")
