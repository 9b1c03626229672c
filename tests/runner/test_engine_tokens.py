"""Tokens depend on the requests and the model alone: not on prefetching, preemption or looking; and they are a Llama's."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from engines import TINY, WORK, torch_tokens

from akvsite import record
from akvsite.runner import weights
from akvsite.runner.config import Levers
from akvsite.runner.workload import drawn, tokens_sha256

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def plain() -> str:
    tokens, engine = torch_tokens()
    assert engine.scheduler.preemptions == 0
    return tokens


def llama(tokens: list[int], matrices: dict[str, np.ndarray]) -> np.ndarray:
    """Logits of the last of ``tokens``, by float64 and the whole context: no cache, no pages, no batch."""
    x = matrices["embed"][tokens]
    n, head = len(tokens), TINY.head_dim

    def norm(x: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + TINY.norm_epsilon)

    def turned(x: np.ndarray, position: int) -> np.ndarray:
        out = np.empty_like(x)
        for i in range(head // 2):
            angle = position * TINY.rope_theta ** (-2 * i / head)
            a, b = x[i], x[i + head // 2]
            out[i] = a * math.cos(angle) - b * math.sin(angle)
            out[i + head // 2] = b * math.cos(angle) + a * math.sin(angle)
        return out

    for layer in range(TINY.layers):
        w = {name: matrices[f"{layer}.{name}"] for name in ("q", "k", "v", "o", "gate", "up", "down")}
        h = norm(x)
        q, k, v = h @ w["q"].T, h @ w["k"].T, h @ w["v"].T
        out = np.zeros((n, TINY.width))
        for number in range(TINY.heads):
            mine = slice(number * head, (number + 1) * head)
            of = number // (TINY.heads // TINY.kv_heads)
            shared = slice(of * head, (of + 1) * head)
            qs = np.stack([turned(q[p, mine], p) for p in range(n)])
            ks = np.stack([turned(k[p, shared], p) for p in range(n)])
            scores = qs @ ks.T / math.sqrt(head)
            for p in range(n):
                share = np.exp(scores[p, : p + 1] - scores[p, : p + 1].max())
                out[p, mine] = share / share.sum() @ v[: p + 1, shared]
        x = x + out @ w["o"].T
        h = norm(x)
        gate = h @ w["gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w["up"].T)) @ w["down"].T
    last: np.ndarray = norm(x[-1]) @ matrices["head"].T
    return last


def test_the_engine_says_what_a_plain_llama_says(plain: str) -> None:
    matrices = {}
    for number, (name, size, half) in enumerate(weights.names(TINY)):
        whole = weights.uniform(np.arange(size[0] * size[1], dtype=np.int64), number, 0)
        matrices[name] = (
            (whole.astype(np.float32) / np.float32(1 << 23) * np.float32(half)).reshape(size).astype(float)
        )
    said = {}
    for asked in drawn(WORK):
        known = list(asked.prompt)
        for _ in range(asked.output_tokens):
            known.append(int(llama(known, matrices).argmax()))
        said[asked.name] = known[len(asked.prompt) :]
    assert len({token for tokens in said.values() for token in tokens}) > 50
    assert tokens_sha256(said) == plain


def test_prefetching_changes_no_token(plain: str) -> None:
    assert torch_tokens(Levers(prefetch=False))[0] == plain


def test_preempted_requests_get_the_same_tokens(plain: str) -> None:
    tokens, engine = torch_tokens(blocks=11)
    assert engine.scheduler.preemptions > 0
    assert tokens == plain


@pytest.mark.parametrize("level", ["runner", "host"])
def test_looking_changes_no_token(plain: str, level: str, tmp_path: Path) -> None:
    record.set_level(level, tmp_path)
    try:
        assert torch_tokens()[0] == plain
    finally:
        record.set_level("off")
    assert list(tmp_path.glob("*.akvlog"))


@pytest.mark.parametrize("levers", [Levers(int8=True), Levers(dtype="bfloat16")], ids=["int8", "bfloat16"])
def test_other_weights_are_other_tokens_and_the_same_twice(plain: str, levers: Levers) -> None:
    first = torch_tokens(levers)[0]
    assert first != plain
    assert torch_tokens(Levers(dtype=levers.dtype, int8=levers.int8, prefetch=False))[0] == first


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiling_changes_no_token(plain: str, mode: str) -> None:
    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert torch_tokens(Levers(compile=mode))[0] == plain
    # One of attention and one of the MLP, for all layers.
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] - before <= 2
