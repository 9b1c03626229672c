"""The look. Light is written into the specification, dark travels beside it for the page's script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from akvsite.charts._drawing import Spec


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
            "akv-ground": {"color": p.ground},
            "akv-neutral": {"color": p.quiet},
            "akv-pair": {"color": p.frame},
            "akv-zero": {"color": p.frame},
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
                "labelSeparation": 5,
                "aria": False,
            },
            # A label at either end is set against it: in a narrow window half of a long one would lie outside the drawing.
            "axisX": {"titleAnchor": "end", "tickCount": 6, "labelFlush": 24},
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
                "akv-ground": {"filled": True, "size": 70, "opacity": 1},
                "akv-open": {"size": 60, "strokeWidth": 1.6, "filled": False, "opacity": 1},
                "akv-systematic": {"strokeWidth": 1.2, "opacity": 1},
                "akv-cap": {"thickness": 1.4, "size": 9, "opacity": 1},
                "akv-query": {"size": 44, "strokeWidth": 0, "filled": True, "opacity": 1},
                "akv-small": {"size": 16, "filled": True, "opacity": 0.85},
                "akv-also": {"strokeWidth": 1, "strokeDash": [1, 2]},
                "akv-bar": {"opacity": 0.32},
                "akv-rest": {"strokeDash": [4, 3], "strokeWidth": 1.2},
                "akv-line": {"strokeWidth": 1.6},
                "akv-area": {"opacity": 0.22},
                "akv-neutral": {"strokeWidth": 1, "strokeDash": [2, 2]},
                "akv-pair": {"strokeWidth": 0.8},
                "akv-zero": {"strokeWidth": 1},
                "akv-cut": {"strokeWidth": 1, "strokeDash": [5, 3]},
                "akv-shade": {"opacity": 0.1},
                "akv-note": {"fontSize": 12},
                "akv-sample": {"filled": True, "size": 14, "opacity": 0.75},
                "akv-range": {"strokeWidth": 1.2, "opacity": 0.35},
                "akv-interval": {"opacity": 0.9, "strokeWidth": 0},
                "akv-interval-short": {"opacity": 0.9, "strokeWidth": 0.8},
                "akv-bound": {"opacity": 0.35, "strokeWidth": 0},
                "akv-bound-short": {"opacity": 0.45, "strokeWidth": 0.8},
                "akv-unsure": {"fillOpacity": 0.14, "strokeWidth": 1.3, "strokeDash": [3, 2]},
                "akv-unsure-short": {"strokeWidth": 0.8, "strokeDash": [3, 2]},
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
