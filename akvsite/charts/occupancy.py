"""How many of something there are, over time: a line for each count, which changes at moments and stays in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt

from akvsite import charts
from akvsite.charts import Drawing, Footer
from akvsite.estimate import written

#: Points of one line, at most, and the stretches of one length into which a longer one is put.
POINTS, STRETCHES = 1_200, 300

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Count:
    """One line: ``times`` (n,) in ns from the stated origin, rising, and how many there are from each on, ``values`` (n,)."""

    label: str
    times: Whole
    values: Whole


def draw(
    question: str, counts: list[Count], footer: Footer, *, origin: str, last_ns: int, axis: str = ""
) -> Drawing:
    """Lines in the order given, drawn on to ``last_ns``. They are counts and have no band; one without a point is left out.

    Where a line has over 1,200 points, each of 300 stretches of time keeps its first, least, greatest and last value.
    """
    kept = {count.label: _thinned(count) for count in counts if len(count.times)}
    label = charts.labels(kept, 36)
    along = charts.scale("ns", [0, last_ns, *(int(t[0]) for t, _ in kept.values())])
    across = charts.scale("1", [float(v.max()) for _, v in kept.values()], zero=True)
    thinned = any(len(kept[c.label][0]) < len(c.times) for c in counts if c.label in kept)
    notes = [f"time 0 is {charts.visible(origin)}", "counts, from events on record: no band"]
    if thinned:
        notes.append(
            f"thinned: of each {written(max(1, last_ns // STRETCHES), 'ns')} first, least, greatest and last are drawn"
        )
    return charts.sealed(
        _skeleton(),
        {
            **across.fill(axis),
            charts.GROUPS: list(label.values()),
            charts.HEIGHT: 200,
            _TIME: along.title("time"),
            _SPAN: [along.low, along.high],
        },
        {"rows": [row for name, own in kept.items() for row in _rows(label[name], own, along, last_ns)]},
        question=question,
        headline=(),
        footer=footer,
        estimates=[],
        notes=notes,
        count="n " + ", ".join(f"{len(c.times)} changes of {c.label}" for c in counts),
        summary=charts.told(
            question, (), [(c.label, _said(c, last_ns)) for c in counts], "Counts over time."
        ),
        columns=("count of", "from_ns", "how many"),
        rows=[(name, int(at), int(value)) for name, own in kept.items() for at, value in zip(*own, strict=True)],
        caption=f"Times in ns; time 0 is {charts.visible(origin)}." + (" Thinned." if thinned else ""),
    )  # fmt: skip


def _said(count: Count, last_ns: int) -> str:
    """Least, greatest, and for how much of the time it was how many: the mean over time, which is a total and no estimate."""
    if not len(count.times):
        return "nothing on record"
    return f"from {int(count.values.min())} to {int(count.values.max())}, {_mean(count, last_ns):.4g} on average over the time shown"


def _mean(count: Count, last_ns: int) -> float:
    lengths = np.diff(count.times, append=max(last_ns, int(count.times[-1])))
    whole = int(lengths.sum())
    return float((lengths * count.values).sum() / whole) if whole else float(count.values[-1])


def _thinned(count: Count) -> tuple[Whole, Whole]:
    times, values = count.times, count.values
    if len(times) <= POINTS:
        return times, values
    length = max(1, int(times[-1] - times[0]) // STRETCHES + 1)
    of = (times - times[0]) // length
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    kept = set()
    for first, last in zip(starts, [*starts[1:], len(times)], strict=True):
        own = values[first:last]
        kept |= {first, first + int(own.argmin()), first + int(own.argmax()), last - 1}
    at = np.array(sorted(kept))
    return times[at], values[at]


def _rows(label: str, own: tuple[Whole, Whole], along: charts.Scale, last_ns: int) -> list[dict[str, Any]]:
    made = [
        {"part": label, "at": along(int(at)), "value": int(value)} for at, value in zip(*own, strict=True)
    ]
    return [*made, made[-1] | {"at": along(max(last_ns, int(own[0][-1])))}]


_TIME = charts.placeholder("time")
_SPAN = charts.placeholder("span")


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    part = alt.Scale(domain=charts.GROUPS)
    legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=2)
    return [
        alt.Chart(alt.NamedData("rows"))
        .mark_line(style="akv-line", interpolate="step-after")
        .encode(
            x=alt.X("at:Q", title=_TIME, scale=alt.Scale(domain=_SPAN, nice=False, zero=False)),
            y=alt.Y("value:Q", title=charts.AXIS, axis=charts.TICKS, scale=alt.Scale(domain=charts.DOMAIN, nice=False)),
            color=alt.Color("part:N", scale=part, legend=legend),
            strokeDash=alt.StrokeDash("part:N", scale=part, legend=legend),
            order=alt.Order("at:Q"),
        )
    ]  # fmt: skip
