"""A small decode loop on a GPU: KV blocks come from the host one layer ahead, on a copy stream of their own.

It is the program that edge captures on a GPU are made of. With ``--trace NAME`` the torch profiler (Kineto) records the
same steps, so that two recorders can be compared on one loop; the trace goes to the capture's folder for files of the
command's own, where there is one. With ``--graph`` the work of a step is captured once and replayed.

    akvsite capture --level edge --name NAME -- python scripts/captures/edge_decode.py --trace decode.pt.trace.json.gz
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import time
from pathlib import Path

import torch
from torch import nn


class Layer(nn.Module):
    """Attention over a KV cache that was brought to the device, then a gated feed-forward block."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.RMSNorm(width)
        self.norm2 = nn.RMSNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 3 * width, bias=False)
        self.up = nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x: torch.Tensor, kv: torch.Tensor) -> torch.Tensor:
        """``x``: (batch, 1, width); ``kv``: (2, batch, heads, tokens, width / heads)."""
        batch, _, width = x.shape
        query = self.query(self.norm1(x)).view(batch, 1, self.heads, width // self.heads).transpose(1, 2)
        seen = nn.functional.scaled_dot_product_attention(query, kv[0], kv[1])
        x = x + self.out(seen.transpose(1, 2).reshape(batch, 1, width))
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Engine:
    """Decode steps with the cache on the host; two device buffers, filled in turn on the copy stream."""

    def __init__(self, layers: int, width: int, heads: int, batch: int, tokens: int, vocabulary: int) -> None:
        torch.manual_seed(0)
        kind = {"device": "cuda", "dtype": torch.bfloat16}
        with torch.device("cuda"):
            self.layers = [Layer(width, heads).to(torch.bfloat16).eval() for _ in range(layers)]
            self.embed = nn.Embedding(vocabulary, width, dtype=torch.bfloat16)
            self.head = nn.Linear(width, vocabulary, bias=False, dtype=torch.bfloat16)
        shape = (2, batch, heads, tokens, width // heads)
        self.host = [torch.randn(shape, dtype=torch.bfloat16).pin_memory() for _ in range(layers)]
        self.buffers = [torch.empty(shape, **kind) for _ in range(2)]
        self.filled = [torch.cuda.Event() for _ in range(2)]
        self.free = [torch.cuda.Event() for _ in range(2)]
        self.copies = torch.cuda.Stream()
        self.tokens = torch.zeros((batch, 1), dtype=torch.long, device="cuda")

    def fetch(self, layer: int) -> None:
        """Bring a layer's cache into its buffer, once the layer before the last has been computed from it."""
        place = layer % 2
        with torch.cuda.stream(self.copies):
            if layer >= 2:
                self.copies.wait_event(self.free[place])
            self.buffers[place].copy_(self.host[layer], non_blocking=True)
            self.filled[place].record()

    def capture(self) -> None:
        """Let ``step`` replay a graph of the work instead of launching it anew."""
        for event in (*self.free, *self.filled):
            event.synchronize()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            self.work()
        side.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.work()
        self.work = graph.replay  # type: ignore[method-assign]

    def step(self) -> list[int]:
        """One token for each request of the batch. The copy back is where the host waits for the device."""
        self.work()
        return self.tokens.flatten().tolist()

    def work(self) -> None:
        self.copies.wait_stream(torch.cuda.current_stream())
        self.fetch(0)
        x = self.embed(self.tokens)
        for number, layer in enumerate(self.layers):
            if number + 1 < len(self.layers):
                self.fetch(number + 1)
            torch.cuda.current_stream().wait_event(self.filled[number % 2])
            x = layer(x, self.buffers[number % 2])
            self.free[number % 2].record()
        torch.cuda.current_stream().wait_stream(self.copies)
        self.tokens.copy_(self.head(x).argmax(-1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("steps", 40), ("layers", 8), ("width", 2048), ("heads", 16), ("batch", 4),
                          ("tokens", 512), ("vocabulary", 32000), ("warm-up", 8)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--trace", help="let the torch profiler record the steps too, into this file")
    parser.add_argument(
        "--graph", action="store_true", help="replay a graph instead of launching each kernel"
    )
    options = parser.parse_args()
    engine = Engine(
        options.layers, options.width, options.heads, options.batch, options.tokens, options.vocabulary
    )
    with torch.inference_mode():
        for _ in range(options.warm_up):
            engine.step()
        if options.graph:
            engine.capture()
            engine.step()
        torch.cuda.synchronize()
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        profiler = torch.profiler.profile(activities=kinds) if options.trace else contextlib.nullcontext()
        started = time.perf_counter_ns()
        with profiler:
            for number in range(options.steps):
                mark = torch.profiler.record_function if options.trace else contextlib.nullcontext
                with mark(f"decode.step.{number}"):
                    tokens = engine.step()
        ended = time.perf_counter_ns()
    if options.trace:
        # Under a relative name, and packed afterwards: the trace keeps the name that it was first written under.
        with contextlib.chdir(os.environ.get("AKV_FILES", ".")):
            plain = Path(options.trace.removesuffix(".gz"))
            profiler.export_chrome_trace(str(plain))
            if options.trace.endswith(".gz"):
                Path(options.trace).write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))
                plain.unlink()
    print(json.dumps({"steps": options.steps, "tokens": tokens, "loop_ns": ended - started}))


if __name__ == "__main__":
    main()
