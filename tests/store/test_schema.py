"""The schema is that of the dataclasses, whatever way it came about."""

from __future__ import annotations

import sqlite3
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akvsite.conform import captured_columns, conform
from akvsite.store import Store, hexadecimal
from akvsite.tables import CAPTURED, TABLES, signed64


def described(connection: sqlite3.Connection) -> dict[str, object]:
    """Columns, keys, indexes and references of every table, in SQLite's own words."""
    found: dict[str, object] = {}
    for name, strict in connection.execute(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
    ).fetchall():
        if name.startswith(("sqlite_", "_")):
            continue
        indexes = []
        for _, index, unique, origin, partial in connection.execute(f"PRAGMA index_list({name})").fetchall():
            columns = [row[2] for row in connection.execute(f"PRAGMA index_info({index})")]
            indexes.append((index, unique, origin, partial, columns))
        found[name] = {
            "strict": strict,
            "columns": connection.execute(f"PRAGMA table_info({name})").fetchall(),
            "references": connection.execute(f"PRAGMA foreign_key_list({name})").fetchall(),
            "indexes": sorted(indexes),
        }
    return found


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "akvsite.db") as opened:
        yield opened


def test_migrations_make_what_the_dataclasses_describe(store: Store) -> None:
    wanted = sqlite3.connect(":memory:")
    for table in TABLES.values():
        for statement in table.ddl():
            wanted.execute(statement)
    assert described(store.connection) == described(wanted)


def test_the_tables_are_those_of_the_dataclasses_column_by_column(store: Store) -> None:
    found = described(store.connection)
    assert set(found) == set(TABLES)
    for name, table in TABLES.items():
        rows = store.rows(f"PRAGMA table_info({name})")
        key = table.key.split(", ")
        assert [r["name"] for r in rows] == list(table.column_names)
        for row, column in zip(rows, table.columns, strict=True):
            assert row["type"] == column.sql_type
            if column.name != "id":  # SQLite's row id, which needs no words to be there
                assert bool(row["notnull"]) == (not column.nullable)
            assert bool(row["pk"]) == (column.name in key)
            assert column.about


def test_schema_changes_are_numbered_without_a_gap() -> None:
    files = sorted(f.name for f in resources.files("akvsite.schema").iterdir() if f.name.endswith(".sql"))
    assert [int(name.split("_")[0]) for name in files] == list(range(1, len(files) + 1))


def test_every_table_is_strict(store: Store) -> None:
    assert all(table["strict"] for table in described(store.connection).values())  # type: ignore[index]
    with pytest.raises(sqlite3.IntegrityError, match=r"cannot store TEXT"):
        store.insert("run", {"name": "a", "level": "device", "timing": "on", "clock": "c", "declared": 1})


def test_references_are_held(store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=r"FOREIGN KEY"):
        store.insert("process", {"run_id": 7, "ingest_id": 7, "pid": "1"})


def test_a_row_of_one_run_cannot_name_a_process_of_another(store: Store) -> None:
    run = {"level": 0, "timing": "on", "clock": "c", "declared": 0}
    first, second = (store.insert("run", {"name": name, **run}) for name in "ab")
    file = {"path": "p", "format": "f", "reader_version": 1, "sha256": "", "bytes": 0, "truncated": 0}
    ingest = store.insert("ingest", {"run_id": first, **file})
    process = store.insert("process", {"run_id": first, "ingest_id": ingest, "pid": "1"})
    row = {"process_id": process, "arm": "a", "treatment": "t", "repeat": 0, "number": 0, "duration_ns": 1}
    store.insert("trial", {"run_id": first, **row})
    with pytest.raises(sqlite3.IntegrityError, match=r"FOREIGN KEY"):
        store.insert("trial", {"run_id": second, **row})


@pytest.mark.parametrize("name", TABLES)
def test_an_arrow_schema_survives_its_file(name: str, tmp_path: Path) -> None:
    schema = TABLES[name].arrow_schema()
    rows = schema.empty_table()
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), schema) as writer:
        writer.write_table(rows)
    with pa.ipc.open_file(str(tmp_path / "a.arrow")) as reader:
        assert reader.schema.equals(schema, check_metadata=True)
    assert schema.names == list(TABLES[name].column_names)
    for column in TABLES[name].columns:
        field = schema.field(column.name)
        assert field.nullable == column.nullable
        assert field.metadata[b"about"].decode() == column.about


@given(st.integers(0, 2**64 - 1))
def test_ids_keep_their_64_bits(value: int) -> None:
    kept = signed64(value)
    assert -(2**63) <= kept < 2**63
    assert hexadecimal(kept) == f"0x{value:016x}"
    assert signed64(kept) == kept


@pytest.mark.parametrize("value", [2**64, 2**70, -(2**63) - 1])
def test_what_has_no_64_bits_is_refused(value: int) -> None:
    with pytest.raises(OverflowError):
        signed64(value)


def test_ids_are_told_apart_in_sql(store: Store) -> None:
    rows = store.rows(
        "SELECT hex64(?) AS far, hex64(?) AS near, hex64(?) AS top, hex64(NULL) AS none", [2**32 + 5, 5, -1]
    )
    assert rows == [
        {"far": "0x0000000100000005", "near": "0x0000000000000005", "top": "0xffffffffffffffff", "none": None}
    ]


# What rows a table takes.

GOOD = {"name": ["a"], "kind": ["kernel"], "device": ["0"], "queue": ["7"], "start_ns": [1], "end_ns": [2]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"surprise": [1]}, "'surprise' is not a column of level3_device"),
        ({"id": [1]}, "'id' is not a column"),
        ({"step_id": [1]}, "'step_id' is not a column"),
        ({"kind": None}, "'kind' of level3_device is missing"),
        ({"kind": [None]}, "'kind' of level3_device may not be empty"),
        ({"start_ns": ["12"]}, "'start_ns' of level3_device: must hold whole numbers, not string"),
        ({"start_ns": [1.5]}, "'start_ns' of level3_device"),
        ({"start_ns": [float("nan")]}, "'start_ns' of level3_device"),
        ({"start_ns": pa.array([1], pa.timestamp("ms"))}, "must hold whole numbers, not timestamp[ms]"),
        ({"end_ns": pa.array([1], pa.duration("us"))}, "must hold whole numbers, not duration[us]"),
        ({"start_ns": pa.array([[1]])}, "'start_ns' of level3_device"),
        ({"bytes": pa.array([2**63], pa.uint64())}, "'bytes' of level3_device"),
        ({"name": pa.array([True])}, "'name' of level3_device: must hold text, not bool"),
        ({"name": pa.array([b"\xff"])}, "'name' of level3_device"),
    ],
)
def test_a_column_that_does_not_fit_is_named(change: dict[str, object], words: str) -> None:
    columns = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    with pytest.raises(ValueError) as refused:
        conform("level3_device", pa.table(columns))
    assert words in str(refused.value)


def test_text_that_is_not_utf8_is_named() -> None:
    raw = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xc0\xc1"))
    with pytest.raises(ValueError, match=r"'name' of level3_device"):
        conform("level3_device", pa.table({**GOOD, "name": raw}))


def test_a_column_that_is_there_twice_is_named() -> None:
    rows = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["name", "name"])
    with pytest.raises(ValueError, match=r"'name' of level3_device is there twice"):
        conform("level3_device", rows)


def test_what_many_writers_do_is_taken() -> None:
    rows = pa.table(
        {
            **GOOD,
            "name": pa.array(["a"]).dictionary_encode(),
            "queue": pa.array([7]),
            "start_ns": pa.array([1], pa.int32()),
            "end_ns": pa.array([2.0]),
            "correlation": pa.array([2**64 - 1], pa.uint64()),
            "process": pa.array([0]),
        }
    )
    (row,) = conform("level3_device", rows).to_pylist()
    assert (row["name"], row["queue"], row["start_ns"], row["end_ns"]) == ("a", "7", 1, 2)
    assert row["correlation"] == -1
    assert row["bytes"] is None


@pytest.mark.parametrize("table", CAPTURED)
def test_no_rows_of_the_right_shape_are_no_rows(table: str) -> None:
    schema = pa.schema([pa.field(c.name, c.arrow_type) for c in captured_columns(TABLES[table])])
    assert conform(table, schema.empty_table()).num_rows == 0
