"""What a chart is, and the printed line under it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from akvsite.charts._text import one_line, parted
from akvsite.estimate import Estimate, outward

#: No chart carries more rows than this: data is aggregated first.
MAX_ROWS: Final = 5_000


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
    #: What the table must say over its rows, such as that a row stands for several samples.
    caption: str = ""


@dataclass(frozen=True)
class Footer:
    """What a page knows about a chart and the chart's own numbers cannot say.

    Method, count, scope, assumptions, refusals, use and systematic parts are read off the Estimates that are drawn;
    the page adds the level, its control, what was seen and the clock.
    """

    #: The capture level and host role, such as "edge, dev host", or the mixture "device and off, dev host".
    level: str
    #: What the capture cost by its control: "capture on, +33 % [29, 37] against its control, 8 ABBA pairs".
    control: str = ""
    #: Records seen of records expected; added to what the Estimates carry themselves.
    seen: str = ""
    #: The clock's bound, such as "±1.1 us (widest 3.1)", or "host clock only", or "unproven".
    clock: str = ""
    #: What the numbers may be used for, where no Estimate says it.
    use: str = ""
    #: How the numbers were made, where no Estimate says it (samples, intervals).
    method: str = ""
    #: Anything else that must travel inside the image.
    notes: tuple[str, ...] = ()
    #: What the chart is of, such as "run r1 on lab-1", so that two images can be told apart. It is printed first.
    of: str = ""
    #: What is printed over all numbers: the retractions that they stand under, or that two outputs differ.
    stamps: tuple[str, ...] = ()

    @property
    def looked(self) -> str:
        """The level, and what it cost; nothing but level ``off`` is without a cost, known or not."""
        if self.control:
            return f"{self.level}: {self.control}"
        return self.level if self.level.partition(",")[0] == "off" else f"{self.level}: {NO_CONTROL}"

    def clocked(self, estimates: Iterable[Estimate]) -> str:
        """The clock as the page states it, and the systematic part of the numbers that are drawn."""
        return joined(self.clock, *_systematic(list(estimates), self.clock)) or NOT_STATED

    def paragraphs(
        self,
        estimates: Iterable[Estimate],
        notes: Iterable[str] = (),
        count: str = "",
        headline: Headline = (),
    ) -> tuple[str, ...]:
        """The printed line, unbroken, in one order: scope, count and method, level, clock, seen; then the rest.

        Each says so where nothing is known. ``count`` stands in for the Estimates' own n where these are of different
        things. ``headline`` has said its own scopes.
        """
        drawn = list(estimates)
        known = [e for e in drawn if e.value is not None]
        unbanded = [e for e in known if e.low is None and e.kind not in GIVEN]
        return tuple(
            one_line(line)
            for line in (
                self.of,
                *self.stamps,
                *_bands([e for e in known if e.low is not None], headline),
                *_made(count or counts(known), self.method, drawn),
                joined(f"level {self.looked}", several((self.use, *(e.use for e in drawn)), "uses")),
                f"clock {self.clocked(drawn)}",
                f"seen: {joined(self.seen, several((e.seen for e in drawn), 'statements')) or NOT_STATED}",
                _reasons("no band for", unbanded, len(drawn)),
                _reasons("unknown", [e for e in drawn if e.value is None], len(drawn)),
                several((e.one_sided for e in drawn), "one-sided statements"),
                *notes,
                *self.notes,
            )
            if line
        )


#: What a printed line says of a part that nobody stated; no page of the site may have it.
NOT_STATED: Final = "not stated"
NO_CONTROL: Final = "cost of looking unknown, no control"
#: Kinds of numbers that have no band because nothing was estimated.
GIVEN: Final = ("counted", "declared")
#: How a line of each part begins: count or method, level, clock, seen.
_PARTS: Final = {
    "count or method": ("n ", "method: ", "numbers ", "no number"),
    "level": ("level ",),
    "clock": ("clock ",),
    "seen": ("seen: ",),
}


def missing_parts(footer: Sequence[str]) -> list[str]:
    """Which parts of the printed line are not there, or are there without being stated."""

    def stated(begin: str) -> bool:
        return any(line.startswith(begin) and not line.startswith(begin + NOT_STATED) for line in footer)

    return [part for part, begins in _PARTS.items() if not any(map(stated, begins))]


def _bands(with_band: Sequence[Estimate], headline: Headline) -> list[str]:
    """What the bands speak of, a line each, without what the lines over the drawing say."""
    told = [_scope(e) for _, e in headline if e.low is not None]
    scopes = [text for text in dict.fromkeys(map(_scope, with_band)) if text not in told]
    return [*scopes[:3], *([f"and {len(scopes) - 3} more scopes, in the table"] if len(scopes) > 3 else [])]


def _scope(estimate: Estimate) -> str:
    percent = f"band {math.floor(estimate.confidence * 1000 + 1e-9) / 10:g} %"
    return ", ".join(part for part in (percent, parted(estimate.scope)) if part)


def _made(count: str, method: str, drawn: Sequence[Estimate]) -> list[str]:
    """How the numbers were made, and what each way assumes: behind the count, or a line each where there are several."""
    estimated = [e for e in drawn if e.kind == "estimated"]
    given = sum(e.kind in GIVEN for e in drawn)
    if drawn and not count and not method:
        count = f"numbers counted or declared: {given}" if given else "no number known"
    lead = joined(count, method) if count else f"method: {method}" if method else ""
    ways = list(
        dict.fromkeys(
            joined(e.method, f"assumes {e.assumes}" if e.assumes else "") for e in estimated if e.method
        )
    )
    if len(ways) < 2:
        return [joined(lead, *ways)]
    if not any(e.assumes for e in estimated):
        return [joined(lead, several((e.method for e in estimated), "methods"))]
    more = [f"and {len(ways) - 3} more methods, in the table"] if len(ways) > 3 else []
    return [lead, *ways[:3], *more]


def _systematic(drawn: Sequence[Estimate], clock: str) -> list[str]:
    """How wide the systematic parts of the numbers are, or that it is not known; ``clock`` is what the page says of it."""
    own = [e for e in drawn if e.value is not None and e.systematic_of]
    widths = sorted({(e.systematic, outward(e.systematic, e.unit)) for e in own if e.systematic is not None})
    blank = [e for e in own if e.systematic is None]
    said = []
    if widths:
        between = " to ".join(f"±{text}" for text in dict.fromkeys((widths[0][1], widths[-1][1])))
        lead = "on these numbers " if clock else ""
        said.append(f"{lead}{between} (systematic, added linearly outside the band)")
    if blank and (widths or "bound unknown" not in clock):
        names = several((e.systematic_of.removeprefix("clock").lstrip(", ") for e in blank), "clocks")
        some = f" for {len(blank)} of {len(drawn)}" if len(blank) < len(drawn) else ""
        said.append(f"bound unknown{some}" + (f": {names}" if names else ""))
    return said


def _reasons(what: str, estimates: Sequence[Estimate], of: int) -> str:
    if not estimates:
        return ""
    return f"{what} {len(estimates)} of {of}: {several((e.refusal for e in estimates), 'reasons')}"


def banded(estimates: Sequence[Estimate], noun: str = "numbers") -> str:
    """How many of the numbers have a band, and why the others have none: "7 numbers, 4 with a band, ..."."""
    known = [e for e in estimates if e.value is not None]
    given = [e for e in known if e.low is None and e.kind in GIVEN]
    refused = [e for e in known if e.low is None and e.kind not in GIVEN]
    blank = [e for e in estimates if e.value is None]
    parts = [f"{len(estimates)} {noun}", f"{len(known) - len(given) - len(refused)} with a band"]
    if refused:
        parts.append(f"{len(refused)} without ({several((e.refusal for e in refused), 'reasons')})")
    if blank:
        why = several((e.refusal for e in blank), "reasons")
        parts.append(f"{len(blank)} unknown" + (f" ({why})" if why else ""))
    if given:
        parts.append(f"{len(given)} counted or declared")
    return ", ".join(parts)


def counts(estimates: Sequence[Estimate], of: str = "") -> str:
    """How many samples the estimated numbers are made of; ``of`` names them, such as "steps a run"."""
    estimated = [e for e in estimates if e.kind == "estimated"]
    numbers = sorted({e.n for e in estimated})
    if not numbers:
        return ""
    cuts = sorted({e.cut for e in estimated})
    cut = f" ({span(cuts)} cut, declared)" if cuts[-1] else ""
    return f"n {span(numbers)}{f' {of}' if of else ''}{cut}"


def span(numbers: Sequence[int]) -> str:
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def several(texts: Iterable[str], what: str) -> str:
    """Each different text once, in order; after three, how many more there are."""
    distinct = list(dict.fromkeys(text for text in texts if text))
    more = [f"and {len(distinct) - 3} more {what}, in the table"] if len(distinct) > 3 else []
    return "; ".join(distinct[:3] + more)


def joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
