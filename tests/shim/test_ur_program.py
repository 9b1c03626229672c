"""The Unified Runtime shim under a small runtime of our own, whose every effect can be seen."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from ur_captures import Run, build_shim, compile_c, run_under_shim

ASKED, CHANGED, BLOCKING = 8, 16, 1


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build_shim()
    return compile_program(tmp_path_factory.mktemp("fake"))


def compile_program(folder: Path, *options: str) -> Path:
    loader = folder / "libur_loader.so.0"
    compile_c(loader, "fake_ur.c", options=["-shared", "-fPIC", "-Wl,-soname,libur_loader.so.0", *options])
    compile_c(folder / "libprogram.so", "program.c", options=["-shared", "-fPIC", str(loader), "-Wl,-rpath,$ORIGIN", "-pthread",
                                                              "-Wl,--unresolved-symbols=ignore-all"])  # fmt: skip
    compile_c(folder / "main", "main.c", options=["-ldl", "-rdynamic"])
    return folder


@pytest.fixture
def run(built: Path, tmp_path: Path):
    def go(what: str, **settings: str) -> Run:
        done = run_under_shim(tmp_path / "log", [built / "main", built / "libprogram.so", what], **settings)
        assert "its end" not in done.err, done.err  # no event was touched after its end
        return done

    return go


def test_every_role_of_a_call_is_recorded(run):
    done = run("every")
    capture = done.capture
    words = done.said("queue")
    queue, kernel, native, launched, to, source = (int(words[n]) for n in (0, 2, 4, 6, 8, 10))
    assert capture.notes["path"] == ["exports"]
    assert capture.notes["device"] == ["fake device driver=fake device"]
    assert capture.by_name() == Counter(
        urAdapterGet=1, urContextCreate=1, urDeviceGet=1, urQueueCreate=1, urKernelCreate=1, urQueueFinish=1,
        urKernelCreateWithNativeHandle=1, urEnqueueUSMMemcpy=11, urEnqueueKernelLaunch=2, urEventWait=1, urEventRelease=10,
    )  # fmt: skip
    assert capture.kernels == {kernel: "first_kernel", native: "of_a_native_handle"}

    copy = capture.of("urEnqueueUSMMemcpy")[0]
    assert (copy["queue"], copy["object"], copy["bytes"], copy["result"]) == (queue, to, 64, 0)
    assert copy["addresses"] == [to, source]
    assert copy["enter_ns"] <= copy["exit_ns"]
    copies = [call["event"] for call in capture.of("urEnqueueUSMMemcpy")]
    assert len(set(copies[:9])) == 9 and 0 not in copies[:9]
    assert copies[9:] == [0, 0]  # one asked for no event, one failed

    first, second = capture.of("urEnqueueKernelLaunch")
    assert (first["queue"], first["object"], first["event"]) == (queue, kernel, launched)
    assert first["waits"] == copies[:9]
    assert first["work"] == [64, 8, 2, 16, 4, 1]
    assert (second["object"], second["work"], second["waits"]) == (native, [64, 0, 0], [])

    blocking = capture.of("urEnqueueUSMMemcpy")[9]
    assert (blocking["flags"] & BLOCKING, blocking["bytes"], blocking["waits"]) == (BLOCKING, 32, [launched])
    failed = capture.of("urEnqueueUSMMemcpy")[10]
    assert (failed["result"], failed["queue"]) == (int(done.said("failed")[0]), 0)

    assert capture.of("urQueueCreate")[0]["object"] == queue
    assert capture.of("urEventWait")[0]["waits"] == copies[:9]
    assert [call["object"] for call in capture.of("urEventRelease")] == [*copies[:9], launched]
    assert not capture.devices and not capture.clocks  # nobody asked for times


def test_profiling_flag_is_left_as_the_program_has_it(run):
    asis = run("flags")
    assert asis.out.splitlines()[:6] == [
        "null 0",
        "plain 1",
        "profiled 3",
        "chain 0 1",
        "other 0",
        "discards 16",
    ]
    assert not any(call["flags"] & CHANGED for call in asis.capture.calls)


def test_profiling_flag_is_added(run):
    on = run("flags", AKV_TIMING="on")
    assert on.out.splitlines()[:6] == [
        "null 2",
        "plain 3",
        "profiled 3",
        "chain 2 1",
        "other 0",
        "discards 16",
    ]
    assert on.said("given") == ["1", "3", "0"]  # the program's own structures are not touched
    changed = [bool(call["flags"] & CHANGED) for call in on.capture.of("urQueueCreate")]
    assert changed == [True, True, False, True, True, False, False]
    assert on.capture.notes["timing"] == ["on"]
    assert len(on.capture.notes["timing.unchanged"]) == 2


def test_profiling_flag_is_removed(run):
    off = run("flags", AKV_TIMING="off")
    assert off.out.splitlines()[:6] == [
        "null 0",
        "plain 1",
        "profiled 1",
        "chain 0 1",
        "other 0",
        "discards 16",
    ]
    assert not off.capture.devices


def test_every_event_has_its_times_once_and_is_let_go(run):
    done = run("events", AKV_TIMING="on")
    capture = done.capture
    copies = capture.of("urEnqueueUSMMemcpy")
    assert [row["call"] for row in capture.devices] == [call["index"] for call in copies]
    for number, row in enumerate(capture.devices, 1):
        assert [row[c] for c in ("queued", "submitted", "start", "end")] == [
            1000 * number + n for n in range(4)
        ]
        assert row["event"] == copies[number - 1]["event"] != 0
    assert [bool(call["flags"] & ASKED) for call in copies] == [False] * 100 + [True] * 100
    assert capture.header.events_asked == 100
    assert (capture.header.device_times_lost, capture.header.device_times_unread) == (0, 0)
    assert done.said("live") == done.said("left") == ["0"]
    # What the recorder asked the runtime is in no record.
    assert capture.by_name().keys() == {"urAdapterGet", "urContextCreate", "urDeviceGet", "urQueueCreate",
                                        "urEnqueueUSMMemcpy", "urEventRelease", "urQueueFinish"}  # fmt: skip


def test_brackets_of_both_clocks(run):
    clocks = run("events", AKV_TIMING="on", AKV_CLOCK_MS="0").capture.clocks
    assert len(clocks) == 2  # the first queue of the device, and the end
    for clock in clocks:
        assert clock["before_ns"] + 5000 <= clock["device_time"] <= clock["after_ns"] + 5000
        assert clock["resolution"] == 40


def test_a_full_ring_is_counted_and_every_event_is_let_go(run):
    done = run("overflow", AKV_TIMING="on")
    header = done.capture.header
    assert header.device_times_lost > 0
    assert len(done.capture.devices) + header.device_times_lost + header.device_times_unread == 20000
    assert done.said("left") == ["0"]


def test_what_a_queue_leaves_unfinished_is_counted_and_let_go_before_it_ends(run):
    done = run("release", AKV_TIMING="on")
    assert done.said("live") == ["5"]  # those of the other queue
    assert (
        done.capture.header.device_times_unread == 10
    )  # five at the release, five at the end of the process
    assert not done.capture.devices


def test_nothing_is_read_after_the_adapter_was_released(run):
    done = run("teardown", AKV_TIMING="on")
    assert done.capture.header.device_times_unread == 1
    assert done.said("left") == ["0"]


@pytest.mark.parametrize("timing", ["asis", "on", "off"])
def test_errno_is_the_programs(run, timing):
    done = run("errno", AKV_TIMING=timing)
    assert (done.said("create"), done.said("enqueue"), done.said("wait")) == (["17"], ["4242"], ["19"])


def test_threads(run):
    done = run("threads", AKV_TIMING="on")
    capture = done.capture
    assert capture.by_name()["urEnqueueUSMMemcpy"] == capture.by_name()["urEventRelease"] == 12000
    header = capture.header
    assert len(capture.devices) + header.device_times_lost + header.device_times_unread == 12000
    assert len({row["call"] for row in capture.devices}) == len(capture.devices)
    event_of = {call["index"]: call["event"] for call in capture.of("urEnqueueUSMMemcpy")}
    assert all(event_of[row["call"]] == row["event"] for row in capture.devices)
    assert len({call["thread"] for call in capture.of("urEnqueueUSMMemcpy")}) == 4
    assert done.said("left") == ["0"]


def test_a_forked_child_has_a_file_of_its_own_and_leaves_its_parents_events_alone(run):
    done = run("fork", AKV_TIMING="on")
    child, parent = sorted(done.captures, key=lambda capture: len(capture.devices))
    assert (len(child.devices), len(parent.devices)) == (3, 7)
    assert child.header.parent_pid == parent.header.pid
    for capture in (child, parent):
        assert {row["call"] for row in capture.devices} <= {
            c["index"] for c in capture.of("urEnqueueUSMMemcpy")
        }


@pytest.mark.parametrize(
    ("how", "code"), [("_exit", 0), ("term", -signal.SIGTERM), ("kill", -signal.SIGKILL)]
)
def test_every_call_is_there_after_a_sudden_end(run, how, code):
    done = run(how)
    assert done.code == code
    assert done.capture.by_name()["urEnqueueUSMMemcpy"] == 1000
    assert not done.capture.header.closed


def test_a_call_that_the_runtime_does_not_have_fails_and_does_no_harm(run):
    done = run("missing")
    assert done.said("missing") == ["37"]  # UR_RESULT_ERROR_UNINITIALIZED
    assert done.code == 0


def test_a_runtime_of_an_unknown_release_is_passed_through_and_counted(tmp_path):
    """The prototypes of another release may differ: the arguments must arrive untouched, and no role is guessed."""
    build_shim()
    folder = compile_program(tmp_path, '-DRELEASE="2024.1.0"')
    done = run_under_shim(
        tmp_path / "log", [folder / "main", folder / "libprogram.so", "every"], AKV_TIMING="on"
    )
    assert (done.code, done.said("failed")) == (0, ["4"])
    capture = done.capture
    assert not capture.calls
    assert capture.notes["exports"] == ["unknown release of libur_loader.so.0 oneAPI Compiler 2024.1.0"]
    assert capture.counts["urEnqueueUSMMemcpy"] == 11 and capture.counts["urEnqueueKernelLaunch"] == 2


def test_without_a_folder_the_program_is_left_alone(run):
    done = run("events", AKV_DIR="", AKV_TIMING="on")
    assert (done.code, done.captures, done.said("live")) == (0, [], ["0"])


@pytest.mark.parametrize("first", [True, False])
def test_rtld_next_of_another_preloaded_library_stays_right(tmp_path, first):
    build_shim()
    other = compile_c(tmp_path / "libnext.so", "next.c", options=["-shared", "-fPIC", "-fno-builtin", "-ldl"])
    program = compile_c(tmp_path / "puts", "puts.c", options=["-fno-builtin"])
    settings = {} if first else {"LD_PRELOAD": f"{other}:{build_shim()}"}
    done = run_under_shim(tmp_path / "log", [program], preload=[other], **settings)
    assert (done.code, done.out) == (0, "wrapped\ntext\n")


def test_only_calls_and_dlsym_leave_the_library():
    library = build_shim()
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    names = {line.split()[-1] for line in listed.splitlines()}
    assert {"dlsym", "urEnqueueKernelLaunch", "urEnqueueKernelLaunchWithArgsExp"} <= names
    assert not [name for name in names if not name.startswith("ur") and name != "dlsym"]
    assert not [name for name in names if "@" in name or name.endswith("ProcAddrTable")]
    assert "dlopen" not in names
