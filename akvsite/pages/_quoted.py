"""Text that people wrote beside the captures: shown as theirs.

A note may come with somebody's capture, so little of Markdown is kept: paragraphs, lists and code. Nothing in it can
be a link, an image, a heading, an attribute or a box of the page's own.
"""

from __future__ import annotations

import re

from akvsite.pages._html import text


def quoted(body: str) -> str:
    """The note as an HTML block quote."""
    blocks = [
        block.strip("\n") for block in re.split(r"\n\s*\n", body.replace("\r\n", "\n")) if block.strip()
    ]
    if not blocks:
        return ""
    return '\n<blockquote class="akv-quoted">\n' + "\n".join(map(_block, blocks)) + "\n</blockquote>\n"


def _block(block: str) -> str:
    lines = block.splitlines()
    items = [re.fullmatch(r"\s*[-*]\s+(.*)", line) for line in lines]
    if all(items):
        return "<ul>" + "".join(f"<li>{_line(item[1])}</li>" for item in items if item) + "</ul>"
    return f"<p>{_line(' '.join(line.strip() for line in lines))}</p>"


def _line(line: str) -> str:
    """One paragraph: what stands between backticks is code, everything else is text."""
    parts = re.split(r"`([^`]+)`", line)
    return "".join(
        f"<code>{text(part)}</code>" if place % 2 else text(part) for place, part in enumerate(parts)
    )
