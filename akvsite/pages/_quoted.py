"""Text that people wrote beside the captures: shown as theirs, its Markdown kept, its HTML taken as text."""

from __future__ import annotations

import html

from akvsite.errors import visible


def quoted(body: str) -> str:
    """The note as a block quote, so that no heading or list of it joins the page's own."""
    if not body.strip():
        return ""
    lines = [html.escape(visible(line), quote=False) for line in body.splitlines()]
    return (
        '\n<div class="akv-quoted" markdown>\n\n'
        + "\n".join(f"> {line}".rstrip() for line in lines)
        + "\n\n</div>\n"
    )
