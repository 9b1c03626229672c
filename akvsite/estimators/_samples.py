"""Samples as they come in: checked, exact in whole numbers, one series or one a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Series = NDArray[Any]


Floats = NDArray[np.float64]


def checked(samples: ArrayLike, dimensions: int, cut: int) -> Series:
    """Samples after the cut as int64, uint64 or float64, the last axis being time."""
    if cut < 0:
        raise ValueError(f"a cut is a number of samples, not {cut}")
    array = np.asarray(samples)
    if array.ndim != dimensions:
        raise ValueError(f"samples have {dimensions} dimension(s), not {array.ndim}")
    array = array[..., cut:]
    if array.size == 0:
        return array.astype(np.float64)
    if array.dtype.kind not in "iuf":
        why = "what is missing is left out, and counted"
        raise ValueError(f"samples are integers or floats, not {array.dtype}: {why}")
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        missing = array.size - int(np.isfinite(array).sum())
        if missing:
            raise ValueError(f"{missing} of {array.size} samples are not finite")
        return array
    return array if array.dtype == np.uint64 else array.astype(np.int64)


def one_series(samples: ArrayLike, cut: int = 0) -> Series:
    return checked(samples, 1, cut)


def side_runs(side: ArrayLike | Sequence[ArrayLike]) -> list[Series]:
    """One series or a sequence of series, as a list of series."""
    if isinstance(side, np.ndarray):
        return [one_series(run) for run in (side if side.ndim == 2 else [side])]
    runs: list[ArrayLike] = list(side)  # type: ignore[arg-type]
    if not runs or np.ndim(runs[0]) == 0:
        return [one_series(runs)]  # type: ignore[arg-type]
    return [one_series(run) for run in runs]


def offsets(series: Series) -> tuple[float, Floats]:
    """The smallest sample and each one's distance from it: exact for integers, however far from 0."""
    base = series.min()
    if series.dtype.kind in "iu" and int(series.max()) - int(base) >= 2**63:
        return 0, series.astype(np.float64)
    return base.item(), (series - base).astype(np.float64)


def exact_difference(a: Series, b: Series) -> Series:
    """``b - a``, in integers where both are and none overflows."""
    if len(a) != len(b):
        raise ValueError(f"series of one length are needed, not {len(a)} and {len(b)}")
    if a.dtype.kind == b.dtype.kind == "i" and len(a):
        widest = max(abs(int(bound)) for side in (a, b) for bound in (side.min(), side.max()))
        if widest < 2**62:
            return b - a
    return b.astype(np.float64) - a.astype(np.float64)


def paired(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    first, second = one_series(a).astype(np.float64), one_series(b).astype(np.float64)
    if len(first) != len(second):
        raise ValueError(f"pairs need as many runs a side, not {len(first)} and {len(second)}")
    return first, second


def dots_of(values: Series) -> tuple[float, ...]:
    return tuple(values.tolist())
