"""What the pages of probe and aa share: an experiment of an engine or a command, run in blocks, a fresh process each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.charts import runs
from akvsite.estimate import Estimate
from akvsite.estimators import Statistic
from akvsite.pages._control import COMMAND, STEP, level_runs
from akvsite.pages._html import Cell, captured, estimated, link, table, text
from akvsite.pages._noise import FEWEST
from akvsite.pages._run import Run

DIFFER = "DIFFER"
#: Facts that say whether all runs did the same, and what of them differs, in a stamp.
AGREEMENTS = {"outputs": "OUTPUTS", "schedule": "BATCHES", "steps_made": "NUMBERS OF STEPS"}
#: What a number is made of, in words, by what is timed.
WORDS = {STEP: "decode step", COMMAND: "wall clock of the command"}
#: Statistics of a run: the wall clock of a command is one number.
STATISTICS: Mapping[str, tuple[Statistic, ...]] = {STEP: ("median", "mean"), COMMAND: ("median",)}


class Paired:
    """One experiment: its facts, and the runs of each thing that was timed, in the order in which they were run."""

    def __init__(self, run: Run, facts: Mapping[tuple[str, str], str]) -> None:
        self.run, self.facts = run, facts
        self.page = f"experiments/{run.name}"
        found = {arm: level_runs(run.desk, run.id, arm) for arm in (STEP, COMMAND)}
        most = max(map(len, found.values()))
        #: What was timed in every run; what is first speaks in charts.
        self.timed = {arm: of for arm, of in found.items() if of and len(of) == most}
        self.arm = next(iter(self.timed), COMMAND)
        self.runs = self.timed.get(self.arm, [])
        self.blocks = len({one.block for one in self.runs})
        #: What the runs did not do alike, for what must be seen first.
        self.differing = tuple(
            what for key, what in AGREEMENTS.items() if DIFFER in facts.get(("capture", key), "")
        )

    @classmethod
    def facts_of(cls, run: Run, experiment: str) -> dict[tuple[str, str], str]:
        """The facts of a run that is this experiment; none of another."""
        rows = run.desk.ask("fact_list", run_id=run.id, order="part,key")
        facts = {(row["part"], row["key"]): row["value"] for row in rows}
        return facts if facts.get(("capture", "experiment")) == experiment else {}

    def said(self, key: str) -> str:
        return self.facts.get(("capture", key), "not stated")

    @property
    def is_command(self) -> bool:
        """Whether a command was run that need not know of us, and not the reference engine."""
        return ("contract", "command") in self.facts

    def name(self, arm: str, statistic: Statistic) -> str:
        return f"{statistic} {WORDS[arm]}" if arm == STEP else WORDS[arm]

    def over_runs(self, treatment: str, statistic: Statistic, arm: str | None = None) -> Estimate:
        of = self.timed[arm or self.arm]
        return self.run.marked(estimators.step_at_level(of, treatment, statistic))

    def effect(
        self, plain: str, treatment: str, statistic: Statistic = "median", arm: str | None = None
    ) -> Estimate:
        arm = arm or self.arm
        return self.run.marked(
            estimators.effect_of_looking(self.timed[arm], plain, treatment, statistic, fewest=FEWEST[arm])
        )

    def samples(self) -> list[tuple[str, int, np.ndarray[Any, Any]]]:
        """What each run measured, in the order in which they were run: treatment, block, ns (n,)."""
        columns = self.run.desk.columns(
            "loop_segment", run_id=self.run.id, arm=self.arm, order="process_id,number"
        )
        processes = np.unique(columns["process_id"])
        return [
            (one.level, one.block, columns["duration_ns"][columns["process_id"] == process])
            for one, process in zip(self.runs, processes, strict=True)
        ]

    def dots(self, treatments: Sequence[str]) -> list[runs.Run]:
        """A dot a run, treatment by treatment."""
        return [
            runs.Run(of, f"block {block}", self._of_run(ns), f"block {block}")
            for treatment in treatments
            for of, block, ns in self.samples()
            if of == treatment
        ]

    def _of_run(self, ns: np.ndarray[Any, Any]) -> Estimate:
        if self.arm == STEP:
            return self.run.marked(estimators.quantile(ns, 0.5, unit="ns"))
        why = "one wall clock"
        return self.run.marked(
            Estimate(int(ns[0]), None, None, 1, "ns", "the whole process, once", refusal=why)
        )

    def about(self) -> list[list[Any]]:
        """Rows of the table of the design that both pages have."""
        cut, kept = (
            self.said("shared.warm_up_steps"),
            self.facts.get(("capture", "shared.measured_steps"), "all"),
        )
        rows: list[list[Any]] = [
            ["captured in", Cell(link(self.run.name, f"../runs/{self.run.name}.html"), self.run.name)],
            ["what ran", captured(self.run.listed["engine"] or "not stated")],
        ]
        if self.is_command:
            number = self.facts.get(("contract", "arguments"), "not stated")
            rows.append(["arguments of the command", text(f"{number}, which are not told")])
        rows += [
            [f"engine's argument {key}", captured(value)] for key, value in self._under("contract", "engine.")
        ]
        rows += [
            [f"it says of its {key}", captured(value)] for key, value in self._under("capture", "engine.")
        ]
        rows += [[f"it states {key}", captured(value)] for key, value in self._under("capture", "stated.")]
        rows += [
            ["design", captured(self.said("design"))],
            ["blocks, each of them every treatment once", Cell(f"{self.blocks}")],
            ["seed of the order", captured(self.said("seed"))],
            ["order", captured(self.said("order"))],
        ]
        if STEP in self.timed:
            rows.append(
                [
                    "steps of each run",
                    text(f"{kept} decode steps measured, the {cut} before them cut, declared"),
                ]
            )
            rows.append(["step times are", captured(self.said("shared.steps"))])
        if COMMAND in self.timed:
            rows.append(["the wall clock is", text("that of the whole process, from its start to its end")])
        rows += [
            [what, captured(value)]
            for what, key in (
                ("outputs", "outputs"), ("SHA-256 of the tokens", "tokens_sha256"),
                ("batches of the steps", "schedule"), ("decode steps that the command made", "steps_made"),
            )
            if (value := self.facts.get(("capture", key)))
        ]  # fmt: skip
        return rows + [[f"quiet: {key}", captured(value)] for key, value in self._under("capture", "quiet.")]

    def lines(self) -> str:
        """The runs in their order, as the capture says them."""
        rows = [[key, captured(value)] for key, value in self._under("capture", "runs.")]
        return table(["run", "treatment, block, load and counts, as the capture says them"], rows)

    def _under(self, part: str, head: str) -> Iterator[tuple[str, str]]:
        for (of, key), value in sorted(self.facts.items()):
            if of == part and key.startswith(head):
                yield key.removeprefix(head), value


def cell(number: Estimate | str) -> Cell:
    return Cell(text(number)) if isinstance(number, str) else estimated(number)
