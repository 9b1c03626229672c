"""What the shim records of each call: one description of every intercepted call.

The role of a parameter follows from its type and name in the header. `EXCEPTIONS` is what the rules cannot tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from headers import Function, Parameter


@dataclass(frozen=True)
class Roles:
    """Names of parameters, or C expressions of them; None: the call has no such thing."""

    queue: str | None = None
    event: str | None = None  # where the call writes the event that it makes
    waits: tuple[str, str] | None = None  # how many events, and the events
    bytes: str | None = None
    blocking: str | None = None
    object: str | None = None  # what the call took or ran
    made: str | None = None  # where the call writes the handle or the address that it makes
    work: tuple[str, str, str] | None = None  # dimensions, global size, local size
    addresses: tuple[str, str] | None = None  # destination and source
    timed: bool = False  # the event stands for work on a device
    waits_on_host: bool = False


# What happens around a call besides its record: C statements, in which the parameters have the names of the header.
# `flags_` become those of the record. What follows a call is done where it succeeded.
BEFORE = {
    "urQueueCreate": "struct ur_queue_properties changed; pProperties = ur_profiling(pProperties, &changed, &flags_);",
    "urQueueRelease": "ur_before_queue_release(WAY, hQueue);",
    "urContextRelease": "ur_before_context_release();",
    "urDeviceRelease": "ur_before_device_release(WAY, hDevice);",
    "urAdapterRelease": "ur_before_adapter_release(WAY, hAdapter);",
    "urLoaderTearDown": "ur_before_teardown(WAY);",
}
AFTER = {
    "urAdapterGet": "if (phAdapters && NumEntries) ur_note_adapter(WAY);",
    "urQueueCreate": "ur_note_device(WAY, hDevice);",
    "urKernelCreate": "akv_object(AKV_KERNEL, *(uint64_t *)phKernel, pKernelName);",
    "urKernelCreateWithNativeHandle": "ur_name_kernel(WAY, *(void **)phKernel);",
    "urQueueBeginGraphCaptureExp": "ur_graph_capture(1);",
    "urQueueBeginCaptureIntoGraphExp": "ur_graph_capture(1);",
    "urQueueEndGraphCaptureExp": "ur_graph_capture(-1);",
}

EXCEPTIONS: dict[str, dict[str, object]] = {
    # The bytes are `count` of a global variable's.
    "urEnqueueDeviceGlobalVariableRead": {"bytes": "count"},
    "urEnqueueDeviceGlobalVariableWrite": {"bytes": "count"},
    # Pixels whose size the call does not say.
    "urEnqueueMemImageRead": {"bytes": None},
    "urEnqueueMemImageWrite": {"bytes": None},
    "urEnqueueMemImageCopy": {"bytes": None},
    "urUSMPitchedAllocExp": {"bytes": "widthInBytes * height"},
    # It asks about a range, and moves nothing.
    "urVirtualMemGetInfo": {"bytes": None},
    # The call waits for what it copied.
    "urUSMContextMemcpyExp": {"waits_on_host": True},
    "urQueueFinish": {"waits_on_host": True},
    "urDeviceWaitExp": {"waits_on_host": True},
    # Not a command on a queue.
    "urKernelGetSuggestedLocalWorkSize": {"work": None},
    "urKernelGetSuggestedLocalWorkSizeWithArgs": {"work": None},
}

# Handles that a call takes, from what it is about to what it merely names.
_OWN_HANDLES = (
    "hKernel", "hCommandBuffer", "hEvent", "hGraph", "hImage", "hMem", "hBuffer", "hImageMem", "hExternalMem",
    "hExternalSemaphore", "hSemaphore", "hPhysMem", "hPool", "hProgram",
)  # fmt: skip
_DESTINATIONS = ("pDst", "hBufferDst", "hDstMem", "hImageDst")
_SOURCES = ("pSrc", "hBufferSrc", "hSrcMem", "hImageSrc")
_MEMORY = ("pMem", "pMemory", "pHostMem", "pStart", "pMappedPtr")
_MADE_ADDRESS = ("ppMem", "ppRetMem", "ppRetMap", "ppStart")


def roles(function: Function) -> Roles:
    """The roles of the parameters of one function."""
    by_name = {p.name: p for p in function.parameters}
    found = Roles(
        queue=next((p.name for p in function.parameters if p.spelled == "ur_queue_handle_t"), None),
        event=next((p.name for p in function.parameters if p.name == "phEvent" and p.out), None),
        waits=_waits(function),
        bytes=_bytes(by_name),
        blocking=next((p.name for p in function.parameters if p.name.startswith("blocking")), None),
        object=_object(function, by_name),
        made=_made(function),
        work=_work(by_name),
        addresses=_addresses(by_name),
    )
    found = replace(
        found,
        timed=found.queue is not None and found.event is not None,
        waits_on_host=function.name == "urEventWait",
    )
    return replace(found, **EXCEPTIONS.get(function.name, {}))  # type: ignore[arg-type]


def _waits(function: Function) -> tuple[str, str] | None:
    for count, events in zip(function.parameters, function.parameters[1:], strict=False):
        if events.spelled == "const ur_event_handle_t *" and count.reduced == "uint32_t":
            return count.name, events.name
    return None


def _bytes(by_name: dict[str, Parameter]) -> str | None:
    if "size" in by_name:
        return "size"
    if "region" in by_name:
        return "region.width * region.height * region.depth"
    if {"width", "height"} <= by_name.keys():
        return "width * height"
    return None


def _work(by_name: dict[str, Parameter]) -> tuple[str, str, str] | None:
    if {"workDim", "pGlobalWorkSize", "pLocalWorkSize"} <= by_name.keys():
        return "workDim", "pGlobalWorkSize", "pLocalWorkSize"
    return None


def _first(names: tuple[str, ...], by_name: dict[str, Parameter]) -> str | None:
    return next((name for name in names if name in by_name), None)


def _addresses(by_name: dict[str, Parameter]) -> tuple[str, str] | None:
    """Destination and source: an address, or the handle of a buffer where the call knows no address."""
    destination, source = _first(_DESTINATIONS, by_name), _first(_SOURCES, by_name)
    buffer = _first(("hBuffer", "hImage"), by_name)
    if destination and (source or buffer):
        return destination, source or str(buffer)
    if source and buffer:
        return buffer, source
    return None


def _made(function: Function) -> str | None:
    """Where the call writes what it makes. A `Get` makes nothing, and in a command buffer the memory matters more."""
    if "Get" in function.name or "Append" in function.name or "Update" in function.name:
        return None
    by_name = {p.name: p for p in function.parameters}
    if made := next((name for name in _MADE_ADDRESS if name in by_name), None):
        return made
    for p in function.parameters:
        # Plural names are arrays that the caller may ask for in part.
        if p.out and re.fullmatch(r"ur_\w+_handle_t", p.out) and not p.name.endswith("s"):
            return None if p.name == "phEvent" and "hQueue" in by_name else p.name
    return None


def _object(function: Function, by_name: dict[str, Parameter]) -> str | None:
    if _made(function):
        return None
    if "workDim" in by_name and "hKernel" in by_name:
        return "hKernel"
    if addresses := _addresses(by_name):
        return addresses[0]
    if taken := _first(_DESTINATIONS + _MEMORY + _OWN_HANDLES, by_name):
        return taken
    handles = [p for p in function.parameters if p.spelled.endswith("_handle_t")]
    # What is put on a queue is not about the queue, which has a field of its own.
    if not function.name.startswith("urQueue"):
        handles = [p for p in handles if p.spelled != "ur_queue_handle_t"]
    return handles[0].name if handles else None
