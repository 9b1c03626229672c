"""Words and marks of a verdict, and the text of the site in which they must not stand.

What engineers wrote in claims, and what captures name, is quoted and exempt; "pass" of a kernel replay and a "failed"
request are facts, not verdicts.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

VERDICT = re.compile(
    r"\b(faster|slower|fastest|slowest|better|best|worse|worst|regress(ion|ions|ed|es)?|improve(d|s|ment|ments)?|"
    r"wins?|winner|loses?|loser|significant(ly)?|insignificant|pass(es)?|passing|fails?|failing|good|bad|outperforms?)\b"
    r"|[▲▼△▽↑↓⬆⬇✅❌👍👎]|p\s*[<=]\s*0?\.\d",
    re.IGNORECASE,
)
#: Prose that states the rule has to name what it forbids.
RULE = re.compile(r"No verdicts?\b[^.]*\.|significant digits")

_SKIPPED = {"script", "style"}


class _Text(HTMLParser):
    """Visible text and attribute texts of a page, without scripts and without what is marked as quoted."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.depth: list[str] = []
        self.quoted_from: int | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag in ("img", "br", "meta", "link", "input", "hr", "path", "col"):
            return
        self.depth.append(tag)
        marked = "akv-quoted" in (known.get("class") or "").split() or tag in (
            "code",
            "pre",
            "blockquote",
            "q",
            "samp",
        )
        if self.quoted_from is None and (marked or tag in _SKIPPED):
            self.quoted_from = len(self.depth)
        if self.quoted_from is None:
            self.found += [value for name, value in attrs if value and name in ("title", "alt", "aria-label")]

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


def verdicts(text: str) -> list[str]:
    """Each verdict word with what stands around it."""
    plain = RULE.sub(" ", text)
    return [plain[max(0, m.start() - 40) : m.end() + 40] for m in VERDICT.finditer(plain)]
