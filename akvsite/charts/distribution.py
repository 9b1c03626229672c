"""The empirical distribution of one or several sample sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from akvsite.charts import Drawing, Footer, Headline


def draw(
    question: str,
    samples: Mapping[str, Sequence[float]],
    footer: Footer,
    *,
    unit: str,
    headline: Headline = (),
    axis: str = "",
) -> Drawing:
    """One curve a side, labelled with its n. Samples that are not finite are counted in the footer, not drawn."""
    raise NotImplementedError
