"""The same thing twice: by how much it differs from itself on this host. Nothing looks on, so it may serve as a control.

Both treatments are one and the same run, at level off; what their pairs differ by is what this host adds by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from akvsite import estimators
from akvsite.estimate import Estimate
from akvsite.experiments import _workload
from akvsite.experiments._engine import Engine
from akvsite.experiments._process import OFF
from akvsite.experiments._runner import Done, Plan, Result
from akvsite.experiments._workload import OfWorkload, Workload

A, AGAIN = "A", "A again"
#: The engine's: with requests that arrive at fixed steps, two runs do the same work.
_SCHEDULE = "fixed"


class Twice(OfWorkload):
    NAME = "aa"
    LEVEL = OFF
    TREATMENTS = (A, AGAIN)

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        self.ABOUT = f"{workload.WHAT}: the same twice"

    def of(self, plan: Plan) -> Twice:
        return Twice(_workload.of(plan, _SCHEDULE))

    def run(
        self,
        treatment: str,
        plan: Plan,
        folder: Path,
        shared: Mapping[str, Any],
        environment: Mapping[str, str],
    ) -> Result:
        return self.workload.run(OFF, plan, folder, environment)

    def numbers(self, done: Done) -> dict[str, Estimate]:
        """Each of the two over its runs, by how much they differ over pairs, and what a single pair differed by."""
        made = _workload.effects(done, A, (AGAIN,))
        one = {
            key.replace("effect on", "a single pair,").removesuffix(f", {AGAIN}"): estimators.one_pair(number)
            for key, number in made.items()
            if key.startswith("effect on")
        }
        return made | one


EXPERIMENT = Twice(Engine(("--schedule", _SCHEDULE)))
