"""Carries out an experiment: order from a seed, a fresh process each, resuming, and one bundle in the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from akvsite.errors import BadInput
from akvsite.estimate import Estimate
from akvsite.experiments import _quiet, _resume
from akvsite.experiments._journal import Journal, Planned
from akvsite.manifest import RUN_NAME
from akvsite.record import check_host, device, host, software
from akvsite.record.bundle import Bundle, write_declaration, write_table
from akvsite.record.clean import Facts, cleaned
from akvsite.tables import LEVELS

Progress = Callable[[str], None]
OFF = LEVELS[0]
#: What a run hands back, as JSON keeps it: ``pid``; ``trials``, each [arm, number, duration in ns]; ``memory``, each
#: [time in ns, resident bytes, anonymous bytes]; ``facts`` of this run.
Result = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is asked for on the command line.

    ``iterations`` 0: as many as the experiment makes by itself. ``seed`` None: drawn, or that of the experiment that is
    gone on with.
    """

    blocks: int = 10
    iterations: int = 0
    seed: int | None = None
    out: Path = Path("captures")
    name: str | None = None
    host: str | None = None
    role: str | None = None
    note: str | None = None
    #: What stands behind ``--`` on the command line: for the program that the experiment runs.
    arguments: tuple[str, ...] = ()
    #: Where that program computes, in the experiment's words: ``cuda``, ``xpu``, ``sycl``, ``cpu``; None: its own choice.
    device: str | None = None
    #: Steps at the start of each run that no number uses; None: as many as the experiment cuts by itself.
    warm_up: int | None = None


class Experiment(Protocol):
    NAME: str
    #: One line for the command line.
    ABOUT: str
    #: The level of the bundle: that of the treatment which looks closest.
    LEVEL: str
    #: Who runs: what stands in the column ``engine``.
    ENGINE: str
    TREATMENTS: tuple[str, ...]
    #: Iterations of each run where the plan asks for none.
    ITERATIONS: int
    #: What must be the same in a run that these numbers are to say something about, beside iterations.
    CONTRACT: Facts

    def of(self, plan: Plan) -> Experiment:
        """This experiment as the plan asks for it. Raises ``BadInput`` where its arguments ask for what there is not."""
        ...

    def prepare(self, plan: Plan, environment: Mapping[str, str]) -> dict[str, Any]:
        """Once, before the first run: whether it can be carried out, and facts that all runs share, as JSON keeps them.

        Raises ``BadInput``.
        """
        ...

    def run(
        self,
        treatment: str,
        plan: Plan,
        folder: Path,
        shared: Mapping[str, Any],
        environment: Mapping[str, str],
    ) -> Result:
        """One run in a fresh process, with an empty ``folder`` for what it writes."""
        ...

    def python(self, environment: Mapping[str, str]) -> Path | None:
        """The python whose packages are among the facts."""
        ...

    def unsound(self, shared: Mapping[str, Any], result: Result | None = None) -> str | None:
        """Why no numbers can be made with these shared facts, or of this result of a run; None where they can."""
        ...

    def together(self, results: Sequence[Result]) -> Facts:
        """What the runs say together: facts of the capture."""
        ...

    def numbers(self, done: Done) -> dict[str, Estimate]:
        """What can be said, by name."""
        ...


@dataclass(frozen=True)
class Done:
    """A whole experiment: ``blocks`` of treatments in the order they were run, the result of each, and what they say."""

    experiment: Experiment
    plan: Plan
    shared: Mapping[str, Any]
    seed: int
    blocks: list[list[str]]
    results: list[Result]
    place: Path
    numbers: Mapping[str, Estimate] = field(default_factory=dict)
    #: Thresholds of a proof host with what was found when it began and after its last run; empty on any other.
    quiet: Mapping[str, str] = field(default_factory=dict)
    #: Why it can be no control of a claim, as far as the command line says; None where nothing is against it.
    no_control: str | None = None


def carry_out(
    experiment: Experiment,
    plan: Plan,
    environment: Mapping[str, str] = os.environ,
    progress: Progress = lambda _: None,
    tell: Progress = lambda _: None,
) -> Done:
    """Make every run that is not finished yet, then the bundle. Raises ``BadInput``.

    Interrupted at any moment, the same call goes on where it was: finished runs are not made again. A proof host has to be
    quiet before the first run, by itself before each, and after the last. ``tell`` is called with what must be known
    before runs are made.
    """
    name = plan.name or experiment.NAME
    place = plan.out / name
    if not RUN_NAME.fullmatch(name):
        raise BadInput("--name", f"{name!r}: lower-case letters, digits, '.', '_' and '-'")
    check_host(plan.host, plan.role)
    if plan.blocks < 1 or plan.iterations < 0:
        raise BadInput("--pairs and --iterations", "are numbers from 1")
    if plan.warm_up is not None and plan.warm_up < 0:
        raise BadInput("--warm-up", "is a number of steps, from 0")
    experiment = experiment.of(plan)
    plan = replace(plan, iterations=plan.iterations or experiment.ITERATIONS)
    if os.path.lexists(place):
        raise BadInput(place, "is there already; give another --name")
    _refuse_tracers(experiment, environment)
    found = _quiet.found(plan.role, environment, progress)
    no_control = _no_control(experiment, plan)
    with Journal(plan.out / f".{name}.experiment") as journal:
        planned = _resume.planned(experiment, plan, journal, environment)
        blocks = planned["order"]
        runs = [treatment for block in blocks for treatment in block]
        _resume.check_runs(experiment, journal, runs, planned["shared"])
        if no_control:
            tell(no_control)
        for number, treatment in enumerate(runs):
            if number in journal.runs:
                continue
            which = f"run {number + 1} of {len(runs)}"
            progress(f"{which}: {treatment}")
            still = _quiet.still(plan.role, environment, which)
            try:
                result = _fresh_run(experiment, treatment, plan, journal.folder, planned, environment)
            except BadInput as error:
                where = (part for part in (error.source, error.place) if part and part != treatment)
                raise BadInput(f"{which}, {treatment}", error.why, place=": ".join(where)) from error
            if still:
                result["facts"] = {**result.get("facts", {}), **still}
            if number == len(runs) - 1:
                result["quiet_after"] = _quiet.after(plan.role, environment)
            journal.finished(number, result)
        results = [journal.runs[number] for number in range(len(runs))]
        found |= results[-1].get("quiet_after", {})
        done = Done(
            experiment, plan, planned["shared"], planned["seed"], blocks, results, place,
            quiet=found, no_control=no_control,
        )  # fmt: skip
        # Before anything is put in its place: what no numbers can be made of is not published.
        done = replace(done, numbers=experiment.numbers(done))
        with Bundle(plan.out, name) as bundle:
            _write(bundle.folder, name, done, planned, environment)
            bundle.publish()
        shutil.rmtree(journal.folder)
    return done


def _refuse_tracers(experiment: Experiment, environment: Mapping[str, str]) -> None:
    """Raises ``BadInput`` where runs are to be at level off, and something looks on from outside."""
    if OFF in (experiment.LEVEL, *experiment.TREATMENTS) and (looking := software.looking(environment)):
        raise BadInput(
            ", ".join(looking), "looks on from outside, and runs of this experiment are at level off: nothing was run;"
            " unset it first",
        )  # fmt: skip


def _no_control(experiment: Experiment, plan: Plan) -> str | None:
    if experiment.LEVEL != OFF or (plan.host and plan.role):
        return None
    return (
        "without --host NAME and --host-role dev or proof nothing is known of the machine: this experiment can never be"
        " the control of a claim"
    )


def _fresh_run(
    experiment: Experiment, treatment: str, plan: Plan, folder: Path, planned: Planned,
    environment: Mapping[str, str],
) -> Result:  # fmt: skip
    """One run, with how busy host and devices were before and after it."""
    work = folder / "run"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    before = {**host.load(), "device": device.load()}
    result = experiment.run(treatment, plan, work.absolute(), planned["shared"], environment)
    after = {**host.load(), "device": device.load()}
    if why := experiment.unsound(planned["shared"], result):
        raise BadInput(treatment, f"gave a result that cannot be used: {why}")
    shutil.rmtree(work)
    return {"treatment": treatment, "before": before, "after": after, **result}


def _write(folder: Path, name: str, done: Done, planned: Planned, environment: Mapping[str, str]) -> None:
    import pyarrow as pa

    runs = [(number // len(done.blocks[0]), result) for number, result in enumerate(done.results)]
    trials = [
        (index, arm, result["treatment"], block, number, duration)
        for index, (block, result) in enumerate(runs)
        for arm, number, duration in result["trials"]
    ]
    _table(
        folder / "trials.parquet",
        ("process", "arm", "treatment", "repeat", "number", "duration_ns"),
        trials,
        pa,
    )
    files: list[Facts] = [{"path": "trials.parquet", "table": "trial"}]
    memory = [(index, *point) for index, (_, result) in enumerate(runs) for point in result.get("memory", [])]
    if memory:
        _table(
            folder / "memory.parquet", ("process", "at_ns", "resident_bytes", "anonymous_bytes"), memory, pa
        )
        files.append({"path": "memory.parquet", "table": "memory_sample"})
    experiment = done.experiment
    head = {
        "name": name, "level": experiment.LEVEL, "started": planned["started"], "engine": experiment.ENGINE,
        "timing_events": "asis", "clock": "host only", "note": done.plan.note,
    }  # fmt: skip
    tables: dict[str, Facts] = {
        "host": {"name": done.plan.host, "role": done.plan.role, "facts": host.about()},
        "contract": {
            "workload": experiment.ABOUT,
            "iterations": done.plan.iterations or None,
            **experiment.CONTRACT,
        },
        "software": {
            **software.packages(experiment.python(environment), environment),
            "environment": software.switches(environment),
        },
        "device": device.about(),
        "load": {"before": done.results[0]["before"], "after": done.results[-1]["after"]},
        "capture": {
            "tool": "akvsite experiment",
            "experiment": experiment.NAME,
            "design": "blocks of all treatments at random, each second block the mirror of the one before",
            "blocks": done.plan.blocks,
            "seed": done.seed,
            "order": " | ".join(", ".join(block) for block in done.blocks),
            "process": "fresh for every run",
            "quiet": done.quiet,
            "shared": done.shared,
            **experiment.together(done.results),
            "runs": {f"{i:03}": _run_line(block, result) for i, (block, result) in enumerate(runs)},
        },
    }
    # The order of runs may be long, and is a fact all the same.
    order = tables["capture"]["order"]
    cleaned_tables = {part: cleaned(table) for part, table in tables.items()}
    cleaned_tables["capture"]["order"] = order
    write_declaration(
        folder, cleaned(head), cleaned_tables,
        {
            "process": [
                {"pid": str(result["pid"]), "name": f"{result['treatment']}, block {block}"} for block, result in runs
            ],
            "file": files,
        },
    )  # fmt: skip


def _table(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]], pa: Any) -> None:
    columns = zip(*rows, strict=True)
    write_table(path, {name: pa.array(list(column)) for name, column in zip(names, columns, strict=True)})


def _run_line(block: int, result: Result) -> str:
    """One run in words: its place, and how busy the host was around it."""
    load = f"load {result['before'].get('load_1_min')} before, {result['after'].get('load_1_min')} after"
    facts = ", ".join(f"{key} {value}" for key, value in result.get("facts", {}).items())
    return f"{result['treatment']}, block {block}: {load}" + (f", {facts}" if facts else "")
