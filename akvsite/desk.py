"""What pages are handed: answers of the store, and a place for the data of their charts and the rows of their listings."""

from __future__ import annotations

import inspect
import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from akvsite import estimators, listings, questions, tables
from akvsite.charts import Drawing, embed
from akvsite.errors import BadInput
from akvsite.listings import Column, Listing
from akvsite.pages import Made, Record, _listed
from akvsite.pages._run import ADDS
from akvsite.store import Store

#: Kinds of pages whose charts can be cited.
CITED_PAGES = ("runs", "experiments", "comparisons")
#: Folders whose pages have the names of runs.
PAGES_OF_A_RUN = ("runs", "tokens", "steps", "calls", "experiments")


class SiteDesk:
    """What pages are handed: the store's answers, and a place to leave chart data. See ``pages.Desk``."""

    def __init__(self, store: Store, leave: Callable[[str, str], None] | None = None) -> None:
        self._store = store
        self._leave = leave
        self.charts = 0
        #: The cited charts that were drawn, with their questions.
        self.drawn: dict[str, tuple[Drawing, str]] = {}

    def ask(
        self, question: str, /, *, order: str = "", limit: int | None = None, **where: object
    ) -> list[Record]:
        sql, values = self._query(question, order, limit, where)
        with _summed(question, where):
            return self._store.rows(sql, values)

    def columns(
        self, question: str, /, *, order: str = "", only: Sequence[str] = (), **where: object
    ) -> dict[str, np.ndarray[Any, Any]]:
        sql, values = self._query(question, order, None, where, only)
        with _summed(question, where):
            return self._store.columns(sql, values)

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        return make()

    def _query(
        self,
        question: str,
        order: str,
        limit: int | None,
        where: dict[str, object],
        only: Sequence[str] = (),
    ) -> tuple[str, list[Any]]:
        asked = questions.questions()[question]
        by = [part for part in order.split(",") if part]
        for name in [*where, *only, *(part.lstrip("-") for part in by)]:
            if name not in asked.columns:
                raise KeyError(f"question {question} has no column {name!r}")
        sql = f"SELECT {', '.join(only or asked.columns)} FROM {question}"
        if where:
            sql += " WHERE " + " AND ".join(f"{name} IS ?" for name in where)
        if by:
            sql += " ORDER BY " + ", ".join(
                f"{p.lstrip('-')}{' DESC' if p.startswith('-') else ''}" for p in by
            )
        if limit is not None:
            sql += f" LIMIT {int(limit)}"
        return sql, list(where.values())

    @cached_property
    def _cited(self) -> frozenset[str]:
        return frozenset(row["name"] for row in self.ask("citation", kind="chart"))

    def figure(self, page: str, key: str, drawing: Drawing, question: str, **chosen: object) -> str:
        self.charts += 1
        if (name := f"{page}#{key}") in self._cited:
            self.drawn[name] = drawing, question
        root = "../" * page.count("/")
        if self._leave is not None:
            self._leave(f"data/{page}/{key}.js", embed.data_script(drawing, key))
            self._leave(f"data/{page}/{key}.csv", embed.csv_text(drawing))
        cite = name if page.partition("/")[0] in CITED_PAGES else ""
        return embed.figure(
            drawing, key, f"{root}data/{page}", sql=f"{root}method.html#{question}", cite=cite,
            rows=self._behind(page, question, root, chosen),
        )  # fmt: skip

    def _behind(self, page: str, question: str, root: str, chosen: dict[str, Any]) -> tuple[str, str]:
        """Where the rows of a chart are, those that have what is ``chosen``; empty on a page that is of no one run."""
        folder, _, run = page.partition("/")
        of_a_run = folder in PAGES_OF_A_RUN and run in self._runs
        return _listed.behind(self._runs[run], question, root, **chosen) if of_a_run else ("", "")

    @cached_property
    def _runs(self) -> dict[str, Record]:
        return {row["name"]: row for row in self.ask("run_list")}

    def listing(
        self, address: str, question: str, columns: Sequence[Column], /, *, order: str, **where: object
    ) -> Listing:
        asked = questions.questions()[question]
        id_column = next(name for name in asked.columns if name != "run_id")
        sql, values = self._query(question, order, None, where, only=[id_column, *(c.name for c in columns)])
        leave = self._leave or (lambda name, content: None)
        with _summed(question, where):
            rows = self._store.batches(sql, values, size=listings.PIECE_ROWS)
            return listings.write(f"data/{address}", asked.caption, columns, rows, leave)

    def described(self, question: str) -> dict[str, str]:
        return questions.questions()[question].columns

    def has_chart(self, chart: str) -> bool:
        return chart in self.drawn

    def drawing(self, chart: str) -> tuple[Drawing, str]:
        return self.drawn[chart]

    @property
    def site_url(self) -> str | None:
        # As mkdocs.yml reads it; its own default is the address of `mkdocs serve`, which nobody else can reach.
        return os.environ.get("AKVSITE_URL") or None

    def documents(self) -> dict[str, Any]:
        level_tables = {t.name: t for t in tables.TABLES.values()}
        return {
            "tables": level_tables,
            "questions": questions.questions(),
            "levels": [
                ["0 off", "step, request, token, trial", "wall clock of requests and steps, nothing else"],
                *(
                    [f"{number} {level}", f"level{number}_{level}", ADDS[level]]
                    for number, level in enumerate(tables.LEVELS)
                    if number
                ),
            ],
            "estimators": {
                name: function
                for name, function in inspect.getmembers(estimators, inspect.isfunction)
                if not name.startswith("_")
                and function.__module__.startswith(estimators.__name__)
                and function.__doc__
            },
        }


class SnapshotDesk(SiteDesk):
    """The desk of one build, whose store does not change: what several pages ask is answered once."""

    #: The longest answers that are kept, and how many.
    _ROWS, _ANSWERS = 2_000, 4_000
    #: The longest columns that are kept, and how many values in all: below 100 MB.
    _LONG, _VALUES = 100_000, 8_000_000

    def __init__(self, store: Store, leave: Callable[[str, str], None]) -> None:
        super().__init__(store, leave)
        self._kept: dict[object, list[Record]] = {}
        self._made: dict[str, Any] = {}
        self._columns: OrderedDict[object, dict[str, np.ndarray[Any, Any]]] = OrderedDict()
        self._values = 0

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def ask(
        self, question: str, /, *, order: str = "", limit: int | None = None, **where: object
    ) -> list[Record]:
        asked = question, order, limit, _told_apart(where)
        if asked in self._kept:
            return list(self._kept[asked])
        rows = super().ask(question, order=order, limit=limit, **where)
        if len(rows) <= self._ROWS and len(self._kept) < self._ANSWERS:
            self._kept[asked] = list(rows)
        return rows

    def columns(
        self, question: str, /, *, order: str = "", only: Sequence[str] = (), **where: object
    ) -> dict[str, np.ndarray[Any, Any]]:
        asked = question, order, tuple(only), _told_apart(where)
        kept = self._columns.get(asked)
        if kept is None:
            kept = super().columns(question, order=order, only=only, **where)
            for column in kept.values():
                column.flags.writeable = False  # another page is handed the same
            if max(map(len, kept.values()), default=0) <= self._LONG:
                self._columns[asked] = kept
                self._values += sum(map(len, kept.values()))
            while self._values > self._VALUES:
                self._values -= sum(map(len, self._columns.popitem(last=False)[1].values()))
        else:
            self._columns.move_to_end(asked)
        return dict(kept)


def _told_apart(where: dict[str, object]) -> tuple[object, ...]:
    """Values of different types may be equal: 1 and 1.0 do not ask for the same text."""
    return tuple((k, type(v), v) for k, v in sorted(where.items()))


@contextmanager
def _summed(question: str, where: dict[str, object]) -> Iterator[None]:
    """SQLite refuses a sum beyond 64 bits; in a capture, such times are damage."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "integer overflow" not in str(error):
            raise
        of = ", ".join(f"{name} {value}" for name, value in where.items()) or "all runs"
        raise BadInput(f"question {question}", f"a sum of {of} does not fit in 64 bits") from error
