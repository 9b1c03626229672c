"""A question about one run reads the rows of that run: in a store of many runs nothing goes through all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from akvsite import questions
from akvsite.store import Store
from akvsite.tables import CAPTURED, TABLES

#: What ANALYZE says of a store of 200 runs with a thousand rows each: rows, then rows for each further column.
_ROWS = "200000 1000 1000 1"


@pytest.fixture(scope="module", params=["with statistics", "without statistics"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("plans") / "store.db") as opened:
        for statement in questions.statements(opened.connection):
            opened.connection.execute(statement)
        if request.param == "with statistics":
            opened.connection.execute("ANALYZE")
            opened.connection.execute("DELETE FROM sqlite_stat1")
            for table in CAPTURED:
                for number, index in enumerate(TABLES[table].indexes):
                    opened.connection.execute(
                        "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)",
                        [table, f"{table}_{number}", " ".join(_ROWS.split()[: 2 + index.count(",")])],
                    )
            opened.connection.execute("ANALYZE sqlite_schema")
        yield opened


@pytest.mark.parametrize(
    "name", [name for name, question in questions.questions().items() if "run_id" in question.columns]
)
def test_a_question_about_one_run_goes_through_no_whole_table(store: Store, name: str) -> None:
    rows = store.connection.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {name} WHERE run_id IS 1")
    plan = [row[3] for row in rows]
    large = {*CAPTURED, "link", "seen", "quarantine", "ingest_count", "run_fact"}
    aliases = _aliases(name)
    scanned = [
        step
        for step in plan
        if step.startswith("SCAN ") and aliases.get(step.split()[1], step.split()[1]) in large
    ]
    assert not scanned, plan


def _aliases(name: str) -> dict[str, str]:
    """What each alias stands for, in a question and in the helpers that it uses."""
    words = questions.questions()[name].sql.replace(",", " ").replace("(", " ( ").replace(")", " ) ").split()
    found: dict[str, str] = {}
    for keyword, table, alias in zip(words, words[1:], [*words[2:], ""], strict=False):
        if keyword in ("FROM", "JOIN"):
            if table.startswith("_"):
                found |= _aliases(table)
            elif table in TABLES:
                found[alias] = table
    return found
