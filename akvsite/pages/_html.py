"""Text for pages. Everything that comes from a capture goes through here, escaped.

Tables are HTML, not Markdown: names of kernels hold every character that Markdown gives a meaning to.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from akvsite.errors import visible
from akvsite.estimate import Estimate
from akvsite.wording import number_of as number_of

#: Characters that mean something to Markdown or HTML; written as entities they are only themselves.
_SPECIAL = frozenset("&<>\"'`*_[](){}|~^=$#\\!:@+-")


def text(value: object) -> str:
    """Any text, for use in Markdown or between HTML tags: one line, nothing in it is markup."""
    line = " ".join(visible(value).split())
    return "".join(f"&#{ord(char)};" if char in _SPECIAL else char for char in line)


def code(value: object, limit: int = 0) -> str:
    """A name, in the font of code; cut in the middle beyond ``limit`` characters, whole in its tooltip."""
    return _named("code", value, limit)


def _named(tag: str, value: object, limit: int) -> str:
    line = " ".join(visible(value).split())
    if limit and len(line) > limit:
        head = limit * 2 // 3
        short = f"{line[:head]}…{line[-(limit - head - 1) :]}"
        return f'<{tag} title="{html.escape(line[:2000])}">{text(short)}</{tag}>'
    return f"<{tag}>{text(line)}</{tag}>"


def prose(value: str) -> str:
    """A sentence of our own documentation: escaped, with what stands between backticks as code."""
    parts = re.split(r"``(.+?)``|`(.+?)`", " ".join(value.split()))
    return "".join(
        text(part) if place % 3 == 0 else f"<code>{text(part)}</code>"
        for place, part in enumerate(parts)
        if part
    )


def recorded(count: int) -> Cell:
    """How many records there are; where there are none, that is said in words, since it is no measurement of 0."""
    return counted(count) if count else Cell("none recorded", 0)


def front_matter(*, title: str) -> str:
    """The title that goes into the page's head, where the theme writes it as it is: no sign of markup may be in it."""
    plain = re.sub(r"[<>&]", " ", " ".join(visible(title).split()))
    return f"---\ntitle: {json.dumps(plain, ensure_ascii=False)}\n---\n"


def link(label: object, address: str) -> str:
    return f'<a href="{html.escape(address)}">{text(label)}</a>'


def linked(shown: str, address: str) -> str:
    """HTML that leads to an address."""
    return f'<a href="{html.escape(address)}">{shown}</a>'


def quote(value: object) -> str:
    """What a person wrote, marked as theirs."""
    return f"<q>{text(value)}</q>"


@dataclass(frozen=True)
class Cell:
    """A table cell with its HTML and what it sorts by."""

    html: str
    sort: float | int | str | None = None


def captured(value: object, limit: int = 0) -> Cell:
    """What a capture says, in its own words; cut in the middle beyond ``limit`` characters, whole in its tooltip."""
    return Cell(_named("samp", value, limit), " ".join(visible(value).split()))


def counted(number: int | float | None, unit: str = "") -> Cell:
    """A count or a total of records, which has no band since nothing was estimated. None is unknown."""
    if number is None:
        return Cell("unknown", None)
    shown = f"{number:,}" if isinstance(number, int) else f"{number:,.6g}"
    return Cell(text(f"{shown} {unit}".strip()), number)


def estimated(number: Estimate) -> Cell:
    """A number with its band, sorted by its value."""
    return Cell(text(number.text()), number.value)


def _cell(value: Any) -> Cell:
    """What stands in a cell: a number in the store is an int, and everything else that is not a ``Cell`` is text."""
    if isinstance(value, Cell):
        return value
    if isinstance(value, int):
        return counted(value)
    return Cell("unknown" if value is None else text(value))


#: So many characters are one thing, such as a number with its unit or a date, and stay on one line.
_ONE_LINE = 25
_TAG = re.compile(r"<[^>]*>")


def _short(cell: Cell) -> str:
    """The class of a cell that stays on one line: a name with a hyphen, or what has a number and a space, and is short."""
    if len(cell.html) > 20 * _ONE_LINE:
        return ""
    shown = html.unescape(_TAG.sub("", cell.html))
    breaks = re.fullmatch(r"\S*-\S+|.*\d.* .*|.* .*\d.*", shown)
    return "akv-short" if breaks and len(shown) <= _ONE_LINE else ""


def _class(*names: str) -> str:
    held = " ".join(name for name in names if name)
    return f' class="{held}"' if held else ""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    caption: str = "",
    sortable: bool = False,
    prose: bool = False,
) -> str:
    """An HTML table. A value is a ``Cell`` (HTML already), text (escaped here), a count, or None, which is unknown.

    ``prose``: its cells hold sentences, in which a name in code stays whole.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    numeric = [
        bool(cells) and all(isinstance(line[n].sort, (int, float)) for line in cells)
        for n in range(len(columns))
    ]
    kinds = ["akv-number" if is_number else "" for is_number in numeric]
    head = "".join(
        f'<th scope="col"{_class(kind)}>{text(name)}</th>' for name, kind in zip(columns, kinds, strict=True)
    )
    body = [
        "<tr>"
        + "".join(
            f"<td{_class(kind, _short(cell))}"
            + ("" if cell.sort is None else f' data-sort="{html.escape(visible(cell.sort))}"')
            + f">{cell.html}</td>"
            for cell, kind in zip(line, kinds, strict=True)
        )
        + "</tr>"
        for line in cells
    ]
    if not body:
        body = [f'<tr><td colspan="{len(columns)}">none</td></tr>']
    # The names in a table are on the pages that they lead to; a search finds them there.
    kind = " data-akv-table data-search-exclude" if sortable else " data-search-exclude"
    words = " akv-prose" if prose else ""
    title = f"<caption>{text(caption)}</caption>" if caption else ""
    # A table that is wider than its page scrolls, and a keyboard can scroll it too.
    return (
        f'\n<div class="akv-scroll" role="group" aria-label="table" tabindex="0"{kind}>\n'
        f'<table class="akv-table{words}">{title}<thead><tr>{head}</tr></thead><tbody>\n{chr(10).join(body)}\n</tbody></table>\n</div>\n'
    )


def stamp(lines: Iterable[str]) -> str:
    """What must be seen before anything else on the page. Lines are HTML."""
    return (
        '\n<div class="akv-stamp" role="note">\n'
        + "\n".join(f"<p>{line}</p>" for line in lines)
        + "\n</div>\n"
    )


def items(lines: Iterable[str]) -> str:
    """A list; lines are Markdown or HTML whose captured parts are escaped."""
    return "\n" + "\n".join(f"- {line}" for line in lines) + "\n"
