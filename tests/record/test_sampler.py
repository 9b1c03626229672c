"""Memory over time: the processes that belong to a command, and how often they are looked at."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from akvsite.record import processes, sampler
from akvsite.record.processes import Tree
from akvsite.record.sampler import Sampler

MIB = 1 << 20


@contextmanager
def python(code: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has printed a line and waits for the end of its input."""
    program = f"import sys, os, subprocess\n{code}\nsys.stdin.read()"
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.stdin.close()  # type: ignore[union-attr]


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_memory_that_grows_shows() -> None:
    grow = "print('ready', flush=True); sys.stdin.readline(); x = bytearray(os.urandom(1) * (64 << 20)); print('grown', flush=True)"
    with python(grow) as child:
        found = Sampler(Tree(child.pid))
        assert line(child) == "ready"
        found.sample()
        child.stdin.write("\n")  # type: ignore[union-attr]
        child.stdin.flush()  # type: ignore[union-attr]
        assert line(child) == "grown"
        found.sample()
    _, index, at, resident, anonymous = found.columns
    assert list(index) == [0, 0] and at[1] > at[0]
    assert anonymous[1] - anonymous[0] >= 63 * MIB
    assert resident[1] - resident[0] >= 63 * MIB
    assert all(a <= r for a, r in zip(anonymous, resident, strict=True))


def test_descendants_belong_to_a_command_also_when_their_parent_has_ended() -> None:
    code = (
        "child = subprocess.Popen(['sh', '-c', 'sleep 1000 & echo $!; read x'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\n"
        "print(child.pid, child.stdout.readline().strip(), flush=True)\n"
        "sys.stdin.readline(); child.stdin.close(); child.wait(); print('ended', flush=True)"
    )
    with python(code) as root:
        shell, sleeper = map(int, line(root).split())
        tree = Tree(root.pid)
        assert tree.alive()[0] == root.pid
        assert set(tree.alive()) == {root.pid, shell, sleeper}
        root.stdin.write("\n")  # type: ignore[union-attr]
        root.stdin.flush()  # type: ignore[union-attr]
        assert line(root) == "ended"
        assert set(tree.alive()) == {root.pid, sleeper}
        os.kill(sleeper, 9)
    assert tree.alive() == [] or tree.alive() == [
        sleeper
    ]  # nobody waits for an orphan here in every container


def test_a_long_run_is_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "MOST_ROUNDS", 8)
    found = Sampler(Tree(os.getpid()), interval_ns=10)
    for _ in range(100):
        found.sample()
        assert len(set(found.columns[0])) <= 8
    assert found.rounds == 100
    # Thinned out at the 8th round, and then at every 4th, each of which is twice as far from the one before.
    assert found.interval_ns == 10 * 2 ** (1 + (100 - 8) // 4)
    numbers = sorted(set(found.columns[0]))
    assert numbers == list(range(len(numbers)))
    assert list(found.columns[2]) == sorted(found.columns[2])


def test_reading_takes_a_small_part_of_the_time() -> None:
    found = Sampler(Tree(os.getpid()), interval_ns=1)
    before = time.monotonic_ns()
    found.sample()
    assert found.next_at - before >= sampler.SHARE * found.reading_ns
    assert found.facts()["reads"] == found.reads >= 1


def test_a_process_that_is_gone_has_no_memory_and_no_libraries() -> None:
    with python("print('x')") as child:
        assert line(child) == "x"
    assert processes.memory(child.pid) is None
    assert processes.runtime_libraries(child.pid) is None
    found = Sampler(Tree(child.pid))
    found.sample()
    assert len(found.columns[0]) == 0


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("libsycl.so.8", True), ("libur_adapter_level_zero.so.0", True), ("libze_loader.so.1", True),
        ("libcudart.so.13", True), ("libcuda.so.1", True), ("libtorch_cuda.so", True), ("libamdhip64.so.6", True),
        ("libOpenCL.so.1.0.0", True), ("libm.so.6", False), ("libcurl.so.4", False),
    ],
)  # fmt: skip
def test_runtimes_are_known_by_name(name: str, known: bool) -> None:
    assert processes.is_runtime(name) == known


def test_only_what_was_not_there_before_is_ended() -> None:
    with subprocess.Popen(["sleep", "40"]) as old, processes.taking_in_orphans():
        before = processes.below_this()
        with subprocess.Popen(["sh", "-c", "sleep 40 & sleep 40"], stdout=subprocess.PIPE) as new:
            # One that the shell begins ends with it or is taken in: two or three in all, and none stays.
            assert processes.end_those_left(before, grace=0) >= 1
            assert new.wait() is not None
        assert processes.below_this() == before and old.poll() is None
        old.kill()
