"""The rows themselves: one page a run, whose listings the other pages of the run load too."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.listings import Ids
from akvsite.pages import Desk, Page
from akvsite.pages._html import counted, items, table, text
from akvsite.pages._listed import BY_NAME, LISTINGS, address, closer, columns
from akvsite.pages._reader import reader
from akvsite.pages._run import ADDS, Run, load
from akvsite.pages._stamps import stamps


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        yield Page(f"rows/{listed['name']}", _page(load(desk, listed)))


def _page(run: Run) -> str:
    rows = _listings(run)
    found = [[listed.title, counted(rows[listed.name])] for listed in LISTINGS if rows[listed.name]]
    missing = [
        f"{text(listed.title)}: none on record"
        + (f"; level {listed.level} adds {text(ADDS[listed.level])}" if listed.level else "")
        for listed in LISTINGS
        if not rows[listed.name] and not listed.pairs
    ]
    return "\n".join(
        part
        for part in (
            f"# Rows of {text(run.name)}\n",
            stamps(run.desk, "../", run=run.name),
            closer(run, "../", "rows"),
            reader(
                run,
                "browse",
                "Which rows does the run have?",
                listings=tuple(n for n in rows if rows[n] and not BY_NAME[n].pairs),
                seen=run.seen(),
                axis="both",
            ),
            table(["rows", "how many"], found),
            items(missing) if missing else "",
        )
        if part
    )


def _listings(run: Run) -> dict[str, int]:
    """Write every listing of the run, each after those that it refers to; rows of each."""
    origin = run.desk.ask("row_origin", run_id=run.id)[0]
    host_ns, device_ns = origin["host_ns"] or 0, origin["device_ns"] or 0
    ids: dict[str, Ids] = {}
    rows = {}
    for listed in LISTINGS:
        made = run.desk.listing(
            address(run.name, listed.name), listed.question, columns(run.desk, listed, ids, host_ns, device_ns),
            order=listed.order, run_id=run.id,
        )  # fmt: skip
        ids[listed.name] = made.ids
        rows[listed.name] = made.rows
    return rows
