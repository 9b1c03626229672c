"""The feed of retractions: Atom (RFC 4287), the same bytes from the same notes."""

from __future__ import annotations

import uuid
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from akvsite.errors import visible
from akvsite.pages import Record
from akvsite.pages._html import quote
from akvsite.pages._html import text as escaped

PATH, ENDING = "retractions", ".atom"
TITLE = "Retractions"
AUTHOR = "those who keep this site's captures"

_ATOM = "http://www.w3.org/2005/Atom"
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
#: RFC 9562, section 6.6: names within a namespace that is ours.
_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "https://www.rfc-editor.org/rfc/rfc4287#akvsite-retractions")


def link() -> str:
    """A visible link to the feed, as HTML, for a page at the top of the site."""
    return (
        f'<a rel="alternate" type="application/atom+xml" href="{PATH}{ENDING}">Feed of retractions (Atom)</a>'
    )


def text(retractions: Sequence[Record], site_url: str | None) -> str:
    """The feed of ``retractions`` (rows of ``retraction_list``, newest first).

    Ids and dates are made of the notes alone, so that a reader that saw an entry knows it again wherever the site is
    served. A note has a day and no time: its entry was updated when that day began, UTC. Links begin with ``site_url``.
    Where nobody said what it is, they are relative, with the base ``./``: RFC 4287, section 2, lets ``xml:base`` be
    relative to the address that the feed came from, and that is the folder in which the pages lie.
    """
    root = f"{site_url.rstrip('/')}/" if site_url else ""
    feed = ET.Element("feed", {"xmlns": _ATOM, **({} if root else {_BASE: "./"})})
    _add(feed, "id", _IDS.urn)
    _add(feed, "title", TITLE)
    _add(feed, "updated", _moment(max((r["date"] for r in retractions), default="1970-01-01")))
    _add(_add(feed, "author"), "name", AUTHOR)
    _add(feed, "link", rel="self", type="application/atom+xml", href=f"{root}{PATH}{ENDING}")
    _add(feed, "link", rel="alternate", type="text/html", href=f"{root}{PATH}.html")
    for row in retractions:
        entry = _add(feed, "entry")
        _add(entry, "id", _id(row))
        _add(entry, "title", f"Retracted: {row['claim']}")
        _add(entry, "updated", _moment(row["date"]))
        _add(entry, "published", _moment(row["date"]))
        _add(entry, "link", rel="alternate", type="text/html", href=f"{root}{PATH}.html#{row['retraction']}")
        _add(entry, "content", _said(row), type="html")
    ET.indent(feed)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(feed, encoding="unicode") + "\n"


def _id(row: Record) -> str:
    """No two retractions of one project have the same id; of two projects, the same claim and days are needed too."""
    return uuid.uuid5(_IDS, "\n".join((row["retraction"], row["claim"], row["made"], row["date"]))).urn


def _said(row: Record) -> str:
    control = f"<p>Control: {escaped(row['control'])}.</p>" if row["control"] else ""
    return (
        f"<p>The claim said: {quote(row['statement'])}</p><p>Withdrawn on {escaped(row['date'])}. Reason: {quote(row['reason'])}</p>"
        f"{control}"
    )


def _moment(day: str) -> str:
    return f"{day}T00:00:00Z"


def _add(parent: ET.Element, tag: str, content: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, tag, attributes)
    if content:
        # What XML cannot hold, control characters and such, is spelled out.
        element.text = visible(content)
    return element
