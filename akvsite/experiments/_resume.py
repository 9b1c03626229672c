"""The plan of an experiment: made once, and found again by the call that goes on with it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from akvsite.errors import BadInput
from akvsite.experiments import _design
from akvsite.experiments._journal import Journal, Planned, hashed

if TYPE_CHECKING:
    from akvsite.experiments._runner import Experiment, Plan


def planned(experiment: Experiment, plan: Plan, journal: Journal, environment: Mapping[str, str]) -> Planned:
    """The plan in the journal; made there first where there is none.

    Raises ``BadInput`` where it is another one or damaged.
    """
    maybe = {"device": plan.device, "warm_up": plan.warm_up, "host": plan.host, "role": plan.role}
    found = journal.plan
    if found is None:
        shared = experiment.prepare(plan, environment)
        seed = plan.seed if plan.seed is not None else int.from_bytes(os.urandom(4), "big")
        order = _design.order(experiment.TREATMENTS, plan.blocks, seed)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        salt = secrets.token_hex(16)
        found = Planned(
            experiment=experiment.NAME, blocks=plan.blocks, iterations=plan.iterations,
            seed=seed, order=order, started=started, shared=shared, salt=salt, arguments=hashed(plan.arguments, salt),
            device=plan.device, warm_up=plan.warm_up, host=plan.host, role=plan.role,
        )  # fmt: skip
        journal.begin(found)
        return found
    asked = {"experiment": experiment.NAME, "blocks": plan.blocks, "iterations": plan.iterations, **maybe}
    for key, value in (asked if plan.seed is None else {**asked, "seed": plan.seed}).items():
        if (begun := found.get(key)) != value:
            raise _otherwise(journal, f"{key} {'none' if begun is None else begun}")
    _check_arguments(journal, found, plan.arguments)
    if found["order"] != _design.order(experiment.TREATMENTS, plan.blocks, found["seed"]):
        raise journal.damaged("its order is not the one that its seed makes")
    try:
        datetime.fromisoformat(found["started"])
    except ValueError:
        raise journal.damaged(f"started is {found['started']!r}, not a date of ISO 8601") from None
    if why := experiment.unsound(found["shared"]):
        raise journal.damaged(why)
    return found


def _check_arguments(journal: Journal, planned: Planned, arguments: Sequence[str]) -> None:
    """Raises ``BadInput`` where they are not those of the plan; of those no more is known than their hashes."""
    begun, asked = planned["arguments"], hashed(arguments, planned["salt"])
    if len(begun) != len(asked):
        raise _otherwise(journal, f"{len(begun)} arguments behind `--` instead of {len(asked)}")
    for number, (old, new) in enumerate(zip(begun, asked, strict=True)):
        if old != new:
            # An option's own name is no secret; its value may be one.
            near = next((w for w in reversed(arguments[: number + 1]) if w.startswith("-")), None)
            at = f" (near {near.partition('=')[0]})" if near else ""
            raise _otherwise(journal, f"arguments of which number {number + 1}{at} was another")


def _otherwise(journal: Journal, what: str) -> BadInput:
    return BadInput(
        journal.folder,
        f"an experiment with {what} was begun here; go on with that, move the folder away, or give another --name",
    )


def check_runs(
    experiment: Experiment, journal: Journal, runs: Sequence[str], shared: Mapping[str, Any]
) -> None:
    """Raises ``BadInput`` where a run of the journal is none of the plan's, or no numbers can be made of it."""
    for number, result in journal.runs.items():
        line = journal.lines[number]
        if number >= len(runs):
            raise journal.damaged(f"run {number} is none of the {len(runs)} that were planned", line)
        if result["treatment"] != runs[number]:
            raise journal.damaged(
                f"run {number} is of {result['treatment']!r}, and {runs[number]!r} was planned", line
            )
        if why := experiment.unsound(shared, result):
            raise journal.damaged(why, line)
