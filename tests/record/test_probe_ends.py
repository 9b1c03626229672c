"""The probe where processes fork and end, where there is no room, and where it is told nonsense."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest
from probes import (
    LASTS,
    LAYER,
    ONE_OF_EACH,
    PHASE,
    REGION,
    REQUEST,
    STEP,
    TEXT,
    TOKEN,
    Probe,
    read,
)


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(3)"])
def test_an_end_in_the_middle_keeps_every_step(run: Probe, end: str) -> None:
    script = f"""
import os, signal
for number in range(5000):
    with record.step(number, batch=1):
        with record.phase("launch"):
            with record.region("qkv"):
                if number == 4321: {end}
"""
    done = run(script, check=False)
    assert done.code in (-signal.SIGKILL, 3)
    log = done.log
    steps = [m for m in log.marks if m.kind == STEP]
    assert [m.a for m in steps] == list(range(4322))
    assert all(m.end and not m.flags for m in steps[:-1])
    assert (steps[-1].flags, steps[-1].end) == (LASTS, 0)
    assert log.spans() == ["qkv"] * 4321
    assert [m.flags for m in log.marks if m.kind == PHASE][-2:] == [0, LASTS]
    assert (log.header.closed, log.header.records_lost, log.tally.holes) == (False, 0, 0)


def test_a_process_that_ends_while_it_records(run: Probe) -> None:
    script = """
import atexit, threading
class Late:
    def __del__(self):
        with late.region("finaliser"): pass
late = record
kept = Late(); kept.itself = kept
def forever():
    while True:
        with record.step(1), record.region("daemon"): pass
threading.Thread(target=forever, daemon=True).start()
atexit.register(lambda: record.request(1).finished())
span = record.region("never left").__enter__()
"""
    log = run(script).log
    assert log.header.closed and log.tally.holes <= 1
    assert {"daemon"} <= set(log.spans()) <= {"daemon", "finaliser", None}
    assert "finished" in log.spans(REQUEST)


# --- processes ---


def test_a_forked_child_has_a_file_of_its_own(run: Probe) -> None:
    script = """
import os, sys
record.request("r1").arrived(3)
with record.step(1), record.region("shared"):
    child = os.fork()
    if child == 0:
        with record.step(2), record.region("shared"): pass
        record.request("r1").finished(4)
print(record.lost())
if child: os.waitpid(child, 0)
"""
    done = run(script)
    assert done.out == "0\n0\n"
    logs = {log.marks[0].name: log for log in done.logs()}
    parent, child = logs["arrived"], logs["decode"]
    assert [(m.kind, m.name, m.a) for m in parent.marks[1:]] == [(STEP, "decode", 1), (REGION, "shared", 0)]
    # The span that its parent opened is its parent's alone.
    assert [(m.kind, m.name) for m in child.marks] == [
        (STEP, "decode"), (REGION, "shared"), (REQUEST, "finished"),
    ]  # fmt: skip
    assert [text for _, text in parent.requests] == [text for _, text in child.requests] == ["r1"]
    assert child.header.parent_pid == parent.header.pid
    assert all(m.flags == 0 and m.thread == child.header.pid for m in child.marks)


def test_a_fork_that_python_does_not_know_of(run: Probe) -> None:
    script = """
import ctypes, os
with record.step(1):
    child = ctypes.PyDLL(None).fork()
    if child == 0:
        with record.step(2): pass
        os._exit(0)
    os.waitpid(child, 0)
"""
    logs = run(script).logs()
    assert sorted((m.a, m.flags) for log in logs for m in log.marks) == [(1, 0), (2, 0)]
    assert len(logs) == 2


def test_a_fork_while_other_threads_record(run: Probe) -> None:
    script = """
import os, threading
stop = False
def work():
    while not stop:
        with record.region("thread"): pass
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads: t.start()
for number in range(10):
    if (child := os.fork()) == 0:
        with record.step(number): pass
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for t in threads: t.join()
"""
    logs = run(script).logs()
    steps = sorted(m.a for log in logs for m in log.marks if m.kind == STEP)
    assert steps == list(range(10)) and len(logs) == 11


def test_processes_of_multiprocessing(run: Probe) -> None:
    script = """
import multiprocessing
def work(number):
    with record.step(number): pass
with record.step(9): pass
for number in range(3):
    child = multiprocessing.get_context("fork").Process(target=work, args=(number,))
    child.start(); child.join()
    assert child.exitcode == 0
"""
    logs = run(script).logs()
    assert sorted(m.a for log in logs for m in log.marks) == [0, 1, 2, 9] and len(logs) == 4


def test_a_program_that_closes_descriptors_it_does_not_know(run: Probe) -> None:
    script = """
import os
with record.step(1): pass
os.closerange(3, 256)
theirs = os.open("theirs", os.O_RDWR | os.O_CREAT)
for number in range(40_000):
    with record.step(2): pass
record.set_level("host", "akv/again")
os.mkdir("akv/again")
with record.step(3): pass
os.write(theirs, b"whole")
"""
    done = run(script, "runner")
    assert (done.folder.parent / "theirs").read_bytes() == b"whole"
    log = done.log
    assert Counter(m.a for m in log.marks) == {1: 1, 2: 40_000}
    assert log.header.records_lost == 0


def test_beside_a_preloaded_recorder_each_has_its_file(run: Probe, toys: Path) -> None:
    script = """
import ctypes, os
toy = ctypes.CDLL(None).toyCall
for number in range(100):
    with record.step(number): toy()
if os.fork() == 0:
    with record.step(100): toy()
    os._exit(0)
os.wait()
"""
    done = run(script, "edge", LD_PRELOAD=str(toys / "shim/libakv_ur.so"))
    probes, toy = ([read(p) for p in done.folder.glob(f"{name}-*.akvlog")] for name in ("probe", "toy"))
    assert sorted(len(log.marks) for log in probes) == [1, 100]
    assert sorted(log.tally.present[2] for log in toy) == [1, 100]
    assert all(log.tally.holes == 0 and log.header.records_lost == 0 for log in [*probes, *toy])


# --- what goes wrong ---


@pytest.mark.parametrize("folder", ["gone", "a-file"])
def test_a_folder_that_takes_no_file(run: Probe, tmp_path: Path, folder: str) -> None:
    (tmp_path / "a-file").write_text("")
    script = ONE_OF_EACH + "print(record.path(), record.lost() > 0)"
    done = run(script, AKV_DIR=str(tmp_path / folder))
    assert (done.out, done.err) == ("None True\n", "")
    assert (tmp_path / "a-file").read_text() == ""


def test_a_full_file_stops_and_counts(run: Probe) -> None:
    script = """
for number in range(100):
    with record.step(number), record.region("r"): pass
print(record.lost())
"""
    done = run(script, AKV_CAP="6400")
    log = done.log
    assert (log.header.capacity, log.header.stopped, len(log.marks)) == (100, 1, 100)
    assert done.out == "100\n" and log.header.records_lost == 100


@pytest.mark.parametrize("engine", ["native"])
def test_a_file_that_wraps_keeps_the_last(run: Probe, engine: str) -> None:
    script = """
with record.step(1):
    for number in range(200):
        with record.region(f"{number}"): pass
with record.step(2): pass
"""
    log = run(script, AKV_CAP="4096", AKV_FULL="wrap").log
    assert log.spans() == [f"{n}" for n in range(137, 200)]
    # The slot of the first step is another record's by now, and is left to it.
    assert [(m.a, m.flags) for m in log.marks if m.kind == STEP] == [(2, 0)]
    assert log.header.records_lost == 0 and log.tally.holes == 0


def test_a_full_disk_stops_and_counts(run: Probe) -> None:
    script = """
import resource
with record.step(0): pass
resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))
for number in range(70_000):
    with record.step(number + 1): pass
print(record.lost())
"""
    done = run(script, "runner")
    header = done.log.header
    assert header.stopped == 2 and header.errno != 0
    assert len(done.log.marks) + int(done.out) == 70_001
    assert header.records_lost == int(done.out) > 0


def test_more_names_than_there_is_room_for(run: Probe) -> None:
    script = """
for number in range(70_000):
    with record.region(f"{number:x}"): pass
with record.region("0"): pass
"""
    log = run(script).log
    assert len(log.marks) == 70_001 and log.header.names_lost > 4_000
    for number, mark in enumerate(log.marks[:-1]):
        assert mark.name in (f"{number:x}", None)
    assert sum(m.name is not None for m in log.marks) > 60_000 and log.marks[-1].name == "0"


def test_names_of_any_kind(run: Probe) -> None:
    script = r"""
class Name(str):
    def __hash__(self): raise RuntimeError
    def __eq__(self, other): raise RuntimeError
class Bad:
    def __str__(self): raise RuntimeError
for name in ("plain", "ключ", 3, None, Name("sub"), "\ud800", "a\0b", "x" * 5000, "", Bad()):
    with record.region(name): pass
    with record.phase(name): pass
print(record.lost())
"""
    done = run(script)
    names = ["plain", "ключ", "3", "None", "sub", "\\ud800", "a", "x" * 4095, ""]
    assert done.log.spans() == names == done.log.spans(PHASE)
    assert done.out == "2\n"


def test_what_is_no_number_does_not_reach_the_engine(run: Probe) -> None:
    script = """
class Seven:
    def __index__(self): return 7
with record.step(Seven(), batch=Seven()), record.layer(Seven()): pass
with record.step("x"): pass
with record.step(1, batch="x"): pass
with record.layer(1.5): pass
with record.step(-1, batch=1 << 40): pass
with record.step(1 << 70), record.layer(1 << 40): pass
record.stamp("launched", "x")
record.token("r", 0, step="x").mark("sent", tokens="x")
record.token("r", "x").mark("sent")
record.request("r").arrived("x")
record.request("r").arrived(1, at_ns="x")
print(record.lost())
"""
    done = run(script)
    assert [(m.kind, m.value, m.a) for m in done.log.marks] == [
        (STEP, 7, 7), (LAYER, 7, 0), (STEP, -1, (1 << 64) - 1), (STEP, -1, 0), (LAYER, -1, 0), (TOKEN, 0, TEXT),
    ]  # fmt: skip
    assert done.out == "7\n" and done.log.tally.holes == 0


def test_a_word_that_is_no_milestone(run: Probe) -> None:
    script = """
for _ in range(3):
    record.token(1, 0).mark("sampeld")
    record.stamp("begun", 1)
"""
    done = run(script)
    assert done.logs() == []
    assert [line.split(" and ")[0] for line in done.err.splitlines()] == [
        "akvsite.record: 'sampeld' is no milestone", "akvsite.record: 'begun' is no milestone",
    ]  # fmt: skip
