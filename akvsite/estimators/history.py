"""What archived runs add to one run: a second band, which speaks of the configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from akvsite.estimate import Estimate
from akvsite.estimators._bounds import exp_of, student_t
from akvsite.estimators._samples import offsets

#: With fewer runs there is no spread between them.
FEWEST_IN_HISTORY = 2


def with_history(made: Estimate, history: Mapping[str, Estimate], *, run: str, log: bool = False) -> Estimate:
    """One run's estimate with a second band (``also``): what the configuration's long-run value may be.

    ``made`` is a statistic of the run named ``run``; ``history`` maps the names of k >= 2 archived runs of the same
    host and contract to the same statistic of each, in the same unit. Nothing chooses them: a person names them, and
    the band's method repeats the names.

    The band is value +- t_{k-1} s, with s the standard deviation of the k values (of their logs with ``log``, for
    ratios or where runs differ by a factor). The statistic of a run is the long-run value mu plus a deviation of
    variance s_between^2 + s_within^2. The spread of archived statistics estimates just that sum, so (value - mu) / s
    has a t distribution with k - 1 degrees, exactly for normal deviations. It is centred on this run and uses the
    history for its spread alone: archived runs may stand at another level (an older commit), and their mean says
    nothing about this one. Hence no factor sqrt(1 + 1/k), which is for a run predicted from their mean.

    Assumes that this run deviates like the named ones: one draw, of about their length, same host, same contract.
    Two modes break it, as they break t over runs. Source: Student, "The probable error of a mean", Biometrika 6, 1908.

    The band is refused with its reason, and the value stays, where fewer than two runs are named, where the named
    runs hold this run itself, and where one has another unit or no value, or one not above 0 with ``log``. The
    systematic part of ``made`` goes with it.
    """
    if made.also is not None:
        raise ValueError("history is for the estimate of one run, which has no second band yet")
    if made.value is None:
        return made
    why = _refusal(made, history, run)
    runs = "1 run" if len(history) == 1 else f"{len(history)} runs"
    method = f"history of {runs}: {', '.join(history) or 'none'}" + (" (logs)" if log else "")
    low, high = (None, None) if why else _ends(made.value, history, log)
    second = Estimate(
        made.value,
        low,
        high,
        len(history),
        made.unit,
        method if why else f"{method}; t on their spread, {len(history) - 1} df",
        scope="configuration, by history",
        use=made.use,
        refusal=why,
        assumes="" if why else "this run deviates like the named ones: same host and contract, about as long",
        dots=tuple(one.value for one in history.values() if one.value is not None),
        systematic=made.systematic,
        systematic_of=made.systematic_of,
    )
    return replace(made, also=second)


def _ends(value: float, history: Mapping[str, Estimate], log: bool) -> tuple[float, float]:
    values = np.array([one.value for one in history.values()])
    if log and min(value, values.min()) <= 0:
        raise ValueError("a logarithm needs values above 0")
    _, rest = offsets(np.log(values) if log else values)
    half = student_t(0.95, len(rest) - 1) * float(np.std(rest, ddof=1))
    return (value * math.exp(-half), value * exp_of(half)) if log else (value - half, value + half)


def _refusal(made: Estimate, history: Mapping[str, Estimate], run: str) -> str:
    """Why there is no band by history, or nothing."""
    if run in history:
        return f"the named runs hold this run itself ({run})"
    if other := [name for name, one in history.items() if one.unit != made.unit]:
        return f"another unit than {made.unit} in {', '.join(other)}"
    if missing := [name for name, one in history.items() if one.value is None]:
        return f"no value in {', '.join(missing)}"
    if len(history) < FEWEST_IN_HISTORY:
        return f"history needs {FEWEST_IN_HISTORY} named runs or more, {len(history)} named"
    return ""
