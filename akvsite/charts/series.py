"""Samples in their order, so that drift, steps and warm-up can be seen."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import written

#: Bins in one chart, warm-up included.
MOST = 1_500


def draw(
    question: str,
    samples: Sequence[float | None],
    footer: Footer,
    *,
    unit: str,
    cut: int = 0,
    cut_why: str = "declared",
    first: int = 0,
    order: str = "step",
    headline: Headline = (),
    axis: str = "",
) -> Drawing:
    """Sample i stands at ``first + i`` on the ``order`` axis; the first ``cut`` are warm-up and drawn apart.

    None (or a value that is not finite) is a gap. Over 1,500 samples, each bin shows minimum, median and maximum.
    """
    values = [v if v is not None and math.isfinite(v) else None for v in samples]
    bins = _binned(values, cut, first)
    scale, beyond = _scale(unit, bins)
    parts = ("kept", f"warm-up, cut ({charts.visible(cut_why)})")
    shown = slice(0, 2 if cut else 1)
    kept = [v for v in values[cut:] if v is not None]
    gaps = sum(value is None for value in values)
    cut_note = f"{cut} cut, {charts.visible(cut_why)}" if cut else "none cut"
    gap_note = f", {gaps} missing and left as gaps" if gaps else ""
    reach = f", from {written(min(kept), unit)} to {written(max(kept), unit)}" if kept else ""
    return charts.sealed(
        _skeleton(),
        {
            **scale.fill(axis),
            charts.GROUPS: list(parts[shown]),
            charts.SHAPES: ["circle", "cross"][shown],
            charts.HEIGHT: 240,
            ORDER: charts.visible(order),
            SIZE: next(size for most, size in ((60, 46), (300, 24), (math.inf, 14)) if len(bins) <= most),
            # Whole numbers: of a few samples each has its tick, since a step of one is not kept on so short an axis.
            STEPS: {"grid": False, "tickMinStep": 1, "format": "d"}
            | ({"values": list(range(first, first + len(values)))} if len(values) <= 8 else {}),
            SPAN: [first - 0.5, first + max(1, len(values)) - 0.5],
        },
        {
            "rows": [_row(b, scale, parts[not b.kept]) for b in bins if b not in beyond],
            "above": [{"at": b.at, "part": parts[1]} for b in beyond],
            "cut": [{"from": first - 0.5, "to": first + cut - 0.5}] if cut else [],
        },
        question=question,
        headline=headline,
        footer=footer,
        estimates=[estimate for _, estimate in headline],
        notes=_bin_notes(bins, beyond, unit),
        count=f"n {len(kept)} ({cut_note}{gap_note})",
        summary=charts.told(
            question,
            headline,
            [("samples", f"{len(kept)} kept{reach}, {cut_note}{gap_note}")],
            f"Samples in the order of {charts.visible(order)}.",
        ),
        columns=(f"first {order}", "samples", "lowest", "median", "highest", "unit", "part"),
        rows=[(b.first, b.count, b.low, b.mid, b.high, unit, parts[not b.kept]) for b in bins],
        caption=f"Thinned: a row is up to {widest} neighbouring samples, with their lowest, median and highest value."
        if (widest := _widest(bins)) > 1
        else "",
    )


@dataclass(frozen=True)
class _Bin:
    """Neighbouring samples; the three numbers are None where none of them has a value."""

    first: int
    count: int
    low: float | None
    mid: float | None
    high: float | None
    kept: bool

    @property
    def at(self) -> float:
        return self.first + (self.count - 1) / 2


def _binned(values: Sequence[float | None], cut: int, first: int) -> list[_Bin]:
    """Bins of one width, none of which lies over the cut."""
    width = max(1, math.ceil(len(values) / (MOST - 1)))
    bins = []
    for begin, end, kept in ((0, min(cut, len(values)), False), (cut, len(values), True)):
        for at in range(begin, end, width):
            own = values[at : min(at + width, end)]
            known = sorted(value for value in own if value is not None)
            low, mid, high = (known[0], statistics.median(known), known[-1]) if known else (None, None, None)
            bins.append(_Bin(first + at, len(own), low, mid, high, kept))
    return bins


def _scale(unit: str, bins: Sequence[_Bin]) -> tuple[charts.Scale, list[_Bin]]:
    """The axis is the kept samples'; warm-up far above them would flatten them, and is marked at the edge."""
    kept = [end for b in bins if b.kept for end in (b.low, b.high) if end is not None]
    if not kept:
        return charts.scale(unit, [end for b in bins for end in (b.low, b.high)]), []
    limit = max(kept) + 2 * (max(kept) - min(kept) or abs(max(kept)))
    beyond = [b for b in bins if not b.kept and b.high is not None and b.high > limit]
    return charts.scale(unit, [end for b in bins if b not in beyond for end in (b.low, b.high)]), beyond


def _widest(bins: Sequence[_Bin]) -> int:
    return max((b.count for b in bins), default=1)


def _bin_notes(bins: Sequence[_Bin], beyond: Sequence[_Bin], unit: str) -> list[str]:
    widest = _widest(bins)
    notes = []
    if widest > 1:
        notes.append(
            f"dot: the median of up to {widest} neighbours; line: from their lowest to their highest"
        )
    if beyond:
        top = written(max(b.high for b in beyond if b.high is not None), unit)
        notes.append(
            f"open arrow: warm-up above the axis (samples: {sum(b.count for b in beyond)}), up to {top}"
        )
    return notes


def _row(b: _Bin, scale: charts.Scale, part: str) -> dict[str, float | str | None]:
    ends = (b.low, b.high) if b.high != b.low else (None, None)
    return {"at": b.at, "low": scale(ends[0]), "mid": scale(b.mid), "high": scale(ends[1]), "part": part}


ORDER = charts.placeholder("order")
SPAN = charts.placeholder("span")
SIZE = charts.placeholder("size")
STEPS = charts.placeholder("steps")


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    rows = alt.Chart(alt.NamedData("rows"))
    cut = alt.Chart(alt.NamedData("cut"))
    along = alt.Scale(domain=SPAN, nice=False, zero=False)
    x = alt.X("at:Q", title=ORDER, scale=along, axis=STEPS)
    across = alt.Scale(domain=charts.DOMAIN, nice=False, zero=False)
    legend = alt.Legend(title=None, symbolSize=60)
    color = alt.Color("part:N", scale=alt.Scale(domain=charts.GROUPS), legend=legend)
    shape = alt.Shape("part:N", scale=alt.Scale(domain=charts.GROUPS, range=charts.SHAPES), legend=legend)
    return [
        cut.mark_rect(style="akv-shade").encode(x=alt.X("from:Q", title=ORDER, scale=along), x2="to"),
        cut.mark_rule(style="akv-cut").encode(x=alt.X("to:Q", title=ORDER, scale=along)),
        rows.transform_filter("isValid(datum.low)")
        .mark_rule(style="akv-range")
        .encode(
            x=x, y=alt.Y("low:Q", title=charts.AXIS, axis=charts.TICKS, scale=across), y2="high", color=color
        ),
        rows.transform_filter("isValid(datum.mid)")
        .mark_point(style="akv-sample", size=SIZE)
        .encode(
            x=x,
            y=alt.Y("mid:Q", title=charts.AXIS, axis=charts.TICKS, scale=across),
            color=color,
            shape=shape,
        ),
        alt.Chart(alt.NamedData("above"))
        .mark_point(style="akv-open", shape="triangle-up", yOffset=6)
        .encode(x=x, y=alt.value(0), color=color),
    ]
