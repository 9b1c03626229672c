"""What a capture does to a command, and what it leaves: exit codes, signals, bundles, refusals."""

from __future__ import annotations

import errno
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from bundles import ask, read_in
from capturing import Capture, environment, words

from akvsite.manifest import load

PYTHON = sys.executable


@pytest.mark.parametrize("level", ["off", "runner"])
def test_an_exit_code_passes_through_and_a_bundle_is_left(capture: Capture, level: str) -> None:
    done = capture(level, ["sh", "-c", "echo out; echo err >&2; exit 7"], "--contract", "batch=8")
    assert (done.code, done.out, done.err) == (7, "out\n", "err\n")
    declared = load(done.bundle)
    assert (declared.name, declared.level, declared.clock) == ("run", level, "host only")
    assert done.facts["capture"]["ended"] == "exit 7"
    assert done.facts["contract"] == {"batch": "8"}
    assert done.facts["load"].keys() == {"before", "after"}
    assert done.facts["host"]["facts"]["cpus"] == os.cpu_count()
    assert [p.name for p in done.bundle.parent.iterdir()] == ["run"]


@pytest.mark.parametrize(("name", "number"), [("TERM", 15), ("KILL", 9), ("SEGV", 11)])
def test_a_command_that_a_signal_ended_says_so(capture: Capture, name: str, number: int) -> None:
    done = capture("off", ["sh", "-c", f"kill -{name} $$"])
    assert done.code == 128 + number
    assert done.facts["capture"]["ended"] == f"signal {number}"
    assert done.facts["capture"]["ended_by_signal"] == f"SIG{name}"


def test_level_off_changes_two_variables_and_no_more(capture: Capture, tmp_path: Path) -> None:
    wanted = environment(LD_PRELOAD="/nowhere/libakv_ur.so", AKV_DIR="x", AKV_TIMING="on", OTHER="1")
    capture(
        "off",
        ["sh", "-c", "env -0 > seen"],
        LD_PRELOAD="/nowhere/libakv_ur.so",
        AKV_DIR="x",
        AKV_TIMING="on",
        OTHER="1",
    )
    seen = dict(pair.partition("=")[::2] for pair in (tmp_path / "seen").read_text().split("\0") if pair)
    for ours in ("LD_PRELOAD", "AKV_DIR", "AKV_TIMING"):
        del wanted[ours]
    for own in ("_", "SHLVL", "PWD", "OLDPWD"):
        seen.pop(own, None)
        wanted.pop(own, None)
    files = seen.pop("AKV_FILES")
    assert seen == {**wanted, "AKV_LEVEL": "off"}
    assert Path(files).is_absolute() and not Path(files).exists()


def test_level_off_looks_at_no_process(capture: Capture) -> None:
    done = capture("off", ["true"])
    assert {p.name for p in done.bundle.iterdir()} == {"capture.toml", "trials.parquet"}
    assert "memory_sampling" not in done.facts["capture"]


def test_levels_above_off_have_a_folder_to_write_to(capture: Capture, tmp_path: Path) -> None:
    capture("runner", ["sh", "-c", 'test -d "$AKV_DIR" && echo "$AKV_LEVEL" > level'])
    assert (tmp_path / "level").read_text() == "runner\n"


def test_a_bundle_can_be_ingested(capture: Capture, tmp_path: Path) -> None:
    done = capture(
        "runner", ["sh", "-c", "sleep 0.01"], "--host", "bench", "--host-role", "dev", "--warm-up", "3"
    )
    store = tmp_path / "akvsite.db"
    read_in(store, done.bundle)
    run = ask(store, "SELECT level, warm_up_steps, timing FROM run")
    assert run == [{"level": 1, "warm_up_steps": 3, "timing": "asis"}]
    samples = pq.read_table(done.bundle / "memory.parquet")
    assert samples.num_rows >= 1
    stored = ask(store, "SELECT count(*) AS n, min(resident_bytes) AS least FROM memory_sample")
    assert stored[0]["n"] == samples.num_rows and stored[0]["least"] > 0
    assert ask(store, "SELECT arm, treatment FROM trial") == [
        {"arm": "command", "treatment": "capture at level runner"}
    ]


def test_signals_are_passed_on_once(tmp_path: Path) -> None:
    script = (
        "import signal, sys\n"
        "wanted = {signal.SIGUSR1, signal.SIGHUP}\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, wanted)\n"
        "print('ready', flush=True)\n"
        "print(sorted(int(signal.sigwait(wanted)) for _ in wanted)); sys.exit(5)\n"
    )
    line = words(tmp_path / "c", "run", "--level", "off", command=[PYTHON, "-c", script])
    with subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout and started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGUSR1)
        started.send_signal(signal.SIGHUP)
        rest = started.stdout.read()
    assert (rest, started.returncode) == ("[1, 10]\n", 5)
    assert "signals_passed_on = 2" in (tmp_path / "c/run/capture.toml").read_text()


def test_sigterm_of_the_capture_ends_the_command_and_leaves_the_bundle(tmp_path: Path) -> None:
    line = words(
        tmp_path / "c", "run", "--level", "runner", command=["sh", "-c", "echo ready; exec sleep 1000"]
    )
    with subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout and started.stdout.readline() == "ready\n"
        started.terminate()
    assert started.returncode == 143
    assert 'ended = "signal 15"' in (tmp_path / "c/run/capture.toml").read_text()


def test_ctrl_c_reaches_the_command_once_and_leaves_the_bundle(tmp_path: Path) -> None:
    # A second SIGINT would wait in front of SIGUSR1: the lowest number comes first.
    script = (
        "import signal\n"
        "wanted = {signal.SIGINT, signal.SIGUSR1}\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, wanted)\n"
        "print('ready', flush=True)\n"
        "got = [int(signal.sigwait(wanted))]\n"
        "print('got', flush=True)\n"
        "got.append(int(signal.sigwait(wanted)))\n"
        "print(got, flush=True)\n"
    )
    line = words(tmp_path / "c", "run", "--level", "runner", command=[PYTHON, "-c", script])
    child, terminal = pty.fork()
    if child == 0:
        os.execve(line[0], line, environment())
    seen = b""

    def until(word: bytes) -> None:
        nonlocal seen
        while word not in seen:
            seen += os.read(terminal, 1024)

    until(b"ready")
    os.write(terminal, b"\x03")
    until(b"got")
    os.kill(child, signal.SIGUSR1)
    until(b"]")
    assert b"[2, 10]" in seen
    # The end of the other side is an error of this one.
    try:
        while os.read(terminal, 1024):
            pass
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)
    assert (tmp_path / "c/run/capture.toml").is_file()


def test_the_command_gets_the_signal_states_of_a_plain_start(capture: Capture) -> None:
    states = "grep -E '^Sig(Blk|Ign)' /proc/self/status"
    plain = subprocess.run(["sh", "-c", states], capture_output=True, text=True, check=True)

    def sets(text: str) -> list[int]:
        # 32 and 33 are the C library's own: posix_spawn leaves them ignored, and who needs them sets a handler.
        return [int(line.split()[1], 16) & ~(1 << 31 | 1 << 32) for line in text.splitlines()]

    assert sets(capture("off", ["sh", "-c", states]).out) == sets(plain.stdout)


# Refusals: before the command runs, with one line, leaving nothing.


REFUSED: list[tuple[list[str], tuple[str, ...]]] = [
    (["--level", "all"], ("--level", "'all'", "off, runner, host, device, edge")),
    (["--level", "edge", "--timing", "maybe"], ("--timing", "'maybe'")),
    (["--level", "off", "--host-role", "proof"], ("--host-role", "--host NAME")),
    (["--level", "off", "--host", "a", "--host-role", "test"], ("--host-role", "'test'")),
    (["--level", "off", "--host", "/home/ada"], ("--host", "public")),
    (["--level", "off", "--contract", "batch"], ("--contract", "KEY=VALUE")),
    (["--level", "off", "--warm-up", "-1"], ("--warm-up",)),
    (["--level", "edge", "--runtime", "ze"], ("--runtime", "'ze'")),
]


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=[" ".join(o) for o, _ in REFUSED])
def test_a_request_that_cannot_be_met_runs_nothing(
    akvsite: Any, options: list[str], said: tuple[str, ...]
) -> None:
    akvsite("capture", "--name", "run", *options, "--", "touch", "ran").refused(*said)
    assert not Path("ran").exists() and not Path("captures/run").exists()


def test_names_places_and_programs_that_cannot_be_used(akvsite: Any) -> None:
    given = ("capture", "--level", "off")
    akvsite(*given, "--name", "No Good", "--", "touch", "ran").refused("--name", "'No Good'")
    Path("captures/taken").mkdir(parents=True)
    akvsite(*given, "--name", "taken", "--", "touch", "ran").refused("taken", "is there already")
    Path("file").touch()
    akvsite(*given, "--name", "run", "--out", "file", "--", "touch", "ran").refused("file")
    akvsite(*given, "--name", "run", "--", "no-such-program").refused("no-such-program", "no such program")
    akvsite(*given, "--name", "run", "--", "./file").refused("file", "cannot be executed")
    Path("broken").write_bytes(b"\x7fELF")
    Path("broken").chmod(0o755)
    akvsite(*given, "--name", "run", "--", "./broken").refused("broken", "cannot be started")
    assert not Path("ran").exists()
    assert sorted(p.name for p in Path("captures").iterdir()) == ["taken"]


def test_what_a_killed_capture_left_is_not_overwritten(akvsite: Any) -> None:
    left = Path("captures/.run.partial")
    left.mkdir(parents=True)
    (left / "records").touch()
    akvsite("capture", "--level", "off", "--name", "run", "--", "touch", "ran").refused(
        ".run.partial", "killed"
    )
    assert (left / "records").exists() and not Path("ran").exists()


def test_two_captures_of_one_name_at_a_time(tmp_path: Path, akvsite: Any) -> None:
    line = words(tmp_path / "captures", "run", "--level", "off", command=["sh", "-c", "echo ready; read go"])
    with subprocess.Popen(
        line, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout and first.stdin and first.stdout.readline() == "ready\n"
        akvsite("capture", "--level", "off", "--name", "run", "--", "touch", "ran").refused(
            "run", "being made"
        )
        first.communicate("go\n")
    assert first.returncode == 0 and not Path("ran").exists()


def test_a_busy_host_is_not_called_proof(akvsite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from akvsite.record import host

    given = ("capture", "--level", "off", "--name", "run", "--host", "quiet-one", "--host-role", "proof")
    monkeypatch.setattr(host, "load_per_core", lambda: 0.5)
    akvsite(*given, "--", "touch", "ran").refused("load a core", "0.50", "at most 0.10")
    monkeypatch.setattr(host, "load_per_core", lambda: 0.01)
    monkeypatch.setattr(host, "governor", lambda: "powersave")
    akvsite(*given, "--", "touch", "ran").refused("governor powersave", "performance")
    monkeypatch.setattr(host, "governor", lambda: None)
    monkeypatch.setenv("SYCL_UR_TRACE", "2")
    akvsite(*given, "--", "touch", "ran").refused("tracers switched on SYCL_UR_TRACE")
    monkeypatch.delenv("SYCL_UR_TRACE")
    for name, value in (("LD_PRELOAD", "/opt/libunitrace_tool.so"), ("AKV_LEVEL", "edge")):
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            akvsite(*given, "--", "touch", "ran").refused(f"tracers switched on {name}")
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("LD_PRELOAD", "/nowhere/libunitrace_tool.so:libtcmalloc.so.4", "LD_PRELOAD=libunitrace_tool.so"),
        ("LD_PRELOAD", "/nowhere/libToolsInjection64.so libm.so.6", "LD_PRELOAD=libToolsInjection64.so"),
        ("LD_PRELOAD", "libm.so.6:libtcmalloc.so.4 libjemalloc.so.2", None),
        ("ROCP_TOOL_LIB", "librocprofiler64.so", "ROCP_TOOL_LIB"),
        ("COMPUTE_PROFILE", "1", "COMPUTE_PROFILE"),
        ("AKV_LEVEL", "host", "AKV_LEVEL"),
        ("AKV_LEVEL", "off", None),
    ],
)
def test_a_tracer_from_outside_is_stated_at_level_off(name: str, value: str, said: str | None) -> None:
    from akvsite.record import software

    assert software.looking({name: value}) == ([said] if said else [])
    # Whatever switches one on stands among the facts of the command's environment; the level is the capture's own.
    stated = name in software.switches({name: value})
    assert stated == (name != "AKV_LEVEL")


def test_an_outer_capture_is_stated_at_level_off(capture: Capture) -> None:
    done = capture("off", ["true"], AKV_LEVEL="edge", LD_PRELOAD="/nowhere/libakv_ur.so")
    assert done.facts["capture"]["tracers_switched_on"] == "AKV_LEVEL, LD_PRELOAD=libakv_ur.so"


def test_a_capture_on_a_quiet_host_states_all_that_speed_takes(
    akvsite: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each capture but the last lacks one thing that its command line says."""
    from akvsite.record import device, host

    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(host, "governor", lambda: None)
    monkeypatch.setattr(device, "present", lambda: False)
    monkeypatch.setattr(device, "users", lambda: device.Users(None, said_by=device.NO_DEVICE))
    said = {
        "timing": ["--timing", "off"], "engine": ["--engine", "toy"], "warm-up": ["--warm-up", "0"],
        "workload": ["--contract", "workload=decode"], "hash": ["--contract", "output_hash=aa"],
    }  # fmt: skip
    uses = {}
    for lacking in [*said, ""]:
        name = lacking or "complete"
        options = [word for key, words in said.items() if key != lacking for word in words]
        given = ("capture", "--level", "off", "--name", name, "--host", "quiet-one", "--host-role", "proof")
        assert akvsite(*given, *options, "--", PYTHON, "-c", "pass").code == 0
        read_in(Path("akvsite.db"), Path("captures") / name)
    for row in json.loads(akvsite("runs", "--json").out):
        uses[row["name"]] = row["use"]
    assert uses == dict.fromkeys(said, "comparison under the same load") | {"complete": "speed"}
    text = Path("captures/complete/capture.toml").read_text()
    assert "at most 0.10" in text and 'role = "proof"' in text


def test_users_of_the_device_are_counted(akvsite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from akvsite.record import device, host

    tool = Path("tool/nvidia-smi")
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\ncase "$1" in *compute-apps*) echo "77, 512";; *) exit 1;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent.absolute()}:{os.environ['PATH']}")
    assert device.users() == device.Users(1, 512, "nvidia-smi")
    assert device.users({77}) == device.Users(0, 0, "nvidia-smi")
    monkeypatch.setattr(host, "load_per_core", lambda: 0.0)
    monkeypatch.setattr(host, "governor", lambda: None)
    given = ("capture", "--level", "off", "--name", "run", "--host", "q", "--host-role", "proof")
    akvsite(*given, "--", "true").refused("other processes on the device 1", "at most 0")


def test_it_runs_from_a_checkout_with_few_packages(tmp_path: Path) -> None:
    """On a machine with a device, typer, pyarrow and numpy are all there is."""
    blocked = ("sqlite_utils", "altair", "msgspec", "mkdocs", "material", "yaml", "vl_convert", "torch")
    given = ["akvsite", "capture", "--level", "runner", "--name", "run", "--out", str(tmp_path), "--", "true"]
    program = (
        f"import sys, runpy\nfor m in {blocked!r}: sys.modules[m] = None\n"
        f"sys.argv = {given!r}\nrunpy.run_module('akvsite', run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run(
        [PYTHON, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert load(tmp_path / "run").level == "runner"


def test_json_says_what_there_is(capture: Capture) -> None:
    done: dict[str, Any] = capture("runner", ["sh", "-c", "exit 4"], "--json").summary
    assert (done["code"], done["ended"], done["calls"]) == (4, "exit 4", None)


def test_what_was_recorded_stays_where_the_bundle_cannot_be_finished(
    akvsite: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from akvsite.record import _capture

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_capture, "write_table", full)
    line = akvsite("capture", "--level", "runner", "--name", "run", "--", "touch", "ran").refused(
        "No space left"
    )
    assert ".run.partial" in line
    assert Path("captures/.run.partial").is_dir() and Path("ran").exists()


def test_the_end_of_a_command_is_noticed_whatever_thread_takes_the_signal(tmp_path: Path) -> None:
    """The command ends while nobody waits, and a thread that a library made is there to take SIGCHLD."""
    program = (
        "import threading, time, pathlib\n"
        "from akvsite.record import launch\n"
        "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
        "times = []\n"
        "def look(pid):\n"
        "    stat = pathlib.Path(f'/proc/{pid}/stat')\n"
        "    def again():\n"
        "        times.append(1)\n"
        "        if len(times) == 1: return 0\n"
        "        while ') Z ' not in stat.read_text(): time.sleep(0.001)\n"
        "        return time.monotonic_ns() + 10**15\n"
        "    return again\n"
        "with launch.signals_held() as mask:\n"
        "    ended = launch.run(pathlib.Path('/bin/sh'), ['sh', '-c', 'sleep 0.2; exit 6'], {'PATH': '/bin'}, mask, look)\n"
        "print(ended.code)\n"
    )
    done = subprocess.run(
        [PYTHON, "-c", program], env=environment(), stdout=subprocess.PIPE, text=True, timeout=60, check=True
    )
    assert done.stdout == "6\n"
