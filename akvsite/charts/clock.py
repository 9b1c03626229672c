"""The band between two clocks in the course of a run: how far one was ahead of the other, at most and at least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import written


@dataclass(frozen=True)
class Knot:
    """The band at one time of the device's clock, ns: the host's clock was ahead by ``low_ns`` to ``high_ns``."""

    device_ns: int
    low_ns: int
    high_ns: int


def draw(question: str, knots: Sequence[Knot], footer: Footer, *, headline: Headline = ()) -> Drawing:
    """``knots`` in order. A straight line from the first to the last middle is taken off, so that microseconds show."""
    lines = _levelled(knots)
    scale = charts.scale("ns", [0.0, *(end for _, low, high in lines for end in (low, high))])
    seconds = charts.scale("ns", [at for at, _, _ in lines])
    notes = [
        f"{_tilt(knots)} · band: where the host's clock may have been; nothing says where in it",
    ]
    widths = [high - low for _, low, high in lines]
    told = (
        [("width of the band", f"from {written(min(widths), 'ns')} to {written(max(widths), 'ns')}")]
        if widths
        else []
    )
    return charts.sealed(
        _skeleton(),
        {
            **scale.fill("host ahead of device, less the line"),
            charts.HEIGHT: 200,
            ALONG: seconds.title("device time since the first"),
            REACH: [seconds.low, seconds.high],
        },
        {
            "rows": [
                {"at": seconds(at), "low": scale(low), "high": scale(high), "middle": scale((low + high) / 2)}
                for at, low, high in lines
            ]
        },
        question=question,
        headline=headline,
        footer=footer,
        estimates=[estimate for _, estimate in headline],
        notes=notes,
        count=f"n {len(knots)} points of the band",
        summary=charts.told(question, headline, told, f"{len(knots)} points of a band, {_tilt(knots)}."),
        columns=("device_ns", "low_ns", "high_ns"),
        rows=[(k.device_ns, k.low_ns, k.high_ns) for k in knots],
    )


def _levelled(knots: Sequence[Knot]) -> list[tuple[int, float, float]]:
    """Time since the first knot, and both ends of the band over the straight line, ns."""
    if not knots:
        return []
    first, slope = knots[0], _slope(knots)
    lines = []
    for knot in knots:
        at = knot.device_ns - first.device_ns
        # Whole numbers are subtracted first: what is left is small enough for a float.
        low, high = (
            (2 * end - first.low_ns - first.high_ns) / 2 - slope * at for end in (knot.low_ns, knot.high_ns)
        )
        lines.append((at, low, high))
    return lines


def _slope(knots: Sequence[Knot]) -> float:
    first, last = knots[0], knots[-1]
    span = last.device_ns - first.device_ns
    return ((last.low_ns + last.high_ns) - (first.low_ns + first.high_ns)) / 2 / span if span else 0.0


def _tilt(knots: Sequence[Knot]) -> str:
    if not knots:
        return "no point"
    middle = written((knots[0].low_ns + knots[0].high_ns) // 2, "ns")
    return f"taken off: a line that begins at {middle} and rises by {_slope(knots) * 1e6:+.3f} ppm"


ALONG = charts.placeholder("along")
REACH = charts.placeholder("reach")


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    rows: Any = alt.Chart(alt.NamedData("rows"))
    x = alt.X("at:Q", title=ALONG, scale=alt.Scale(domain=REACH, nice=False, zero=False))
    across = alt.Scale(domain=charts.DOMAIN, nice=False, zero=False)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=charts.AXIS, axis=charts.TICKS, scale=across)

    return [
        rows.mark_area(style="akv-area").encode(x=x, y=y("low"), y2="high"),
        rows.mark_line(style="akv-line").encode(x=x, y=y("low")),
        rows.mark_line(style="akv-line").encode(x=x, y=y("high")),
    ]
