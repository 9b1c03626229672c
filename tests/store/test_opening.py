"""Which files are stores, and that nothing else is touched."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
import sqlite_utils

from akvsite.errors import BadInput
from akvsite.store import Store

MODES = {"open": Store.open, "read": Store.read}


@pytest.fixture(params=MODES)
def opening(request: pytest.FixtureRequest) -> Callable[[Path], Store]:
    return MODES[request.param]


def test_opening_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "akvsite.db"
    Store.open(path).close()
    before = path.read_bytes()
    Store.open(path).close()
    assert path.read_bytes() == before


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipe (name TEXT)")
        connection.execute("INSERT INTO recipe VALUES ('soup')")
    connection.close()


def foreign_with_migrations(path: Path) -> None:
    """Another program that uses the same library for its migrations."""
    migrations = sqlite_utils.Migrations("kitchen")
    migrations(name="0001_initial")(lambda db: db["recipe"].insert({"name": "soup"}))
    db = sqlite_utils.Database(path)
    migrations.apply(db)
    db.conn.close()


def text(path: Path) -> None:
    path.write_text("not a store\n" * 100)


def torn(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)


def later(path: Path) -> None:
    Store.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('akvsite', '9999_later', '')"
        )
    connection.close()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (foreign, "not a store of akvsite (it has 'recipe')"),
        (foreign_with_migrations, "not a store of akvsite"),
        (text, "not a SQLite file"),
        (torn, "cannot be read as a store"),
        (later, "was made by a later version (it has '9999_later')"),
    ],
)
def test_what_is_no_store_is_refused_and_left_as_it_is(
    make: Callable[[Path], None], words: str, opening: Callable[[Path], Store], tmp_path: Path
) -> None:
    path = tmp_path / "file.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(BadInput) as refused:
        opening(path)
    assert words in str(refused.value)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == before


def test_a_foreign_file_keeps_its_journal_mode(tmp_path: Path) -> None:
    foreign(tmp_path / "file.db")
    with pytest.raises(BadInput):
        Store.open(tmp_path / "file.db")
    connection = sqlite3.connect(tmp_path / "file.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


def test_a_folder_is_no_store(opening: Callable[[Path], Store], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"is a folder"):
        opening(tmp_path)


def test_a_missing_folder_is_not_made(opening: Callable[[Path], Store], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"does not exist"):
        opening(tmp_path / "no" / "akvsite.db")
    assert list(tmp_path.iterdir()) == []


def test_reading_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no such store"):
        Store.read(tmp_path / "akvsite.db")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "akvsite.db").touch()
    with Store.open(tmp_path / "akvsite.db") as store:
        assert store.one("SELECT count(*) FROM run") == 0


def test_a_store_without_every_change_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "akvsite.db"
    Store.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE _sqlite_migrations SET name = '0000' WHERE 0")
        connection.execute("DELETE FROM _sqlite_migrations")
    connection.close()
    with pytest.raises(BadInput):
        Store.read(path)


def test_reading_cannot_write(tmp_path: Path) -> None:
    Store.open(tmp_path / "akvsite.db").close()
    with (
        Store.read(tmp_path / "akvsite.db") as store,
        pytest.raises(sqlite3.OperationalError, match=r"readonly"),
    ):
        store.connection.execute("DELETE FROM run")


def test_a_failure_takes_everything_back(tmp_path: Path) -> None:
    row = {"name": "a", "role": "dev"}
    with Store.open(tmp_path / "akvsite.db") as store:
        with pytest.raises(RuntimeError), store.transaction():
            store.insert("host", row)
            raise RuntimeError
        assert store.one("SELECT count(*) FROM host") == 0
        with store.transaction():
            store.insert("host", row)
        assert store.one("SELECT count(*) FROM host") == 1


def test_equal_names_of_columns_do_not_hide_each_other(tmp_path: Path) -> None:
    with Store.open(tmp_path / "akvsite.db") as store:
        assert store.rows("SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS a") == [{"a": 1, "a:1": 2, "b": 3, "a:2": 4}]


def schema_changes() -> int:
    return sum(file.name.endswith(".sql") for file in resources.files("akvsite.schema").iterdir())


def open_together(path: Path, gate: object, answers: object) -> None:
    try:
        gate.wait()  # type: ignore[attr-defined]
        with Store.open(path) as store:
            answers.put(store.one("SELECT count(*) FROM _sqlite_migrations"))  # type: ignore[attr-defined]
    except BaseException as error:
        answers.put(repr(error))  # type: ignore[attr-defined]


def test_four_processes_open_a_new_store_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    for attempt in range(2):
        gate, answers = context.Barrier(4), context.Queue()
        path = tmp_path / f"{attempt}.db"
        workers = [context.Process(target=open_together, args=(path, gate, answers)) for _ in range(4)]
        for worker in workers:
            worker.start()
        found = [answers.get(timeout=120) for _ in workers]
        for worker in workers:
            worker.join()
        assert found == [schema_changes()] * 4


def test_a_store_on_a_disc_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written beside the store, a file without a log is read as it is; one with a log is not."""
    path = tmp_path / "akvsite.db"
    Store.open(path).close()
    connect = sqlite3.connect
    asked = []

    class Disc(sqlite3.Connection):
        def execute(self, sql: str, *more: object) -> sqlite3.Cursor:
            if "sqlite_master" in sql and "immutable=1" not in asked[-1]:
                # What SQLite says there: the file that it cannot open is the index of the log.
                connect(tmp_path / "no" / "folder")
            return super().execute(sql, *more)

    def on_disc(address: str, **more: object) -> sqlite3.Connection:
        asked.append(address)
        return connect(address, factory=Disc, **more)

    monkeypatch.setattr("akvsite.store.sqlite3.connect", on_disc)
    with Store.read(path) as store:
        assert store.rows("SELECT * FROM run") == []
    assert [("immutable=1" in a) for a in asked] == [False, True]
    for log in ("wal", "journal"):
        beside = tmp_path / f"akvsite.db-{log}"
        beside.write_bytes(b"")
        with pytest.raises(BadInput, match="unable to open database file"):
            Store.read(path)
        beside.unlink(missing_ok=True)
