"""From the store to a site: questions are asked, pages written as plain Markdown, and MkDocs makes the HTML.

Pages are written before MkDocs runs, with no plugin of our own, so ``mkdocs serve`` shows them and reloads when they
are written again. The same store gives the same bytes.
"""

from __future__ import annotations

import fcntl
import importlib
import inspect
import os
import pkgutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from akvsite import controls, estimators, ingest, ledger, listings, output, pages, questions, tables
from akvsite.charts import Drawing, embed
from akvsite.errors import BadInput
from akvsite.listings import Column, Listing
from akvsite.pages import Made, Page, Record, _held, _listed
from akvsite.pages._html import number_of
from akvsite.pages._run import ADDS
from akvsite.store import Store

SOURCE = "site_src"
#: Kinds of pages whose charts can be cited.
CITED_PAGES = ("runs", "experiments", "comparisons")
#: Folders whose pages have the names of runs.
PAGES_OF_A_RUN = ("runs", "tokens", "steps", "calls", "experiments")
#: Names the files that a build wrote, so that the next one can take away those that it does not write again.
WRITTEN = ".generated"

Progress = Callable[[str], None]


@dataclass
class Built:
    """What a build made."""

    pages: int = 0
    charts: int = 0
    changed: int = 0
    out: Path | None = None
    written: set[str] = field(default_factory=set)


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

    def _behind(self, page: str, question: str, root: str, chosen: dict[str, object]) -> str:
        """Where the rows of a chart are, those that have what is ``chosen``; empty on a page that is of no one run."""
        folder, _, run = page.partition("/")
        of_a_run = folder in PAGES_OF_A_RUN and run in self._runs
        return _listed.behind(run, question, root, **chosen) if of_a_run else ""

    @cached_property
    def _runs(self) -> frozenset[str]:
        return frozenset(row["name"] for row in self.ask("run_list"))

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


class _SnapshotDesk(SiteDesk):
    """The desk of one build, whose store does not change: what several pages ask is answered once."""

    #: The longest answers that are kept, and how many.
    _ROWS, _ANSWERS = 2_000, 4_000

    def __init__(self, store: Store, leave: Callable[[str, str], None]) -> None:
        super().__init__(store, leave)
        self._kept: dict[object, list[Record]] = {}
        self._made: dict[str, Any] = {}

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def ask(
        self, question: str, /, *, order: str = "", limit: int | None = None, **where: object
    ) -> list[Record]:
        # Values of different types may be equal: 1 and 1.0 do not ask for the same text.
        asked = question, order, limit, tuple((k, type(v), v) for k, v in sorted(where.items()))
        if asked in self._kept:
            return list(self._kept[asked])
        rows = super().ask(question, order=order, limit=limit, **where)
        if len(rows) <= self._ROWS and len(self._kept) < self._ANSWERS:
            self._kept[asked] = list(rows)
        return rows


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


def page_modules() -> list[Any]:
    """Every page module: a file of ``pages/`` that is neither shared nor a folder of sections.

    Those that show charts of other pages come last.
    """
    found = [
        importlib.import_module(f"{pages.__name__}.{module.name}")
        for module in sorted(pkgutil.iter_modules(pages.__path__), key=lambda m: m.name)
        if not module.name.startswith("_") and not module.ispkg
    ]
    return sorted(found, key=_after_all_charts)


def _after_all_charts(module: Any) -> bool:
    return getattr(module, "AFTER_ALL_CHARTS", False)


#: The tables of the notes, and what a row of each is.
_NOTES = {
    "claim": "claim", "retraction": "retraction", "inquiry": "inquiry", "exclusion": "exclusion",
    "comparison": "comparison", "history": "history",
}  # fmt: skip
_SEVERAL = {"inquiry": "inquiries", "history": "histories"}


def take_notes(store: Store, folder: Path, tell: Progress | None = None) -> None:
    """Make the store's copy of the ledger what ``folder`` holds, and its views what the questions are.

    ``tell`` is told what lies there and is not read, and of how many notes the store's copy had more before.

    Raises ``BadInput`` where the folder is missing: its claims and exclusions would be gone from the site in silence; and
    where a claim or a retraction does not keep to the rules of controls.
    """
    if not folder.is_dir():
        raise BadInput(
            folder,
            "does not exist: claims, retractions, exclusions and comparisons are kept there; make it or name it with --captures",
        )
    notes = ledger.load(folder)
    lines = ledger.unread(folder)
    with store.transaction():
        before = _counts(store)
        for statement in questions.statements(store.connection):
            store.connection.execute(statement)
        for table in ledger.TABLES:
            store.connection.execute(f"DELETE FROM {table}")
        for table, row in ledger.rows(notes):
            store.insert(table, row)
        controls.hold(store, folder)
        gone = [
            number_of(count - now, _NOTES[table], _SEVERAL.get(table, ""))
            for (table, count), now in zip(before.items(), _counts(store).values(), strict=True)
            if now < count
        ]
    if gone:
        lines.append(f"{folder}: holds fewer notes than the store's copy had, by {', '.join(gone)}")
    if tell is not None:
        for line in lines:
            tell(line)


def _counts(store: Store) -> dict[str, int]:
    return {table: store.one(f"SELECT count(*) FROM {table}") for table in _NOTES}


def write_pages(store: Store, project: Path, progress: Progress | None = None) -> Built:
    """Write every page and its chart data under ``site_src/``; files that did not change are left alone."""
    source = project / SOURCE
    built = Built()

    def leave(name: str, content: str) -> None:
        built.written.add(name)
        built.changed += _write(source / name, content)

    desk = _SnapshotDesk(store, leave)
    # One snapshot for all pages, even while a capture is being ingested.
    store.connection.execute("BEGIN")
    try:
        withdrawn = desk.ask("retraction_list", order="retraction")
        for last, modules in groupby(page_modules(), key=_after_all_charts):
            if last:
                _held.hold_charts(desk)
            for page in (page for module in modules for page in module.write(desk)):
                if progress is not None:
                    progress(page.path)
                _check(page)
                text = _held.with_stamps(page, withdrawn) if page.ending == ".md" else page.text
                leave(f"{page.path}{page.ending}", text.rstrip() + "\n")
                built.pages += page.ending == ".md"
    except BaseException:
        # The next build takes away what this one has left.
        _note(source, _noted(source) | built.written)
        raise
    finally:
        store.connection.execute("ROLLBACK")
    built.charts = desk.charts
    _bundle(source)
    _take_away(source, built.written)
    _held.hold_quotes(source, withdrawn)
    return built


def build(
    store: Store,
    project: Path,
    notes: Path,
    out: Path,
    progress: Progress | None = None,
    tell: Progress | None = None,
) -> Built:
    """The whole site as HTML in ``out``, which is replaced at the end, when everything else is done.

    ``progress`` hears what is being done, ``tell`` what a person should know of the notes (``take_notes``).

    Raises ``BadInput`` where the project or the folder cannot be used, or MkDocs finds a fault in a page.
    """
    for needed in (output.CONFIG, SOURCE):
        if not (project / needed).exists():
            raise BadInput(
                project, f"has no {needed}: run this in a checkout of the project, or name one with --project"
            )
    output.refuse_other_folder(out)
    with _one_build_at_a_time(project / SOURCE, progress):
        # A store of an earlier version may hold runs that lack what ingest makes of whole runs now.
        ingest.bring_others(store)
        take_notes(store, notes, tell)
        built = write_pages(store, project, progress)
        if progress is not None:
            progress("MkDocs")
        output.make(project, out)
    built.out = out
    return built


@contextmanager
def _one_build_at_a_time(source: Path, progress: Progress | None) -> Iterator[None]:
    """Two builds would write the same pages: the second waits for the first."""
    with (source / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if progress is not None:
                progress("waiting for another build")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _check(page: Page) -> None:
    # A page's path comes from a run's name, which the manifest has held to safe letters.
    if page.path.startswith(("/", ".")) or ".." in page.path.split("/"):
        raise ValueError(f"page path {page.path!r} leaves the site")


def _write(path: Path, content: str) -> int:
    data = content.encode("utf-8")
    if path.is_file() and path.read_bytes() == data:
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.half")
    try:
        half.write_bytes(data)
        half.replace(path)
    except OSError as error:
        half.unlink(missing_ok=True)
        raise BadInput(path, f"cannot be written: {error.strerror}") from error
    return 1


def _bundle(source: Path) -> None:
    """The chart library, made from its package when it is missing or of another version."""
    path = source / "assets" / "vega.js"
    version = embed.vega_version()
    if path.is_file():
        with path.open(encoding="utf-8") as file:
            if file.readline().strip() == version.strip():
                return
    _write(path, embed.vega_bundle())


def _take_away(source: Path, written: set[str]) -> None:
    for name in sorted(_noted(source) - written):
        path = source / name
        if path.resolve().is_relative_to(source.resolve()) and path.is_file():
            path.unlink()
    _note(source, written)
    for folder in (
        "data",
        "runs",
        "rows",
        "tokens",
        "steps",
        "calls",
        "comparisons",
        "experiments",
        "claims",
        "inquiries",
    ):
        for directory, _, _ in os.walk(source / folder, topdown=False):
            path = Path(directory)
            if not any(path.iterdir()):
                path.rmdir()


def _noted(source: Path) -> set[str]:
    """The files that earlier builds wrote."""
    record = source / WRITTEN
    return set(record.read_text(encoding="utf-8").splitlines()) if record.is_file() else set()


def _note(source: Path, written: set[str]) -> None:
    _write(source / WRITTEN, "\n".join(sorted(written)) + "\n")
