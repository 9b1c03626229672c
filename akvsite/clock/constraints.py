"""What is known of two clocks, as constraints: from readings of both, and from causality. Described in ``band``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Times: int64, or float64 where they have parts of a nanosecond.
Times = NDArray[Any]
Ns = int | float | Fraction


@dataclass(frozen=True, eq=False)
class Constraints:
    """What is known of how far the host's clock is ahead of the device's: at most, and at least, at some times.

    ``upper_x``, ``upper_y`` (n,): at device time ``x`` the host's clock is ahead by ``y`` at most. ``lower_x``,
    ``lower_y`` (m,): by ``y`` at least. All in ns, int64 or float64, in any order, repeated or not; n and m may be 0.
    Raises ``ValueError`` where ``x`` and ``y`` differ in length or a number is not finite.
    """

    upper_x: Times
    upper_y: Times
    lower_x: Times
    lower_y: Times

    def __post_init__(self) -> None:
        for kind in ("upper", "lower"):
            x, y = (times_of(f"{kind}_{axis}", getattr(self, f"{kind}_{axis}")) for axis in "xy")
            if len(x) != len(y):
                raise ValueError(f"{len(x)} times and {len(y)} bounds of the {kind} constraints")
            object.__setattr__(self, f"{kind}_x", x)
            object.__setattr__(self, f"{kind}_y", y)

    def __len__(self) -> int:
        """How many there are, of both kinds."""
        return len(self.upper_x) + len(self.lower_x)

    @classmethod
    def of_readings(
        cls, host_before_ns: Times, device_ns: Times, host_after_ns: Times, tick_ns: Ns
    ) -> Constraints:
        """Two constraints a reading: (n,) times of the host before, of the device, and of the host after, ns.

        ``tick_ns`` is one tick of the device's clock. Integer device times of a tick that is not whole were rounded
        to nanoseconds: they hold half a nanosecond less, to either side. The host's times are taken as exact. Raises
        ``ValueError`` naming the reading where *after* is before *before*.
        """
        before, device, after = (
            times_of(name, times)
            for name, times in (("before", host_before_ns), ("device", device_ns), ("after", host_after_ns))
        )
        if not len(before) == len(device) == len(after):
            raise ValueError(
                f"readings of {len(before)} host times, {len(device)} device times, {len(after)} host times"
            )
        if (wrong := np.flatnonzero(after < before)).size:
            at = int(wrong[0])
            raise ValueError(
                f"reading {at}: the host's clock after it, {after[at]}, is before that before it, {before[at]}"
            )
        return cls._of_ticks(device, after, device, before, tick_ns)

    @classmethod
    def of_causality(
        cls,
        start_ns: Times,
        submitted_host_ns: Times,
        end_ns: Times,
        waited_host_ns: Times,
        tick_ns: Ns,
    ) -> Constraints:
        """One constraint a start, one an end.

        ``start_ns``, ``submitted_host_ns`` (m,): a start on the device's clock, and the host's clock at the entry of
        the call that submitted it. ``end_ns``, ``waited_host_ns`` (n,): an end, and the host's clock at the return of a
        call that waited for it. All in ns; ``tick_ns`` and rounding as in ``of_readings``.
        """
        start, submitted = times_of("start", start_ns), times_of("submitted", submitted_host_ns)
        end, waited = times_of("end", end_ns), times_of("waited", waited_host_ns)
        if len(start) != len(submitted) or len(end) != len(waited):
            raise ValueError(
                f"{len(start)} starts of {len(submitted)} submissions, {len(end)} ends of {len(waited)} waits"
            )
        return cls._of_ticks(end, waited, start, submitted, tick_ns)

    @classmethod
    def _of_ticks(
        cls, not_after: Times, host: Times, not_before: Times, host_low: Times, tick_ns: Ns
    ) -> Constraints:
        """What had the stamp ``not_after`` was no later than ``host``, and what had ``not_before`` no earlier."""
        if not 0 <= tick_ns < math.inf:
            raise ValueError(f"a tick of {tick_ns} ns")
        rounded = Fraction(1, 2) if Fraction(tick_ns).denominator > 1 else 0
        # The event fell into the tick [k, k + tick), and k is known to the rounding.
        k, following = _shifted(not_after, -rounded), _shifted(not_before, tick_ns + rounded)
        return cls(k, _ahead(host, k, np.floor), following, _ahead(host_low, following, np.ceil))

    def with_(self, other: Constraints) -> Constraints:
        """Both sets together."""
        return Constraints(
            _joined(self.upper_x, other.upper_x),
            _joined(self.upper_y, other.upper_y),
            _joined(self.lower_x, other.lower_x),
            _joined(self.lower_y, other.lower_y),
        )


def times_of(name: str, values: Times) -> Times:
    times = np.asarray(values)
    if times.ndim != 1:
        raise ValueError(f"{name} has {times.ndim} dimensions, not one")
    if not len(times):
        return np.empty(0, np.int64)
    if times.dtype.kind in "iu":
        if times.dtype == np.uint64 and times.max() > np.iinfo(np.int64).max:
            raise ValueError(f"{name} has times of more than 63 bits")
        return times.astype(np.int64, copy=False)
    floats = times.astype(np.float64)
    if not np.isfinite(floats).all():
        raise ValueError(f"{name}: number {int(np.flatnonzero(~np.isfinite(floats))[0])} is not finite")
    return floats


def _shifted(times: Times, ns: Ns) -> Times:
    """Later by ``ns``, or earlier: integers stay integers, and go further where it is not whole."""
    if times.dtype.kind == "i":
        return times + (math.floor(ns) if ns < 0 else math.ceil(ns))
    return times + float(ns)


def _ahead(host: Times, device: Times, outwards: Callable[[Floats], Floats]) -> Times:
    """``host - device``; an integer where the host's time is one, by less than a nanosecond too far outwards."""
    if host.dtype.kind == "i" and device.dtype.kind == "f":
        device = outwards(device).astype(np.int64)
    return host - device


def _joined(one: Times, other: Times) -> Times:
    if not len(one) or not len(other):
        return one if len(one) else other
    return np.concatenate((one, other))


def since(times: Times, origin: int) -> Floats:
    """As floats since an integer origin, which is subtracted first."""
    if times.dtype.kind == "i":
        return (times - origin).astype(np.float64)
    return times - float(origin)


def origin_of(time: np.number[Any]) -> int:
    """Near ``time``, and such that it is a float without rounding too."""
    return int(time) >> 10 << 10
