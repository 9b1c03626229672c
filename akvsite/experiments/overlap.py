"""Whether copies and kernels share a device's time: copy alone, compute alone and both, by the wall clock alone.

Nothing looks on, so that the bundle may be the control of a claim. Two treatments: the work's events carry times, or
they do not, since asking for times has been seen to make a copy engine wait. A fresh process each, in blocks; inside a
process the arms take turns in every order.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from akvsite import triples
from akvsite.errors import BadInput
from akvsite.estimate import Estimate
from akvsite.experiments import _process, _sycl
from akvsite.experiments._engine import alike
from akvsite.experiments._overlap_cycles import ARMS, EMPTY, TRY_AGAIN, WARM_UP
from akvsite.experiments._runner import Done, Plan, Result
from akvsite.experiments._shapes import Check, facts, fault, list_of, natural, row_of, table_of, words
from akvsite.record.clean import Facts

OFF, ON = "timing off", "timing on"
#: What computes where: the program, and what it calls the device.
_PROGRAMS = {"cuda": "_overlap_torch.py", "xpu": "_overlap_torch.py", "sycl": "_overlap_sycl.py"}
_SELECTORS = {"sycl": "cpu"}
_TIMED = {
    "cuda": "events with enable_timing around every piece on both streams",
    "xpu": "events with enable_timing around every piece on both streams",
    "sycl": "both queues made with the property enable_profiling",
}
_MOST_SECONDS = 600
#: Arms of a cycle, each with the time until all of it was submitted.
_TRIALS = tuple(name for arm in (*ARMS, EMPTY) for name in (arm, f"{arm}, submitted"))

_MADE = table_of(
    {
        "pid": natural,
        "trials": list_of(row_of(words, natural, natural)),
        "output_sha256": words,
        "facts": facts,
    }
)
#: What it writes instead where it is asked for a number of kernels.
_KERNELS = table_of({})
_KEPT = table_of({"output_sha256": words, "engine": facts})


class Overlap:
    NAME = "overlap"
    ABOUT = "copies on one queue and kernels on another: alone and together, by the wall clock"
    LEVEL = "off"
    ENGINE = "two queues of one device, copies on one and kernels on the other"
    TREATMENTS = (OFF, ON)
    ITERATIONS = 60

    def __init__(self, device: str = "cuda", arguments: Sequence[str] = ()) -> None:
        self.device = device
        self.sizes = _sizes(arguments, device)
        self.CONTRACT: Facts = {"device": device, **self.sizes}

    def of(self, plan: Plan) -> Overlap:
        device = plan.device or "cuda"
        if device not in _PROGRAMS:
            raise BadInput("--device", f"is {device!r}; overlap runs on {', '.join(_PROGRAMS)}")
        if plan.warm_up is not None:
            raise BadInput(
                "--warm-up", f"is for decode steps: overlap leaves out {WARM_UP} cycles of its own"
            )
        return Overlap(device, plan.arguments)

    def python(self, environment: Mapping[str, str]) -> Path:
        return _sycl.find_python(environment) if self.device == "sycl" else Path(sys.executable)

    def prepare(self, plan: Plan, environment: Mapping[str, str]) -> dict[str, Any]:
        kernels = self.sizes["kernels"]
        how = "given"
        if not kernels:
            with tempfile.TemporaryDirectory(prefix="akvsite-") as folder:
                made, _ = self._program("off", 1, 0, Path(folder) / "made.json", environment, _KERNELS)
            kernels = round(made.get("kernels", 0))
            how = "so many as take as long as the copy of a piece, in one process before the first run"
        if type(kernels) is not int or kernels < 1:
            raise BadInput(self.device, f"gave no number of kernels: {kernels!r}")
        return {
            "kernels_per_piece": kernels,
            "kernels_chosen_by": how,
            "cycles": plan.iterations,
            "warm_up_cycles": WARM_UP,
            "timing_on": _TIMED[self.device],
            "timing_off": "the same without times",
            "order_inside_a_process": "the arms in every order, in turn",
            "times": "from the first call until both queues were waited for, on the host's clock",
        }

    def run(
        self,
        treatment: str,
        plan: Plan,
        folder: Path,
        shared: Mapping[str, Any],
        environment: Mapping[str, str],
    ) -> Result:
        timing = "on" if treatment == ON else "off"
        made, ended = self._program(
            timing, plan.iterations, shared["kernels_per_piece"], folder / "made.json", environment, _MADE
        )
        engine = dict(made["facts"])
        if engine.pop("timing", None) != timing:
            raise BadInput(treatment, "is not in effect: the program says another timing")
        told: dict[str, Any] = dict(ended.told)
        if "profiling" in engine:
            told["queues made with"] = engine.pop("profiling")
        return {
            "pid": made["pid"], "trials": made["trials"], "output_sha256": made["output_sha256"],
            "engine": engine, "facts": {**told, "output": made["output_sha256"][:16]},
        }  # fmt: skip

    def unsound(self, shared: Mapping[str, Any], result: Result | None = None) -> str | None:
        kernels, cycles = shared.get("kernels_per_piece"), shared.get("cycles")
        if type(kernels) is not int or kernels < 1 or type(cycles) is not int or cycles < 1:
            return f"kernels_per_piece is {kernels!r} and cycles {cycles!r}, not numbers from 1"
        if result is None:
            return None
        found = sorted((name, number) for name, number, _ in result["trials"])
        if found != sorted((name, number) for name in _TRIALS for number in range(cycles)):
            return f"trials are not {cycles} cycles of {', '.join(ARMS)}"
        if not all(ns for arm, _, ns in result["trials"] if arm in ARMS):
            return "an arm took no time at all"
        return fault(_KEPT, result, "the run")

    def together(self, results: Sequence[Result]) -> Facts:
        kinds = len({result["output_sha256"] for result in results})
        return {
            "outputs": f"the same in all {len(results)} runs"
            if kinds == 1
            else f"DIFFER: {kinds} in {len(results)} runs",
            "engine": alike([result["engine"] for result in results]),
        }

    def numbers(self, done: Done) -> dict[str, Estimate]:
        """Overlap of each treatment over its triples, a run each, and by how much the two differ, over pairs."""
        blocks = [number for number, block in enumerate(done.blocks) for _ in block]
        runs = [
            triples.Triple(result["treatment"], block, *(_mean(result, arm) for arm in ARMS))
            for result, block in zip(done.results, blocks, strict=True)
        ]
        made = {f"overlap, {treatment}": triples.overlap(runs, treatment) for treatment in self.TREATMENTS}
        made["overlap, timing on minus timing off"] = triples.difference(runs, OFF, ON)
        for arm in ARMS:
            made[f"effect of timing on {arm}"] = triples.effect(runs, OFF, ON, arm)
        return made

    def _program(
        self,
        timing: str,
        cycles: int,
        kernels: int,
        result: Path,
        environment: Mapping[str, str],
        check: Check,
    ) -> tuple[dict[str, Any], _process.Ended]:
        """What the program wrote, and how its process ended. Raises ``BadInput``."""
        python = self.python(environment)
        name = _PROGRAMS[self.device]
        inside = _process.environment_at(
            _process.OFF,
            environment,
            result.parent,
            [],
            without=("LD_PRELOAD",),
        )
        if self.device == "sycl":
            inside = _sycl.with_runtime(inside, python)
        command: list[str | Path] = [
            python, Path(__file__).with_name(name), _SELECTORS.get(self.device, self.device), timing, str(cycles),
            str(self.sizes["pieces"]), str(self.sizes["copy_bytes"]), str(kernels), str(self.sizes["kernel_size"]), result,
        ]  # fmt: skip
        ended = _process.run(
            command, inside, treatment=f"timing {timing}", what=name, most_seconds=_MOST_SECONDS,
            again=lambda end: end.code == TRY_AGAIN,
        )  # fmt: skip
        return _process.result(result, check, name), ended


def _mean(result: Result, arm: str) -> float:
    return float(np.mean([ns for name, _, ns in result["trials"] if name == arm]))


class _Words(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput("--", f"{message}; known: --pieces N, --copy-bytes N, --kernels N, --kernel-size N")


def _sizes(arguments: Sequence[str], device: str) -> dict[str, int]:
    """How much each arm does. By default, pieces that take far longer than it takes to submit them."""
    gpu = device != "sycl"
    known = _Words(add_help=False, allow_abbrev=False)
    known.add_argument("--pieces", type=int, default=32 if gpu else 8)
    known.add_argument("--copy-bytes", type=int, default=16 << 20 if gpu else 4 << 20)
    known.add_argument("--kernels", type=int, default=0)
    known.add_argument("--kernel-size", type=int, default=16384 if gpu else 4096)
    asked = vars(known.parse_args(list(arguments)))
    for name, (least, most) in {
        "pieces": (1, 4096),
        "copy_bytes": (1, 1 << 30),
        "kernels": (0, 100_000),
        "kernel_size": (8, 65_536),
    }.items():
        if not least <= asked[name] <= most:
            raise BadInput(f"--{name.replace('_', '-')}", f"is {asked[name]}; from {least} to {most}")
    return asked


EXPERIMENT = Overlap()
