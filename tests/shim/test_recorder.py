"""The recorder under a small program of our own (``toy.c``): every way to end, and every file read back."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest

from akvsite.scan import Log, open_log

HERE = Path(__file__).parent
SHIM = HERE.parents[1] / "shim"
CALLS = 1000
#: Continuations of one toy thread's first 1,000 calls: every eighth call waits for `n % 20` events, six a record.
MORE = sum((n % 20 + 5) // 6 for n in range(CALLS) if n % 8 == 3)


@pytest.fixture(scope="session", params=["plain", "sanitized"])
def toy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, as it would be built for use, and with address and undefined-behaviour sanitizers."""
    program = tmp_path_factory.mktemp("toy") / f"toy-{request.param}"
    extra = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] * (request.param == "sanitized")
    command = ["cc", "-std=c11", "-O2", "-g", "-fno-stack-protector", "-Wall", "-Wextra", "-Werror", *extra]
    subprocess.run(
        [*command, f"-I{SHIM}", HERE / "toy.c", *(SHIM / "recorder").glob("*.c"), "-o", program, "-lpthread"],
        check=True,
    )
    return program


def environment(folder: Path | str, **more: str) -> dict[str, str]:
    return {**os.environ, "AKV_DIR": str(folder), **{f"AKV_{k.upper()}": v for k, v in more.items()}}


def run(
    toy: Path,
    ending: str,
    folder: Path,
    *arguments: object,
    calls: int = CALLS,
    threads: int = 1,
    **more: str,
) -> subprocess.CompletedProcess[str]:
    command = [toy, ending, str(calls), str(threads), *map(str, arguments)]
    return subprocess.run(
        command, env=environment(folder, **more), capture_output=True, text=True, timeout=120
    )


def logs(folder: Path) -> list[Log]:
    return [open_log(path) for path in sorted(folder.glob("*.akvlog"))]


def only(folder: Path) -> Log:
    (log,) = logs(folder)
    return log


def calls_of(log: Log) -> pa.Table:
    return log.table("calls")


def whole(log: Log, threads: int = 1) -> None:
    """All calls of all threads are there, with what was recorded of them."""
    rows = calls_of(log).to_pylist()
    by_thread: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_thread.setdefault(row["object"], []).append(row)
    assert sorted(by_thread) == list(range(threads))
    for mine in by_thread.values():
        assert len({row["thread"] for row in mine}) == 1
        assert [row["bytes"] for row in mine] == list(range(CALLS))
        for n, row in enumerate(mine):
            assert row["event"] == n and row["result"] == (7 if n % 100 == 99 else 0)
            assert row["waits"] == ([n + i for i in range(n % 20)] if n % 8 == 3 else [])
            assert row["enter_ns"] <= row["exit_ns"] and not row["open"]
            assert bool(row["flags"] & 1) == bool(n % 2) and not row["flags"] & 4
    tally = log.tally()
    assert (tally.holes, tally.lost, tally.missing, tally.strays) == (0, 0, 0, 0)
    assert tally.present == {2: CALLS * threads, 3: MORE * threads}


@pytest.mark.parametrize(
    ("ending", "code", "closed"),
    [
        ("exit", 0, True),
        ("_exit", 0, False),
        ("term", -signal.SIGTERM, False),
        ("kill", -signal.SIGKILL, False),
    ],
)
def test_all_that_was_written_is_there_however_the_process_ends(
    toy: Path, tmp_path: Path, ending: str, code: int, closed: bool
) -> None:
    assert run(toy, ending, tmp_path, threads=3).returncode == code
    log = only(tmp_path)
    whole(log, threads=3)
    assert log.header.closed is closed
    assert (log.header.close is not None) is closed


def test_a_call_that_never_returns_is_shown_as_open(toy: Path, tmp_path: Path) -> None:
    hung = subprocess.Popen([toy, "hang", "10", "1"], env=environment(tmp_path), stdout=subprocess.PIPE)
    assert hung.stdout is not None
    assert hung.stdout.readline() == b"hanging\n"
    live = calls_of(only(tmp_path)).to_pylist()
    hung.kill()
    hung.wait()
    hung.stdout.close()
    for rows in (live, calls_of(only(tmp_path)).to_pylist()):
        assert [row["open"] for row in rows] == [False] * 10 + [True]
        assert rows[-1]["exit_ns"] is None and rows[-1]["result"] is None and rows[-1]["name"] == 3


def test_a_call_in_a_signal_handler_may_be_the_first(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "in-signal", tmp_path).returncode == 0
    assert only(tmp_path).tally().present[2] == CALLS + 1


def test_calls_before_constructors_and_after_destructors_are_there(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_EARLY", "1")
    monkeypatch.setenv("TOY_LATE", "1")
    if "sanitized" in toy.name:
        monkeypatch.delenv("TOY_EARLY")  # before the sanitizer has begun
    assert run(toy, "exit", tmp_path).returncode == 0
    log = only(tmp_path)
    assert log.header.closed
    assert log.tally().present[2] == CALLS + 1 + ("plain" in toy.name)


def test_a_thread_may_call_while_it_ends(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "thread-ends", tmp_path, calls=10).returncode == 0
    rows = calls_of(only(tmp_path))
    assert len(rows) == 50 * 11 and len(set(rows["thread"].to_pylist())) <= 50
    assert not any(flags & 4 for flags in rows["flags"].to_pylist())


@pytest.mark.parametrize("ending", ["fork", "bare-fork"])
def test_a_forked_child_has_a_file_of_its_own(toy: Path, tmp_path: Path, ending: str) -> None:
    assert run(toy, ending, tmp_path).returncode == 0
    parent, child = sorted(logs(tmp_path), key=lambda log: -log.tally().present[2])
    # The parent goes on after the fork; the child begins anew.
    assert parent.tally().present == {2: 2 * CALLS, 3: 2 * MORE}
    whole(child)
    assert child.header.parent_pid == parent.header.pid
    assert set(calls_of(child)["thread"].to_pylist()) == {child.header.pid}


def test_a_child_that_returns_from_its_parents_call_writes_nowhere(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "inside-fork", tmp_path).returncode == 0
    present = sorted((log.tally().present for log in logs(tmp_path)), key=len)
    assert present == [{2: 1}, {2: 1, 3: 1}]


def test_exec_begins_another_file(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "exec", tmp_path).returncode == 0
    first, second = logs(tmp_path)
    assert first.header.pid == second.header.pid
    whole(first)
    whole(second)


def test_files_that_the_program_closes_or_opens_are_its_own(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "close-all", tmp_path, calls=200_000).returncode == 0
    assert only(tmp_path).tally().present[2] == 200_001


def test_a_limit_on_file_sizes_stops_the_recording_and_not_the_program(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "limit", tmp_path, calls=200_000).returncode == 0
    log = only(tmp_path)
    tally = log.tally()
    assert log.header.stopped == 2 and log.header.errno == 27
    assert tally.lost > 0 and tally.missing == 0
    assert tally.reserved == sum(tally.present.values()) + tally.holes + tally.lost


@pytest.mark.parametrize("calls", [0, 10])
def test_a_program_that_may_write_no_byte_goes_on(toy: Path, tmp_path: Path, calls: int) -> None:
    assert run(toy, "no-files", tmp_path, calls=calls).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_process_may_end_thread_by_thread(toy: Path, tmp_path: Path) -> None:
    """Without exit_group a process ends when its last thread does: none of ours may be left."""
    if "sanitized" in toy.name:
        pytest.skip("the sanitizer has threads of its own")
    assert run(toy, "sys-exit", tmp_path, calls=200_000).returncode == 0
    assert only(tmp_path).tally().present[2] == 200_000


def test_a_program_stays_alone_in_its_process(toy: Path, tmp_path: Path) -> None:
    """What only a process of one thread may do: a thread that stayed would also keep rights that the others give up."""
    assert run(toy, "alone", tmp_path, calls=200_000).returncode == 0


def test_a_relative_folder_that_is_gone_is_no_folder_at_the_root(toy: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'rmdir "$PWD" && exec "$0" exit 10 1'
    done = subprocess.run(
        ["sh", "-c", script, toy],
        cwd=gone,
        env=environment("here", verbose="1"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "no such path" in done.stderr
    assert not Path("/here").exists()


def test_a_full_disk_stops_the_recording_and_not_the_program(toy: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "akv", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        done = run(toy, "exit", disk, calls=200_000, threads=2)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        log = only(disk)
        tally = log.tally()
        assert log.header.stopped == 2 and log.header.errno == 28
        assert tally.present[2] > 20_000 and tally.lost > 0
        assert tally.reserved == sum(tally.present.values()) + tally.holes + tally.lost
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_at_the_cap_it_stops_and_counts_what_is_lost(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "exit", tmp_path, calls=30_000, threads=2, cap="1M").returncode == 0
    log = only(tmp_path)
    tally = log.tally()
    assert log.header.stopped == 1 and log.header.capacity == 1 << 14
    assert tally.lost > 0
    assert tally.reserved == sum(tally.present.values()) + tally.holes + tally.lost


def test_at_the_cap_it_wraps_where_it_was_asked_to(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "exit", tmp_path, calls=100_000, cap="3M", full="wrap").returncode == 0
    log = only(tmp_path)
    tally = log.tally()
    assert log.header.wraps and log.header.capacity == 1 << 15
    assert tally.reserved == sum(tally.present.values()) + tally.holes + tally.overwritten
    assert tally.lost == 0
    numbers = calls_of(log)["bytes"].to_pylist()
    assert numbers == list(range(100_000 - len(numbers), 100_000))


@pytest.mark.parametrize("folder", ["missing", "a file"])
def test_without_a_folder_the_program_runs_as_if_nothing_were_there(
    toy: Path, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "a file").write_text("kept")
    silent = run(toy, "exit", tmp_path / folder)
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
    told = run(toy, "exit", tmp_path / folder, verbose="1")
    assert told.returncode == 0 and told.stdout == "" and "toy 1: no file in" in told.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["a file"]


def test_without_a_wish_to_record_nothing_is_made(toy: Path, tmp_path: Path) -> None:
    bare = {k: v for k, v in os.environ.items() if not k.startswith("AKV_")}
    subprocess.run([toy, "exit", "10", "1"], env=bare, cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_process_without_a_call_says_what_was_mapped(toy: Path, tmp_path: Path) -> None:
    assert run(toy, "exit", tmp_path, calls=0).returncode == 0
    (said,) = tmp_path.iterdir()
    assert re.fullmatch(r"maps-\d+\.txt", said.name)
    assert any(line.startswith("libc.so") for line in said.read_text().splitlines())


def test_a_wrong_cap_is_said_and_the_default_used(toy: Path, tmp_path: Path) -> None:
    done = run(toy, "exit", tmp_path, cap="lots", verbose="1")
    assert done.returncode == 0 and "AKV_CAP=lots is not a size" in done.stderr
    assert only(tmp_path).header.capacity == (4 << 30) // 64


def test_four_at_once_do_not_disturb_each_other(toy: Path, tmp_path: Path) -> None:
    started = [subprocess.Popen([toy, "fork", str(CALLS), "2"], env=environment(tmp_path)) for _ in range(4)]
    assert [program.wait(120) for program in started] == [0] * 4
    found = Counter(log.tally().present[2] for log in logs(tmp_path))
    assert found == {4 * CALLS: 4, 2 * CALLS: 4}


def test_memory_stays_flat(toy: Path, tmp_path: Path) -> None:
    if "sanitized" in toy.name:
        pytest.skip("the sanitizer's own memory grows")
    done = run(toy, "memory", tmp_path, calls=5_000_000)
    resident, anonymous = (
        [int(kib) for kib in re.findall(rf"{what}:\s+(\d+) kB", done.stdout)] for what in ("Rss", "Anonymous")
    )
    # 5 million records are 305 MiB. Anonymous memory: a page or two of the program's own.
    assert anonymous[1] - anonymous[0] <= 64
    assert max(resident) < 2 * 64 * 1024


def test_kills_at_random_moments_lose_no_committed_record(toy: Path, tmp_path: Path) -> None:
    """250 kills; ``AKV_TEST_KILLS=1000`` makes it a thousand, which take a minute."""
    chance = random.Random(7)
    kills = 10 if "sanitized" in toy.name else int(os.environ.get("AKV_TEST_KILLS", "250"))
    for number in range(kills):
        folder = tmp_path / str(number)
        folder.mkdir()
        threads = chance.randint(1, 4)
        counted = folder / "progress"
        program = subprocess.Popen(
            [toy, "loop", "0", str(threads), counted], env=environment(folder, cap="256M")
        )
        while not counted.exists() or counted.stat().st_size < 8:
            time.sleep(0.0002)
        time.sleep(chance.random() ** 3 * 0.02)
        program.kill()
        program.wait()
        committed = struct.unpack(f"<{threads}Q", counted.read_bytes()[: 8 * threads])
        # Threads that begin at once each make a file; one wins, and a kill may come before the others are gone.
        files = logs(folder)
        for log in files:
            tally = log.tally()
            # At most one call a thread is under way, and it reserved at most one record and four more for waits.
            assert tally.reserved == sum(tally.present.values()) + tally.holes and not tally.truncated
            assert tally.open_calls <= threads and tally.holes <= 5 * threads
        rows = pa.concat_tables([calls_of(log) for log in files]) if files else None
        assert rows is not None or not any(committed)
        if rows is not None:
            whole_numbers(rows, committed)
        shutil.rmtree(folder)


def whole_numbers(rows: pa.Table, committed: tuple[int, ...]) -> None:
    """Every call that a thread counted as returned is there, without a gap."""
    done = rows.filter(pa.compute.invert(rows["open"]))
    for thread, count in enumerate(committed):
        mine = done.filter(pa.compute.equal(done["object"], thread))
        numbers = mine["bytes"].to_numpy()
        assert len(numbers) >= count
        assert (numbers == np.arange(len(numbers))).all()
