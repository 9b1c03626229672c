"""Steps of each run: a page a run, and the list of them."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import (
    Desk,
    Page,
    Record,
    _overlap_said,
    _step_batches,
    _step_faults,
    _step_profile,
    _step_queues,
)
from akvsite.pages._html import counted, items, number_of, table, text
from akvsite.pages._listed import closer
from akvsite.pages._reader import absent, reader
from akvsite.pages._run import Run, load
from akvsite.pages._stamps import run_cell, stamped_runs, stamps
from akvsite.pages._step_profile import Places
from akvsite.pages._step_sums import Steps
from akvsite.tables import LEVELS

UNASKED = "Nothing was chosen: this is the longest step after the cut."
#: What the list says of each run, with the count that tells it.
_COLUMNS = (
    ("steps", "steps"), ("runner phases", "phases"), ("host rows", "host_rows"), ("device records", "intervals"), ("runtime calls", "calls"),
)  # fmt: skip

#: Its pages may be written in a second process: no other page needs what they leave.
BESIDE = True


def write(desk: Desk) -> Iterator[Page]:
    runs = [r for r in desk.ask("run_list", order="name") if r["steps"]]
    yield Page("steps", _list(desk, runs))
    for listed in runs:
        yield Page(f"steps/{listed['name']}", _page(load(desk, listed)))


def _list(desk: Desk, runs: list[Record]) -> str:
    stamped = stamped_runs(desk)
    rows = [
        [run_cell(r["name"], stamped, folder="steps"), r["level"], r["role"], *(counted(r[key]) for _, key in _COLUMNS)]
        for r in runs
    ]  # fmt: skip
    words = "Where the time of a step went: of the mean step by region, layer window and queue, and of each step as it was recorded."
    head = ["run", "level", "host role", *(name for name, _ in _COLUMNS)]
    return f"# Steps\n\n{words}\n" + table(head, rows, sortable=True)


def _page(run: Run) -> str:
    steps, at = _step_profile.groups(run), _step_profile.places(run)
    parts = [
        f"# Steps of {text(run.name)}\n",
        stamps(run.desk, "../", run=run.name),
        closer(run, "../", "steps"),
        _step_faults.write(run, at),
        "\n## One step\n",
        _one(run, steps, at),
        "\n### The longest steps\n",
        *_step_profile.longest(steps, at),
        _twice(run),
        "\n## Steps by their batch\n",
        _batches(run),
        "\n## Where the host's time went\n",
        _on_host(run, steps),
        "\n## Layer windows\n",
        _step_profile.layers(run, steps),
        "\n## Device queues\n",
        _step_queues.queues(run, steps, at),
        f"\n## {_overlap_said.TITLE}\n",
        _overlap_said.write(run, steps),
    ]
    return "\n".join(part for part in parts if part)


def _one(run: Run, steps: list[Steps], at: Places) -> str:
    # Its length, and its id.
    longest = max(
        (max(zip(g.durations.tolist(), (-g.ids).tolist(), strict=True)) for g in steps), default=None
    )
    return reader(
        run,
        "profile",
        "Where did the time of a step go?",
        listings=("steps", "phases", "regions", "calls", "intervals"),
        seen=run.seen(),
        axis="both" if run.listed["intervals"] else "host",
        notes=("one step as it was recorded", "what shares a time is associated by it, no more"),
        blind=run.blind,
        least_gap_ns=run.least_gap_ns,
        ticks=run.ticks,
        axis_bound_ns=run.axis_bound_ns,
        has={name: bool(run.listed[count]) for name, count in _HAS},
        first=at[-longest[1]][0] if longest else 0,
        unasked=UNASKED
        if longest
        else "Nothing was chosen: this is the first step; after the cut none has an end.",
        levels=LEVELS[: LEVELS.index(run.level) + 1] if run.level in LEVELS else (),
        calls=f"../calls/{run.name}.html",
    )


def _twice(run: Run) -> str:
    pairs = run.desk.ask("step_pair", run_id=run.id, at_once=1, order="step_id,other_id")
    if not pairs:
        return ""
    drawn = number_of(len(pairs), "iteration was", "iterations were")
    return items(
        [
            f"{drawn} drawn by two sources: each is in the list of either, and its two steps are shown together."
        ]
    )


#: What a run may have, by the listing that holds it.
_HAS = (
    ("tokens", "tokens"),
    ("phases", "phases"),
    ("regions", "host_rows"),
    ("calls", "calls"),
    ("intervals", "intervals"),
)


def _batches(run: Run) -> str:
    if run.listed["tokens"]:
        # The page of tokens has the chart.
        return f'\nSee <a href="../tokens/{text(run.name)}.html#steps-by-their-batch">the tokens of this run</a>.\n'
    order = f'<a href="../runs/{text(run.name)}.html#steps">Their times in order, and percentiles</a>.'
    return f"\n{order}\n{_step_batches.write(run, f'steps/{run.name}')}"


def _on_host(run: Run, steps: list[Steps]) -> str:
    phases = (
        items([f'The runner\'s phases of the mean step: <a href="../runs/{text(run.name)}.html#host">the page of the run</a>.'])
        if run.listed["phases"]
        else absent(run, "How a step is spread over the runner's phases", "runner")
    )  # fmt: skip
    return _step_profile.host(run, steps) + phases
