"""The engine in this process, with a workload that a test can afford, and a backend without arithmetic."""

from __future__ import annotations

from typing import Any

from akvsite import record
from akvsite.runner import backends, run
from akvsite.runner.backends import Batch
from akvsite.runner.config import SHAPES, Cache, Levers
from akvsite.runner.engine import Engine
from akvsite.runner.workload import Workload, tokens_sha256

TINY = SHAPES["tiny"]
WORK = Workload(
    requests=10,
    concurrency=4,
    prompt_tokens=12,
    output_tokens=16,
    vocabulary=TINY.vocabulary,
    schedule="fixed",
)


class Adding:
    """Gives each row the sum of its newest token and its position: no device, and still another answer for a wrong row."""

    name = "adding"

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}
        self.streams: dict[str, Any] = {}
        self.steps: list[Batch] = []
        self.calls: list[str] = []

    def begin(self, batch: Batch) -> None:
        self.steps.append(batch)
        self.calls.append("begin")

    def embed(self) -> None:
        self.calls.append("embed")

    def fetch(self, layer: int) -> None:
        self.calls.append(f"fetch {layer}")

    def attention(self, layer: int) -> None:
        self.calls.append(f"attention {layer}")

    def write_back(self, layer: int) -> None:
        self.calls.append(f"write {layer}")

    def mlp(self, layer: int) -> None:
        self.calls.append(f"mlp {layer}")

    def head(self) -> None:
        self.calls.append("head")

    def wait(self) -> None:
        self.calls.append("wait")

    def sample(self) -> None:
        self.calls.append("sample")

    def read(self) -> list[int]:
        self.calls.append("read")
        return [(row.tokens[-1] + row.position + len(row.tokens)) % 512 for row in self.steps[-1].rows]

    def logits(self) -> list[list[float]]:
        return []

    def close(self) -> None: ...


def cache(
    work: Workload = WORK, *, blocks: int | None = None, block_tokens: int = 4, max_batch: int = 4
) -> Cache:
    made = Cache(0, block_tokens, max_batch, work.max_context)
    return Cache(blocks or max_batch * made.max_blocks, block_tokens, max_batch, work.max_context)


def torch_tokens(levers: Levers = Levers(), *, blocks: int | None = None) -> tuple[str, Engine]:  # noqa: B008
    """The hash of all tokens of ``WORK`` with the torch backend on the CPU, and the engine that made them."""
    sizes = cache(blocks=blocks)
    backend = backends.make("torch", "cpu", TINY, sizes, levers, 0)
    engine = Engine(backend, TINY.layers, sizes, run.Sink(), record, prefetch=levers.prefetch)
    run.alone(engine, WORK)
    backend.close()
    assert engine.outcome.finished == WORK.requests
    return tokens_sha256(engine.outcome.tokens), engine
