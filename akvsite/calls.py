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
        ("graph replay", r"^(cuda|cu|hip)GraphLaunch|^urCommandBufferEnqueue|^urEnqueueCommandBufferExp"),
        (
            "launch",
            r"^(_*cuda|cu|hip)(Ext)?(Module)?Launch(Cooperative)?Kernel"
            r"|^hip(Ext|HccModule|ExtModule|Module)Launch"
            r"|^urEnqueue(Cooperative)?KernelLaunch|^zeCommandListAppendLaunch.*Kernel"
            r"|^runFunction\b|^launchKernel$|^cudaLaunch$|^cuLaunchGrid",
        ),
        (
            "copy",
            r"^(cuda|cu|hip)Memcpy|^urEnqueueUSMMemcpy|^urEnqueueUSMPrefetch$"
            r"|^urEnqueueMem(Buffer|Image)(Read|Write|Copy)"
            r"|^zeCommandListAppend(MemoryCopy|ImageCopy)|^enqueueCommand memcpy",
        ),
        (
            "fill",
            r"^(cuda|hip)Memset|^cuMemset|^urEnqueueUSMFill|^urEnqueueMemBufferFill|^zeCommandListAppendMemoryFill",
        ),
        (
            "wait",
            r"^(cuda|cu|hip)(Device|Ctx|Stream|Event)(Synchronize|WaitEvent)|^cuda(Stream|Event)Query"
            r"|^urQueueFinish|^urEventWait$|^synchronize(Stream|Event)?$"
            r"|^ze(CommandQueue|Event|Fence|CommandList)(HostSynchronize|Synchronize)",
        ),
    )
)


def kind_of_call(name: str) -> str:
    """One of ``launch``, ``copy``, ``fill``, ``graph replay``, ``wait``, ``other``.

    >>> [kind_of_call(n) for n in ("cudaLaunchKernelExC", "hipMemcpyWithStream", "cudaMalloc")]
    ['launch', 'copy', 'other']
    """
    for kind, pattern in _PATTERNS:
        if pattern.search(name):
            return kind
    return "other"
