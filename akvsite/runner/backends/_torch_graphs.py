"""Each layer's work of a decode step recorded once in CUDA graphs, and replayed.

https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

_cuda: Any = torch.cuda
_WARM_UP = 3  # runs before recording, as the documentation advises: libraries allocate in their first


class Recorded:
    """Two graphs a layer, over one ``x`` (max_batch, width) that they change in place.

    ``attention(layer, x)`` and ``mlp(layer, x)`` return new tensors: (x, new keys and values), and x.
    """

    def __init__(
        self,
        layers: int,
        x: Tensor,
        attention: Callable[[int, Tensor], tuple[Tensor, Tensor]],
        mlp: Callable[[int, Tensor], Tensor],
    ) -> None:
        self.x = x
        self.new: list[Tensor] = []
        self._attention: list[Any] = []
        self._mlp: list[Any] = []
        # One pool for all: they are replayed in the order in which they were recorded, on one queue.
        pool = _cuda.graph_pool_handle()
        for layer in range(layers):
            self.new.append(torch.zeros_like(attention(layer, x)[1]))
            self._attention.append(_record(partial(self._attend, attention, layer), pool))
            self._mlp.append(_record(partial(self._feed, mlp, layer), pool))
        x.zero_()

    def attention(self, layer: int) -> Tensor:
        """New keys and values of the layer: the same memory every time."""
        self._attention[layer].replay()
        return self.new[layer]

    def mlp(self, layer: int) -> None:
        self._mlp[layer].replay()

    def _attend(self, attention: Callable[[int, Tensor], tuple[Tensor, Tensor]], layer: int) -> None:
        x, new = attention(layer, self.x)
        self.x.copy_(x)
        self.new[layer].copy_(new)

    def _feed(self, mlp: Callable[[int, Tensor], Tensor], layer: int) -> None:
        self.x.copy_(mlp(layer, self.x))


def _record(work: Callable[[], object], pool: Any) -> Any:
    side = _cuda.Stream()
    side.wait_stream(_cuda.current_stream())
    with _cuda.stream(side):
        for _ in range(_WARM_UP):
            work()
    _cuda.current_stream().wait_stream(side)
    graph = _cuda.CUDAGraph()
    with _cuda.graph(graph, pool=pool):
        work()
    return graph
