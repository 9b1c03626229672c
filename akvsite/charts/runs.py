"""A dot for each run, by side, and the band over runs where there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate


@dataclass(frozen=True)
class Run:
    """One run's number. Runs of different sides with the same ``pair`` are joined by a thin line."""

    side: str
    run: str
    estimate: Estimate
    pair: str = ""


def draw(
    question: str,
    runs: Sequence[Run],
    footer: Footer,
    *,
    bands: Sequence[tuple[str, Estimate]] = (),
    headline: Headline = (),
    axis: str = "",
    each: str = "steps",
) -> Drawing:
    """``each`` names what a run's number is made of, many of them. ``bands`` holds the Estimate over the runs of a side; where it has no band, the footer says why."""
    over = dict(bands)
    estimates = [*(run.estimate for run in runs), *over.values()]
    scale = charts.scale(charts.unit_of(estimates), charts.band_values(estimates))
    side = charts.labels([*(run.side for run in runs), *over], 30)
    taken: Counter[str] = Counter()
    data = []
    for run in runs:
        row = charts.band_row(
            side[run.side], run.run, side[run.side], run.estimate, scale, f"{taken[run.side]}"
        )
        data.append(row | {"pair": charts.visible(run.pair)})
        taken[run.side] += 1
    # The band over runs has a row of its own beside its side's runs, and stands in the middle of it.
    most = max(taken.values(), default=1)
    name = {key: f"{side[key]}, over runs" for key in over}
    for key, estimate in over.items():
        data.append(charts.band_row(name[key], name[key], side[key], estimate, scale, f"{most // 2}"))
    rows = [
        label
        for key in side
        for label in (side[key], name.get(key))
        if label and (taken[key] or label in name.values())
    ]
    if over and len(side) > 1:
        # The first side's band comes first, so that pair lines run between the runs of two sides.
        rows[:2] = reversed(rows[:2])
    counts = ", ".join(f"{taken[key]} of {side[key]}" for key in side)
    own = [run.estimate for run in runs if run.estimate.value is not None]
    a_side = f"{charts.span(sorted(set(taken.values())))} runs a side" if taken else ""
    pairs = " · thin lines join pairs" if any(run.pair for run in runs) else ""
    fill = charts.band_fill(data, scale, axis, lane_step=max(4, min(10, 120 // most)))
    return charts.sealed(
        _skeleton(),
        fill | {charts.LABELS: rows, charts.LANES: [f"{lane}" for lane in range(most)]},
        {"rows": data},
        question=question,
        headline=headline,
        footer=footer,
        estimates=estimates,
        notes=[f"a dot is a run: {counts}{pairs}", *charts.band_notes(data, estimates, scale)],
        count="; ".join(part for part in (charts.counts(own, f"{each} a run"), a_side) if part),
        summary=charts.told(
            question,
            headline,
            [
                *((name[key], estimate) for key, estimate in over.items()),
                *((f"{run.side}, {run.run}", run.estimate) for run in runs),
            ],
            f"A dot for each run: {counts}; {charts.banded(estimates)}.",
        ),
        columns=("side", "run", "pair", *charts.ESTIMATE_COLUMNS),
        rows=[
            *((run.side, run.run, run.pair, *charts.estimate_cells(run.estimate)) for run in runs),
            *((key, "over runs", "", *charts.estimate_cells(estimate)) for key, estimate in over.items()),
        ],
    )


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    place = charts.band_place()
    return [
        alt.Chart(alt.NamedData("rows"))
        .transform_filter("datum.pair && isValid(datum.value)")
        .mark_line(style="akv-pair")
        .encode(x=charts.band_x("value"), y=place["y"], yOffset=place["yOffset"], detail="pair:N"),
        *charts.band_layers(),
    ]
