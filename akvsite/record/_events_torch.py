"""Timing events of ``torch.cuda`` and ``torch.xpu``, which tell the time between two of them and nothing else.

An axis is made from that. The event of the first bracket is its origin, at ``ORIGIN_NS``; each later bracket's event
becomes the base for what is recorded after it, at the time that lies between it and the base before. So no time between
two events is much longer than the interval of the brackets, which matters because of how it is stated:

- ``cudaEventElapsedTime`` (CUDA Runtime API, Event Management) gives "a resolution of approximately 0.5 microseconds" and
  a 32-bit float of milliseconds: 24 bits, 8 ns at 100 ms, 1 us at 10 s. HIP documents about 1 us for the same call.
- ``torch.xpu.Event.elapsed_time`` is a 64-bit float of milliseconds, made from the runtime's nanoseconds; the tick of its
  counter is not told, and the resolution is 0: unknown.

That adds up if a time between two events is the difference of two stamps, rounded once: what the tick takes away does not
add up from base to base. The rounding of the float does, by half of its last place at each base: that is at most
0.06 parts in a million of the rate, beside the 2 that are assumed. A stamp of ours is the earliest that the true one
can be, and ``resolution_ns`` is how much later it can be: the documented tick, and the last place of the longest time
read since the base before, twice.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any

from akvsite.errors import BadInput
from akvsite.record.device_events import Bracket

#: No time of the axis is 0, which a record cannot hold.
ORIGIN_NS = 1_000_000_000
CUDA_NS, HIP_NS = 500, 1_000
_MS = 1_000_000
_FLOAT_BITS = 24


@dataclass(frozen=True)
class _Base:
    """An event and its time on the axis."""

    event: Any
    at_ns: int


@dataclass(frozen=True)
class _Mark:
    event: Any
    base: _Base


class TorchTimer:
    """``queues`` are streams of one device, number ``device``."""

    def __init__(self, queues: Mapping[str, Any], device: int = 0) -> None:
        torch = importlib.import_module("torch")
        kinds = {getattr(getattr(queue, "device", None), "type", "?") for queue in queues.values()}
        if len(kinds) != 1 or not kinds <= {"cuda", "xpu"}:
            said = ", ".join(sorted(kinds)) or "no queue"
            raise BadInput("timing events", f"are of streams of one CUDA or XPU device, and here is: {said}")
        (kind,) = kinds
        self._module: Any = getattr(torch, kind)
        self._single = kind == "cuda"
        self._tick_ns = 0 if kind == "xpu" else HIP_NS if getattr(torch.version, "hip", None) else CUDA_NS
        self._own = self._module.Stream(device)
        self._free: list[Any] = []
        # The first event of a stream takes longer than all others.
        self._recorded(self._own).synchronize()
        self._base: _Base | None = None
        self._longest_ms = 0.0

    def put(self, queue: Any) -> _Mark:
        assert self._base is not None
        return _Mark(self._recorded(queue), self._base)

    def is_done(self, mark: _Mark) -> bool:
        return bool(mark.event.query())

    def wait(self, mark: _Mark) -> None:
        mark.event.synchronize()

    def times(self, first: _Mark, last: _Mark) -> tuple[int, int]:
        times = self._earliest(first.base, first.event), self._earliest(last.base, last.event)
        self._free += (first.event, last.event)
        return times

    def bracket(self) -> Bracket:
        before = monotonic_ns()
        event = self._recorded(self._own)
        event.synchronize()
        after = monotonic_ns()
        base = self._base or _Base(event, ORIGIN_NS)
        elapsed_ms = base.event.elapsed_time(event) if event is not base.event else 0.0
        device = self._earliest(base, event) if event is not base.event else base.at_ns
        resolution = self._resolution_ns()
        self._base = _Base(event, base.at_ns + round(elapsed_ms * _MS))
        self._longest_ms = 0.0
        return Bracket(before, device, after, resolution)

    def _recorded(self, queue: Any) -> Any:
        event = self._free.pop() if self._free else self._module.Event(enable_timing=True)
        event.record(queue)
        return event

    def _earliest(self, base: _Base, event: Any) -> int:
        elapsed_ms = float(base.event.elapsed_time(event))
        self._longest_ms = max(self._longest_ms, elapsed_ms)
        return base.at_ns + math.floor(elapsed_ms * _MS - self._last_place_ns(elapsed_ms))

    def _resolution_ns(self) -> int:
        if not self._tick_ns:
            return 0
        return self._tick_ns + math.ceil(2 * self._last_place_ns(self._longest_ms))

    def _last_place_ns(self, elapsed_ms: float) -> float:
        """What the last bit of a stated time is worth."""
        if not self._single:
            return math.ulp(elapsed_ms) * _MS
        return math.ldexp(1.0, math.frexp(elapsed_ms)[1] - _FLOAT_BITS) * _MS
