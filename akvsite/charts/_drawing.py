"""What a chart is, and the printed line under it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from akvsite.charts._text import one_line
from akvsite.estimate import Estimate

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
    #: What the numbers may be used for, where no Estimate says it.
    use: str = ""
    #: How the numbers were made, where no Estimate says it (samples, intervals).
    method: str = ""
    #: Anything else that must travel inside the image.
    notes: tuple[str, ...] = ()
    #: What the chart is of, such as "run r1 on lab-1", so that two images can be told apart. It is printed first.
    of: str = ""

    @property
    def looked(self) -> str:
        """The level, and what it cost."""
        return f"{self.level}: {self.control}" if self.control else self.level

    def paragraphs(
        self, estimates: Iterable[Estimate], notes: Iterable[str] = (), count: str = ""
    ) -> tuple[str, ...]:
        """The printed line, unbroken: numbers, scope, level, clock, seen; each says so where nothing is known.

        ``count`` stands in for the Estimates' own n where these are of different things.
        """
        drawn = list(estimates)
        known = [e for e in drawn if e.value is not None]
        with_band = [e for e in known if e.low is not None]
        unbanded = [e for e in known if e.low is None and e.kind not in ("counted", "declared")]
        return tuple(
            one_line(line)
            for line in (
                self.of,
                *_made(
                    joined(count or counts(known), self.method), [e for e in known if e.kind == "estimated"]
                ),
                joined(
                    several(
                        (f"band {math.floor(e.confidence * 1000 + 1e-9) / 10:g} %" for e in with_band),
                        "levels",
                    ),
                    several((e.scope for e in known), "scopes"),
                    several((e.one_sided for e in drawn), "one-sided statements"),
                ),
                _reasons("no band for", unbanded, len(drawn)),
                _reasons("unknown", [e for e in drawn if e.value is None], len(drawn)),
                *notes,
                *self.notes,
                "level "
                + joined(
                    self.looked,
                    several((self.use, *(e.use for e in drawn)), "uses"),
                ),
                f"clock {self.clock or 'not stated'}",
                f"seen: {joined(self.seen, several((e.seen for e in drawn), 'statements')) or 'not stated'}",
            )
            if line
        )


def _made(lead: str, known: Sequence[Estimate]) -> list[str]:
    """How the numbers were made, and what each way assumes: behind the count, or a line each where there are several."""
    ways = list(
        dict.fromkeys(
            joined(e.method, f"assumes {e.assumes}" if e.assumes else "") for e in known if e.method
        )
    )
    if len(ways) < 2:
        return [joined(lead, *ways)]
    if not any(e.assumes for e in known):
        return [joined(lead, several((e.method for e in known), "methods", "; "))]
    more = [f"and {len(ways) - 3} more methods, in the table"] if len(ways) > 3 else []
    return [lead, *ways[:3], *more]


def _reasons(what: str, estimates: Sequence[Estimate], of: int) -> str:
    if not estimates:
        return ""
    return f"{what} {len(estimates)} of {of}: {several((e.refusal for e in estimates), 'reasons')}"


def banded(estimates: Sequence[Estimate], noun: str = "numbers") -> str:
    """How many of the numbers have a band, and why the others have none: "7 numbers, 4 with a band, ..."."""
    known = [e for e in estimates if e.value is not None]
    given = [e for e in known if e.low is None and e.kind in ("counted", "declared")]
    refused = [e for e in known if e.low is None and e.kind not in ("counted", "declared")]
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


def several(texts: Iterable[str], what: str, between: str = " | ") -> str:
    """Each different text once, in order; after three, how many more there are."""
    distinct = list(dict.fromkeys(text for text in texts if text))
    more = f"{between}and {len(distinct) - 3} more {what}, in the table" if len(distinct) > 3 else ""
    return between.join(distinct[:3]) + more


def joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
