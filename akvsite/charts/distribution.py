"""The empirical distribution of one or several sample sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import outward, written

#: Points a curve: an order statistic each, the lowest and the highest sample among them.
POINTS = 400

_Samples = np.ndarray[Any, np.dtype[np.float64]]


def draw(
    question: str,
    samples: Mapping[str, Sequence[float]],
    footer: Footer,
    *,
    unit: str,
    headline: Headline = (),
    axis: str = "",
    bounds: Mapping[str, float | None] | None = None,
) -> Drawing:
    """One curve a side, labelled with its n. Samples that are not finite are counted in the footer, not drawn.

    ``bounds``: by side, how far its samples may all be off because of their clock, a half-width in ``unit``: the curve
    gets a band from itself moved down by it to itself moved up. None where that is not known; 0 where it is exact.
    """
    within = dict(bounds or {})
    if not within.keys() <= samples.keys():
        raise ValueError(f"a bound without samples: {', '.join(within.keys() - samples.keys())}")
    clean = {
        side: np.sort(np.asarray([v for v in own if math.isfinite(v)], dtype=np.float64))
        for side, own in samples.items()
    }
    scale = charts.scale(unit, [end for side, own in clean.items() for end in _reach(own, within.get(side))])
    short = charts.labels(samples, 36)
    label = {side: f"{short[side]} (n {len(own)})" for side, own in clean.items()}
    curves = {side: _curve(own) for side, own in clean.items()}
    lost = {side: len(samples[side]) - len(own) for side, own in clean.items()}
    notes = [
        "a curve is the share of these samples at or below each value; it has no band and speaks of no other samples",
        *_bound_notes({short[side]: bound for side, bound in within.items()}, unit),
        *(
            f"not finite and not drawn: {count} samples of {short[side]}"
            for side, count in lost.items()
            if count
        ),
    ]
    return charts.sealed(
        _skeleton(),
        {
            **scale.fill(axis),
            charts.GROUPS: list(label.values()),
            charts.HEIGHT: 260,
        },
        {
            "rows": [
                {"side": label[side], "share": share} | _ends(value, within.get(side), scale)
                for side, curve in curves.items()
                for value, share in curve
            ]
        },
        question=question,
        headline=headline,
        footer=footer,
        estimates=[estimate for _, estimate in headline],
        notes=notes,
        count="n " + ", ".join(f"{len(own)} of {short[side]}" for side, own in clean.items()),
        summary=charts.told(
            question,
            headline,
            [
                (
                    label[side],
                    _quartiles(own, unit) + (f", {_bound(within[side], unit)}" if side in within else ""),
                )
                for side, own in clean.items()
            ],
            "Share of samples at or below each value.",
        ),
        columns=("side", "n", "share at or below", "value", *(("clock's bound",) if within else ()), "unit"),
        rows=[
            (side, len(clean[side]), share, value, *((_cell(within.get(side, 0.0)),) if within else ()), unit)
            for side, curve in curves.items()
            for value, share in curve
        ],
        caption=f"At most {POINTS} samples of a side, at equal steps of their rank."
        if any(len(own) > POINTS for own in clean.values())
        else "",
    )


def _reach(ordered: _Samples, bound: float | None) -> list[float]:
    """How far the curve and its band go."""
    return [float(ordered[0]) - (bound or 0), float(ordered[-1]) + (bound or 0)] if len(ordered) else []


def _ends(value: float, bound: float | None, scale: charts.Scale) -> dict[str, float | None]:
    """A point of a curve; where the clock leaves it open, also the least and the most that it may be."""
    ends = {"least": scale(value - bound), "most": scale(value + bound)} if bound else {}
    return {"value": scale(value)} | ends


def _bound(bound: float | None, unit: str) -> str:
    if bound is None:
        return "clock's bound unknown"
    return f"clock ±{outward(bound, unit)}" if bound else "no clock in between"


def _cell(bound: float | None) -> float | str:
    return "unknown" if bound is None else bound


def _bound_notes(bounds: Mapping[str, float | None], unit: str) -> list[str]:
    """What the pale bands are, and which curves have none because nobody knows how wide it would be."""
    known = [f"±{outward(bound, unit)} of {side}" for side, bound in bounds.items() if bound]
    blank = [side for side, bound in bounds.items() if bound is None]
    notes = []
    if known:
        notes.append(f"pale band: the curve moved by its clock's bound, {', '.join(known)}")
    if blank:
        notes.append(f"clock's bound unknown, so no pale band: {', '.join(blank)}")
    return notes


def _curve(ordered: _Samples) -> list[tuple[float, float]]:
    n = len(ordered)
    ranks = np.unique(np.linspace(0, n - 1, min(n, POINTS)).round().astype(int))
    return [(float(ordered[rank]), float(rank + 1) / n) for rank in ranks]


def _quartiles(ordered: _Samples, unit: str) -> str:
    if len(ordered) == 0:
        return "no samples"
    quartiles = np.quantile(ordered, (0, 0.25, 0.5, 0.75, 1), method="inverted_cdf")
    low, q1, q2, q3, high = (written(float(quartile), unit) for quartile in quartiles)
    return f"quartiles of these samples {q1}, {q2}, {q3}, from {low} to {high}"


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    share = alt.Axis(format=".0%", tickCount=5)
    side = alt.Scale(domain=charts.GROUPS)
    legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=2)
    rows = alt.Chart(alt.NamedData("rows"))
    y = alt.Y("share:Q", title="share at or below", axis=share, scale=alt.Scale(domain=[0, 1]))
    color = alt.Color("side:N", scale=side, legend=legend)
    return [
        rows.transform_filter("isValid(datum.least)")
        .mark_area(style="akv-area", orient="horizontal", interpolate="step-after")
        .encode(x=charts.band_x("least"), x2="most", y=y, color=color),
        rows.mark_line(style="akv-line", interpolate="step-after").encode(
            x=charts.band_x("value"),
            y=y,
            color=color,
            strokeDash=alt.StrokeDash("side:N", scale=side, legend=legend),
        ),
    ]
