"""The Llama's mathematics in ``dpctl.tensor``: everything is put on the compute queue, nothing is waited for.

Shapes: n new tokens, kv heads of keys and values with g query heads each, d elements a head, b blocks of t tokens.
Sources: Touvron et al., "LLaMA" (arXiv 2302.13971), Su et al., "RoFormer" (2104.09864), Ainslie et al., "GQA" (2305.13245).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from akvsite.runner.config import Shape


class Model:
    """Weights on the device, and what is done with them. Arrays are float32 of ``dpctl.tensor``."""

    def __init__(
        self,
        tensor: Any,
        queue: Any,
        shape: Shape,
        context: int,
        matrices: Iterable[tuple[str, np.ndarray[Any, Any]]],
    ) -> None:
        self._t, self._shape = tensor, shape
        self._group = shape.heads // shape.kv_heads
        self._scale = 1.0 / math.sqrt(shape.head_dim)
        self._weight = {name: tensor.asarray(matrix, sycl_queue=queue) for name, matrix in matrices}
        self._norm = tensor.ones(shape.width, dtype="f4", sycl_queue=queue)
        half = shape.head_dim // 2
        turns = shape.rope_theta ** (-np.arange(half) / half)
        angles = np.arange(context)[:, None] * turns[None, :]  # float64: far positions turn by many radians
        self._cos_of = tensor.asarray(np.cos(angles).astype(np.float32), sycl_queue=queue)
        self._sin_of = tensor.asarray(np.sin(angles).astype(np.float32), sycl_queue=queue)
        self._places = tensor.arange(context, dtype="i8", sycl_queue=queue)
        self._never = tensor.asarray(np.float32(-np.inf), sycl_queue=queue)

    def begin(self, positions: Any) -> None:
        """Positions (n,) of the step's tokens: their angles."""
        t = self._t
        self._cos = t.take(self._cos_of, positions, axis=0)[:, None, :]
        self._sin = t.take(self._sin_of, positions, axis=0)[:, None, :]

    def embed(self, tokens: Any) -> Any:
        """Token ids (n,) to (n, width)."""
        return self._t.take(self._weight["embed"], tokens, axis=0)

    def project(self, layer: int, x: Any, new: Any) -> Any:
        """Queries (n, kv, g, d); keys and values go into ``new`` (n, 2, kv, d)."""
        t, shape = self._t, self._shape
        normed = self._rms_norm(x)
        n = x.shape[0]
        q = t.reshape(self._linear(f"{layer}.q", normed), (n, shape.heads, shape.head_dim))
        k = t.reshape(self._linear(f"{layer}.k", normed), (n, shape.kv_heads, shape.head_dim))
        v = t.reshape(self._linear(f"{layer}.v", normed), (n, shape.kv_heads, shape.head_dim))
        new[:, 0] = self._rotate(k)
        new[:, 1] = v
        return t.reshape(self._rotate(q) * self._scale, (n, shape.kv_heads, self._group, shape.head_dim))

    def attend_prompt(self, q: Any, new: Any) -> Any:
        """Each token sees itself and those before it. Returns (n, width)."""
        t = self._t
        n = q.shape[0]
        queries = t.permute_dims(q, (1, 2, 0, 3))  # kv, g, n, d
        keys = t.permute_dims(new[:, 0], (1, 2, 0))[:, None]  # kv, 1, d, n
        values = t.permute_dims(new[:, 1], (1, 0, 2))[:, None]  # kv, 1, n, d
        scores = t.matmul(queries, keys)
        places = self._places[:n]
        scores = t.where(places[None, :] <= places[:, None], scores, self._never)
        mixed = t.matmul(self._softmax(scores), values)
        return t.reshape(t.permute_dims(mixed, (2, 0, 1, 3)), (n, self._shape.width))

    def attend_blocks(self, q: Any, new: Any, blocks: Any, positions: Any) -> Any:
        """One token a row, which sees itself and what ``blocks`` (n, b, 2, t, kv, d) hold before its position.

        Returns (n, width).
        """
        t = self._t
        # One query against many keys is a dot product for each, which `vecdot` is made for; `matmul` in batches this
        # small takes many times as long.
        n, b, _, size = blocks.shape[:4]
        held = b * size
        scores = t.vecdot(q[:, None, None], blocks[:, :, 0, :, :, None])  # n, b, t, kv, g
        scores = t.permute_dims(t.reshape(scores, (n, held, *q.shape[1:3])), (0, 2, 3, 1))
        # What lies behind the position is of an earlier step or another request.
        seen = self._places[None, :held] < positions[:, None]
        scores = t.where(seen[:, None, None, :], scores, self._never)
        own = t.sum(q * new[:, 0, :, None, :], axis=-1, keepdims=True)
        share = self._softmax(t.concat((scores, own), axis=-1))  # n, kv, g, held + 1
        by_block = t.permute_dims(t.reshape(share[..., :held], (*q.shape[:3], b, size)), (0, 3, 1, 2, 4))
        values = t.permute_dims(blocks[:, :, 1], (0, 1, 3, 4, 2))  # n, b, kv, d, t
        mixed = t.sum(t.vecdot(by_block[..., None, :], values[:, :, :, None]), axis=1)
        mixed = mixed + share[..., held:] * new[:, 1, :, None, :]
        return t.reshape(mixed, (n, self._shape.width))

    def add_projected(self, layer: int, x: Any, mixed: Any) -> Any:
        return x + self._linear(f"{layer}.o", mixed)

    def feed_forward(self, layer: int, x: Any) -> Any:
        normed = self._rms_norm(x)
        gate = self._linear(f"{layer}.gate", normed)
        gate = gate / (1 + self._t.exp(-gate))  # SiLU
        return x + self._linear(f"{layer}.down", gate * self._linear(f"{layer}.up", normed))

    def logits(self, x: Any) -> Any:
        """(rows, width) to (rows, vocabulary)."""
        return self._linear("head", self._rms_norm(x))

    def _linear(self, name: str, x: Any) -> Any:
        return self._t.matmul(x, self._weight[name].T)

    def _rms_norm(self, x: Any) -> Any:
        t = self._t
        square = t.mean(t.square(x), axis=-1, keepdims=True)
        return x * t.rsqrt(square + self._shape.norm_epsilon) * self._norm

    def _rotate(self, x: Any) -> Any:
        """Rotary position embedding of (n, heads, d): element i turns with element i + d / 2."""
        half = self._shape.head_dim // 2
        first, second = x[..., :half], x[..., half:]
        return self._t.concat(
            (first * self._cos - second * self._sin, second * self._cos + first * self._sin), axis=-1
        )

    def _softmax(self, scores: Any) -> Any:
        t = self._t
        raised = t.exp(scores - t.max(scores, axis=-1, keepdims=True))
        return raised / t.sum(raised, axis=-1, keepdims=True)
