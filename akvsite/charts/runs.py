"""A dot for each run, by side, and the band over runs where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate


@dataclass(frozen=True)
class Run:
    """One run's number. Runs of different sides with the same ``pair`` are joined by a thin line."""

    side: str
    run: str
    estimate: Estimate
    pair: str = ""


def draw(
    question: str,
    runs: Sequence[Run],
    footer: Footer,
    *,
    bands: Sequence[tuple[str, Estimate]] = (),
    headline: Headline = (),
    axis: str = "",
) -> Drawing:
    """``bands`` holds the Estimate over the runs of a side; where it has no band, the footer says why."""
    raise NotImplementedError
