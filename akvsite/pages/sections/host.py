"""Where the host's time in a step went: runner phases, regions with the remainder, layer windows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from akvsite import estimators
from akvsite.charts import bands, budget
from akvsite.milestones import PHASES
from akvsite.pages._html import text
from akvsite.pages._listed import OF_NUMBERS
from akvsite.pages._run import Run, grouped, step_groups
from akvsite.pages._step_sums import largest, per_step

TITLE = "Host"

#: Regions that a chart names; the rest of a step's regions are one line, "other regions".
NAMED_REGIONS = 12


def write(run: Run) -> str:
    return "\n".join(part for part in (_phases(run), _budget(run), _layers(run)) if part)


def _steps(run: Run) -> tuple[np.ndarray, np.ndarray, str]:
    """Ids and durations of the finished steps that are most, and which they are."""
    steps = largest(step_groups(run.desk, run.id, warm_up=0))
    return steps.ids, steps.durations, steps.which


def _their_rows(run: Run) -> dict[str, object]:
    """What the rows of those steps have: each is one sample."""
    groups = step_groups(run.desk, run.id, warm_up=0)
    taken = groups.largest()
    return {"of": "steps", **OF_NUMBERS, **groups.chosen(taken[1])} if taken else {}


def _phases(run: Run) -> str:
    columns = run.desk.columns("phase_time", run_id=run.id, order="step_id,name")
    step_ids, durations, which = _steps(run)
    if not len(columns["name"]) or not len(step_ids):
        return ""
    inside = np.array([s is not None and s == s for s in columns["step_id"].tolist()])
    names = columns["name"].astype(str)
    regions = {
        name: per_step(
            step_ids,
            columns["step_id"][inside & (names == name)].astype(np.int64),
            columns["ns"][inside & (names == name)],
        )
        for name in sorted(dict.fromkeys(names[inside].tolist()), key=_place_of_phase)
    }
    return "\n### Runner phases\n" + _drawn(
        run,
        regions,
        durations,
        which,
        "phases",
        "How is a step's time spread over the runner's phases?",
        "phase_time",
    )


def _place_of_phase(name: str) -> int:
    """Phases in the order in which a step goes through them; others after them, as they come."""
    return PHASES.index(name) if name in PHASES else len(PHASES)


def _budget(run: Run) -> str:
    columns = run.desk.columns("step_budget", run_id=run.id, order="step_id,region")
    step_ids, durations, which = _steps(run)
    if not len(columns["region"]) or not len(step_ids):
        return ""
    names = columns["region"].astype(str)
    totals: dict[str, int] = {}
    for name, ns in zip(names.tolist(), columns["ns"].tolist(), strict=True):
        totals[name] = totals.get(name, 0) + ns
    by_size = sorted(totals, key=lambda n: (-totals[n], n))
    named = by_size if len(by_size) <= NAMED_REGIONS + 1 else by_size[:NAMED_REGIONS]
    regions = {
        n: per_step(step_ids, columns["step_id"][names == n].astype(np.int64), columns["ns"][names == n])
        for n in named
    }
    if len(named) < len(by_size):
        rest = ~np.isin(names, named)
        regions[f"other regions ({len(by_size) - len(named)})"] = per_step(
            step_ids, columns["step_id"][rest].astype(np.int64), columns["ns"][rest]
        )
    return "\n### Step budget\n" + _drawn(
        run, regions, durations, which, "budget", "Where does the host's time in a step go?", "step_budget"
    )


def _drawn(
    run: Run,
    regions: Mapping[str, np.ndarray],
    durations: np.ndarray,
    which: str,
    key: str,
    question: str,
    asked: str,
) -> str:
    # A region may be called like one of the two lines that are not regions.
    own = (estimators.STEP, estimators.UNATTRIBUTED)
    named = {f"{name} (a region)" if name in own else name: sums for name, sums in regions.items()}
    estimates = estimators.budget(named, durations, unit="ns")
    step = run.marked(estimates.pop(estimators.STEP))
    rows = [
        budget.Region(
            "not attributed" if name == estimators.UNATTRIBUTED else name,
            run.marked(number),
            name != estimators.UNATTRIBUTED,
        )
        for name, number in estimates.items()
    ]
    footer = run.footer(notes=(f"sums inside each step, then the mean over steps: {which}",))
    return run.desk.figure(
        run.page,
        key,
        budget.draw(question, rows, footer, headline=[("mean step", step)], axis="mean time a step"),
        asked,
        **_their_rows(run),
    )


def _layers(run: Run) -> str:
    columns = run.desk.columns("layer_time", run_id=run.id, warm_up=0, order="layer,start_ns")
    step_ids, _, which = _steps(run)
    own = np.isin(columns["step_id"], step_ids)
    if not own.any():
        return ""
    columns = {name: values[own] for name, values in columns.items()}
    rows = [
        bands.Row(f"layer {layer}", run.marked(estimators.quantile(values.astype(np.int64), 0.5, unit="ns")))
        for layer, values in grouped(columns, "layer", "duration_ns").items()
    ]
    chart = bands.draw(
        "How long is each layer's window on the host?",
        rows[:128],
        run.footer(notes=(which,)),
        axis="p50 of the window",
    )
    return (
        f"\n### Layer windows\n\n{text('A window is the host side of a layer: what it launches may still run on the device when it ends.')}\n\n"
        + run.desk.figure(run.page, "layers", chart, "layer_time")
    )
