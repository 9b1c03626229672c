from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import probes
import pytest
from capturing import ROOT, Capture, Captured, compile, environment, words

HERE = Path(__file__).parent
SHIM = ROOT / "shim"


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    """``capture(level, [command], *options)`` in a process of its own."""

    def run(
        level: str, command: list[str | Path], *options: str, name: str = "run", **variables: str
    ) -> Captured:
        out = tmp_path / "captures"
        done = subprocess.run(
            words(out, name, "--level", level, *options, command=command),
            env=environment(**variables), cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        return Captured(done.returncode, done.stdout, done.stderr, out / name)

    return run


@pytest.fixture(params=["native", "python"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each of the two probes."""
    return str(request.param)


@pytest.fixture
def run(engine: str, tmp_path: Path) -> probes.Probe:
    """``run(script, level)``: a script that uses the probe, in a process of its own."""
    return partial(probes.run, engine, tmp_path)


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``shim/libakv_ur.so`` (the toy recorder), ``toy``, and ``hidden`` with its own runtime library."""
    folder = tmp_path_factory.mktemp("toys")
    (folder / "shim").mkdir()
    shared = ["-shared", "-fPIC", "-fvisibility=hidden"]
    recorder = [f"-I{SHIM}", HERE / "toy_shim.c", *(SHIM / "recorder").glob("*.c"), '-DAKV_VERSION="0"']
    compile(folder / "shim/libakv_ur.so", *shared, *recorder, "-pthread", "-ldl")
    compile(folder / "toy", HERE / "toy_program.c", "-ldl")
    runtime = compile(folder / "libsycl.so.99", *shared, HERE / "hidden_runtime.c")
    compile(folder / "hidden", HERE / "hidden_program.c", runtime, f"-Wl,-rpath,{folder}")
    compile(folder / "static", HERE / "hidden_program.c", HERE / "hidden_runtime.c", "-static")
    return folder
