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
    action: Annotated[
        str | None,
        Col(
            "what a snapshot of torch calls it: `alloc`; `free_requested`, then `free_completed` of the same block, which"
            " gives it back; `segment_alloc` and the like, of reserved memory; NULL where the format has no such word"
        ),
    ]
    stream: Annotated[str | None, Col("stream, as the file numbers it")]


@describes
class MemorySegment(Row):
    """A stretch of device memory that torch's allocator had reserved when a snapshot was taken."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    device: Annotated[int | None, Col("device number")]
    address: Annotated[int, Col("where it begins", unsigned=True)]
    bytes: Annotated[int, Col("size", "byte")]
    allocated_bytes: Annotated[int | None, Col("of that, in blocks handed out", "byte")]
    active_bytes: Annotated[
        int | None, Col("of that, handed out, or given back and not free again yet", "byte")
    ]
    requested_bytes: Annotated[int | None, Col("what was asked for, of the active blocks", "byte")]
    stream: Annotated[str | None, Col("stream, as the file numbers it")]
    kind: Annotated[str | None, Col("`large` or `small`, as the allocator calls it")]
    pool: Annotated[
        str | None, Col("pool, as the file numbers it: another than `0, 0` is a graph's or the program's own")
    ]
    expandable: Annotated[int | None, Col("1 where it can grow")]


@describes
class MemoryBlock(Row):
    """A part of a reserved segment when a snapshot was taken: handed out, or free inside the segment."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    device: Annotated[int | None, Col("device number")]
    segment: Annotated[int, Col("where its segment begins", unsigned=True)]
    address: Annotated[int, Col("where it begins", unsigned=True)]
    bytes: Annotated[int, Col("size", "byte")]
    requested_bytes: Annotated[int | None, Col("what was asked for", "byte")]
    state: Annotated[
        str,
        Col(
            "`active_allocated`; `active_pending_free` or `active_awaiting_free`: given back, and a stream may still use"
            " it; `inactive`: free"
        ),
    ]
    since_ns: Annotated[
        int | None,
        Col(
            "when it was handed out; NULL where the history does not tell, as of what is older than it", "ns"
        ),
    ]


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
