"""Timing events on chosen queues: the stretch that a step takes of each, on the device's clock, with clock readings.

    events = device_events.of_torch({"compute": stream, "copy": other})      # or of_sycl({"compute": queue})
    events.first(step)       # in the phase `launch`, before its first work is put on the queues
    events.last()            # when all of it is on them, before the phase `wait`
    events.collect()         # between steps: reads what has ended, and the clock, when it is time to
    events.close()

``first`` and ``last`` only put events on queues. What they measured is read in bulk by ``collect``, every
``every_ns``, and written as ``record.device_span``; each time, and at the start and the end, the device's clock is read
between two readings of the host's (``record.clock``). A program with these events on its queues is another one than
without: the capture is to be declared ``timing_events = "on"``, and no time of it is a speed.

The phases matter: that a stretch began after the phase `launch` of its step and had ended when `wait` came back is used
where its times are brought to the host's axis.

What is assumed, so that times can be brought to the host's axis:

- one counter of the device stamps the events of all queues;
- a bracket is true: its event was recorded after the host's first reading and seen done before the second, so it lies
  between them. Its queue is one of its own with nothing in it, which makes the bracket narrow; it is true on any;
- the counter's rate is the host's within 200 parts in a million, and strays from its mean by less than 2 (``akvsite.clock``).

Where each runtime's times come from, and how fine they are, stands in ``_events_torch`` and ``_events_sycl``. The CPU
of torch has no queues and no such events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any, Protocol

from akvsite import record

#: Stretches that may wait to be read; with more, steps go without events and are counted.
ROOM = 4096
#: Between two readings of the device's clock.
EVERY_NS = 100_000_000


@dataclass(frozen=True)
class Bracket:
    """The device's clock between two readings of the host's, ns; ``resolution_ns`` of the device's times, 0: unknown."""

    before_ns: int
    device_ns: int
    after_ns: int
    resolution_ns: int


class Timer(Protocol):
    """The timing events of one device under one runtime. Device times are ns on an axis of the timer's own."""

    def put(self, queue: Any) -> Any:
        """A mark on the queue, done when all before it on the queue is, and before anything after it begins."""

    def is_done(self, mark: Any) -> bool: ...

    def wait(self, mark: Any) -> None: ...

    def times(self, first: Any, last: Any) -> tuple[int, int]:
        """When what lies between two marks, both done, can have begun and ended. The marks are used up."""

    def bracket(self) -> Bracket:
        """Read the clock, on a queue with nothing in it. Returns when it is done."""


class DeviceEvents:
    """The events of some queues of one device, by name. Used by one thread."""

    def __init__(
        self,
        timer: Timer,
        queues: Mapping[str, Any],
        *,
        device: int = 0,
        room: int = ROOM,
        every_ns: int = EVERY_NS,
    ) -> None:
        self._timer, self._queues = timer, dict(queues)
        #: By which the file knows the device: 0 is none there.
        self._handle = device + 1
        self._room, self._every_ns = room, every_ns
        self._step: int | None = None
        self._open: list[tuple[str, Any]] = []
        self._waiting: deque[tuple[int | None, str, Any, Any]] = deque()
        self._closed = False
        #: Stretches that were written; of those without: for want of room, and of steps that had no ``last``.
        self.spans, self.lost, self.unfinished = 0, 0, 0
        self._bracket()

    @property
    def facts(self) -> dict[str, str]:
        """For the capture: that timing was on, and counts."""
        return {
            "timing events": "on",
            "timing events.queues": ", ".join(self._queues),
            "timing events.stretches": str(self.spans),
            "timing events.lost for want of room": str(self.lost),
            "timing events.of steps that were left": str(self.unfinished),
        }

    def first(self, step: int | None) -> None:
        """An event on each queue, before the first work of ``step``."""
        self.unfinished += len(self._open)
        self._open.clear()
        if len(self._waiting) + len(self._queues) > self._room:
            self.lost += len(self._queues)
            return
        self._step = step
        self._open.extend((name, self._timer.put(queue)) for name, queue in self._queues.items())

    def last(self) -> None:
        """An event on each queue, after the last work of the step."""
        for name, mark in self._open:
            self._waiting.append((self._step, name, mark, self._timer.put(self._queues[name])))
        self._open.clear()

    def collect(self) -> None:
        """Between steps: when it is time to, write what has ended and read the clock, which takes some ten microseconds."""
        if monotonic_ns() >= self._due or 2 * len(self._waiting) > self._room:
            self._read()
            self._bracket()

    def close(self) -> None:
        """Wait for what is on the queues, write it, and read the clock a last time."""
        if self._closed:
            return
        self._closed = True
        self.unfinished += len(self._open)
        self._open.clear()
        for _, _, _, last in self._waiting:
            self._timer.wait(last)
        self._read()
        self._bracket()

    def _read(self) -> None:
        while self._waiting and self._timer.is_done(self._waiting[0][3]):
            step, name, first, last = self._waiting.popleft()
            start, end = self._timer.times(first, last)
            record.device_span(start, end, self._handle, step, name)
            self.spans += 1

    def _bracket(self) -> None:
        read = self._timer.bracket()
        record.clock(self._handle, read.before_ns, read.after_ns, read.device_ns, read.resolution_ns)
        self._due = monotonic_ns() + self._every_ns


def of_torch(
    queues: Mapping[str, Any], *, device: int = 0, room: int = ROOM, every_ns: int = EVERY_NS
) -> DeviceEvents:
    """Of streams of ``torch.cuda`` or ``torch.xpu``, all of device number ``device``.

    Raises ``BadInput`` where there is none: the CPU has none.
    """
    from akvsite.record._events_torch import TorchTimer

    return DeviceEvents(TorchTimer(queues, device), queues, device=device, room=room, every_ns=every_ns)


def of_sycl(
    queues: Mapping[str, Any], *, device: int = 0, room: int = ROOM, every_ns: int = EVERY_NS
) -> DeviceEvents:
    """Of ``dpctl.SyclQueue``s of one device, made with the property ``enable_profiling``; ``device`` is its number.

    Raises ``BadInput`` where one was made without, or there is none.
    """
    from akvsite.record._events_sycl import SyclTimer

    return DeviceEvents(SyclTimer(queues), queues, device=device, room=room, every_ns=every_ns)
