"""What every part of a run page knows of its run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from akvsite import estimators
from akvsite.charts import Footer
from akvsite.estimate import Estimate
from akvsite.pages import Desk, Record, _control
from akvsite.pages import _clock_words as clock_words
from akvsite.pages._stamps import stamped_runs, withdrawn, withdrawn_runs
from akvsite.tables import LEVELS
from akvsite.wording import number_of

#: What a level adds, and so what a run below it cannot say.
ADDS = {
    "runner": "runner phases, requests and tokens",
    "host": "the host's regions and layer windows inside each step",
    "device": "kernels, copies and fills on each device queue",
    "edge": "every runtime call with its thread, queue, event and result",
}

#: What stands beside a number of a run, by the use that ``run_use`` tells.
USES = {
    "speed": "may state speed",
    "comparison under the same load": "compare under the same load only; not a speed",
    "structure": "structure, not speed",
    "nothing": "used for nothing",
}


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
    #: For the inside of each chart: the retractions that this run's numbers stand under.
    withdrawn: tuple[str, ...]
    #: What is known of the devices' times on the host's axis: rows of ``device_clock``.
    clocks: tuple[Record, ...]
    #: How far the axis of the recorder is known against that of another tool in the run, ns; 0 where there is none.
    axis_bound_ns: int
    #: The step in which the file writes its device times, ns; None without device times.
    tick_ns: int | None
    #: Why it is unknown whether every device record is there; empty where nothing says that one is missing.
    blind: str
    #: What looking on cost at its level, for the printed line; empty at level off.
    control: str

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

    def at_level(self, level: str) -> bool:
        """Whether the run was captured at this level or at one that adds to it."""
        return self.level in LEVELS and level in LEVELS and LEVELS.index(self.level) >= LEVELS.index(level)

    @property
    def use(self) -> str:
        return USES[self.listed["use"]]

    def seen(self, *kinds: str) -> str:
        """What was seen, in both directions, in the words of the printed line."""
        said = seen_of(self.coverage, *kinds)
        expected = sum(row["expected"] for row in self.coverage if row["kind"] == "step")
        # Steps of a file without calls are expected to have none: that they are there must not be hidden.
        others = expected < (self.listed["steps"] or 0) and "step" in (kinds or ("step",))
        return said + (
            f" (where calls were recorded, of {number_of(self.listed['steps'], 'step')} in all)"
            if expected and others
            else ""
        )

    @property
    def full_sight(self) -> bool:
        """Whether a gap in the device records may be spoken of. The rule is ``sight.sql``."""
        return not self.blind

    def footer(
        self,
        *,
        method: str = "",
        seen: str = "",
        axis: Literal["host", "device", "vendor", "constraints", "both"] = "host",
        notes: tuple[str, ...] = (),
    ) -> Footer:
        """The printed line of a chart of this run.

        ``axis``: whose times are in it. Those of one device need no conversion among each other (``vendor`` and
        ``constraints``: those alone that came that way); ``both`` says that times of a device are compared with times
        of the host.
        """
        return Footer(
            of=f"run {self.name}" + (f" on {self.listed['host']}" if self.listed["host"] else ""),
            level=f"{self.level}, {self.listed['role']} host",
            control=self.control,
            seen=seen or "not from device records",
            clock=self._clock_of(axis),
            method=method,
            use=self.use,
            stamps=self.withdrawn,
            notes=(*notes, *((self.ticks,) if axis != "host" and self.ticks else ())),
        )

    def _clock_of(self, axis: str) -> str:
        if axis == "host":
            return "host only"
        return self.clock_line if axis == "both" else self.device_line(*([] if axis == "device" else [axis]))

    @property
    def clock_line(self) -> str:
        """What is printed of the clocks under a chart that has device times on the host's axis."""
        if not self.listed["intervals"]:
            return "host only"
        said = clock_words.line(self.clocks, self.axis_bound_ns)
        return said or "unproven: the capture does not say how device times were made"

    def device_line(self, *made_by: str) -> str:
        """What is printed of the clocks under a chart of device times alone, which no conversion comes into.

        ``made_by``: whose times are in it, where not all of the run's.
        """
        clocks = [c for c in self.clocks if not made_by or c["made_by"] in made_by]
        own = sum(c["made_by"] == "constraints" for c in clocks)
        parts = ["device times as the vendor converted them, unproven"] if own < len(clocks) else []
        if own:
            each = "one device counter" if own == 1 else f"{own} device counters, each"
            parts.append(f"{each} assumed to stamp all times of its device")
        return "; ".join([*parts, "no host time is in it"])

    @property
    def ticks(self) -> str:
        """How finely device times are written, and the tick of the counter behind them, which may be coarser."""
        if self.tick_ns is None:
            return ""
        coarsest = max(self.clocks, key=lambda c: (c["tick_ns"] is None, c["tick_ns"] or 0), default=None)
        own = clock_words.tick(coarsest["tick_ns"], coarsest["tick_by"]) if coarsest else "unknown"
        return f"device times written in steps of {self.tick_ns} ns; the counter's own tick is {own}"

    @property
    def least_gap_ns(self) -> int:
        """No gap of this length or less is stated: both of its ends are rounded to a tick."""
        return 2 * max([self.tick_ns or 1, *(c["tick_ns"] or 1 for c in self.clocks)])

    def marked(self, number: Estimate) -> Estimate:
        """The number with what this run's numbers may be used for."""
        return replace(number, use=self.use)


def seen_of(coverage: Sequence[Record], *kinds: str) -> str:
    """Rows of ``coverage`` in the words of the printed line; those of some kinds alone, where they are named."""
    parts = []
    for row in coverage:
        if kinds and row["kind"] not in kinds:
            continue
        what = {"calls with device records": "launched", "device records with a call": "have a call"}.get(
            row["direction"], "have device records"
        )
        parts.append(f"{_plural(row['kind'])} {row['seen']} of {row['expected']} {what}")
    return ", ".join(parts)


def load(desk: Desk, listed: Record) -> Run:
    """What the pages of a run know of it: several pages show it, and one look at its device records is long."""
    return desk.once(f"run {listed['run_id']}", lambda: _loaded(desk, listed))


def _loaded(desk: Desk, listed: Record) -> Run:
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
        withdrawn=withdrawn(desk, "run", listed["name"])
        + withdrawn_runs(desk, stamped_history(desk, run_id), besides=listed["name"]),
        clocks=tuple(desk.ask("device_clock", run_id=run_id, order="process_id,device,made_by")),
        axis_bound_ns=about["axis_bound_ns"] or 0,
        tick_ns=_tick(desk, run_id) if listed["intervals"] else None,
        blind=desk.ask("sight", run_id=run_id)[0]["because"],
        control=_control.line(desk, run_id, listed["level"]),
    )


def stamped_history(desk: Desk, run_id: int) -> tuple[str, ...]:
    """The other runs of its named history, whose spread is in the band by history, that stand under a retraction."""
    stamped = stamped_runs(desk)
    if not stamped:
        return ()
    rows = desk.ask("history_of", run_id=run_id, order="place")
    return tuple(dict.fromkeys(r["other"] for r in rows if r["other"] in stamped))


def counter_of(row: Record) -> tuple[int, str] | None:
    """Whose counter a device record's times are of: None for the one axis of what a vendor converted."""
    return (row["process_id"], row["device"]) if row["clock"] else None


def _tick(desk: Desk, run_id: int) -> int | None:
    """The greatest step that all device times of the run are whole numbers of, counted from the first of them."""
    columns = desk.columns("interval", run_id=run_id, only=("start_ns", "end_ns", "clock"))
    # Two clocks have no common step: where there are converted times, theirs is told.
    converted = columns["clock"].astype(object) != "device"
    rows = converted if converted.any() else ~converted
    times = [columns[name][rows] for name in ("start_ns", "end_ns") if columns[name].dtype == np.int64]
    if not times or not len(times[0]):
        return None
    every = np.concatenate(times)
    step = int(np.gcd.reduce(every - every.min()))
    return step or None


@dataclass(frozen=True)
class StepGroups:
    """Steps of a run, in groups that may stand in one number: of one process, one kind and one source.

    ``columns`` are those of ``step_time``, (n,) each; ``groups`` holds a label and a mask, (n,) bool, each.
    """

    columns: dict[str, np.ndarray[Any, Any]]
    groups: list[tuple[str, np.ndarray[Any, Any]]]

    def chosen(self, mask: np.ndarray[Any, Any]) -> dict[str, object]:
        """What the rows of steps of one group (``mask``, (n,) bool) have in common, as an address of rows asks it."""
        at = int(np.flatnonzero(mask)[0])
        return {name: self.columns[name][at] for name in ("process_id", "kind", "source")}

    def largest(self) -> tuple[str, np.ndarray[Any, Any]] | None:
        """The group with most steps, for what speaks of one group alone: its label, and the mask of its finished steps."""
        if not self.groups:
            return None
        label, mask = max(self.groups, key=lambda group: int(np.count_nonzero(group[1])))
        return label, mask & finished(self.columns["duration_ns"])


def step_groups(desk: Desk, run_id: int, **where: Any) -> StepGroups:
    """The steps of a run, without those that draw an iteration a second time; ``where`` filters ``step_time``."""
    columns = desk.columns("step_time", run_id=run_id, nested=0, order="process_id,start_ns,step_id", **where)
    keys = list(
        dict.fromkeys(
            zip(
                columns["process_id"].tolist(),
                columns["kind"].tolist(),
                columns["source"].tolist(),
                strict=True,
            )
        )
    )
    labels = _process_labels(desk, run_id, keys)
    found = []
    for process, kind, source in keys:
        mask = (columns["process_id"] == process) & (columns["kind"] == kind) & (columns["source"] == source)
        of_process = f", {labels[process]}" if len(set(labels.values())) > 1 else ""
        alike = {s for p, k, s in keys if k == kind and labels[p] == labels[process]}
        drawn = f" ({source})" if len(alike) > 1 else ""
        found.append((f"{kind} steps{of_process}{drawn}", mask))
    return StepGroups(columns, found)


#: The numbers of a group of steps: name and quantile, None for the mean.
_STATISTICS = (("mean step", None), ("p50 step", 0.5), ("p95 step", 0.95), ("p99 step", 0.99))


def step_numbers(run: Run) -> list[tuple[str, list[tuple[str, Estimate]]]]:
    """For each group of steps that may stand in one number: its label, and its mean and percentiles after the cut."""
    steps = step_groups(run.desk, run.id, warm_up=0)
    made = []
    for label, mask in steps.groups:
        durations = steps.columns["duration_ns"][mask]
        made.append((label, statistics(run, durations[finished(durations)].astype(np.int64))))
    return made


def numbers_of(kept: np.ndarray[Any, Any]) -> list[tuple[str, Estimate]]:
    """Mean and percentiles of steps (n,) in ns."""
    return [
        (name, estimators.mean(kept, unit="ns") if p is None else estimators.quantile(kept, p, unit="ns"))
        for name, p in _STATISTICS
    ]


def statistics(run: Run, kept: np.ndarray[Any, Any]) -> list[tuple[str, Estimate]]:
    """The same, with what the run's numbers may be used for."""
    return [(name, run.marked(number)) for name, number in numbers_of(kept)]


def finished(durations: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Which steps have an end, (n,) bool."""
    if durations.dtype == np.int64:
        return np.ones(len(durations), dtype=bool)
    return np.array([d is not None and d == d for d in durations.tolist()], dtype=bool)


def process_names(
    desk: Desk, run_id: int, among: Collection[int] | None = None, *, files: bool = True
) -> dict[int, str]:
    """What each process of a run is called, or each of some: its rank, else its pid; with its file where several of them
    are called the same, unless ``files`` is False, since something else tells them apart."""
    rows = desk.ask("process_list", run_id=run_id, order="process_id")
    rows = [row for row in rows if among is None or row["process_id"] in among]
    names = {
        row["process_id"]: f"rank {row['rank']}" if row["rank"] is not None else f"pid {row['pid']}"
        for row in rows
    }
    several = Counter(names.values())
    return {
        row["process_id"]: f"{row['path']}, {name}" if files and several[name] > 1 else name
        for row in rows
        for name in (names[row["process_id"]],)
    }


def _process_labels(desk: Desk, run_id: int, keys: Sequence[tuple[int, str, str]]) -> dict[int, str]:
    """What to call each process that drew steps (``keys``: process, kind and source): its rank, else its file and pid.

    Files of one pid of which each drew steps of its own source are of one process: an engine's probe, and a profiler
    beside it.
    """
    sources: dict[int, set[str]] = {}
    for process, _, source in keys:
        sources.setdefault(process, set()).add(source)
    rows = desk.ask("process_list", run_id=run_id, order="process_id")
    drew = [row for row in rows if row["process_id"] in sources]
    several_files = len({r["path"] for r in rows}) > 1

    def label(row: Record) -> str:
        if row["rank"] is not None:
            return f"rank {row['rank']}"
        same = [sources[r["process_id"]] for r in drew if r["rank"] is None and r["pid"] == row["pid"]]
        one = sum(map(len, same)) == len(set().union(*same))
        # It becomes part of a heading, where the theme writes it as it is.
        return re.sub(
            r"[<>&]", " ", (f"{row['path']}, " if several_files and not one else "") + f"pid {row['pid']}"
        )

    return {row["process_id"]: label(row) for row in drew}


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
