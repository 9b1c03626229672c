"""What torch's allocator held of each device when a snapshot of it was taken."""

from __future__ import annotations

from typing import Any

from akvsite.estimate import written
from akvsite.pages import Record
from akvsite.pages._html import Cell, captured, counted, number_of, table, text
from akvsite.pages._run import Run

TITLE = "Device memory"

#: Sizes that are listed, those that held most.
LISTED = 40

Pids = dict[int, str]


def write(run: Run) -> str:
    reserved = run.desk.ask("memory_reserved", run_id=run.id, order="process_id,device")
    if not reserved:
        return ""
    held = {_place(row): row for row in run.desk.ask("memory_held", run_id=run.id, order="process_id,device")}
    history = {
        _place(row): row for row in run.desk.ask("memory_history", run_id=run.id, order="process_id,device")
    }
    pids = {row["process_id"]: row["pid"] for row in run.desk.ask("process_list", run_id=run.id)}
    kept = run.desk.ask("memory_kept", run_id=run.id, order="-total_bytes,process_id,device,-bytes")
    return "\n".join(
        [
            "\n"
            + text(
                "A snapshot of torch's allocator: counts of one moment. Reserved is what it had taken from the device. Of that, allocated "
                "is what the program held; waiting is what it had given back and a stream might still use. Both are more than what was "
                "asked for by the waste inside blocks. Free is what lies between the blocks: reserved, and in no use."
            )
            + "\n",
            table(
                ["process", "device", "segments", "reserved", "allocated", "waiting", "waste inside", "free", "in no block"],
                [_line(row, held.get(_place(row)), pids) for row in reserved],
                caption="Reserved memory, and what was in it",
            ),
            *(_history(row) for row in history.values()),
            table(
                ["process", "device", "size of a block", "blocks", "in all", "of these from the history", "the first after", "the last after"],
                [_size(row, history.get(_place(row)), pids) for row in kept[:LISTED]],
                caption=f"Blocks that were held, by size; {min(LISTED, len(kept))} of {number_of(len(kept), 'size')}. When they were handed out is "
                "told from the first entry of the history on",
            ),
        ]
    )  # fmt: skip


def _place(row: Record) -> tuple[int, int | None]:
    return row["process_id"], row["device"]


def _line(reserved: Record, held: Record | None, pids: Pids) -> list[Any]:
    in_blocks = ("allocated_bytes", "waiting_bytes", "waste_bytes", "free_bytes")
    sizes = [held[name] if held else None for name in in_blocks]
    known = sum(held[name] for name in in_blocks if name != "waste_bytes") if held else 0
    return [
        *_named(reserved, pids), counted(reserved["segments"]), _bytes(reserved["reserved_bytes"]),
        *map(_bytes, sizes), _bytes(reserved["reserved_bytes"] - known),
    ]  # fmt: skip


def _size(kept: Record, history: Record | None, pids: Pids) -> list[Any]:
    begun = history["first_ns"] if history else None
    return [
        *_named(kept, pids), _bytes(kept["bytes"]), counted(kept["blocks"]), _bytes(kept["total_bytes"]), counted(kept["in_history"]),
        *(_after(kept[name], begun) for name in ("first_ns", "last_ns")),
    ]  # fmt: skip


def _history(row: Record) -> str:
    counts = (("allocations", "allocation"), ("releases", "release"))
    said = " and ".join(number_of(row[name], word) for name, word in counts)
    device = "a device" if row["device"] is None else f"device {row['device']}"
    return "\n" + text(f"The history of {device} has {number_of(row['entries'], 'entry', 'entries')}, among them {said}. What was handed out "
                       "before it is in the snapshot without a time.") + "\n"  # fmt: skip


def _named(row: Record, pids: Pids) -> list[Any]:
    return [
        captured(pids[row["process_id"]]),
        Cell("unknown") if row["device"] is None else counted(row["device"]),
    ]


def _bytes(size: int | None) -> Cell:
    return Cell("unknown") if size is None else Cell(text(written(size, "B")), size)


def _after(at_ns: int | None, begun_ns: int | None) -> Cell:
    if at_ns is None or begun_ns is None:
        return Cell("unknown")
    return Cell(text(written(at_ns - begun_ns, "ns")), at_ns - begun_ns)
