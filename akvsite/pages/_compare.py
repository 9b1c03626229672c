"""Two sets of runs, side by side: what differs before them, and by how much their steps differ.

No verdict is drawn. A mixture of levels or roles is shown side by side and no difference is formed; nor is one formed of
runs that may only be compared under the same load, where the load was not the same or is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from akvsite import estimators
from akvsite.estimate import Estimate
from akvsite.pages import Desk, Record, _load, _noise
from akvsite.pages._compare_facts import Difference, differences
from akvsite.pages._compare_form import PAIRS, TWO_RUNS, Design, Measured, Part, form
from akvsite.pages._compare_parts import parts
from akvsite.pages._compare_steps import Subject
from akvsite.pages._run import USES, StepGroups, step_groups

#: Uses of runs that take the same load before a difference is formed of them.
SAME_LOAD = "comparison under the same load"

STATISTICS = ("mean", "p50", "p95")


@dataclass(frozen=True)
class OneRun:
    """A run in a comparison, with its steps after the cut, int64 ns (n,)."""

    side: str
    place: int
    name: str
    steps: np.ndarray
    numbers: dict[str, Estimate]
    facts: dict[tuple[str, str], str]
    listed: Record
    #: Why its numbers may be used as they may.
    because: str
    #: All its steps after the cut, in groups.
    groups: StepGroups
    #: Which of them are compared.
    which: str

    @property
    def excluded(self) -> str:
        return self.because if self.listed["use"] == "nothing" else ""


@dataclass
class Compared:
    """Everything a comparison can say."""

    labels: tuple[str, str]
    design: str
    runs: list[OneRun]
    absent: list[str]
    left_out: dict[str, str]
    #: What the captures state and is not the same in all runs.
    facts: list[Difference]
    loads: _load.Loads
    #: By how much the same thing differs from itself on the host of the runs, in one line.
    noise: str
    refusal: str
    #: Of these, what stands for every part: what the runs are, not what they hold.
    apart: str
    use: str
    sides: dict[str, tuple[Estimate, Estimate]] = field(default_factory=dict)
    difference: dict[str, Estimate] = field(default_factory=dict)
    ratio: dict[str, Estimate] = field(default_factory=dict)
    shift: dict[float, Estimate] = field(default_factory=dict)
    #: Step time first, then what a step is made of, and what its tokens and requests waited for.
    parts: tuple[Part, ...] = ()

    def of_side(self, side: str) -> list[OneRun]:
        return [r for r in self.runs if r.side == side]

    def under(self, *tables: str) -> list[Difference]:
        """The facts of those tables (``Difference.under``), in their order."""
        return [fact for fact in self.facts if fact.under in tables]

    @property
    def outputs(self) -> list[Difference]:
        """What came out, where it is known that it differs."""
        return [fact for fact in self.under("outputs") if fact.known]


def compare(desk: Desk, members: Sequence[Record], labels: tuple[str, str], design: str) -> Compared:
    """``members`` are rows with ``side``, ``place``, ``run`` and ``run_id`` (None where the store lacks the run)."""
    present = [_run(desk, m) for m in members if m["run_id"] is not None]
    absent = [m["run"] for m in members if m["run_id"] is None]
    left_out = _left_out(present, design)
    runs = [r for r in present if r.name not in left_out]
    order = _interleaved(runs) if design == PAIRS else ""
    loads = _load.of_runs(desk, [(r.name, r.listed["run_id"]) for r in runs], order)
    use = _use(runs, loads)
    runs = [_within(run, use) for run in runs]
    a, b = ([r for r in runs if r.side == side] for side in ("A", "B"))
    apart = _refusal(runs, absent) or _refusal_of_load(runs, loads)
    planned = Design(design, use, apart, _mispaired(a, b) if design == PAIRS else "", _order(a, b))
    found = Compared(
        labels=labels,
        design=design,
        runs=runs,
        absent=absent,
        left_out=left_out,
        facts=differences(runs),
        loads=loads,
        noise=_noise_of(desk, runs),
        refusal=apart or _stepless(runs),
        apart=apart,
        use=use,
    )
    if not found.refusal:
        _estimate(found, planned)
    found.parts = (
        _step_time(found, planned),
        *parts([_subject(desk, run) for run in runs], planned, found.noise),
    )
    return found


def _subject(desk: Desk, run: OneRun) -> Subject:
    return Subject(desk, run.side, run.name, run.listed, run.groups)


def _step_time(found: Compared, design: Design) -> Part:
    """The statistics of a run's steps, as the other parts have theirs."""
    runs = [
        (
            run.side,
            run.name,
            Measured({("step", name): number for name, number in run.numbers.items()}, of=f"{len(run.steps):,} {run.which}")
            if len(run.steps)
            else Measured(lacks="no finished step after the cut"),
        )
        for run in found.runs
    ]  # fmt: skip
    return form(Part("steps", "Step time", "step_time", noise=found.noise), design, runs)


def _run(desk: Desk, member: Record) -> OneRun:
    drawn = step_groups(desk, member["run_id"], warm_up=0)
    which, steps = "none", np.empty(0, dtype=np.int64)
    # Steps of several processes do not stand in one number: the group with most of them is taken, and named.
    if (taken := drawn.largest()) is not None:
        which, mask = taken
        steps = drawn.columns["duration_ns"][mask].astype(np.int64)
    numbers = {
        "mean": estimators.mean(steps, unit="ns"),
        "p50": estimators.quantile(steps, 0.5, unit="ns"),
        "p95": estimators.quantile(steps, 0.95, unit="ns"),
    }
    facts = {
        (f["part"], f["key"]): f["value"]
        for f in desk.ask("fact_list", run_id=member["run_id"], order="part,key")
    }
    about = desk.ask("run_list", run_id=member["run_id"])[0]
    declared = desk.ask("run_about", run_id=member["run_id"])[0]
    numbers = {name: replace(number, use=USES[about["use"]]) for name, number in numbers.items()}
    for key, value in (
        ("level", about["level"]), ("host", about["host"]), ("host role", about["role"]), ("engine", about["engine"]),
        ("steps compared", which), ("timing events", declared["timing"]), ("warm-up steps cut", declared["warm_up_steps"]),
    ):  # fmt: skip
        facts["run", key] = "unknown" if value is None else str(value)
    return OneRun(
        member["side"],
        member["place"],
        member["run"],
        steps,
        numbers,
        facts,
        about,
        declared["because"],
        drawn,
        which,
    )


def _left_out(runs: Sequence[OneRun], design: str) -> dict[str, str]:
    """Runs that count for nothing here, and why: excluded by a note, or left without their other half of a pair."""
    left_out = {r.name: r.excluded for r in runs if r.excluded}
    if design == PAIRS:
        lost = {r.place for r in runs if r.name in left_out}
        left_out |= {
            r.name: "the other run of its pair is excluded"
            for r in runs
            if r.place in lost and r.name not in left_out
        }
    return left_out


def _use(runs: Sequence[OneRun], loads: _load.Loads) -> str:
    uses = {r.listed["use"] for r in runs}
    if uses != {"structure"} and {r.side for r in runs} != {"A", "B"}:
        return "side by side only: a side has no run"
    if uses == {"speed"}:
        return "may state speed: level off on a proof host on both sides"
    if uses <= {"speed", SAME_LOAD} and uses:
        if loads.refusal:
            return "side by side only, not a speed: the same load is not known of the runs"
        by = "which the design stands for" if loads.order else "within the tolerance that is printed"
        return f"for a comparison under the same load, {by}; not a speed"
    if len(uses) > 1 or not uses:
        return "side by side only: the runs may not be used alike"
    return f"structure only: {next(iter(runs)).because}"


def _within(run: OneRun, use: str) -> OneRun:
    """The run with numbers that claim no more than the comparison that they stand in."""
    if run.listed["use"] != "speed":
        return run
    return replace(run, numbers={name: replace(number, use=use) for name, number in run.numbers.items()})


def _refusal_of_load(runs: Sequence[OneRun], loads: _load.Loads) -> str:
    """What is structure is shown with its load beside it; what is speed was quiet on both sides."""
    return loads.refusal if any(r.listed["use"] == SAME_LOAD for r in runs) else ""


def _noise_of(desk: Desk, runs: Sequence[OneRun]) -> str:
    hosts = sorted({r.listed["host"] for r in runs if r.listed["host"]})
    if len(hosts) != 1:
        return "noise floor unknown: the runs are not of one host that is stated"
    return _noise.line(_noise.of_host(desk, hosts[0]))


def _refusal(runs: Sequence[OneRun], absent: Sequence[str]) -> str:
    if absent:
        return f"not in the store: {', '.join(absent)}"
    empty = [side for side in ("A", "B") if not any(r.side == side for r in runs)]
    if empty:
        return f"no run is left on side {' and '.join(empty)}"
    levels = sorted({r.listed["level"] for r in runs})
    roles = sorted({r.listed["role"] for r in runs})
    if len(levels) > 1:
        return f"levels {' and '.join(levels)} are not pooled: their runs are shown side by side"
    hosts = sorted({str(r.listed["host"]) for r in runs})
    if len(hosts) > 1:
        return f"hosts {' and '.join(hosts)} are not pooled: their runs are shown side by side"
    if len(roles) > 1:
        return f"host roles {' and '.join(roles)} are not pooled: their runs are shown side by side"
    uses = sorted({r.listed["use"] for r in runs})
    if len(uses) > 1 and not set(uses) <= {"speed", SAME_LOAD}:
        # A capture may declare less than its files show: then the levels are the same by name alone.
        return f"runs for {' and for '.join(uses)} are not pooled: they are shown side by side"
    return ""


def _stepless(runs: Sequence[OneRun]) -> str:
    """Why there is no step time to compare; other parts may be there."""
    without = [r.name for r in runs if not len(r.steps)]
    return f"no finished step after the cut in {', '.join(without)}" if without else ""


def _estimate(found: Compared, design: Design) -> None:
    a, b = found.of_side("A"), found.of_side("B")
    for name in STATISTICS:
        numbers = [[r.numbers[name] for r in side] for side in (a, b)]
        over = [
            estimators.over_runs(np.array([n.value for n in side], np.float64), unit="ns") for side in numbers
        ]
        found.sides[name] = replace(over[0], use=found.use), replace(over[1], use=found.use)
        found.difference[name], found.ratio[name] = design.difference(numbers[0], numbers[1], "ns")
    if design.kind == TWO_RUNS:
        found.shift = estimators.decile_shift(a[0].steps, b[0].steps, unit="ns")
    elif design.kind == PAIRS and not design.mispaired:
        found.shift = estimators.decile_shift([r.steps for r in a], [r.steps for r in b], unit="ns")
    found.shift = {p: replace(e, use=found.use) for p, e in found.shift.items()}


def _place(run: OneRun, key: str) -> int | None:
    """A whole number that the capture states about its place in the design."""
    value = run.facts.get(("capture", key), "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None


def _mispaired(a: Sequence[OneRun], b: Sequence[OneRun]) -> str:
    """Why the pairs are not what the captures say, or nothing: pair i is run i of each side."""
    for first, second in zip(a, b, strict=True):
        pairs = _place(first, "pair"), _place(second, "pair")
        if None not in pairs and pairs[0] != pairs[1]:
            return f"{first.name} says that it is of pair {pairs[0]} and {second.name} of pair {pairs[1]}: no pairs, no band"
    return ""


def _interleaved(runs: Sequence[OneRun]) -> str:
    """The order of pairs, which stands for their load; nothing where a capture states none, or the sides did not alternate.

    What a comparison's file says of its own design is no evidence of how the runs were made.
    """
    a, b = ([r for r in runs if r.side == side] for side in ("A", "B"))
    order = _order(a, b) or ""
    return order if all(len(set(order[at : at + 2])) == 2 for at in range(0, len(order), 2)) else ""


def _order(a: Sequence[OneRun], b: Sequence[OneRun]) -> str | None:
    """The order in which the runs were made, such as ABBABA, where every capture states its own place in it."""
    placed: dict[int, str] = {}
    for run in (*a, *b):
        order = _place(run, "order")
        if order is None or order in placed:
            return None
        placed[order] = run.side
    return "".join(placed[order] for order in sorted(placed))
