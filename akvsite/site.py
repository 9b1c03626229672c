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
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from akvsite import estimators, ingest, ledger, pages, questions, tables
from akvsite.charts import Drawing, embed
from akvsite.errors import BadInput
from akvsite.pages import Page, Record
from akvsite.pages._run import ADDS
from akvsite.store import Store

SOURCE = "site_src"
CONFIG = "mkdocs.yml"
#: Names the files that a build wrote, so that the next one can take away those that it does not write again.
WRITTEN = ".generated"
#: Marks a folder as ours to replace.
MARK = ".akvsite"

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

    def ask(
        self, question: str, /, *, order: str = "", limit: int | None = None, **where: object
    ) -> list[Record]:
        sql, values = self._query(question, order, limit, where)
        with _summed(question, where):
            return self._store.rows(sql, values)

    def columns(
        self, question: str, /, *, order: str = "", **where: object
    ) -> dict[str, np.ndarray[Any, Any]]:
        sql, values = self._query(question, order, None, where)
        with _summed(question, where):
            return self._store.columns(sql, values)

    def _query(
        self, question: str, order: str, limit: int | None, where: dict[str, object]
    ) -> tuple[str, list[Any]]:
        asked = questions.questions()[question]
        by = [part for part in order.split(",") if part]
        for name in [*where, *(part.lstrip("-") for part in by)]:
            if name not in asked.columns:
                raise KeyError(f"question {question} has no column {name!r}")
        sql = f"SELECT {', '.join(asked.columns)} FROM {question}"
        if where:
            sql += " WHERE " + " AND ".join(f"{name} IS ?" for name in where)
        if by:
            sql += " ORDER BY " + ", ".join(
                f"{p.lstrip('-')}{' DESC' if p.startswith('-') else ''}" for p in by
            )
        if limit is not None:
            sql += f" LIMIT {int(limit)}"
        return sql, list(where.values())

    def figure(self, page: str, key: str, drawing: Drawing, question: str) -> str:
        self.charts += 1
        root = "../" * page.count("/")
        if self._leave is not None:
            self._leave(f"data/{page}/{key}.js", embed.data_script(drawing, key))
            self._leave(f"data/{page}/{key}.csv", embed.csv_text(drawing))
        return embed.figure(drawing, key, f"{root}data/{page}", sql=f"{root}method.html#{question}")

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


def page_modules() -> Iterator[Any]:
    """Every page module: a file of ``pages/`` that is neither shared nor a folder of sections."""
    for found in sorted(pkgutil.iter_modules(pages.__path__), key=lambda m: m.name):
        if not found.name.startswith("_") and not found.ispkg:
            yield importlib.import_module(f"{pages.__name__}.{found.name}")


def take_notes(store: Store, folder: Path) -> None:
    """Make the store's copy of the ledger what ``folder`` holds, and its views what the questions are.

    Raises ``BadInput`` where the folder is missing: its claims and exclusions would be gone from the site in silence.
    """
    if not folder.is_dir():
        raise BadInput(
            folder,
            "does not exist: claims, retractions, exclusions and comparisons are kept there; make it or name it with --captures",
        )
    notes = ledger.load(folder)
    with store.transaction():
        for statement in questions.statements(store.connection):
            store.connection.execute(statement)
        for table in ledger.TABLES:
            store.connection.execute(f"DELETE FROM {table}")
        for table, row in ledger.rows(notes):
            store.insert(table, row)
        _hold_controls(store, folder)


def _hold_controls(store: Store, folder: Path) -> None:
    """A claim leaves open only with a control that was captured with capture off. The rule is ``control_use.sql``."""
    for claim in store.rows(
        "SELECT claim, control, because FROM control_use WHERE counts = 0 AND state <> 'open' ORDER BY claim"
    ):
        raise BadInput(
            folder / "claims",
            f"claim {claim['claim']!r} cannot leave open: its control {claim['control']!r} {claim['because']}",
        )


def write_pages(store: Store, project: Path, progress: Progress | None = None) -> Built:
    """Write every page and its chart data under ``site_src/``; files that did not change are left alone."""
    source = project / SOURCE
    built = Built()

    def leave(name: str, content: str) -> None:
        built.written.add(name)
        built.changed += _write(source / name, content)

    desk = SiteDesk(store, leave)
    # One snapshot for all pages, even while a capture is being ingested.
    store.connection.execute("BEGIN")
    try:
        for module in page_modules():
            for page in module.write(desk):
                if progress is not None:
                    progress(page.path)
                _check(page)
                leave(f"{page.path}.md", page.text.rstrip() + "\n")
                built.pages += 1
    finally:
        store.connection.execute("ROLLBACK")
    built.charts = desk.charts
    _bundle(source)
    _take_away(source, built.written)
    return built


def build(store: Store, project: Path, notes: Path, out: Path, progress: Progress | None = None) -> Built:
    """The whole site as HTML in ``out``, which is replaced at the end, when everything else is done.

    Raises ``BadInput`` where the project or the folder cannot be used, or MkDocs finds a fault in a page.
    """
    for needed in (CONFIG, SOURCE):
        if not (project / needed).exists():
            raise BadInput(
                project, f"has no {needed}: run this in a checkout of the project, or name one with --project"
            )
    _refuse_other_folder(out)
    with _one_build_at_a_time(project / SOURCE, progress):
        # A store of an earlier version may hold runs that lack what ingest makes of whole runs now.
        ingest.bring_others(store)
        take_notes(store, notes)
        built = write_pages(store, project, progress)
        if progress is not None:
            progress("MkDocs")
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.resolve().parent))
        try:
            _mkdocs(project, fresh)
            fresh.chmod(0o755)
            (fresh / MARK).write_text("made by akvsite build; replaced by the next one\n", encoding="utf-8")
            _swap(fresh, out)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
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
    record = source / WRITTEN
    before = set(record.read_text(encoding="utf-8").splitlines()) if record.is_file() else set()
    for name in sorted(before - written):
        path = source / name
        if path.resolve().is_relative_to(source.resolve()) and path.is_file():
            path.unlink()
    _write(record, "\n".join(sorted(written)) + "\n")
    for folder in ("data", "runs", "comparisons"):
        for directory, _, _ in os.walk(source / folder, topdown=False):
            path = Path(directory)
            if not any(path.iterdir()):
                path.rmdir()


def _mkdocs(project: Path, out: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "-f",
        str(project / CONFIG),
        "-d",
        str(out.resolve()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        wanted = next(
            (line for line in said if line.startswith(("ERROR", "WARNING"))),
            said[-1] if said else "it says nothing",
        )
        raise BadInput(project / CONFIG, f"MkDocs stopped: {wanted}")


def _refuse_other_folder(out: Path) -> None:
    if not out.parent.is_dir():
        raise BadInput(out, "the folder above it does not exist")
    if out.exists() and not out.is_dir():
        raise BadInput(out, "is not a folder")
    if (
        out.is_dir()
        and any(out.iterdir())
        and not (out / MARK).is_file()
        and not (out / "sitemap.xml").is_file()
    ):
        raise BadInput(
            out, "holds files that no build wrote; they are left as they are. Name another folder with --out"
        )


def _swap(fresh: Path, out: Path) -> None:
    """Put the new folder in the place of the old one; the old one goes back where that cannot be done."""
    old = None
    if out.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.resolve().parent)) / "site"
        out.rename(old)
    try:
        fresh.rename(out)
    except OSError:
        if old is not None:
            old.rename(out)
        raise
    finally:
        if old is not None:
            shutil.rmtree(old.parent, ignore_errors=True)
