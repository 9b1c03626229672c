"""SYCL computes what torch computes, whatever is prefetched, preempted or looked at; and the shim sees its calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from across import FLOAT32, SYCL, made, one, rms
from bundles import ask, read_in
from capturing import environment, words
from engines import TINY, WORK, cache, torch_tokens
from ur_captures import LIBRARY, build_shim

from akvsite import scan
from akvsite.errors import BadInput
from akvsite.runner import backends
from akvsite.runner.config import Levers

pytest.importorskip("torch")

BLOCKS = 11  # too few for a full batch
BLOCK_TOKENS = 8


@pytest.fixture(scope="module")
def sycl(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Runs in one process: the kernels of a process are compiled at their first use."""
    assert SYCL.is_file(), "`scripts/setup.sh test` makes this environment"
    folder = tmp_path_factory.mktemp("probe")
    names = (
        "plain",
        "on demand",
        "few blocks, looked at",
        "logits",
        "logits on demand",
        "logits, other angles",
        "logits, blocks late",
        "logits, blocks late and not waited for",
    )
    wanted = (
        {},
        {"prefetch": False},
        {"blocks": BLOCKS, "level": "host", "folder": str(folder)},
        {"of": "logits"},
        {"of": "logits", "prefetch": False},
        {"of": "logits", "theta": 10_000.0},
        {"of": "logits", "late": "ordered", "prefetch": False},
        {"of": "logits", "late": "unordered", "prefetch": False},
    )
    found = made(SYCL, *({"backend": "sycl", **one} for one in wanted))
    return {**dict(zip(names, found, strict=True)), "folder": folder}


def test_tokens_are_those_of_torch(sycl: dict[str, Any]) -> None:
    tokens, _ = torch_tokens()
    assert sycl["plain"]["sha256"] == tokens
    assert sycl["plain"]["finished"] == WORK.requests and sycl["plain"]["preempted"] == 0


def test_tokens_do_not_depend_on_prefetch_preemption_or_level(sycl: dict[str, Any]) -> None:
    assert sycl["on demand"]["sha256"] == sycl["plain"]["sha256"]
    looked_at = sycl["few blocks, looked at"]
    assert looked_at["preempted"] > 0
    assert looked_at["sha256"] == sycl["plain"]["sha256"]
    (log,) = Path(sycl["folder"]).iterdir()
    assert log.stat().st_size > 0


def test_logits_on_forced_tokens_are_within_what_rounding_does(sycl: dict[str, Any]) -> None:
    expected = np.array(one("logits", "torch")["logits"])
    found = np.array(sycl["logits"]["logits"])
    assert rms(found - expected) < FLOAT32 * rms(expected)
    assert np.array_equal(found, sycl["logits on demand"]["logits"])
    # What is no rounding is far outside.
    assert rms(np.array(sycl["logits, other angles"]["logits"]) - expected) > 1_000 * FLOAT32 * rms(expected)


def test_attention_waits_for_blocks_that_come_late(sycl: dict[str, Any]) -> None:
    assert np.array_equal(sycl["logits, blocks late"]["logits"], sycl["logits"]["logits"])
    # Else it is the test that sees nothing.
    assert not np.array_equal(
        sycl["logits, blocks late and not waited for"]["logits"], sycl["logits"]["logits"]
    )


def test_facts_say_what_computed(sycl: dict[str, Any]) -> None:
    facts = sycl["plain"]["facts"]
    assert facts["device.kind"] == "cpu" and facts["dpctl"].startswith("0.21")
    assert facts["queues.profiling"] == "off"


@pytest.mark.parametrize(
    ("levers", "said"),
    [
        (Levers(dtype="bfloat16"), "--dtype bfloat16"),
        (Levers(compile="default"), "--compile"),
        (Levers(graphs=True), "--graphs"),
        (Levers(int8=True), "--int8"),
        (Levers(ipex=True), "--ipex"),
    ],
)
def test_levers_of_torch_are_refused(levers: Levers, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        backends.make("sycl", "cpu", TINY, cache(), levers, 0)
    assert str(refused.value).startswith(f"{said} with --backend sycl: ")


def test_without_dpctl_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dpctl", None)
    with pytest.raises(BadInput, match=r"^--backend sycl: needs dpctl 0\.21 .*") as refused:
        backends.make("sycl", "cpu", TINY, cache(), Levers(), 0)
    assert "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any]]:
    """A capture of a small run with timing events, read in: its bundle, the store, and what the engine printed."""
    build_shim()
    folder = tmp_path_factory.mktemp("edge")
    command = [
        SYCL, "-m", "akvsite.runner", "--backend", "sycl", "--no-client", "--requests", "2", "--concurrency", "2",
        "--prompt-tokens", "6", "--output-tokens", "4", "--warm-up-steps", "0", "--exact", "--json",
        "--block-tokens", str(BLOCK_TOKENS), "--device-records", "events",
    ]  # fmt: skip
    done = subprocess.run(
        words(folder, "run", "--level", "edge", "--timing", "on", "--runtime", "ur", command=command),
        env=environment(AKVSITE_SHIM=str(LIBRARY.parent)), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    store = folder / "akvsite.db"
    read_in(store, folder / "run")
    return folder / "run", store, json.loads(done.stdout.splitlines()[0])


def test_under_the_shim_calls_are_seen_and_kernels_have_device_times(
    edge: tuple[Path, Path, dict[str, Any]],
) -> None:
    _, store, counts = edge
    assert counts["requests"] == 2 and counts["tokens"] == 8
    (launches,) = ask(
        store, "SELECT count(*) AS n FROM level4_edge WHERE name = 'urEnqueueKernelLaunch' AND result = 0"
    )
    (kernels,) = ask(
        store,
        "SELECT count(*) AS n, sum(end_ns > start_ns) AS timed FROM level3_device WHERE kind = 'kernel'",
    )
    assert kernels["n"] == launches["n"] > 500
    assert kernels["timed"] > 0.9 * kernels["n"]
    (steps,) = ask(store, "SELECT count(*) AS n FROM step WHERE kind = 'decode'")
    assert steps["n"] == counts["decode_steps"] == 3
    # In each decode step and layer, the one block that each of two rows sees; nothing else here is of this size.
    block = 2 * BLOCK_TOKENS * TINY.kv_heads * TINY.head_dim * 4
    (fetched,) = ask(
        store,
        f"SELECT count(*) AS n FROM level4_edge WHERE name = 'urEnqueueUSMMemcpy' AND bytes = {block}",
    )
    assert fetched["n"] == 2 * TINY.layers * counts["decode_steps"]


def test_timing_events_give_the_stretch_of_each_step_on_both_queues(
    edge: tuple[Path, Path, dict[str, Any]],
) -> None:
    bundle, store, counts = edge
    (log,) = (bundle / "probe").iterdir()
    with scan.open_log(log) as opened:
        assert opened.header.closed
    (spans,) = ask(
        store,
        "SELECT count(*) AS n, sum(end_ns > start_ns) AS long, count(DISTINCT queue) AS queues FROM level3_device "
        "WHERE kind = 'span'",
    )
    steps = counts["decode_steps"] + counts["prefill_steps"]
    assert spans["n"] == 2 * steps and spans["queues"] == 2 and spans["long"] > steps
