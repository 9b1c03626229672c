"""Intervals on lanes against one axis: queues, copies, compute, host threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from akvsite.charts import Drawing, Footer, Headline


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
    raise NotImplementedError
