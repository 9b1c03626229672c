"""Run a program under the Unified Runtime shim and read what it recorded."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from akvsite.scan import Header, open_log

ROOT = Path(__file__).parents[1]
SHIM = ROOT / "shim"
LIBRARY = SHIM / "build" / "libakv_ur.so"
SOURCES = Path(__file__).parent / "shim/ur"


def runtime(release: str) -> Path:
    """The environment with the SYCL runtime of one release, as scripts/setup.sh makes it."""
    return ROOT / ".venv" / f"sycl-{release}"


def build_shim() -> Path:
    """Build the library where it is not newer than its sources."""
    subprocess.run(["make", "--silent", "-C", str(SHIM), "ur"], check=True)
    return LIBRARY


def compile_c(out: Path, *sources: str | Path, options: Sequence[str] = ()) -> Path:
    paths = [SOURCES / source for source in sources]
    subprocess.run(["cc", "-O1", "-Wall", "-o", str(out), *map(str, paths), *options], check=True)
    return out


@dataclass
class Capture:
    """What one process recorded."""

    path: Path
    header: Header
    calls: list[dict[str, Any]] = field(default_factory=list)
    devices: list[dict[str, Any]] = field(default_factory=list)
    clocks: list[dict[str, Any]] = field(default_factory=list)
    kernels: dict[int, str] = field(default_factory=dict)  # handle to name
    notes: dict[str, list[str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # calls of which no more is known

    def by_name(self) -> Counter[str]:
        return Counter(call["name"] for call in self.calls)

    def of(self, *names: str) -> list[dict[str, Any]]:
        return [call for call in self.calls if call["name"] in names]


def read_capture(path: Path) -> Capture:
    with open_log(path, engine="python") as log:
        names = log.names.to_pylist()
        calls = {name["id"]: name["text"] for name in names if name["what"] == 1}
        texts = {name["offset"]: name["text"] for name in names}
        capture = Capture(path, log.header)
        capture.counts = {calls[row["id"]]: row["count"] for row in log.counts.to_pylist()}
        for key, _, value in (name["text"].partition("=") for name in names if name["what"] == 4):
            capture.notes.setdefault(key, []).append(value)
        rows = {table: [row for batch in log.batches(table) for row in batch.to_pylist()] for table in
                ("calls", "devices", "clocks", "objects")}  # fmt: skip
        capture.calls = [{**row, "name": calls[row["name"]]} for row in rows["calls"]]
        capture.devices, capture.clocks = rows["devices"], rows["clocks"]
        capture.kernels = {row["handle"]: texts[row["name_offset"]] for row in rows["objects"]}
    return capture


@dataclass
class Run:
    code: int
    out: str
    err: str
    captures: list[Capture]
    folder: Path

    @property
    def capture(self) -> Capture:
        (only,) = self.captures
        return only

    def said(self, key: str) -> list[str]:
        """The words of the line of output that begins with this one."""
        return next(line.split()[1:] for line in self.out.splitlines() if line.startswith(key + " "))


def run_under_shim(
    folder: Path, command: Sequence[str | Path], preload: Sequence[Path] = (), **settings: str
) -> Run:
    """Run a command with the shim preloaded; what it records goes into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("AKV_", "UR_", "SYCL_"))
    }
    environment |= {"AKV_DIR": str(folder), "LD_PRELOAD": ":".join(map(str, [LIBRARY, *preload]))} | settings
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=120
    )
    captures = [read_capture(path) for path in sorted(folder.glob("*.akvlog"))]
    return Run(done.returncode, done.stdout, done.stderr, captures, folder)


def run_sycl(folder: Path, release: str, program: str | Path, **settings: str) -> Run:
    """Run Python code, or a program, with the SYCL runtime of a release, on its CPU device.

    On a loaded machine the device cannot be created now and then; the attempt is made again into another folder.
    """
    environment = runtime(release)
    settings = {
        "LD_LIBRARY_PATH": str(environment / "lib"),
        "OCL_ICD_FILENAMES": "libintelocl.so",
        "PYTHONWARNINGS": "ignore",
    } | settings
    for attempt in range(5):
        command = [program] if isinstance(program, Path) else [environment / "bin" / "python", "-c", program]
        run = run_under_shim(folder / str(attempt), command, **settings)
        if run.code == 0:
            return run
        assert "could not be created" in run.err or "No device" in run.err, run.err
    raise AssertionError("no device in five attempts")
