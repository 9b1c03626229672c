"""What a row is: one dataclass, one table; a file for each kind of thing.

The SQLite schema, the Arrow schemas and the Schema page are all made from these classes. Times are integer
nanoseconds on the capture's own axis; ids are 64-bit and kept as the two's complement of their unsigned value
(SQLite has no unsigned integers), so ``2**64 - 1`` is stored as ``-1``. NULL means unknown, and is never 0.
"""

from __future__ import annotations

from akvsite.columns import Row, Table, described
from akvsite.tables import clocks, levels, links, memory, runs, written

LEVELS: tuple[str, ...] = ("off", "runner", "host", "device", "edge")

#: The word of ``level3_device.clock`` for times of the device's own clock.
DEVICE_CLOCK = "device"
#: What stands for a device where a file does not say of which one its records are.
NO_DEVICE = "not known"

#: In the order in which the files and the classes in them stand.
TABLES: dict[str, Table] = {
    table.name: table
    for file in (runs, levels, clocks, memory, links, written)
    for table in map(described, (row for row in Row.__subclasses__() if row.__module__ == file.__name__))
}

#: Tables that a capture may fill, in the order in which a reader's rows may arrive.
CAPTURED: tuple[str, ...] = (
    "step", "request", "request_event", "token", "level1_runner", "level2_host", "level3_device", "level4_edge", "edge_wait",
    "clock_sample", "memory_event", "memory_segment", "memory_block", "memory_sample", "trial",
)  # fmt: skip


def signed64(value: int) -> int:
    """Two's complement of an unsigned 64-bit value; a value already in the signed range is left as it is.

    >>> signed64(2**64 - 1), signed64(2**32 + 5), signed64(-1)
    (-1, 4294967301, -1)
    """
    if -(2**63) <= value < 2**63:
        return value
    if 0 <= value < 2**64:
        return value - 2**64
    raise OverflowError(f"{value} does not fit in 64 bits")
