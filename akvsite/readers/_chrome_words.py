"""The words of Chrome traces: which category is which table, and which way a copy goes."""

from __future__ import annotations

import re

#: Host intervals: the file's category, and our word for it.
HOST = {
    "cpu_op": "operator",
    "Operator": "operator",
    "operator": "operator",
    "user_annotation": "annotation",
    "python_function": "python function",
    "overhead": "overhead",
    "Overhead": "overhead",
}

#: Device intervals. A word in place of None is the kind; None: the kind is told from the name.
DEVICE: dict[str, str | None] = {
    "kernel": "kernel",
    "Kernel": "kernel",
    "concurrent_kernel": "kernel",
    "gpu_memcpy": "copy",
    "Memcpy": "copy",
    "gpu_memset": "fill",
    "Memset": "fill",
    # A synchronization is no work of the device: kept on its queue as a wait.
    "cuda_sync": "wait",
    "xpu_sync": "wait",
    "mtia_sync": "wait",
    "cuda_event": "other",
    "collective_comm": "communication",
    "mtia_ccp_events": None,
    "gpu_op": None,
}

#: Runtime and driver calls.
CALLS = frozenset(
    {
        "cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "xpu_driver", "mtia_runtime", "glow_runtime",
        "privateuse1_runtime", "privateuse1_driver",
    }
)  # fmt: skip

#: Complete events that are no row, and why.
NO_ROW_CATEGORY = {
    "gpu_user_annotation": "drawn by the profiler around device records",
    "Trace": "the window of the profiler itself",
    "xpu_scope_profiler": "a metric sample of the profiler, not an interval",
    "hardware_counters": "a metric sample of the profiler, not an interval",
}
METRIC_SAMPLE = "a metric sample of the profiler, not an interval"

#: Other phases that are no row, and why.
NO_ROW_PHASE = {
    "M": "metadata",
    "C": "a counter sample",
    "s": "a flow arrow", "t": "a flow arrow", "f": "a flow arrow",
    "i": "a mark in time", "I": "a mark in time", "R": "a mark in time",
    "b": "an asynchronous event", "n": "an asynchronous event", "e": "an asynchronous event",
    "S": "an asynchronous event", "T": "an asynchronous event",
    "p": "an asynchronous event", "F": "an asynchronous event",
    "N": "an object's life", "O": "an object's life", "D": "an object's life",
    "P": "a sample",
    "v": "a memory dump", "V": "a memory dump",
    "c": "a clock mark",
    "(": "a context mark", ")": "a context mark",
    "E": "the end of its begin",
}  # fmt: skip

#: Facts that may leave the file, by part. Everything else (hosts, users, jobs, environments, ids) stays in
#: it.
SOFTWARE = (
    "cuda_driver_version", "cuda_runtime_version", "cupti_version", "roctracer_version",
    "hip_runtime_version",
    "hip_driver_version", "xpu_driver_version", "xpu_runtime_version", "pti_version",
)  # fmt: skip
CAPTURE = (
    "schemaVersion",
    "displayTimeUnit",
    "record_shapes",
    "profile_memory",
    "with_stack",
    "with_flops",
    "with_modules",
)
DISTRIBUTED = ("backend", "rank", "world_size")
DEVICE_PROPERTIES = (
    "name", "totalGlobalMem", "computeMajor", "computeMinor", "numSms", "warpSize",
    "computeUnits", "maxClockRate",
)  # fmt: skip


#: Pids that the profiler writes where there is no process.
NO_PROCESS = frozenset({"-1", "null", "", "Spans", "Traces"})


_DIRECTION = re.compile(r"(?<![A-Za-z])(HtoD|DtoH|DtoD|PtoP|HtoH|[HMD]2[HMD])(?![A-Za-z])")
_LONG_DIRECTION = re.compile(r"^(HOST|DEVICE|PEER)_TO_(HOST|DEVICE|PEER)$")


def direction_of(*texts: object) -> str | None:
    """``HtoD`` and its like, from the first text that says it. Level Zero says M for host memory.

    >>> direction_of("Memcpy HtoD (Pinned -> Device)"), direction_of("zeCommandListAppendMemoryCopy(M2D)")
    ('HtoD', 'HtoD')
    >>> direction_of("dma_request", "DEVICE_TO_HOST"), direction_of("dma_request", None)
    ('DtoH', None)
    """
    for text in texts:
        if not isinstance(text, str):
            continue
        if match := _DIRECTION.search(text):
            return match[1].replace("M", "H").replace("2", "to")
        if match := _LONG_DIRECTION.match(text):
            return f"{match[1][0]}to{match[2][0]}"
    return None


_MTIA = {"dma_request": "copy", "event_wait": "wait", "event_record": "other"}


def kind_on_device(name: str, kind_of_name: str) -> str:
    """Kind of a device interval whose category does not tell it; ``kind_of_name`` is what its name says as a
    call.

    >>> kind_on_device("dma_request", "other"), kind_on_device("gemm", "other"), kind_on_device("zeX", "copy")
    ('copy', 'kernel', 'copy')
    """
    return _MTIA.get(name) or (kind_of_name if kind_of_name in ("copy", "fill", "wait") else "kernel")
