"""Any command as an experiment runs it: its wall clock, and its decode steps where it tells them to a probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput
from akvsite.experiments import _process
from akvsite.experiments._engine import COMMAND, STEP, agreement, alike
from akvsite.experiments._process import EDGE, FILES, OFF, RECORDED
from akvsite.experiments._recorded import CALLS, STEPS, count, decode_steps, recorded
from akvsite.experiments._runner import Plan, Result
from akvsite.experiments._shapes import facts, fault, natural, table_of, words
from akvsite.record import levels, program, stated
from akvsite.record.clean import Facts, clean
from akvsite.tables import LEVELS

_KEPT = table_of({"stated": facts, "facts": facts, "steps_made": natural}, {"output_hash": words})


class Command:
    """A command, which may know nothing of this. Of its arguments only their number is told, as a capture does."""

    WHAT = "a command"
    #: All the decode steps that there are.
    ITERATIONS = 0
    levels = LEVELS

    def __init__(self, command: Sequence[str], warm_up: int | None = None) -> None:
        """Raises ``BadInput`` where there is no such program."""
        self.command = tuple(command)
        self.warm_up = warm_up or 0
        self.program = program.find(command)
        self.ENGINE = clean(self.program.about)
        self.contract: Facts = {"command": self.ENGINE, "arguments": len(command) - 1}

    def python(self, environment: Mapping[str, str]) -> Path | None:
        return self.program.python

    def prepare(self, plan: Plan, environment: Mapping[str, str], at: Sequence[str]) -> dict[str, Any]:
        made: dict[str, Any] = {
            "wall_clock": "of the process, from its start to its end",
            "warm_up_steps": self.warm_up,
            "measured_steps": plan.iterations or None,
            "steps": "decode steps that the command told its counters at level off and the probe above it, where it did",
        }
        if list(at) == [OFF]:
            return made
        libraries = levels.shim_libraries("auto", environment) if EDGE in at else []
        return {
            **made,
            "device_looked_at_by": "the command itself: what it does where $AKV_LEVEL is device",
            "calls_looked_at_by": ", ".join(library.stem for library in libraries),
            "records_go_to": "files beside the journal, taken away after each run",
        }

    def run(self, level: str, plan: Plan, folder: Path, environment: Mapping[str, str]) -> Result:
        for name in (RECORDED, FILES):
            (folder / name).mkdir()
        preload = levels.shim_libraries("auto", environment) if level == EDGE else []
        inside = _process.environment_at(level, environment, folder, preload)
        ended = _process.run(
            self.command, inside, program=self.program.path, treatment=level, what="the command"
        )
        said = stated.take(folder / FILES)
        tables = {name: table for name, table in said.tables.items() if table}
        output = tables.get("contract", {}).get("output_hash")
        counts = recorded(folder / RECORDED)
        told: dict[str, Any] = dict(ended.told)
        if level != OFF:
            told["steps recorded by the probe"] = count(counts, STEPS)
        if level == EDGE:
            told["calls recorded"] = count(counts, CALLS)
        steps, made, why = self._steps(level, folder, plan.iterations)
        told["decode steps"] = why or made
        if output is not None:
            told["output"] = clean(str(output))[:23]
        if said.left_out:
            told["left out"] = "; ".join(said.left_out)
        return {
            "pid": ended.pid,
            "trials": [[COMMAND, 0, ended.duration_ns], *([STEP, n, ns] for n, ns in enumerate(steps))],
            "facts": told,
            "stated": tables,
            "steps_made": made,
            **({} if output is None else {"output_hash": str(output)}),
        }

    def unsound(self, shared: Mapping[str, Any], result: Result | None = None) -> str | None:
        if result is None:
            return None
        found = [(arm, number) for arm, number, _ in result["trials"]]
        if found != [(COMMAND, 0), *((STEP, n) for n in range(len(found) - 1))]:
            return "trials are not the command and its decode steps in their order"
        if not all(ns for _, _, ns in result["trials"]):
            return "a decode step or the whole command took no time at all"
        return fault(_KEPT, result, "the run")

    def together(self, results: Sequence[Result]) -> Facts:
        """What the command states of itself in all runs alike, and whether its output was the same."""
        hashes = [result["output_hash"] for result in results if "output_hash" in result]
        said = agreement("output", hashes) if hashes else "not stated by the command"
        if 0 < len(hashes) < len(results):
            said += f"; not stated in {len(results) - len(hashes)} more"
        made: dict[str, Any] = {
            "outputs": said,
            "steps_made": _step_counts([result["steps_made"] for result in results]),
            "engine": alike([result["stated"].get("engine", {}) for result in results]),
            "stated": alike([result["stated"].get("contract", {}) for result in results]),
        }
        return made

    def _steps(self, level: str, folder: Path, wanted: int) -> tuple[list[int], int, str]:
        """Decode steps after the declared warm-up, ns: ``wanted`` of them, or all; how many the command made; and why there
        are none where many processes told some.

        Raises ``BadInput`` where they are fewer than are asked for.
        """
        of_files = decode_steps(folder / (FILES if level == OFF else RECORDED))
        several = f"told by {len(of_files)} processes, and so not used" if len(of_files) > 1 else ""
        steps = of_files[0] if len(of_files) == 1 else []
        least = self.warm_up + (wanted or (1 if self.warm_up else 0))
        if len(steps) < least:
            raise BadInput(
                level, f"the command told {len(steps)} decode steps, and {self.warm_up} to be cut and"
                f" {wanted or 'some'} to be measured are needed" + (f": {several}" if several else ""),
            )  # fmt: skip
        return steps[self.warm_up :][: wanted or None], len(steps), several


def _step_counts(made: Sequence[int]) -> str:
    """How many decode steps the runs made, warm-up and all; words that begin with DIFFER where not all made as many."""
    if not any(made):
        return "not told by the command"
    if len(set(made)) == 1:
        return f"{made[0]} decode steps in each of {len(made)} runs"
    return f"DIFFER: from {min(made)} to {max(made)} decode steps in {len(made)} runs"
