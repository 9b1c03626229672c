"""Runtime calls of each run: a page a run, and the list of them."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page, Record
from akvsite.pages._html import counted, table, text
from akvsite.pages._listed import closer
from akvsite.pages._reader import reader
from akvsite.pages._run import Run, load
from akvsite.pages._stamps import run_cell, stamped_runs, stamps


def write(desk: Desk) -> Iterator[Page]:
    runs = [r for r in desk.ask("run_list", order="name") if r["calls"]]
    yield Page("calls", _list(desk, runs))
    for listed in runs:
        yield Page(f"calls/{listed['name']}", _page(load(desk, listed)))


def _list(desk: Desk, runs: list[Record]) -> str:
    stamped = stamped_runs(desk)
    rows = [
        [run_cell(r["name"], stamped, folder="calls"), r["level"], r["role"], counted(r["calls"])]
        for r in runs
    ]
    return "# Runtime calls\n" + table(["run", "level", "host role", "calls"], rows, sortable=True)


def _page(run: Run) -> str:
    return "\n".join(
        [
            f"# Runtime calls of {text(run.name)}\n",
            stamps(run.desk, "../", run=run.name),
            closer(run, "../", "calls"),
            reader(
                run,
                "association",
                "Which calls are associated with which device records?",
                listings=("calls", "intervals"),
                seen=run.seen(),
                axis="both",
            ),
        ]
    )
