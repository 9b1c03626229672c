"""What a page or a chart names that stands under a retraction, and whether it says so: found in the page itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from akvsite.store import Store

#: What stands under a retraction: by folder and name, the ids of its retractions.
Stamped = Mapping[tuple[str, str], frozenset[str]]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_VOID = ("img", "br", "meta", "link", "input", "hr", "path", "col", "wbr")
_BLOCKS = ("p", "li", "tr", "h1", "h2", "h3", "h4", "figcaption", "caption", "summary", "dd", "dt")


def of_store(path: Path) -> Stamped:
    """Runs and comparisons; an experiment is a run, and its page is its name's."""
    found: dict[tuple[str, str], set[str]] = {}
    with Store.open(path) as store:
        for row in store.rows("SELECT kind, name, retraction FROM stamp"):
            folders = {
                "run": ("runs", "experiments"),
                "control": ("runs", "experiments"),
                "comparison": ("comparisons",),
            }
            for folder in folders.get(row["kind"], ()):
                found.setdefault((folder, row["name"]), set()).add(row["retraction"])
    return {key: frozenset(ids) for key, ids in found.items()}


class _Reader(HTMLParser):
    """Blocks of a page's own text, without what is quoted: their words, their links, the retractions marked in them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool, bool]] = []
        #: The retractions of the stamps that stand on the page.
        self.on_page: set[str] = set()
        self.blocks: list[tuple[list[str], list[str], set[str]]] = [([], [], set())]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        classes = (known.get("class") or "").split()
        quoted = (
            tag in ("q", "script", "style", "nav", "header", "footer")
            or "akv-quoted" in classes
            or self.quoted
        )
        stamp = "akv-stamp" in classes or self.in_stamp
        if tag in _BLOCKS:
            self.blocks.append(([], [], set()))
        if (marked := known.get("data-akv-retraction")) is not None:
            (self.on_page if stamp else self.blocks[-1][2]).add(marked)
        # A link in the head leads to the next page of all, whatever that is, and is not seen.
        if not quoted and not stamp and tag != "link" and known.get("href"):
            self.blocks[-1][1].append(str(known["href"]))
        if tag not in _VOID:
            self.open.append((tag, quoted, stamp))

    def handle_endtag(self, tag: str) -> None:
        if any(tag == name for name, _, _ in self.open):
            while self.open.pop()[0] != tag:
                pass

    @property
    def quoted(self) -> bool:
        return bool(self.open) and self.open[-1][1]

    @property
    def in_stamp(self) -> bool:
        return bool(self.open) and self.open[-1][2]

    def handle_data(self, data: str) -> None:
        if not self.quoted and not self.in_stamp:
            self.blocks[-1][0].append(data)


def _named(text: str) -> set[str]:
    found = _NAME.findall(text)
    return {*found, *(name.rstrip("._-") for name in found)}


def unmarked(page: str, stamped: Stamped) -> list[str]:
    """What a page names or links to and does not mark: neither beside it nor in a stamp over the page."""
    reader = _Reader()
    reader.feed(page)
    missing = []
    for words, links, marks in reader.blocks:
        named = {("runs", name) for name in _named(" ".join(words))}
        for address in links:
            folder, _, name = unquote(urlsplit(address).path).removesuffix(".html").rpartition("/")
            named.add((folder.rpartition("/")[2], name))
        missing += [
            f"{'/'.join(thing)}: {' '.join(' '.join(words).split())[:120]}"
            for thing in named & stamped.keys()
            if not stamped[thing] <= marks | reader.on_page
        ]
    return sorted(missing)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def unprinted(script: str, stamped: Stamped) -> list[str]:
    """What a chart's data names and its printed line does not mark."""
    spec = json.loads(re.search(r"akvChart\(.*?,\s*(\{.*\})\s*\)", script, re.S)[1])  # type: ignore[index]
    footer = " ".join(spec["usermeta"]["akv"]["footer"])
    names = set().union(*map(_named, _strings(spec)))
    return [
        name
        for (folder, name), ids in sorted(stamped.items())
        if folder != "experiments"
        and name in names
        and not all(f"({one})" in footer and "RETRACTED" in footer for one in ids)
    ]
