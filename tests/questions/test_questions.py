"""Every question is documented, and answers small captures as expected.

A case is one text file: ``== run NAME`` begins a capture (keys of its capture.toml), ``== TABLE`` its rows, ``== file
PATH`` a note beside the captures (claims are sealed, and retractions entered, as the commands do it), and ``== ask QUESTION`` the table that the question is expected to give, sorted as it
is written here. ``pytest --bless`` writes the expected tables anew; the difference belongs into the review.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from bundles import arrow, write_rows
from claims import sealed

from akvsite import ingest, questions, site
from akvsite.conform import captured_columns
from akvsite.store import Store
from akvsite.tables import TABLES

HERE = Path(__file__).parent
CASES = sorted(path.name for path in HERE.glob("*.case"))
#: What depends on the library that wrote a file.
OF_BYTES = {"sha256": "a hash", "bytes": "a size"}


@dataclass
class Section:
    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        return self.title.split()


def sections(text: str) -> Iterator[Section]:
    found = [Section("")]
    for line in text.splitlines():
        if line.startswith("== "):
            found.append(Section(line.removeprefix("== ")))
        else:
            found[-1].lines.append(line)
    yield from found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def rows_of(section: Section) -> Iterator[dict[str, Any]]:
    kinds = {c.name: c.kind for c in captured_columns(TABLES[section.words[0]])} | {"process": int}
    names: list[str] = []
    for line in filter(str.strip, section.lines):
        if not names:
            names = cells(line)
            continue
        row = dict(zip(names, cells(line), strict=True))
        yield {n: None if v == "" else kinds[n](v) for n, v in row.items()}


def lay_out(case: list[Section], folder: Path) -> None:
    run = folder
    for section in case:
        match section.words:
            case ["run", name]:
                run = folder / name
                run.mkdir()
                text = "\n".join(section.lines)
                keys, _, tables = text.partition("\n[")
                (run / "capture.toml").write_text(
                    f'format = 1\nname = "{name}"\n{keys}\n' + (f"[{tables}\n" if tables else "")
                )
            case ["file", path]:
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_text("\n".join(section.lines) + "\n")
            case [table] if table in TABLES:
                write_rows(run / f"{table}.parquet", arrow(table, rows_of(section)))
                with (run / "capture.toml").open("a") as file:
                    file.write(f'[[file]]\npath = "{table}.parquet"\ntable = "{table}"\n')
            case [] | ["ask", _]:
                pass
            case _:
                raise AssertionError(f"unknown section {section.title!r}")
    sealed(folder)


def written(store: Store, question: str) -> list[str]:
    """The whole answer, every documented column, as aligned text; NULL is empty."""
    columns = list(questions.questions()[question].columns)
    rows = store.rows(f"SELECT {', '.join(columns)} FROM {question}")
    if question == "file_list":
        rows = [row | OF_BYTES for row in rows]
    table = [
        columns,
        *sorted([["" if r[c] is None else str(r[c]) for c in columns] for r in rows], key=by_number),
    ]
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    return [" | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in table]


def by_number(line: list[str]) -> list[tuple[int, float, str]]:
    return [(0, float(c), "") if re.fullmatch(r"-?\d+(\.\d+)?", c) else (1, 0.0, c) for c in line]


@pytest.mark.parametrize("name", CASES)
def test_a_case_gives_its_tables(name: str, tmp_path: Path, bless: bool) -> None:
    path = HERE / name
    case = list(sections(path.read_text(encoding="utf-8")))
    lay_out(case, tmp_path)
    with Store.open(tmp_path / "akvsite.db") as store:
        ingest.install_views(store)
        list(ingest.ingest(store, ingest.plan([tmp_path])))
        site.take_notes(store, tmp_path)
        for section in case:
            if section.words[:1] == ["ask"]:
                found = written(store, section.words[1])
                if bless:
                    section.lines = [*found, ""]
                assert [line for line in section.lines if line.strip()] == found, section.title
    if bless:
        text = "\n".join(line for s in case for line in ([f"== {s.title}"] if s.title else []) + s.lines)
        path.write_text(text.rstrip() + "\n", encoding="utf-8")


def test_every_question_has_a_case() -> None:
    asked = {
        section.words[1]
        for name in CASES
        for section in sections((HERE / name).read_text(encoding="utf-8"))
        if section.words[:1] == ["ask"]
    }
    assert asked == set(questions.questions())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("store") / "akvsite.db") as opened:
        ingest.install_views(opened)
        yield opened


@pytest.mark.parametrize("name", sorted(questions.questions()))
def test_a_question_is_documented(name: str, store: Store) -> None:
    question = questions.questions()[name]
    assert question.caption.endswith("?") and question.caption[0].isupper()
    cursor = store.connection.execute(f"SELECT * FROM {name}")
    assert [d[0] for d in cursor.description] == list(question.columns)
    for column, about in question.columns.items():
        assert about.strip(), column
        if column.endswith("_ns") or column in ("ns", "from_ns"):
            assert re.search(r"\bns\b", about), f"{column} says no unit"
    assert (
        re.search(r"\b(faster|slower|better|worse|regression|improvement|significant)\b", question.text)
        is None
    )
    # Helpers are for questions, and are marked by their names.
    assert question.helper == name.startswith("_")


@pytest.mark.parametrize(
    "text", ["SELECT 1", "-- Why?\nSELECT 1", "-- @a  what\nSELECT 1 AS a", "-- Why?\n--\n-- @a  what\n"]
)
def test_a_question_without_its_header_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"question q: needs a caption, a line for each column, and a query"):
        questions.parse("q", text)


def test_views_are_brought_up_to_date_and_left_alone(store: Store) -> None:
    assert list(questions.statements(store.connection)) == []
    store.connection.execute("DROP VIEW run_list")
    store.connection.execute("CREATE VIEW left_over AS SELECT 1 AS a")
    ingest.install_views(store)
    assert list(questions.statements(store.connection)) == []
    assert store.one("SELECT count(*) FROM sqlite_master WHERE name = 'left_over'") == 0
