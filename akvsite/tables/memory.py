"""Memory, as an allocator reported it and as the kernel shows it."""

from __future__ import annotations

from typing import Annotated

from akvsite.columns import Col, Row, describes
from akvsite.tables._shared import OF_PROCESS, ProcessId, RunId


@describes
class MemoryEvent(Row):
    """One allocation or release as an allocator reported it."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, at_ns",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    at_ns: Annotated[int | None, Col("when", "ns")]
    device_type: Annotated[int | None, Col("torch's device type number (0 CPU, 1 CUDA, 12 XPU)")]
    device: Annotated[int | None, Col("device number; -1 for the host")]
    address: Annotated[int | None, Col("address of the block", unsigned=True)]
    bytes: Annotated[int | None, Col("size; negative for a release", "byte")]
    allocated: Annotated[int | None, Col("total allocated after it", "byte")]
    reserved: Annotated[int | None, Col("total reserved after it", "byte")]


@describes
class MemorySample(Row):
    """Memory of one process of a command at one moment, as the kernel shows it."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, at_ns",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    at_ns: Annotated[int, Col("when, on CLOCK_MONOTONIC", "ns")]
    resident_bytes: Annotated[int, Col("resident memory", "byte")]
    anonymous_bytes: Annotated[
        int | None, Col("of that, memory that no file stands behind: heap and stacks", "byte")
    ]
