"""Citations: links to what a claim or an inquiry cites, and who cites a run, a comparison or one of their charts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from akvsite.pages import Desk, Record
from akvsite.pages._html import link, text
from akvsite.pages._stamps import comparison_link, mark, retraction_link, run_link, stamped, stamped_runs

#: States of a claim that stay in the words of the store.
OPEN, SUPPORTED, RETRACTED = "open", "supported", "retracted"


class Cited:
    """Links to what is cited, as HTML, each with its mark where it stands under a retraction."""

    def __init__(self, desk: Desk, root: str, *, charts_known: bool = False) -> None:
        """``charts_known``: the page is written after all charts, and says of one that it is not there."""
        self.root, self._desk, self._charts_known = root, desk, charts_known
        self._runs = stamped_runs(desk)
        self._comparisons = stamped(desk, "comparison")
        self.inquiries = stamped(desk, "inquiry")
        self._claims = {row["claim"]: row for row in desk.ask("claim_list", order="claim")}

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        return {
            "runs": {row["name"] for row in self._desk.ask("run_list", order="name")},
            "comparisons": {
                row["comparison"] for row in self._desk.ask("comparison_list", order="comparison")
            },
        }

    def has(self, kind: str, name: str) -> bool:
        """Whether the store has a run, control or comparison."""
        return name in self._known["comparisons" if kind == "comparison" else "runs"]

    def link(self, row: Record) -> str:
        """What a row of ``citation`` cites."""
        return self.named(row["kind"], row["name"])

    def named(self, kind: str, name: str) -> str:
        if kind in ("run", "control", "comparison") and not self.has(kind, name):
            return f"{text(name)} (not in the store)"
        if kind in ("run", "control"):
            return run_link(name, self._runs, self.root)
        if kind == "comparison":
            return comparison_link(name, name, self._comparisons, self.root)
        if kind == "chart":
            return self.chart(name)
        if kind == "claim":
            return self.claim(name)
        return retraction_link(name, self.root)

    def bare(self, kind: str, name: str) -> str:
        """The same without a mark, where the page itself is about the retraction."""
        if kind == "chart":
            if not self._has_page(name):
                return f"{text(name)} (not in the store)"
            return link(name, f"{self.root}{name.replace('#', '.html#', 1)}")
        folder = {"comparison": "comparisons", "inquiry": "inquiries"}.get(kind, "runs")
        there = kind == "inquiry" or self.has(kind, name)
        return link(name, f"{self.root}{folder}/{name}.html") if there else f"{text(name)} (not in the store)"

    def state(self, claim: Record) -> str:
        """How a claim (a row of ``claim_list``) stands, in words."""
        if claim["retraction"]:
            return (
                f"retracted on {text(claim['withdrawn'])} ({retraction_link(claim['retraction'], self.root)})"
            )
        if claim["state"] == SUPPORTED:
            return f"supported by control {self.controls(claim)}"
        return text(claim["state"])

    def controls(self, claim: Record) -> str:
        names = claim["controls"].split(", ") if claim["controls"] else []
        return ", ".join(self.named("control", name) for name in names) or "none"

    def chart(self, name: str) -> str:
        """A chart by its page and key, ``runs/a#steps``."""
        page, _, key = name.partition("#")
        folder, _, of = page.partition("/")
        under = self._comparisons if folder == "comparisons" else self._runs
        if not self._has_page(name):
            return f"{text(name)} (not in the store)"
        if self._charts_known and not self._desk.has_chart(name):
            return f"{text(name)} (no page has this chart)"
        return link(name, f"{self.root}{page}.html#{key}") + mark(under.get(of, ()), self.root)

    def _has_page(self, chart: str) -> bool:
        """Whether the store has what a chart is of."""
        folder, _, of = chart.partition("#")[0].partition("/")
        return self.has("comparison" if folder == "comparisons" else "run", of)

    def claim(self, name: str) -> str:
        """A claim with how it stands."""
        claim = self._claims.get(name)
        if claim is None:
            return f"{text(name)} (not in the store)"
        return f"{link(name, f'{self.root}claims/{name}.html')} ({self.state(claim)})"


def cited_by(desk: Desk, root: str, folder: str, name: str) -> str:
    """The line of a run's page (``folder="runs"``), or a comparison's, that says which claims and inquiries cite it.

    A chart of its page counts; an experiment is a run.
    """
    kinds = ("comparison",) if folder == "comparisons" else ("run", "control")
    rows = [r for r in desk.ask("citation", name=name, order="by,id") if r["kind"] in kinds]
    for on in (folder, "experiments") if folder == "runs" else (folder,):
        rows += desk.ask("citation", page=f"{on}/{name}", order="by,id")
    if not rows:
        return ""
    return f"\nCited by: {', '.join(_citing(Cited(desk, root), rows))}.\n"


def cited_by_inquiries(desk: Desk, cited: Cited, claim: str) -> str:
    """The line of a claim's page that says which inquiries use it."""
    rows = desk.ask("citation", by="inquiry", kind="claim", name=claim, order="id")
    return f"\nUsed by: {', '.join(_citing(cited, rows))}.\n" if rows else ""


def _citing(cited: Cited, rows: Sequence[Record]) -> list[str]:
    claims = sorted({r["id"] for r in rows if r["by"] == "claim"})
    inquiries = sorted({r["id"] for r in rows if r["by"] == "inquiry"})
    return [
        *(f"claim {cited.claim(one)}" for one in claims),
        *(
            f"inquiry {cited.bare('inquiry', one)}{mark(cited.inquiries.get(one, ()), cited.root)}"
            for one in inquiries
        ),
    ]
