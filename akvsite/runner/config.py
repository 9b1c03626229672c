"""What a run of the reference engine is: the model's shape, the workload and the levers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A Llama: sizes in elements. ``heads`` of queries share ``kv_heads`` of keys and values (grouped-query attention)."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: int
    rope_theta: float = 500_000.0
    norm_epsilon: float = 1e-5

    @property
    def head_dim(self) -> int:
        return self.width // self.heads

    @property
    def parameters(self) -> int:
        """Weights of the whole model; embedding and head are two matrices."""
        attention = self.width * (self.heads + 2 * self.kv_heads) * self.head_dim + self.width * self.width
        return (
            self.layers * (attention + 3 * self.width * self.feed_forward + 2 * self.width)
            + 2 * self.vocabulary * self.width
            + self.width
        )


#: From what a test can run to the shape of Llama 3.1 8B (its published configuration).
SHAPES: dict[str, Shape] = {
    "tiny": Shape(layers=2, width=64, heads=4, kv_heads=2, feed_forward=128, vocabulary=512),
    "small": Shape(layers=8, width=512, heads=8, kv_heads=4, feed_forward=1408, vocabulary=4096),
    "160m": Shape(layers=12, width=768, heads=12, kv_heads=4, feed_forward=2048, vocabulary=32_000),
    "1b": Shape(layers=16, width=2048, heads=32, kv_heads=8, feed_forward=8192, vocabulary=128_256),
    "8b": Shape(layers=32, width=4096, heads=32, kv_heads=8, feed_forward=14_336, vocabulary=128_256),
}


@dataclass(frozen=True)
class Levers:
    """What may be switched without changing the workload."""

    dtype: str = "float32"  # or bfloat16
    prefetch: bool = (
        True  # fetch the blocks of the next layer while this one computes; else when it needs them
    )
    compile: str = "none"  # torch.compile's mode: none, default, reduce-overhead
    graphs: bool = False  # record each layer's work once and replay it
    int8: bool = False  # weights in int8 with one scale a row
    ipex: bool = False  # IPEX's optimised operators
    timing_events: bool = False  # events on the queues tell the device's time


@dataclass(frozen=True)
class Cache:
    """The paged KV cache on the host. ``blocks`` of ``block_tokens`` tokens each hold all layers."""

    blocks: int
    block_tokens: int
    max_batch: int
    max_context: int  # tokens of prompt and output of one request at most

    @property
    def max_blocks(self) -> int:
        """Blocks of one request at most."""
        return -(-self.max_context // self.block_tokens)
