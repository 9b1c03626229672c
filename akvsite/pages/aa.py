"""A page for each A/A experiment: by how much the same thing differs from itself on a host. Nothing looks on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from akvsite import estimators
from akvsite.charts import Drawing, Footer, runs, series, trials
from akvsite.pages import Desk, Page
from akvsite.pages._control import STEP
from akvsite.pages._html import items, stamp, table, text
from akvsite.pages._noise import AGAIN, A
from akvsite.pages._paired import AGREEMENTS, DIFFER, STATISTICS, Paired, cell
from akvsite.pages._quoted import quoted
from akvsite.pages._run import Run, load
from akvsite.pages._stamps import stamps

TITLE = "The same thing twice: the noise floor of a host"
#: Its name among a run's facts.
EXPERIMENT = "aa"


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        if listed["trials"] and (found := _Twice.of(load(desk, listed))):
            yield Page(found.page, found.text())


class _Twice(Paired):
    """One experiment as its page sees it."""

    @classmethod
    def of(cls, run: Run) -> _Twice | None:
        facts = cls.facts_of(run, EXPERIMENT)
        found = cls(run, facts) if facts else None
        return found if found and found.runs else None

    def text(self) -> str:
        run, figure = self.run, self.run.desk.figure
        parts = [
            f"# {TITLE}\n",
            stamps(run.desk, "../", run=run.name),
            stamp([text(self.said(key)) for key in AGREEMENTS if DIFFER in self.said(key)])
            if self.differing
            else "",
            text(
                f"One and the same {'command' if self.is_command else 'workload of an engine'} was run twice in each block, in fresh processes with nothing looking on, and the two were "
                f"treated as if they were two things: {A}, and {AGAIN}. What they differ by is what this host adds by itself. A difference of two "
                "other things on it is read beside this one."
            ) + "\n",
            quoted(run.note or ""),
            "\n## The noise floor\n",
            self._tables(),
            figure(self.page, "pairs", self._pairs(), "looking_run"),
            "\n## Each run\n",
            figure(self.page, "runs", self._each_run(), "loop_segment"),
            "\n## Drift over the order of runs\n",
            figure(self.page, "drift", self._drift(), "looking_run"),
            "\n## The design\n",
            table(["about", "this experiment"], self.about()),
            "\n## The runs in their order, and the load around each\n",
            self.lines(),
            "\n## What this does not establish\n",
            items(self._limits()),
        ]  # fmt: skip
        return "\n".join(part for part in parts if part)

    def _tables(self) -> str:
        """A number a row, before what it is of: two beside each other would stand beyond the edge of the page."""
        rows = []
        for arm in self.timed:
            for statistic in STATISTICS[arm]:
                what = self.name(arm, statistic)
                between = self.effect(A, AGAIN, statistic, arm)
                rows += [
                    [f"{AGAIN} against {A}, over the pairs", cell(between), what],
                    [
                        "a single pair, least to most",
                        cell(self.run.marked(estimators.one_pair(between))),
                        what,
                    ],
                    *([f"{t}, over runs", cell(self.over_runs(t, statistic, arm)), what] for t in (A, AGAIN)),
                ]
        return table(["what", "number", "of a run"], rows, prose=True)

    def _pairs(self) -> Drawing:
        between = self.effect(A, AGAIN)
        what = self.name(self.arm, "median")
        return trials.draw(
            f"By how much does the {what} differ between two runs of the same thing?",
            [trials.Treatment(f"{AGAIN} against {A}", list(between.dots), between)],
            self._footer(f"each dot a pair: {A} and {AGAIN} of the same block"),
            unit="%", references=[("the same", 0.0)], axis=f"difference of the {what}",
        )  # fmt: skip

    def _each_run(self) -> Drawing:
        what = self.name(self.arm, "median")
        return runs.draw(
            f"How long is the {what} of each run?", self.dots((A, AGAIN)),
            self._footer("a thin line joins the runs of one block"),
            bands=[(t, self.over_runs(t, "median")) for t in (A, AGAIN)], axis=what,
            each="steps" if self.arm == STEP else "time",
        )  # fmt: skip

    def _drift(self) -> Drawing:
        what = self.name(self.arm, "median")
        return series.draw(
            f"Does the {what} drift over the order of the runs?", [one.median_ns for one in self.runs],
            self._footer("each dot a run, in the order in which they were run"), unit="ns", order="run", axis=what,
        )  # fmt: skip

    def _limits(self) -> Iterator[str]:
        yield text(
            "It is the noise of this workload on this host at that time, under the load that is told beside each run. With another workload, length or load it is another."
        )
        yield text(
            "The band over the pairs says how far two sides with so many runs each may differ and yet be the same. Two single runs may differ by as much as single pairs did, and by more."
        )
        yield text(
            "The pairs lie side by side in time. Two runs that lie hours or a restart apart differ by more than this, by how much is unknown."
        )
        yield text(
            "A band that holds 0 is what the same thing twice is to give in 95 of 100 experiments. One that does not is no fault of the workload: see the drift and the load."
        )

    def _footer(self, note: str) -> Footer:
        made = self.run.footer(notes=(note, f"{self.blocks} blocks, a fresh process each run"))
        return replace(
            made, stamps=(*made.stamps, *(f"THE {what} OF THE RUNS DIFFER" for what in self.differing))
        )
