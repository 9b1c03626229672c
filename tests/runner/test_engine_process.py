"""The engine as a program, with its client: runs to the end, and ends that come too early."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bundles import ask, read_in
from capturing import environment, words

from akvsite import scan

pytest.importorskip("torch")

ENGINE = [sys.executable, "-m", "akvsite.runner", "--warm-up-steps", "1"]
#: More than any test waits for.
LONG = ["--requests", "5000", "--output-tokens", "64"]


def begun(command: list[str], **how: Any) -> subprocess.Popen[str]:
    more = {"OMP_NUM_THREADS": "1", **how.pop("variables", {})}
    return subprocess.Popen(
        command, env=environment(**more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, **how,
    )  # fmt: skip


def run(*options: str, **variables: str) -> tuple[int, str, str]:
    with begun([*ENGINE, *options], variables=variables) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def until(found: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    for _ in range(6_000):
        if what := found():
            return what
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("it never came to that")


def children(pid: int, module: str) -> list[int]:
    """Processes below ``pid`` that run ``module``."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            try:
                command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            found += [child] if module.encode() in command else []
            found += children(child, module)
    return found


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    code, out, err = run("--requests", "32", "--no-client", "--json")
    assert (code, err) == (0, "")
    counts: dict[str, Any] = json.loads(out)
    return counts


def test_a_client_on_a_fixed_schedule_gets_the_tokens_of_a_run_without(
    alone: dict[str, Any], tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    code, out, err = run("--requests", "32", "--schedule", "fixed", "--json", "--result", str(result))
    assert (code, err) == (0, "")
    counts = json.loads(out)
    client = counts.pop("client")
    assert counts == alone
    assert (client["done"], client["failed"], client["tokens"]) == (32, 0, counts["tokens"])
    kept = json.loads(result.read_text())
    assert kept["tokens_sha256"] == client["sha256"] == alone["tokens_sha256"]
    assert kept["requests"] == 32
    assert [step[0] for step in kept["steps"]] == list(range(len(kept["steps"])))
    assert all(start <= end for *_, start, end in kept["steps"])


def test_a_closed_loop_gets_the_same_tokens_and_prints_counts_alone(alone: dict[str, Any]) -> None:
    code, out, err = run("--requests", "32", "--blocks", "14")
    assert (code, err) == (0, "")
    assert alone["tokens_sha256"] in out
    assert "preempted 0" not in out
    assert not any(word in out for word in ("second", " ms", "/s", "per s"))


def test_the_client_loads_nothing_heavy() -> None:
    code = "import sys, akvsite.runner.client; print([m for m in ('torch', 'numpy', 'typer', 'pyarrow') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_client_that_is_killed_ends_the_engine_with_one_line(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    with begun([*ENGINE, *LONG, "--result", str(result)]) as engine:
        (client,) = until(lambda: children(engine.pid, "akvsite.runner.client"), engine)
        os.kill(client, signal.SIGKILL)
        _, err = engine.communicate(timeout=120)
    assert engine.returncode == 1
    (line,) = err.splitlines()
    assert "client ended with signal 9" in line
    kept = json.loads(result.read_text())
    assert kept["pid"] == engine.pid
    assert f"{kept['requests']} of 5000" in line


@pytest.fixture
def capturing(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = words(tmp_path, "killed", "--level", "runner", command=[*ENGINE, *LONG])
    with begun(command) as process:
        yield process
        process.kill()


def test_an_engine_that_is_killed_leaves_its_steps(capturing: subprocess.Popen[str], tmp_path: Path) -> None:
    def engine() -> tuple[int, int] | None:
        """The process that has recorded steps, and how many so far."""
        for path in tmp_path.rglob("probe-*.akvlog"):
            with scan.open_log(path) as log:
                if (steps := log.tally().present.get(16, 0)) >= 30:
                    return int(path.stem.rpartition("-")[2]), steps
        return None

    pid, seen = until(engine, capturing)
    os.kill(pid, signal.SIGKILL)
    _, err = capturing.communicate(timeout=120)
    assert capturing.returncode == 128 + signal.SIGKILL
    assert "client: " in err  # it saw the end of its engine, and said so
    store = tmp_path / "akvsite.db"
    read_in(store, tmp_path / "killed")
    (facts,) = ask(store, "SELECT value FROM run_fact WHERE part = 'capture' AND key = 'ended'")
    assert facts["value"] == "signal 9"
    found = ask(store, "SELECT number, start_ns, end_ns FROM step WHERE source = 'probe' ORDER BY number")
    numbers = [row["number"] for row in found]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= seen - 1
    assert all(row["start_ns"] <= row["end_ns"] for row in found[:-1])
