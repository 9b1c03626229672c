"""Captures of SYCL programs under the Unified Runtime shim, as `make test` has both: one release that is seen, one not."""

from __future__ import annotations

import pytest
from bundles import ask, read_in
from capturing import Capture, Captured
from ur_captures import LIBRARY, build_shim, runtime

COPIES = 50
PROGRAM = f"""
import dpctl, dpctl.memory
queue = dpctl.SyclQueue()
a, b = (dpctl.memory.MemoryUSMShared(256, queue=queue) for _ in "ab")
for _ in range({COPIES}): queue.memcpy(b, a, 256)
queue.wait()
"""


@pytest.fixture(scope="module", autouse=True)
def shim() -> None:
    build_shim()


def sycl(capture: Capture, release: str, *options: str) -> Captured:
    """On a loaded machine the device cannot be made now and then: tried again under another name."""
    environment = runtime(release)
    variables = {"LD_LIBRARY_PATH": str(environment / "lib"), "OCL_ICD_FILENAMES": "libintelocl.so"}
    for attempt in range(5):
        done = capture(
            "edge", [environment / "bin/python", "-c", PROGRAM], "--runtime", "ur", *options,
            name=f"run-{attempt}", AKVSITE_SHIM=str(LIBRARY.parent), **variables,
        )  # fmt: skip
        if done.code in (0, 3):
            return done
        assert "could not be created" in done.err or "No device" in done.err, done.err
    raise AssertionError("no device in five attempts")


def test_every_copy_is_in_the_bundle_with_its_time_on_the_device(capture: Capture) -> None:
    done = sycl(capture, "2025.3", "--timing", "on", "--compress")
    assert done.code == 0 and done.err == ""
    store = done.bundle.parent / "akvsite.db"
    read_in(store, done.bundle)
    (calls,) = ask(
        store, "SELECT count(*) AS n FROM level4_edge WHERE name = 'urEnqueueUSMMemcpy' AND result = 0"
    )
    assert calls["n"] == COPIES
    (copies,) = ask(
        store, "SELECT count(*) AS n FROM level3_device WHERE kind = 'copy' AND end_ns >= start_ns"
    )
    assert copies["n"] == COPIES
    (run,) = ask(store, "SELECT level, timing FROM run")
    assert run == {"level": 4, "timing": "on"}
    assert done.facts["software"]["intel-sycl-rt"].startswith("2025.3")
    assert "libsycl.so.8" in done.facts["capture"]["runtime_libraries"].split(", ")


def test_a_release_whose_runtime_is_out_of_sight_is_named(capture: Capture) -> None:
    done = sycl(capture, "2026.2")
    assert done.code == 3
    (line,) = done.err.splitlines()
    assert line.startswith("akvsite: 0 calls seen; runtime libraries mapped: ") and "libsycl.so.9, " in line
    assert "libsycl.so.9 holds its loader" in line


def test_the_shim_on_a_runtime_that_hides_its_functions(capture: Capture, toys: object) -> None:
    done = capture("edge", [f"{toys}/hidden"], AKVSITE_SHIM=str(LIBRARY.parent))
    assert done.code == 3
    assert done.err.startswith("akvsite: 0 calls seen; runtime libraries mapped: libsycl.so.99; ")
