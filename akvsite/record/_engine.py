"""Which of the two probes is at work: the extension that ``make shim`` builds, or the one in plain Python."""

from __future__ import annotations

import os
from importlib.machinery import ExtensionFileLoader, ModuleSpec

from akvsite.record.events import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any, Protocol, SupportsIndex

    class Engine(Protocol):
        """What both of them can do."""

        NAME: str

        def configure(self, level: int, folder: str | None, /) -> None: ...
        def step(
            self, number: SupportsIndex, kind: str = ..., batch: SupportsIndex | None = ...
        ) -> AbstractContextManager[object, None]: ...
        def phase(self, name: str, /) -> AbstractContextManager[object, None]: ...
        def region(self, name: str, /) -> AbstractContextManager[object, None]: ...
        def layer(self, number: SupportsIndex, /) -> AbstractContextManager[object, None]: ...
        def mark(
            self, kind: int, name: str, start: int, end: int, value: int, a: int, b: int, c: int, /
        ) -> None: ...
        def name_request(self, handle: int, text: str, /) -> None: ...
        def bracket(
            self, device: int, before: int, after: int, device_time: int, resolution: int, /
        ) -> None: ...
        def generation(self) -> int: ...
        def lost(self) -> int: ...
        def path(self) -> str | None: ...


_FILE = "akv_probe.abi3.so"
#: The extension says which functions it has; one that was built from other sources is not used.
_API = 1


def choose() -> Engine:
    """The extension where it is found, unless ``$AKV_PROBE`` is ``python``."""
    wanted = os.environ.get("AKV_PROBE")
    if wanted not in (None, "", "native", "python"):
        say(f"AKV_PROBE is {wanted!r}, which is neither native nor python")
    if wanted != "python":
        found = _native()
        if found is not None:
            return found
        if wanted == "native":
            say(f"AKV_PROBE is native, and there is no {_FILE} that this Python can load: run `make shim`")
    from akvsite.record import _python_probe

    return _python_probe


def _native() -> Engine | None:
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.join(os.path.dirname(os.path.dirname(here)), "shim", "build")
    for folder in (os.environ.get("AKVSITE_SHIM"), built, here):
        path = os.path.join(folder, _FILE) if folder else ""
        if not os.path.isfile(path):
            continue
        loader = ExtensionFileLoader("akv_probe", path)
        try:
            module: Any = loader.create_module(ModuleSpec("akv_probe", loader, origin=path))
            loader.exec_module(module)
        except ImportError:
            continue
        if getattr(module, "API", None) == _API:
            engine: Engine = module
            return engine
    return None
