"""Charts: one file a mark. A chart draws Estimates and says so under the drawing, inside the image.

``Drawing`` is what every chart makes. ``sealed`` puts the question over it and the printed line under it; both
belong to the Vega-Lite specification, so that a screenshot or an exported image carries them.

A mark builds its specification once, with ``"@name"`` where a call has something to say, and ``filled`` puts it in.
What marks have in common is in this file, since no mark knows another.
"""

from __future__ import annotations

import copy
import math
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import altair as alt
from altair.utils import schemapi

from akvsite.estimate import Estimate

#: No chart carries more rows than this: data is aggregated first.
MAX_ROWS: Final = 5_000

#: Where title and footer lines break; the page's script breaks them again for the width it has.
LINE: Final = 60

Spec = dict[str, Any]
#: A line over the drawing: what the number is called, and the number, such as ("p50 step", estimate).
Headline = Sequence[tuple[str, Estimate]]


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


@dataclass(frozen=True)
class Footer:
    """What a page knows about a chart and the chart's own numbers cannot say.

    Method, count, scope, assumptions, refusals and use are read off the Estimates that are drawn; the page adds
    the level, its control, what was seen and the clock.
    """

    #: The capture level and host role, such as "edge, dev host", or the mixture "off | edge, side by side".
    level: str
    #: What the capture cost by its control: "capture on, +33 % [29, 37] against its control, 8 ABBA pairs".
    control: str = ""
    #: Records seen of records expected; added to what the Estimates carry themselves.
    seen: str = ""
    #: The clock's bound, such as "+-1.1 us (worst 3.1)", or "host clock only", or "unproven".
    clock: str = ""
    #: How the numbers were made, where no Estimate says it (samples, intervals).
    method: str = ""
    #: Anything else that must travel inside the image.
    notes: tuple[str, ...] = ()

    def paragraphs(self, estimates: Iterable[Estimate], notes: Iterable[str] = ()) -> tuple[str, ...]:
        """The printed line, unbroken: numbers, scope, level, clock, seen; each says so where nothing is known."""
        drawn = list(estimates)
        known = [e for e in drawn if e.value is not None]
        banded = [e for e in known if e.low is not None]
        unbanded = [e for e in known if e.low is None and e.kind not in ("counted", "declared")]
        return tuple(
            one_line(line)
            for line in (
                _joined(
                    _counts(known),
                    self.method,
                    _several((e.method for e in known), "methods"),
                    _several((f"assumes {e.assumes}" for e in known if e.assumes), "assumptions"),
                ),
                _joined(
                    _several(
                        (f"band {math.floor(e.confidence * 1000 + 1e-9) / 10:g} %" for e in banded), "levels"
                    ),
                    _several((e.scope for e in known), "scopes"),
                    _several((e.one_sided for e in drawn), "one-sided statements"),
                ),
                _reasons("no band for", unbanded, len(drawn)),
                _reasons("unknown", [e for e in drawn if e.value is None], len(drawn)),
                *notes,
                *self.notes,
                "level "
                + _joined(
                    f"{self.level}: {self.control}" if self.control else self.level,
                    _several((e.use for e in drawn), "uses"),
                ),
                f"clock {self.clock or 'not stated'}",
                f"seen: {_joined(self.seen, _several((e.seen for e in drawn), 'statements')) or 'not stated'}",
            )
            if line
        )


def _reasons(what: str, estimates: Sequence[Estimate], of: int) -> str:
    if not estimates:
        return ""
    return f"{what} {len(estimates)} of {of}: {_several((e.refusal for e in estimates), 'reasons')}"


def _counts(estimates: Sequence[Estimate]) -> str:
    estimated = [e for e in estimates if e.kind == "estimated"]
    counts = sorted({e.n for e in estimated})
    if not counts:
        return ""
    cuts = sorted({e.cut for e in estimated})
    cut = f" ({_span(cuts)} cut, declared)" if cuts[-1] else ""
    return f"n {_span(counts)}{cut}"


def _span(numbers: Sequence[int]) -> str:
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _several(texts: Iterable[str], what: str) -> str:
    """Each different text once, in order; after three, how many more there are."""
    distinct = list(dict.fromkeys(text for text in texts if text))
    more = f" | and {len(distinct) - 3} more {what}, in the table" if len(distinct) > 3 else ""
    return " | ".join(distinct[:3]) + more


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def visible(text: object) -> str:
    """Text from a capture with every character that is not seen, or that moves others, spelled out."""
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in _UNSEEN else char for char in str(text)
    )


#: Control, format (bidirectional overrides among them), surrogate, unassigned, line and paragraph separators.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})


def one_line(text: str) -> str:
    return shortened(" ".join(text.split()), 600)


def shortened(text: object, limit: int = 44) -> str:
    """A name that fits on an axis: its middle goes first, since kernel names differ at both ends."""
    name = visible(text)
    if len(name) <= limit:
        return name
    head = (limit - 1) * 3 // 5
    return f"{name[:head]}…{name[len(name) - (limit - 1 - head) :]}"


def labels(names: Iterable[str], limit: int = 44) -> dict[str, str]:
    """A short label for each name; names that would look the same are numbered."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        if name in found:
            continue
        label = base = shortened(name, limit)
        number = 2
        while label in taken:
            label = f"{base} ({number})"
            number += 1
        found[name] = label
        taken.add(label)
    return found


# Scales and units

_TIME: Final = (("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9))
_BYTES: Final = tuple((name, 1024.0**power) for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB")))
_RATES: Final = tuple((f"{name}/s", size) for name, size in _BYTES)
_FAMILIES: Final = {name: family for family in (_TIME, _BYTES, _RATES) for name, _ in family} | {
    "bytes": _BYTES
}


@dataclass(frozen=True)
class Scale:
    """From an Estimate's unit to the axis's: one factor for the whole chart."""

    unit: str
    factor: float
    low: float
    high: float

    def __call__(self, value: float | None) -> float | None:
        """The value on the axis; what is not finite has no place on it."""
        return value * self.factor if value is not None and math.isfinite(value) else None

    def title(self, axis: str) -> str:
        unit = f"({self.unit})" if self.unit and self.unit != "1" else ""
        return visible(" ".join(part for part in (axis, unit) if part))

    def clamped(self, value: float | None) -> float | None:
        """An end of a band on the axis; an unbounded one lies at the axis's end."""
        if value is not None and math.isinf(value):
            return self.low if value < 0 else self.high
        return self(value)


def scale(unit: str, values: Iterable[float | None], *, zero: bool = False) -> Scale:
    """A scale that holds every finite value with room at both ends; times and bytes get the unit that reads best."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    largest = max((abs(value) for value in finite), default=0.0)
    factor, shown = 1.0, unit
    if unit in _FAMILIES and largest > 0:
        sizes = dict(_FAMILIES[unit])
        base = sizes.get(unit, 1.0)
        # Two of a unit, not one: an axis from 0 to 1.2 ms reads better in us.
        fitting = [name for name, size in sizes.items() if largest * base >= 2 * size]
        shown = fitting[-1] if fitting else next(iter(sizes))
        factor = base / sizes[shown]
    low, high = min(finite, default=0.0) * factor, max(finite, default=1.0) * factor
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = (high - low) * 0.04 or abs(high) * 0.04 or 1.0
    # Room, except at a zero that a bar stands on.
    return Scale(
        shown,
        factor,
        0.0 if zero and low == 0.0 else low - room,
        0.0 if zero and high == 0.0 and low < 0.0 else high + room,
    )


def unit_of(estimates: Iterable[Estimate]) -> str:
    """The one unit of all known Estimates; a chart does not mix units."""
    units = {e.unit for e in estimates if e.value is not None}
    if len(units) > 1:
        raise ValueError(f"one axis, one unit, not {', '.join(sorted(units))}")
    return units.pop() if units else ""


def band_values(estimates: Iterable[Estimate]) -> list[float | None]:
    """Every number that an axis must have room for."""
    known = [e for e in estimates if e.value is not None]
    own = [number for e in known for number in (e.value, e.low, e.high, *e.dots)]
    return own + [number for e in known if e.also for number in (e.also.low, e.also.high)]


# What every mark that draws Estimates shares: a dot, a band, and marks for what is not known

#: An open ring, as a path: a legend keeps a shape, but not that a fill is clear.
HOLLOW: Final = "M0,-1A1,1,0,1,1,0,1A1,1,0,1,1,0,-1Z M0,-0.66A0.66,0.66,0,1,0,0,0.66A0.66,0.66,0,1,0,0,-0.66Z"
#: How a number is known, and the shape that says so.
STATES: Final = {
    "value with band": "circle",
    "value, no band stated": "diamond",
    "counted or declared": "square",
    "unknown": HOLLOW,
}


def placeholder(name: str) -> Any:
    """What a call fills in. Altair's types know no placeholders, hence Any."""
    return f"@{name}"


AXIS: Final = placeholder("axis")
DOMAIN: Final = placeholder("domain")
LABELS: Final = placeholder("labels")
LANES: Final = placeholder("lanes")
GROUPS: Final = placeholder("groups")
SHOW_GROUPS: Final = placeholder("show_groups")
SEEN_STATES: Final = placeholder("states")
SHAPES: Final = placeholder("shapes")
HEIGHT: Final = placeholder("height")


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
    row["dots"] = [axis(dot) for dot in estimate.dots if math.isfinite(dot)]
    if estimate.also:
        row["also_from"], row["also_to"] = axis.clamped(estimate.also.low), axis.clamped(estimate.also.high)
    return row


def state_of(estimate: Estimate) -> str:
    if estimate.value is None:
        return "unknown"
    if estimate.low is not None:
        return "value with band"
    return "counted or declared" if estimate.kind in ("counted", "declared") else "value, no band stated"


def band_fill(
    rows: Sequence[Mapping[str, Any]], axis: Scale, title: str, *, lane_step: int = 15
) -> dict[str, Any]:
    """What ``band_layers`` needs filled in, from the rows that are drawn."""
    states = [state for state in STATES if any(row["state"] == state for row in rows)]
    groups = list(dict.fromkeys(row["group"] for row in rows)) or [""]
    lanes = list(dict.fromkeys(row["lane"] for row in rows)) or [""]
    return {
        AXIS: axis.title(title),
        DOMAIN: [axis.low, axis.high],
        LABELS: list(dict.fromkeys(row["label"] for row in rows)),
        GROUPS: groups,
        LANES: lanes,
        SHOW_GROUPS: {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3}
        if len(groups) > 1
        else None,
        SEEN_STATES: states,
        SHAPES: [STATES[state] for state in states],
        HEIGHT: {"step": 26 if len(lanes) < 2 else lane_step * len(lanes) + 10, "for": "position"},
    }


def band_notes(rows: Sequence[Mapping[str, Any]], estimates: Iterable[Estimate]) -> list[str]:
    """What the marks mean that a legend cannot show."""
    opened = any(row.get("open_low") or row.get("open_high") for row in rows)
    also = _several((e.also.method for e in estimates if e.also), "methods")
    meaning = _joined(
        "open arrow: the band has no end on that side" if opened else "",
        "small dots: what the value was made from" if any(row["dots"] for row in rows) else "",
        f"thin line: band by {also}" if also else "",
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
    return alt.X(f"{field}:Q", title=AXIS, scale=alt.Scale(domain=DOMAIN, nice=False, zero=False))


def band_layers() -> list[alt.Chart]:
    """Dots and bands: what every mark that draws Estimates is made of. Reads the data set "rows"."""
    rows = alt.Chart(alt.NamedData("rows"))
    place, x = band_place(), band_x
    dot = place | {
        "shape": alt.Shape(
            "state:N", scale=alt.Scale(domain=SEEN_STATES, range=SHAPES), legend=alt.Legend(title=None)
        )
    }

    def where(test: str) -> alt.Chart:
        return rows.transform_filter(test)

    return [
        where("isValid(datum.also_from)")
        .mark_rule(style="akv-also")
        .encode(x=x("also_from"), x2="also_to", **place),
        where("isValid(datum.from)").mark_rule(style="akv-band").encode(x=x("from"), x2="to", **place),
        rows.transform_flatten(["dots"]).mark_point(style="akv-small").encode(x=x("dots"), **place),
        where("isValid(datum.value)").mark_point(style="akv-dot").encode(x=x("value"), **dot),
        # An unknown number stands outside the axis: it has no place on it, least of all at 0.
        where("!isValid(datum.value)")
        .mark_point(style="akv-dot", xOffset=16)
        .encode(x=alt.value("width"), **dot),
        where("datum.open_low")
        .mark_point(style="akv-open", shape="triangle-left", xOffset=4)
        .encode(x=x("from"), **place),
        where("datum.open_high")
        .mark_point(style="akv-open", shape="triangle-right", xOffset=-4)
        .encode(x=x("to"), **place),
    ]


def skeleton(build: Callable[[], Sequence[alt.Chart]]) -> Callable[[], Spec]:
    """Layers as a plain specification with its placeholders, built once: Altair takes a tenth of a second a chart.

    Altair's check is off while building, since it knows no placeholders; filled specifications are checked by tests.
    """

    @cache
    def built() -> Spec:
        with schemapi.debug_mode(False):
            spec: Spec = alt.layer(*build()).to_dict(validate=False)
        return {key: value for key, value in spec.items() if key not in ("config", "$schema")} | {
            "height": HEIGHT
        }

    return built


def filled(form: Any, values: Mapping[str, Any]) -> Any:
    """A copy of a skeleton with ``values`` in its placeholders."""
    if isinstance(form, dict):
        return {key: filled(value, values) for key, value in form.items()}
    if isinstance(form, list):
        return [filled(value, values) for value in form]
    if isinstance(form, str) and form.startswith("@"):
        return copy.deepcopy(values[form])
    return form


def said(estimate: Estimate) -> str:
    return visible(estimate.text())


def told(question: str, headline: Headline, items: Sequence[tuple[str, str]], about: str) -> str:
    """The text summary: the question, what is drawn, and the first numbers in words."""
    first = [f"{shortened(name, 80)}: {text}" for name, text in items[:8]]
    rest = [f"and {len(items) - 8} more in the table"] if len(items) > 8 else []
    lead = [f"{visible(name)}: {said(estimate)}" for name, estimate in headline]
    return " ".join((shortened(question, 300), about, "; ".join([*lead, *first, *rest]) + ".")).strip()


#: The columns that an Estimate fills in a table; the CSV file carries all it knows.
ESTIMATE_COLUMNS: Final = (
    "value",
    "low",
    "high",
    "unit",
    "n",
    "kind",
    "method",
    "scope",
    "seen",
    "use",
    "no band because",
)


def estimate_cells(estimate: Estimate) -> tuple[Any, ...]:
    e = estimate
    return (e.value, e.low, e.high, e.unit, e.n, e.kind, e.method, e.scope, e.seen, e.use, e.refusal)


def sealed(
    form: Spec,
    values: Mapping[str, Any],
    datasets: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    question: str,
    headline: Headline,
    footer: Sequence[str],
    summary: str,
    columns: tuple[str, ...],
    rows: Iterable[tuple[Any, ...]],
    config: Spec | None = None,
) -> Drawing:
    """The drawing with its question on top and its printed line underneath, all in one specification.

    A view has one title only, so the drawing is the single child of a concatenation: the outer title is the question,
    the child's title, at the bottom, is the footer. ``usermeta.akv`` keeps the unbroken text for a page of any width.
    """
    drawn = sum(len(data) for data in datasets.values())
    if drawn > MAX_ROWS:
        raise ValueError(f"{drawn} rows in one chart; aggregate to {MAX_ROWS} first")
    title = shortened(question, 400)
    lead = [f"{visible(name)} {said(estimate)}" for name, estimate in headline]
    printed = tuple(line for paragraph in footer for line in broken(visible(paragraph)))
    child: Spec = filled(form, values)
    child["width"] = 560
    child["title"] = {
        "text": list(printed),
        "orient": "bottom",
        "anchor": "start",
        "frame": "bounds",
        "offset": 14,
        "style": "akv-footer",
    }
    spec: Spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": summary,
        "title": {
            "text": broken(title),
            **({"subtitle": [line for text in lead for line in broken(text)]} if lead else {}),
            "anchor": "start",
            "frame": "bounds",
        },
        "vconcat": [child],
        "datasets": {name: list(data) for name, data in datasets.items()},
        "config": _over(_config(LIGHT), config or {}),
        "usermeta": {
            "akv": {
                "question": title,
                "headline": lead,
                "footer": [visible(paragraph) for paragraph in footer],
                "dark": _colors(DARK),
            }
        },
    }
    return Drawing(spec, title, printed, summary, columns, tuple(rows))


def broken(text: str) -> list[str]:
    return textwrap.wrap(text, LINE, break_on_hyphens=False) or [""]


# The look. Light is written into the specification, dark travels beside it for the page's script.


@dataclass(frozen=True)
class Palette:
    """Text holds 4.5:1 against the ground and marks 3:1; hues differ in lightness too, and none stands for good or bad."""

    ground: str
    text: str
    quiet: str
    grid: str
    frame: str
    hues: tuple[str, ...]


LIGHT: Final = Palette(
    ground="#ffffff",
    text="#1d2530",
    quiet="#4d5866",
    grid="#e3e7ec",
    frame="#8a94a1",
    hues=("#1f5f99", "#b4610a", "#6c4796", "#137d78", "#8a7000", "#9c3f73"),
)
DARK: Final = Palette(
    ground="#1e2129",
    text="#e8ebf0",
    quiet="#b3bbc7",
    grid="#343a46",
    frame="#7d8796",
    hues=("#7db8ec", "#eea25c", "#bfa2e6", "#5cc4bd", "#d4bf5a", "#e394bd"),
)


def _colors(palette: Palette) -> Spec:
    p = palette
    return {
        "background": p.ground,
        "title": {"color": p.text, "subtitleColor": p.text},
        "axis": {
            "labelColor": p.text,
            "titleColor": p.quiet,
            "gridColor": p.grid,
            "domainColor": p.frame,
            "tickColor": p.frame,
        },
        "legend": {
            "labelColor": p.text,
            "titleColor": p.quiet,
            "symbolStrokeColor": p.text,
            "symbolFillColor": p.text,
        },
        "range": {"category": list(p.hues)},
        "style": {
            "akv-footer": {"fill": p.quiet},
            "akv-open": {"fill": p.ground},
            "akv-neutral": {"color": p.quiet},
            "akv-pair": {"color": p.frame},
            "akv-cut": {"color": p.quiet},
            "akv-shade": {"color": p.quiet},
            "akv-note": {"color": p.text},
            "akv-rest": {"color": p.text},
        },
    }


def _config(palette: Palette) -> Spec:
    """The whole configuration: the form, and the palette's colours over it."""
    return _over(
        {
            "font": "sans-serif",
            "padding": 4,
            "aria": True,
            "mark": {"aria": False},
            "view": {"stroke": None},
            "title": {
                "fontSize": 16,
                "fontWeight": 600,
                "lineHeight": 21,
                "subtitleFontSize": 13,
                "subtitleLineHeight": 18,
                "subtitlePadding": 5,
                "offset": 12,
                "aria": False,
            },
            "axis": {
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": 400,
                "titlePadding": 8,
                "labelLimit": 300,
                "labelOverlap": True,
                "aria": False,
            },
            "axisX": {"titleAnchor": "end", "tickCount": 6},
            "axisY": {"titleAnchor": "end"},
            "axisYBand": {"labelPadding": 7},
            "legend": {
                "orient": "top",
                "labelFontSize": 12,
                "labelLimit": 320,
                "symbolSize": 70,
                "columnPadding": 16,
                "aria": False,
            },
            "style": {
                "akv-footer": {"fontSize": 11.5, "fontWeight": 400, "lineHeight": 15.5},
                "akv-dot": {"filled": True, "size": 70, "opacity": 1},
                "akv-band": {"strokeWidth": 3, "opacity": 0.55},
                "akv-open": {"size": 60, "strokeWidth": 1.6, "filled": False, "opacity": 1},
                "akv-small": {"size": 16, "filled": True, "opacity": 0.85},
                "akv-also": {"strokeWidth": 1},
                "akv-bar": {"opacity": 0.32},
                "akv-rest": {"strokeDash": [4, 3], "strokeWidth": 1.2},
                "akv-line": {"strokeWidth": 1.6},
                "akv-area": {"opacity": 0.22},
                "akv-neutral": {"strokeWidth": 1, "strokeDash": [2, 2]},
                "akv-pair": {"strokeWidth": 0.8},
                "akv-cut": {"strokeWidth": 1, "strokeDash": [5, 3]},
                "akv-shade": {"opacity": 0.1},
                "akv-note": {"fontSize": 12},
                "akv-sample": {"filled": True, "size": 14, "opacity": 0.75},
                "akv-range": {"strokeWidth": 1.2, "opacity": 0.35},
                "akv-interval": {"opacity": 0.9, "strokeWidth": 0},
                "akv-bound": {"opacity": 0.35, "strokeWidth": 0},
            },
        },
        _colors(palette),
    )


def _over(base: Spec, top: Spec) -> Spec:
    """``top`` over ``base``, object by object."""
    both = dict(base)
    for key, value in top.items():
        below = both.get(key)
        both[key] = _over(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return both
