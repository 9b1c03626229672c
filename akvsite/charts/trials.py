"""A dot for each repeat of each treatment, with the estimate over repeats; nothing is clipped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate, written

#: Repeats sit on a few lanes in turn, so that equal ones can be told apart; the estimate has its own.
_SEATS = ("0", "1", "2", "3")
_BAND = "estimate"
#: How far over the plot the names of references stand, in turn: two that are close would lie on each other.
_ROWS = (-4, -19)


@dataclass(frozen=True)
class Treatment:
    """One treatment: its repeats, in order, and the Estimate over them where one was made."""

    label: str
    repeats: Sequence[float | None]
    estimate: Estimate | None = None


def draw(
    question: str,
    treatments: Sequence[Treatment],
    footer: Footer,
    *,
    unit: str,
    references: Sequence[tuple[str, float]] = (),
    headline: Headline = (),
    axis: str = "",
) -> Drawing:
    """``references`` are neutral lines with a name, such as ("no overlap", 0.0) and ("full overlap", 1.0)."""
    made = [(t.label, t.estimate) for t in treatments if t.estimate is not None]
    estimates = [estimate for _, estimate in made]
    if (charts.unit_of(estimates) or unit) != unit:
        raise ValueError(f"one axis, one unit: repeats are in {unit}, the estimates are not")
    known = {t.label: [v for v in t.repeats if v is not None and math.isfinite(v)] for t in treatments}
    repeats = [(t.label, number, value) for t in treatments for number, value in enumerate(t.repeats, 1)]
    scale = charts.scale(
        unit,
        [
            *charts.band_values(estimates),
            *(value for _, _, value in repeats),
            *(value for _, value in references),
        ],
    )
    label = charts.labels((t.label for t in treatments), 40)
    data = [charts.band_row(label[key], key, "", estimate, scale, _BAND) for key, estimate in made]
    for row, (key, estimate) in zip(data, made, strict=True):
        # The repeats have dots already.
        if set(estimate.dots) <= set(known[key]):
            row["dots"] = []
    missing = len(repeats) - sum(len(own) for own in known.values())
    bare = [label[t.label] for t in treatments if t.estimate is None]
    notes = [
        "small dot: a repeat, none left out; large dot and band: the estimate over repeats",
        *([f"repeats without a number, and so without a dot: {missing}"] if missing else []),
        *([f"no estimate was made for {', '.join(bare)}"] if bare else []),
        *charts.band_notes(data, estimates, scale),
    ]
    return charts.sealed(
        _skeleton(),
        charts.band_fill(data, scale, axis)
        | {
            charts.LABELS: list(label.values()),
            charts.LANES: [*_SEATS, _BAND],
            charts.HEIGHT: {"step": 62, "for": "position"},
        },
        {
            "rows": data,
            "repeats": [
                {
                    "label": label[key],
                    "lane": _SEATS[number % len(_SEATS)],
                    "value": scale(value),
                    "name": f"repeat {number}",
                    "text": written(value, unit),
                }
                for key, number, value in repeats
                if value is not None and math.isfinite(value)
            ],
            "references": [
                {"at": scale(value), "name": charts.visible(name), "row": row % len(_ROWS)}
                for row, (name, value) in enumerate(references)
            ],
        },
        question=question,
        headline=headline,
        footer=footer,
        estimates=estimates,
        notes=notes,
        summary=charts.told(
            question,
            headline,
            [(t.label, f"{_reach(known[t.label], unit)}; {_over(t.estimate)}") for t in treatments],
            f"{len(treatments)} treatments.",
        ),
        columns=("treatment", "repeat", *charts.ESTIMATE_COLUMNS),
        rows=[
            *(
                (key, f"{number}", value, None, None, None, "", unit, 1, "repeat", *[""] * 5)
                for key, number, value in repeats
            ),
            *((key, "over repeats", *charts.estimate_cells(estimate)) for key, estimate in made),
        ],
        config={"legend": {"offset": 12 - _ROWS[min(len(references), len(_ROWS)) - 1]}}
        if references
        else None,
    )


def _reach(values: Sequence[float], unit: str) -> str:
    reach = f" from {written(min(values), unit)} to {written(max(values), unit)}" if values else ""
    return f"{len(values)} repeats{reach}"


def _over(estimate: Estimate | None) -> str:
    return charts.said(estimate) if estimate else "no estimate"


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    references = alt.Chart(alt.NamedData("references"))
    x, place = charts.band_x, charts.band_place()
    return [
        references.mark_rule(style="akv-neutral").encode(x=x("at")),
        *(
            references.transform_filter(f"datum.row == {row}")
            .mark_text(style="akv-note", baseline="bottom", dy=dy)
            .encode(x=x("at"), y=alt.value(0), text="name:N")
            for row, dy in enumerate(_ROWS)
        ),
        alt.Chart(alt.NamedData("repeats"))
        .mark_point(style="akv-sample")
        .encode(x=x("value"), y=place["y"], yOffset=place["yOffset"], tooltip=place["tooltip"]),
        *charts.band_layers(),
    ]
