"""What every part of a run page knows of its run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from akvsite.charts import Footer
from akvsite.estimate import Estimate
from akvsite.pages import Desk, Record

#: What a level adds, and so what a run below it cannot say.
ADDS = {
    "runner": "runner phases, requests and tokens",
    "host": "the host's regions and layer windows inside each step",
    "device": "kernels, copies and fills on each device queue",
    "edge": "every runtime call with its thread, queue, event and result",
}
LEVELS = ("off", "runner", "host", "device", "edge")


@dataclass(frozen=True)
class Run:
    """One run as its pages see it."""

    desk: Desk
    listed: Record
    use_because: str
    clock: str
    timing: str
    warm_up_steps: int | None
    note: str | None
    coverage: tuple[Record, ...]

    @property
    def id(self) -> int:
        return int(self.listed["run_id"])

    @property
    def name(self) -> str:
        return str(self.listed["name"])

    @property
    def page(self) -> str:
        return f"runs/{self.name}"

    @property
    def level(self) -> str:
        return str(self.listed["level"])

    @property
    def use(self) -> str:
        return {
            "speed": "may state speed",
            "comparison under the same load": "compare under the same load only; not a speed",
            "structure": "structure, not speed",
            "nothing": "excluded: used for nothing",
        }[self.listed["use"]]

    def seen(self, *kinds: str) -> str:
        """What was seen, in both directions, in the words of the printed line."""
        parts = []
        for row in self.coverage:
            if kinds and row["kind"] not in kinds:
                continue
            what = {"calls with device records": "launched", "device records with a call": "have a call"}.get(
                row["direction"], "have device records"
            )
            parts.append(f"{_plural(row['kind'])} {row['seen']} of {row['expected']} {what}")
        return ", ".join(parts)

    @property
    def full_sight(self) -> bool | None:
        """Whether every call has its device records and every device record its call; None without any calls."""
        rows = [r for r in self.coverage if r["kind"] != "step"]
        both = {r["direction"] for r in rows}
        if len(both) < 2:
            return None
        return all(r["seen"] == r["expected"] for r in rows)

    def footer(
        self, *, method: str = "", seen: str = "", device: bool = False, notes: tuple[str, ...] = ()
    ) -> Footer:
        """The printed line of a chart of this run. ``device`` says that device times are in it."""
        return Footer(
            level=f"{self.level}, {self.listed['role']} host",
            control="" if self.level == "off" else "cost of looking unknown, no control: not a speed",
            seen=seen or "not from device records",
            clock=self.clock_line if device else "host only",
            method=method,
            notes=notes,
        )

    @property
    def clock_line(self) -> str:
        return {
            "vendor, unproven": "device to host by the vendor, unproven",
            "host only": "host only",
        }.get(self.clock, "unproven: the capture does not say how device times were made")

    def marked(self, number: Estimate) -> Estimate:
        """The number with what this run's numbers may be used for."""
        return replace(number, use=self.use)


def load(desk: Desk, listed: Record) -> Run:
    run_id = listed["run_id"]
    about = desk.ask("run_about", run_id=run_id)[0]
    return Run(
        desk=desk,
        listed=listed,
        use_because=about["because"],
        clock=about["clock"],
        timing=about["timing"],
        warm_up_steps=about["warm_up_steps"],
        note=about["note"],
        coverage=tuple(desk.ask("coverage", run_id=run_id, order="direction,kind")),
    )


def missing(level: str, question: str) -> str:
    """The sentence of a section that has nothing to show."""
    return f"\nThis capture has nothing to say here. {question} A capture at level `{level}` would show it: it adds {ADDS[level]}.\n"


def _plural(kind: str) -> str:
    return {
        "kernel": "kernels",
        "copy": "copies",
        "fill": "fills",
        "graph replay": "replays",
        "step": "steps",
    }.get(kind, kind)


def grouped(columns: dict[str, Any], key: str, value: str) -> dict[str, Any]:
    """Values of one column by another, in order of first appearance: ``{name: (n,) array}``."""
    names = columns[key]
    if not len(names):
        return {}
    labels, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    parts = np.split(columns[value][order], np.cumsum(np.bincount(inverse))[:-1])
    return {str(labels[i]): parts[i] for i in np.argsort(first)}
