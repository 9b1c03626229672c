"""Timing events of SYCL through dpctl: barriers, whose profiling information is absolute nanoseconds of the device.

SYCL 2020, 4.6.6.2 (``info::event_profiling::command_start`` and ``command_end``, for queues with ``enable_profiling``). A
barrier begins when all before it on its queue has ended, and nothing after it begins before it has ended: so the work
between two lies from the end of the first to the start of the last. On a queue that is not in order a barrier is itself
an order between what stands before and behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic_ns
from typing import Any

from akvsite.errors import BadInput
from akvsite.record.device_events import Bracket


class SyclTimer:
    def __init__(self, queues: Mapping[str, Any]) -> None:
        import dpctl

        if not queues:
            raise BadInput("timing events", "no queue was given")
        for name, queue in queues.items():
            if not queue.has_enable_profiling:
                raise BadInput(f"queue {name}", "was made without enable_profiling: its events have no times")
        self._done = dpctl.event_status_type.complete
        one = next(iter(queues.values()))
        # Of the same device and context, so that the same counter stamps its events.
        self._own = dpctl.SyclQueue(
            one.sycl_context, one.sycl_device, property=["enable_profiling", "in_order"]
        )
        self._resolution_ns = int(one.sycl_device.profiling_timer_resolution)
        self.bracket()  # the first use of a queue takes longer than all others

    def put(self, queue: Any) -> Any:
        return queue.submit_barrier()

    def is_done(self, mark: Any) -> bool:
        return bool(mark.execution_status == self._done)

    def wait(self, mark: Any) -> None:
        mark.wait()

    def times(self, first: Any, last: Any) -> tuple[int, int]:
        return first.profiling_info_end, last.profiling_info_start

    def bracket(self) -> Bracket:
        before = monotonic_ns()
        event = self._own.submit_barrier()
        event.wait()
        after = monotonic_ns()
        return Bracket(before, event.profiling_info_end, after, self._resolution_ns)
