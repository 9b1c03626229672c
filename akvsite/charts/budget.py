"""Where the time of a step goes: a bar and a band for each region, and what no region accounts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate


@dataclass(frozen=True)
class Region:
    """A named part of a step. ``attributed`` is False for the remainder that no region accounts for."""

    label: str
    estimate: Estimate
    attributed: bool = True


def draw(
    question: str, regions: Sequence[Region], footer: Footer, *, headline: Headline = (), axis: str = ""
) -> Drawing:
    """Regions in the order given. At least one is the remainder (``attributed=False``); an unknown one is hollow."""
    raise NotImplementedError
