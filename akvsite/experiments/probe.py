"""What looking on costs an engine: the reference engine run at every capture level, in blocks, a fresh process each.

The engine keeps the times of its steps at every level alike; those times are the trials. The effect of a level is that
of a pair: a run at the level, and one at level off of the same block.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.errors import BadInput, visible
from akvsite.estimate import Estimate
from akvsite.experiments import _sycl
from akvsite.experiments._runner import Done, Plan, Result
from akvsite.experiments._shapes import Check, facts, list_of, natural, row_of, table_of, whole, words
from akvsite.record import levels, reference, software
from akvsite.record.clean import Facts
from akvsite.tables import LEVELS

OFF, DEVICE, EDGE = LEVELS[0], LEVELS[3], LEVELS[-1]
ARM = "decode step"
#: In a run's folder: the engine's result, what recorders write, and what the engine leaves, as in a capture.
_RESULT, _RECORDED, _FILES = "result.json", "records", "files"
_STATISTICS: tuple[estimators.Statistic, ...] = ("median", "mean")
#: Decode steps at the start of each run that no number uses.
WARM_UP = 100
MOST_SECONDS = 900
#: Another process, where a SYCL device could not be made: it fails now and then on a busy host.
TRIES = 8
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
_ROOT = Path(__file__).resolve().parents[2]
#: Kinds of records of an akvlog file (``shim/AKVLOG.md``): calls, the probe's steps, stretches between device events.
_CALLS, _STEPS, _STRETCHES = (1, 2), (16,), (23,)


def _maybe(check: Check) -> Check:
    return lambda value, place: None if value is None else check(value, place)


#: What the engine writes: each step its number, kind, batch, start and end on the host's clock.
_MADE = table_of(
    {
        "pid": natural,
        "tokens_sha256": words,
        "steps": list_of(row_of(whole, words, _maybe(whole), natural, natural)),
    },
    {"facts": facts, "preempted": natural},
)
#: What is kept of a run beside what every experiment keeps.
_KEPT = table_of({"tokens_sha256": words, "engine": facts, "facts": facts})


class Probe:
    NAME = "probe"
    ABOUT = "decode steps of the reference engine: what each capture level adds"
    ENGINE = reference.ENGINE
    ITERATIONS = 1_000

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self.arguments = tuple(arguments)
        asked = reference.workload(arguments)
        self.backend, self.device = asked["backend"], asked["device"]
        #: Who looks at the device at level device, in the engine's word.
        self.records = _RECORDS.get(self.backend, "none")
        #: The runtime whose calls level edge records; None where the engine uses none that is known.
        self.runtime = "ur" if self.backend == "sycl" or self.device.startswith("xpu") else None
        if self.device.startswith("cuda"):
            self.runtime = "cudart"
        self.TREATMENTS = LEVELS if self.runtime else LEVELS[:-1]
        self.LEVEL = self.TREATMENTS[-1]
        self.CONTRACT: Facts = {"engine": asked}

    def of(self, plan: Plan) -> Probe:
        made = Probe(plan.arguments)
        for word in plan.arguments:
            if word.partition("=")[0] in _OWN:
                raise BadInput(word, "is given by the experiment")
        return made

    def python(self, environment: Mapping[str, str]) -> Path:
        return _sycl.find_python(environment) if self.backend == "sycl" else Path(sys.executable)

    def prepare(self, plan: Plan, environment: Mapping[str, str]) -> dict[str, Any]:
        self.python(environment)
        if self.runtime:
            levels.shim_libraries(self.runtime, environment)
        return {
            "warm_up_steps": WARM_UP,
            "measured_steps": plan.iterations,
            "steps": f"the engine's own times of decode steps, in their order, after the first {WARM_UP}",
            "device_records": self.records,
            "device_looked_at_by": _WORDS.get(self.records, "nothing more than at level host"),
            "calls_looked_at_by": f"libakv_{self.runtime}" if self.runtime else "nothing: no known runtime",
            "records_go_to": "files beside the journal, taken away after each run",
        }

    def run(
        self,
        treatment: str,
        plan: Plan,
        folder: Path,
        shared: Mapping[str, Any],
        environment: Mapping[str, str],
    ) -> Result:
        for name in (_RECORDED, _FILES):
            (folder / name).mkdir()
        again = self._engine(treatment, folder, environment)
        made = _read(folder / _RESULT)
        trials = _trials(treatment, made["steps"], plan.iterations)
        counts = _recorded(folder / _RECORDED)
        told: dict[str, Any] = {"device made again": again} if again else {}
        wanted: dict[str, tuple[int, int]] = {}
        if treatment != OFF:
            wanted["steps recorded by the probe"] = _count(counts, _STEPS), len(made["steps"])
        if treatment == DEVICE and self.records == "profiler":
            steps = str(made.get("facts", {}).get("profiler.steps", ""))
            wanted["steps profiled"] = (int(steps) if steps.isdecimal() else 0), len(made["steps"])
        if treatment == DEVICE and self.records == "events":
            wanted["stretches between device events"] = _count(counts, _STRETCHES), 1
        if treatment == EDGE:
            wanted["calls recorded"] = _count(counts, _CALLS), 1
        for what, (number, least) in wanted.items():
            if number < least:
                raise BadInput(
                    treatment,
                    f"is not in effect: {what}: {number}, of {len(made['steps'])} steps that were made",
                )
            told[what] = number
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
        if [(arm, number) for arm, number, _ in result["trials"]] != [(ARM, n) for n in range(wanted)]:
            return f"trials are not {wanted} decode steps in their order"
        if not all(ns for _, _, ns in result["trials"]):
            return "a decode step took no time at all"
        try:
            _KEPT(result, "the run")
        except ValueError as error:
            return str(error)
        return None

    def together(self, results: Sequence[Result]) -> Facts:
        """What the engine says of itself in all runs alike, and whether all did the same work."""
        engines = [result.get("engine", {}) for result in results]
        alike = {k: v for k, v in engines[0].items() if all(e.get(k) == v for e in engines)}
        made: dict[str, Any] = {
            "outputs": _agreement("tokens", [r["tokens_sha256"] for r in results]),
            "schedule": _agreement("batches", [str(r["facts"].get("schedule")) for r in results]),
            "engine": alike,
        }
        if len({r["tokens_sha256"] for r in results}) == 1:
            made["tokens_sha256"] = results[0]["tokens_sha256"]
        return made

    def numbers(self, done: Done) -> dict[str, Estimate]:
        """Median and mean step at each level over runs, and what the level adds, over pairs of one block."""
        blocks = [number for number, block in enumerate(done.blocks) for _ in block]
        runs = [_level_run(result, block) for result, block in zip(done.results, blocks, strict=True)]
        made: dict[str, Estimate] = {}
        for statistic in _STATISTICS:
            for level in self.TREATMENTS:
                made[f"{statistic} decode step, {level}"] = estimators.step_at_level(runs, level, statistic)
            for level in self.TREATMENTS[1:]:
                made[f"effect on the {statistic} decode step, {level}"] = estimators.effect_of_looking(
                    runs, OFF, level, statistic
                )
        return made

    def _engine(self, treatment: str, folder: Path, environment: Mapping[str, str]) -> int:
        """One process of the engine; how often it was begun again."""
        python = self.python(environment)
        inside = self._environment(treatment, python, folder, environment)
        looked = _OPTIONS.get(self.records, ()) if treatment == DEVICE else ()
        command: list[str | Path] = [
            python,
            "-m",
            reference.MODULE,
            *self.arguments,
            *looked,
            "--result",
            folder / _RESULT,
        ]
        for again in range(TRIES):
            try:
                done = subprocess.run(
                    command, env=inside, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, timeout=MOST_SECONDS, check=False,
                )  # fmt: skip
            except OSError as error:
                raise BadInput(python, f"cannot be run: {error.strerror}") from error
            except subprocess.TimeoutExpired:
                raise BadInput(treatment, f"the engine took longer than {MOST_SECONDS} s") from None
            if done.returncode == 0:
                return again
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["and says nothing"]
            if self.backend != "sycl" or _NO_DEVICE not in said[-1]:
                break
        raise BadInput(treatment, f"the engine ended with {done.returncode}: {visible(said[-1])}")

    def _environment(
        self, treatment: str, python: Path, folder: Path, environment: Mapping[str, str]
    ) -> dict[str, str]:
        """Nothing of a tracer from outside, then what this level needs, as a capture gives it."""
        looking = (*software.looking(environment), "LD_PRELOAD")
        plain = {name: value for name, value in environment.items() if name not in looking}
        preload = (
            levels.shim_libraries(self.runtime, environment) if treatment == EDGE and self.runtime else []
        )
        made = levels.environment_for(
            treatment,
            plain,
            folder=None if treatment == OFF else folder / _RECORDED,
            timing="asis",
            preload=preload,
            files=folder / _FILES,
        )
        made["PYTHONPATH"] = ":".join(filter(None, (str(_ROOT), made.get("PYTHONPATH"))))
        return _sycl.with_runtime(made, python) if self.backend == "sycl" else made


EXPERIMENT = Probe()


def _level_run(result: Result, block: int) -> estimators.LevelRun:
    steps = np.array([ns for _, _, ns in result["trials"]])
    return estimators.LevelRun(
        result["treatment"], block, len(steps), float(np.median(steps)), float(np.mean(steps))
    )


def _read(path: Path) -> dict[str, Any]:
    """What the engine wrote. Raises ``BadInput`` where that is nothing, or nothing of its own."""
    try:
        made: dict[str, Any] = json.loads(path.read_bytes())
        _MADE(made, "the result")
        return made
    except FileNotFoundError:
        raise BadInput(reference.MODULE, "wrote no result, and yet ended with 0") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(reference.MODULE, f"wrote no sound result: {visible(error)}") from error


def _trials(treatment: str, steps: Sequence[Sequence[Any]], wanted: int) -> list[list[Any]]:
    """The decode steps after the cut, in their order: the first ``wanted`` of them, the same number in each run."""
    decode = [end - start for _, kind, _, start, end in steps if kind == "decode"]
    if len(decode) < WARM_UP + wanted:
        raise BadInput(
            treatment,
            f"the engine made {len(decode)} decode steps, and {WARM_UP} to be cut and {wanted} to be measured are needed:"
            " ask it for more requests or longer outputs",
        )
    return [[ARM, number, ns] for number, ns in enumerate(decode[WARM_UP : WARM_UP + wanted])]


def _recorded(folder: Path) -> dict[int, int]:
    """Records of all processes by their kind, counted."""
    from akvsite import scan

    counts: dict[int, int] = {}
    for path in folder.glob("*.akvlog"):
        with scan.open_log(path) as log:
            for kind, count in log.tally().present.items():
                counts[kind] = counts.get(kind, 0) + count
    return counts


def _count(counts: Mapping[int, int], kinds: Sequence[int]) -> int:
    return sum(counts.get(kind, 0) for kind in kinds)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def _agreement(what: str, values: Sequence[str]) -> str:
    kinds = len(set(values))
    if kinds == 1:
        return f"the same {what} in all {len(values)} runs"
    return f"DIFFER: {kinds} different sequences of {what} in {len(values)} runs"
