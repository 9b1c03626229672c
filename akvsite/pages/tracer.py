"""A page for each tracer experiment: what looking on adds to a runtime call, in time and in memory that stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.charts import Drawing, Footer, bands, series, trials
from akvsite.estimate import Estimate
from akvsite.estimators import LoopRun
from akvsite.pages import Desk, Page
from akvsite.pages._html import Cell, captured, estimated, items, link, table, text
from akvsite.pages._quoted import quoted
from akvsite.pages._run import Run, load
from akvsite.pages._stamps import stamps

TITLE = "A shim when the vendor tracer leaked"
#: Its name among a run's facts.
EXPERIMENT = "tracer"
NOTHING = "nothing"
ARMS = (("loop", "by the wall clock"), ("calling thread", "of the calling thread's processor time"))
KINDS = ("resident", "anonymous")


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        if listed["trials"] and (found := _Tracer.of(load(desk, listed))):
            yield Page(found.page, found.text())


@dataclass(frozen=True)
class Cost:
    """What one way of looking adds to a call of the loop: ns by the wall clock, and bytes of anonymous memory that stay."""

    treatment: str
    time: Estimate
    memory: Estimate


def costs(run: Run) -> list[Cost]:
    """Of each way of looking in this experiment; none where it is no tracer experiment, or not whole."""
    found = _Tracer.of(run)
    return found.costs() if found else []


class _Tracer:
    """One experiment as its page sees it."""

    def __init__(self, run: Run, facts: Mapping[str, str], runs: list[LoopRun], blocks: int) -> None:
        self.run, self.facts, self.runs, self.blocks = run, facts, runs, blocks
        self.page = f"experiments/{run.name}"
        self.treatments = list(dict.fromkeys(r.treatment for r in runs))
        self.treatments.sort(key=lambda t: (t != NOTHING, t != "shim", t))
        segments = len(next(iter(runs[0].segments_ns.values())))
        #: Calls in one segment, counted by the vendor's text trace before the first run.
        self.calls = float(facts["shared.calls_per_iteration"]) * int(facts["iterations"]) / segments
        #: What each way of looking adds to a call, by what was timed.
        self.added = {
            arm: [
                (t, self._mark(estimators.added_time(runs, NOTHING, t, arm, self.calls)))
                for t in self.treatments[1:]
            ]
            for arm, _ in ARMS
            if arm in runs[0].segments_ns
        }

    @classmethod
    def of(cls, run: Run) -> _Tracer | None:
        rows = run.desk.ask("fact_list", run_id=run.id)
        facts = {r["key"]: r["value"] for r in rows if r["part"] in ("capture", "contract")}
        if (
            facts.get("experiment") != EXPERIMENT
            or not {"shared.calls_per_iteration", "iterations"} <= facts.keys()
        ):
            return None
        runs, blocks = _loop_runs(run)
        return cls(run, facts, runs, blocks) if runs else None

    def costs(self) -> list[Cost]:
        """By the wall clock, and in the memory that no file stands behind."""
        return [
            Cost(name, time, self._mark(estimators.growth(self.runs, name, "anonymous", self.calls)))
            for name, time in self.added["loop"]
        ]

    def text(self) -> str:
        run = self.run
        parts = [
            f"# {TITLE}\n",
            stamps(run.desk, "../", run=run.name),
            text(
                "A tracer that is to stay on must add little to a call, and keep nothing of it in memory. This experiment runs one small loop of copies, "
                "kernels and waits in fresh processes: alone, under the shim, under the vendor's tracing, and with the vendor's text trace. "
                "It is about the tracers: nothing in it is a speed of any engine."
            ) + "\n",
            quoted(run.note or ""),
            self._about(),
        ]  # fmt: skip
        for key, heading, question, chart in self._charts():
            parts.append(f"\n## {heading}\n")
            parts.append(run.desk.figure(self.page, key, chart, question))
        parts += [
            "\n## All numbers\n",
            self._numbers(),
            "\n## What this does not establish\n",
            items(self._limits()),
        ]
        return "\n".join(part for part in parts if part)

    def _about(self) -> str:
        rows: list[list[Any]] = [
            ["captured in", Cell(link(self.run.name, f"../runs/{self.run.name}.html"), self.run.name)],
            ["design", captured(self.facts.get("design", "not stated"))],
            ["blocks, each of them every treatment once", Cell(f"{self.blocks}")],
            ["seed of the order", captured(self.facts.get("seed", "not stated"))],
            ["calls an iteration", text(f"{float(self.facts['shared.calls_per_iteration']):g}, counted")],
            ["counted by", captured(self.facts.get("shared.calls_counted_by", "not stated"))],
            ["iterations a run", captured(self.facts["iterations"])],
            ["the vendor's tracing is", captured(self.facts.get("shared.vendor_tracing", "not stated"))],
            ["what the tracers print goes to", captured(self.facts.get("shared.traces_printed_to", "not stated"))],
        ]  # fmt: skip
        return table(["about", "this experiment"], rows)

    def _charts(self) -> Iterator[tuple[str, str, str, Drawing]]:
        for arm, words in ARMS:
            if arm not in self.added:
                continue
            yield (
                f"added-{arm.replace(' ', '-')}", f"What looking adds to a call, {words}", "loop_segment",
                trials.draw(
                    f"How much does each way of looking add to a runtime call, {words}?",
                    [trials.Treatment(name, list(number.dots), number) for name, number in self.added[arm]],
                    self._footer("each dot a pair: a run looked at, and one that was not, of the same block"),
                    unit="ns", references=[("nothing added", 0.0)], axis="added time a call",
                ),
            )  # fmt: skip
        for kind in KINDS:
            rows = [
                bands.Row(t, self._mark(estimators.growth(self.runs, t, kind, self.calls, half=half)), name)
                for t in self.treatments
                for half, name in enumerate(("first half", "second half"))
            ]
            yield (
                f"growth-{kind}", f"What stays in {kind} memory", "loop_memory",
                bands.draw(
                    f"How much {kind} memory stays with each runtime call, early and late in a run?", rows,
                    self._footer("read alike for every treatment, between segments, from smaps_rollup"),
                    axis=f"{kind} memory that stays with a call",
                ),
            )  # fmt: skip
        for treatment in self.treatments:
            first = next(r for r in self.runs if r.treatment == treatment)
            points = first.memory["anonymous"]
            yield (
                f"over-time-{self.treatments.index(treatment)}", f"Anonymous memory over one run: {text(treatment)}", "loop_memory",
                series.draw(
                    f"How much anonymous memory did the first run with {treatment} hold since its loop began?",
                    [int(v - points[0]) for v in points.tolist()],
                    self._footer(f"every sample of one run of {len([r for r in self.runs if r.treatment == treatment])}"),
                    unit="bytes", order="sample between segments", axis="anonymous memory since the loop began",
                ),
            )  # fmt: skip

    def _numbers(self) -> str:
        rows = []
        for arm, words in ARMS:
            if arm not in self.added:
                continue
            plain = self._mark(estimators.plain_time(self.runs, NOTHING, arm, self.calls))
            rows.append([f"a call, loop and all, {words}", NOTHING, estimated(plain)])
            rows += [[f"added to a call, {words}", t, estimated(number)] for t, number in self.added[arm]]
        for kind in KINDS:
            for t in self.treatments:
                number = self._mark(estimators.growth(self.runs, t, kind, self.calls))
                rows.append(
                    [f"{kind} memory that stays with a call, over the whole run", t, estimated(number)]
                )
        return table(["what", "treatment", "number and band"], rows)

    def _limits(self) -> Iterator[str]:
        yield text(
            "The loop is made of cheap calls on a CPU device: what a tracer adds to a call of another kind, or beside a busy card, is another number."
        )
        yield text(
            "Resident memory of the shim holds pages of the file that it writes, a bounded window of them; the growth is that of the first "
            "pages, and the two halves of a run tell whether it goes on."
        )
        yield text(
            "A tracer's growth seen here is an association with it being on: what inside it keeps the memory is not known from this."
        )

    def _mark(self, number: Estimate) -> Estimate:
        return self.run.marked(number)

    def _footer(self, note: str) -> Footer:
        return self.run.footer(notes=(note, f"{self.blocks} blocks, a fresh process each run"))


def _loop_runs(run: Run) -> tuple[list[LoopRun], int]:
    """The runs of the experiment that are whole, in the order in which they were run, and the number of blocks."""
    segments = run.desk.columns("loop_segment", run_id=run.id, order="process_id,arm,number")
    memory = run.desk.columns("loop_memory", run_id=run.id, order="process_id,at_ns")
    made = []
    for process in np.unique(segments["process_id"]):
        mine, points = segments["process_id"] == process, memory["process_id"] == process
        arms = segments["arm"][mine]
        times = {
            str(arm): segments["duration_ns"][mine][arms == arm].astype(np.float64)
            for arm in dict.fromkeys(arms)
        }
        if not points.any() or len({len(t) for t in times.values()} | {int(points.sum()) - 1}) != 1:
            continue
        made.append(
            LoopRun(
                treatment=str(segments["treatment"][mine][0]),
                segments_ns=times,
                memory={kind: memory[f"{kind}_bytes"][points].astype(np.float64) for kind in KINDS},
            )
        )
    counts = {t: sum(r.treatment == t for r in made) for t in {r.treatment for r in made}}
    whole = len(set(counts.values())) == 1 and NOTHING in counts
    return (made, counts[NOTHING]) if whole else ([], 0)
