"""A look at ourselves: what looking costs on each host, what each capture saw and lost, where its sources disagree."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page
from akvsite.pages import _instruments_account as account
from akvsite.pages import _instruments_cost as cost
from akvsite.pages import _instruments_sources as sources
from akvsite.pages._html import text

_ABOUT = (
    "This page is about the instrument and not about any engine: what looking on costs on each host, what each capture saw and what it "
    "lost, and where two sources of one run do not say the same. No time on it is a speed, and nothing is subtracted from any capture "
    "because of it."
)


def write(desk: Desk) -> Iterator[Page]:
    parts = [
        "---\nhide:\n  - toc\n---\n\n# A look at ourselves\n",
        text(_ABOUT) + "\n",
        "\n## What looking costs, host by host\n",
        cost.write(desk, "instruments"),
        "\n## What each capture saw, and what it lost\n",
        account.write(desk),
        "\n## Where the sources of one run disagree\n",
        sources.write(desk),
    ]
    yield Page("instruments", "\n".join(parts))
