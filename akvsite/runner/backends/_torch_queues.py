"""The two queues of a device: one that computes and one that copies, and what each waits for.

On the CPU there are none: work is done when the call returns. CUDA and XPU go by the same calls of ``torch.cuda`` and
``torch.xpu`` (streams and events; https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-streams).
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch


class Queues(Protocol):
    """Marks are events: ``computed`` and ``copied`` return one of what is on the queue so far."""

    #: Streams by name, for timing events; empty where there are none.
    streams: dict[str, Any]

    def copying(self) -> AbstractContextManager[Any]:
        """Work inside goes to the copy queue."""

    def computed(self) -> Any: ...

    def copied(self) -> Any: ...

    def compute_after(self, mark: Any) -> None: ...

    def copy_after(self, mark: Any) -> None: ...

    def wait(self) -> None:
        """Until the host sees all work of both queues done."""

    def wait_for_compute(self) -> None: ...


class NoQueues:
    streams: dict[str, Any]

    def __init__(self) -> None:
        self.streams = {}

    def copying(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def computed(self) -> Any:
        return None

    def copied(self) -> Any:
        return None

    def compute_after(self, mark: Any) -> None: ...

    def copy_after(self, mark: Any) -> None: ...

    def wait(self) -> None: ...

    def wait_for_compute(self) -> None: ...


class DeviceQueues:
    """Streams of ``torch.cuda`` or ``torch.xpu``. Computing goes to the device's current stream."""

    def __init__(self, device: torch.device) -> None:
        self._module: Any = getattr(torch, device.type)
        self._compute = self._module.current_stream(device)
        self._copy = self._module.Stream(device)
        self.streams: dict[str, Any] = {"compute": self._compute, "copy": self._copy}

    def copying(self) -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = self._module.stream(self._copy)
        return context

    def computed(self) -> Any:
        return self._mark(self._compute)

    def copied(self) -> Any:
        return self._mark(self._copy)

    def compute_after(self, mark: Any) -> None:
        if mark is not None:
            self._compute.wait_event(mark)

    def copy_after(self, mark: Any) -> None:
        if mark is not None:
            self._copy.wait_event(mark)

    def wait(self) -> None:
        self._compute.synchronize()
        self._copy.synchronize()

    def wait_for_compute(self) -> None:
        self._compute.synchronize()

    def _mark(self, stream: Any) -> Any:
        event = self._module.Event()
        event.record(stream)
        return event


def queues_of(device: torch.device) -> Queues:
    return NoQueues() if device.type == "cpu" else DeviceQueues(device)
