"""The stamp of a retraction, on every page that shows anything of what a retracted claim stands on.

A page of one run, comparison or inquiry opens with ``stamps``; a list puts a mark beside each name (``run_link``,
``run_cell``, ``comparison_link``); the charts of both print ``withdrawn``, inside the image. Each carries the id of the
retraction in ``data-akv-retraction``, by which a check sees that it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from akvsite.pages import Desk, Record
from akvsite.pages._html import Cell, link, quote, stamp, text

#: Names under a retraction, with the ids of their retractions in order of date.
Stamped = Mapping[str, tuple[str, ...]]

#: Kinds of a stamp that mean the same thing; a control is a run.
_KINDS = {"run": ("run", "control"), "experiment": ("run", "control")}


def stamped_runs(desk: Desk) -> Stamped:
    """The runs, experiments among them, that a retracted claim stands on."""
    return stamped(desk, "run")


def stamped_comparisons(desk: Desk) -> Stamped:
    return stamped(desk, "comparison")


def stamped(desk: Desk, kind: str) -> Stamped:
    """What stands under a retraction, of a kind: ``run``, ``comparison``, ``chart`` or ``inquiry``."""
    found: dict[str, dict[str, None]] = {}
    for row in desk.ask("stamp", order="date,retraction,name"):
        if row["kind"] in _KINDS.get(kind, (kind,)):
            found.setdefault(row["name"], {})[row["retraction"]] = None
    return {name: tuple(ids) for name, ids in found.items()}


def retraction_link(retraction: str, root: str, label: str = "") -> str:
    """A link to a retraction that is at the same time its mark; ``root`` leads to the top of the site."""
    marked = f'<a class="akv-retracted" data-akv-retraction="{text(retraction)}" '
    return link(label or retraction, f"{root}retractions.html#{retraction}").replace("<a ", marked, 1)


def mark(retractions: Iterable[str], root: str = "") -> str:
    """What stands beside a name under these retractions; nothing where there are none."""
    links = ", ".join(retraction_link(one, root) for one in retractions)
    return f" (under retraction {links})" if links else ""


def run_link(name: str, stamped: Stamped, root: str = "", *, folder: str = "runs") -> str:
    """A run, or an experiment (``folder="experiments"``), by its name, with the mark of its retractions."""
    return link(name, f"{root}{folder}/{name}.html") + mark(stamped.get(name, ()), root)


def run_cell(name: str, stamped: Stamped, root: str = "", *, folder: str = "runs") -> Cell:
    return Cell(run_link(name, stamped, root, folder=folder), name)


def comparison_link(name: str, title: str, stamped: Stamped, root: str = "") -> str:
    return link(title, f"{root}comparisons/{name}.html") + mark(stamped.get(name, ()), root)


def stamp_of_retraction(row: Record, root: str = "") -> str:
    """The stamp over the claim itself; ``row`` is one of ``retraction_list``."""
    return stamp(
        [
            f"Retracted on {text(row['date'])} ({retraction_link(row['retraction'], root)}). Reason: {quote(row['reason'])}"
        ]
    )


def stamp_of_quotes(rows: Iterable[Record], root: str) -> str:
    """The stamp over a page that quotes withdrawn claims; ``rows`` are of ``retraction_list``."""
    return _stamps(root, (("that is quoted on this page", row) for row in rows))


def stamps(
    desk: Desk,
    root: str,
    *,
    run: str | None = None,
    comparison: str | None = None,
    inquiry: str | None = None,
) -> str:
    """The stamps of a run, comparison or inquiry; ``root`` leads from the page to the top of the site."""
    for kind, name in (("run", run), ("comparison", comparison), ("inquiry", inquiry)):
        if name is not None:
            which = "behind what this inquiry uses" if kind == "inquiry" else f"that stands on this {kind}"
            return _stamps(root, ((which, row) for row in _rows(desk, kind, name)))
    return ""


def stamps_of_runs(
    desk: Desk, root: str, names: Iterable[str], *, why: str = "", besides: str | None = None
) -> str:
    """The stamps of runs that a page shows; ``why`` says in which part of it, such as "in the band by history".

    The retractions that the run ``besides`` stands under itself are left out, where it has its own stamp.
    """
    behind = f", {text(why)}," if why else ""

    def which(runs: Sequence[str]) -> str:
        links = [link(name, f"{root}runs/{name}.html") for name in runs]
        return f"that stands on {_runs(links)}{behind}"

    return _stamps(root, ((which(runs), row) for row, runs in _by_retraction(desk, names, besides)))


def withdrawn(desk: Desk, kind: str, name: str) -> tuple[str, ...]:
    """The retractions that a run, comparison or inquiry stands under, each a line for the inside of its charts."""
    return tuple(
        f"RETRACTED {r['date']} ({r['retraction']}): a claim that stands on this {kind} was withdrawn"
        for r in _rows(desk, kind, name)
    )


def withdrawn_runs(desk: Desk, names: Iterable[str], *, besides: str | None = None) -> tuple[str, ...]:
    """The same of several runs in one chart, which are named; without the retractions of the run ``besides``."""
    return tuple(
        f"RETRACTED {row['date']} ({row['retraction']}): a claim that stands on {_runs(runs)} was withdrawn"
        for row, runs in _by_retraction(desk, names, besides)
    )


def _runs(names: Sequence[str]) -> str:
    return f"run{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _by_retraction(desk: Desk, names: Iterable[str], besides: str | None) -> list[tuple[Record, list[str]]]:
    """For each retraction that one of the runs stands under, but not ``besides``: a row of it, and the runs."""
    own = {row["retraction"] for row in _rows(desk, "run", besides)} if besides is not None else set()
    found: dict[str, tuple[Record, list[str]]] = {}
    for name in dict.fromkeys(names):
        for row in _rows(desk, "run", name):
            if row["retraction"] not in own:
                found.setdefault(row["retraction"], (row, []))[1].append(name)
    return sorted(found.values(), key=lambda one: (one[0]["date"], one[0]["retraction"]))


def _rows(desk: Desk, kind: str, name: str) -> list[Record]:
    """The stamps of one thing, each retraction once, in order of date."""
    found: dict[str, Record] = {}
    for row in desk.ask("stamp", name=name, order="date,retraction"):
        if row["kind"] in _KINDS.get(kind, (kind,)):
            found.setdefault(row["retraction"], row)
    return list(found.values())


def _stamps(root: str, lines: Iterable[tuple[str, Record]]) -> str:
    """The stamp: for each line which claim is meant, as HTML, and the row of its retraction."""
    said = [
        f"Claim retracted on {text(row['date'])}: one {which} was withdrawn "
        f"({retraction_link(row['retraction'], root)}). It said: {quote(row['statement'])} Reason: {quote(row['reason'])}"
        for which, row in lines
    ]
    return stamp(said) if said else ""
