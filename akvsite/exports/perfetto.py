"""A trace that ui.perfetto.dev and trace_processor open: the rows of a run as slices on named tracks.

Times are nanoseconds, as recorded. What has a time of a device's own clock alone stands on tracks of that clock, whose
group says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from akvsite.exports import _requests
from akvsite.exports._lanes import Arguments, Lanes
from akvsite.exports._packets import Packets
from akvsite.exports._rows import ROWS, Source, columns
from akvsite.exports._target import MADE_BY
from akvsite.milestones import TOKEN
from akvsite.wording import number_of

ENDING = ".perfetto-trace"
ABOUT = "one file for ui.perfetto.dev and trace_processor"
NEXT = "open it at https://ui.perfetto.dev (Open trace file), which reads it on this machine; trace_processor takes SQL"

Progress = Callable[[str], None]
Record = dict[str, Any]

_BY_NAME: Final = {kind.name: kind for kind in ROWS}
#: What the slice itself says, and so no argument of it.
_SLICE = ("name", "start_ns", "duration_ns", "end_ns", "made_by")


def write(source: Source, out: Path, progress: Progress) -> dict[str, int]:
    """Write the file ``out``; rows that are in it, by kind. Those without a time are in no trace, and are not counted."""
    with out.open("wb") as file:
        trace = _Trace(source, Packets(file), progress)
        written = trace.write()
        trace.packets.close()
    return written


class _Trace:
    def __init__(self, source: Source, packets: Packets, progress: Progress) -> None:
        self.source = source
        self.packets = packets
        self.progress = progress
        self.written: dict[str, int] = {}
        self.processes = _processes(source)
        self.groups: dict[str, int] = {}
        #: Perfetto has no time below 0; where a run has one, all of its times are later by this, which the trace says.
        self.later_ns = 0

    def write(self) -> dict[str, int]:
        self.later_ns = max(0, -self._earliest())
        about = self._about()
        _requests.write(
            self.source, self.packets, self.group("Requests and their tokens"), self.later_ns, self.written
        )
        self.spans("steps", "Steps", lambda row: f"drawn by {row['source']}")
        self.spans("phases", "Runner phases", _thread)
        self.spans("regions", "Regions and layer windows", _thread)
        links = _Links(self.source)
        self.spans("calls", "Runtime calls", lambda row: f"{_thread(row)} ({row['source']})", links)
        self._intervals()
        # Where the rest begins: of one step, that is not where the run does.
        self.packets.instant(self.packets.earliest_ns or 0, about, "about this run", self._told())
        return self.written

    def spans(self, name: str, title: str, of: Callable[[Record], str], links: _Links | None = None) -> None:
        """Rows as slices of one track for each process and ``of``."""
        lanes: dict[tuple[int, str], Lanes] = {}
        for batch in self.batches(name):
            flows = links.of([row["call_id"] for row in batch]) if links else None
            for at, row in enumerate(batch):
                key = row["process_id"], of(row)
                if key not in lanes:
                    label = f"{self.processes[key[0]]}, {key[1]}"
                    lanes[key] = Lanes(self.packets, label, self.group(title), 100 * len(lanes))
                start, took = row["start_ns"] + self.later_ns, row["duration_ns"]
                lanes[key].slice(
                    start, None if took is None else start + took, row["name"], _arguments(row),
                    flows[at] if flows else (), row.get("kind") or row.get("category") or "",
                )  # fmt: skip
        for each in lanes.values():
            each.close()

    def _intervals(self) -> None:
        """Each queue's records, on the host's axis where they could be brought there, else on their own clock's."""
        lanes: dict[tuple[Any, ...], Lanes] = {}
        for batch in self.batches("intervals"):
            for row in batch:
                own = row["start_ns"] is None
                # What lies between two timing events is no work, and spans all that is there.
                spans = row["kind"] == "span"
                key = row["process_id"], row["device"], row["queue"], own, spans
                if key not in lanes:
                    lanes[key] = self._queue(row, own, spans, 100 * len(lanes))
                start = row["own_start_ns"] if own else row["start_ns"]
                took = row["duration_ns"]
                end = (
                    row["end_ns"]
                    if not own and row["end_ns"] is not None
                    else None
                    if took is None
                    else start + took
                )
                # An arrow from one clock to another would be read as a time.
                flows = () if own or row["call_id"] is None else (row["interval_id"],)
                lanes[key].slice(
                    start + self.later_ns, None if end is None else end + self.later_ns, row["name"],
                    {**_arguments(row), "associated by": row["made_by"], **({} if own else {"clock": self.clock(row)})},
                    flows, row["kind"],
                )  # fmt: skip
        for each in lanes.values():
            each.close()

    def _queue(self, row: Record, own: bool, spans: bool, rank: int) -> Lanes:
        title = (
            "Device records on the device's own clock: not on the host's axis, no time here is one of the tracks above"
            if own
            else "Device queues"
        )
        what = "spans between timing events" if spans else "records"
        label = f"{self.processes[row['process_id']]}, device {row['device']}, queue {row['queue']}: {what}"
        return Lanes(self.packets, label, self.group(title), rank)

    def clock(self, row: Record) -> str:
        if row["own_start_ns"] is None:
            return "as the vendor converted it, unproven"
        return "middle of what is possible, see start_bound_ns and end_bound_ns"

    def batches(self, name: str) -> Iterator[list[Record]]:
        """Rows that have a time, as records."""
        kind = _BY_NAME[name]
        names = columns(kind)
        self.written[name] = 0
        for batch in self.source.rows(kind):
            records = [dict(zip(names, row, strict=True)) for row in batch]
            timed = [r for r in records if r["start_ns"] is not None or r.get("own_start_ns") is not None]
            self.written[name] += len(timed)
            self.progress(f"{name}: {number_of(self.written[name], 'row')}")
            yield timed

    def group(self, title: str) -> int:
        if title not in self.groups:
            self.groups[title] = self.packets.track(title, rank=len(self.groups))
        return self.groups[title]

    def _about(self) -> int:
        """The first track is the run: what it cannot be used for stands in its name."""
        about = self.source.about
        stamps = "".join(f" · {line}" for line in self.source.retractions())
        name = f"{about['run']}: level {about['level']}, {about['role']} host, {about['use']}{stamps}"
        return self.packets.track(name, rank=-1)

    def _told(self) -> Arguments:
        """What is known of the run."""
        told: Arguments = {
            key: "; ".join(value) if isinstance(value, list) else value
            for key, value in self.source.about.items()
            if isinstance(value, str | int | list)
        }
        told["made by"] = MADE_BY
        if self.later_ns:
            told["times are later, by ns"] = self.later_ns
        return told

    def _earliest(self) -> int:
        """The least time of the run; 0 where there is none."""
        times = [
            f"SELECT min({column}) FROM {table} WHERE run_id = :run"
            for table, names in _TIMES.items()
            for column in names
        ]
        least = [self.source.store.rows(sql, {"run": self.source.run_id})[0] for sql in times]
        known = [value for row in least for value in row.values() if value is not None]
        return int(min(known, default=0))


#: Where a run's earliest time can be.
_TIMES = {
    "step": ("start_ns",), "request": ("start_ns",), "request_event": ("at_ns",), "level1_runner": ("start_ns",),
    "level2_host": ("start_ns",), "level3_device": ("start_ns",), "level4_edge": ("start_ns",),
    "row_interval": ("start_ns",), "token": (*(f"{milestone}_ns" for milestone in TOKEN),),
}  # fmt: skip


class _Links:
    """Which device records are associated with each call: both as arrays, in the order of the calls."""

    def __init__(self, source: Source) -> None:
        # Records on no host axis have no arrow.
        found = source.store.columns(
            "SELECT l.call_id, l.interval_id FROM link l JOIN level3_device d ON d.id = l.interval_id"
            " LEFT JOIN device_on_host h ON h.interval_id = d.id"
            " WHERE l.run_id = ? AND (d.clock IS NULL OR h.start_ns IS NOT NULL) ORDER BY l.call_id, l.interval_id",
            [source.run_id],
        )
        self.calls, self.intervals = found["call_id"], found["interval_id"]

    def of(self, calls: list[int]) -> list[tuple[int, ...]]:
        wanted = np.array(calls, np.int64)
        first = np.searchsorted(self.calls, wanted, side="left").tolist()
        after = np.searchsorted(self.calls, wanted, side="right").tolist()
        return [
            tuple(self.intervals[a:b].tolist()) if b > a else () for a, b in zip(first, after, strict=True)
        ]


def _arguments(row: Record) -> Arguments:
    return {key: value for key, value in row.items() if key not in _SLICE}


def _thread(row: Record) -> str:
    return "thread not known" if row["thread"] is None else f"thread {row['thread']}"


def _processes(source: Source) -> dict[int, str]:
    """What each process is called; two of one name are told apart by their numbers in the store."""
    rows = source.store.rows(
        "SELECT process_id, pid, rank, name FROM process_list WHERE run_id = ? ORDER BY process_id",
        [source.run_id],
    )
    labels = {
        row["process_id"]: (f"pid {row['pid']}" if row["rank"] is None else f"rank {row['rank']}")
        + (f" {row['name']}" if row["name"] else "")
        for row in rows
    }
    told = list(labels.values())
    return {
        key: label if told.count(label) == 1 else f"{label} (process {key})" for key, label in labels.items()
    }
