"""The engines, and which of them is used."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from typing import IO, Protocol

import pyarrow as pa

from akvsite.errors import BadInput
from akvsite.scan import _numpy, _ur_text
from akvsite.scan._slots import Slots
from akvsite.scan._tally import Found
from akvsite.scan._ur_text import TextCounts

CRATE = "akvscan"


class Engine(Protocol):
    """Reads what there is much of; headers and names are read in one way."""

    name: str

    def batches(
        self, file: IO[bytes], slots: Slots, tables: Sequence[str], rows: int
    ) -> Iterator[dict[str, pa.RecordBatch]]: ...

    def find(self, file: IO[bytes], slots: Slots) -> Found: ...

    def ur_text(self, file: IO[bytes], counts: TextCounts, rows: int) -> Iterator[pa.RecordBatch]: ...


class _Python:
    name = "python"
    batches = staticmethod(_numpy.batches)
    find = staticmethod(_numpy.find)
    ur_text = staticmethod(_ur_text.batches)


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
    if name == "rust":
        from akvsite.scan import _rust

        return _rust.ENGINE
    return _Python()
