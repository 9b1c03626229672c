"""Captures at level edge: what a preloaded recorder saw, and what is said where it saw nothing."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import pytest
from akvlogs import LIBRARY, NOTE, AkvLog
from capturing import Capture, environment, words

from akvsite import scan
from akvsite.manifest import load
from akvsite.record import logs

CALLS = 1000


def calls(bundle: Path) -> list[tuple[int, bool]]:
    """Calls and whether the file was closed, of each akvlog file."""
    found = []
    for path in sorted((bundle / "edge").iterdir()):
        with scan.open_log(path) as log:
            present = log.tally().present
            found.append((present.get(1, 0) + present.get(2, 0), log.header.closed))
    return found


@pytest.mark.parametrize(
    ("ending", "code", "said", "closed"),
    [
        ("exit", 0, "exit 0", True),
        ("_exit", 0, "exit 0", False),
        ("term", 143, "signal 15", False),
        ("kill", 137, "signal 9", False),
    ],
)
def test_no_call_is_lost_however_the_command_ends(
    capture: Capture, toys: Path, ending: str, code: int, said: str, closed: bool
) -> None:
    """ROCm/rocm-libraries#5814."""
    done = capture("edge", [toys / "toy", str(CALLS), ending], "--json", AKVSITE_SHIM=str(toys / "shim"))
    assert done.code == code
    assert calls(done.bundle) == [(CALLS, closed)]
    facts = done.facts["capture"]
    assert facts["ended"] == said
    assert facts["edge"]["calls_seen"] == CALLS
    assert (facts["edge"]["processes_closed"], facts["edge"]["processes_not_closed"]) == (closed, not closed)
    assert done.summary["calls"] == CALLS
    declared = load(done.bundle)
    assert [f.path.parent.name for f in declared.files if f.path.suffix == ".akvlog"] == ["edge"]


def test_records_are_cut_to_what_is_used_and_packed_on_request(capture: Capture, toys: Path) -> None:
    for name, options in (("plain", ()), ("packed", ("--compress",))):
        done = capture(
            "edge", [toys / "toy", "10", "exit"], *options, name=name, AKVSITE_SHIM=str(toys / "shim")
        )
        assert calls(done.bundle) == [(10, True)]
        (path,) = (done.bundle / "edge").iterdir()
        assert (path.suffix == ".gz") == bool(options)
        data = gzip.decompress(path.read_bytes()) if options else path.read_bytes()
        with scan.open_log(path) as log:
            assert len(data) == log.header.records_at + 64 * log.header.reserved
            assert log.header.executable == "toy"


def test_a_runtime_that_hides_its_functions_is_named(capture: Capture, toys: Path) -> None:
    """intel/llvm#22031."""
    done = capture("edge", [toys / "hidden"], AKVSITE_SHIM=str(toys / "shim"))
    assert done.code == 3
    (line,) = done.err.splitlines()
    assert line.startswith("akvsite: 0 calls seen; runtime libraries mapped: libsycl.so.99; ")
    edge = done.facts["capture"]["edge"]
    assert edge["calls_seen"] == 0
    assert "none of its calls came through" in edge["no_calls_because"]
    assert done.facts["capture"]["runtime_libraries"] == "libsycl.so.99"
    # Marked, and a whole bundle all the same.
    assert load(done.bundle).level == "edge"


def test_a_command_that_failed_keeps_its_own_code(capture: Capture, toys: Path) -> None:
    done = capture("edge", [toys / "hidden", "one", "two"], "--json", AKVSITE_SHIM=str(toys / "shim"))
    assert done.code == 2
    assert done.summary["calls"] == 0 and "0 calls seen" in done.err


def test_a_program_without_a_runtime_and_one_that_takes_no_preload(capture: Capture, toys: Path) -> None:
    shim = str(toys / "shim")
    none = capture("edge", ["true"], name="none", AKVSITE_SHIM=shim)
    assert none.code == 3
    assert "runtime libraries mapped: none; no runtime was loaded" in none.err
    static = capture("edge", [toys / "static"], name="static", AKVSITE_SHIM=shim)
    assert static.code == 3 and "static is statically linked" in static.err


def test_without_the_library_nothing_is_run(capture: Capture, tmp_path: Path) -> None:
    done = capture("edge", ["touch", "ran"], AKVSITE_SHIM=str(tmp_path))
    assert done.code == 2
    (line,) = done.err.splitlines()
    assert "libakv_ur.so" in line and "make shim" in line
    assert not (tmp_path / "ran").exists() and not done.bundle.exists()


def test_the_library_is_loaded_in_the_command_alone(capture: Capture, toys: Path, tmp_path: Path) -> None:
    command = 'echo "$LD_PRELOAD $AKV_TIMING $AKV_LEVEL" > seen; grep -c libakv_ur "/proc/$PPID/maps" >> seen'
    capture(
        "edge",
        ["sh", "-c", command],
        "--timing",
        "on",
        AKVSITE_SHIM=str(toys / "shim"),
        LD_PRELOAD="libm.so.6",
    )
    first, count = (tmp_path / "seen").read_text().splitlines()
    assert first == f"{toys / 'shim/libakv_ur.so'}:libm.so.6 on edge"
    assert count == "0"


def test_captures_at_once_do_not_disturb_each_other(toys: Path, tmp_path: Path) -> None:
    counts = [1000 + n for n in range(4)]
    started = [
        subprocess.Popen(
            words(tmp_path, f"run-{n}", "--level", "edge", command=[toys / "toy", str(n), "exit"]),
            env=environment(AKVSITE_SHIM=str(toys / "shim")),
        )
        for n in counts
    ]
    assert [process.wait() for process in started] == [0] * 4
    assert [calls(tmp_path / f"run-{n}") for n in counts] == [[(n, True)] for n in counts]


def test_a_process_that_stays_behind_goes_on_unharmed(capture: Capture, toys: Path, tmp_path: Path) -> None:
    """Its file is mapped when the bundle is made: to cut it would end the process with SIGBUS."""
    gate, result = tmp_path / "gate", tmp_path / "result"
    command: list[str | Path] = [toys / "toy", "5000", "leave", gate, result]
    done = capture("edge", command, AKVSITE_SHIM=str(toys / "shim"))
    gate.touch()
    assert done.code == 0
    logs = [
        (p, *found)
        for p, found in zip(sorted((done.bundle / "edge").iterdir()), calls(done.bundle), strict=True)
    ]
    ((behind, _, _),) = [entry for entry in logs if entry[1:] == (1, False)]
    process = Path("/proc") / behind.stem.rpartition("-")[2]
    while not result.exists() and process.exists():
        os.sched_yield()
    assert result.exists()
    assert [entry[1:] for entry in logs if entry[0] != behind] == [(5000, True)]
    assert done.facts["capture"]["edge"]["files_still_written"] == 1


def test_files_of_a_recorder_lose_their_paths_and_nothing_else(tmp_path: Path) -> None:
    log = AkvLog(names=["urQueueFinish"], header={"executable": b"/home/ada/venv/bin/python3"})
    log.add_name("/opt/ada/lib/libsycl.so.8", LIBRARY)
    log.add_name("runtime=/srv/ada/libur_loader.so.0 0.12", NOTE)
    log.add_name("_ZTS3add", 2)
    log.call(0, enter=5, exit=9)
    source = tmp_path / "akv"
    source.mkdir()
    log.write(source / "ur-7.akvlog")
    (source / "ur-8.akvlog").write_bytes(b"cut")
    (source / "maps-9.txt").write_text("libsycl.so.8\n/x/libze_loader.so.1\n")
    found = logs.collect(source, tmp_path, compress=False)
    assert (found.calls, found.kept, found.closed) == (1, ["edge/ur-7.akvlog"], 1)
    assert found.notes == ["runtime=libur_loader.so.0 0.12"]
    assert found.libraries == {"libsycl.so.8", "libze_loader.so.1"}
    assert len(found.left_out) == 1
    kept = tmp_path / "edge/ur-7.akvlog"
    assert b"ada" not in kept.read_bytes()
    with scan.open_log(kept) as read:
        assert read.header.executable == "python3"
        assert read.names.column("text").to_pylist() == [
            "urQueueFinish", "libsycl.so.8", "runtime=libur_loader.so.0 0.12", "_ZTS3add",
        ]  # fmt: skip
        assert read.table("calls").num_rows == 1
