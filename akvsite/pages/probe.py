"""A page for each probe experiment: what every capture level adds to a step of an engine, or to a command as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from akvsite.charts import Drawing, Footer, distribution, runs, trials
from akvsite.pages import Desk, Page
from akvsite.pages._control import COMMAND, OFF, STEP
from akvsite.pages._html import captured, items, stamp, table, text
from akvsite.pages._paired import AGREEMENTS, DIFFER, STATISTICS, Paired, cell
from akvsite.pages._quoted import quoted
from akvsite.pages._run import ADDS, Run, load
from akvsite.pages._stamps import stamps

TITLE = "What looking costs in an engine, level by level"
#: Its name among a run's facts.
EXPERIMENT = "probe"
_LEVELS = (OFF, *ADDS)


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        if listed["trials"] and (found := _Probe.of(load(desk, listed))):
            yield Page(found.page, found.text())


class _Probe(Paired):
    """One experiment as its page sees it."""

    @classmethod
    def of(cls, run: Run) -> _Probe | None:
        facts = cls.facts_of(run, EXPERIMENT)
        found = cls(run, facts) if facts else None
        return found if found and found.runs else None

    @property
    def levels(self) -> list[str]:
        there = {one.level for one in self.runs}
        return [level for level in _LEVELS if level in there]

    def text(self) -> str:
        run = self.run
        what = "one command" if self.is_command else "one workload of one engine"
        told = "its decode steps, which it tells at every level alike" if self.is_command else "the engine's own step times, which it keeps at every level alike"  # fmt: skip
        takes = {STEP: told, COMMAND: "the wall clock of the whole process"}
        parts = [
            f"# {TITLE}\n",
            stamps(run.desk, "../", run=run.name),
            stamp([text(self.said(key)) for key in AGREEMENTS if DIFFER in self.said(key)])
            if self.differing
            else "",
            text(
                f"An engine that is looked at does more than one that is not. This experiment runs {what} in fresh processes, "
                f"at every capture level once in each block, and takes {' and '.join(takes[arm] for arm in self.timed)}. "
                "The effect of a level is that of pairs: a run at the level, and the run at level off of the same block. "
                "It is about the instrument: no time in it is a speed."
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
            self.lines(),
            "\n## What this does not establish\n",
            items(self._limits()),
        ]
        return "\n".join(part for part in parts if part)

    def _tables(self) -> str:
        """A table for each statistic: in one, the effects would stand beyond the edge of the page."""
        made = []
        for arm in self.timed:
            for statistic in STATISTICS[arm]:
                rows = [
                    [
                        level,
                        cell("the control" if level == OFF else self.effect(OFF, level, statistic, arm)),
                        cell(self.over_runs(level, statistic, arm)),
                    ]
                    for level in self.levels
                ]
                what = self.name(arm, statistic)
                head = ["level", f"what it adds to the {what}", f"the {what}, over runs"]
                made.append(table(head, rows, prose=True))
        return "\n".join(made)

    def _charts(self) -> Iterator[tuple[str, str, str, Drawing]]:
        looking = [level for level in self.levels if level != OFF]
        effects = [(level, self.effect(OFF, level)) for level in looking]
        what, short = self.name(self.arm, "median"), "median step" if self.arm == STEP else "wall clock"
        yield (
            "effect", "What each level adds to a step" if self.arm == STEP else "What each level adds to the command",
            "looking_run",
            trials.draw(
                f"By how much does the {what} at each capture level differ from that at level off?",
                [trials.Treatment(level, list(number.dots), number) for level, number in effects],
                self._footer("each dot a pair: a run at the level, and the run at level off of the same block"),
                unit="%", references=[("as at level off", 0.0)], axis=f"change of the {short}",
            ),
        )  # fmt: skip
        yield (
            "steps", f"The {short} of each run", "loop_segment",
            runs.draw(
                f"How long is the {what} of each run, and of each level?", self.dots(self.levels),
                self._footer("a thin line joins the runs of one block"),
                bands=[(level, self.over_runs(level, "median")) for level in self.levels], axis=short,
                each="steps" if self.arm == STEP else "time",
            ),
        )  # fmt: skip
        if self.arm != STEP:
            return
        samples = self.samples()
        yield (
            "distribution", "How the steps are distributed", "loop_segment",
            distribution.draw(
                "How are the step times at each level distributed?",
                {level: [x for of, _, ns in samples if of == level for x in ns.tolist()] for level in self.levels},
                replace(
                    self._footer("the runs of a level differ among themselves: see their dots"),
                    method="empirical distribution, the measured steps of a level's runs together",
                ),
                unit="ns", axis="step time",
            ),
        )  # fmt: skip

    def _design(self) -> str:
        rows: list[list[Any]] = [
            *self.about(),
            *([f"level {level} records", ADDS[level]] for level in self.levels if level != OFF),
            [
                "at level device, the device is looked at by",
                captured(self.said("shared.device_looked_at_by")),
            ],
            [
                "at level edge, without that, calls are recorded by",
                captured(self.said("shared.calls_looked_at_by")),
            ],
        ]
        return table(["about", "this experiment"], rows)

    def _limits(self) -> Iterator[str]:
        yield text(
            "The effect is that of this workload on this host: with another model, batch, backend or host, looking adds another part to a step."
        )
        yield text(
            "Each level is set against level off. Two levels are not set against each other: a difference of their effects has no band here."
        )
        if self.is_command:
            yield text(
                "What a level is for a command is what the command makes of it. Level device is what it does by itself where it is told so "
                "($AKV_LEVEL is device): a command that does nothing then was looked at no closer than at level host. Where a recorder saw 0 records of it (see the runs), "
                "the effect of the level is that of loading the recorder."
            )
        else:
            yield text(
                f"At level device, every measured step was looked at ({self.said('shared.device_looked_at_by')}). A capture in which a profiler "
                "sees a few steps alone was looked at less in the others, and what writing its file costs is in neither. Level edge is without it."
            )
        if STEP in self.timed:
            yield text(
                "The median says little of rare long steps; they are in the mean. Steps of the warm-up, and all that is no decode step, are in neither."
            )
            yield text(
                "Two readings of a clock for each step are in every run, at level off as well: what they cost is in no effect."
            )
        if COMMAND in self.timed:
            yield text(
                "The wall clock of a command holds all that it does once: loading, compiling, the writing of files. A longer run has another part of them."
            )
        yield text("Nothing is subtracted from any capture because of these numbers.")

    def _footer(self, note: str) -> Footer:
        made = self.run.footer(notes=(note, f"{self.blocks} blocks, a fresh process each run"))
        return replace(
            made,
            level=f"{self.levels[0]} to {self.levels[-1]}, {self.run.listed['role']} host",
            control="capture on in all runs but those at level off, which are the control: not a speed",
            stamps=(*made.stamps, *(f"THE {what} OF THE RUNS DIFFER" for what in self.differing)),
        )
