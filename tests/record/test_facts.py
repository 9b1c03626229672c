"""What is written about host, devices, software and switches, and what never is."""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from capturing import ROOT, Capture
from hypothesis import given
from hypothesis import strategies as st

from akvsite.record import bundle, clean, device, host, program, software

SECRETS = {
    "VLLM_API_KEY": "sk-abcdefghijklmnop",
    "TORCH_TOKEN": "hf_abcdefghijklmnop",
    "NCCL_COMM_ID": "node7.lab:2345",
    "UR_PASSWORD": "hunter2-hunter2",
}


def test_a_bundle_gives_nobody_away(capture: Capture, toys: Path, tmp_path: Path) -> None:
    """Every byte of every file, whatever the environment and the command hold."""
    home = tmp_path / "home" / "ada-lovelace"
    home.mkdir(parents=True)
    switches = {
        "SYCL_CACHE_DIR": f"{home}/cache", "UR_LOG": f"level:info;output:file,{home}/ur.txt",
        "LD_PRELOAD": "libm.so.6", "HOME": str(home), "USER": "ada-lovelace", "LOGNAME": "ada-lovelace",
    }  # fmt: skip
    given = [
        "--host",
        "bench",
        "--note",
        f"see {home}/notes",
        "--engine",
        "mine",
        "--contract",
        f"model={home}/llama",
    ]
    command: list[str | Path] = [toys / "toy", "5", "exit", "--api-key", "sk-abcdefghijklmnop"]
    done = capture("edge", command, *given, AKVSITE_SHIM=str(toys / "shim"), **switches, **SECRETS)
    assert done.code == 0
    everything = b"".join(path.read_bytes() for path in done.bundle.rglob("*") if path.is_file())
    hidden = [str(tmp_path), str(ROOT), str(Path.home()), "ada-lovelace", "node7.lab", *SECRETS.values()]
    assert [text for text in hidden if text.encode() in everything] == []
    assert b"/tmp/" not in everything and b"/home/" not in everything
    environment = done.facts["software"]["environment"]
    assert environment["SYCL_CACHE_DIR"] == "cache"
    assert environment["LD_PRELOAD"] == "libakv_ur.so:libm.so.6"
    assert environment["dropped"] == len(SECRETS)
    assert done.facts["contract"]["model"] == "llama"


def test_names_of_this_machine_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean, "own_names", lambda: ("gpu7.lab", "gpu7", "ada"))
    assert (
        clean.clean("run by ada on gpu7.lab, not adamant") == "run by [redacted] on [redacted], not adamant"
    )
    facts: Any = {
        "a": None,
        "b": {"c": "on gpu7", "d": None},
        "e": {},
        "v": clean.Version("12.8.4.1"),
        "ip": "10.1.2.3",
    }
    assert clean.cleaned(facts) == {"b": {"c": "on [redacted]"}, "v": "12.8.4.1", "ip": "[redacted]"}
    assert clean.clean("x" * 5000).endswith("x…") and clean.clean("a\x1b[2J\nb") == "a\\u001b[2J b"


def test_switches_that_change_behaviour_are_kept() -> None:
    found = software.switches(
        {"OMP_NUM_THREADS": "4", "NEOReadDebugKeys": "1", "EDITOR": "vi", "KMP_SETTINGS": "1", "PATH": "/bin"}
    )
    assert found == {"KMP_SETTINGS": "1", "NEOReadDebugKeys": "1", "OMP_NUM_THREADS": "4", "dropped": None}
    assert software.looking({"SYCL_UR_TRACE": "0", "UR_ENABLE_LAYERS": "UR_LAYER_FULL_VALIDATION"}) == []
    assert software.looking({"SYCL_UR_TRACE": "-1", "UR_ENABLE_LAYERS": "UR_LAYER_TRACING"}) == [
        "UR_ENABLE_LAYERS", "SYCL_UR_TRACE",
    ]  # fmt: skip


def test_versions_are_those_of_the_commands_python(tmp_path: Path) -> None:
    """Metadata alone is read: a package that cannot even be imported has a version."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("raise SystemExit('imported')")
    (tmp_path / "torch-2.99.dist-info").mkdir()
    (tmp_path / "torch-2.99.dist-info/METADATA").write_text("Name: torch\nVersion: 2.99\n")
    noisy = tmp_path / "sitecustomize.py"
    noisy.write_text("print('akvsite-noise')\n")
    found = software.packages(Path(sys.executable), {"PYTHONPATH": str(tmp_path)})
    assert found["torch"] == "2.99"
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "nobody" in str(software.packages(None, {})["asked"])
    assert "no answer" in str(software.packages(Path("/bin/false"), {})["asked"])


def test_programs_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "serve"
    script.write_text(f"#!{sys.executable}\n")
    script.chmod(0o755)
    found = program.find([str(script), "--api-key", "x"])
    assert (found.about, found.python) == ("serve", Path(sys.executable))
    name = Path(sys.executable).name
    for words, about in (
        (["-u", "-X", "dev", "/x/decode.py", "--secret"], "decode.py"),
        (["-m", "vllm.serve", "x"], "-m vllm.serve"),
        (["-c", "secret()"], "-c …"),
        ([], ""),
    ):
        assert program.find([sys.executable, *words]).about == f"{name} {about}".strip()
    assert program.find(["sh"]).python is None
    monkeypatch.chdir(tmp_path)
    setuid = tmp_path / "raised"
    setuid.write_bytes(Path("/bin/true").read_bytes())
    setuid.chmod(0o4755)
    assert "more rights" in str(program.find(["./raised"]).refuses_preload)
    assert program.find(["true"]).refuses_preload is None


def test_what_cannot_be_known_is_left_out() -> None:
    about, load = host.about(), host.load()
    assert about["cpus"] == os.cpu_count()
    assert isinstance(load["load_1_min"], float)
    for facts in (about, load, device.about(), device.load()):
        assert 0 not in [v for k, v in facts.items() if k in ("memory_bytes", "clock_mhz", "governor")]


SMI = """#!/bin/sh
case "$1" in
  *,*) exit 2;;
  *=name) echo "NVIDIA H200"; echo "NVIDIA H200";;
  *=driver_version) echo "580.159.04"; echo "580.159.04";;
  *=power.draw) echo "127.5"; echo "[N/A]";;
  *) exit 2;;
esac
"""


def test_a_driver_that_does_not_know_a_field_is_asked_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(SMI)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    card = {"name": "NVIDIA H200", "driver": "580.159.04"}
    assert device.about() == {"gpu_0": card, "gpu_1": card}
    assert clean.cleaned(device.load()) == {"gpu_0": {"power_w": "127.5"}}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.one_of(TEXT, st.booleans(), st.integers(0, 2**62), st.floats(0, 1e9))


@given(st.dictionaries(TEXT, VALUES, max_size=5), st.dictionaries(TEXT, VALUES, max_size=3))
def test_a_declaration_says_what_it_was_given(plain: dict[str, Any], nested: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundle.write_declaration(Path(folder), {}, {"host": {**plain, "facts": nested}}, {"file": [plain]})
        found = tomllib.loads((Path(folder) / "capture.toml").read_text(encoding="utf-8"))
    host = found.get("host", {})
    assert (host.pop("facts", {}), host) == (nested, {k: v for k, v in plain.items() if k != "facts"})
    assert found["file"] == [plain] and found["format"] == 1
