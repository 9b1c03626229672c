"""What a build holds a site to: no page quotes a withdrawn claim without its stamp, and no chart is cited that is not there."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from akvsite import wording
from akvsite.errors import BadInput
from akvsite.pages import Desk, Page, Record
from akvsite.pages._stamps import stamp_of_quotes

#: A tag ends before the next one begins, so that each character is looked at once.
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)?[^<>]*>")
#: Tags within a line, which may stand inside a word.
_INLINE = frozenset(
    ("a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s", "samp", "small",
     "span", "strong", "sub", "sup", "u", "var", "wbr")
)  # fmt: skip
#: The address of a Markdown link; its words are text.
_ADDRESS = re.compile(r"\]\([^()\s]*\)")
_HEADING = re.compile(r"^# .*\n", re.M)
_WORD = re.compile(r"[^\W_]+")
_STAMPED = re.compile(r'<[a-z]+\b[^<>]*\bdata-akv-retraction="([^"<>]*)"')


def unstamped(page: str, withdrawn: Sequence[Record]) -> list[Record]:
    """The withdrawn claims that a page quotes without the stamp of their retraction.

    ``page`` is Markdown or HTML, ``withdrawn`` are rows of ``retraction_list``. A quote has the words of the statement,
    however they are set: tags, entities, emphasis, punctuation, white space and case are looked through. A statement of
    few words is not looked for: pages that quote nobody have them too. The time is linear in the page for each claim.
    """
    withdrawn = [row for row in withdrawn if wording.words(row["statement"]) >= wording.FEWEST_TO_QUOTE]
    if not withdrawn:
        return []
    seen = _without_comments(page)
    stamped = {html.unescape(found) for found in _STAMPED.findall(seen)}
    words = _words(seen)
    found = []
    for row in withdrawn:
        # A statement is text; copied into Markdown as it is, its signs may become markup.
        said = {_words(html.escape(row["statement"])), _words(row["statement"])}
        if row["retraction"] not in stamped and any(one.strip() and one in words for one in said):
            found.append(row)
    return found


def with_stamps(page: Page, withdrawn: Sequence[Record]) -> str:
    """The text of a page that the build made, with the stamps that it lacks of claims that are quoted on it.

    Captures, notes and other claims are never edited, and each of them may have the words of a claim that was withdrawn
    later.
    """
    found = unstamped(page.text, withdrawn)
    if not found:
        return page.text
    stamps = stamp_of_quotes(found, "../" * page.path.count("/"))
    heading = _HEADING.search(page.text)
    end = heading.end() if heading else len(page.text)
    return f"{page.text[:end]}{stamps}{page.text[end:]}"


def hold_quotes(source: Path, withdrawn: Sequence[Record]) -> None:
    """Raises ``BadInput`` for the first page in ``source`` that quotes a withdrawn claim without its stamp.

    All pages are read, those that are written by hand too. ``withdrawn`` are rows of ``retraction_list``.
    """
    if not withdrawn:
        return
    for path in sorted(p for p in source.rglob("*") if p.suffix in (".md", ".html") and p.is_file()):
        for row in unstamped(path.read_text(encoding="utf-8", errors="replace"), withdrawn):
            top = "../" * (len(path.relative_to(source).parts) - 1)
            raise BadInput(
                path,
                f"quotes claim {row['claim']!r}, which retraction {row['retraction']!r} withdrew, without its stamp: put "
                f'<a data-akv-retraction="{row["retraction"]}" href="{top}retractions.html#{row["retraction"]}">retracted</a> beside it',
            )


def hold_charts(desk: Desk) -> None:
    """Raises ``BadInput`` for the first chart that an inquiry cites and the page of its run or comparison lacks.

    A run that is not in the store has no page: part of the captures may be read on purpose. A claim's history is only
    appended to, so that a wrong key in it could not be mended. Both are said where the chart is cited.
    """
    for row in desk.ask("citation", kind="chart", by="inquiry", order="id,name"):
        if not desk.has_chart(row["name"]) and has_page(desk, row["name"]):
            raise BadInput(
                f"inquiries/{row['id']}.md",
                f"cites the chart {row['name']!r}, which no page has",
                place=f"rung {row['place']}" if row["place"] else None,
            )


def has_page(desk: Desk, chart: str) -> bool:
    """Whether the store has the run or comparison that a chart, ``PAGE#KEY``, is of."""
    folder, _, name = chart.partition("#")[0].partition("/")
    if folder == "comparisons":
        return bool(desk.ask("comparison_list", comparison=name, limit=1))
    return bool(desk.ask("run_list", name=name, limit=1))


def _words(text: str) -> str:
    """The words of a text, small, each between two spaces."""
    plain = html.unescape(_TAG.sub(_space, _ADDRESS.sub("]", text)))
    folded = unicodedata.normalize("NFKC", plain).casefold()
    unseen = {ord(c): None for c in set(folded) if unicodedata.category(c) == "Cf"}
    return f" {' '.join(_WORD.findall(folded.translate(unseen)))} "


def _space(tag: re.Match[str]) -> str:
    return "" if (tag[1] or "").lower() in _INLINE else " "


def _without_comments(page: str) -> str:
    """A stamp in a comment is none."""
    first, *others = page.split("<!--")
    # What has no end is a comment to the end of the page.
    return first + "".join(other.partition("-->")[2] for other in others)
