"""From the store to a site: questions are asked, pages written as plain Markdown, and MkDocs makes the HTML.

Pages are written before MkDocs runs, with no plugin of our own, so ``mkdocs serve`` shows them and reloads when they
are written again. The same store gives the same bytes.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from akvsite import controls, ingest, ledger, output, pages, questions
from akvsite.beside import Beside
from akvsite.charts import embed
from akvsite.desk import SiteDesk, SnapshotDesk
from akvsite.errors import BadInput
from akvsite.pages import Page, _held
from akvsite.pages._html import number_of
from akvsite.store import Store

__all__ = ["SOURCE", "WRITTEN", "Built", "SiteDesk", "build", "page_modules", "take_notes", "write_pages"]

SOURCE = "site_src"
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


class _Writer:
    """Writes pages and what they leave under ``source``. ``tell`` hears of each file before it is written."""

    def __init__(
        self, store: Store, source: Path, tell: Callable[[str], None], progress: Progress | None
    ) -> None:
        self.desk = SnapshotDesk(store, self._leave)
        self._pages = self._changed = 0
        self._source, self._tell, self._progress = source, tell, progress
        self.withdrawn = self.desk.ask("retraction_list", order="retraction")

    @property
    def counts(self) -> tuple[int, int, int]:
        """Pages, charts and changed files."""
        return self._pages, self.desk.charts, self._changed

    def write(self, modules: Iterable[Any]) -> None:
        for page in (page for module in modules for page in module.write(self.desk)):
            if self._progress is not None:
                self._progress(page.path)
            _check(page)
            text = _held.with_stamps(page, self.withdrawn) if page.ending == ".md" else page.text
            self._leave(f"{page.path}{page.ending}", text.rstrip() + "\n")
            self._pages += page.ending == ".md"

    def _leave(self, name: str, content: str) -> None:
        self._tell(name)
        self._changed += _write(self._source / name, content)


def _write_beside(
    store: Store, tell: Callable[[str, str], None], source: Path, modules: list[str]
) -> tuple[int, int, int]:
    """Pages of these modules, as a second process writes them; their counts."""
    writer = _Writer(store, source, lambda name: tell("file", name), lambda page: tell("page", page))
    writer.write(map(importlib.import_module, modules))
    return writer.counts


#: The tables whose rows make pages take long, and from how many rows on a second process is worth its start.
_LONG, _MANY = ("level2_host", "level3_device", "level4_edge"), 200_000


def _large(store: Store) -> bool:
    several = len(os.sched_getaffinity(0)) > 1 if hasattr(os, "sched_getaffinity") else os.cpu_count() != 1
    return several and sum(store.one(f"SELECT max(id) FROM {table}") or 0 for table in _LONG) > _MANY


def write_pages(
    store: Store, project: Path, progress: Progress | None = None, *, beside: bool | None = None
) -> Built:
    """Write every page and its chart data under ``site_src/``; files that did not change are left alone.

    All pages are of one state of the store, even while a capture is being ingested. ``beside``: whether a second process
    writes those that need nothing of others (``BESIDE`` in their module), by default where the store is large.
    """
    source = project / SOURCE
    built = Built()
    beside = _large(store) if beside is None else beside
    modules = page_modules()
    apart = [m.__name__ for m in modules if getattr(m, "BESIDE", False)]

    def hear(kind: str, name: str) -> None:
        if kind == "file":
            built.written.add(name)
        elif progress is not None:
            progress(name)

    second = Beside(store, _write_beside, source, apart, hear=hear) if beside else None

    def tell(name: str) -> None:
        built.written.add(name)
        if second is not None:
            second.listen()

    try:
        with second or store.reading():
            writer = _Writer(store, source, tell, progress)
            mine = [m for m in modules if second is None or m.__name__ not in apart]
            for last, some in groupby(mine, key=_after_all_charts):
                if last:
                    _held.hold_charts(writer.desk)
                writer.write(some)
            counts = [writer.counts, *([second.result()] if second is not None else [])]
    except BaseException:
        # The next build takes away what this one has left.
        _note(source, _noted(source) | built.written)
        raise
    built.pages, built.charts, built.changed = map(sum, zip(*counts, strict=True))
    _bundle(source)
    _take_away(source, built.written)
    _held.hold_quotes(source, writer.withdrawn)
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
    except BaseException as error:
        half.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise BadInput(path, f"cannot be written: {error.strerror}") from error
        raise
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
