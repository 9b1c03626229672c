"""The CUDA library without a GPU: NVIDIA's own runtime, which then refuses every call, and entries fetched by name.

What it sees of a real GPU's program is in the captures, and tests of those compare it with a Kineto trace.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from akvsite.scan import Log, open_log

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIBRARY = ROOT / "shim/build/libakv_cudart.so"
CUDA = ROOT / ".venv/cuda-13.0/nvidia/cu13"
NO_DRIVER = 35  # cudaErrorInsufficientDriver

PROGRAM = """
#include <cuda_runtime_api.h>
#include <errno.h>
#include <string.h>
int main(void) {
  void *p = 0;
  cudaEvent_t event = 0;
  int device;
  errno = 42;
  for (int n = 0; n < 5; n++) cudaMalloc(&p, 1000 + n);
  cudaMemcpyAsync((void *)16, (void *)32, 64, cudaMemcpyHostToDevice, 0);
  cudaEventCreateWithFlags(&event, 0);
  cudaStreamSynchronize((cudaStream_t)0x2);
  for (int n = 0; n < 7; n++) cudaGetDevice(&device);
  return errno == 42 ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def cuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs of these tests, and the library to preload."""
    assert LIBRARY.exists(), "make shim builds it"
    folder = tmp_path_factory.mktemp("cuda")
    (folder / "runtime.c").write_text(PROGRAM)
    compile = ["cc", "-std=gnu11", "-O1", "-Wall", "-Werror"]
    subprocess.run(
        [*compile, f"-I{CUDA}/include", folder / "runtime.c", "-o", folder / "runtime", f"-L{CUDA}/lib", "-l:libcudart.so.13"],
        check=True,
    )  # fmt: skip
    soname = "-Wl,-soname,libcuda.so.1"
    driver = folder / "libcuda.so.1"
    subprocess.run([*compile, "-fPIC", "-shared", soname, HERE / "toy_driver.c", "-o", driver], check=True)
    subprocess.run([*compile, HERE / "toy_driver_user.c", "-o", folder / "fetches", "-ldl"], check=True)
    return folder


def recorded(program: Path, records: Path, *preload: Path, library_path: Path) -> Log:
    environment = os.environ | {
        "AKV_DIR": str(records),
        "LD_PRELOAD": ":".join(map(str, preload or (LIBRARY,))),
        "LD_LIBRARY_PATH": str(library_path),
    }
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = records.glob("cudart-*.akvlog")
    return open_log(path)


def names(log: Log, what: int = 1) -> dict[int, str]:
    return {row["id"]: row["text"] for row in log.names.to_pylist() if row["what"] == what}


def notes(log: Log) -> set[str]:
    return {row["text"] for row in log.names.to_pylist() if row["what"] == 4}


def test_the_runtimes_calls_are_recorded_with_what_they_were_given(cuda: Path, tmp_path: Path) -> None:
    log = recorded(cuda / "runtime", tmp_path, library_path=CUDA / "lib")
    called = names(log)
    calls = log.table("calls").to_pylist()
    assert [called[c["name"]] for c in calls] == [
        *["cudaMalloc"] * 5, "cudaMemcpyAsync", "cudaEventCreateWithFlags", "cudaStreamSynchronize",
    ]  # fmt: skip
    # Without a driver each is refused, and says so.
    assert {c["result"] for c in calls} == {NO_DRIVER}
    assert [c["bytes"] for c in calls[:6]] == [1000, 1001, 1002, 1003, 1004, 64]
    assert calls[5]["addresses"] == [16, 32] and calls[5]["object"] == 16
    assert calls[7]["queue"] == 2 and calls[7]["flags"] & 1
    # What is asked all the time is counted and not timed.
    assert {called[row["id"]]: row["count"] for row in log.counts.to_pylist()} == {"cudaGetDevice": 7}
    assert "runtime=libcudart.so.13" in notes(log)


def test_entries_that_a_library_fetches_for_itself_are_seen(cuda: Path, tmp_path: Path) -> None:
    log = recorded(cuda / "fetches", tmp_path, library_path=cuda)
    called = names(log)
    calls = log.table("calls").to_pylist()
    assert Counter(called[c["name"]] for c in calls) == {
        "cuLaunchKernel": 3,
        "cuLaunchKernelEx": 2,
        "cuCtxSynchronize": 1,
        "cuCtxSynchronize_v2": 1,
        # Of six versions of one entry four have a place; the others go by unseen, and it says so.
        "cuStreamSynchronize": 4,
    }
    assert {c["result"] for c in calls} == {0}
    assert calls[0]["queue"] == 9 and calls[0]["object"] == 0x1000 and calls[0]["work"] == [1, 2, 3, 64, 1, 1]
    assert calls[3]["queue"] == 5 and calls[3]["object"] == 0x2000 and calls[3]["work"] == [4, 3, 2, 32, 1, 1]
    assert {"fetches=fetches"} <= notes(log)
    assert {note for note in notes(log) if note.startswith("unseen=")} == {
        "unseen=cuLaunchKernelEx: version 14000 is newer than the headers",
        "unseen=cuStreamSynchronize: fetched in more than 4 versions",
    }
    # A kernel is named once, at its first launch; one without a name stays without.
    texts = {row["offset"]: row["text"] for row in log.names.to_pylist()}
    (named,) = log.table("objects").to_pylist()
    assert named["handle"] == 0x1000 and texts[named["name_offset"]] == "toy_kernel(float *)"


def test_beside_the_other_library_both_see_their_own(cuda: Path, tmp_path: Path) -> None:
    both = [LIBRARY.with_name("libakv_ur.so"), LIBRARY]
    for number, order in enumerate((both, both[::-1])):
        records = tmp_path / str(number)
        records.mkdir()
        log = recorded(cuda / "fetches", records, *order, library_path=cuda)
        assert log.tally().present[2] == 11
        assert not list(records.glob("ur-*.akvlog"))


def test_torch_runs_as_before(tmp_path: Path) -> None:
    """Torch's CUDA build on a machine without a driver: it says that there is no device, with us and without."""
    pytest.importorskip("torch")
    code = "import torch; print(torch.cuda.is_available(), torch.arange(4).sum().item())"
    python = ROOT / ".venv/bin/python"
    environment = os.environ | {"AKV_DIR": str(tmp_path), "LD_PRELOAD": str(LIBRARY)}
    done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.split()[1] == "6"
