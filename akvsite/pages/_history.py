"""A second band for a run's numbers: by the history that a person named, where its runs are like this one."""

from __future__ import annotations

import numpy as np

from akvsite import estimators
from akvsite.estimate import Estimate
from akvsite.pages._run import Run, finished, numbers_of, step_groups

Numbers = list[tuple[str, Estimate]]


def by_history(run: Run, label: str, numbers: Numbers) -> tuple[Numbers, str]:
    """The numbers of the steps called ``label``, each with its second band, and what is said of it.

    Where one of the named runs is unlike this one, or has no such steps, there is no second band, and that is said:
    leaving it out would choose the history from what is in it. Without a named history nothing is added or said.
    """
    rows = run.desk.ask("history_of", run_id=run.id, order="place")
    if not rows:
        return numbers, ""
    name = rows[0]["history"]
    for row in rows:
        if row["unlike"] is not None:
            return (
                numbers,
                f"no band by history {name}: {row['other']} is unlike this run, or absent: {row['unlike']}",
            )
    others: dict[str, dict[str, Estimate]] = {}
    for row in rows:
        found = _numbers(run, row["other_id"], label)
        if found is None:
            return numbers, f"no band by history {name}: {row['other']} has no {label} after the cut"
        others[row["other"]] = found
    banded = [
        (
            statistic,
            estimators.with_history(
                number, {other: own[statistic] for other, own in others.items()}, run=run.name
            ),
        )
        for statistic, number in numbers
    ]
    named = ", ".join(others)
    return (
        banded,
        f"band by history {name}: {len(others)} other runs of the same host, level and contract ({named})",
    )


def _numbers(run: Run, other_id: int, label: str) -> dict[str, Estimate] | None:
    steps = step_groups(run.desk, other_id, warm_up=0)
    for found, mask in steps.groups:
        if found == label:
            durations = steps.columns["duration_ns"][mask]
            return dict(numbers_of(durations[finished(durations)].astype(np.int64)))
    return None
