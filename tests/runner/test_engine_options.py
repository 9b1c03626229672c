"""The engine's command line: what cannot be met is refused in one line, before anything is run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from capturing import environment

from akvsite.runner import __main__ as program
from akvsite.runner import options
from akvsite.runner.config import SHAPES


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--backend", "abacus"], "--backend: is 'abacus'; one of"),
        (["--device", "tpu"], "--device: is 'tpu'"),
        (["--graphs"], "--graphs: needs CUDA graphs"),
        (["--blocks", "5"], "--blocks: is 5, and one request may need 6 of 16 tokens"),
        (["--device-records", "profiler"], "--profile-steps: and --device-records profiler go together"),
        (["--profile-steps", "1:2"], "--profile-steps: and --device-records profiler go together"),
        (["--device-records", "profiler", "--profile-steps", "9:3"], "is '9:3', and not A:B"),
        (["--device-records", "profiler", "--profile-steps", "9"], "is '9', and not A:B"),
        (["--device-records", "profiler", "--profile-steps", "1:3"], "AKV_FILES"),
        (["--device-records", "events"], "needs a backend and a device with queues"),
        (["--memory-snapshot"], "$AKV_FILES names no folder"),
        (["--result", "/nowhere/at/all"], "--result: /nowhere/at/all: the folder is not there"),
        (["--result", "/dev/null"], "--result: /dev/null: is no file, and would be replaced by one"),
        (["--result", "x" * 300], "File name too long"),
        (["--max-batch", "1000000000"], "--model: with its buffers does not fit into the memory of cpu"),
        (["--blocks", "1000000000", "--block-tokens", "1000"], "does not fit into the memory of cpu"),
        (["--port", "70000"], "--port: 70000"),
    ],
)
def test_what_cannot_be_met_is_refused(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.delenv("AKV_FILES", raising=False)
    assert program.main([*arguments, "--requests", "1", "--warm-up-steps", "0"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("akvsite.runner: ") and why in line


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--requests", "0"], "argument --requests: 0 is not from 1 to 1000000000"),
        (["--warm-up-steps", "-1"], "argument --warm-up-steps: -1 is not from 0 to 1000000000"),
        (["--layers", "x"], "argument --layers: 'x' is no whole number"),
        (["--layers", "100000000"], "argument --layers: 100000000 is not from 1 to 10000"),
        (["--seed", "9" * 20], f"argument --seed: {'9' * 20} is not from -1099511627776 to 1099511627776"),
        (["--output", "5"], "unrecognized arguments: --output 5"),
        (["--colour\x1b[31m"], "unrecognized arguments: --colour\\u001b[31m"),
    ],
)
def test_a_number_that_is_none_is_refused_in_one_line(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        options.parsed(arguments)
    assert refused.value.code == 2
    assert capsys.readouterr().err == f"akvsite.runner: {why}\n"


def test_a_run_without_options_is_a_small_one() -> None:
    asked = options.parsed([])
    assert (asked.backend, asked.device, asked.shape) == ("torch", "cpu", SHAPES["tiny"])
    assert asked.cache.max_context == asked.work.max_context == 96
    assert asked.cache.blocks == asked.cache.max_batch * 6
    assert options.parsed(["--exact", "--layers", "5"]).shape.layers == 5
    assert options.parsed(["--exact"]).work.max_context == 64
    assert options.parsed(["--no-client"]).work.schedule == "fixed"
    assert not options.parsed(["--no-prefetch"]).levers.prefetch


def test_help_shows_an_example_and_loads_no_backend() -> None:
    code = "import sys, runpy\ntry:\n runpy.run_module('akvsite.runner', run_name='__main__')\nfinally:\n print([m for m in ('torch', 'dpctl', 'numpy', 'typer') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], env=environment(), capture_output=True, text=True, check=True
    )
    assert "akvsite capture --level host" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_client_keeps_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    result = tmp_path / "result.json"
    given = ["--no-client", "--requests", "2", "--output-tokens", "4", "--warm-up-steps", "0", "--json"]
    assert program.main([*given, "--result", str(result)]) == 0
    counts, kept = json.loads(capsys.readouterr().out), json.loads(result.read_text())
    assert counts["tokens_sha256"] == kept["tokens_sha256"]
    assert counts["prefill_steps"] + counts["decode_steps"] == len(kept["steps"])
    assert kept["facts"]["backend"] == "torch cpu" and all(isinstance(v, str) for v in kept["facts"].values())
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
