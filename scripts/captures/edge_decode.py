"""A small decode loop on a GPU: KV blocks come from the host one layer ahead, on a copy stream of their own.

It is the program that edge captures are made of. It runs on its own; with ``--trace FILE`` the torch profiler (Kineto)
records the same steps, so that two recorders can be compared on one loop.

    python scripts/captures/edge_decode.py --steps 40 --trace decode.pt.trace.json
"""

from __future__ import annotations

import argparse
import contextlib
import json
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
        for event in self.free:
            event.record()

    def fetch(self, layer: int) -> None:
        place = layer % 2
        with torch.cuda.stream(self.copies):
            self.copies.wait_event(self.free[place])
            self.buffers[place].copy_(self.host[layer], non_blocking=True)
            self.filled[place].record()

    def step(self) -> list[int]:
        """One token for each request of the batch."""
        self.fetch(0)
        x = self.embed(self.tokens)
        for number, layer in enumerate(self.layers):
            if number + 1 < len(self.layers):
                self.fetch(number + 1)
            torch.cuda.current_stream().wait_event(self.filled[number % 2])
            x = layer(x, self.buffers[number % 2])
            self.free[number % 2].record()
        self.tokens = self.head(x).argmax(-1)
        # The copy back is where the host waits for the device.
        return self.tokens.flatten().tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("steps", 40), ("layers", 8), ("width", 2048), ("heads", 16), ("batch", 4),
                          ("tokens", 512), ("vocabulary", 32000), ("warm-up", 8)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--trace", type=Path, help="let the torch profiler record the steps too")
    options = parser.parse_args()
    engine = Engine(options.layers, options.width, options.heads, options.batch, options.tokens, options.vocabulary)
    with torch.inference_mode():
        for _ in range(options.warm_up):
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
        profiler.export_chrome_trace(str(options.trace))
    print(json.dumps({"steps": options.steps, "tokens": tokens, "loop_ns": ended - started}))


if __name__ == "__main__":
    main()
