"""The instrument: the probe that an engine imports, and the launcher that runs a command at a capture level.

An engine can depend on this alone: importing it loads the probe and nothing else. The launcher is loaded when it is
first asked for.
"""

from __future__ import annotations

from importlib import import_module

from akvsite.record.probe import (
    clock,
    device_span,
    engine,
    layer,
    level,
    lost,
    path,
    phase,
    region,
    request,
    set_level,
    stamp,
    step,
    token,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from akvsite.record import counters
    from akvsite.record._capture import (
        NO_CALLS,
        ROLES,
        RUNTIMES,
        TIMINGS,
        Captured,
        Request,
        capture,
        check_host,
    )

_LAUNCHER = {"NO_CALLS", "ROLES", "RUNTIMES", "TIMINGS", "Captured", "Request", "capture", "check_host"}

__all__ = [
    "NO_CALLS",
    "ROLES",
    "RUNTIMES",
    "TIMINGS",
    "Captured",
    "Request",
    "capture",
    "check_host",
    "clock",
    "counters",
    "device_span",
    "engine",
    "layer",
    "level",
    "lost",
    "path",
    "phase",
    "region",
    "request",
    "set_level",
    "stamp",
    "step",
    "token",
]


def __getattr__(name: str) -> object:
    # Not `from akvsite.record import ...`: that would ask here again.
    if name == "counters":
        return import_module("akvsite.record.counters")
    if name in _LAUNCHER:
        return getattr(import_module("akvsite.record._capture"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
