"""A dot and a band for each named number: kernels, phases, call costs, percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate


@dataclass(frozen=True)
class Row:
    """One line of the chart. ``group`` tells series apart on the same label, such as "p50" and "p95" or "A" and "B"."""

    label: str
    estimate: Estimate
    group: str = ""


def draw(
    question: str, rows: Sequence[Row], footer: Footer, *, headline: Headline = (), axis: str = ""
) -> Drawing:
    """Rows in the order given. All known Estimates are in one unit; ``axis`` names the quantity."""
    raise NotImplementedError
