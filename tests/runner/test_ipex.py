"""IPEX's operators compute what torch's do: float32 tokens alike, bfloat16 by logits; a capture tells them apart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from across import BFLOAT16, FLOAT32, made, rms
from bundles import ask, read_in
from capturing import environment, words
from engines import TINY, cache

from akvsite.errors import BadInput
from akvsite.runner import backends
from akvsite.runner.config import Levers

pytest.importorskip("torch")

#: IPEX's, by the names under which torch's profiler shows them.
NATIVE = (
    "torch_ipex::rmsnorm",
    "torch_ipex::rotary_position_embedding",
    "torch_ipex::single_query_cached_kv_attention",
    "torch_ipex::ipex_MKLSGEMM",
)


@pytest.fixture(scope="module")
def runs() -> dict[str, Any]:
    """In a process of its own, since importing IPEX changes torch: without it first."""
    names = ("float32", "bfloat16", "ipex tokens", "ipex float32", "ipex bfloat16", "other angles")
    wanted = (
        {"of": "logits"},
        {"of": "logits", "dtype": "bfloat16"},
        {"ipex": True},
        {"of": "logits", "ipex": True},
        {"of": "logits", "ipex": True, "dtype": "bfloat16"},
        {"of": "logits", "ipex": True, "dtype": "bfloat16", "theta": 10_000.0},
    )
    made_here = made(sys.executable, *wanted)
    found = dict(zip(names, made_here, strict=True))
    logits = {name: np.array(one["logits"]) if "logits" in one else one for name, one in found.items()}
    return {**logits, "imported": [one["ipex imported"] for one in made_here if "logits" in one]}


def test_float32_logits_differ_by_rounding(runs: dict[str, Any]) -> None:
    assert rms(runs["ipex float32"] - runs["float32"]) < FLOAT32 * rms(runs["float32"])


@pytest.mark.parametrize("other", ["bfloat16", "float32"])
def test_bfloat16_logits_differ_by_rounding(runs: dict[str, Any], other: str) -> None:
    off = rms(runs["ipex bfloat16"] - runs[other]) / rms(runs["float32"])
    # Not by nothing either: then it would not have been IPEX, or not bfloat16.
    assert BFLOAT16 / 20 < off < BFLOAT16
    assert rms(runs["other angles"] - runs["float32"]) / rms(runs["float32"]) > 5 * BFLOAT16


def test_facts_name_the_operators(runs: dict[str, Any]) -> None:
    facts = runs["ipex tokens"]["facts"]
    assert facts["ipex"].startswith("2.8.0")
    assert facts["ipex.operators"] == "rms_norm, rotary_embedding, PagedAttention"
    matrices = 4 * TINY.layers + 1
    assert facts["ipex.matrices packed"] == f"{matrices} of {matrices}"


def captured(folder: Path, name: str, *options: str) -> tuple[Path, dict[str, Any]]:
    command = [
        sys.executable, "-m", "akvsite.runner", "--requests", "4", "--prompt-tokens", "8", "--output-tokens", "12",
        "--schedule", "fixed", "--no-client", "--warm-up-steps", "0", "--device-records", "profiler", "--profile-steps",
        "4:5", "--json", *options,
    ]  # fmt: skip
    done = subprocess.run(
        words(folder, name, "--level", "host", command=command),
        env=environment(OMP_NUM_THREADS="1"), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return folder / name, counts


def test_captures_with_and_without_have_the_same_tokens_and_other_operators(tmp_path: Path) -> None:
    seen: dict[str, set[str]] = {}
    tokens = set()
    for name, options in (("with", ["--ipex"]), ("without", [])):
        bundle, counts = captured(tmp_path, name, *options)
        tokens.add(counts["tokens_sha256"])
        store = tmp_path / f"{name}.db"
        read_in(store, bundle)
        seen[name] = {row["name"] for row in ask(store, "SELECT DISTINCT name FROM level2_host")}
        (steps,) = ask(store, "SELECT count(*) AS n FROM step WHERE kind = 'decode' AND source = 'probe'")
        assert steps["n"] == counts["decode_steps"]
    assert len(tokens) == 1
    assert set(NATIVE) <= seen["with"]
    assert not {operator for operator in seen["without"] if "ipex" in operator}
    assert "attention" in seen["with"] and "attention" in seen["without"]


def test_without_ipex_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "intel_extension_for_pytorch", None)
    with pytest.raises(BadInput) as refused:
        backends.make("torch", "cpu", TINY, cache(), Levers(ipex=True), 0)
    assert str(refused.value) == "--ipex: needs intel_extension_for_pytorch 2.8.0 beside torch 2.8"


def test_without_being_asked_ipex_is_not_imported(runs: dict[str, Any]) -> None:
    assert runs["imported"] == [False, False, True, True, True]


def test_a_compiler_beside_it_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^--ipex: and --compile"):
        backends.make("torch", "cpu", TINY, cache(), Levers(ipex=True, compile="default"), 0)
