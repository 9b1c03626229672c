"""What looks at the device while the engine runs: nothing, torch's profiler over some steps, or timing events."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput


class Looking:
    """Nothing. ``step`` is around each step; ``first`` and ``last`` around what it puts on the queues."""

    facts: dict[str, str]

    def __init__(self) -> None:
        self.facts = {}

    def step(self, number: int, kind: str) -> AbstractContextManager[Any]:
        return nullcontext()

    def first(self, number: int) -> None: ...

    def last(self) -> None: ...

    def between(self) -> None:
        """After a step, outside its time."""

    def close(self) -> None: ...


class Profiled(Looking):
    def __init__(self, steps: tuple[int, int], file: bool) -> None:
        from akvsite.record import torch_device

        self._profiler = torch_device.Profiler(*steps, export=file)
        self.facts = self._profiler.facts

    def step(self, number: int, kind: str) -> AbstractContextManager[Any]:
        return self._profiler.step(number, kind)

    def close(self) -> None:
        self._profiler.close()


class Timed(Looking):
    """Events on the backend's queues, by their names; ``device`` is the device's number."""

    def __init__(self, backend: str, queues: Mapping[str, Any], device: int) -> None:
        from akvsite.record import device_events

        of = {"torch": device_events.of_torch, "sycl": device_events.of_sycl}.get(backend)
        if of is None or not queues:
            raise BadInput("--device-records events", "needs a backend and a device with queues")
        self._events = of(queues, device=device)
        self.facts = {}

    def first(self, number: int) -> None:
        self._events.first(number)

    def last(self) -> None:
        self._events.last()

    def between(self) -> None:
        self._events.collect()

    def close(self) -> None:
        self._events.close()
        self.facts.update(self._events.facts)


class MemoryHistory:
    """What torch's allocator does from here on; ``write`` puts it into ``$AKV_FILES``."""

    def __init__(self) -> None:
        from akvsite.record import torch_device

        folder = os.environ.get("AKV_FILES")
        if not folder:
            raise BadInput("--memory-snapshot", "$AKV_FILES names no folder for it")
        self._path = Path(folder) / f"torch-memory-{os.getpid()}.pickle.gz"
        torch_device.memory_history()

    def write(self) -> None:
        from akvsite.record import torch_device

        try:
            torch_device.memory_snapshot(self._path)
        except OSError as error:
            raise BadInput("--memory-snapshot", f"cannot be written: {error.strerror}") from error
