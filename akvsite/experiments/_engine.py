"""The reference engine as an experiment runs it: its own times of its steps, and its command as a whole."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput
from akvsite.experiments import _process, _sycl
from akvsite.experiments._process import EDGE, FILES, OFF, RECORDED
from akvsite.experiments._recorded import CALLS, STEPS, STRETCHES, count, recorded
from akvsite.experiments._runner import Plan, Result
from akvsite.experiments._shapes import facts, fault, list_of, maybe, natural, row_of, table_of, whole, words
from akvsite.record import levels, reference
from akvsite.record.clean import Facts
from akvsite.tables import LEVELS

DEVICE = LEVELS[3]
#: What is timed of a run: each decode step, and the process from its start to its end.
STEP, COMMAND = "decode step", "command"
#: Decode steps at the start of each run that no number uses, where the plan names no other number.
WARM_UP = 100
MOST_SECONDS = 900
_RESULT = "result.json"
#: What the engine says where a SYCL device could not be made.
_NO_DEVICE = "could not be"
#: How the engine looks at the device at that level, by backend; the options that make it; and in words.
_RECORDS = {"torch": "profiler", "sycl": "events"}
_OPTIONS = {
    "profiler": ("--device-records", "profiler", "--profile-steps", "0:999999999", "--no-profile-file"),
    "events": ("--device-records", "events"),
}
_WORDS = {
    "profiler": "torch's profiler, on in every step, its records kept in memory and written nowhere",
    "events": "timing events on every queue",
}
#: Options that are the experiment's to give.
_OWN = ("--result", "--device-records", "--profile-steps", "--no-profile-file", "--memory-snapshot")
#: Where it computes, in the experiment's words and in the engine's.
_DEVICES = {
    "cuda": ("--backend", "torch", "--device", "cuda"),
    "xpu": ("--backend", "torch", "--device", "xpu"),
    "cpu": ("--backend", "torch", "--device", "cpu"),
    "sycl": ("--backend", "sycl"),
}
_ROOT = Path(__file__).resolve().parents[2]


#: What the engine writes: each step its number, kind, batch, start and end on the host's clock.
_MADE = table_of(
    {
        "pid": natural,
        "tokens_sha256": words,
        "steps": list_of(row_of(whole, words, maybe(whole), natural, natural)),
    },
    {"facts": facts, "preempted": natural},
)
#: What is kept of a run beside what every experiment keeps.
_KEPT = table_of({"tokens_sha256": words, "engine": facts, "facts": facts})


class Engine:
    """The reference engine with its own ``arguments``."""

    WHAT = "decode steps of the reference engine"
    ENGINE = reference.ENGINE
    ITERATIONS = 1_000

    def __init__(self, arguments: Sequence[str] = (), warm_up: int | None = None) -> None:
        self.arguments = tuple(arguments)
        self.warm_up = WARM_UP if warm_up is None else warm_up
        asked = reference.workload(arguments)
        self.backend, self.device = asked["backend"], asked["device"]
        #: Who looks at the device at level device, in the engine's word.
        self.records = _RECORDS.get(self.backend, "none")
        #: The runtime whose calls level edge records; None where the engine uses none that is known.
        self.runtime = "ur" if self.backend == "sycl" or self.device.startswith("xpu") else None
        if self.device.startswith("cuda"):
            self.runtime = "cudart"
        self.levels = LEVELS if self.runtime else LEVELS[:-1]
        self.contract: Facts = {"engine": asked}

    @classmethod
    def of(cls, plan: Plan, schedule: str | None = None) -> Engine:
        """As the plan asks for it; with this ``schedule`` where its arguments name none. Raises ``BadInput``."""
        options = [word.partition("=")[0] for word in plan.arguments]
        for word in options:
            if word in _OWN:
                raise BadInput(word, "is given by the experiment")
        where: tuple[str, ...] = ()
        if plan.device is not None:
            if plan.device not in _DEVICES:
                raise BadInput("--device", f"is {plan.device!r}; one of {', '.join(_DEVICES)}")
            if twice := {"--backend", "--device"}.intersection(options):
                raise BadInput(min(twice), "is given behind `--`, and --device says it too: give one of them")
            where = _DEVICES[plan.device]
        added = ("--schedule", schedule) if schedule and "--schedule" not in options else ()
        return cls((*where, *plan.arguments, *added), plan.warm_up)

    def python(self, environment: Mapping[str, str]) -> Path:
        return _sycl.find_python(environment) if self.backend == "sycl" else Path(sys.executable)

    def prepare(self, plan: Plan, environment: Mapping[str, str], at: Sequence[str]) -> dict[str, Any]:
        self.python(environment)
        made: dict[str, Any] = {
            "warm_up_steps": self.warm_up,
            "measured_steps": plan.iterations,
            "steps": f"the engine's own times of decode steps, in their order, after the first {self.warm_up}",
        }
        if list(at) == [OFF]:
            return made
        if self.runtime and EDGE in at:
            levels.shim_libraries(self.runtime, environment)
        return {
            **made,
            "device_records": self.records,
            "device_looked_at_by": _WORDS.get(self.records, "nothing more than at level host"),
            "calls_looked_at_by": f"libakv_{self.runtime}" if self.runtime else "nothing: no known runtime",
            "records_go_to": "files beside the journal, taken away after each run",
        }

    def run(self, level: str, plan: Plan, folder: Path, environment: Mapping[str, str]) -> Result:
        for name in (RECORDED, FILES):
            (folder / name).mkdir()
        ended = self._process(level, folder, environment)
        made = _process.result(folder / _RESULT, _MADE, reference.MODULE)
        trials = [[COMMAND, 0, ended.duration_ns], *self._steps(level, made["steps"], plan.iterations)]
        told: dict[str, Any] = dict(ended.told)
        told |= self._in_effect(level, made, recorded(folder / RECORDED))
        told |= {"preempted": made.get("preempted"), "tokens": made["tokens_sha256"][:16]}
        told["schedule"] = _digest([[kind, batch] for _, kind, batch, _, _ in made["steps"]])
        return {
            "pid": made["pid"],
            "trials": trials,
            "facts": {key: value for key, value in told.items() if value is not None},
            "tokens_sha256": made["tokens_sha256"],
            "engine": made.get("facts", {}),
        }

    def unsound(self, shared: Mapping[str, Any], result: Result | None = None) -> str | None:
        wanted = shared.get("measured_steps")
        if type(wanted) is not int or wanted < 1:
            return f"measured_steps is {wanted!r}, not a number of steps"
        if result is None:
            return None
        found = [(arm, number) for arm, number, _ in result["trials"]]
        if found != [(COMMAND, 0), *((STEP, n) for n in range(wanted))]:
            return f"trials are not the command and {wanted} decode steps in their order"
        if not all(ns for _, _, ns in result["trials"]):
            return "a decode step or the whole command took no time at all"
        return fault(_KEPT, result, "the run")

    def together(self, results: Sequence[Result]) -> Facts:
        """What the engine says of itself in all runs alike, and whether all did the same work."""
        made: dict[str, Any] = {
            "outputs": agreement("tokens", [r["tokens_sha256"] for r in results]),
            "schedule": agreement("batches", [str(r["facts"].get("schedule")) for r in results]),
            "engine": alike([result.get("engine", {}) for result in results]),
        }
        if len({r["tokens_sha256"] for r in results}) == 1:
            made["tokens_sha256"] = results[0]["tokens_sha256"]
        return made

    def _process(self, level: str, folder: Path, environment: Mapping[str, str]) -> _process.Ended:
        python = self.python(environment)
        looked = _OPTIONS.get(self.records, ()) if level == DEVICE else ()
        command: list[str | Path] = [
            python, "-m", reference.MODULE, *self.arguments, *looked, "--result", folder / _RESULT,
        ]  # fmt: skip
        return _process.run(
            command,
            self._environment(level, python, folder, environment),
            treatment=level,
            what="the engine",
            most_seconds=MOST_SECONDS,
            again=lambda ended: self.backend == "sycl" and _NO_DEVICE in ended.said,
        )

    def _environment(
        self, level: str, python: Path, folder: Path, environment: Mapping[str, str]
    ) -> dict[str, str]:
        """Nothing of a tracer from outside, then what this level needs, as a capture gives it."""
        preload = levels.shim_libraries(self.runtime, environment) if level == EDGE and self.runtime else []
        made = _process.environment_at(level, environment, folder, preload, without=("LD_PRELOAD",))
        made["PYTHONPATH"] = ":".join(filter(None, (str(_ROOT), made.get("PYTHONPATH"))))
        return _sycl.with_runtime(made, python) if self.backend == "sycl" else made

    def _steps(self, level: str, steps: Sequence[Sequence[Any]], wanted: int) -> list[list[Any]]:
        """The decode steps after the cut, in their order: the first ``wanted`` of them, the same number in each run."""
        decode = [end - start for _, kind, _, start, end in steps if kind == "decode"]
        cut = self.warm_up
        if len(decode) < cut + wanted:
            raise BadInput(
                level,
                f"the engine made {len(decode)} decode steps, and {cut} to be cut and {wanted} to be measured are needed:"
                " ask it for more requests or longer outputs",
            )
        return [[STEP, number, ns] for number, ns in enumerate(decode[cut : cut + wanted])]

    def _in_effect(self, level: str, made: Mapping[str, Any], counts: Mapping[int, int]) -> dict[str, int]:
        """What was recorded at this level, counted. Raises ``BadInput`` where that is less than there was."""
        steps = len(made["steps"])
        wanted: dict[str, tuple[int, int]] = {}
        if level != OFF:
            wanted["steps recorded by the probe"] = count(counts, STEPS), steps
        if level == DEVICE and self.records == "profiler":
            said = str(made.get("facts", {}).get("profiler.steps", ""))
            wanted["steps profiled"] = (int(said) if said.isdecimal() else 0), steps
        if level == DEVICE and self.records == "events":
            wanted["stretches between device events"] = count(counts, STRETCHES), 1
        if level == EDGE:
            wanted["calls recorded"] = count(counts, CALLS), 1
        for what, (number, least) in wanted.items():
            if number < least:
                raise BadInput(level, f"is not in effect: {what}: {number}, of {steps} steps that were made")
        return {what: number for what, (number, _) in wanted.items()}


def agreement(what: str, values: Sequence[str]) -> str:
    """Whether all runs agree, in words that begin with DIFFER where they do not."""
    kinds = len(set(values))
    if kinds == 1:
        return f"the same {what} in all {len(values)} runs"
    return f"DIFFER: {kinds} different sequences of {what} in {len(values)} runs"


def alike(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all tables say alike."""
    return {k: v for k, v in tables[0].items() if all(table.get(k) == v for table in tables)}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
