"""The torch backend: CUDA, XPU and the CPU by one code.

Decode steps have one shape, whoever is in the batch: ``max_batch`` rows, each with pages for ``max_context`` tokens. A prefill
is one row of its own length, and goes by no graph and no compiler.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from akvsite.errors import BadInput
from akvsite.runner.backends import Batch
from akvsite.runner.backends import _torch_model as model
from akvsite.runner.backends._torch_graphs import Recorded
from akvsite.runner.backends._torch_ipex import optimised
from akvsite.runner.backends._torch_pool import Pool
from akvsite.runner.backends._torch_queues import queues_of
from akvsite.runner.backends._torch_weights import made
from akvsite.runner.config import Cache, Levers, Shape

_compiler: Any = torch.compiler
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class TorchBackend:
    """See ``backends.Backend``."""

    def __init__(self, device: torch.device, shape: Shape, cache: Cache, levers: Levers, seed: int) -> None:
        self.name = f"torch {device.type}"
        self._facts = _facts(device)
        self._device, self._cache = device, cache
        context = cache.max_blocks * cache.block_tokens
        dtype = _DTYPES[levers.dtype]
        self._model = made(shape, context, seed, dtype, device, levers.int8)
        #: The functions that compute: torch's, or IPEX's.
        self._operators: Any = model
        if levers.ipex:
            self._model, self._operators, facts = optimised(self._model, dtype)
            self._facts |= facts
        self._queues = queues_of(device)
        #: Streams by name, for timing events.
        self.streams = self._queues.streams
        self._pool = Pool(shape, cache, dtype, device, self._queues)
        # Tokens and positions of a decode step: one place in memory for all steps, as graphs need it.
        self._ids = torch.zeros(cache.max_batch, dtype=torch.int64, device=device)
        self._positions = torch.zeros(cache.max_batch, dtype=torch.int64, device=device)
        self._inputs = torch.zeros(2, cache.max_batch, dtype=torch.int64, pin_memory=device.type != "cpu")
        self._attention: Callable[..., tuple[Tensor, Tensor]] = self._operators.decode_attention
        self._mlp: Callable[..., Tensor] = self._operators.mlp
        self._compiled = levers.compile != "none"
        if self._compiled:
            self._compile(levers.compile)
        self._graphs = self._recorded(shape, dtype) if levers.graphs else None

    @property
    def facts(self) -> dict[str, str]:
        """Of device and software; with a compiler, what it says it did: counts."""
        if not self._compiled:
            return self._facts
        counted = torch._dynamo.utils.counters
        return {
            **self._facts,
            "compile.graphs": str(counted["stats"]["unique_graphs"]),
            "compile.functions without CUDA graphs": str(counted["inductor"]["cudagraph_skips"]),
        }

    def begin(self, batch: Batch) -> None:
        self._batch = batch
        if self._compiled:
            # What the compiler's graphs gave in the step before may now be written over.
            _compiler.cudagraph_mark_step_begin()
        if batch.kind == "prefill":
            self._prompt = torch.tensor(batch.rows[0].tokens, dtype=torch.int64).to(self._device)
            return
        self._inputs.zero_()
        for number, row in enumerate(batch.rows):
            self._inputs[0, number] = row.tokens[0]
            self._inputs[1, number] = row.position
        self._ids.copy_(self._inputs[0], non_blocking=True)
        self._positions.copy_(self._inputs[1], non_blocking=True)

    def embed(self) -> None:
        decode = self._batch.kind == "decode"
        x = self._model.embed[self._ids if decode else self._prompt]
        self._replays = self._graphs if decode else None
        if self._replays:
            self._replays.x.copy_(x)
        self._x = x

    def fetch(self, layer: int) -> None:
        if self._batch.kind == "decode":
            self._pool.fetch(layer, self._batch)

    def attention(self, layer: int) -> None:
        held, m = self._layer(layer), self._model
        if self._batch.kind == "prefill":
            self._x, self._new = self._operators.prefill_attention(held, self._x, m.cos, m.sin)
            return
        pages = self._pool.seen_by(layer)
        if self._replays:
            self._new = self._replays.attention(layer)
        else:
            self._x, self._new = self._attention(held, self._x, pages, self._positions, m.cos, m.sin)
        self._pool.read(layer)

    def write_back(self, layer: int) -> None:
        self._pool.write_back(layer, self._new)

    def mlp(self, layer: int) -> None:
        if self._replays:
            self._replays.mlp(layer)
        elif self._batch.kind == "prefill":
            self._x = self._operators.mlp(self._layer(layer), self._x)
        else:
            self._x = self._mlp(self._layer(layer), self._x)

    def head(self) -> None:
        if self._batch.kind == "prefill":
            last = self._x[-1:]
        else:
            last = self._replays.x if self._replays else self._x
        self._logits = self._operators.logits(self._model, last)

    def wait(self) -> None:
        self._queues.wait()
        self._pool.put_away(self._batch)

    def sample(self) -> None:
        self._tokens = self._logits.argmax(dim=-1)
        self._queues.wait_for_compute()

    def read(self) -> list[int]:
        tokens: list[int] = self._tokens.tolist()
        return tokens[: len(self._batch.rows)]

    def logits(self) -> list[list[float]]:
        rows: list[list[float]] = self._logits[: len(self._batch.rows)].tolist()
        return rows

    def close(self) -> None:
        self._queues.wait()

    def _layer(self, number: int) -> Any:
        return self._model.layers[number]

    def _compile(self, mode: str) -> None:
        options: dict[str, Any] = {} if mode == "default" else {"mode": mode}
        self._attention = torch.compile(self._attention, dynamic=False, **options)
        self._mlp = torch.compile(self._mlp, dynamic=False, **options)
        # These stay where they are: the compiler's graphs read them in place instead of a copy. Without a guard, since
        # the two buffers take turns.
        for tensor in (*self._pool.pages, self._positions, self._model.cos, self._model.sin):
            torch._dynamo.mark_static_address(tensor, guard=False)

    def _recorded(self, shape: Shape, dtype: torch.dtype) -> Recorded:
        m = self._model
        x = torch.zeros(self._cache.max_batch, shape.width, dtype=dtype, device=self._device)

        def attention(layer: int, x: Tensor) -> tuple[Tensor, Tensor]:
            pages = self._pool.pages[layer % 2]
            return model.decode_attention(self._layer(layer), x, pages, self._positions, m.cos, m.sin)

        return Recorded(shape.layers, x, attention, lambda layer, x: model.mlp(self._layer(layer), x))


def make(device: str, shape: Shape, cache: Cache, levers: Levers, seed: int) -> TorchBackend:
    found = _device(device)
    _check(found, levers)
    torch.set_grad_enabled(False)
    try:
        return TorchBackend(found, shape, cache, levers, seed)
    except (MemoryError, RuntimeError) as error:
        if not _no_room(error):
            raise
        raise BadInput("--model", f"with its buffers does not fit into the memory of {found}") from error


def _no_room(error: Exception) -> bool:
    """Of the host's memory torch says so in words alone, where a size has more bits than there are among them."""
    of_device = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return of_device or any(words in str(error) for words in ("can't allocate memory", "overflow"))


def _device(name: str) -> torch.device:
    kind = name.partition(":")[0]
    if kind not in ("cpu", "cuda", "xpu"):
        raise BadInput("--device", f"is {name!r}; the torch backend knows cpu, cuda and xpu")
    try:
        found = torch.device(name)
    except RuntimeError as error:
        raise BadInput("--device", f"is {name!r}, which is no device") from error
    if kind == "cpu":
        return found
    module = getattr(torch, kind)
    if not module.is_available():
        raise BadInput(
            "--device", f"is {name!r}, and this torch ({torch.__version__}) finds no such device here"
        )
    number = found.index or 0
    if number >= module.device_count():
        raise BadInput("--device", f"is {name!r}, and there are {module.device_count()} here")
    module.set_device(number)
    return torch.device(kind, number)


def _check(device: torch.device, levers: Levers) -> None:
    if levers.dtype not in _DTYPES:
        raise BadInput("--dtype", f"is {levers.dtype!r}; the torch backend has {' and '.join(_DTYPES)}")
    if levers.graphs and device.type != "cuda":
        raise BadInput("--graphs", f"needs CUDA graphs, and the device is {device.type}")
    if levers.graphs and levers.compile != "none":
        raise BadInput("--graphs", "and --compile are two ways to one thing; use one of them")
    if levers.ipex and levers.compile != "none":
        raise BadInput("--ipex", "and --compile: IPEX's operators are called one by one here")
    if levers.ipex and device.type == "cuda":
        raise BadInput("--ipex", "is for the CPU and XPU")


def _facts(device: torch.device) -> dict[str, str]:
    facts = {"torch": str(torch.__version__), "python": platform.python_version()}
    if device.type != "cpu":
        facts["device"] = str(getattr(torch, device.type).get_device_name(device))
    if torch.version.cuda and device.type == "cuda":
        facts["cuda"] = str(torch.version.cuda)
    return facts
