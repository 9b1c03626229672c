"""What looking on costs: one micro-loop run plain, under the shim, under the vendor's tracing, and with its text trace.

The loop is small on purpose, so that the time and the memory that a tracer adds to each call stand out. It says
nothing about the speed of any engine.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from akvsite import estimators
from akvsite.errors import BadInput, visible
from akvsite.estimate import Estimate
from akvsite.experiments import _process, _sycl
from akvsite.experiments._journal import MEASURED, MEASURED_TOO
from akvsite.experiments._recorded import CALLS, count, recorded
from akvsite.experiments._runner import Done, Plan, Result
from akvsite.experiments._shapes import list_of, table_of, words
from akvsite.record import levels, software
from akvsite.record.clean import Facts

NOTHING, SHIM, VENDOR, SILENT, TEXT = (
    "nothing", "shim", "vendor tracing", "vendor tracing, silent", "SYCL_UR_TRACE=2",
)  # fmt: skip
#: What is timed of each segment.
ARMS = ("loop", "calling thread")
SEGMENTS = 20
TRY_AGAIN = 75
MOST_SECONDS = 600
#: Calls of an iteration, far above what it makes.
MOST_CALLS = 10_000
_LOOP = Path(__file__).with_name("_tracer_loop.py")
#: Iterations of the two runs whose difference counts the calls of an iteration.
_COUNTED = 200

#: The vendor's tracing layer, and the collector that comes with the runtime. Loaded like this it prints nothing yet.
VENDOR_TRACING = {
    "UR_ENABLE_LAYERS": "UR_LAYER_TRACING",
    "XPTI_TRACE_ENABLE": "1",
    "XPTI_FRAMEWORK_DISPATCHER": "libxptifw.so",
    "XPTI_SUBSCRIBERS": "libsycl_ur_trace_collector.so",
}
#: What lets the collector print each call, and so record it.
PRINTING = {"SYCL_TRACE_UR_ENABLE": "1"}
#: A library that has to be mapped for a treatment to be in effect.
_IN_EFFECT = {SHIM: "libakv_ur", VENDOR: "libsycl_ur_trace_collector", SILENT: "libsycl_ur_trace_collector"}


#: What the loop writes.
_MADE = table_of({"mapped": list_of(words), **MEASURED}, MEASURED_TOO)


class Tracer:
    NAME = "tracer"
    ABOUT = "a loop of USM copies and small kernels: what looking on adds to each runtime call"
    LEVEL = "edge"
    ENGINE = "dpctl micro-loop on the SYCL CPU device"
    TREATMENTS = (NOTHING, SHIM, VENDOR, SILENT, TEXT)
    ITERATIONS = 20_000
    CONTRACT: ClassVar[Facts] = {}

    def of(self, plan: Plan) -> Tracer:
        if plan.arguments:
            raise BadInput(plan.arguments[0], "the tracer experiment takes no arguments behind `--`")
        if plan.device not in (None, "sycl"):
            raise BadInput("--device", f"is {plan.device!r}; the tracer experiment runs on sycl alone")
        if plan.warm_up is not None:
            raise BadInput("--warm-up", "is for decode steps: the loop of the tracer experiment has none")
        return self

    def python(self, environment: Mapping[str, str]) -> Path:
        return _sycl.find_python(environment)

    def prepare(self, plan: Plan, environment: Mapping[str, str]) -> dict[str, Any]:
        if plan.iterations < SEGMENTS:
            raise BadInput("--iterations", f"at least {SEGMENTS}, one for each segment")
        levels.shim_libraries("ur", environment)
        once, twice = (self._calls(n, environment) for n in (_COUNTED, 2 * _COUNTED))
        if twice <= once:
            python = self.python(environment)
            raise BadInput(python, f"traced {once} calls of one loop and {twice} of one twice as long")
        return {
            "calls_per_iteration": (twice - once) / _COUNTED,
            "calls_counted_by": f"lines of SYCL_UR_TRACE=2 over {_COUNTED} iterations",
            "segments": SEGMENTS,
            "traces_printed_to": "the null device",
            "vendor_tracing": "UR_LAYER_TRACING, XPTI and the runtime's collector; silent: nothing lets it print",
            "memory_read_from": "Rss and Anonymous of smaps_rollup, between segments",
        }

    def run(
        self,
        treatment: str,
        plan: Plan,
        folder: Path,
        shared: Mapping[str, Any],
        environment: Mapping[str, str],
    ) -> Result:
        result = folder / "result.json"
        ended = self._loop(treatment, plan.iterations, result, environment)
        made = self._made(result, environment)
        wanted = _IN_EFFECT.get(treatment)
        mapped = made.pop("mapped")
        others = set(_IN_EFFECT.values()) - {wanted}
        if wanted and not any(name.startswith(wanted) for name in mapped):
            raise BadInput(
                treatment, f"is not in effect: {wanted} is not mapped; mapped: {', '.join(mapped)}"
            )
        if strange := [name for name in mapped if name.startswith(tuple(others))]:
            raise BadInput(treatment, f"is not alone: {', '.join(strange)} is mapped too")
        facts: dict[str, Any] = dict(ended.told)
        if treatment == SHIM:
            facts["calls recorded"] = calls = count(recorded(folder), CALLS)
            if not calls:
                raise BadInput(treatment, "is not in effect: the shim recorded no call")
        return {**made, "facts": facts}

    def unsound(self, shared: Mapping[str, Any], result: Result | None = None) -> str | None:
        calls = shared.get("calls_per_iteration")
        if isinstance(calls, bool) or not isinstance(calls, (int, float)) or not 0 < calls < MOST_CALLS:
            return f"calls_per_iteration is {calls!r}, not a number of calls"
        if result is None:
            return None
        wanted = sorted((arm, number) for arm in ARMS for number in range(SEGMENTS))
        if sorted((arm, number) for arm, number, _ in result["trials"]) != wanted:
            return f"trials are not {SEGMENTS} segments of {' and '.join(ARMS)}"
        if len(result.get("memory", [])) != SEGMENTS + 1:
            return f"memory is not {SEGMENTS + 1} points, around {SEGMENTS} segments"
        return None

    def together(self, results: Sequence[Result]) -> Facts:
        return {}

    def numbers(self, done: Done) -> dict[str, Estimate]:
        """Time and memory a call, over runs, and what looking adds, over pairs of one block."""
        calls = done.plan.iterations // SEGMENTS * done.shared["calls_per_iteration"]
        runs = [_loop_run(result) for result in done.results]
        made: dict[str, Estimate] = {}
        for arm, what in (("loop", "time"), ("calling thread", "processor time of the calling thread")):
            made[f"{what} a call, loop and all, nothing"] = estimators.plain_time(runs, NOTHING, arm, calls)
            for treatment in self.TREATMENTS[1:]:
                made[f"added {what} a call of looking, {treatment}"] = estimators.added_time(
                    runs, NOTHING, treatment, arm, calls
                )
        for kind in ("resident", "anonymous"):
            for treatment in self.TREATMENTS:
                for half, name in enumerate(("first half", "second half")):
                    made[f"growth of {kind} memory a call, {name}, {treatment}"] = estimators.growth(
                        runs, treatment, kind, calls, half=half
                    )
        return made

    def _calls(self, iterations: int, environment: Mapping[str, str]) -> int:
        """Calls of a run of so many iterations, by the lines of the vendor's text trace."""
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "result.json"
            out = self._loop(TEXT, iterations, result, environment, keep_out=True).out
            self._made(result, environment)
        return out.count(b"<---")

    def _made(self, result: Path, environment: Mapping[str, str]) -> Result:
        """What the loop wrote. Raises ``BadInput`` where that is nothing, or nothing of its own."""
        python = self.python(environment)
        try:
            made: Result = json.loads(result.read_bytes())
            _MADE(made, "the result")
            return made
        except FileNotFoundError:
            raise BadInput(python, "wrote no result of the loop, and yet ended with 0") from None
        except (ValueError, RecursionError) as error:
            raise BadInput(python, f"wrote no sound result of the loop: {visible(error)}") from error

    def _loop(
        self,
        treatment: str,
        iterations: int,
        result: Path,
        environment: Mapping[str, str],
        keep_out: bool = False,
    ) -> _process.Ended:
        """One process of the loop."""
        python = self.python(environment)
        return _process.run(
            [python, _LOOP, str(iterations), str(SEGMENTS), result],
            self._environment(treatment, python, result.parent, environment),
            treatment=treatment,
            what="the loop",
            most_seconds=MOST_SECONDS,
            keep_out=keep_out,
            again=lambda ended: ended.code == TRY_AGAIN,
        )

    def _environment(
        self, treatment: str, python: Path, folder: Path, environment: Mapping[str, str]
    ) -> dict[str, str]:
        """Nothing of a tracer from outside, then what this treatment needs."""
        plain = {
            n: v
            for n, v in environment.items()
            if not n.startswith(("XPTI_", "UR_", "SYCL_UR_TRACE", "SYCL_TRACE_"))
        }
        looking = software.looking(plain)
        plain = {n: v for n, v in plain.items() if n not in looking and n != "LD_PRELOAD"}
        preload = levels.shim_libraries("ur", environment) if treatment == SHIM else []
        level = "edge" if treatment == SHIM else "off"
        made = levels.environment_for(
            level, plain, folder=folder if treatment == SHIM else None, timing="asis", preload=preload
        )
        made = _sycl.with_runtime(made, python)
        if treatment in (VENDOR, SILENT):
            made |= VENDOR_TRACING | (PRINTING if treatment == VENDOR else {})
        elif treatment == TEXT:
            made["SYCL_UR_TRACE"] = "2"
        return made


EXPERIMENT = Tracer()


def _loop_run(result: Result) -> estimators.LoopRun:
    points = np.array(result["memory"], np.float64)
    arms = {arm for arm, _, _ in result["trials"]}
    return estimators.LoopRun(
        treatment=result["treatment"],
        segments_ns={
            arm: np.array([ns for a, _, ns in result["trials"] if a == arm], np.float64) for arm in arms
        },
        memory={"resident": points[:, 1], "anonymous": points[:, 2]},
    )
