"""The engines, and which of them is used."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import IO, Protocol

import pyarrow as pa

from akvsite.errors import BadInput
from akvsite.scan import _numpy
from akvsite.scan._slots import Slots
from akvsite.scan._tally import Found

CRATE = "akvscan"


class Engine(Protocol):
    """Reads records; everything else of a file is read in one way."""

    name: str

    def batches(self, file: IO[bytes], slots: Slots, table: str, rows: int) -> Iterator[pa.RecordBatch]: ...

    def find(self, file: IO[bytes], slots: Slots) -> Found: ...


class _Python:
    name = "python"
    batches = staticmethod(_numpy.batches)
    find = staticmethod(_numpy.find)


def installed() -> list[str]:
    """The engines that can be used here, the one used by default first."""
    return ["rust", "python"] if importlib.util.find_spec(CRATE) else ["python"]


def choose(name: str | None) -> Engine:
    """The engine of this name, or the default one. Raises ``BadInput`` where it is not there."""
    there = installed()
    name = name or there[0]
    if name not in ("rust", "python"):
        raise BadInput("--engine", f"{name!r} is no engine; there are rust and python")
    if name not in there:
        raise BadInput("--engine", "rust is not installed; `pip install ./scanner` adds it (needs cargo)")
    return _Python()
