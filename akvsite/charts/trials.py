"""A dot for each repeat of each treatment, with the estimate over repeats; nothing is clipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate


@dataclass(frozen=True)
class Treatment:
    """One treatment: its repeats, in order, and the Estimate over them where one was made."""

    label: str
    repeats: Sequence[float | None]
    estimate: Estimate | None = None


def draw(
    question: str,
    treatments: Sequence[Treatment],
    footer: Footer,
    *,
    unit: str,
    references: Sequence[tuple[str, float]] = (),
    headline: Headline = (),
    axis: str = "",
) -> Drawing:
    """``references`` are neutral lines with a name, such as ("no overlap", 0.0) and ("full overlap", 1.0)."""
    raise NotImplementedError
