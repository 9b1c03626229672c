"""What a run's step was spent on, by the host: regions with the remainder, layer windows, runner phases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from akvsite import estimators
from akvsite.estimate import Estimate, counted, unknown
from akvsite.pages import Desk, Record
from akvsite.pages._compare_form import Key, Measured
from akvsite.pages._html import number_of
from akvsite.pages._run import StepGroups, finished, grouped
from akvsite.pages._step_sums import Steps, by_name, largest, per_step

MEAN, MEDIAN = "mean time a step", "p50 of the window"
REMAINDER = "not attributed"
#: What ``step_budget`` calls all layer windows together.
LAYERS = "layer windows"


@dataclass(frozen=True)
class Subject:
    """A run that is compared: what it is asked with, and its steps after the cut, in groups."""

    desk: Desk
    side: str
    name: str
    listed: Record
    groups: StepGroups

    @property
    def run_id(self) -> int:
        return int(self.listed["run_id"])


def lacking(what: str, level: str) -> Measured:
    """A run that has nothing of a part, and the level that would have it."""
    return Measured(lacks=f"{what} not on record; level {level} would tell")


def of_steps(steps: Steps) -> str:
    left_out = number_of(steps.others, "other group of steps", "other groups of steps")
    others = f"; {left_out} left out" if steps.others else ""
    return f"{len(steps.ids):,} {steps.label}{others}"


def regions(subject: Subject) -> Measured:
    """Mean time a step in each region, with what none of them covers."""
    if not subject.listed["host_rows"]:
        return lacking("regions", "host")
    return _sums(subject, "step_budget", "region", "regions")


def phases(subject: Subject) -> Measured:
    """Mean time a step in each runner phase; phases of several threads may overlap."""
    if not subject.listed["phases"]:
        return lacking("runner phases", "runner")
    return _sums(subject, "phase_time", "name", "runner phases")


def _sums(subject: Subject, question: str, name: str, what: str) -> Measured:
    steps = largest(subject.groups)
    columns = subject.desk.columns(question, run_id=subject.run_id)
    inside = finished(columns["step_id"])
    own = inside & np.isin(np.where(inside, columns["step_id"], 0).astype(np.int64), steps.ids)
    if not own.any():
        return Measured(
            lacks=f"no {what} in its {steps.label or 'steps: there is none that is finished, after the cut'}"
        )
    step_ids, ns = columns["step_id"][own].astype(np.int64), columns["ns"][own].astype(np.int64)
    # A region may be called like one of the two lines that are not regions.
    lines = (estimators.STEP, estimators.UNATTRIBUTED, REMAINDER)
    sums = {
        f"{of} (a region)" if of in lines else of: per_step(steps.ids, step_ids[at], ns[at])
        for of, at in by_name(columns[name][own])
    }
    made = estimators.budget(sums, steps.durations, unit="ns")
    made.pop(estimators.STEP)
    numbers: dict[Key, Estimate] = {
        (REMAINDER if of == estimators.UNATTRIBUTED else of, MEAN): e for of, e in made.items()
    }
    chosen = {of: {"name": of} for of in sums if of != LAYERS}
    return Measured(
        numbers, lambda key: counted(0, "ns"), of=of_steps(steps), steps=steps.kind, chosen=chosen
    )


def layers(subject: Subject) -> Measured:
    """The median window of each layer on the host."""
    if not subject.listed["host_rows"]:
        return lacking("layer windows", "host")
    columns = subject.desk.columns("layer_time", run_id=subject.run_id, warm_up=0, order="layer,start_ns")
    steps = largest(subject.groups)
    own = np.isin(columns["step_id"], steps.ids)
    if not own.any():
        return Measured(
            lacks="no layer windows in its steps; an engine that marks its layers would show them"
        )
    columns = {name: values[own] for name, values in columns.items()}
    numbers: dict[Key, Estimate] = {
        (f"layer {layer}", MEDIAN): estimators.quantile(values.astype(np.int64), 0.5, unit="ns")
        for layer, values in grouped(columns, "layer", "duration_ns").items()
    }
    chosen = {f"layer {layer}": {"layer": layer} for layer in np.unique(columns["layer"]).tolist()}
    return Measured(
        numbers,
        lambda key: unknown(f"no window of {key[0]}", "ns"),
        of=of_steps(steps),
        steps=steps.kind,
        chosen=chosen,
    )
