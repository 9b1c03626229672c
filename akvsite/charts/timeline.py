"""Intervals on lanes against one axis: queues, copies, compute, host threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import written


@dataclass(frozen=True)
class Interval:
    """One interval, in integer nanoseconds from the stated origin.

    ``start_bound_ns`` and ``end_bound_ns`` are half-widths of the clock's interval: an end is drawn as wide as that.
    ``end_ns`` is None where the end was never recorded.
    """

    lane: str
    kind: str
    start_ns: int
    end_ns: int | None
    name: str = ""
    start_bound_ns: int = 0
    end_bound_ns: int = 0


def draw(
    question: str, intervals: Sequence[Interval], footer: Footer, *, origin: str, headline: Headline = ()
) -> Drawing:
    """Lanes in order of first appearance. ``origin`` says what time 0 is, such as "start of step 40, device clock".

    Over 5,000 intervals, neighbours of the same lane and kind are merged and the footer says how many.
    """
    drawn, closed_ns = _merged(intervals)
    scale = charts.scale("ns", [end for interval in drawn for end in _reach(interval)])
    lanes = charts.labels((interval.lane for interval in intervals), 36)
    kinds = charts.labels((interval.kind for interval in drawn), 30)
    about = f"{len(intervals)} intervals on {len(lanes)} lanes; time 0 is {charts.visible(origin)}"
    return charts.sealed(
        _skeleton(),
        {
            **scale.fill("time"),
            charts.LABELS: list(lanes.values()),
            charts.GROUPS: list(kinds.values()),
            charts.HEIGHT: {"step": 30},
        },
        {"rows": [_row(interval, scale, lanes[interval.lane], kinds[interval.kind]) for interval in drawn]},
        question=question,
        headline=headline,
        footer=footer,
        estimates=[estimate for _, estimate in headline],
        notes=[f"{about} · empty: nothing recorded there", *_notes(intervals, drawn, closed_ns)],
        summary=charts.told(question, headline, _by_lane(intervals), f"{about}."),
        columns=("lane", "kind", "name", "start_ns", "end_ns", "start_bound_ns", "end_bound_ns"),
        rows=[
            (i.lane, i.kind, i.name, i.start_ns, i.end_ns, i.start_bound_ns, i.end_bound_ns)
            for i in intervals
        ],
    )


def _reach(interval: Interval) -> list[int]:
    """The earliest and the latest time that the interval may cover."""
    first = interval.start_ns - interval.start_bound_ns
    last = interval.start_ns + interval.start_bound_ns
    if interval.end_ns is not None:
        last = max(last, interval.end_ns + interval.end_bound_ns)
    return [first, last]


def _notes(intervals: Sequence[Interval], drawn: Sequence[Interval], closed_ns: int) -> list[str]:
    hung = sum(interval.end_ns is None for interval in intervals)
    bound = any(interval.start_bound_ns or interval.end_bound_ns for interval in intervals)
    notes = []
    if len(drawn) < len(intervals):
        notes.append(
            f"drawn as {len(drawn)}: neighbours of a lane that are {closed_ns} ns apart or less are one"
        )
    if bound:
        notes.append("pale end: as wide as the clock's bound")
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
    end_ns, bound_ns = None, 0
    if left.end_ns is not None and right.end_ns is not None:
        end_ns, bound_ns = max((left.end_ns, left.end_bound_ns), (right.end_ns, right.end_bound_ns))
    kind = left.kind if left.kind == right.kind else _MIXED
    return Interval(left.lane, kind, left.start_ns, end_ns, "several", left.start_bound_ns, bound_ns)


def _row(interval: Interval, scale: charts.Scale, lane: str, kind: str) -> dict[str, Any]:
    """Where the interval may begin (a), has begun (b), has not ended (c) and may end (d)."""
    start_ns, end_ns = interval.start_ns, interval.end_ns
    return {
        "label": lane,
        "kind": kind,
        "name": charts.shortened(interval.name or interval.kind, 120),
        "a": scale(start_ns - interval.start_bound_ns),
        "b": scale(start_ns + interval.start_bound_ns),
        "c": scale.high if end_ns is None else scale(end_ns - interval.end_bound_ns),
        "d": scale.high if end_ns is None else scale(end_ns + interval.end_bound_ns),
        "open": end_ns is None,
    }


def _by_lane(intervals: Sequence[Interval]) -> list[tuple[str, str]]:
    told = []
    for lane, own in _lanes(intervals).items():
        ends = [interval.end_ns for interval in own if interval.end_ns is not None]
        first = written(min(interval.start_ns for interval in own), "ns")
        last = f"last end at {written(max(ends), 'ns')}" if ends else "no end on record"
        told.append((lane, f"{len(own)} intervals, first at {first}, {last}"))
    return told


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    rows = alt.Chart(alt.NamedData("rows"))
    lane = alt.Scale(domain=charts.LABELS, paddingInner=0.4)
    place = {
        "y": alt.Y("label:N", title=None, scale=lane, axis=alt.Axis(grid=False, ticks=False, domain=False)),
        "color": alt.Color(
            "kind:N",
            scale=alt.Scale(domain=charts.GROUPS),
            legend=alt.Legend(title=None, symbolType="square"),
        ),
        "tooltip": [alt.Tooltip("name:N"), alt.Tooltip("kind:N")],
    }
    x = charts.band_x
    bounded = "datum.b > datum.a || datum.d > datum.c"
    return [
        rows.transform_filter(bounded).mark_bar(style="akv-bound").encode(x=x("a"), x2="d", **place),
        # Where the clock leaves more open than the interval is long, no part of it is certain.
        rows.transform_filter("datum.c >= datum.b")
        .mark_bar(style="akv-interval")
        .encode(x=x("b"), x2="c", **place),
        rows.transform_filter("datum.open")
        .mark_point(style="akv-open", shape="triangle-right", xOffset=-4)
        .encode(x=x("d"), **place),
    ]
