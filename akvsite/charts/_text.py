"""Names and sentences as they may stand in a chart: visible, short, on one line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Final

from akvsite.errors import visible
from akvsite.estimate import Estimate

#: Where title and footer lines break; the page's script breaks them again for the width it has.
LINE: Final = 60


def one_line(text: str) -> str:
    return shortened(" ".join(text.split()), 600)


def shortened(text: object, limit: int = 44) -> str:
    """A name that fits on an axis: its middle goes first, since kernel names differ at both ends."""
    name = visible(text)
    if len(name) <= limit:
        return name
    head = (limit - 1) * 3 // 5
    return f"{name[:head]}…{name[len(name) - (limit - 1 - head) :]}"


def labels(names: Iterable[str], limit: int = 44) -> dict[str, str]:
    """A short label for each name; names that would look the same are numbered."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        if name in found:
            continue
        label = base = shortened(name, limit)
        number = 2
        while label in taken:
            label = f"{base} ({number})"
            number += 1
        found[name] = label
        taken.add(label)
    return found


def said(estimate: Estimate) -> str:
    return visible(estimate.text())


def bare(estimates: Iterable[Estimate]) -> bool:
    """Whether none of several numbers has a band, so that the reasons are told once for all of them."""
    known = [estimate for estimate in estimates if estimate.value is not None]
    return len(known) > 1 and all(e.low is None and e.kind == "estimated" for e in known)


def said_bare(estimate: Estimate) -> str:
    """A number whose want of a band is explained elsewhere."""
    if estimate.value is None or estimate.low is not None or not estimate.refusal:
        return said(estimate)
    number, _, beside = estimate.text().partition(f" no band: {estimate.refusal}")
    return visible(f"{number}, no band{beside}")


#: Spaces at which no line breaks: before a dot between two parts, and within a comparison, a band, or a number with its
#: unit.
_KEPT: Final = re.compile(
    r" (?=·)| (?=[<>]= )|(?<=[<>]=) |(?<=[\dd],) (?=[-\d.a-z]+\])|(?<=\d) (?=(?:ns|us|ms|s|ppm|%)(?![^\s,;:)\]]))"
)


def broken(text: str) -> list[str]:
    """The lines of a text where nobody knows the width; the page's script breaks by the same rule for the width it has."""
    kept = _KEPT.sub("\u00a0", text)
    lines = textwrap.wrap(kept, LINE, break_on_hyphens=False) or [""]
    return [line.replace("\u00a0", " ") for line in lines]


def parted(scope: str) -> str:
    """A scope on the printed line, where semicolons stand between different things."""
    return " · ".join(part for part in map(str.strip, scope.split(";")) if part)


def over_drawing(headline: Iterable[tuple[str, Estimate]], word: Callable[[Estimate], str]) -> list[str]:
    """The lines over a drawing: each number with its band and all of its scope; a rest that several share stands behind the last."""
    numbers = list(headline)
    rests = [parted(e.scope.partition(";")[2]) if e.low is not None else "" for _, e in numbers]
    return [
        f"{visible(name)} {word(estimate)}"
        + (f" · {visible(rest)}" if rest and rest not in rests[at + 1 :] else "")
        for at, ((name, estimate), rest) in enumerate(zip(numbers, rests, strict=True))
    ]
