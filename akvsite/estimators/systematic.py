"""What no number of samples makes smaller: the clock's bound, kept apart from the band and added outside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from akvsite.estimate import Estimate

#: Nanoseconds in each unit of time that an estimate may have.
NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
#: What the printed line calls the bound, by the state of the clock (``clock_bound.state``, ``run.clock``).
_CALLED = {
    "bounded": "clock",
    "unbounded": "clock, unbounded",
    "unproven": "clock, unproven",
    "vendor, unproven": "clock, unproven",
}


def with_clock(
    made: Estimate, bounds_ns: NDArray[np.float64] | Sequence[float | None] | None, state: str
) -> Estimate:
    """The estimate of a time (value, quantile, mean; in ns, us, ms or s) with its clock's bound as systematic part.

    ``bounds_ns`` (n,): for each sample, how far its time may be off, ns: for a gap between a host and a device
    time the half-width of the latter, for one between two converted times the sum of both. The part is the
    largest of them, in the estimate's unit: no quantile and no mean moves by more when every sample moves by at
    most that. It is a bound and not a spread, so it is added linearly outside the band and is not made smaller by
    more samples. ``state`` is that of the clock: ``bounded``; with ``unproven`` or ``unbounded``, or where the bound
    of any sample is unknown (None or not finite), the part is None, which is "not known".

    An estimate that is unknown, counted or declared is handed back as it is. A rate or a ratio is a ``ValueError``:
    its part is formed from those of its times (``difference_of_two_runs``, ``ratio_of_two_runs``). Source: JCGM
    100:2008 (GUM), which keeps what is bounded by knowledge apart from what is estimated from repeats (type B and
    type A); unlike its 5.1.2 they are added linearly here, since a bias of one sign is in every sample.
    """
    if state not in _CALLED:
        raise ValueError(f"the state of a clock is one of {', '.join(_CALLED)}, not {state!r}")
    if made.kind != "estimated":
        return made
    if made.unit not in NS:
        raise ValueError(f"a clock's bound is a time, and is no part of a number in {made.unit!r}")
    return _with_part(made, _largest(bounds_ns, state, NS[made.unit]), _CALLED[state])


def _largest(
    bounds_ns: NDArray[np.float64] | Sequence[float | None] | None, state: str, ns: float
) -> float | None:
    if state != "bounded" or bounds_ns is None:
        return None
    bounds = np.array([math.nan if b is None else b for b in bounds_ns], np.float64)
    if (bounds < 0).any():
        raise ValueError(f"a half-width is 0 or more, not {bounds.min()}")
    return float(bounds.max()) / ns if len(bounds) and np.isfinite(bounds).all() else None


def _with_part(made: Estimate, part: float | None, called: str) -> Estimate:
    """One part more: parts add linearly, and one that is not known makes their sum not known."""
    whole = None if part is None or made.systematic is None else made.systematic + part
    return replace(made, systematic=whole, systematic_of=joined(made.systematic_of, called))


def joined(*called: str) -> str:
    """What several parts come from, each named once. An unproven clock is not called a clock beside it."""
    names = list(dict.fromkeys(name for part in called for name in part.split(" and ") if name))
    return " and ".join(n for n in names if not any(o != n and o.startswith(f"{n},") for o in names))


def of_difference(made: Estimate, a: Estimate, b: Estimate) -> Estimate:
    """``made``, which is ``b - a``, with the systematic parts of both, added linearly."""
    for side in (a, b):
        if side.systematic_of:
            made = _with_part(made, side.systematic, side.systematic_of)
    return made


def of_ratio(made: Estimate, a: Estimate, b: Estimate) -> Estimate:
    """``made``, which is ``b / a`` with values above 0, with the systematic parts of both.

    With parts s_a and s_b the ratio may be larger by the factor (1 + s_b / b) / (1 - s_a / a), and it is smaller by
    no more than that. The half-width is what this factor does at the band's upper end (at the value, where there is
    none), so that it holds along the whole band. Where s_a reaches a, nothing bounds the ratio: None.
    """
    called = joined(a.systematic_of, b.systematic_of)
    if not called or made.value is None or a.value is None or b.value is None:
        return made
    part: float | None = None
    if a.systematic is not None and b.systematic is not None and a.systematic < a.value:
        more = (1 + b.systematic / b.value) / (1 - a.systematic / a.value) - 1
        at = made.value if made.high is None or math.isinf(made.high) else made.high
        part = at * more
    return replace(made, systematic=part, systematic_of=called)
