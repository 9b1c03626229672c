"""The inquiries: from a symptom through evidence scopes to a change and its validation. A list, and a page each."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page


def write(desk: Desk) -> Iterator[Page]:
    yield Page("inquiries", "# Inquiries\n\nNo inquiry was written.\n")
