"""A made-up probe experiment and runs of the same engine, as capture folders."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from bundles import steps, write_capture

#: How long a decode step lasts at each level, ns: what a level adds is known.
STEP_NS = {"off": 2_000_000, "runner": 2_020_000, "host": 2_100_000, "device": 2_400_000, "edge": 2_660_000}
BLOCKS, STEPS = 8, 210
ENGINE = 'engine = "an engine"\ntiming_events = "asis"'
CONTRACT = '[contract.engine]\nbackend = "torch"\nmodel = "small"\nschedule = "fixed"\n'


def experiment(
    folder: Path,
    *,
    blocks: int = BLOCKS,
    count: int = STEPS,
    started: str = "2026-11-30T10:00:00+00:00",
    outputs: str = "the same tokens in all 40 runs",
    host: str = "bench",
    command: bool = False,
) -> Path:
    """Each block holds each level once, the next is its mirror; runs differ by up to 0.2 %.

    ``command``: of a command, whose wall clock is a thousand steps; it makes ``count`` steps, which may be none.
    """
    levels = list(STEP_NS)
    order = [levels[:: 1 if n % 2 == 0 else -1] for n in range(blocks)]
    trials: list[dict[str, Any]] = []
    lines = []
    for block, names in enumerate(order):
        for level in names:
            process = len(lines)
            long = STEP_NS[level] * (1 + 0.002 * Random(process).random())
            trials += [
                {
                    "process": process, "arm": "decode step", "treatment": level, "repeat": block, "number": n,
                    "duration_ns": round(long * (1 + 0.02 * (n * 13 % 17) / 17)),
                }
                for n in range(count)
            ]  # fmt: skip
            if command:
                whole = {
                    "process": process,
                    "arm": "command",
                    "treatment": level,
                    "repeat": block,
                    "number": 0,
                }
                trials.append({**whole, "duration_ns": round(1000 * long)})
            lines.append(f'{process:03} = "{level}, block {block}: load 0.{process:02} before, 0.5 after"')
    said = " | ".join(", ".join(block) for block in order)
    contract = '[contract]\ncommand = "python3 my_engine.py"\narguments = 2\n' if command else CONTRACT
    more = (
        f'{contract}requests = "160"\n'
        f'[capture]\nexperiment = "probe"\ndesign = "blocks, mirrored"\nblocks = {blocks}\nseed = 7\norder = "{said}"\n'
        f'outputs = "{outputs}"\nschedule = "the same batches in all 40 runs"\ntokens_sha256 = "{"ab" * 32}"\n'
        f'[capture.shared]\nwarm_up_steps = 100\nmeasured_steps = {count}\nsteps = "the engine\'s own times"\n'
        'device_records = "profiler"\ndevice_looked_at_by = "a profiler, on in every step"\n'
        'calls_looked_at_by = "libakv_cudart"\n[capture.engine]\nmodel = "small"\nparameters = "9"\n[capture.runs]\n'
        + "\n".join(lines)
    )
    top = f'{ENGINE}\nstarted = "{started}"\nclock = "host only"'
    return write_capture(folder, {"trial": trials}, level="edge", host=host, top=top, more=more)


def run(folder: Path, level: str, *, contract: str = CONTRACT, host: str = "bench") -> Path:
    """A run of that engine: 210 decode steps at a level."""
    of_engine = steps(STEPS, STEP_NS[level])
    return write_capture(folder, {"step": of_engine}, level=level, host=host, top=ENGINE, more=contract)


def twice(
    folder: Path,
    *,
    blocks: int = BLOCKS,
    count: int = STEPS,
    started: str = "2026-11-30T10:00:00+00:00",
    outputs: str = "the same tokens in all 16 runs",
    host: str = "bench",
    level: str = "off",
    noise: float = 0.002,
) -> Path:
    """An A/A experiment of an engine (``count`` steps a run) or, with no steps, of a command timed as a whole."""
    order = [("A", "A again")[:: 1 if n % 2 == 0 else -1] for n in range(blocks)]
    trials: list[dict[str, Any]] = []
    lines = []
    for block, names in enumerate(order):
        for treatment in names:
            process = len(lines)
            long = 2_000_000 * (1 + noise * Random(process).random())
            trials += [
                {
                    "process": process, "arm": arm, "treatment": treatment, "repeat": block, "number": n,
                    "duration_ns": round(ns),
                }
                for arm, times in (
                    ("decode step", [long * (1 + 0.02 * (n * 13 % 17) / 17) for n in range(count)]),
                    ("command", [1000 * long]),
                )
                for n, ns in enumerate(times)
            ]  # fmt: skip
            lines.append(
                f'{process:03} = "{treatment}, block {block}: load 0.{process:02} before, 0.5 after"'
            )
    said = " | ".join(", ".join(block) for block in order)
    more = (
        f'{CONTRACT}requests = "160"\n'
        f'[capture]\nexperiment = "aa"\ndesign = "blocks, mirrored"\nblocks = {blocks}\nseed = 7\norder = "{said}"\n'
        f'outputs = "{outputs}"\n[capture.shared]\nwarm_up_steps = 100\nmeasured_steps = {count}\n'
        'steps = "the engine\'s own times"\n[capture.runs]\n' + "\n".join(lines)
    )
    top = f'{ENGINE}\nstarted = "{started}"\nclock = "host only"'
    return write_capture(folder, {"trial": trials}, level=level, host=host, top=top, more=more)
