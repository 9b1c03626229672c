"""Capture formats: one file each, found by being here.

A format is a module of this package whose name has no underscore in front and which defines ``READER``, an
object that meets ``akvsite.reading.Reader``. Formats do not know each other; what two of them share stands in
a module whose name begins with an underscore.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from akvsite.errors import BadInput
from akvsite.readers._head import read_head
from akvsite.readers._redact import without_secrets
from akvsite.reading import Reader

__all__ = ["find", "readers", "without_secrets"]


@cache
def _found() -> tuple[Reader, ...]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(module.READER for module in modules if hasattr(module, "READER"))


def readers() -> list[Reader]:
    """Every format, by name."""
    return sorted(_found(), key=lambda reader: reader.NAME)


def find(path: Path) -> Reader:
    """The reader that knows the file, told from its first bytes.

    Raises ``BadInput`` that says what was seen where none knows it, or where several claim it.
    """
    path = Path(path)
    head = read_head(path)
    known = [reader for reader in readers() if reader.sniff(head.data, path)]
    if len(known) == 1:
        return known[0]
    if not known:
        raise BadInput(path.name, f"no reader knows this file ({head.said})")
    names = " and ".join(reader.NAME for reader in known)
    raise BadInput(path.name, f"{names} both claim this file ({head.said})")
