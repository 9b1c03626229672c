"""Pages: one file a page. A page names questions and charts, and is handed what they need.

A page module has ``write(desk)``, which yields ``Page``s. It sees the store only through the desk's questions, so a
page cannot say what no question asks. Files whose name begins with an underscore are shared; ``sections/`` holds the
parts of the run page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from akvsite.charts import Drawing

Record = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """One page: ``path`` under the site without its ending (``runs/name``), and its Markdown."""

    path: str
    text: str


class Desk(Protocol):
    """What a page is handed."""

    def ask(
        self, question: str, /, *, order: str = "", limit: int | None = None, **where: object
    ) -> list[Record]:
        """Rows of a question, filtered by equality, ordered by columns (comma-separated, ``-name`` for falling)."""
        ...

    def columns(
        self, question: str, /, *, order: str = "", **where: object
    ) -> dict[str, np.ndarray[Any, Any]]:
        """The same as columns, (n,) each."""
        ...

    def figure(self, page: str, key: str, drawing: Drawing, question: str) -> str:
        """Write the chart's data beside the site and return its HTML block. ``key`` is unique on ``page``."""
        ...

    def documents(self) -> dict[str, Any]:
        """What the Method and Schema pages are made from: questions, tables and estimators, by name."""
        ...
