"""Ingest that is killed, shared or interrupted: whole captures only, and the next run completes the store."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from bundles import ask, call, dump, interval, read_in, steps, write_capture

from akvsite import ingest
from akvsite.store import Store

KILLS = 30

#: Runs in a process of its own that has everything loaded: for each order on standard input it forks a child that is
#: ``akvsite ingest``, kills it after so many steps of SQLite's machine or so much of the time, and says how it ended.
NURSERY = """
import json, os, signal, sys, time
from akvsite import cli, ingest, site, store

def child(order):
    sys.argv = ["akvsite", "ingest", *order["paths"], "--store", order["store"]]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    left = [order["ticks"]]
    def tick():
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    prepare = store._prepare
    def prepared(connection):
        prepare(connection)
        if order["ticks"]:
            connection.set_progress_handler(tick, 50)
    store._prepare = prepared
    try:
        cli.main()
    except SystemExit as end:
        os._exit(end.code or 0)
    os._exit(9)

for line in sys.stdin:
    order = json.loads(line)
    begun = time.monotonic()
    pid = os.fork()
    if not pid:
        child(order)
    if order["seconds"] is not None:
        time.sleep(order["seconds"])
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    print(json.dumps({"code": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - begun}), flush=True)
"""


class Nursery:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ingest(
        self, store: Path, *paths: Path, ticks: int = 0, seconds: float | None = None
    ) -> dict[str, float]:
        assert self.process.stdin and self.process.stdout
        order = {"store": str(store), "paths": [*map(str, paths)], "ticks": ticks, "seconds": seconds}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery()
    yield nursery
    nursery.process.kill()
    nursery.process.wait()


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four captures with steps, calls, intervals and links."""
    folder = tmp_path_factory.mktemp("captures")
    for number in range(4):
        count = 100 + 100 * number
        tables = {
            "step": steps(count),
            "level4_edge": [call(10 * i, 10 * i + 2, i) for i in range(count)],
            "level3_device": [interval(10 * i + 3, 10 * i + 9, i) for i in range(count)],
        }
        write_capture(folder / f"run{number}", tables, level="edge")
    return folder


def whole_runs(store: Path) -> dict[str, tuple[int, ...]]:
    counts = ("steps", "calls", "intervals", "files")
    with sqlite3.connect(store) as connection:
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    rows = ask(
        store,
        """
        SELECT name, (SELECT count(*) FROM step x WHERE x.run_id = r.id) AS steps,
               (SELECT count(*) FROM level4_edge x WHERE x.run_id = r.id) AS calls,
               (SELECT count(*) FROM level3_device x WHERE x.run_id = r.id) AS intervals,
               (SELECT count(*) FROM ingest x WHERE x.run_id = r.id) AS files,
               (SELECT count(*) FROM link x WHERE x.run_id = r.id) AS links,
               (SELECT sum(expected) FROM seen x WHERE x.run_id = r.id) AS seen
        FROM run r""",
    )
    return {r["name"]: (*(r[c] for c in counts), r["links"], r["seen"]) for r in rows}


def has_schema(store: Path) -> bool:
    if not store.exists() or not store.stat().st_size:
        return False
    with sqlite3.connect(store) as connection:
        found = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.close()
    return bool(found)


def test_killed_at_many_moments(nursery: Nursery, captures: Path, tmp_path: Path) -> None:
    undisturbed = tmp_path / "undisturbed.db"
    ended = nursery.ingest(undisturbed, captures)
    assert ended["code"] == 0
    wanted, runs = dump(undisturbed), whole_runs(undisturbed)
    assert len(runs) == 4
    # How many ticks there are in all, so that the moments lie everywhere between the first and the last.
    low, high = 1, 1
    while nursery.ingest(tmp_path / f"probe{high}.db", captures, ticks=high)["code"] == -signal.SIGKILL:
        low, high = high, high * 2
    moments = random.Random(20260101)
    partly = set()
    for kill in range(KILLS):
        store = tmp_path / f"killed{kill}.db"
        if kill % 5:
            # Tick by tick, the same moments on every machine.
            nursery.ingest(store, captures, ticks=moments.randint(1, low + low // 2))
        else:
            # Anywhere at all, between two statements and in the middle of writing too.
            nursery.ingest(store, captures, seconds=ended["seconds"] * moments.random())
        if has_schema(store):
            found = whole_runs(store)
            assert found.items() <= runs.items()
            assert list(found) == list(runs)[: len(found)]
            partly.add(len(found))
        assert nursery.ingest(store, captures)["code"] == 0
        assert dump(store) == wanted
        for file in tmp_path.glob(f"killed{kill}.db*"):
            file.unlink()
    assert len(partly) >= 3, "the moments fell into few captures only"


def test_a_store_whose_ingest_was_broken_off_can_be_asked(
    nursery: Nursery, captures: Path, tmp_path: Path
) -> None:
    store = tmp_path / "akvsite.db"
    write_capture(tmp_path / "a", {"step": steps()})
    broken = write_capture(tmp_path / "b", {"step": steps()})
    (broken / "step.parquet").write_bytes(b"PAR1")
    assert nursery.ingest(store, tmp_path / "a", tmp_path / "b")["code"] == 2
    assert ask(store, "SELECT name FROM run_list") == [{"name": "a"}]


def test_two_ingests_at_once_into_one_store(captures: Path, tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    single = tmp_path / "single.db"
    read_in(single, captures)
    command = [sys.executable, "-c", "from akvsite.cli import main; main()", "ingest", "--store", str(store)]
    both = [
        subprocess.Popen([*command, str(captures)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    lines = sorted(" ".join(line.split(": ")[:2]) for out, _ in said for line in out.splitlines())
    # Each capture was stored by one of them; the other found it there.
    assert lines == sorted(f"run{i} {how}" for i in range(4) for how in ("stored", "unchanged"))
    assert whole_runs(store) == whole_runs(single)
    assert dump(store) == dump(single)


def test_what_follows_an_ingest_waits_for_another_writer(captures: Path, tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, captures)
    held = threading.Event()

    def write() -> None:
        with Store.open(store) as other, other.transaction():
            held.set()
            time.sleep(0.2)  # whoever does not wait for the lock fails at once

    with Store.open(store) as opened:
        opened.connection.execute("DROP TABLE IF EXISTS sqlite_stat1")
        writer = threading.Thread(target=write)
        writer.start()
        held.wait()
        ingest.take_statistics(opened)
        writer.join()
        assert opened.one("SELECT count(*) FROM sqlite_stat1") > 0


def test_reading_while_a_capture_is_read_in(captures: Path, tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, captures / "run0")
    seen = []

    def look(_: str) -> None:
        seen.append(ask(store, "SELECT name, steps FROM run_list ORDER BY name"))

    with Store.open(store) as opened:
        list(ingest.ingest(opened, ingest.plan([captures / "run1"]), progress=look))
    assert len(seen) == 4  # one look a file, in the middle of the transaction
    assert all(rows == [{"name": "run0", "steps": 100}] for rows in seen)
    look("")
    assert seen[-1] == [{"name": "run0", "steps": 100}, {"name": "run1", "steps": 200}]


def test_a_reader_keeps_what_it_saw(captures: Path, tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, captures / "run0")
    with Store.read(store) as reading:
        reading.connection.execute("BEGIN")
        before = reading.one("SELECT count(*) FROM step")
        read_in(store, captures / "run1")
        assert reading.one("SELECT count(*) FROM step") == before
        reading.connection.execute("ROLLBACK")
        assert reading.one("SELECT count(*) FROM step") > before


def test_an_interrupt_leaves_a_line_a_code_and_whole_captures(captures: Path, tmp_path: Path) -> None:
    """SIGINT arrives when the second capture is half written, whatever the speed of the machine."""
    store = tmp_path / "akvsite.db"
    program = (
        # A test runner in the background hands an ignored SIGINT down; a person's terminal does not.
        "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom akvsite import cli\nfrom akvsite.ingest import _run\n"
        "write = _run._write_links\n"
        "def links(store, run_id, *rest):\n"
        "    write(store, run_id, *rest)\n"
        "    if run_id == 2: os.kill(os.getpid(), signal.SIGINT)\n"
        "_run._write_links = links\ncli.main()\n"
    )
    words = ["ingest", str(captures), "--store", str(store)]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done
    assert done.stderr == "akvsite: interrupted; nothing was half written\n"
    assert list(whole_runs(store)) == ["run0"]
    read_in(store, captures)
    assert len(whole_runs(store)) == 4
