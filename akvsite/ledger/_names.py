"""Names in what people write down."""

from __future__ import annotations

import re

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
#: A chart: the page that it is on, and its key there. Only of pages that name what they stand on.
CHART = re.compile(
    r"(runs|experiments|comparisons)/([a-z0-9][a-z0-9._-]{0,99})#([A-Za-z0-9][A-Za-z0-9._-]{0,99})"
)

#: How each kind of thing is called by what names it.
RUN, COMPARISON, CHART_KIND, CONTROL, RETRACTION = "run", "comparison", "chart", "control", "retraction"

SCOPES = ("application", "timeline", "kernel", "source", "instruction")


def wrong_name(kind: str, name: str) -> str | None:
    """Why ``name`` cannot be that of a run, a comparison, a chart; None where it can."""
    if kind == CHART_KIND:
        if CHART.fullmatch(name):
            return None
        return (
            f"{name!r}: a chart is PAGE#KEY of a run, an experiment or a comparison, such as 'runs/a#steps'"
        )
    return None if NAME.fullmatch(name) else f"{name!r}: lower-case letters, digits, '.', '_' and '-'"
