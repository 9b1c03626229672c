"""How numbers of runs become two sides and their difference: the design decides, for every part of a comparison alike.

Two runs: the band of each run by itself, and MOVER for their difference: these two runs only. ABBA pairs: runs are the
sample, and bands within a run are not carried over. Otherwise each side has its band, and no difference is formed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from akvsite import estimators
from akvsite.estimate import Estimate, counted, unknown
from akvsite.estimators import systematic

TWO_RUNS, PAIRS = "two runs", "ABBA pairs"
_NOT_PAIRED = (
    "the runs are not paired: each side has its own band, and no band is stated for their difference"
)

#: A number's name and which statistic of it: ``("attention", "mean a step")``.
Key = tuple[str, str]


@dataclass(frozen=True)
class Design:
    """How the runs of a comparison were made, and what therefore may be formed of them."""

    kind: str
    #: What the numbers may be used for.
    use: str
    #: Why no difference of anything is formed, such as two levels; or nothing.
    refusal: str = ""
    #: Why the pairs are none; or nothing.
    mispaired: str = ""
    #: The order in which the runs of pairs were made, such as ABBA; None where it is not stated.
    order: str | None = None

    def side(self, numbers: Sequence[Estimate], unit: str) -> Estimate:
        """One number of a side, from that of each of its runs."""
        return replace(self._side(numbers, unit), use=self.use)

    def _side(self, numbers: Sequence[Estimate], unit: str) -> Estimate:
        if len(numbers) == 1 and (self.kind == TWO_RUNS or self.refusal):
            return numbers[0]
        if self.refusal:
            return unknown(f"{len(numbers)} runs of a side are not pooled here: {self.refusal}", unit)
        if lost := [n for n in numbers if n.value is None]:
            return unknown(
                f"not known in {len(lost)} of {len(numbers)} runs: {lost[0].refusal}", unit, n=len(numbers)
            )
        made = estimators.over_runs(_values(numbers), unit=unit)
        for parts in [n for n in numbers if n.systematic_of]:
            # The widest of the runs: a bias of one sign may be in all of them.
            if made.systematic is not None and (
                parts.systematic is None or parts.systematic >= made.systematic
            ):
                made = replace(made, systematic=parts.systematic, systematic_of=parts.systematic_of)
        return made

    def difference(
        self, a: Sequence[Estimate], b: Sequence[Estimate], unit: str
    ) -> tuple[Estimate, Estimate]:
        """B minus A, and B over A; unknown, with the reason, where the design or a number does not allow them."""
        minus, over = self._difference(a, b, unit)
        return replace(minus, use=self.use), replace(over, use=self.use)

    def _difference(
        self, a: Sequence[Estimate], b: Sequence[Estimate], unit: str
    ) -> tuple[Estimate, Estimate]:
        count = len(a) + len(b)
        why = self.refusal or (
            self.mispaired if self.kind == PAIRS else "" if self.kind == TWO_RUNS else _NOT_PAIRED
        )
        if not why and (lost := [n for n in (*a, *b) if n.value is None]):
            why = lost[0].refusal or "a side is unknown"
        if why:
            return unknown(why, unit, n=count), unknown(why, "ratio", n=count)
        if self.kind == TWO_RUNS:
            return _of_two_runs(a[0], b[0])
        values = _values(a), _values(b)
        sides = self._side(a, unit), self._side(b, unit)
        minus = estimators.difference_of_paired_runs(*values, unit=unit, order=self.order)
        minus = systematic.of_difference(minus, *sides)
        if min(v.min() for v in values) <= 0:
            return minus, unknown("a ratio of pairs needs values above 0", "ratio", n=count)
        over = estimators.ratio_of_paired_runs(*values, order=self.order)
        return minus, systematic.of_ratio(over, *sides)


def _values(numbers: Sequence[Estimate]) -> np.ndarray:
    return np.array([number.value for number in numbers], dtype=np.float64)


def _of_two_runs(a: Estimate, b: Estimate) -> tuple[Estimate, Estimate]:
    """A count is known exactly, and what is formed of two counts is a count too: nothing was estimated."""
    exact = [n if n.kind != "counted" else replace(n, low=n.value, high=n.value) for n in (a, b)]
    minus, over = estimators.difference_of_two_runs(*exact), estimators.ratio_of_two_runs(*exact)
    if not a.kind == b.kind == "counted":
        return minus, over
    if minus.value is not None:
        minus = counted(int(minus.value), minus.unit)
    if over.value is not None:
        over = replace(
            over, low=None, high=None, method="ratio of two counts", scope="", refusal="of two counts"
        )
    return minus, over


@dataclass(frozen=True)
class Measured:
    """What one run has of one part of a comparison."""

    numbers: dict[Key, Estimate] = field(default_factory=dict)
    #: The number of a thing that the run has none of: 0 only where that is a fact.
    none: Callable[[Key], Estimate] = lambda key: unknown("not on record", "ns")
    #: Why the run has nothing of this part, with the level that would tell; or nothing.
    lacks: str = ""
    #: Why its sums and counts are only of what was seen, so that no difference of them is formed; or nothing.
    blind: str = ""
    #: What its numbers are of, in words.
    of: str = ""
    #: The kind of steps that they are of, such as decode; nothing where they are of no steps.
    steps: str = ""
    #: What was seen of the device records that they come from.
    seen: str = ""
    #: For each name, the columns of its listing by which its rows are found.
    chosen: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """One number of both sides."""

    name: str
    statistic: str
    a: Estimate
    b: Estimate
    difference: Estimate
    ratio: Estimate
    #: What is known of it where the runs of one side alone have it on record.
    state: str = ""
    #: By which columns of the part's listing its rows are found.
    chosen: Mapping[str, object] = field(default_factory=dict)

    @property
    def size(self) -> float:
        return max((abs(e.value) for e in (self.a, self.b) if e.value is not None), default=0.0)


@dataclass(frozen=True)
class Part:
    """One part of a comparison, such as the regions of a step, as far as both sides have it."""

    name: str
    title: str
    #: The question that its numbers come from.
    question: str
    #: What a chart of it asks.
    asks: str = ""
    #: The listing in which its rows stand.
    listing: str = ""
    lines: tuple[Line, ...] = ()
    #: Why the part is not there; or nothing.
    absent: str = ""
    #: Why no difference is formed in it, beyond what stands for the whole comparison; or nothing.
    refusal: str = ""
    #: What each side's numbers are of.
    notes: tuple[str, ...] = ()
    #: What was seen of the device records that its numbers come from, by side; or nothing.
    seen: str = ""
    #: By how much the same thing differs from itself on the host, or why that is not known for these numbers.
    noise: str = ""


Sided = Sequence[tuple[str, str, Measured]]


def no_speed(use: str) -> str:
    """What stands at a difference and at a ratio of such a use: nothing where it may state speed."""
    if use.startswith("may state speed"):
        return ""
    return "structure, not speed" if use.startswith("structure") else "not a speed"


def formed(of: str, use: str) -> str:
    """The head of a number that is formed of both sides: it says itself that it is no statement of speed."""
    said = no_speed(use)
    return f"{of} ({said})" if said else of


def form(part: Part, design: Design, runs: Sided, *, structure: bool = False) -> Part:
    """The part with its lines: every name of any run, in the order in which they come; those that are larger first.

    ``runs`` holds side, name of the run and what it has, in the order of their places. ``structure``: whatever the runs
    may be used for, these numbers are structure.
    """
    lacking: dict[str, list[str]] = {}
    for side, name, m in runs:
        if m.lacks:
            lacking.setdefault(m.lacks, []).append(f"{side} ({name})")
    if empty := [side for side in ("A", "B") if side not in {of for of, _, _ in runs}]:
        return replace(part, absent=f"no run is left on side {' and '.join(empty)}")
    if lacking:
        said = [why if len(of) == len(runs) else f"{', '.join(of)}: {why}" for why, of in lacking.items()]
        return replace(part, absent="; ".join(said))
    refusal = _not_alike(runs)
    if refusal and not design.refusal:
        design = replace(design, refusal=refusal)
    if structure and not design.use.startswith("structure"):
        design = replace(design, use="structure, not speed")
    measured = {side: [m for of, _, m in runs if of == side] for side in ("A", "B")}
    keys = dict.fromkeys(key for _, _, m in runs for key in m.numbers)
    lines = [_line(key, design, measured["A"], measured["B"]) for key in keys]
    return replace(
        part,
        lines=tuple(_by_size(lines)),
        refusal=refusal,
        notes=_by_side([(side, m.of) for side, _, m in runs]),
        seen="; ".join(_by_side([(side, m.seen) for side, _, m in runs])),
    )


def _not_alike(runs: Sided) -> str:
    """Why numbers of the runs are not of the same thing; or nothing."""
    if blind := [f"{name}: {m.blind}" for _, name, m in runs if m.blind]:
        return f"not everything is seen ({'; '.join(blind)}): numbers are of what was seen"
    kinds = dict.fromkeys(m.steps for _, _, m in runs)
    return f"{' and '.join(kinds)} steps are not alike" if len(kinds) > 1 else ""


def _by_side(said: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """What is said of the runs of each side, once where it is the same of all."""
    found = dict.fromkeys((side, words) for side, words in said if words)
    if len({words for _, words in found}) == 1 and len(found) > 1:
        return (f"A and B: {next(iter(found))[1]}",)
    return tuple(f"{side}: {words}" for side, words in found)


def _line(key: Key, design: Design, a: Sequence[Measured], b: Sequence[Measured]) -> Line:
    has = [any(key in m.numbers for m in side) for side in (a, b)]
    numbers = [[m.numbers[key] if key in m.numbers else m.none(key) for m in side] for side in (a, b)]
    unit = next(m.numbers[key].unit for m in (*a, *b) if key in m.numbers)
    minus, over = design.difference(numbers[0], numbers[1], unit)
    first, second = (design.side(side, unit) for side in numbers)
    chosen = next((m.chosen[key[0]] for m in (*a, *b) if key[0] in m.chosen), {})
    return Line(*key, first, second, minus, over, _state(has, numbers), chosen)


def _state(has: Sequence[bool], numbers: Sequence[Sequence[Estimate]]) -> str:
    """That a thing vanished or is new is said only where that the other side has none of it is a fact."""
    if all(has):
        return ""
    side, other, word = ("A", "B", "vanished") if has[0] else ("B", "A", "new")
    if any(number.value is None for number in numbers[has[0]]):
        return f"seen in {side} alone; of {other} it is unknown"
    return f"{word}: in {side} alone"


def _by_size(lines: Sequence[Line]) -> list[Line]:
    """Names with the longest times first; the numbers of one name stay together, in their order."""
    largest: dict[str, float] = {}
    for line in lines:
        if line.a.unit == "ns":
            largest[line.name] = max(largest.get(line.name, 0.0), line.size)
    return sorted(lines, key=lambda line: -largest.get(line.name, 0.0))
