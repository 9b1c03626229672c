"""The inquiries: from a symptom through evidence scopes to a change and its validation. A list, and a page each."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page, Record
from akvsite.pages._cited import Cited
from akvsite.pages._html import Cell, front_matter, items, link, number_of, quote, table, text
from akvsite.pages._quoted import quoted
from akvsite.pages._stamps import mark, stamped, stamps

#: An inquiry shows charts of other pages.
AFTER_ALL_CHARTS = True

NOT_YET = "not yet"
_KINDS = (
    ("run", "runs"),
    ("comparison", "comparisons"),
    ("claim", "claims"),
    ("retraction", "retractions"),
    ("chart", "charts"),
)


def write(desk: Desk) -> Iterator[Page]:
    inquiries = desk.ask("inquiry_list", order="-date,inquiry")
    yield Page("inquiries", _list(desk, inquiries))
    cited = Cited(desk, "../")
    for row in inquiries:
        yield Page(f"inquiries/{row['inquiry']}", _Inquiry(desk, row, cited).text())


def _list(desk: Desk, inquiries: list[Record]) -> str:
    words = (
        "An inquiry is a path that an engineer wrote down: from a symptom, through evidence at one scope after another, to a change "
        "and to what was looked at after it. What they wrote is quoted."
    )
    under = stamped(desk, "inquiry")
    rows = [
        [
            Cell(
                link(r["title"], f"inquiries/{r['inquiry']}.html") + mark(under.get(r["inquiry"], ())),
                r["title"],
            ),
            Cell(quote(r["symptom"]), r["symptom"]),
            Cell(
                f"{text(r['date'])}; {r['answered']} of {number_of(r['rungs'], 'rung')} answered; "
                f"change: {'made' if r['change'] else NOT_YET}; validation: {'made' if r['validation'] else NOT_YET}",
                r["date"],
            ),
        ]
        for r in inquiries
    ]
    head = ["inquiry", "symptom", "how far it is"]
    body = table(head, rows, sortable=True, prose=True) if rows else "\nNo inquiry was written.\n"
    return f"# Inquiries\n\n{text(words)}\n{body}"


class _Inquiry:
    """One inquiry as its page sees it."""

    def __init__(self, desk: Desk, row: Record, cited: Cited) -> None:
        self.desk, self.row, self.cited = desk, row, cited
        self.page = f"inquiries/{row['inquiry']}"
        self.rungs = desk.ask("inquiry_ladder", inquiry=row["inquiry"], order="place")
        self.uses = desk.ask("citation", by="inquiry", id=row["inquiry"], order="place,kind,name")
        self._drawn: dict[str, str] = {}

    def text(self) -> str:
        row = self.row
        parts = [
            front_matter(title=row["title"]),
            f"# {text(row['title'])}\n",
            stamps(self.desk, "../", inquiry=row["inquiry"]),
            f"\nWritten on {text(row['date'])}. {number_of(len(self.rungs), 'rung')} of evidence, {row['answered']} answered.\n",
            "\n## Symptom\n",
            quoted(row["symptom"]),
            self._overview(),
            *(self._rung(rung) for rung in self.rungs),
            "\n## Change\n",
            quoted(row["change"] or "") or f"\n{NOT_YET.capitalize()}: nothing was changed.\n",
            "\n## Validation\n",
            quoted(row["validation"] or "")
            or f"\n{NOT_YET.capitalize()}: nothing was looked at after a change.\n",
            self._whole(),
            f"\n## In its maker's words\n{quoted(row['body'])}" if row["body"].strip() else "",
        ]
        return "\n".join(part for part in parts if part)

    def _overview(self) -> str:
        rows = [
            [
                Cell(f'<a href="#rung-{r["place"]}">{r["place"]}</a> {text(r["scope"])}'),
                Cell(quote(r["question"])),
                "answered" if r["found"] else NOT_YET,
            ]
            for r in self.rungs
        ]
        return "\n## The ladder\n" + table(["rung and scope", "question", "what was seen"], rows, prose=True)

    def _rung(self, rung: Record) -> str:
        place = rung["place"]
        uses = [u for u in self.uses if u["place"] == place]
        seen = f"Seen:\n{quoted(rung['found'])}" if rung["found"] else f"Seen: {NOT_YET}.\n"
        return (
            f"\n### Rung {place}: {text(rung['scope'])} {{ #rung-{place} }}\n\nAsked: {quote(rung['question'])}\n\n{seen}"
            + self._links(uses)
            + self._charts(place, uses)
        )

    def _whole(self) -> str:
        """What the inquiry stands on as a whole."""
        uses = [u for u in self.uses if u["place"] == 0]
        return f"\n## It uses\n{self._links(uses)}{self._charts(0, uses)}" if uses else ""

    def _links(self, uses: list[Record]) -> str:
        lines = [
            f"{words}: {', '.join(self.cited.link(u) for u in uses if u['kind'] == kind)}"
            for kind, words in _KINDS
            if any(u["kind"] == kind for u in uses)
        ]
        return items(lines) if lines else ""

    def _charts(self, place: int, uses: list[Record]) -> str:
        """The cited charts, drawn here; one that is on this page already is referred to."""
        parts = []
        for number, use in enumerate((u for u in uses if u["kind"] == "chart"), 1):
            name, key = use["name"], f"rung-{place}-chart-{number}"
            if name in self._drawn:
                parts.append(f'\nThe chart {text(name)} is drawn <a href="#{self._drawn[name]}">above</a>.\n')
                continue
            if not self.desk.has_chart(name):
                continue
            self._drawn[name] = key
            drawing, question = self.desk.drawing(name)
            parts.append("\n" + self.desk.figure(self.page, key, drawing, question))
        return "\n".join(parts)
