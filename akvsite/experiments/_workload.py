"""What is run: the reference engine or any command, at a capture level, in a fresh process; and numbers made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from akvsite import estimators
from akvsite.errors import BadInput
from akvsite.estimate import Estimate
from akvsite.experiments._command import Command
from akvsite.experiments._engine import COMMAND, STEP, Engine
from akvsite.experiments._process import OFF
from akvsite.experiments._runner import Done, Plan, Result
from akvsite.record.clean import Facts

#: Statistics of a run, by what is timed, and in words.
STATISTICS: Mapping[str, tuple[estimators.Statistic, ...]] = {STEP: ("median", "mean"), COMMAND: ("median",)}
#: Steps that a run must have before an effect on them has a band: the wall clock of a command is one number a run.
FEWEST = {STEP: estimators.FEWEST_SAMPLES, COMMAND: 1}


class Workload(Protocol):
    """One of the two. Methods are those of an experiment; ``at`` and ``level`` are capture levels."""

    #: In words, for the contract.
    WHAT: str
    ENGINE: str
    ITERATIONS: int
    levels: tuple[str, ...]
    contract: Facts

    def python(self, environment: Mapping[str, str]) -> Path | None: ...

    def prepare(self, plan: Plan, environment: Mapping[str, str], at: Sequence[str]) -> dict[str, Any]: ...

    def run(self, level: str, plan: Plan, folder: Path, environment: Mapping[str, str]) -> Result: ...

    def unsound(self, shared: Mapping[str, Any], result: Result | None = None) -> str | None: ...

    def together(self, results: Sequence[Result]) -> Facts: ...


def of(plan: Plan, schedule: str | None = None) -> Workload:
    """What the plan asks for: a command where the first word behind ``--`` is no option, else the reference engine.

    ``schedule``: that of the engine, where its arguments name none. Raises ``BadInput``.
    """
    if not plan.arguments or plan.arguments[0].startswith("-"):
        return Engine.of(plan, schedule)
    if plan.device is not None:
        raise BadInput(
            "--device", "is for the reference engine: where a command computes, its own arguments say"
        )
    return Command(plan.arguments, plan.warm_up)


class OfWorkload:
    """The part of an experiment that is what it runs; ``at``: the levels at which it is run."""

    def __init__(self, workload: Workload, at: Sequence[str] = (OFF,)) -> None:
        self.workload = workload
        self.at = tuple(at)
        self.ENGINE = workload.ENGINE
        self.ITERATIONS = workload.ITERATIONS
        self.CONTRACT = workload.contract

    def python(self, environment: Mapping[str, str]) -> Path | None:
        return self.workload.python(environment)

    def prepare(self, plan: Plan, environment: Mapping[str, str]) -> dict[str, Any]:
        return self.workload.prepare(plan, environment, self.at)

    def unsound(self, shared: Mapping[str, Any], result: Result | None = None) -> str | None:
        return self.workload.unsound(shared, result)

    def together(self, results: Sequence[Result]) -> Facts:
        return self.workload.together(results)


def timed(done: Done) -> Iterator[tuple[str, list[estimators.LevelRun]]]:
    """What was timed in every run, and the runs in their order."""
    blocks = [number for number, block in enumerate(done.blocks) for _ in block]
    for arm in (STEP, COMMAND):
        runs = [
            estimators.LevelRun(
                result["treatment"], block, len(times), float(np.median(times)), float(np.mean(times))
            )
            for result, block in zip(done.results, blocks, strict=True)
            if len(times := np.array([ns for of_arm, _, ns in result["trials"] if of_arm == arm]))
        ]
        if len(runs) == len(done.results):
            yield arm, runs


def effects(done: Done, plain: str, treatments: Sequence[str]) -> dict[str, Estimate]:
    """Each treatment over its runs, and what it adds to ``plain``, over pairs of one block; by name."""
    made: dict[str, Estimate] = {}
    for arm, runs in timed(done):
        for statistic in STATISTICS[arm]:
            what = f"{statistic} decode step" if arm == STEP else "wall clock of the command"
            for treatment in (plain, *treatments):
                made[f"{what}, {treatment}"] = estimators.step_at_level(runs, treatment, statistic)
            for treatment in treatments:
                made[f"effect on the {what}, {treatment}"] = estimators.effect_of_looking(
                    runs, plain, treatment, statistic, fewest=FEWEST[arm]
                )
    return made
