"""What a runtime call asks for, told from its name.

A launch, a copy, a fill and a graph replay are expected to leave device records; a wait blocks the host; the
rest does neither. The names are those of the CUDA runtime and driver (NVIDIA's API reference), HIP, Level
Zero, Unified Runtime, SYCL and MTIA, with the suffixes that the vendors' headers add (``_v2``, ``_ptsz``).
"""

from __future__ import annotations

import re

#: Kinds of call that are expected to leave at least one device record each, and the kind of that record.
EXPECTS: dict[str, str] = {"launch": "kernel", "copy": "copy", "fill": "fill", "graph replay": "graph replay"}

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "graph replay",
            r"^(cuda|cu|hip)GraphLaunch|^urCommandBufferEnqueue|^urEnqueue(CommandBuffer|Graph)Exp",
        ),
        (
            "launch",
            r"^(_*cuda|cu|hip)(Ext)?(Module)?Launch(Cooperative)?Kernel"
            r"|^hip(Ext|HccModule|ExtModule|Module)Launch"
            r"|^urEnqueue(Cooperative)?KernelLaunch|^zeCommandListAppendLaunch.*Kernel"
            r"|^runFunction\b|^launchKernel$|^cudaLaunch$|^cuLaunchGrid",
        ),
        (
            "copy",
            r"^(cuda|cu|hip)Memcpy|^urEnqueueUSM(Memcpy|Prefetch$)|^urUSMContextMemcpy"
            r"|^urEnqueueMem(Buffer|Image)(Read|Write|Copy)|^urEnqueueDeviceGlobalVariable(Read|Write)"
            r"|^urEnqueue(Read|Write)HostPipe|^urBindlessImagesImageCopy"
            r"|^zeCommandListAppend(MemoryCopy|ImageCopy)|^enqueueCommand memcpy",
        ),
        (
            "fill",
            r"^(cuda|hip)Memset|^cuMemset|^urEnqueue(USM|MemBuffer)Fill|^zeCommandListAppendMemoryFill",
        ),
        (
            # That a queue waits for an event (cudaStreamWaitEvent, urEnqueueEventsWait) does not hold the host.
            "wait",
            r"^(cuda|cu|hip)(Device|Ctx|Stream|Event)Synchronize|^cuda(Stream|Event)Query"
            r"|^urQueueFinish|^urEventWait$|^urDeviceWait|^synchronize(Stream|Event)?$"
            r"|^ze(CommandQueue|Event|Fence|CommandList)(HostSynchronize|Synchronize)",
        ),
    )
)

#: Work on a queue that is none of the device: it orders other work, or marks a time.
_ORDERS = re.compile(
    r"^urEnqueueEventsWait|^urEnqueueTimestampRecording|^zeCommandListAppend(Barrier|WaitOnEvents)"
)

#: Names that mean the same call: underscores in front, and what the headers add behind.
_DRESSING = re.compile(r"^_+|(_v\d+|_ptsz|_ptds)+$")

_HANDLES: tuple[tuple[str, re.Pattern[str], re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (kind, re.compile(made), re.compile(retained), re.compile(released))
    for kind, made, retained, released in (
        ("event", r"^urEventCreate|^(cuda|cu|hip|ze)EventCreate", r"^urEventRetain$",
         r"^urEventRelease$|^(cuda|cu|hip|ze)EventDestroy"),
        ("queue", r"^urQueueCreate|^(cuda|cu|hip)StreamCreate|^zeCommandQueueCreate", r"^urQueueRetain$",
         r"^urQueueRelease$|^(cuda|cu|hip)StreamDestroy|^zeCommandQueueDestroy"),
        ("context", r"^urContextCreate|^zeContextCreate", r"^urContextRetain$", r"^urContextRelease$|^zeContextDestroy"),
        ("kernel", r"^urKernelCreate|^zeKernelCreate", r"^urKernelRetain$", r"^urKernelRelease$|^zeKernelDestroy"),
        ("program", r"^urProgram(Create|Link)|^zeModuleCreate", r"^urProgramRetain$",
         r"^urProgramRelease$|^zeModuleDestroy"),
        ("buffer or image", r"^urMem(Buffer|Image)(Create|Partition)", r"^urMemRetain$", r"^urMemRelease$"),
        ("device memory", r"^urUSM(Device|Shared|Pitched)Alloc|^(cuda|hip)Malloc(?!Host)|^cuMemAlloc(?!Host)|^zeMemAlloc(Device|Shared)",
         r"(?!)", r"^(cuda|hip)Free(?!Host)|^cuMemFree(?!Host)|^zeMemFree"),
        ("host memory", r"^urUSMHostAlloc$|^(cuda|hip)(MallocHost|HostAlloc|HostMalloc)|^cuMem(AllocHost|HostAlloc)|^zeMemAllocHost",
         r"(?!)", r"^(cuda|hip)(FreeHost|HostFree)|^cuMemFreeHost"),
        ("memory, of either sort", r"(?!)", r"(?!)", r"^urUSMFree$"),
        ("memory pool", r"^urUSMPoolCreate", r"^urUSMPoolRetain$", r"^urUSMPool(Release$|Destroy)"),
        ("physical memory", r"^urPhysicalMemCreate", r"^urPhysicalMemRetain$", r"^urPhysicalMemRelease$"),
        ("sampler", r"^urSamplerCreate", r"^urSamplerRetain$", r"^urSamplerRelease$"),
        ("command buffer", r"^urCommandBufferCreate", r"^urCommandBufferRetain", r"^urCommandBufferRelease"),
        ("graph", r"^urGraph(Create|Instantiate)|^(cuda|cu|hip)Graph(Create|Instantiate)|^(cuda|cu|hip)StreamEndCapture",
         r"(?!)", r"^urGraph(Executable)?(Graph)?Destroy|^(cuda|cu|hip)Graph(Exec)?Destroy"),
    )
)  # fmt: skip


def kind_of_call(name: str) -> str:
    """One of ``launch``, ``copy``, ``fill``, ``graph replay``, ``wait``, ``other``.

    >>> [kind_of_call(n) for n in ("cudaLaunchKernelExC", "hipMemcpyWithStream", "cudaMalloc")]
    ['launch', 'copy', 'other']
    """
    for kind, pattern in _PATTERNS:
        if pattern.search(name):
            return kind
    return "other"


def kind_of_interval(name: str) -> str:
    """What the device record of a call is: ``kernel``, ``copy``, ``fill``, ``wait`` (it orders other work) or ``other``.

    >>> [kind_of_interval(n) for n in ("urEnqueueKernelLaunch", "urEnqueueEventsWait", "urEnqueueMemUnmap")]
    ['kernel', 'wait', 'other']
    """
    kind = EXPECTS.get(kind_of_call(name), "other")
    return "wait" if _ORDERS.match(name) else "other" if kind == "graph replay" else kind


def direction_of_copy(name: str) -> str | None:
    """``HtoD``, ``DtoH`` or ``DtoD`` where the name of the call says it.

    >>> direction_of_copy("urEnqueueMemBufferReadRect"), direction_of_copy("urEnqueueUSMMemcpy")
    ('DtoH', None)
    """
    if found := re.match(r"^urEnqueue(?:Mem(?:Buffer|Image)|DeviceGlobalVariable)(Read|Write|Copy)", name):
        return {"Read": "DtoH", "Write": "HtoD", "Copy": "DtoD"}[found[1]]
    found = re.search(r"Memcpy(HtoD|DtoH|DtoD)", name)
    return found[1] if found else None


def plain_name(name: str) -> str:
    """The name by which two tools mean the same call.

    >>> plain_name("__cudaLaunchKernel_ptsz"), plain_name("cuMemcpyHtoDAsync_v2")
    ('cudaLaunchKernel', 'cuMemcpyHtoDAsync')
    """
    return _DRESSING.sub("", name)


def handle_of_call(name: str) -> tuple[str, str] | None:
    """The kind of object and what the call does to one: ``created``, ``retained`` or ``released``.

    >>> handle_of_call("urQueueRetain"), handle_of_call("cudaEventDestroy"), handle_of_call("urQueueFinish")
    (('queue', 'retained'), ('event', 'released'), None)
    """
    for kind, *patterns in _HANDLES:
        for act, pattern in zip(("created", "retained", "released"), patterns, strict=True):
            if pattern.match(name):
                return kind, act
    return None
