"""How two distributions differ at each decile, with a simultaneous band."""

from __future__ import annotations

from collections.abc import Sequence

from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate


def draw(
    question: str,
    deciles: Sequence[tuple[int, Estimate]],
    footer: Footer,
    *,
    sides: tuple[str, str],
    headline: Headline = (),
    axis: str = "",
) -> Drawing:
    """``deciles`` are (10, difference) to (90, difference), each ``sides[1]`` minus ``sides[0]``."""
    raise NotImplementedError
