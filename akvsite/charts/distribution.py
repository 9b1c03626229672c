"""The empirical distribution of one or several sample sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import written

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
) -> Drawing:
    """One curve a side, labelled with its n. Samples that are not finite are counted in the footer, not drawn."""
    clean = {
        side: np.sort(np.asarray([v for v in own if math.isfinite(v)], dtype=np.float64))
        for side, own in samples.items()
    }
    scale = charts.scale(
        unit, [float(end) for own in clean.values() if len(own) for end in (own[0], own[-1])]
    )
    short = charts.labels(samples, 36)
    label = {side: f"{short[side]} (n {len(own)})" for side, own in clean.items()}
    curves = {side: _curve(own) for side, own in clean.items()}
    lost = {side: len(samples[side]) - len(own) for side, own in clean.items()}
    notes = [
        f"{', '.join(label.values())} · a curve is the share of these samples at or below each value; it has no band"
        " and speaks of no other samples",
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
                {"side": label[side], "value": scale(value), "share": share}
                for side, curve in curves.items()
                for value, share in curve
            ]
        },
        question=question,
        headline=headline,
        footer=footer,
        estimates=[estimate for _, estimate in headline],
        notes=notes,
        summary=charts.told(
            question,
            headline,
            [(label[side], _quartiles(own, unit)) for side, own in clean.items()],
            "Share of samples at or below each value.",
        ),
        columns=("side", "n", "share at or below", "value", "unit"),
        rows=[
            (side, len(clean[side]), share, value, unit)
            for side, curve in curves.items()
            for value, share in curve
        ],
        caption=f"At most {POINTS} samples of a side, at equal steps of their rank."
        if any(len(own) > POINTS for own in clean.values())
        else "",
    )


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
    return [
        alt.Chart(alt.NamedData("rows"))
        .mark_line(style="akv-line", interpolate="step-after")
        .encode(
            x=charts.band_x("value"),
            y=alt.Y("share:Q", title="share at or below", axis=share, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("side:N", scale=side, legend=legend),
            strokeDash=alt.StrokeDash("side:N", scale=side, legend=legend),
        )
    ]
