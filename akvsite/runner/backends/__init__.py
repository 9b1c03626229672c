"""Where the engine computes: one file each, found by its name.

A backend is a module of this package without an underscore in front which defines ``make(...)``, returning an object that
meets ``Backend``. It is imported only when it is asked for: it brings torch, or dpctl.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from akvsite.errors import BadInput

if TYPE_CHECKING:
    from akvsite.runner.config import Cache, Levers, Shape


@dataclass(frozen=True)
class Row:
    """One request in a step: ``tokens`` to be run (the whole prompt, or one), the first at ``position``; its ``blocks``.

    ``blocks`` are numbers of blocks of the host's pool, in the order of the tokens that they hold, with room for
    ``tokens``.
    """

    tokens: tuple[int, ...]
    position: int
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class Batch:
    """A step's work: decode rows with one token each and something in the cache, or one prefill row from position 0."""

    kind: str  # decode or prefill
    rows: tuple[Row, ...]


class Backend(Protocol):
    """A step is ``begin``, ``embed``, for each layer ``fetch`` (one ahead or just before), ``attention``, ``write_back``
    and ``mlp``, then ``head``: these put work on queues and return. ``wait`` returns when that work is done, ``sample``
    when each row has its token on the device, ``read`` when they are on the host.

    Rows do not influence each other: what a request gets does not depend on what it shares a batch with.
    """

    #: Such as ``torch cuda``.
    name: str
    #: Its queues by name (compute, copy), for timing events; empty where there are none.
    streams: dict[str, Any]

    @property
    def facts(self) -> dict[str, str]:
        """Of device and software, as far as is known by now: public names, no host."""

    def begin(self, batch: Batch) -> None:
        """Inputs of the step to the device: token ids, positions, what each row may see."""

    def embed(self) -> None: ...

    def fetch(self, layer: int) -> None:
        """Copy the blocks of this layer that the rows see from the host's pool to the device, on the copy queue.

        Nothing for a prefill. The compute queue waits for it in ``attention`` of the same layer.
        """

    def attention(self, layer: int) -> None: ...

    def write_back(self, layer: int) -> None:
        """Copy the new keys and values of this layer to the host, on the copy queue; ``wait`` puts them into the pool."""

    def mlp(self, layer: int) -> None: ...

    def head(self) -> None:
        """Logits of the last token of each row."""

    def wait(self) -> None: ...

    def sample(self) -> None:
        """The most likely token of each row (the first of equals)."""

    def read(self) -> list[int]: ...

    def logits(self) -> list[list[float]]:
        """Of the last step, after ``wait``: (rows, vocabulary), for comparisons of backends on forced tokens."""

    def close(self) -> None: ...


def names() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def make(name: str, device: str, shape: Shape, cache: Cache, levers: Levers, seed: int) -> Backend:
    """Raises ``BadInput`` where there is no such backend, its packages or device are missing, or a lever is not its own."""
    if name not in names():
        raise BadInput("--backend", f"is {name!r}; one of {', '.join(names())}")
    module = importlib.import_module(f"{__name__}.{name}")
    return cast(Backend, module.make(device, shape, cache, levers, seed))
