"""A look at ourselves: what looking costs on each host, what each capture saw and lost, where its sources disagree."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page


def write(desk: Desk) -> Iterator[Page]:
    yield Page("instruments", "# The site's own instruments\n")
