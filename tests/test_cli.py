"""The command line: one clean line where the input cannot be used, strict JSON, and SQL that can only read."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from bundles import call, dump, interval, read_in, steps, write_capture

from akvsite import cli
from akvsite.store import Store

COMMANDS = sorted(typer.main.get_command(cli.app).commands)  # type: ignore[attr-defined]
PROGRAM = [sys.executable, "-c", "from akvsite.cli import main; main()"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two runs, one of them with names that would move the cursor."""
    folder = tmp_path_factory.mktemp("made")
    hostile = "\x1b[2J\x1b]0;owned\x07\u202e\x9b31m</script>\r\n"
    tables = {
        "step": steps(5),
        "level2_host": [{"name": hostile, "start_ns": 1, "end_ns": 2, "category": "region"}],
        "level4_edge": [call(1, 2, 5, name=f"cudaLaunchKernel{hostile}")],
        "level3_device": [interval(3, 4, 5, name=hostile)],
    }
    quoted = json.dumps(hostile)
    top, more = f"note = {quoted}", f"[contract]\n{quoted} = {quoted}"
    write_capture(folder / "hostile", tables, level="edge", top=top, more=more)
    write_capture(folder / "off", {"step": steps(40)}, role="dev")
    read_in(folder / "akvsite.db", folder / "hostile", folder / "off")
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of the store where commands look for it."""
    with sqlite3.connect(made / "akvsite.db") as source, sqlite3.connect(tmp_path / "akvsite.db") as target:
        source.backup(target)
    source.close()
    target.close()
    return tmp_path / "akvsite.db"


def strict(text: str) -> Any:
    def never(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=never, object_pairs_hook=once)


# Help.


def test_every_command_shows_an_example(akvsite: Any) -> None:
    assert len(COMMANDS) >= 8
    for name in COMMANDS:
        done = akvsite(name, "--help")
        assert done.code == 0 and done.err == ""
        assert f"Example: akvsite {name}" in " ".join(done.out.split())
        assert re.search(r"\w\.", done.out)


def test_version_and_bare_call(akvsite: Any) -> None:
    assert akvsite("--version").out.count("\n") == 1
    done = akvsite()
    assert done.code in (0, 2) and "ingest" in done.out + done.err


# Input that cannot be used.


def test_each_kind_of_bad_input_is_one_line_with_its_file(akvsite: Any, store: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "unknown.bin").write_bytes(b"\x1b[2J\x00\nnothing known")
    (tmp_path / "zero.json").touch()
    (tmp_path / "text.db").write_text("not a store\n" * 10)
    with sqlite3.connect(tmp_path / "foreign.db") as connection:
        connection.execute("CREATE TABLE recipe (name TEXT)")
    connection.close()
    broken = write_capture(tmp_path / "broken", {"step": steps()})
    (broken / "step.parquet").write_bytes(b"PAR1")
    before = dump(store)
    akvsite("ingest", "nowhere").refused("nowhere", "does not exist")
    akvsite("ingest", "empty").refused("empty", "holds no capture")
    akvsite("ingest", "unknown.bin").refused("unknown.bin", "no reader knows this file")
    akvsite("ingest", "broken").refused("step.parquet")
    akvsite("ingest", "broken", "--run", "x").refused("broken", "--run is for files")
    akvsite("ingest", "zero.json", "--run", "No Good").refused("--run", "'No Good'")
    akvsite("ingest", "broken", "--store", "text.db").refused("text.db", "not a SQLite file")
    akvsite("ingest", "off", "--store", "foreign.db").refused("off")
    for words in (
        ["runs"],
        ["show", "x"],
        ["compare", "x", "y"],
        ["sql", "SELECT 1"],
        ["exclude", "x", "--because", "y"],
    ):
        akvsite(*words, "--store", "text.db").refused("text.db")
        akvsite(*words, "--store", "foreign.db").refused("foreign.db", "not a store of akvsite")
        akvsite(*words, "--store", "none.db").refused("none.db", "no such store")
        akvsite(*words, "--store", "empty").refused("empty", "is a folder")
        akvsite(*words, "--store", "no/akvsite.db").refused("no/akvsite.db", "does not exist")
    akvsite("build", "--store", "none.db").refused("none.db")
    akvsite("show", "x\x1b[2J\ny").refused("no such run", "\\u001b[2J\\u000ay")
    akvsite("compare", "off", "x").refused("x", "no such run")
    akvsite("compare", "off", "off").refused("off", "is the same run twice")
    akvsite("exclude", "x", "--because", "y").refused("x", "no such run")
    akvsite("exclude", "off", "--because", " ").refused("--because", "is empty")
    akvsite("exclude", "off", "--because", "y").refused("captures", "does not exist")
    assert dump(store) == before
    assert not (tmp_path / "none.db").exists()


def test_a_capture_that_cannot_be_read_says_what_became_of_the_others(akvsite: Any, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_capture(tmp_path / "all" / name, {"step": steps()})
    (tmp_path / "all" / "b" / "step.parquet").write_bytes(b"PAR1")
    said = "of 3 captures, 1 before it are whole in the store, this one and those after it are not"
    akvsite("ingest", "all", "--store", "new.db").refused("step.parquet", said)
    stored = json.loads(akvsite("runs", "--store", "new.db", "--json").out)
    assert [run["name"] for run in stored] == ["a"]


def test_mistakes_in_the_words_are_one_line(akvsite: Any) -> None:
    akvsite("nonsense").refused("nonsense")
    akvsite("ingest").refused("paths")
    akvsite("runs", "--nonsense").refused("--nonsense")
    akvsite("show").refused("run")


def test_a_damaged_store_is_one_line(akvsite: Any, store: Path) -> None:
    data = store.read_bytes()
    store.write_bytes(data[:4096] + b"\xaa" * (len(data) - 4096))
    for words in (["runs"], ["show", "off"], ["sql", "SELECT * FROM step"]):
        done = akvsite(*words)
        assert done.code == 2 and done.err.count("\n") == 1, done


def test_a_locked_store_is_one_line(
    akvsite: Any, store: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("akvsite.store.BUSY_SECONDS", 0.01)
    with Store.open(store) as held, held.transaction():
        akvsite("ingest", made / "off").refused("the store: database is locked")


# What is printed.


@pytest.mark.parametrize(
    "words",
    [
        ["ingest", "off"],
        ["runs"],
        ["show", "hostile"],
        ["show", "off"],
        ["compare", "off", "hostile"],
        ["compare", "hostile", "off"],
        ["formats"],
        ["doctor"],
        ["sql", "SELECT *, hex64(-1) AS h FROM level3_device"],
        ["sql", "SELECT 9e999 AS far, -9e999 AS near, NULL AS none, x'00ff' AS bytes, 1 AS a, 2 AS a"],
        ["sql", "SELECT 1 WHERE 0"],
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_json_is_strict_and_carries_no_escape(
    words: list[str], akvsite: Any, store: Path, made: Path
) -> None:
    words = [str(made / w) if words[0] == "ingest" and w == "off" else w for w in words]
    done = akvsite(*words, "--json")
    assert (done.code, done.err) == (0, "")
    strict(done.out)
    assert done.out.isascii()
    assert not set(done.out) & {chr(c) for c in range(32) if c != 10}


def test_what_json_has_no_word_for(akvsite: Any, store: Path) -> None:
    done = akvsite("sql", "SELECT 9e999 AS far, x'00ff' AS bytes, 1 AS a, 2 AS a, 'é\x9b' AS t", "--json")
    assert strict(done.out) == [{"far": None, "bytes": "00ff", "a": 1, "a:1": 2, "t": "é\x9b"}]


@pytest.mark.parametrize(
    "words",
    [["runs"], ["show", "hostile"], ["compare", "hostile", "off"], ["sql", "SELECT * FROM level3_device"], ["sql", "SELECT * FROM run"]],
    ids=lambda words: " ".join(words)[:30],
)  # fmt: skip
def test_no_name_of_a_capture_moves_the_cursor(words: list[str], akvsite: Any, store: Path) -> None:
    done = akvsite(*words)
    assert (done.code, done.err) == (0, "")
    unseen = {chr(c) for c in (*range(32), *range(127, 160), 0x202E) if c != 10}
    assert not set(done.out) & unseen
    if "run" not in words[-1]:
        assert "\\u001b[2J" in done.out


def test_names_of_files_do_not_move_the_cursor_either(akvsite: Any, tmp_path: Path) -> None:
    name = "a\x1b[2J\n.json"
    (tmp_path / name).write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur')
    done = akvsite("ingest", name)
    assert done.code == 0 and "cut short" in done.out
    assert "\x1b" not in done.out
    (tmp_path / "b\x1b[2J\n.json").write_text("nothing")
    assert "\x1b" not in akvsite("ingest", "b\x1b[2J\n.json").refused("b\\u001b[2J\\u000a.json")


# SQL.


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM run",
        "UPDATE run SET level = 0",
        "INSERT INTO host (name, role) VALUES ('a', 'proof')",
        "DROP VIEW run_list",
        "CREATE TABLE a (b)",
        "CREATE TEMP TABLE a (b)",
        "ATTACH 'new.db' AS n",
        "ATTACH ':memory:' AS n",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 5",
        "PRAGMA foreign_keys = OFF",
        "BEGIN IMMEDIATE",
        "REINDEX",
        "ANALYZE",
        "SELECT 1; DELETE FROM run",
        "SELECT load_extension('a.so')",
        "SELECT * FROM nowhere",
        "SELECT",
        "SELECT 'a\x00b",
        "",
        "/* nothing */",
    ],
)
def test_sql_reads_and_does_nothing_else(query: str, akvsite: Any, store: Path, tmp_path: Path) -> None:
    before, files = store.read_bytes(), {f.name for f in tmp_path.iterdir()}
    done = akvsite("sql", query)
    if query in ("", "/* nothing */"):
        assert done == (0, "none\n", "")
    else:
        done.refused("query")
    assert store.read_bytes() == before
    assert {f.name for f in tmp_path.iterdir() if not f.name.endswith(("-wal", "-shm"))} == files


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n",
        "EXPLAIN QUERY PLAN SELECT * FROM run_list",
        "PRAGMA table_info(run)",
        "SELECT name FROM pragma_table_list",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT hex64(correlation), max(end_ns) OVER () FROM level3_device",
        "SELECT * FROM step_budget",
    ],
)
def test_sql_can_ask_what_it_likes(query: str, akvsite: Any, store: Path) -> None:
    done = akvsite("sql", query, "--json")
    assert (done.code, done.err) == (0, "")
    assert strict(done.out) != []


def test_an_older_store_answers_the_questions_of_this_version(akvsite: Any, store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("DROP VIEW run_list")
        connection.execute("CREATE VIEW run_list AS SELECT 'old' AS name")
        connection.execute("DROP VIEW _host_outer")
    connection.close()
    before = store.read_bytes()
    assert [r["name"] for r in strict(akvsite("runs", "--json").out)] == ["hostile", "off"]
    assert akvsite("show", "off").code == 0
    assert store.read_bytes() == before


# Exclusions.


def test_an_excluded_run_is_used_for_nothing_and_keeps_its_rows(
    akvsite: Any, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "captures").mkdir()
    assert akvsite("exclude", "off", "--because", "the fan\nwas on \x1b[2J").code == 0
    (row,) = [r for r in strict(akvsite("runs", "--json").out) if r["name"] == "off"]
    assert (row["use"], row["excluded"], row["steps"]) == ("nothing", 1, 40)
    assert "the fan\\u000awas on" in akvsite("show", "off").out
    akvsite("exclude", "off", "--because", "again").refused("off.md", "excludes the run already")


# Ends.


def test_nothing_on_standard_error_without_a_terminal(made: Path, tmp_path: Path) -> None:
    for words in (["ingest", str(made / "off")], ["runs"], ["doctor"]):
        done = subprocess.run([*PROGRAM, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert "\x1b" not in done.stdout and "\r" not in done.stdout


@pytest.mark.parametrize("rows", [3, 100_000])
def test_a_reader_that_goes_away_is_no_error(rows: int, store: Path) -> None:
    query = (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i FROM n"
    )
    command = subprocess.Popen(
        [*PROGRAM, "sql", query], cwd=store.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert command.stdout and command.stderr
    if rows > 3:
        assert command.stdout.readline().strip() == "i"
    command.stdout.close()
    assert command.stderr.read() == ""
    assert command.wait() in (0, 1)


def test_a_terminal_that_knows_few_characters(store: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "sql", "SELECT 'é→' AS t"],
        cwd=tmp_path, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"t\n\\xe9\\u2192\n", b"")


def test_an_interrupt_is_a_line_and_its_code(store: Path) -> None:
    program = (
        # A test runner in the background hands an ignored SIGINT down; a person's terminal does not.
        "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom akvsite import cli, store\n"
        f"store.Store.rows = lambda *_: os.kill(os.getpid(), {int(signal.SIGINT)})\ncli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "sql", "SELECT 1"],
        cwd=store.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "akvsite: interrupted; nothing was half written\n"


def test_a_word_to_stop_is_a_line_and_its_code(made: Path, tmp_path: Path) -> None:
    """SIGTERM arrives when the capture is half written."""
    program = (
        "import os, signal\nfrom akvsite import cli\nfrom akvsite.ingest import _run\n"
        f"_run._write_links = lambda *_: os.kill(os.getpid(), {int(signal.SIGTERM)})\ncli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "ingest", str(made / "off")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (143, "")
    assert done.stderr == "akvsite: told to stop; nothing was half written\n"
    with Store.read(tmp_path / "akvsite.db") as store:
        assert store.rows("SELECT name FROM run") == []
        assert store.one("PRAGMA integrity_check") == "ok"


def test_the_way_to_stop_is_left_as_it_was(akvsite: Any, store: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    akvsite("runs")
    assert signal.getsignal(signal.SIGTERM) == before


# Doctor.


def test_doctor_says_what_is_there(akvsite: Any, store: Path, tmp_path: Path) -> None:
    rows = {r["check"]: r for r in strict(akvsite("doctor", "--json").out)}
    assert rows["akvsite.db"]["about"] == "2 runs; whole"
    assert rows["pyarrow"]["state"] == "ok"
    (tmp_path / "text.db").write_text("nothing")
    done = akvsite("doctor", "--store", "text.db", "--json")
    assert done.code == 1
    assert {r["check"]: r["state"] for r in strict(done.out)}["text.db"] == "missing"
    assert akvsite("doctor", "--store", "none.db").code == 0
    assert not (tmp_path / "none.db").exists()


def test_doctor_finds_a_damaged_store(akvsite: Any, store: Path) -> None:
    data = store.read_bytes()
    store.write_bytes(data[:-8192] + b"\xaa" * 8192)
    done = akvsite("doctor", "--json")
    assert done.code == 1
    assert strict(done.out)[-1]["state"] == "missing"


def test_doctor_runs_where_the_libraries_are_missing(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom akvsite import cli\n"
        "class Without:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] in ('pyarrow', 'numpy', 'sqlite_utils', 'altair'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Without())\ncli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "doctor", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert {r["check"] for r in strict(done.stdout) if r["state"] == "missing"} >= {
        "pyarrow",
        "numpy",
        "sqlite_utils",
        "altair",
    }
