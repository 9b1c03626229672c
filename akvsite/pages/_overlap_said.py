"""Overlap, said right: what a trace shows is open, what a control shows is a number with its band; neither is the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from akvsite import estimators, triples
from akvsite.estimate import unknown
from akvsite.pages import Record
from akvsite.pages._html import Cell, counted, estimated, number_of, table, text
from akvsite.pages._run import USES, Run
from akvsite.pages._stamps import run_cell, stamped_runs
from akvsite.pages._step_profile import own_clock
from akvsite.pages._step_sums import Steps
from akvsite.triples import Triple

TITLE = "Overlap of copies and kernels"
SEEN = "seen in an instrumented capture, open until a control"
NO_CONTROL = "no control: open"
#: The treatment of an experiment in which no event carried times.
CONTROLLED = "timing off"
#: What two workloads of the overlap experiment have to agree in to be of one size.
SIZES = ("device", "pieces", "copy_bytes", "kernel_size", "kernels_per_piece")


def write(run: Run, steps: list[Steps]) -> str:
    """What the trace shows, and apart from it what a control shows: neither stands in for the other."""
    return f"\n### By the trace: {SEEN}\n{_by_trace(run, steps)}\n### By the wall clock, with nothing looking on\n{_by_control(run)}"


def _by_trace(run: Run, steps: list[Steps]) -> str:
    columns = run.desk.columns("step_device", run_id=run.id, order="process_id,device,clock,step_id")
    if not len(columns["step_id"]):
        return f"\nNo record of a kernel or a copy belongs to a step: {_why_none(run)}\n"
    lines = [line for group in steps for line in _by_device(run, group, columns)]
    if not lines:
        return "\nDevice records belong to no step that is left after the cut: there is no mean, and nothing of it was seen.\n"
    words = (
        f"Time that kernels and copies of a step cover, each moment once, by one device clock ({run.device_line()}). {run.ticks.capitalize()}. "
        f"Seen: {run.seen('kernel', 'copy')}."
    )
    blind = "" if run.full_sight else f" Not everything that ran is known to be in the records: {run.blind}."
    limit = " Looking on may change whether they share time at all: this says nothing about runs in which nothing looked on."
    return (
        f"\n{text(words + blind + limit)}\n"
        + table(
            ["steps", "device", "covered by kernels, mean a step", "covered by copies, mean a step", "both at once, mean a step",
             "of the shorter, mean over steps", "steps with both, of those with records"],
            lines,
            caption=f"Copies against kernels: {SEEN}; {run.use}",
        )
    )  # fmt: skip


def _why_none(run: Run) -> str:
    if not run.listed["intervals"]:
        would = "" if run.level in ("device", "edge") else " Level device would tell what instruments see."
        return f"nothing of it was seen.{would}"
    known = "Device records are there, but by no call of a step are they known to be of it."
    return f"what it was doing in a step is unknown. {known}" + (
        "" if run.listed["calls"] else " Level edge has the calls."
    )


def _by_device(run: Run, group: Steps, columns: dict[str, np.ndarray]) -> list[list[Any]]:
    here = np.isin(columns["step_id"].astype(np.int64), group.ids)
    own = own_clock(columns)
    keys = dict.fromkeys(
        zip(*(columns[c][here].tolist() for c in ("process_id", "device")), own[here].tolist(), strict=True)
    )
    lines = []
    for process, device, clock in keys:
        at = here & (columns["process_id"] == process) & (columns["device"] == device)
        at &= own == clock
        kernel, copy, both = (
            _known(columns[f"{name}_duration_ns"][at]) for name in ("kernel", "copy", "both")
        )
        pairs = [
            100 * b / min(k, c)
            for k, c, b in zip(kernel, copy, both, strict=True)
            if k and c and b is not None
        ]
        means = [_mean(run, values, "ns") for values in (kernel, copy, both)]
        shares = _mean(run, pairs, "%")
        lines.append(
            [group.label, f"{device}{' (its own clock)' if clock else ''}", *means, shares,
             Cell(text(f"{len(pairs):,} of {len(kernel):,}"), len(pairs))]
        )  # fmt: skip
    return lines


def _known(values: np.ndarray) -> list[int | None]:
    return [None if v is None or v != v else int(v) for v in values.tolist()]


def _mean(run: Run, values: list[Any], unit: str) -> Cell:
    """The mean over the steps that have it: where one kind of record is missing, what it covered is not 0 but unknown."""
    known = [v for v in values if v is not None]
    if not known:
        return estimated(unknown("no step has records of it", unit))
    made = run.marked(estimators.mean(known, unit=unit))
    missing = len(values) - len(known)
    made_of = f" ({len(known):,} of {number_of(len(values), 'step')})" if missing else ""
    return Cell(text(made.text() + made_of), made.value)


def _by_control(run: Run) -> str:
    rows = [
        line
        for row in run.desk.ask("experiment_list", what="overlap", order="place,experiment")
        if run.listed["host"] and row["host"] == run.listed["host"]
        for line in _control(run, row)
    ]
    if not rows:
        why = (
            f"no overlap experiment with capture off on {run.listed['host']} is in the store"
            if run.listed["host"]
            else "the capture names no host, so that no experiment is known to be of it"
        )
        return f"\n<strong>{text(NO_CONTROL[0].upper() + NO_CONTROL[1:])}.</strong> {text(f'There is none: {why}. What the trace shows stays what was {SEEN}.')}\n"
    words = (
        "Copies alone, kernels alone, and both, in fresh processes and by the wall clock alone: 0 where they take turns, 1 where the shorter hides wholly. It is "
        "the overlap of the experiment's own copies and kernels. Whether one of them is a control of this capture's work is for "
        "you to see: nothing in this table closes what the trace shows."
    )
    return f"\n{text(words)}\n" + table(
        ["control", "overlap, fraction of the shorter", "runs", "it is of", "beside this capture's work"],
        rows,
    )


def _control(run: Run, row: Record) -> list[list[Any]]:
    """A line for an experiment that can be a control; none where the rules of controls do not admit it."""
    desk = run.desk
    admitted = desk.ask("control_list", run=row["experiment"])
    if not admitted or not all(admitted[0][key] for key in ("counts", "designed", "timing_off")):
        return []
    runs = [
        Triple(r["treatment"], r["block"], r["copy_ns"], r["compute_ns"], r["both_ns"])
        for r in desk.ask("overlap_run", run_id=row["run_id"], order="process_id")
        if r["treatment"] == CONTROLLED
    ]
    if not runs:
        return []
    use = USES[desk.ask("run_list", run_id=row["run_id"])[0]["use"]]
    number = replace(triples.overlap(runs, CONTROLLED), use=use)
    theirs = _facts(run, row["run_id"])
    return [
        [
            run_cell(row["experiment"], stamped_runs(desk), "../", folder="experiments"),
            estimated(number),
            counted(len(runs)),
            _of(theirs) + (f"; the outputs of its runs {theirs['outputs']}" if "outputs" in theirs else ""),
            _beside(_facts(run, run.id), theirs),
        ]
    ]


def _facts(run: Run, run_id: int) -> dict[str, str]:
    rows = run.desk.ask("fact_list", run_id=run_id)
    facts = {r["key"]: r["value"] for r in rows if r["part"] == "contract"}
    shared = {r["key"]: r["value"] for r in rows if r["part"] == "capture"}
    if shared.get("outputs", "").startswith("DIFFER"):
        facts["outputs"] = shared["outputs"]
    if "shared.kernels_per_piece" in shared:
        facts["kernels_per_piece"] = shared["shared.kernels_per_piece"]
    return facts


def _of(facts: dict[str, str]) -> str:
    sizes = [f"{key.replace('_', ' ')} {facts[key]}" for key in SIZES if key in facts]
    return "; ".join(
        [facts.get("workload", "a workload that is not stated"), ", ".join(sizes) or "sizes not stated"]
    )


def _beside(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """Whether a control is of this capture's work, in words."""
    missing = [key for key in SIZES if key not in ours]
    if missing:
        return f"another workload: this capture is of {ours.get('workload') or 'one that is not stated'}"
    unlike = [
        f"{key.replace('_', ' ')} {ours[key]} here and {theirs.get(key, 'not stated')} there"
        for key in SIZES
        if ours[key] != theirs.get(key)
    ]
    if unlike:
        return f"other sizes: {', '.join(unlike)}"
    return "copies and kernels of the same sizes, in other processes in which nothing looked on"
