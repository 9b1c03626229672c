"""A page for each probe experiment: what every capture level adds to a step of an engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.charts import Drawing, Footer, distribution, runs, trials
from akvsite.estimate import Estimate
from akvsite.estimators import LevelRun, Statistic
from akvsite.pages import Desk, Page
from akvsite.pages._control import OFF, level_runs
from akvsite.pages._html import Cell, captured, items, link, stamp, table, text
from akvsite.pages._quoted import quoted
from akvsite.pages._run import ADDS, Run, load
from akvsite.pages._stamps import stamps

TITLE = "What looking costs in an engine, level by level"
#: Its name among a run's facts.
EXPERIMENT = "probe"
DIFFER = "DIFFER"
_LEVELS = (OFF, *ADDS)
_STATISTICS: tuple[Statistic, ...] = ("median", "mean")


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        if listed["trials"] and (found := _Probe.of(load(desk, listed))):
            yield Page(found.page, found.text())


class _Probe:
    """One experiment as its page sees it."""

    def __init__(self, run: Run, facts: Mapping[tuple[str, str], str], of_levels: list[LevelRun]) -> None:
        self.run, self.facts, self.runs = run, facts, of_levels
        self.page = f"experiments/{run.name}"
        there = {one.level for one in of_levels}
        self.levels = [level for level in _LEVELS if level in there]
        self.blocks = len({one.block for one in of_levels})
        self.differing = tuple(
            what
            for key, what in (("outputs", "OUTPUTS"), ("schedule", "BATCHES"))
            if facts.get(("capture", key), "").startswith(DIFFER)
        )

    @classmethod
    def of(cls, run: Run) -> _Probe | None:
        rows = run.desk.ask("fact_list", run_id=run.id, order="part,key")
        facts = {(r["part"], r["key"]): r["value"] for r in rows}
        if facts.get(("capture", "experiment")) != EXPERIMENT:
            return None
        of_levels = level_runs(run.desk, run.id)
        return cls(run, facts, of_levels) if of_levels else None

    def text(self) -> str:
        run = self.run
        parts = [
            f"# {TITLE}\n",
            stamps(run.desk, "../", run=run.name),
            stamp([text(self._said(key)) for key in ("outputs", "schedule") if DIFFER in self._said(key)])
            if self.differing
            else "",
            text(
                "An engine that is looked at does more than one that is not. This experiment runs one workload of one engine in fresh processes, "
                "at every capture level once in each block, and takes the engine's own step times, which it keeps at every level alike. "
                "The effect of a level is that of pairs: a run at the level, and the run at level off of the same block. "
                "It is about the instrument: no step time in it is a speed."
            ) + "\n",
            quoted(run.note or ""),
            "\n## Level by level\n",
            self._tables(),
        ]  # fmt: skip
        for key, heading, question, chart in self._charts():
            parts.append(f"\n## {heading}\n")
            parts.append(run.desk.figure(self.page, key, chart, question))
        parts += [
            "\n## The design\n",
            self._design(),
            "\n## The runs in their order, and the load around each\n",
            self._runs(),
            "\n## What this does not establish\n",
            items(self._limits()),
        ]
        return "\n".join(part for part in parts if part)

    def _tables(self) -> str:
        """A table for the median and one for the mean: in one, the effects would stand beyond the edge of the page."""
        made = []
        for statistic in _STATISTICS:
            rows = [
                [
                    level,
                    _cell("the control" if level == OFF else self._effect(level, statistic)),
                    _cell(self._over_runs(level, statistic)),
                ]
                for level in self.levels
            ]
            head = ["level", f"what it adds to the {statistic} step", f"the {statistic} step, over runs"]
            made.append(table(head, rows))
        return "\n".join(made)

    def _charts(self) -> Iterator[tuple[str, str, str, Drawing]]:
        looking = [level for level in self.levels if level != OFF]
        effects = [(level, self._effect(level, "median")) for level in looking]
        yield (
            "effect", "What each level adds to a step", "looking_run",
            trials.draw(
                "By how much does the median decode step at each capture level differ from that at level off?",
                [trials.Treatment(level, list(number.dots), number) for level, number in effects],
                self._footer("each dot a pair: a run at the level, and the run at level off of the same block"),
                unit="%", references=[("as at level off", 0.0)], axis="change of the median step",
            ),
        )  # fmt: skip
        steps = self._steps()
        dots = [
            runs.Run(level, f"block {block}", self._mark(estimators.quantile(ns, 0.5, unit="ns")), f"block {block}")
            for level, block, ns in steps
        ]  # fmt: skip
        yield (
            "steps", "The median step of each run", "loop_segment",
            runs.draw(
                "How long is the median decode step of each run, and of each level?", dots,
                self._footer("a thin line joins the runs of one block"),
                bands=[(level, self._over_runs(level, "median")) for level in self.levels], axis="median step",
            ),
        )  # fmt: skip
        yield (
            "distribution", "How the steps are distributed", "loop_segment",
            distribution.draw(
                "How are the step times at each level distributed?",
                {level: [x for of, _, ns in steps if of == level for x in ns.tolist()] for level in self.levels},
                replace(
                    self._footer("the runs of a level differ among themselves: see their dots"),
                    method="empirical distribution, the measured steps of a level's runs together",
                ),
                unit="ns", axis="step time",
            ),
        )  # fmt: skip

    def _design(self) -> str:
        run, of = self.run, self._said
        cut, kept = of("shared.warm_up_steps"), of("shared.measured_steps")
        engine = [
            (key.removeprefix("engine."), value)
            for (part, key), value in self.facts.items()
            if part == "contract" and key.startswith("engine.")
        ]
        said = [
            (key.removeprefix("engine."), value)
            for (part, key), value in self.facts.items()
            if part == "capture" and key.startswith("engine.")
        ]
        rows: list[list[Any]] = [
            ["captured in", Cell(link(run.name, f"../runs/{run.name}.html"), run.name)],
            ["engine", captured(run.listed["engine"] or "not stated")],
            *([f"engine's argument {key}", captured(value)] for key, value in engine),
            *([f"the engine says of its {key}", captured(value)] for key, value in said),
            ["design", captured(of("design"))],
            ["blocks, each of them every level once", Cell(f"{self.blocks}")],
            ["seed of the order", captured(of("seed"))],
            ["order", captured(of("order"))],
            ["steps of each run", text(f"{kept} decode steps measured, the {cut} before them cut, declared")],
            ["step times are", captured(of("shared.steps"))],
            *([f"level {level} records", ADDS[level]] for level in self.levels if level != OFF),
            ["at level device, the device is looked at by", captured(of("shared.device_looked_at_by"))],
            ["at level edge, without that, calls are recorded by", captured(of("shared.calls_looked_at_by"))],
            ["tokens", captured(of("outputs"))],
            ["their SHA-256", captured(of("tokens_sha256"))],
            ["batches of the steps", captured(of("schedule"))],
        ]  # fmt: skip
        return table(["about", "this experiment"], rows)

    def _runs(self) -> str:
        lines = [
            (k, v)
            for (part, k), v in sorted(self.facts.items())
            if part == "capture" and k.startswith("runs.")
        ]
        return table(["run", "level, block, load and counts, as the capture says them"], [[k.removeprefix("runs."), captured(v)] for k, v in lines])  # fmt: skip

    def _limits(self) -> Iterator[str]:
        yield text(
            "The effect is that of this workload on this host: with another model, batch, backend or host, looking adds another part to a step."
        )
        yield text(
            "Each level is set against level off. Two levels are not set against each other: a difference of their effects has no band here."
        )
        yield text(
            f"At level device, every measured step was looked at ({self._said('shared.device_looked_at_by')}). A capture in which a profiler "
            "sees a few steps alone was looked at less in the others, and what writing its file costs is in neither. Level edge is without it."
        )
        yield text(
            "The median says little of rare long steps; they are in the mean. Steps of the warm-up, and all that is no decode step, are in neither."
        )
        yield text(
            "Two readings of a clock for each step are in every run, at level off as well: what they cost is in no effect."
        )
        yield text("Nothing is subtracted from any capture because of these numbers.")

    def _steps(self) -> list[tuple[str, int, np.ndarray[Any, Any]]]:
        """The measured steps of each run in their order: level, block, ns (n,)."""
        columns = self.run.desk.columns(
            "loop_segment", run_id=self.run.id, arm="decode step", order="process_id,number"
        )
        processes = np.unique(columns["process_id"])
        made = [
            (one.level, one.block, columns["duration_ns"][columns["process_id"] == process])
            for one, process in zip(self.runs, processes, strict=True)
        ]
        return [run for level in self.levels for run in made if run[0] == level]

    def _over_runs(self, level: str, statistic: Statistic) -> Estimate:
        return self._mark(estimators.step_at_level(self.runs, level, statistic))

    def _effect(self, level: str, statistic: Statistic) -> Estimate:
        return self._mark(estimators.effect_of_looking(self.runs, OFF, level, statistic))

    def _mark(self, number: Estimate) -> Estimate:
        return self.run.marked(number)

    def _said(self, key: str) -> str:
        return self.facts.get(("capture", key), "not stated")

    def _footer(self, note: str) -> Footer:
        made = self.run.footer(notes=(note, f"{self.blocks} blocks, a fresh process each run"))
        return replace(
            made,
            level=f"{self.levels[0]} to {self.levels[-1]}, {self.run.listed['role']} host",
            control="capture on in all runs but those at level off, which are the control: not a speed",
            stamps=(*made.stamps, *(f"THE {what} OF THE RUNS DIFFER" for what in self.differing)),
        )


def _cell(number: Estimate | str) -> Cell:
    return Cell(text(number)) if isinstance(number, str) else Cell(text(number.text()), number.value)
