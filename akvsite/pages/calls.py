"""Runtime calls of each run, and the device records associated with them: a page a run, and the list of them."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.calls import EXPECTS
from akvsite.pages import Desk, Page, Record
from akvsite.pages._call_tables import alone, associated, held
from akvsite.pages._html import Cell, counted, items, number_of, table, text
from akvsite.pages._listed import BY_NAME, closer
from akvsite.pages._reader import absent, reader
from akvsite.pages._run import Run, load
from akvsite.pages._stamps import run_cell, stamped_runs, stamps

_ABOUT = (
    "A runtime call and a device record that carry the same id are **associated**. How that is known stands beside each, and what is "
    "associated with nothing is listed apart. That one was there for the sake of the other is not said anywhere on this page."
)

#: Its pages may be written in a second process: no other page needs what they leave.
BESIDE = True


def write(desk: Desk) -> Iterator[Page]:
    listed = desk.ask("run_list", order="name")
    yield Page("calls", _list(desk, [r for r in listed if r["calls"]], len(listed)))
    for r in listed:
        if r["calls"]:
            yield Page(f"calls/{r['name']}", _page(load(desk, r)))


def _list(desk: Desk, runs: list[Record], every: int) -> str:
    stamped = stamped_runs(desk)
    rows = [
        [
            run_cell(r["name"], stamped, folder="calls"), r["level"], r["role"], counted(r["calls"]),
            _seen(desk, r, "calls"), _seen(desk, r, "device records"),
        ]
        for r in runs
    ]  # fmt: skip
    missing = every - len(runs)
    return (
        "# Runtime calls\n\nWhich runtime calls a run made, and which device records are associated with them.\n"
        + table(
            ["run", "level", "host role", "calls", "calls with device records", "device records with a call"],
            rows,
            sortable=True,
        )
        + (
            items([f"{number_of(missing, 'run')} more: no runtime call on record. Level edge, or a profiler's trace, would have them."])
            if missing
            else ""
        )
    )  # fmt: skip


def _seen(desk: Desk, run: Record, of: str) -> Cell:
    """Of the calls, or of the device records, of a run: those associated, of those expected to be."""
    rows = [
        r
        for r in desk.ask("coverage", run_id=run["run_id"], order="direction,kind")
        if r["direction"].startswith(of)
    ]
    if not rows:
        return Cell("none expected" if of == "calls" else "none recorded")
    seen, expected = sum(r["seen"] for r in rows), sum(r["expected"] for r in rows)
    return Cell(text(f"{seen:,} of {expected:,}"), seen)


def _longest(run: Run) -> int | None:
    """The place, in the listing of steps, of the longest step in which a call began; None where none has an end."""
    having = set(run.desk.columns("step_called", run_id=run.id, only=("step_id",))["step_id"].tolist())
    steps = run.desk.columns(
        "row_step", run_id=run.id, order=BY_NAME["steps"].order, only=("step_id", "duration_ns", "warm_up")
    )
    lengths = [
        (ns, -place)
        for place, (step, ns, warm) in enumerate(zip(*(c.tolist() for c in steps.values()), strict=True))
        if step in having and not warm and ns is not None and ns == ns
    ]
    return -max(lengths)[1] if lengths else None


def _page(run: Run) -> str:
    lacks = []
    if not run.listed["intervals"]:
        lacks.append(absent(run, "What ran on the device for a call", "device"))
    if not run.listed["steps"]:
        lacks.append(
            items(
                [
                    "In which step a call was made is not known: no step is on record. Choose by name, or a single call."
                ]
            )
        )
    return "\n".join(
        [
            f"# Runtime calls of {text(run.name)}\n",
            stamps(run.desk, "../", run=run.name),
            closer(run, "../", "calls"),
            f"\n{_ABOUT}\n",
            *lacks,
            reader(
                run,
                "association",
                "Which calls are associated with which device records?",
                listings=("calls", "intervals"),
                seen=run.seen(),
                axis="both",
                expects=sorted(EXPECTS),
                first=_longest(run),
                records=bool(run.listed["intervals"]),
            ),
            "\n## How they are associated\n",
            associated(run),
            "\n## What stands alone\n",
            alone(run),
            "\n## What held the host\n",
            held(run),
        ]
    )
