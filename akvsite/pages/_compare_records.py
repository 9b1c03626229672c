"""What lies in a run's steps by name: device records, and runtime calls. Each counts once for each tool that recorded it.

That a name is not there is a fact only where all records are seen (``sight.sql``, ``call_sight.sql``); else it is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.estimate import Estimate, counted, unknown
from akvsite.pages._compare_form import Key, Measured
from akvsite.pages._compare_steps import Subject, lacking, of_steps
from akvsite.pages._run import finished, seen_of
from akvsite.pages._step_sums import with_most

_TOOLS = {
    "vendor": "by the vendor's tracer",
    "shim": "by our recorder",
    "no call": "of no call that is known",
}


#: Sums of names in steps that are held at once.
_SUMS = 1 << 20


@dataclass(frozen=True)
class Named:
    """What a row is compared by."""

    name: str
    kind: str
    tool: str

    def label(self, with_tool: bool) -> str:
        """In words; the tool is named where runs were looked at with several."""
        return " · ".join(part for part in (self.name, self.kind, self.tool if with_tool else "") if part)


class Rows:
    """Rows of ``step_call`` or ``step_record`` of one run, and the steps in which they lie."""

    def __init__(self, subject: Subject, question: str, count: str, ns: str, *, by_kind: bool) -> None:
        columns = subject.desk.columns(question, run_id=subject.run_id)
        self.counts, self.unended, self.ns = (
            columns[name].astype(np.int64) for name in (count, "unended", ns)
        )
        inside = finished(columns["step_id"])
        self.step_ids = np.where(inside, columns["step_id"], 0).astype(np.int64)
        self.steps = with_most(subject.groups, self.step_ids, self.counts)
        named = [
            Named(str(name), str(kind) if by_kind else "", _TOOLS[str(source) if known else "no call"])
            for name, kind, source, known in zip(
                *(columns[c].tolist() for c in ("name", "kind", "source")), finished(columns["source"]).tolist(), strict=True
            )
        ]  # fmt: skip
        self.named = list(dict.fromkeys(named))
        place = {of: at for at, of in enumerate(self.named)}
        #: For each row, which of ``named`` it is, (n,).
        self.which = np.array([place[of] for of in named], dtype=np.int64)
        self.tools = {of.tool for of in named}

    def share(self) -> tuple[int, int]:
        """How many of all lie in those steps."""
        own = np.isin(self.step_ids, self.steps.ids)
        return int(self.counts[own].sum()), int(self.counts.sum())


def records(subjects: Sequence[Subject]) -> list[Measured]:
    """Device records and their time, by kind and name, in a mean step; of whole runs where a run's lie in no step."""
    found: list[Rows | Measured] = [_records_of(subject) for subject in subjects]
    blind = [s.desk.ask("sight", run_id=s.run_id)[0]["because"] for s in subjects]
    measured = _all(found, blind, [set()] * len(found), ("records", "device time", "device records"))
    return [_with_sight(subject, m) for subject, m in zip(subjects, measured, strict=True)]


def _with_sight(subject: Subject, found: Measured) -> Measured:
    """Beside every number that comes from device records stands what was seen."""
    seen = seen_of(subject.desk.ask("coverage", run_id=subject.run_id, order="direction,kind"))
    if not seen or found.lacks:
        return found
    numbers = {key: replace(number, seen=seen) for key, number in found.numbers.items()}
    return replace(found, numbers=numbers, seen=seen)


def _records_of(subject: Subject) -> Rows | Measured:
    if not subject.listed["intervals"]:
        return lacking("device records", "device")
    rows = Rows(subject, "step_record", "intervals", "sum_ns", by_kind=True)
    return (
        rows
        if rows.named
        else Measured(lacks="only spans between timing events, which are no records of what ran")
    )


def calls(subjects: Sequence[Subject]) -> list[Measured]:
    """Runtime calls and the host's time in them, by name, in a mean step; of whole runs where a run's lie in no step."""
    found: list[Rows | Measured] = [
        Rows(s, "step_call", "calls", "host_ns", by_kind=False)
        if s.listed["calls"]
        else lacking("runtime calls", "edge")
        for s in subjects
    ]
    blind = [s.desk.ask("call_sight", run_id=s.run_id)[0]["because"] for s in subjects]
    only_counted = [{r["name"] for r in s.desk.ask("call_counted", run_id=s.run_id)} for s in subjects]
    return _all(found, blind, only_counted, ("calls", "host time", "runtime calls"))


def _all(
    found: Sequence[Rows | Measured],
    blind: Sequence[str],
    only_counted: Sequence[set[str]],
    words: tuple[str, str, str],
) -> list[Measured]:
    every = [rows for rows in found if isinstance(rows, Rows)]
    a_step = all(len(rows.steps.ids) for rows in every)
    with_tool = len(set().union(*(rows.tools for rows in every))) > 1
    return [
        rows if isinstance(rows, Measured) else _measured(rows, a_step, with_tool, words, why, uncounted)
        for rows, why, uncounted in zip(found, blind, only_counted, strict=True)
    ]


def _measured(
    rows: Rows, a_step: bool, with_tool: bool, words: tuple[str, str, str], blind: str, only_counted: set[str]
) -> Measured:
    unit, time, what = words
    of_what = "a step" if a_step else "in the whole run"
    how_many, how_long = f"{unit} {of_what}", f"{time} {of_what}"
    own = np.isin(rows.step_ids, rows.steps.ids) if a_step else np.ones(len(rows.counts), dtype=bool)
    made = _a_step if a_step else _whole
    per_name = zip(
        rows.named,
        _sums_of(rows.which[own], np.ones(int(own.sum()), np.int64), len(rows.named)).tolist(),
        _sums_of(rows.which[own], rows.unended[own], len(rows.named)).tolist(),
        made(rows, rows.counts, own, unit),
        made(rows, rows.ns, own, "ns"),
        strict=True,
    )
    numbers: dict[Key, Estimate] = {}
    for named, here, unended, many, long in per_name:
        label = named.label(with_tool)
        if not here:
            # The run has it, outside these steps.
            many, long = counted(0, unit), counted(0, "ns")
        elif unended:
            long = unknown(f"{unended:,} of its {unit} have no end", "ns")
        numbers |= {(label, how_many): many, (label, how_long): long}

    def none(key: Key) -> Estimate:
        name, _, tool = key[0].rpartition(" · ") if with_tool else (key[0], "", "")
        why = blind
        if not why and name in only_counted:
            why = "its recorder counts it without its times"
        if not why and tool and tool not in rows.tools:
            why = f"nothing is recorded {tool} in this run"
        in_unit = "ns" if key[1] == how_long else unit
        return unknown(f"none seen, and {why}", in_unit) if why else counted(0, in_unit)

    inside, whole = rows.share()
    of = f"{inside:,} of {whole:,} {what} in {of_steps(rows.steps)}" if a_step else f"{whole:,} {what}"
    chosen = {
        named.label(with_tool): {"name": named.name, **({"kind": named.kind} if named.kind else {})}
        for named in rows.named
    }
    kind = rows.steps.kind if a_step else ""
    return Measured(numbers, none, blind=blind, of=of, steps=kind, chosen=chosen)


def _sums_of(which: np.ndarray[Any, Any], values: np.ndarray[Any, Any], names: int) -> np.ndarray[Any, Any]:
    """Sums of ``values`` (n,) by name, int64 (names,): a float would lose some of them."""
    sums = np.zeros(names, np.int64)
    np.add.at(sums, which, values)
    return sums


def _whole(rows: Rows, values: np.ndarray[Any, Any], own: np.ndarray[Any, Any], unit: str) -> list[Estimate]:
    """Of each name what is on record in the whole run."""
    sums = _sums_of(rows.which[own], values[own], len(rows.named)).tolist()
    counts = np.bincount(rows.which[own], minlength=len(rows.named)).tolist()
    return [_sum(ns, n) if unit == "ns" else counted(ns, unit) for ns, n in zip(sums, counts, strict=True)]


def _a_step(rows: Rows, values: np.ndarray[Any, Any], own: np.ndarray[Any, Any], unit: str) -> list[Estimate]:
    """Of each name the mean over steps of its sums inside them; many names at once, since each is a series of all steps."""
    order = np.argsort(rows.steps.ids)
    step = order[np.searchsorted(rows.steps.ids[order], rows.step_ids[own])]
    which, values = rows.which[own], values[own]
    by_name = np.argsort(which, kind="stable")
    which, step, values = which[by_name], step[by_name], values[by_name]
    steps, names = len(order), len(rows.named)
    at_once = max(1, _SUMS // steps)
    made: list[Estimate] = []
    for first in range(0, names, at_once):
        last = min(first + at_once, names)
        low, high = np.searchsorted(which, [first, last])
        sums = np.zeros((last - first, steps), np.int64)
        np.add.at(sums, (which[low:high] - first, step[low:high]), values[low:high])
        made += estimators.mean_rows(sums, unit=unit)
    return made


def _sum(ns: int, n: int) -> Estimate:
    why = "a sum of what is on record in one run"
    return Estimate(ns, None, None, n, "ns", "sum of durations", refusal=why)
