"""Where the time of a run's steps went on the host, by region and by layer window, and which steps were the longest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.estimate import Estimate, unknown, written
from akvsite.pages._html import Cell, captured, counted, estimated, linked, number_of, table, text
from akvsite.pages._listed import BY_NAME
from akvsite.pages._reader import absent
from akvsite.pages._run import Run, finished, step_groups
from akvsite.pages._step_sums import Columns, Steps, by_name, per_step

#: Regions and layers that a table names; what is beyond is one line, or said to be left out.
NAMED, LAYERS = 16, 64
#: Characters of a name that a table shows: all of it is in its tooltip, and in the rows.
LONG = 96


def groups(run: Run) -> list[Steps]:
    """Finished steps after the declared warm-up, in groups that may stand in one number."""
    found = step_groups(run.desk, run.id, warm_up=0)
    made = []
    for label, mask in found.groups:
        kept = mask & finished(found.columns["duration_ns"])
        ids, durations = (found.columns[name][kept].astype(np.int64) for name in ("step_id", "duration_ns"))
        made.append(Steps(ids, durations, label, len(found.groups) - 1))
    return [group for group in made if len(group.ids)]


#: A step's place in the listing of steps, its name, and who drew it, by its id.
Places = dict[int, tuple[int, str, str]]


def places(run: Run) -> Places:
    columns = run.desk.columns("row_step", run_id=run.id, order=BY_NAME["steps"].order)
    rows = zip(*(columns[c].tolist() for c in ("step_id", "name", "source")), strict=True)
    return {step: (place, str(name), str(source)) for place, (step, name, source) in enumerate(rows)}


def name_cell(name: object) -> Cell:
    """A name in a table; beyond LONG characters its middle is left out."""
    return captured(name, LONG) if len(str(name)) > LONG else Cell(text(name), str(name))


def own_clock(columns: Columns) -> np.ndarray[Any, Any]:
    """Which rows (n,) are of the device's own clock: a column of which nothing is known holds no text."""
    return np.array([clock == "device" for clock in columns["clock"].tolist()], dtype=bool)


def host(run: Run, steps: list[Steps]) -> str:
    """The budget of the mean step: each region, its share of the step, and the remainder."""
    if not run.listed["host_rows"]:
        return absent(run, "Where the time inside a step went on the host", "host")
    columns = run.desk.columns("step_budget", run_id=run.id, order="step_id,region")
    of = columns["step_id"].astype(np.int64)
    names = list(by_name(columns["region"]))
    tables = [_budget(run, group, of, names, columns["ns"]) for group in steps]
    if not any(tables):
        return "\nNo region, layer window or operator lies on the thread of a finished step.\n"
    words = (
        "Sums inside each step, then the mean over steps; the remainder is formed inside each step too. A share is the mean over steps "
        "of the share inside each. Only the thread that ran the step is looked at, and each moment is given to the row that covered it first."
    )
    return f"\n{text(words)}\n" + "".join(tables)


def _budget(
    run: Run, group: Steps, of: np.ndarray, names: list[tuple[str, np.ndarray]], ns: np.ndarray
) -> str:
    if not np.isin(of, group.ids).any():
        return ""
    sums = {name: per_step(group.ids, of[at], ns[at]) for name, at in names}
    sums = {name: own for name, own in sums.items() if own.any()}
    by_size = sorted(sums, key=lambda name: (-int(sums[name].sum()), name))
    shown = {name: sums[name] for name in by_size[:NAMED]}
    if len(by_size) > NAMED:
        shown[f"other regions ({len(by_size) - NAMED})"] = np.sum([sums[n] for n in by_size[NAMED:]], axis=0)
    rest = group.durations - np.sum(list(shown.values()), axis=0)
    lines = [
        _part(run, name, own, group.durations)
        for name, own in (("the step", group.durations), *shown.items(), ("remainder: not attributed", rest))
    ]
    return table(
        ["part", "mean a step", "share of the step", "steps that have it"],
        [[name_cell(name) if name in sums else name, *cells] for name, *cells in lines],
        caption=f"{group.label}: {number_of(len(group.ids), 'step')} after the cut; {run.use}",
    )


def _part(run: Run, name: str, sums: np.ndarray, durations: np.ndarray) -> list[Any]:
    if sums is durations:
        return [name, estimated(mean_of(run, sums, "ns")), "", counted(len(sums))]
    long = durations > 0
    shares = 100 * sums[long] / durations[long]
    return [
        name,
        estimated(mean_of(run, sums, "ns")),
        estimated(mean_of(run, shares, "%")),
        counted(int(np.count_nonzero(sums))),
    ]


def mean_of(run: Run, values: np.ndarray, unit: str) -> Estimate:
    return run.marked(estimators.mean(values, unit=unit) if len(values) else unknown("no step has it", unit))


def layers(run: Run, steps: list[Steps]) -> str:
    """Each layer's window with the regions inside it, and what lies in none of them."""
    windows = run.desk.columns("layer_time", run_id=run.id, warm_up=0, order="step_id,layer,start_ns")
    if not len(windows["layer"]):
        return absent(run, "What lies in the window of each layer", "host")
    inside = run.desk.columns("layer_region", run_id=run.id, order="step_id,layer,region")
    made = "".join(_by_layer(run, group, windows, inside) for group in steps)
    words = (
        "A window is the host side of a layer: what it launches may still run on the device when it ends. A region belongs to the window in which "
        "it began. Means over the steps that have the layer; windows and regions are on the host's axis alone."
    )
    return f"\n{text(words)}\n{made}" if made else ""


def _by_layer(run: Run, group: Steps, windows: Columns, inside: Columns) -> str:
    of, own = windows["step_id"].astype(np.int64), windows["layer"].astype(np.int64)
    here = np.isin(of, group.ids)
    if not here.any():
        return ""
    part_of = inside["step_id"].astype(np.int64)
    within = np.isin(part_of, group.ids)
    names = inside["region"].astype(str)
    largest = sorted(
        ((int(inside["ns"][at[within[at]]].sum()), name) for name, at in by_name(names)), reverse=True
    )
    named = [name for ns, name in largest if ns][:6]
    lines = []
    found = np.unique(own[here])
    for layer in found[:LAYERS].tolist():
        at = here & (own == layer)
        steps = np.unique(of[at])
        window = per_step(steps, of[at], windows["duration_ns"][at])
        of_layer = within & (inside["layer"] == layer)
        parts = [
            per_step(steps, part_of[mask], inside["ns"][mask])
            for name in named
            for mask in (of_layer & (names == name),)
        ]
        rest = window - per_step(steps, part_of[of_layer], inside["ns"][of_layer])
        shown = (window, *parts, *((rest,) if named else ()))
        # A region that lies in no such window took no time there: that is known, and no number.
        cells = [estimated(mean_of(run, each, "ns")) if each.any() else Cell("none", 0) for each in shown]
        lines.append([layer, *cells, counted(len(steps))])
    left = (
        f"; {number_of(len(found) - LAYERS, 'further layer is', 'further layers are')} in the rows"
        if len(found) > LAYERS
        else ""
    )
    return table(
        ["layer", "mean window", *map(shortened, named), *(["in no region"] if named else []), "steps"],
        lines,
        caption=f"{group.label}: layer windows, a step{left}; {run.use}",
    )


def step_link(step: tuple[int, str, str]) -> Cell:
    """A link that chooses a step on its page."""
    place, name, _ = step
    return Cell(linked(name_cell(name).html, f"#step={place}"), name)


def step_told(step: tuple[int, str, str]) -> Cell:
    """The link, and which step it is where sources number theirs apart."""
    place, name, source = step
    return Cell(f"{step_link(step).html} ({text(f'{source}, row {place}')})", name)


def shortened(name: str) -> str:
    """A name for the head of a column, its middle left out where it is long."""
    return name if len(name) <= LONG else f"{name[: LONG * 2 // 3]}…{name[1 - LONG // 3 :]}"


def longest(steps: list[Steps], at: Places, most: int = 8) -> Iterator[str]:
    """A table of the longest steps of each group, each with the link that chooses it. Records, not estimates.

    An iteration that two sources drew is in the list of each.
    """
    for group in steps:
        order = np.argsort(-group.durations, kind="stable")[:most]
        lines = [
            [
                step_link(at[step]),
                Cell(text(written(ns, "ns")), ns),
                at[step][2],
                Cell(str(at[step][0]), at[step][0]),
            ]
            for step, ns in zip(group.ids[order].tolist(), group.durations[order].tolist(), strict=True)
        ]
        yield table(
            ["step", "how long", "drawn by", "row"],
            lines,
            caption=f"{group.label}, the longest, as recorded: no estimate",
        )
