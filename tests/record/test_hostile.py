"""What a command may leave behind to harm a capture or somebody else, and what becomes of it."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from akvlogs import AkvLog
from capturing import Capture, environment, words

from akvsite.record import _capture, files, launch, logs, plain


def record(path: Path) -> bytes:
    log = AkvLog(names=["urQueueFinish"], header={"executable": b"/home/ada/python3"})
    log.call(0, enter=5, exit=9)
    log.write(path)
    return path.read_bytes()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "akv").mkdir()
    return tmp_path / "akv"


def test_a_link_does_not_lead_to_somebody_elses_records(source: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.akvlog"
    before = record(theirs)
    (source / "ur-1.akvlog").symlink_to(theirs)
    (source / "ur-2.akvlog").hardlink_to(theirs)
    record(source / "ur-3.akvlog")
    found = logs.collect(source, tmp_path, compress=False)
    assert found.kept == ["edge/ur-3.akvlog"] and found.calls == 1
    assert [line.partition(":")[0] for line in found.left_out] == ["ur-1.akvlog", "ur-2.akvlog"]
    assert theirs.read_bytes() == before


def test_lists_of_libraries_are_plain_files(source: Path, tmp_path: Path) -> None:
    os.mkfifo(source / "maps-1.txt")
    os.mkfifo(source / "ur-1.akvlog")
    (source / "maps-2.txt").mkdir()
    (source / "maps-3.txt").symlink_to("/etc/passwd")
    (source / "maps-4.txt").write_text("libsycl.so.8\n")
    found = logs.collect(source, tmp_path, compress=False)
    assert found.libraries == {"libsycl.so.8"}
    assert len(found.left_out) == 4


@pytest.mark.parametrize("what", ["AKV_DIR", "AKV_FILES"])
@pytest.mark.parametrize("instead", ["true", 'touch "$F"', 'ln -s "$PWD/else" "$F"'])
def test_a_folder_that_the_command_replaced(
    capture: Capture, tmp_path: Path, what: str, instead: str
) -> None:
    (tmp_path / "else").mkdir()
    (tmp_path / "else/a.txt").write_text("theirs")
    done = capture("runner", ["sh", "-c", f'F=${what}; rm -r "$F"; {instead}; exit 7'])
    assert done.code == 7
    assert f"left out: ${what}: the command removed or replaced" in done.err
    assert "left_out" in done.facts["capture"]
    assert (tmp_path / "else/a.txt").read_text() == "theirs"
    assert {p.name for p in done.bundle.iterdir()} <= {"capture.toml", "trials.parquet", "memory.parquet"}


def test_the_place_of_left_out_files_is_taken(capture: Capture, tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures/run.left-out").write_text("theirs")
    done = capture("runner", ["sh", "-c", 'echo /home/ada/x > "$AKV_FILES/a"; exit 5'])
    assert done.code == 5 and "run.left-out-2" in done.err
    assert (tmp_path / "captures/run.left-out").read_text() == "theirs"
    assert (tmp_path / "captures/run.left-out-2/a").is_file()


def test_broken_packing_and_names_that_are_no_text(capture: Capture) -> None:
    script = r"""printf '\037\213\010\000junkjunkjunkjunk' > "$AKV_FILES/y.gz"; echo x > "$AKV_FILES/$(printf 'a\377.txt')" """
    done = capture("runner", ["sh", "-c", script])
    assert done.code == 0 and done.facts["capture"]["ended"] == "exit 0"
    assert "left out: y.gz: names nobody knows whom" in done.err and r"left out: a\xff.txt" in done.err
    beside = done.bundle.with_name("run.left-out")
    assert sorted(os.fsencode(p.name) for p in beside.iterdir()) == [b"a\xff.txt", b"y.gz"]


SECRETS = [
    "export HF_TOKEN=abcdefgh-ijkl",
    "hf_abcdefgh1234",
    '{"api_key": "abcd-efgh-ijkl"}',
    "Authorization: Bearer abcdefgh.ijkl",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "ghp_abcdefghijklmnopqrst",
    '{\\"password\\": \\"correct-horse\\"}',
]
HARMLESS = [
    '{"prompt_tokens": 500000000, "token_ids": [1, 2], "tokenizer": "hf_tokenizer_fast"}',
    "hf_config.py(12): hf_to_vllm_mapper",
    "cutlass::token::something_long(int)",
    '{"num_token_ids": 123456789, "key": "value of a cache"}',
]


@pytest.mark.parametrize("packed", [False, True])
def test_secrets_stay_outside(tmp_path: Path, packed: bool) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "b").mkdir()
    for number, text in enumerate(SECRETS + HARMLESS):
        data = f"before {text} after\n".encode()
        # Packed files are known by their first bytes, whatever they are called.
        (own / f"{number:02}.txt").write_bytes(gzip.compress(data) if packed else data)
    made = files.collect(own, tmp_path / "b/files", tmp_path / "b.left-out")
    assert made.kept == [f"files/{len(SECRETS) + n:02}.txt" for n in range(len(HARMLESS))]
    assert len(made.left_out) == len(SECRETS) and "looks like a secret" in made.left_out[0]


def test_names_of_files_are_told_only_where_they_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.platform, "node", lambda: "gpu7.lab")
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "b").mkdir()
    for name in ("gpu7_4711.pt.trace.json", "me@gpu9.json", "hf_abcdefgh1234.txt", "trace_0.json"):
        (own / name).write_text("x")
    made = files.collect(own, tmp_path / "b/files", tmp_path / "b.left-out")
    assert made.kept == ["files/trace_0.json"]
    assert len(made.left_out) == 3
    assert not any(word in line for line in made.left_out for word in ("gpu", "hf_"))


def test_little_room_is_told_before_anything_else(
    akvsite: Any, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AKVSITE_SHIM", str(toys / "shim"))
    monkeypatch.setattr(plain, "free_bytes", lambda _: 4096)
    done = akvsite("capture", "--level", "edge", "--name", "run", "--", "true")
    assert done.code == 3
    assert (
        "runtime libraries mapped: none; the recorder needs room for its file, and there is little: 4,096 bytes"
        in done.err
    )


def test_lost_records_are_told(akvsite: Any, toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AKVSITE_SHIM", str(toys / "shim"))
    monkeypatch.setattr(_capture.logs, "collect", lambda *_, **__: logs.Logs(calls=5, lost=1200))
    done = akvsite("capture", "--level", "edge", "--name", "run", "--json", "--", "true")
    assert "1,200 records lost (counted)" in done.err and '"records_lost": 1200' in done.out


# The time between the command's start and its end.


def waiting(look: Any, command: str, came: list[Any], monkeypatch: pytest.MonkeyPatch) -> launch.Ended:
    """``launch.run`` where the first waits give what is in ``came``."""
    real = signal.sigtimedwait
    monkeypatch.setattr(launch.signal, "sigtimedwait", lambda s, t: came.pop(0) if came else real(s, t))
    with launch.signals_held() as mask:
        return launch.run(Path("/bin/sh"), ["sh", "-c", command], {"PATH": "/usr/bin:/bin"}, mask, look)


def test_what_an_interrupted_wait_gives_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = signal.struct_siginfo((0, 0, 0, 0, 0, 0, 0))
    kill = signal.struct_siginfo((signal.SIGKILL, 0, 0, 0, 0, 0, 0))
    ended = waiting(None, "sleep 0.1; exit 6", [empty, kill], monkeypatch)
    assert (ended.code, ended.passed_on) == (6, 0)


def test_the_end_is_waited_for_where_looking_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(_: int) -> Any:
        def again() -> int:
            raise MemoryError

        return again

    ended = waiting(look, "sleep 0.1; exit 6", [], monkeypatch)
    assert (ended.code, ended.looking_failed) == (6, "MemoryError")


def test_a_stop_and_a_continuation_leave_a_bundle(tmp_path: Path) -> None:
    line = words(
        tmp_path / "c", "run", "--level", "runner", command=["sh", "-c", "echo ready; read go; exit 4"]
    )
    with subprocess.Popen(
        line, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout and started.stdin and started.stdout.readline() == "ready\n"
        for _ in range(3):
            started.send_signal(signal.SIGSTOP)
            time.sleep(0.15)  # longer than until the next look
            started.send_signal(signal.SIGCONT)
        started.communicate("go\n")
    assert started.returncode == 4
    assert "signals_passed_on = 0" in (tmp_path / "c/run/capture.toml").read_text()


def test_quit_is_passed_on(tmp_path: Path) -> None:
    line = words(
        tmp_path / "c",
        "run",
        "--level",
        "runner",
        command=["sh", "-c", "ulimit -c 0; echo ready; exec sleep 1000"],
    )
    # As a terminal leaves it: a shell that starts something behind it has QUIT ignored.
    before = signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    try:
        started = subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGQUIT, before)
    with started:
        assert started.stdout and started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGQUIT)
    assert started.returncode == 131 and (tmp_path / "c/run/capture.toml").is_file()


def test_a_signal_after_the_command_has_ended_changes_no_code(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from akvsite import cli\n"
        "from akvsite.record import _capture\n"
        "real = _capture.logs.collect\n"
        "def collect(*given, **more):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return real(*given, **more)\n"
        "_capture.logs.collect = collect\n"
        f"sys.argv = {words(tmp_path, 'run', '--level', 'runner', command=['sh', '-c', 'exit 9'])[2:]!r}\n"
        "cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (9, "")
    assert (tmp_path / "run/capture.toml").is_file()
