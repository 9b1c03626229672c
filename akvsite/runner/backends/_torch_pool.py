"""The paged KV cache: the pool on the host, two buffers on the device, and the copies between them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from akvsite.runner.backends import Batch
from akvsite.runner.backends._torch_queues import Queues
from akvsite.runner.cache import stretches
from akvsite.runner.config import Cache, Shape


class Pool:
    """``blocks`` is (layers, blocks, 2, block_tokens, kv_heads, head_dim) on the host: 0 holds keys, 1 values.

    ``pages`` are two buffers (max_batch, max_blocks, 2, block_tokens, kv_heads, head_dim) on the device, used by turns: one
    is filled while the layer of the other computes. What a row does not see in them is left from before, and finite.
    """

    def __init__(
        self, shape: Shape, cache: Cache, dtype: torch.dtype, device: torch.device, queues: Queues
    ) -> None:
        block = (2, cache.block_tokens, shape.kv_heads, shape.head_dim)
        # Copies run beside the host only from memory that the system does not move.
        pinned = device.type != "cpu"
        self.blocks = torch.zeros((shape.layers, cache.blocks, *block), dtype=dtype, pin_memory=pinned)
        self.pages = tuple(
            torch.zeros((cache.max_batch, cache.max_blocks, *block), dtype=dtype, device=device)
            for _ in range(2)
        )
        rows = max(cache.max_batch, cache.max_context)
        self._new = torch.zeros((shape.layers, rows, 2, *block[2:]), dtype=dtype, pin_memory=pinned)
        self._tokens = cache.block_tokens
        self._queues = queues
        self._filled: list[Any] = [None, None]  # marks of the copies into each buffer
        self._read: list[Any] = [None, None]  # marks of the computing that read it last
        self._leaving: list[Tensor] = []  # kept until copied: nobody else holds them

    def fetch(self, layer: int, batch: Batch) -> None:
        turn = layer % 2
        # The buffer's last reader may still run, two layers back.
        self._queues.copy_after(self._read[turn])
        with self._queues.copying():
            for number, row in enumerate(batch.rows):
                seen = row.blocks[: -(-row.position // self._tokens)]
                for place, first, count in stretches(seen):
                    self.pages[turn][number, place : place + count].copy_(
                        self.blocks[layer, first : first + count], non_blocking=True
                    )
        self._filled[turn] = self._queues.copied()

    def seen_by(self, layer: int) -> Tensor:
        """The buffer of this layer's turn, and the compute queue waits until it is filled."""
        self._queues.compute_after(self._filled[layer % 2])
        return self.pages[layer % 2]

    def read(self, layer: int) -> None:
        """The computing that reads the buffer of this layer's turn is on the queue."""
        self._read[layer % 2] = self._queues.computed()

    def write_back(self, layer: int, new: Tensor) -> None:
        """New keys and values (rows, 2, kv_heads, head_dim) to the host."""
        self._leaving.append(new)
        self._queues.copy_after(self._queues.computed())
        with self._queues.copying():
            self._new[layer, : new.shape[0]].copy_(new, non_blocking=True)

    def put_away(self, batch: Batch) -> None:
        """What ``write_back`` brought goes to its pages. All copies are done."""
        self._leaving.clear()
        if batch.kind == "decode":
            block = torch.tensor([row.blocks[row.position // self._tokens] for row in batch.rows])
            place = torch.tensor([row.position % self._tokens for row in batch.rows])
            # Indices with a slice between them come first: (rows, layers, 2, kv_heads, head_dim).
            self.blocks[:, block, :, place] = self._new[:, : len(batch.rows)].transpose(0, 1)
            return
        (row,) = batch.rows
        for number, start in enumerate(range(0, len(row.tokens), self._tokens)):
            new = self._new[:, start : min(start + self._tokens, len(row.tokens))]
            self.blocks[:, row.blocks[number], :, : new.shape[1]] = new.transpose(1, 2)
