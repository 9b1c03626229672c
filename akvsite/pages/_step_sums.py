"""Sums inside each step of a run: of which steps, and how rows become a series with one value a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from akvsite.pages._run import StepGroups, finished
from akvsite.wording import number_of

Columns = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Steps:
    """Finished steps of one kind, source and process: ``ids`` and ``durations`` in ns, int64 (n,) each."""

    ids: np.ndarray[Any, Any]
    durations: np.ndarray[Any, Any]
    label: str
    #: Groups of steps that are left out, since steps of several processes, kinds or sources do not stand in one number.
    others: int

    @property
    def kind(self) -> str:
        return self.label.partition(" steps")[0]

    @property
    def which(self) -> str:
        """Which steps a number is of, for a printed line."""
        if self.others:
            return f"{self.label} only: {number_of(self.others, 'other group')} of steps not in this chart"
        return self.label


NO_STEPS = Steps(np.empty(0, np.int64), np.empty(0, np.int64), "", 0)


def largest(groups: StepGroups) -> Steps:
    """The group with most steps."""
    taken = groups.largest()
    return NO_STEPS if taken is None else _of(groups, *taken)


def with_most(groups: StepGroups, step_ids: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> Steps:
    """The group in whose steps most lies: ``counts`` (m,) in the steps ``step_ids`` (m,). None where nothing lies in a step.

    Engine and profiler may draw the same iteration: calls and device records lie in the profiler's steps, which are few.
    """
    rows = [
        (int(counts[np.isin(step_ids, groups.columns["step_id"][mask])].sum()), label, mask)
        for label, mask in groups.groups
    ]
    most, label, mask = max(rows, key=lambda row: row[0], default=(0, "", None))
    if not most or mask is None:
        return NO_STEPS
    return _of(groups, label, mask & finished(groups.columns["duration_ns"]))


def _of(groups: StepGroups, label: str, mask: np.ndarray[Any, Any]) -> Steps:
    ids, durations = (groups.columns[name][mask].astype(np.int64) for name in ("step_id", "duration_ns"))
    return Steps(ids, durations, label, len(groups.groups) - 1)


def per_step(
    steps: np.ndarray[Any, Any], of: np.ndarray[Any, Any], values: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Sums of ``values`` (m,) inside each of ``steps`` (n,), int64 (n,); ``of`` (m,) are the steps of the values.

    0 where a step has none: no time was spent there.
    """
    order = np.argsort(steps)
    sums = np.zeros(len(steps), dtype=np.int64)
    if not len(steps):
        return sums
    place = np.searchsorted(steps[order], of)
    inside = (place < len(steps)) & (steps[order][np.minimum(place, len(steps) - 1)] == of)
    np.add.at(sums, order[place[inside]], values[inside].astype(np.int64))
    return sums


def grouped_places(which: np.ndarray[Any, Any]) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    """Each value of ``which`` (n,) once, in rising order, with the places where it stands."""
    order = np.argsort(which, kind="stable")
    found, starts = np.unique(which[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)


def by_name(names: np.ndarray[Any, Any]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Each name (m,) once, sorted, with the places where it stands."""
    if not len(names):
        return
    found, inverse = np.unique(names.astype(str), return_inverse=True)
    for which, places in grouped_places(inverse):
        yield str(found[which]), places
