"""Where the time of a step goes: a bar and a band for each region, and what no region accounts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from akvsite import charts
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
    """Regions in the order given. At least one is the remainder (``attributed=False``)."""
    if all(region.attributed for region in regions):
        raise ValueError("a budget shows what no region accounts for, as an unknown number if need be")
    estimates = [region.estimate for region in regions]
    scale = charts.scale(charts.unit_of(estimates), charts.band_values(estimates), zero=True)
    label = charts.labels(region.label for region in regions)
    data = [
        charts.band_row(label[region.label], region.label, "", region.estimate, scale)
        | {"attributed": region.attributed}
        for region in regions
    ]
    notes = [
        "dashed hollow bar: time that no region accounts for" + _overlaps(regions),
        *charts.band_notes(data, estimates, scale),
    ]
    return charts.sealed(
        _skeleton(),
        charts.band_fill(data, scale, axis),
        {"rows": data, "zero": [] if scale.empty else [{"at": 0.0}]},
        question=question,
        headline=headline,
        footer=footer,
        estimates=estimates,
        notes=notes,
        summary=charts.told(
            question,
            headline,
            [(region.label, region.estimate) for region in regions],
            f"{charts.banded(estimates, 'parts of a step')}; each known one is a bar from 0.",
        ),
        columns=("region", "attributed", *charts.ESTIMATE_COLUMNS),
        rows=[
            (region.label, region.attributed, *charts.estimate_cells(region.estimate)) for region in regions
        ],
    )


def _overlaps(regions: Sequence[Region]) -> str:
    """What a remainder below 0 says: it is drawn as it is, and never cut at 0."""
    below = any((r.estimate.value or 0) < 0 for r in regions if not r.attributed)
    return ", below 0 where regions add up to more than the step" if below else ""


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    rows = alt.Chart(alt.NamedData("rows"))
    bar = {"x": charts.band_x("value"), "x2": alt.datum(0), **charts.band_place()}
    rest = {channel: where for channel, where in bar.items() if channel != "color"}
    known = "isValid(datum.value)"
    return [
        # Where bars begin: it is the axis's end unless the remainder is below it.
        alt.Chart(alt.NamedData("zero")).mark_rule(style="akv-zero").encode(x=charts.band_x("at")),
        rows.transform_filter(f"{known} && datum.attributed").mark_bar(style="akv-bar").encode(**bar),
        rows.transform_filter(f"{known} && !datum.attributed")
        .mark_bar(style="akv-rest", filled=False)
        .encode(**rest),
        *charts.band_layers(),
    ]
