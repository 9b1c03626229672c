"""What every mark that draws Estimates shares: a dot, a band, and marks for what is not known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import altair as alt

from akvsite.charts._drawing import GIVEN, joined, several
from akvsite.charts._form import (
    AXIS,
    DOMAIN,
    GROUPS,
    HEIGHT,
    LABELS,
    LANES,
    SEEN_STATES,
    SHAPES,
    SHOW_GROUPS,
    TICKS,
)
from akvsite.charts._scale import Scale
from akvsite.charts._text import said, shortened
from akvsite.errors import visible
from akvsite.estimate import Estimate

#: An open ring, as a path: a legend keeps a shape, but not that a fill is clear.
HOLLOW: Final = "M0,-1A1,1,0,1,1,0,1A1,1,0,1,1,0,-1Z M0,-0.66A0.66,0.66,0,1,0,0,0.66A0.66,0.66,0,1,0,0,-0.66Z"


#: An open diamond likewise: a value without a band does not look as certain as one with it.
_DIAMOND: Final = "M0,-1.4L1.4,0L0,1.4L-1.4,0Z"
OPEN_DIAMOND: Final = f"{_DIAMOND} M0,-0.95L-0.95,0L0,0.95L0.95,0Z"


#: A question mark, for what nobody knows the width of.
QUERY: Final = (
    "M-0.9,-0.75A0.9,0.9,0,1,1,0.25,0.1L0.25,0.5L-0.25,0.5L-0.25,-0.3A0.4,0.4,0,1,0,-0.4,-0.75Z"
    " M-0.28,0.8L0.28,0.8L0.28,1.4L-0.28,1.4Z"
)

#: A thin line with caps.
CAPPED: Final = (
    "M-1.3,-0.9L-1,-0.9L-1,-0.15L1,-0.15L1,-0.9L1.3,-0.9L1.3,0.9L1,0.9L1,0.15L-1,0.15L-1,0.9L-1.3,0.9Z"
)

#: An open arrow.
OPEN_ARROW: Final = "M-0.9,-1.2L1.2,0L-0.9,1.2Z M-0.6,-0.7L-0.6,0.7L0.62,0Z"

#: How a number is known, and the shape that says so.
_UNBANDED: Final = "no band: refused"
STATES: Final = {
    "value with band": "circle",
    _UNBANDED: OPEN_DIAMOND,
    "counted or declared": "square",
    "unknown": HOLLOW,
}

#: How much of a narrow screen's axis a dot takes.
_DOT_SHARE: Final = 0.03

#: What else may be known of a band, by the field of a row that says so, and its entry and shape in the legend.
ENDS: Final = {
    "open": ("no end on that side", OPEN_ARROW),
    "capped": ("with the clock's bound", CAPPED),
    "unsure": ("clock's bound unknown", QUERY),
}


def band_row(
    label: str, name: str, group: str, estimate: Estimate, axis: Scale, lane: str | None = None
) -> dict[str, Any]:
    """An Estimate as a row of chart data. What is unknown or not finite is null: it is drawn at no value.

    ``label`` is its place on the chart, ``lane`` its place in that row, ``group`` its hue.
    """
    row: dict[str, Any] = {
        "label": label,
        "group": visible(group),
        "lane": visible(group) if lane is None else lane,
        "value": axis(estimate.value),
        "from": None,
        "to": None,
        "dots": [],
        "state": state_of(estimate),
        "name": shortened(name, 300),
        "text": said(estimate),
    }
    if estimate.value is None:
        return row
    row["from"], row["to"] = axis.clamped(estimate.low), axis.clamped(estimate.high)
    row["open_low"] = estimate.low == -math.inf
    row["open_high"] = estimate.high == math.inf
    row["open"] = row["open_low"] or row["open_high"]
    row |= _systematic(estimate, axis)
    row["dots"] = [axis(dot) for dot in estimate.dots if math.isfinite(dot)]
    if estimate.also:
        row["also_from"], row["also_to"] = axis.clamped(estimate.also.low), axis.clamped(estimate.also.high)
    return row


def _systematic(estimate: Estimate, axis: Scale) -> dict[str, Any]:
    """Where the systematic part ends, outside the band; an end of the band that is open has nothing outside it."""
    if not estimate.systematic_of:
        return {}
    if estimate.systematic is None:
        return {"unsure": True}
    ends = {"all_from": axis(estimate.low_in_all), "all_to": axis(estimate.high_in_all)}
    return ends | {"capped": any(end is not None for end in ends.values())}


def state_of(estimate: Estimate) -> str:
    if estimate.value is None:
        return "unknown"
    if estimate.low is not None:
        return "value with band"
    return "counted or declared" if estimate.kind in GIVEN else _UNBANDED


def band_fill(
    rows: Sequence[Mapping[str, Any]], axis: Scale, title: str, *, lane_step: int = 15
) -> dict[str, Any]:
    """What ``band_layers`` needs filled in, from the rows that are drawn."""
    shapes = {state: shape for state, shape in STATES.items() if any(row["state"] == state for row in rows)}
    shapes |= {entry: shape for field, (entry, shape) in ENDS.items() if any(row.get(field) for row in rows)}
    groups = list(dict.fromkeys(row["group"] for row in rows)) or [""]
    lanes = list(dict.fromkeys(row["lane"] for row in rows)) or [""]
    return {
        **axis.fill(title),
        LABELS: list(dict.fromkeys(row["label"] for row in rows)),
        GROUPS: groups,
        LANES: lanes,
        SHOW_GROUPS: {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3}
        if len(groups) > 1
        else None,
        SEEN_STATES: list(shapes),
        SHAPES: list(shapes.values()),
        HEIGHT: {"step": 26 if len(lanes) < 2 else lane_step * len(lanes) + 10, "for": "position"},
    }


def band_notes(rows: Sequence[Mapping[str, Any]], estimates: Iterable[Estimate], axis: Scale) -> list[str]:
    """What the marks mean that the legend does not show, and why a second band is not there."""
    second = [e.also for e in estimates if e.also]
    also = several((e.method for e in second if e.low is not None), "methods")
    refused = several((e.refusal for e in second if e.low is None), "reasons")
    dot = _DOT_SHARE * (axis.high - axis.low)
    hidden = sum(row["from"] is not None and row["to"] - row["from"] < dot for row in rows)
    meaning = joined(
        "small dots: what the value was made from" if any(row["dots"] for row in rows) else "",
        f"dotted line: band by {also}" if also else "",
        f"no second band: {refused}" if refused else "",
        f"bands that their dots may hide: {hidden}" if hidden else "",
    )
    return [meaning] if meaning else []


def band_place() -> dict[str, Any]:
    """Where a row of the data set "rows" stands, across the axis of values, and its hue."""
    y = alt.Axis(grid=False, ticks=False, domain=False)
    return {
        "y": alt.Y("label:N", title=None, scale=alt.Scale(domain=LABELS), axis=y),
        "yOffset": alt.YOffset("lane:N", scale=alt.Scale(domain=LANES, paddingInner=0.1, paddingOuter=0.35)),
        "color": alt.Color("group:N", scale=alt.Scale(domain=GROUPS), legend=SHOW_GROUPS),
        "tooltip": [alt.Tooltip("name:N"), alt.Tooltip("text:N", title="is")],
    }


def band_x(field: str) -> alt.X:
    """A value's place on the axis, which every layer shares."""
    return alt.X(f"{field}:Q", title=AXIS, axis=TICKS, scale=alt.Scale(domain=DOMAIN, nice=False, zero=False))


def band_layers() -> list[alt.Chart]:
    """Dots and bands: what every mark that draws Estimates is made of. Reads the data set "rows"."""
    rows = alt.Chart(alt.NamedData("rows"))
    place, x = band_place(), band_x
    dot = place | {
        "shape": alt.Shape(
            "state:N",
            scale=alt.Scale(domain=SEEN_STATES, range=SHAPES),
            legend=alt.Legend(title=None, symbolStrokeWidth=0),
        )
    }

    def where(test: str) -> alt.Chart:
        return rows.transform_filter(test)

    def at(test: str, end: str, style: str, **mark: Any) -> alt.Chart:
        """A mark at one end of a band, without an entry in the legend of its own."""
        drawn: alt.Chart = where(test).mark_point(style=style, **mark).encode(x=x(end), **place)
        return drawn

    return [
        # First, since the legend of hues takes the look of the first layer that has it.
        where("isValid(datum.from)").mark_rule(style="akv-band").encode(x=x("from"), x2="to", **place),
        where("isValid(datum.also_from)")
        .mark_rule(style="akv-also")
        .encode(x=x("also_from"), x2="also_to", **place),
        # Outside the band: from where the systematic part ends to where the band begins, and the other way round.
        where("isValid(datum.all_from)")
        .mark_rule(style="akv-systematic")
        .encode(x=x("all_from"), x2="from", **place),
        where("isValid(datum.all_to)")
        .mark_rule(style="akv-systematic")
        .encode(x=x("to"), x2="all_to", **place),
        *(
            where(f"isValid(datum.{end})")
            .mark_tick(style="akv-cap", orient="vertical")
            .encode(x=x(end), **place)
            for end in ("all_from", "all_to")
        ),
        rows.transform_flatten(["dots"]).mark_point(style="akv-small").encode(x=x("dots"), **place),
        # Ground inside an open diamond, so that a small dot under it does not close it.
        where(f"datum.state == '{_UNBANDED}'")
        .mark_point(style="akv-ground", shape=_DIAMOND)
        .encode(x=x("value"), y=place["y"], yOffset=place["yOffset"]),
        where("isValid(datum.value)").mark_point(style="akv-dot").encode(x=x("value"), **dot),
        # An unknown number stands outside the axis: it has no place on it, least of all at 0.
        where("!isValid(datum.value)")
        .mark_point(style="akv-dot", xOffset=16)
        .encode(x=alt.value("width"), **dot),
        at("datum.open_low", "from", "akv-open", shape="triangle-left", xOffset=4),
        at("datum.open_high", "to", "akv-open", shape="triangle-right", xOffset=-4),
        # Nobody knows how far beyond an end that is known.
        at(
            "datum.unsure && isValid(datum.from) && !datum.open_low",
            "from",
            "akv-query",
            shape=QUERY,
            xOffset=-8,
        ),
        at(
            "datum.unsure && isValid(datum.to) && !datum.open_high", "to", "akv-query", shape=QUERY, xOffset=8
        ),
        at("datum.unsure && !isValid(datum.from)", "value", "akv-query", shape=QUERY, xOffset=13),
    ]
