"""What looking on costs: the reference engine or any command at every capture level, in blocks, a fresh process each.

The engine keeps the times of its steps at every level alike; those times are the trials, beside the wall clock of the
whole process. The effect of a level is that of a pair: a run at the level, and one at level off of the same block.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from akvsite.estimate import Estimate
from akvsite.experiments import _workload
from akvsite.experiments._engine import Engine
from akvsite.experiments._process import OFF
from akvsite.experiments._runner import Done, Plan, Result
from akvsite.experiments._workload import OfWorkload, Workload


class Probe(OfWorkload):
    NAME = "probe"

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload, workload.levels)
        self.TREATMENTS = workload.levels
        self.LEVEL = self.TREATMENTS[-1]
        self.ABOUT = f"{workload.WHAT}: what each capture level adds"

    def of(self, plan: Plan) -> Probe:
        return Probe(_workload.of(plan))

    def run(
        self,
        treatment: str,
        plan: Plan,
        folder: Path,
        shared: Mapping[str, Any],
        environment: Mapping[str, str],
    ) -> Result:
        return self.workload.run(treatment, plan, folder, environment)

    def numbers(self, done: Done) -> dict[str, Estimate]:
        """Median and mean step and wall clock at each level over runs, and what the level adds, over pairs of one block."""
        return _workload.effects(done, OFF, self.TREATMENTS[1:])


EXPERIMENT = Probe(Engine())
