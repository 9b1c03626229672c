"""Words and marks of a verdict, and the texts of the site in which they must not stand.

What engineers wrote is marked as quoted, and what captures name stands in the font of code or is a name in the store:
both are exempt. "pass" of a kernel replay and a "failed" request are facts, not verdicts.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

VERDICT = re.compile(
    r"\b(fast(er|est)|slow(er|est)|quick(er|est)|speed-?ups?|slow-?downs?|sped up|slowed down|"
    r"better|best|worse|worst|worsen(s|ed|ing)?|regress(ion|ions|ed|es|ing)?|progression|"
    r"improv(e|ed|es|ing|ement|ements)|degrad(e|ed|es|ing|ation)|deteriorat(e|ed|es|ion)|"
    r"wins?|winners?|winning|loses?|losers?|losing|beats?|outperform(s|ed|ing)?|superior|inferior|"
    r"(in)?significan(t|tly|ce)|p-values?|pass(es)?|passing|fails?|failing|"
    r"good|bad|badly|poor|poorly|excellent|terrible|awful|acceptable|unacceptable|satisfactory|unsatisfactory|"
    r"healthy|unhealthy|suboptimal|optimal)\b"
    r"|\b(test|check|gate|comparison|benchmark)s? (passed|failed)\b"
    r"|[▲▼△▽▴▾▵▿↑↓⇑⇓⇧⇩↗↘⬆⬇⏫⏬🔺🔻📈📉✅✔✓❌✘✗👍👎🟢🔴🟡⭐★]"
    r"|\bp\s*(<|<=|=|≤)\s*0?\.\d",
    re.IGNORECASE,
)
#: Prose that states the rule has to name what it forbids; digits are significant, and a replay goes in passes, without any
#: judgement.
RULE = re.compile(r"No verdicts?\b[^.]*\.|significant digits|\breplay pass(es)?\b|\bpass \d+ of \d+\b")

#: Elements without an end.
_VOID = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "path",
        "source",
        "track",
        "wbr",
    )
)
#: What is no text, what captures name, and what people wrote.
_SKIPPED = frozenset(("script", "style"))
_NAMED = frozenset(("code", "pre", "samp", "kbd"))
_QUOTED = frozenset(("q",))
_MARKS = frozenset(("akv-quoted", "akv-captured"))
#: Attributes that are read out, shown on hovering, or found by a search. What a cell sorts by is in the cell as well.
_TEXTS = frozenset(
    (
        "title", "alt", "aria-label", "aria-description", "aria-valuetext", "aria-roledescription", "placeholder", "label",
        "summary", "value", "content", "data-label", "data-title",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Names:
    """What captures name, without spaces: texts of the store in which a word of a verdict may stand as a name."""

    texts: tuple[str, ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Names:
        """Of these, those that hold a word of a verdict."""
        found = {text for text in texts if VERDICT.search(text)}
        return cls(tuple(sorted(re.sub(r"\s+", "", text) for text in found)))

    def cover(self, text: str, word: re.Match[str]) -> bool:
        """Whether the word stands inside a whole name, or inside one that was shortened in its middle."""
        before = len(re.sub(r"\s+", "", text[: word.start()]))
        said, bare = re.sub(r"\s+", "", word[0]), re.sub(r"\s+", "", text)
        return any(_lies_in(name, said, bare, before) for name in self.texts)


def _lies_in(name: str, word: str, text: str, at: int) -> bool:
    for place in (m.start() for m in re.finditer(re.escape(word), name)):
        left = 0
        while left < min(place, at) and name[place - left - 1] == text[at - left - 1]:
            left += 1
        right, over = len(word), min(len(name) - place, len(text) - at)
        while right < over and name[place + right] == text[at + right]:
            right += 1
        begins = left == place or text[at - left - 1 : at - left] == "…"
        if begins and (right == len(name) - place or text[at + right : at + right + 1] == "…"):
            return True
    return False


NO_NAMES = Names()


def verdicts(text: str, names: Names = NO_NAMES) -> list[str]:
    """Each word of a verdict, with what stands around it, that is in no name."""
    plain = RULE.sub(" ", text)
    return [
        plain[max(0, m.start() - 40) : m.end() + 40]
        for m in VERDICT.finditer(plain)
        if not names.texts or not names.cover(plain, m)
    ]


class _Text(HTMLParser):
    """Visible text and attribute texts of a page, without scripts and without what is marked as quoted."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.depth: list[str] = []
        self.quoted_from: int | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        marked = bool(_MARKS & set((dict(attrs).get("class") or "").split())) or tag in _NAMED | _QUOTED
        if tag not in _VOID:
            self.depth.append(tag)
            if self.quoted_from is None and (marked or tag in _SKIPPED):
                self.quoted_from = len(self.depth)
        if self.quoted_from is None and not marked:
            self.found += [value for name, value in attrs if value and name in _TEXTS]

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.depth:
            return
        while self.depth:
            if self.quoted_from == len(self.depth):
                self.quoted_from = None
            if self.depth.pop() == tag:
                break

    def handle_data(self, data: str) -> None:
        if self.quoted_from is None:
            self.found.append(data)


def of_page(html: str) -> str:
    reader = _Text()
    reader.feed(html)
    return " ".join(" ".join(reader.found).split())


def of_feed(xml: str) -> str:
    """The texts of an Atom feed; what is HTML in it is read as a page is."""
    said = []
    for element in ElementTree.fromstring(xml).iter():
        own = element.text or ""
        said.append(of_page(own) if element.get("type") in ("html", "xhtml") else own)
        said += [element.get(name, "") for name in ("title", "label", "term")]
    return " ".join(" ".join(said).split())


def of_csv(text: str) -> str:
    """The different cells of a table of numbers, each once: most of a file is the same words in every row."""
    cells = dict.fromkeys(cell for row in csv.reader(io.StringIO(text)) for cell in row)
    return "\n".join(cell for cell in cells if not cell[:1].isdigit() or not cell.replace(".", "").isdigit())


def spec_of(script: str) -> dict[str, Any] | None:
    """The specification in a chart's data script; None where it is data of another kind."""
    call = re.fullmatch(r'akvChart\("[^"]*",(\{.*\})\);\s*', script, re.S)
    return json.loads(call[1]) if call else None


def of_spec(spec: Any) -> Iterator[str]:
    """Every text of a chart: titles, printed line, axes, tooltips, summary, data. Lines of one text are joined."""
    if isinstance(spec, dict):
        for value in spec.values():
            yield from of_spec(value)
    elif isinstance(spec, list):
        if spec and all(isinstance(value, str) for value in spec):
            yield " ".join(spec)
        else:
            for value in spec:
                yield from of_spec(value)
    elif isinstance(spec, str):
        yield spec
