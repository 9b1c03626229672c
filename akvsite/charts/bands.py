"""A dot and a band for each named number: kernels, phases, call costs, percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate


@dataclass(frozen=True)
class Row:
    """One line. ``group`` tells series apart on the same label, such as "p50" and "p95" or "A" and "B"."""

    label: str
    estimate: Estimate
    group: str = ""


def draw(
    question: str, rows: Sequence[Row], footer: Footer, *, headline: Headline = (), axis: str = ""
) -> Drawing:
    """Rows in the order given. All known Estimates are in one unit; ``axis`` names the quantity."""
    estimates = [row.estimate for row in rows]
    scale = charts.scale(charts.unit_of(estimates), charts.band_values(estimates))
    label = charts.labels(row.label for row in rows)
    data = [charts.band_row(label[row.label], row.label, row.group, row.estimate, scale) for row in rows]
    return charts.sealed(
        _skeleton(),
        charts.band_fill(data, scale, axis),
        {"rows": data},
        question=question,
        headline=headline,
        footer=footer,
        estimates=estimates,
        notes=charts.band_notes(data, estimates, scale),
        summary=charts.told(
            question,
            headline,
            [(" ".join((row.label, row.group)).strip(), row.estimate) for row in rows],
            f"{charts.banded(estimates)}.",
        ),
        columns=("name", "group", *charts.ESTIMATE_COLUMNS),
        rows=[(row.label, row.group, *charts.estimate_cells(row.estimate)) for row in rows],
    )


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    return charts.band_layers()
