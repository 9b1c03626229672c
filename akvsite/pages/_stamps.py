"""The stamp of a retraction, on every page that a retracted claim stands on."""

from __future__ import annotations

from akvsite.pages import Desk
from akvsite.pages._html import Cell, link, quote, stamp, text


def stamped_runs(desk: Desk) -> frozenset[str]:
    """Names of the runs that a retracted claim stands on."""
    return frozenset(r["name"] for r in desk.ask("stamp", order="name") if r["kind"] in ("run", "control"))


def run_cell(name: str, stamped: frozenset[str]) -> Cell:
    """A run in a list at the top of the site; a retraction that it stands under is said beside its name."""
    mark = f" ({link('retraction', 'retractions.html')})" if name in stamped else ""
    return Cell(link(name, f"runs/{name}.html") + mark, name)


def stamps(desk: Desk, root: str, *, run: str | None = None, comparison: str | None = None) -> str:
    """The stamps of a run or comparison; ``root`` leads from the page to the top of the site."""
    rows = []
    if run is not None:
        rows = desk.ask("stamp", name=run, kind="run", order="date,retraction") + desk.ask(
            "stamp", name=run, kind="control", order="date,retraction"
        )
    if comparison is not None:
        rows = desk.ask("stamp", name=comparison, kind="comparison", order="date,retraction")
    if not rows:
        return ""
    what = "run" if run else "comparison"
    return stamp(
        f"Retracted on {text(row['date'])}: a claim that stands on this {what} was withdrawn "
        f"({link(row['retraction'], root + 'retractions.html#' + row['retraction'])}). It said: {quote(row['statement'])} Reason: {quote(row['reason'])}"
        for row in rows
    )
