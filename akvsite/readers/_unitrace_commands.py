"""What the name of a device command says, in the words of unitrace.

Kernels carry their SIMD width and shape in the name, copies their direction and size; these become columns, and the
name is left without them, so that one kernel is one name whatever its shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from akvsite.calls import kind_of_interval
from akvsite.readers._chrome_words import direction_of

#: How unitrace brings device times to the host's clock (its ``GetHostTime``).
CONVERSION = "by the vendor, counted from the submission of each record: one that began before it is taken for a turn of the counter"

_KERNEL = re.compile(
    r"^(?P<name>.*?)(?P<simd>\[SIMD\w+)? \{(?P<groups>[\d; ]{1,80})\} \{(?P<items>[\d; ]{1,80})\}\]$",
    re.DOTALL,
)
_SIZED = re.compile(r"^(?P<name>(?:ze|cl)[A-Z]\w*(?:\([A-Z0-9]*\))?)\[(?P<bytes>\d{1,18})\]$")
_TILE = re.compile(r"^Tile #\d+: ")
#: Names of Level Zero and of OpenCL; the others are those of kernels.
_API = re.compile(r"^(?:ze[stx]?|cl)[A-Z]\w*")
_OPENCL: tuple[tuple[str, str | None, re.Pattern[str]], ...] = (
    ("copy", "HtoD", re.compile(r"^clEnqueueWrite(?:Buffer|Image)")),
    ("copy", "DtoH", re.compile(r"^clEnqueueRead(?:Buffer|Image)")),
    ("copy", None, re.compile(r"^clEnqueue(?:Copy|SVMMemcpy|SVMMigrate|Memcpy|MigrateMem)")),
    ("fill", None, re.compile(r"^clEnqueue(?:Fill|SVMMemFill|Mem(?:Fill|set))")),
    ("wait", None, re.compile(r"^clEnqueue(?:Barrier|Marker|WaitForEvents)")),
)
_ORDERS = re.compile(r"^zeCommandListAppend(?:Event(?:Reset)|SignalEvent|MemoryRangesBarrier)")


@dataclass(frozen=True)
class Command:
    name: str
    kind: str
    direction: str | None = None
    bytes: int | None = None
    grid: str | None = None
    block: str | None = None


def is_call(name: str | None) -> bool:
    """Whether a name is that of a call of a driver.

    >>> is_call("zeCommandListAppendBarrier"), is_call("clFinish"), is_call("zebra"), is_call("MPI_Send")
    (True, True, False, False)
    """
    return name is not None and _API.match(name) is not None


@lru_cache(4096)
def command_of(name: str) -> Command:
    """
    >>> command_of("zeCommandListAppendMemoryCopy(M2D)[64]")
    Command(name='zeCommandListAppendMemoryCopy(M2D)', kind='copy', direction='HtoD', bytes=64, grid=None, block=None)
    >>> command_of("f(int, A<{}>)[SIMD32 {8; 1; 1} {64; 1; 1}]")
    Command(name='f(int, A<{}>)[SIMD32]', kind='kernel', direction=None, bytes=None, grid='8x1x1', block='64x1x1')
    """
    size = None
    if found := _SIZED.match(name):
        name, size = found["name"], int(found["bytes"])
    bare = _TILE.sub("", name)
    if _API.match(bare):
        kind, direction = _of_call(bare)
        return Command(name, kind, direction, size)
    if found := _KERNEL.match(name):
        simd = f"{found['simd']}]" if found["simd"] else ""
        return Command(
            f"{found['name']}{simd}", "kernel", grid=_shape(found["groups"]), block=_shape(found["items"])
        )
    return Command(name, "kernel")


def _of_call(name: str) -> tuple[str, str | None]:
    for kind, direction, pattern in _OPENCL:
        if pattern.match(name):
            return kind, direction
    kind = "wait" if _ORDERS.match(name) else kind_of_interval(name)
    return kind, direction_of(name) if kind == "copy" else None


def _shape(numbers: str) -> str:
    return "x".join(part.strip() for part in numbers.split(";"))
