"""Charts: one file a mark. A chart draws Estimates and says so under the drawing, inside the image.

``Drawing`` is what every chart makes. ``sealed`` puts the question over it and the printed line under it; both
belong to the Vega-Lite specification, so that a screenshot or an exported image carries them.

A mark builds its specification once, with ``"@name"`` where a call has something to say, and ``filled`` puts it in.
What marks have in common is in the files whose names begin with an underscore, since no mark knows another.
"""

from akvsite.charts._drawing import (
    MAX_ROWS,
    NO_CONTROL,
    Drawing,
    Footer,
    Headline,
    banded,
    counts,
    missing_parts,
    span,
)
from akvsite.charts._form import AXIS, DOMAIN, GROUPS, HEIGHT, LABELS, LANES, SHAPES, TICKS, placeholder
from akvsite.charts._marks import HOLLOW, band_fill, band_layers, band_notes, band_place, band_row, band_x
from akvsite.charts._scale import Scale, band_values, scale, unit_of
from akvsite.charts._seal import ESTIMATE_COLUMNS, estimate_cells, sealed, skeleton, told
from akvsite.charts._text import LINE, labels, said, shortened
from akvsite.errors import visible

__all__ = [
    "AXIS",
    "DOMAIN",
    "ESTIMATE_COLUMNS",
    "GROUPS",
    "HEIGHT",
    "HOLLOW",
    "LABELS",
    "LANES",
    "LINE",
    "MAX_ROWS",
    "NO_CONTROL",
    "SHAPES",
    "TICKS",
    "Drawing",
    "Footer",
    "Headline",
    "Scale",
    "band_fill",
    "band_layers",
    "band_notes",
    "band_place",
    "band_row",
    "band_values",
    "band_x",
    "banded",
    "counts",
    "estimate_cells",
    "labels",
    "missing_parts",
    "placeholder",
    "said",
    "scale",
    "sealed",
    "shortened",
    "skeleton",
    "span",
    "told",
    "unit_of",
    "visible",
]
