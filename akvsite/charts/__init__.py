"""Charts: one file a mark. A chart draws Estimates and says so under the drawing, inside the image.

``Drawing`` is what every chart makes. ``sealed`` puts the question over it and the printed line under it; both
belong to the Vega-Lite specification, so that a screenshot or an exported image carries them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from akvsite.estimate import Estimate

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


#: A line over the drawing: what the number is called, and the number, such as ("p50 step", estimate).
Headline = Sequence[tuple[str, Estimate]]


@dataclass(frozen=True)
class Footer:
    """What a page knows about a chart and the chart's own numbers cannot say.

    Method, count, scope, assumptions, refusals and use are read off the Estimates that are drawn; the page adds
    the level, its control, what was seen and the clock.
    """

    #: The capture level and host role, such as "edge, dev host", or the mixture "off | edge, side by side".
    level: str
    #: What the capture cost by its control, such as "capture on, +33 % [29, 37] against its control, 8 ABBA pairs".
    control: str = ""
    #: Records seen of records expected; added to what the Estimates carry themselves.
    seen: str = ""
    #: The clock's bound, such as "+-1.1 us (worst 3.1)", or "host clock only", or "unproven".
    clock: str = ""
    #: How the numbers were made, where no Estimate says it (samples, intervals).
    method: str = ""
    #: Anything else that must travel inside the image.
    notes: tuple[str, ...] = ()
