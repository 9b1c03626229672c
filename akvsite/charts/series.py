"""Samples in their order, so that drift, steps and warm-up can be seen."""

from __future__ import annotations

from collections.abc import Sequence

from akvsite.charts import Drawing, Footer, Headline


def draw(
    question: str,
    samples: Sequence[float | None],
    footer: Footer,
    *,
    unit: str,
    cut: int = 0,
    cut_why: str = "declared",
    first: int = 0,
    order: str = "step",
    headline: Headline = (),
    axis: str = "",
) -> Drawing:
    """Sample i stands at ``first + i`` on the ``order`` axis; the first ``cut`` are warm-up and drawn apart.

    None (or a value that is not finite) is a gap. Over 1,500 samples, each bin shows minimum, median and maximum.
    """
    raise NotImplementedError
