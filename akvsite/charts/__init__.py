"""Charts: one file a mark. A chart draws Estimates and says so under the drawing, inside the image.

``Drawing`` is what every chart makes. ``sealed`` puts the question over it and the printed line under it; both
belong to the Vega-Lite specification, so that a screenshot or an exported image carries them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: No chart carries more rows than this: data is aggregated first.
MAX_ROWS = 5_000


@dataclass(frozen=True)
class Drawing:
    """One chart, ready for a page.

    ``spec`` is a complete Vega-Lite specification, with title, data and printed line. ``columns`` and ``rows`` are
    the same numbers as a table (for the CSV file and for readers without scripts). ``summary`` says in words what
    the chart shows, for people who cannot see it.
    """

    spec: dict[str, Any]
    question: str
    footer: tuple[str, ...]
    summary: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
