"""What the wrappers are made from: the description of the calls, the layouts of the tables, the stubs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ur_captures import SHIM, SOURCES, compile_c, runtime

HEADERS = {"2025.3": "include/ur_api.h", "2026.2": "include/unified-runtime/ur_api.h"}
EXPECTED = Path(__file__).parent / "ur" / "calls.txt"


def python(script: str, *arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [runtime("2026.2") / "bin" / "python", SHIM / "ur" / script, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done


def headers() -> list[str]:
    return [f"{release}={runtime(release) / header}" for release, header in HEADERS.items()]


def test_what_is_recorded_of_each_call(bless):
    listed = python("generate.py", "--list", *headers()).stdout
    if bless:
        EXPECTED.write_text(listed)
    assert listed == EXPECTED.read_text()


@pytest.mark.parametrize(
    ("release", "adapters", "header"),
    [
        ("2025.3", ["opencl", "level_zero", "level_zero_v2"], None),
        ("2026.2", ["level_zero", "level_zero_v2"], "include/unified-runtime/ur_ddi.h"),
    ],
)
def test_the_layouts_are_what_the_adapters_and_their_header_say(release, adapters, header, monkeypatch):
    library = runtime(release) / "lib"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
    options = ["--header", runtime(release) / header] if header else []
    paths = [library / f"libur_adapter_{adapter}.so.0" for adapter in adapters]
    made = python("layout.py", *paths, *options).stdout
    assert made == (SHIM / "ur" / "layouts" / f"{release}.txt").read_text()


def test_the_header_of_one_release_is_refused_for_the_adapters_of_another(monkeypatch):
    library = runtime("2025.3") / "lib"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
    header = runtime("2026.2") / "include/unified-runtime/ur_ddi.h"
    done = python("layout.py", library / "libur_adapter_level_zero.so.0", "--header", header, code=2)
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "ur_ddi.h: entry 28 is urEventCreateExp, in the adapters urProgramCreateWithIL" in line


def test_a_layout_that_is_not_understood_is_named(tmp_path):
    made = python("generate.py", tmp_path / "out", "x=/nowhere/ur_api.h", code=2)
    assert len(made.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_entries_and_stubs_hand_every_argument_on(tmp_path):
    python("generate.py", tmp_path, *headers(), "--without", "urUSMFree")
    stubs = tmp_path / "stubs.S"
    program = compile_c(tmp_path / "program", SOURCES / "stub_test.c", stubs, options=[f"-I{SHIM / 'ur'}"])
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    names = (tmp_path / "names.h").read_text()
    number = [line.strip(" ,") for line in names.splitlines() if line.startswith("  N_")].index("N_urUSMFree")
    assert done.stdout == f"87654321.625\nway 0\n87654321.625\nway 3 name {number}\n"
