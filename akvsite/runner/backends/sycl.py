"""SYCL through dpctl: ``dpctl.tensor`` computes, blocks travel on a queue of their own. For machines without a GPU too.

The copy queue is in order. The compute queue is not: ``dpctl.tensor`` chains what it puts there by events, in
``dpctl.utils.SequentialOrderManager``. It knows nothing of copies that others make, so each is told to it, and told of it:

    copy       write-back of layer n -> after attention of layer n
               blocks of layer n     -> after attention of layer n - 2, which read the same buffer
    compute    attention of layer n  -> after the blocks of layer n have come
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from akvsite.errors import BadInput
from akvsite.runner import weights
from akvsite.runner.backends import Batch
from akvsite.runner.backends import _sycl_device as sycl_device
from akvsite.runner.backends._sycl_model import Model
from akvsite.runner.cache import stretches
from akvsite.runner.config import Cache, Levers, Shape

_FLOAT = np.dtype(np.float32)


def make(device: str, shape: Shape, cache: Cache, levers: Levers, seed: int) -> Sycl:
    """``device``: dpctl's filter selector; empty for the default device."""
    for flag, given, why in (
        ("--dtype bfloat16", levers.dtype != "float32", "dpctl.tensor has float32 and no bfloat16"),
        ("--compile", levers.compile != "none", "is torch's"),
        ("--graphs", levers.graphs, "dpctl records no graphs"),
        ("--int8", levers.int8, "dpctl.tensor multiplies no int8 by float32"),
        ("--ipex", levers.ipex, "is an extension of torch"),
    ):
        if given:
            raise BadInput(f"{flag} with --backend sycl", why)
    return Sycl(device, shape, cache, levers, seed)


class Sycl:
    """See ``Backend``. float32 throughout.

    The pool on the host and the two buffers on the device hold blocks alike: keys, then values, of ``block_tokens``
    tokens of one layer, so neighbouring blocks of a request are one copy.
    """

    def __init__(self, device: str, shape: Shape, cache: Cache, levers: Levers, seed: int) -> None:
        dpctl, self._tensor, self._memory = sycl_device.modules()
        made = sycl_device.open_device(dpctl, device, profiling=levers.timing_events)
        self._compute, self._copy = made.compute, made.copy
        self._order = dpctl.utils.SequentialOrderManager[made.compute]
        #: Queues by name, for timing events.
        self.streams: dict[str, Any] = {"compute": made.compute, "copy": made.copy}
        self.name = f"sycl {made.facts['device.kind']}"
        self.facts = {"dtype": "float32", **made.facts}
        self._shape, self._cache = shape, cache
        context = cache.max_blocks * cache.block_tokens
        self._model = Model(self._tensor, self._compute, shape, context, _matrices(shape, seed))

        block = (2, cache.block_tokens, shape.kv_heads, shape.head_dim)
        self._block_bytes = int(np.prod(block)) * _FLOAT.itemsize
        self._pool, self._pool_seen = self._host((shape.layers, cache.blocks, *block), _FLOAT)
        self._buffers = [self._device((cache.max_batch, cache.max_blocks, *block), _FLOAT) for _ in range(2)]
        # A step brings as many new tokens as it has rows, or as the one prompt has.
        most_new = max(cache.max_batch, cache.max_context)
        new = (shape.layers, most_new, 2, shape.kv_heads, shape.head_dim)
        self._new = self._device(new, _FLOAT)
        self._back, self._back_seen = self._host(new, _FLOAT)
        ids = (2, most_new)  # tokens, then positions
        self._ids = self._device(ids, np.dtype(np.int64))
        self._ids_host, self._ids_seen = self._host(ids, np.dtype(np.int64))
        self._chosen_host, self._chosen_seen = self._host((cache.max_batch,), np.dtype(np.int64))

        self._batch = Batch("decode", ())
        # By turns, as the buffers: the last copy into each, and what its reader put on the compute queue.
        self._fetched: list[Any] = [None, None]
        self._attended: list[list[Any]] = [[], []]
        self._x: Any = None
        self._logits: Any = None
        self._chosen: Any = None
        self._compute.wait()

    def begin(self, batch: Batch) -> None:
        self._batch = batch
        flat = [(token, row.position + n) for row in batch.rows for n, token in enumerate(row.tokens)]
        count = self._count = len(flat)
        self._ids_seen[:, :count] = np.array(flat, np.int64).T
        for line in range(2):
            self._compute_after(self._send(self._copy, self._ids[line, :count], self._ids_host[line, :count]))
        self._positions = self._ids[1, :count]
        self._model.begin(self._positions)
        # Blocks that hold something: those of the longest row, for all; what a row may see is masked.
        tokens = max(row.position for row in batch.rows)
        self._seen_blocks = -(-tokens // self._cache.block_tokens)

    def embed(self) -> None:
        self._x = self._model.embed(self._ids[0, : self._count])

    def fetch(self, layer: int) -> None:
        if self._batch.kind == "prefill":
            return
        turn = layer % 2
        buffer, earlier = self._buffers[turn], self._attended[turn]
        for place, row in enumerate(self._batch.rows):
            held = row.blocks[: -(-row.position // self._cache.block_tokens)]
            for start, first, count in stretches(held):
                self._fetched[turn] = self._send(
                    self._copy,
                    buffer[place, start : start + count],
                    self._pool[layer, first : first + count],
                    after=earlier,
                )
                earlier = []  # the queue is in order: what holds for the first copy holds for all

    def attention(self, layer: int) -> None:
        new = self._new[layer, : self._count]
        q = self._model.project(layer, self._x, new)
        if self._batch.kind == "prefill":
            mixed = self._model.attend_prompt(q, new)
        else:
            self._compute_after(self._fetched[layer % 2])
            blocks = self._buffers[layer % 2][: self._count, : self._seen_blocks]
            mixed = self._model.attend_blocks(q, new, blocks, self._positions)
        self._x = self._model.add_projected(layer, self._x, mixed)
        self._attended[layer % 2] = self._order.submitted_events

    def write_back(self, layer: int) -> None:
        came, made = self._back[layer, : self._count], self._new[layer, : self._count]
        self._send(self._copy, came, made, after=self._attended[layer % 2])

    def mlp(self, layer: int) -> None:
        self._x = self._model.feed_forward(layer, self._x)

    def head(self) -> None:
        # Rows of a decode are one token each; of a prompt the last one counts.
        last = self._x if self._batch.kind == "decode" else self._x[self._count - 1 :]
        self._logits = self._model.logits(last)

    def wait(self) -> None:
        self._copy.wait()
        self._compute.wait()
        self._into_pool()

    def sample(self) -> None:
        self._chosen = self._tensor.argmax(self._logits, axis=-1)
        self._compute.wait()

    def read(self) -> list[int]:
        rows = self._chosen.shape[0]
        self._send(self._copy, self._chosen_host[:rows], self._chosen).wait()
        return [int(token) for token in self._chosen_seen[:rows]]

    def logits(self) -> list[list[float]]:
        found: list[list[float]] = self._tensor.asnumpy(self._logits).tolist()
        return found

    def close(self) -> None:
        self._copy.wait()
        self._compute.wait()

    def _into_pool(self) -> None:
        """Keys and values of the step's tokens from where they came back to, into the blocks of their requests."""
        size = self._cache.block_tokens
        place = 0
        for row in self._batch.rows:
            tokens = len(row.tokens)
            at = row.position + np.arange(tokens)
            blocks = np.asarray(row.blocks)[at // size]
            came = self._back_seen[:, place : place + tokens]  # layers, tokens, 2, heads, elements
            self._pool_seen[:, blocks, :, at % size] = np.moveaxis(came, 1, 0)
            place += tokens

    def _send(self, queue: Any, target: Any, source: Any, after: Sequence[Any] = ()) -> Any:
        """Copy one array without gaps into another, on ``queue``; the event of the copy."""
        into, out_of = self._memory.as_usm_memory(target), self._memory.as_usm_memory(source)
        return queue.memcpy_async(into, out_of, out_of.nbytes, list(after))

    def _compute_after(self, copied: Any) -> None:
        """What is computed from now on waits for a copy."""
        self._order.add_event_pair(copied, copied)

    def _device(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return self._tensor.zeros(shape, dtype=dtype, sycl_queue=self._compute)

    def _host(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Any, np.ndarray[Any, Any]]:
        """USM memory of the host, that the device reaches: as dpctl's array, and as numpy's."""
        memory = self._memory.MemoryUSMHost(int(np.prod(shape)) * dtype.itemsize, queue=self._copy)
        array = self._tensor.usm_ndarray(shape, dtype=dtype, buffer=memory)
        seen: np.ndarray[Any, Any] = np.ndarray(shape, dtype, buffer=memory)
        seen[...] = 0
        return array, seen


def _matrices(shape: Shape, seed: int) -> Any:
    """Name and float32 matrix (out, in), one at a time."""
    for number, (name, (out, into), half_width) in enumerate(weights.names(shape)):
        with np.errstate(over="ignore"):
            whole = weights.uniform(np.arange(out * into, dtype=np.int64), number, seed)
        made = (whole.astype(np.float32) / np.float32(1 << 23)) * np.float32(half_width)
        yield name, made.reshape(out, into)
