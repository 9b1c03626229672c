"""A page for each overlap experiment: whether copies and kernels share a device's time, by the wall clock alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from akvsite import estimators, triples
from akvsite.charts import Drawing, Footer, bands, trials
from akvsite.estimate import Estimate
from akvsite.pages import Desk, Page, Record
from akvsite.pages._html import Cell, captured, estimated, items, link, number_of, stamp, table, text
from akvsite.pages._quoted import quoted
from akvsite.pages._run import Run, load
from akvsite.pages._stamps import stamps
from akvsite.triples import Triple

TITLE = "Do copies and kernels share the device's time?"
#: Its name among a run's facts.
EXPERIMENT = "overlap"
OFF, ON = "timing off", "timing on"
ARMS = (("copy", "copies alone"), ("compute", "kernels alone"), ("both", "both"))
DIFFER = "DIFFER"


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        if listed["trials"] and (found := _Overlap.of(load(desk, listed))):
            yield Page(found.page, found.text())


class _Overlap:
    """One experiment as its page sees it."""

    def __init__(self, run: Run, facts: Mapping[str, str], rows: list[Record]) -> None:
        self.run, self.facts, self.rows = run, facts, rows
        self.page = f"experiments/{run.name}"
        self.runs = [
            Triple(r["treatment"], r["block"], r["copy_ns"], r["compute_ns"], r["both_ns"]) for r in rows
        ]
        self.treatments = sorted({r.treatment for r in self.runs})
        self.differ = facts.get("outputs", "").startswith(DIFFER)

    @classmethod
    def of(cls, run: Run) -> _Overlap | None:
        rows = run.desk.ask("fact_list", run_id=run.id)
        facts = {r["key"]: r["value"] for r in rows if r["part"] in ("capture", "contract")}
        if facts.get("experiment") != EXPERIMENT:
            return None
        found = run.desk.ask("overlap_run", run_id=run.id, order="process_id")
        return cls(run, facts, found) if found else None

    def text(self) -> str:
        run = self.run
        parts = [
            f"# {TITLE}\n",
            stamps(run.desk, "../", run=run.name),
            stamp([text(f"The outputs of the runs {self.facts['outputs']}")]) if self.differ else "",
            text(
                "Copies go to one queue of a device and kernels to another: alone, and together. Where they take turns, both take as long as the two alone "
                "after each other (overlap 0); where the shorter hides wholly, as long as the longer alone (overlap 1). Nothing looked on, and no device record is used: "
                "it is the wall clock alone that says so. In half of the runs the work's events carry times, since asking for times may itself change what the device does."
            ) + "\n",
            quoted(run.note or ""),
            "\n## Overlap\n",
            run.desk.figure(self.page, "overlap", self._overlap(), "overlap_run"),
            self._table(),
            "\n## The arms\n",
            run.desk.figure(self.page, "arms", self._arms(), "overlap_run"),
            run.desk.figure(self.page, "timing", self._timing(), "overlap_run") if self._paired() else "",
            "\n## Who waited for whom\n",
            self._submitted(),
            "\n## The design\n",
            self._design(),
            "\n## The runs in their order, and the load around each\n",
            self._listed(),
            "\n## What this does not establish\n",
            items(self._limits()),
        ]  # fmt: skip
        return "\n".join(part for part in parts if part)

    def _paired(self) -> bool:
        return {OFF, ON} <= set(self.treatments)

    def _overlap(self) -> Drawing:
        made = [(t, self._mark(triples.overlap(self.runs, t))) for t in self.treatments]
        between = (
            [("timing on minus timing off", self._mark(triples.difference(self.runs, OFF, ON)))]
            if self._paired()
            else []
        )
        return trials.draw(
            "How much of the shorter of copies and kernels hides under the other, by the wall clock?",
            [trials.Treatment(name, list(number.dots), number) for name, number in made],
            self._footer("each dot a run in a fresh process: a triple of means over its cycles"), unit=triples.UNIT,
            references=[("take turns", 0.0), ("the shorter hides wholly", 1.0)], headline=between, axis="overlap",
        )  # fmt: skip

    def _table(self) -> str:
        rows: list[list[Any]] = [
            [t, estimated(self._mark(triples.overlap(self.runs, t)))] for t in self.treatments
        ]
        if self._paired():
            rows.append(
                ["timing on minus timing off", estimated(self._mark(triples.difference(self.runs, OFF, ON)))]
            )
        return table(["events", "overlap"], rows)

    def _arms(self) -> Drawing:
        rows = [
            bands.Row(words, self._mark(self._over(arm, treatment)), treatment)
            for arm, words in ARMS
            for treatment in self.treatments
        ]
        return bands.draw(
            "How long does each arm take, by the wall clock?", rows,
            self._footer("over runs, each the mean over its cycles"), axis="wall clock",
        )  # fmt: skip

    def _timing(self) -> Drawing:
        made = [(words, self._mark(triples.effect(self.runs, OFF, ON, arm))) for arm, words in ARMS]
        return trials.draw(
            "By how much does each arm differ when the work's events carry times?",
            [trials.Treatment(name, list(number.dots), number) for name, number in made],
            self._footer("each dot a pair: the two runs of one block"), unit="%",
            references=[("as without times", 0.0)], axis="change of the wall clock",
        )  # fmt: skip

    def _submitted(self) -> str:
        rows: list[list[Any]] = []
        for treatment in self.treatments:
            for arm, words in ARMS:
                shares = [
                    100 * r[f"{arm}_submitted_ns"] / r[f"{arm}_ns"]
                    for r in self.rows
                    if r["treatment"] == treatment and r[f"{arm}_submitted_ns"] is not None
                ]
                if shares:
                    rows.append(
                        [treatment, words, estimated(self._mark(estimators.over_runs(shares, unit="%")))]
                    )
            empty = [
                r["empty_ns"] for r in self.rows if r["treatment"] == treatment and r["empty_ns"] is not None
            ]
            if empty:
                number = self._mark(estimators.over_runs(empty, unit="ns"))
                rows.append(
                    [treatment, "nothing submitted: what every arm costs by itself, whole", estimated(number)]
                )
        if not rows:
            return "\nThe capture does not say when all was submitted: whether the device waited for the host is unknown.\n"
        words = (
            "How much of an arm's wall clock went by until all of it was submitted. Close to 100 %, the device waited for the host, and the overlap is that of the "
            "host's calls and not of the device's queues. What every arm costs by itself is in two arms alone and once in both: divided by the shorter arm, the overlap may be too high by that much."
        )
        return f"\n{text(words)}\n" + table(["events", "arm", "until all was submitted"], rows)

    def _design(self) -> str:
        of, run = self.facts.get, self.run
        unknown = "not stated"
        rows: list[list[Any]] = [
            ["captured in", Cell(link(run.name, f"../runs/{run.name}.html"), run.name)],
            ["capture", "off: it may be the control of a claim about overlap" if run.level == "off" else run.level],
            *([f"{key.removeprefix('engine.')}", captured(value)] for key, value in self.facts.items() if key.startswith("engine.")),
            ["device asked for", captured(of("device", unknown))],
            ["pieces of each arm", captured(of("pieces", unknown))],
            ["bytes of a piece's copy", captured(of("copy_bytes", unknown))],
            ["kernels of a piece", captured(of("shared.kernels_per_piece", unknown))],
            ["size of a kernel", captured(of("kernel_size", unknown))],
            ["their number was", captured(of("shared.kernels_chosen_by", unknown))],
            ["timing on", captured(of("shared.timing_on", unknown))],
            ["timing off", captured(of("shared.timing_off", unknown))],
            ["cycles of a run", captured(of("shared.cycles", unknown))],
            ["cycles before them that no number uses", captured(of("shared.warm_up_cycles", unknown))],
            ["inside a process", captured(of("shared.order_inside_a_process", unknown))],
            ["times are", captured(of("shared.times", unknown))],
            ["design", captured(of("design", unknown))],
            ["seed of the order", captured(of("seed", unknown))],
            ["order", captured(of("order", unknown))],
            ["outputs", captured(of("outputs", unknown))],
        ]  # fmt: skip
        return table(["about", "this experiment"], rows)

    def _listed(self) -> str:
        lines = sorted((k, v) for k, v in self.facts.items() if k.startswith("runs."))
        head = ["run", "treatment, block and load, as the capture says them"]
        return table(head, [[k.removeprefix("runs."), captured(v)] for k, v in lines])

    def _limits(self) -> Iterator[str]:
        yield text(
            "The overlap is that of these copies and kernels on this host: of other sizes, or where a kernel waits for a copy, it is another one."
        )
        yield text(
            "It does not say what an engine does with the device: a claim about an engine needs the engine's own wall clock, with capture off."
        )
        yield text(
            "An overlap of 1 is no more than it says: the wall clock of both was that of the longer alone. Which engine of the device did the work is not known from this."
        )
        yield text("Estimates are not clipped: where the truth is 1, half of them lie above it.")

    def _over(self, arm: str, treatment: str) -> Estimate:
        values = [getattr(r, arm) for r in self.runs if r.treatment == treatment]
        return estimators.over_runs(values, unit="ns")

    def _mark(self, number: Estimate) -> Estimate:
        return self.run.marked(number)

    def _footer(self, note: str) -> Footer:
        made = self.run.footer(notes=(note, f"{number_of(len(self.runs), 'run')}, a fresh process each"))
        return replace(
            made, stamps=(*made.stamps, *(("THE OUTPUTS OF THE RUNS DIFFER",) if self.differ else ()))
        )
