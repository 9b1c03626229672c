"""What looking costs on each host: its probe and tracer experiments, level by level, and its noise floor beside them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from akvsite import estimators
from akvsite.charts import Drawing, Footer, bands
from akvsite.estimate import Estimate, unknown
from akvsite.estimators import LevelRun, Statistic
from akvsite.pages import Desk, Record, _noise, probe, tracer
from akvsite.pages._control import COMMAND, OFF, STEP, level_runs
from akvsite.pages._html import Cell, captured, estimated, number_of, table, text
from akvsite.pages._run import ADDS, load
from akvsite.pages._stamps import run_cell, stamped_runs, withdrawn_runs

STATISTICS: tuple[Statistic, ...] = ("median", "mean")
NONE = "unknown: no experiment"
#: The use of every number here.
USE = "structure, not speed"
#: Rows of a host's chart, at most; the tables have all.
DRAWN = 24
#: What a run must hold before its effect has a band, and its name, by what was timed.
_TIMED = {STEP: (estimators.FEWEST_SAMPLES, "decode step"), COMMAND: (1, "whole command, by the wall clock")}

_ABOUT = (
    "A level is set against level off of the same experiment: the same work in fresh processes, in blocks that hold each level once. Each "
    "effect is that of its own workload on its own host; with another engine, model or batch, looking adds another part. A level of which "
    "no experiment was made on a host costs there what nobody knows."
)


@dataclass(frozen=True)
class Effect:
    """What one experiment says of one level: in per cent of the step (or the command) at level off."""

    experiment: Record
    level: str
    timed: str
    median: Estimate
    #: None of a whole command: it has one time a run, whose mean is its median.
    mean: Estimate | None


def write(desk: Desk, page: str) -> str:
    made = defaultdict(list)
    for row in desk.ask("experiment_list", order="what,host,place"):
        made[row["host"]].append(row)
    hosts = [(row["host"], row["role"]) for row in desk.ask("host_list", order="host")]
    if None in made:
        hosts.append((None, "unknown"))
    parts = [f"\n{text(_ABOUT)}\n"]
    keys: dict[str, int] = {}
    for host, role in hosts:
        slug = "looking-" + (re.sub(r"[^a-z0-9]+", "-", str(host or "no host").lower()).strip("-") or "host")
        keys[slug] = keys.get(slug, 0) + 1
        key = slug if keys[slug] == 1 else f"{slug}-{keys[slug]}"
        parts.append(_host(desk, page, key, host, role, made[host]))
    return "\n".join(parts) if hosts else f"{parts[0]}\nNo host is in the store.\n"


def _host(desk: Desk, page: str, key: str, host: str | None, role: str, made: Sequence[Record]) -> str:
    name = host or "no host stated"
    parts = [f"\n### {text(name)}\n", text(f"Role: {role}. {_floor(desk, host)}.") + "\n"]
    effects = [effect for row in made if row["what"] == probe.EXPERIMENT for effect in _effects(desk, row)]
    parts.append(_levels(desk, effects))
    if effects:
        parts.append(desk.figure(page, key, _chart(desk, name, role, effects), "looking_run"))
    parts.append(_tracers(desk, [row for row in made if row["what"] == tracer.EXPERIMENT]))
    return "\n".join(parts)


def _floor(desk: Desk, host: str | None) -> str:
    line = _noise.line(_noise.of_host(desk, host) if host else ())
    return line[:1].upper() + line[1:]


def _effects(desk: Desk, row: Record) -> Iterator[Effect]:
    """Of each level that the experiment has, for whatever it timed."""
    for arm, (fewest, timed) in _TIMED.items():
        runs = level_runs(desk, row["run_id"], arm)
        there = {run.level for run in runs}
        for level in ADDS:
            if OFF in there and level in there:
                median = _effect(runs, level, "median", fewest)
                mean = None if arm == COMMAND else _effect(runs, level, "mean", fewest)
                yield Effect(row, level, timed, median, mean)


def _effect(runs: Sequence[LevelRun], level: str, statistic: Statistic, fewest: int) -> Estimate:
    return replace(estimators.effect_of_looking(runs, OFF, level, statistic, fewest=fewest), use=USE)


def _levels(desk: Desk, effects: Sequence[Effect]) -> str:
    stamped = stamped_runs(desk)
    rows: list[list[object]] = []
    for number, level in enumerate(ADDS, 1):
        own = [effect for effect in effects if effect.level == level]
        rows += [
            [
                Cell(text(level), f"{number} {level}"), estimated(e.median), Cell("–") if e.mean is None else estimated(e.mean), e.timed,
                run_cell(e.experiment["experiment"], stamped, folder="experiments"), captured(e.experiment["engine"] or "not stated"),
                e.experiment["started"] or "not stated",
            ]
            for e in own
        ]  # fmt: skip
        if not own:
            rows.append([Cell(text(level), f"{number} {level}"), Cell(NONE), Cell(NONE), *["–"] * 4])
    head = ["level", "added to the median", "added to the mean", "of", "experiment", "engine", "made on"]
    return table(head, rows, caption="What each level adds, newest experiment first")


def _chart(desk: Desk, host: str, role: str, effects: Sequence[Effect]) -> Drawing:
    several = len({e.experiment["experiment"] for e in effects}) > 1
    timed = {e.timed for e in effects}
    drawn: list[bands.Row] = []
    for level in ADDS:
        own = [e for e in effects if e.level == level]
        for e in own:
            label = ", ".join(
                [
                    level,
                    *([e.experiment["experiment"]] if several else []),
                    *([e.timed] if len(timed) > 1 else []),
                ]
            )
            drawn += [
                bands.Row(label, number, s)
                for s, number in zip(STATISTICS, (e.median, e.mean), strict=True)
                if number is not None
            ]
        if not own:
            drawn += [bands.Row(level, unknown("no experiment", "%"), s) for s in STATISTICS]
    names = list(dict.fromkeys(e.experiment["experiment"] for e in effects))
    left = f"; {len(drawn) - DRAWN} more in the table above" if len(drawn) > DRAWN else ""
    return bands.draw(
        f"By how much does looking, level by level, change what is timed on host {host}?",
        drawn[:DRAWN],
        Footer(
            of=f"host {host}: " + ", ".join(names),
            level=f"{OFF} to edge, {role} host",
            control="capture on in all runs but those at level off, which are the control: not a speed",
            seen="not from device records",
            clock="host only",
            use=USE,
            notes=(
                f"in per cent of the same at level off; of: {', '.join(sorted(timed))}",
                f"each effect is of its experiment's own engine and workload{left}",
            ),
            stamps=withdrawn_runs(desk, names),
        ),
        axis="change, per cent of level off",
    )  # fmt: skip


def _tracers(desk: Desk, rows: Sequence[Record]) -> str:
    """What recording a runtime call adds to it: time and bytes, each way of looking beside the others."""
    if not rows:
        return text("What a tracer adds to a runtime call here: unknown, no experiment.") + "\n"
    listed = {run["run_id"]: run for run in desk.ask("run_list", order="name")}
    stamped = stamped_runs(desk)
    lines = [
        [
            captured(cost.treatment), estimated(cost.time), estimated(cost.memory),
            run_cell(row["experiment"], stamped, folder="experiments"), captured(row["engine"] or "not stated"),
            row["started"] or "not stated",
        ]
        for row in rows
        for cost in tracer.costs(load(desk, listed[row["run_id"]]))
    ]  # fmt: skip
    head = [
        "looked at by",
        "added to a call",
        "memory that stays with it",
        "experiment",
        "of",
        "made on",
    ]
    caption = f"What recording a runtime call adds to it, in time and in anonymous memory: {number_of(len(rows), 'experiment')}, newest first"
    return table(head, lines, caption=caption)
