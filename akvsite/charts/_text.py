"""Names and sentences as they may stand in a chart: visible, short, on one line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
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
    beside = f"; {estimate.one_sided}" if estimate.one_sided else ""
    return visible(f"{estimate.text().partition(' no band: ')[0]}, no band{beside}")


def broken(text: str) -> list[str]:
    return textwrap.wrap(text, LINE, break_on_hyphens=False) or [""]
