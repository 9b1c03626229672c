"""Pages: one file a page. A page names questions and charts, and is handed what they need.

A page module has ``write(desk)``, which yields ``Page``s. It sees the store only through the desk's questions, so a
page cannot say what no question asks. Files whose name begins with an underscore are shared; ``sections/`` holds the
parts of the run page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from akvsite.charts import Drawing
from akvsite.listings import Column, Listing

Record = dict[str, Any]
Made = TypeVar("Made")


@dataclass(frozen=True)
class Page:
    """One page: ``path`` under the site without its ending (``runs/name``), and its Markdown.

    A file with another ending is copied into the site as it is.
    """

    path: str
    text: str
    ending: str = ".md"


class Desk(Protocol):
    """What a page is handed."""

    def ask(
        self, question: str, /, *, order: str = "", limit: int | None = None, **where: object
    ) -> list[Record]:
        """Rows of a question, filtered by equality, ordered by columns (comma-separated, ``-name`` for falling)."""
        ...

    def columns(
        self, question: str, /, *, order: str = "", only: Sequence[str] = (), **where: object
    ) -> dict[str, np.ndarray[Any, Any]]:
        """The same as columns, (n,) each; ``only`` these where some are named."""
        ...

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        """What ``make`` makes; pages of one build that want it under the same ``key`` share it."""
        ...

    def figure(self, page: str, key: str, drawing: Drawing, question: str, **chosen: object) -> str:
        """Write the chart's data beside the site and return its HTML block. ``key`` is unique on ``page``.

        ``chosen``: by column, what the rows have that the chart is made from (``akvsite.pages._listed.rows_link``), and
        ``of`` where they are of another listing than the question's. Where no column can tell, nothing: the link then says
        that it leads to all rows of the run.
        """
        ...

    def listing(
        self, address: str, question: str, columns: Sequence[Column], /, *, order: str, **where: object
    ) -> Listing:
        """Write the rows of a question beside the site, in files that a page loads on demand (``akvsite.listings``).

        The question's first column after ``run_id`` is the row's id. ``address`` is that of the files under ``data/``.
        """
        ...

    def described(self, question: str) -> dict[str, str]:
        """What each column of a question holds."""
        ...

    def has_chart(self, chart: str) -> bool:
        """Whether a page has this chart, ``PAGE#KEY``. Known to pages that are written after all charts."""
        ...

    def drawing(self, chart: str) -> tuple[Drawing, str]:
        """A chart of another page that somebody cites, as ``PAGE#KEY``: its drawing and its question.

        Only a module that says ``AFTER_ALL_CHARTS = True`` may ask: its pages are written when all others are.
        """
        ...

    @property
    def site_url(self) -> str | None:
        """The address that the site is to be served from; None where nobody said."""
        ...

    def documents(self) -> dict[str, Any]:
        """What the Method and Schema pages are made from: questions, tables and estimators, by name."""
        ...
