"""The Unified Runtime shim under real SYCL programs, on the CPU device of the OpenCL runtime."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from ur_captures import Run, build_shim, compile_c, run_sycl, runtime

TENSORS = """
import dpctl.tensor as dpt
a = dpt.arange(1000, dtype="f4")
b = a * 2 + 1
print(float(dpt.sum(b)))
print(float(dpt.asnumpy(b)[999]))
"""
# How often a program asks for an event and waits for it depends on when the device is done.
POLLING = {"urEventGetInfo", "urEventWait"}
# Calls of the loader itself, which lie above what the vendor's trace is told of.
OF_THE_LOADER = {
    "urLoaderConfigCreate",
    "urLoaderConfigEnableLayer",
    "urLoaderConfigRelease",
    "urLoaderConfigSetCodeLocationCallback",
    "urLoaderInit",
    "urLoaderTearDown",
}
# What the recorder asks of a device when it sees it first: name and driver (size and text), tick of the clock. By
# exported symbols these pass the vendor's trace; they are in no record.
ASKED_BY_THE_RECORDER = Counter(urDeviceGetInfo=5)


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    build_shim()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The same program by both ways in, with device times and beside the vendor's trace."""
    return {
        path: run_sycl(tmp_path_factory.mktemp(path), "2025.3", TENSORS, AKV_UR_PATH=path, AKV_TIMING="on")
        for path in ("exports", "tables")
    }


def traced(folder: Path, path: str) -> tuple[Counter[str], Counter[str]]:
    run = run_sycl(folder, "2025.3", TENSORS, AKV_UR_PATH=path, SYCL_UR_TRACE="2")
    return run.capture.by_name(), Counter(re.findall(r"<--- (ur\w+)\(", run.out + run.err))


def test_calls_by_exported_symbols_are_those_of_the_vendors_trace(tmp_path):
    ours, vendor = traced(tmp_path, "exports")
    assert vendor.total() > 200
    assert vendor - ours == ASKED_BY_THE_RECORDER
    assert {name for name in ours if name not in vendor} <= OF_THE_LOADER
    assert not [name for name in vendor if ours[name] > vendor[name]]


def test_calls_by_tables_are_those_of_the_vendors_trace(tmp_path):
    ours, vendor = traced(tmp_path, "tables")
    assert vendor.total() > 200
    # The call that finds the adapter is not recorded: before it there is no table.
    assert vendor - ours == {"urAdapterGet": vendor["urAdapterGet"]}
    assert not ours - vendor


def test_both_ways_in_see_the_same(runs):
    exports, tables = (runs[path].capture for path in ("exports", "tables"))
    assert exports.notes["path"] == ["exports"] and tables.notes["path"] == ["tables"]
    assert tables.notes["tables"] == ["libur_adapter_opencl.so.0 2025.3"]
    differs = {n for n in exports.by_name() | tables.by_name() if exports.by_name()[n] != tables.by_name()[n]}
    assert differs <= POLLING | OF_THE_LOADER | {"urAdapterGet"}
    assert any(name.startswith("urEnqueue") for name in exports.by_name())


@pytest.mark.parametrize("path", ["exports", "tables"])
def test_kernels_and_copies_have_names_and_times(runs, path):
    run = runs[path]
    capture = run.capture
    assert run.out.split() == ["1000000.0", "1999.0"]
    launches, copies = capture.of("urEnqueueKernelLaunch"), capture.of("urEnqueueUSMMemcpy")
    assert len(launches) >= 4 and len(copies) >= 2
    assert all("dpctl" in capture.kernels[call["object"]] for call in launches)
    assert all(len(call["work"]) in (3, 6) and call["work"][0] for call in launches)
    times = {row["call"]: row for row in capture.devices}
    assert len(times) == len(capture.devices)
    for call in launches + copies:
        row = times[call["index"]]
        assert (row["result"], row["event"]) == (0, call["event"])
        assert 0 < row["queued"] <= row["submitted"] <= row["start"] <= row["end"]
    assert (capture.header.device_times_lost, capture.header.device_times_unread) == (0, 0)


@pytest.mark.parametrize("path", ["exports", "tables"])
def test_brackets_hold_the_clock_of_the_device(runs, path):
    clocks = runs[path].capture.clocks
    assert len(clocks) >= 2
    for clock in clocks:
        # This device's clock is the host's, so its value lies within its own bracket.
        assert clock["before_ns"] <= clock["device_time"] <= clock["after_ns"]
        assert clock["result"] == 0 and clock["resolution"] > 0


def test_runtime_and_devices_are_noted(runs):
    notes = runs["exports"].capture.notes
    assert any(re.match(r"libsycl\.so\.8 .*2025\.3", text) for text in notes["runtime"])
    assert {"2025.3", "2026.2"} <= set(notes["headers"][0].split()) and notes["timing"] == ["on"]
    assert len(notes["device"]) == 1


def test_exported_symbols_are_the_rule_where_libsycl_imports_them(tmp_path):
    run = run_sycl(tmp_path, "2025.3", "import dpctl; dpctl.SyclQueue()")
    assert run.capture.notes["path"] == ["exports"]
    assert run.capture.by_name()["urQueueCreate"] >= 1


def test_the_cpu_device_of_2026_is_not_seen_and_nothing_looks_like_a_capture(tmp_path):
    code = "import dpctl; q = dpctl.SyclQueue(); q.wait(); print(q.sycl_device.name != '')"
    run = run_sycl(tmp_path, "2026.2", code)
    assert run.out.strip() == "True"
    assert not run.captures
    (mapped,) = run.folder.glob("maps-*.txt")
    assert "libsycl.so.9" in mapped.read_text().split()


# Fetches the tables as a loader does, and says whether the shim put itself into the one that makes adapters.
LOAD = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else {path!r})
table = (ctypes.c_void_p * 16)()
assert library.urGetAdapterProcAddrTable(12, table) == 0
def mapped(address):
    for line in open("/proc/self/maps"):
        start, end = (int(text, 16) for text in line.split()[0].split("-"))
        if start <= address < end:
            return line.split()[-1].rpartition("/")[2]
print(mapped(table[0]), mapped(table[1]))
count = ctypes.c_uint32(0)
get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)(table[0])
handles = (ctypes.c_void_p * 4)()
print(get(4, handles, ctypes.byref(count)), count.value)
"""


@pytest.mark.parametrize("release", ["2025.3", "2026.2"])
@pytest.mark.parametrize("adapter", ["level_zero", "level_zero_v2"])
def test_level_zero_adapters_are_known_without_hardware(tmp_path, release, adapter):
    path = runtime(release) / "lib" / f"libur_adapter_{adapter}.so.0"
    run = run_sycl(tmp_path, release, LOAD.format(path=str(path)))
    entries, got = run.out.splitlines()
    assert entries == f"libakv_ur.so {path.name}"
    if got.split()[1] == "0":  # no such device here: the table is never patched, and nothing is written
        assert not run.captures
    else:
        assert run.capture.notes["tables"] == [f"{path.name} {release}"]


def test_an_adapter_of_an_unknown_build_is_left_alone_and_named(tmp_path):
    known = runtime("2025.3") / "lib" / "libur_adapter_opencl.so.0"
    path = tmp_path / known.name
    shutil.copy(known, path)
    with path.open("ab") as file:
        file.write(b"\0")
    run = run_sycl(tmp_path / "log", "2025.3", LOAD.format(path=str(path)))
    entries, got = run.out.splitlines()
    assert entries == f"{path.name} {path.name}"
    assert got == "0 1"
    (note,) = run.capture.notes["tables"]
    assert re.fullmatch(r"unknown layout of libur_adapter_opencl\.so\.0 [0-9a-f]{16}", note)
    assert not run.capture.calls


def test_a_known_adapter_that_is_loaded_by_hand_is_patched(tmp_path):
    path = runtime("2025.3") / "lib" / "libur_adapter_opencl.so.0"
    run = run_sycl(tmp_path, "2025.3", LOAD.format(path=str(path)))
    assert run.out.splitlines() == [f"libakv_ur.so {path.name}", "0 1"]
    assert run.capture.notes["tables"] == [f"{path.name} 2025.3"]


# Two adapters of the same build, as two libraries with a table each.
TWICE = """
import ctypes
P, U = ctypes.c_void_p, ctypes.c_uint32
seen = []
for path in {paths!r}:
    library = ctypes.CDLL(path)
    table, handle = (P * 16)(), P()
    assert library.urGetAdapterProcAddrTable(12, table) == 0
    assert ctypes.CFUNCTYPE(ctypes.c_int, U, P, P)(table[0])(1, ctypes.byref(handle), None) == 0
    patched = ctypes.cast(ctypes.cast(handle, ctypes.POINTER(P))[0], ctypes.POINTER(P))
    backend = U()
    info = ctypes.CFUNCTYPE(ctypes.c_int, P, U, ctypes.c_size_t, P, P)(patched[4])
    assert info(handle, 0, 4, ctypes.byref(backend), None) == 0
    seen.append((patched[4], backend.value))
print(seen[0][0] != seen[1][0], [value for _, value in seen])
"""


def test_two_adapters_keep_their_originals_apart(tmp_path):
    known = runtime("2025.3") / "lib" / "libur_adapter_opencl.so.0"
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(str(shutil.copy(known, tmp_path / folder / known.name)))
    run = run_sycl(tmp_path / "log", "2025.3", TWICE.format(paths=paths))
    assert run.out.strip() == "True [2, 2]"
    assert [call["name"] for call in run.capture.calls] == ["urAdapterGetInfo"] * 2
    assert len({call["object"] for call in run.capture.calls}) == 2


@pytest.mark.parametrize(
    ("release", "headers"), [("2025.3", "include"), ("2026.2", "include/unified-runtime")]
)
def test_a_program_that_calls_the_loader_itself(tmp_path, release, headers):
    """Without SYCL exported symbols are the way in, in both releases; so 2026.2 is seen on the CPU here."""
    library = runtime(release) / "lib" / "libur_loader.so.0"
    includes = [f"-I{runtime(release) / 'include'}", f"-I{runtime(release) / headers}"]
    linked = [str(library), f"-Wl,-rpath,{library.parent}", f"-Wl,-rpath-link,{library.parent}"]
    program = compile_c(tmp_path / "program", "loader.c", options=[*includes, *linked])
    run = run_sycl(tmp_path / "log", release, program, AKV_TIMING="on")
    assert run.out == "7 7\n"
    capture = run.capture
    assert capture.notes["path"] == ["exports"]
    fill, copy, last = capture.of("urEnqueueUSMFill", "urEnqueueUSMMemcpy")
    assert (fill["bytes"], copy["bytes"], last["bytes"]) == (4096, 4096, 100)
    assert (copy["waits"], last["waits"]) == ([fill["event"]], [copy["event"]])
    assert copy["addresses"] == [copy["object"], fill["object"]]
    assert {row["call"] for row in capture.devices} == {fill["index"], copy["index"], last["index"]}
    assert all(row["result"] == 0 and 0 < row["start"] <= row["end"] for row in capture.devices)
    assert [bool(call["flags"] & 8) for call in (fill, copy, last)] == [False, False, True]
    assert capture.by_name()["urLoaderTearDown"] == 1
    assert (capture.header.device_times_lost, capture.header.device_times_unread) == (0, 0)
