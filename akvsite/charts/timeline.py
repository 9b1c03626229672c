"""Intervals on lanes against one axis: queues, copies, compute, host threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import outward, written

#: A share of the axis that is about as wide as a pixel: what is shorter is drawn as a thin line, so that nothing that
#: was recorded is left out of sight.
_SHORT = 0.0015


@dataclass(frozen=True)
class Interval:
    """One interval, in integer nanoseconds from the stated origin.

    ``start_bound_ns`` and ``end_bound_ns`` are half-widths of the clock's interval: an end is drawn as wide as that.
    0 is exact: the axis is the clock that was read. None is not known, as with a vendor's unproven conversion, or where
    the clock bounds the time on one side only. ``end_ns`` is None where the end was never recorded.
    """

    lane: str
    kind: str
    start_ns: int
    end_ns: int | None
    name: str = ""
    start_bound_ns: int | None = 0
    end_bound_ns: int | None = 0

    @property
    def unsure(self) -> bool:
        """Whether it is not known how far an end may be off. An end that was never recorded has no bound to know."""
        return self.start_bound_ns is None or (self.end_ns is not None and self.end_bound_ns is None)


def draw(
    question: str,
    intervals: Sequence[Interval],
    footer: Footer,
    *,
    origin: str,
    origin_bound_ns: int | None = 0,
    headline: Headline = (),
) -> Drawing:
    """Lanes in order of first appearance. ``origin`` says what time 0 is, such as "start of step 40, device clock".

    ``origin_bound_ns`` is how far time 0 itself may be off, ns, where it was converted from another clock: it moves
    all intervals of that clock alike, and is in their own bounds already. None where that is not known.

    Over 5,000 intervals, neighbours of the same lane and kind are merged and the footer says how many.
    """
    drawn, closed_ns = _merged(intervals)
    scale = charts.scale("ns", [end for interval in drawn for end in _reach(interval)])
    lanes = charts.labels((interval.lane for interval in intervals), 36)
    kinds = charts.labels((interval.kind for interval in drawn), 30)
    zero = f"time 0 is {charts.visible(origin)}{_zero_bound(origin_bound_ns)}"
    rows = [_row(interval, scale, lanes[interval.lane], kinds[interval.kind]) for interval in drawn]
    short = sum(row["short"] for row in rows)
    held = f"{_number(len(intervals), 'interval')} on {_number(len(lanes), 'lane')}"
    return charts.sealed(
        _skeleton(),
        {
            **scale.fill("time"),
            charts.LABELS: list(lanes.values()),
            charts.GROUPS: list(kinds.values()),
            charts.HEIGHT: {"step": 30},
        },
        {"rows": rows},
        question=question,
        headline=headline,
        footer=footer,
        estimates=[estimate for _, estimate in headline],
        notes=[
            f"{zero} · empty: nothing recorded there",
            *(
                [f"thin line: {short} intervals too short for this axis, drawn wider than they are"]
                if short
                else []
            ),
            *_notes(intervals, drawn, closed_ns),
        ],
        count=f"n {held}",
        summary=charts.told(question, headline, _by_lane(intervals), f"{held}; {zero}."),
        columns=("lane", "kind", "name", "start_ns", "end_ns", "start_bound_ns", "end_bound_ns"),
        rows=[
            (i.lane, i.kind, i.name, i.start_ns, i.end_ns, _cell(i.start_bound_ns), _end_cell(i))
            for i in intervals
        ],
        caption=f"Times in ns; {zero}; bounds are half-widths, 0 where the axis is the clock that was read.",
    )


def _zero_bound(bound_ns: int | None) -> str:
    if bound_ns is None:
        return ", its clock's bound unknown"
    return f" ±{outward(bound_ns, 'ns')} by its clock" if bound_ns else ""


def _number(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _cell(bound_ns: int | None) -> int | str:
    return "unknown" if bound_ns is None else bound_ns


def _end_cell(interval: Interval) -> int | str | None:
    return None if interval.end_ns is None else _cell(interval.end_bound_ns)


def _reach(interval: Interval) -> list[int]:
    """The earliest and the latest time that the interval may cover, as far as that is known."""
    start_bound, end_bound = interval.start_bound_ns or 0, interval.end_bound_ns or 0
    last = interval.start_ns + start_bound
    if interval.end_ns is not None:
        last = max(last, interval.end_ns + end_bound)
    return [interval.start_ns - start_bound, last]


def _notes(intervals: Sequence[Interval], drawn: Sequence[Interval], closed_ns: int) -> list[str]:
    hung = sum(interval.end_ns is None for interval in intervals)
    bounds = [i.start_bound_ns for i in intervals]
    bounds += [i.end_bound_ns for i in intervals if i.end_ns is not None]
    wide = sorted({bound for bound in bounds if bound})
    unsure = sum(interval.unsure for interval in intervals)
    notes = []
    if len(drawn) < len(intervals):
        notes.append(
            f"drawn as {len(drawn)}: neighbours of a lane that are {closed_ns} ns apart or less are one"
        )
    if wide:
        between = " to ".join(
            f"±{text}" for text in dict.fromkeys(outward(w, "ns") for w in (wide[0], wide[-1]))
        )
        notes.append(f"pale end: as wide as the clock's bound, {between}; all pale: no part is certain")
    if unsure:
        notes.append(
            f"dashed outline: the clock's bound is not known, {unsure} of {len(intervals)} intervals"
        )
    if hung:
        notes.append(f"open arrow: {hung} without an end on record")
    return notes


_MIXED = "several kinds"


def _merged(intervals: Sequence[Interval]) -> tuple[list[Interval], int]:
    """At most ``MAX_ROWS`` intervals, and the widest gap that was closed to get there.

    Neighbours of the same kind go first, and of those the closest, so that wide gaps stay visible.
    """
    over = len(intervals) - charts.MAX_ROWS
    if over <= 0:
        return list(intervals), 0
    lanes = {
        lane: sorted(own, key=lambda interval: interval.start_ns) for lane, own in _lanes(intervals).items()
    }
    seams = sorted(
        (left.kind != right.kind, right.start_ns - (left.end_ns or left.start_ns), lane, at)
        for lane, own in lanes.items()
        for at, (left, right) in enumerate(pairwise(own), 1)
    )[:over]
    closed = {(lane, at) for _, _, lane, at in seams}
    merged: list[Interval] = []
    for lane, own in lanes.items():
        for at, interval in enumerate(own):
            merged.append(_joined(merged.pop(), interval) if (lane, at) in closed else interval)
    return merged, max(0, *(gap for _, gap, _, _ in seams), 0)


def _lanes(intervals: Sequence[Interval]) -> dict[str, list[Interval]]:
    lanes: dict[str, list[Interval]] = {}
    for interval in intervals:
        lanes.setdefault(interval.lane, []).append(interval)
    return lanes


def _joined(left: Interval, right: Interval) -> Interval:
    """One interval over both; without an end if either has none."""
    end_ns, bound_ns = None, left.end_bound_ns
    if left.end_ns is not None and right.end_ns is not None:
        last = max(left, right, key=lambda interval: interval.end_ns or 0)
        end_ns, bound_ns = last.end_ns, last.end_bound_ns
    # What is drawn as one has a known outline only if all its parts have.
    start_bound = None if right.unsure else left.start_bound_ns
    kind = left.kind if left.kind == right.kind else _MIXED
    return Interval(left.lane, kind, left.start_ns, end_ns, "several", start_bound, bound_ns)


def _row(interval: Interval, scale: charts.Scale, lane: str, kind: str) -> dict[str, Any]:
    """Where the interval may begin (a), has begun (b), has not ended (c) and may end (d)."""
    start_ns, end_ns = interval.start_ns, interval.end_ns
    start_bound, end_bound = interval.start_bound_ns or 0, interval.end_bound_ns or 0
    row: dict[str, Any] = {
        "label": lane,
        "kind": kind,
        "name": charts.shortened(interval.name or interval.kind, 120),
        "known": _known(interval),
        "a": scale(start_ns - start_bound),
        "b": scale(start_ns + start_bound),
        "c": scale.high if end_ns is None else scale(end_ns - end_bound),
        "d": scale.high if end_ns is None else scale(end_ns + end_bound),
        "open": end_ns is None,
        "unsure": interval.unsure,
    }
    row["short"] = row["d"] - row["a"] < _SHORT * (scale.high - scale.low)
    return row


def _known(interval: Interval) -> str:
    """For a reader who points at it: how far its ends may be off."""

    def end(name: str, bound_ns: int | None) -> str:
        return (
            f"{name} unknown"
            if bound_ns is None
            else f"{name} ±{written(bound_ns, 'ns')}"
            if bound_ns
            else ""
        )

    ends = [end("start", interval.start_bound_ns)]
    ends.append("no end on record" if interval.end_ns is None else end("end", interval.end_bound_ns))
    return ", ".join(text for text in ends if text) or "as read"


def _by_lane(intervals: Sequence[Interval]) -> list[tuple[str, str]]:
    told = []
    for lane, own in _lanes(intervals).items():
        ends = [interval.end_ns for interval in own if interval.end_ns is not None]
        first = written(min(interval.start_ns for interval in own), "ns")
        last = f"last end at {written(max(ends), 'ns')}" if ends else "no end on record"
        told.append((lane, f"{_number(len(own), 'interval')}, first at {first}, {last}"))
    return told


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    rows = alt.Chart(alt.NamedData("rows"))
    lane = alt.Scale(domain=charts.LABELS, paddingInner=0.4)
    kinds = alt.Scale(domain=charts.GROUPS)
    legend = alt.Legend(title=None, symbolType="square", symbolStrokeWidth=0)
    place = {
        "y": alt.Y("label:N", title=None, scale=lane, axis=alt.Axis(grid=False, ticks=False, domain=False)),
        "color": alt.Color("kind:N", scale=kinds, legend=legend),
        "tooltip": [
            alt.Tooltip("name:N"),
            alt.Tooltip("kind:N"),
            alt.Tooltip("known:N", title="clock's bound"),
        ],
    }
    hue = alt.Stroke("kind:N", scale=kinds, legend=legend)
    x = charts.band_x
    bounded = "(datum.b > datum.a || datum.d > datum.c)"
    # Where the clock leaves more open than the interval is long, no part of it is certain.
    certain = "datum.c >= datum.b && !datum.unsure"

    def bar(test: str, style: str, first: str, last: str) -> alt.Chart:
        drawn: alt.Chart = (
            rows.transform_filter(test).mark_bar(style=style).encode(x=x(first), x2=last, stroke=hue, **place)
        )
        return drawn

    return [
        bar(f"{bounded} && !datum.short", "akv-bound", "a", "d"),
        bar(f"{bounded} && datum.short", "akv-bound-short", "a", "d"),
        bar(f"{certain} && !datum.short", "akv-interval", "b", "c"),
        bar(f"{certain} && datum.short", "akv-interval-short", "b", "c"),
        # Where nobody knows how far an end may be off, no part is drawn as certain.
        bar("datum.unsure && !datum.short", "akv-unsure", "a", "d"),
        bar("datum.unsure && datum.short", "akv-unsure-short", "a", "d"),
        rows.transform_filter("datum.open")
        .mark_point(style="akv-open", shape="triangle-right", xOffset=7)
        .encode(x=x("d"), **place),
    ]
