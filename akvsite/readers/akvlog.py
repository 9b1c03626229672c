"""The files of our own recorders (``shim/AKVLOG.md``), plain or gzip: calls, device times, clock readings, marks.

- Calls go to ``level4_edge`` with source ``shim``, those that never returned too; times of devices to
  ``level3_device``, on the device's own clock; readings of two clocks to ``clock_sample``.
- What a call waited for goes to ``edge_wait``, with the call that had handed the event out, by the lifetime of the
  handle.
- What a probe marked becomes steps, phases, regions, requests and tokens (``_akvlog_marks``), under source ``probe``, or
  ``engine counter`` where the engine's own lists were written down.
- Every other record is counted with the reason why it is no row. A value that no column holds is NULL, and stands in
  the quarantine as it was.

The file is read several times, in batches; what is kept of it are a few tens of bytes a call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from akvsite import scan
from akvsite.calls import handle_of_call, kind_of_interval
from akvsite.readers import _akvlog_account as account
from akvsite.readers import _akvlog_rows as made
from akvsite.readers._akvlog_lifetimes import Lifetimes, Words
from akvsite.readers._akvlog_marks import COUNTERS, PROBE, REQUEST_NAMED, Marks
from akvsite.readers._akvlog_rows import Objects, column
from akvsite.readers._redact import program
from akvsite.reading import Counted, Ending, Part, Process, Rejected, Rows
from akvsite.tables import NO_DEVICE

MAGIC = b"\x89AKVLOG\n"


class Akvlog:
    NAME = "akvlog"
    VERSION = 3
    ABOUT = "what our own recorders and probes saw (akvlog), plain or gzip"
    LEVEL = "edge"
    EPOCH = False

    def __init__(self, rows: int = scan.ROWS) -> None:
        self._rows = rows

    def sniff(self, head: bytes, path: Path) -> bool:
        return head.startswith(MAGIC)

    def level(self, path: Path) -> str:
        """What a file shows by itself: nothing where the engine counted, its phases where a probe looked on."""
        with scan.open_log(path) as log:
            producer = log.header.producer
        return (
            "off" if producer.startswith(COUNTERS) else "runner" if producer.startswith(PROBE) else self.LEVEL
        )

    def read(self, path: Path) -> Iterator[Part]:
        with scan.open_log(path) as log:
            reading = _Reading(log, self._rows)
            yield from reading.head()
            yield from reading.steps()
            yield from reading.marks()
            yield from reading.calls()
            yield from reading.waits()
            yield from reading.intervals()
            yield from reading.clocks()
            yield from reading.counts()
            yield reading.ending()


class _Reading:
    """One file, from its header to its counts. The steps of ``Akvlog.read``, in their order."""

    def __init__(self, log: scan.Log, rows: int) -> None:
        self._log = log
        #: Records of the file that one batch covers.
        self._batch = rows
        entries = log.names
        self._entries = entries
        self._names = made.Names(entries)
        self._values = made.Values()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._events = Lifetimes()
        self._retains = self._names.those(lambda name: handle_of_call(name) == ("event", "retained"))
        self._releases = self._names.those(lambda name: handle_of_call(name) == ("event", "released"))
        self._launches = self._names.those(lambda name: kind_of_interval(name) == "kernel")
        #: Names of objects by their place among the names, and which handle of a kernel had which.
        self._kernels = {
            e["offset"]: e["text"] for e in entries.to_pylist() if e["what"] == 2 and e["complete"]
        }
        self._named = Lifetimes()
        self._marks = Marks(self._names, self._kernels, log.header.producer, self._values)
        #: Indexes of the calls that have device records, in order.
        self._wanted: Words = np.empty(0, np.uint64)
        #: Waits of all calls: handle, when the call was entered, and its index.
        self._waited: list[tuple[Words, Words, Words]] = []
        self._timed: list[made.Timed] = []
        self._last: int | None = None

    def head(self) -> Iterator[Part]:
        header = self._log.header
        yield Process(0, str(header.pid), None, program(header.executable) or None)
        if (clock := account.host_clock(header)) is not None:
            yield clock
        yield from account.facts(header, self._entries)

    def steps(self) -> Iterator[Part]:
        """The steps, before what lies in them, and what the later passes need: names of objects, calls with device times."""
        found: list[Words] = []
        for piece in self._log.pieces("devices", "objects", "marks", rows=self._batch):
            if (devices := piece.get("devices")) is not None:
                found.append(np.unique(column(devices, "call")))
            if (objects := piece.get("objects")) is not None:
                self._name(objects)
            if (marks := piece.get("marks")) is not None:
                for table, rows in self._marks.steps(marks):
                    yield from self._rows(table, rows)
        if found:
            self._wanted = np.unique(np.concatenate(found))

    def _name(self, objects: pa.RecordBatch) -> None:
        of_request = column(objects, "what") == REQUEST_NAMED
        if of_request.any():
            self._marks.name_requests(objects.filter(pa.array(of_request)))
        kernels = objects.filter(pa.array(~of_request))
        # A kernel is named before its handle is handed out, so the order of records is that of its life.
        self._named.made(*(column(kernels, key) for key in ("handle", "index", "name_offset")))
        self._counts["kernel named", "names its launches"] += kernels.num_rows

    def marks(self) -> Iterator[Part]:
        if not self._marks.any:
            return
        for batch in self._log.batches("marks", self._batch):
            for table, rows in self._marks.others(batch):
                yield from self._rows(table, rows)
        for table, rows in self._marks.ending(self._batch):
            yield from self._rows(table, rows)
        yield from self._quarantined()

    def calls(self) -> Iterator[Part]:
        for batch in self._log.batches("calls", self._batch):
            kernels = self._kernels_of(batch)
            rows = made.calls(batch, self._names, kernels, self._values)
            yield from self._rows("level4_edge", rows)
            opened = column(batch, "open").astype(bool)
            self._counts["call that never returned", "level4_edge"] += int(opened.sum())
            self._counts["call", "level4_edge"] += len(opened) - int(opened.sum())
            unknown = int(np.count_nonzero(~self._names.known[column(batch, "name")]))
            self._counts["call whose name is not in the file", account.ALSO] += unknown
            cut = int(np.count_nonzero(column(batch, "flags") & made.CUT))
            self._counts["call of which some words were cut", account.ALSO] += cut
            self._follow_events(batch)
            self._keep(batch, kernels)

    def _follow_events(self, batch: pa.RecordBatch) -> None:
        index, name, flags = (column(batch, key) for key in ("index", "name", "flags"))
        enter, leave, event = (column(batch, key) for key in ("enter_ns", "exit_ns", "event"))
        handed, asked = event != 0, flags & made.EVENT_ASKED != 0
        # A call hands its event out when it returns. A handle can be given anew as soon as its release was entered.
        own = handed & ~asked
        self._events.made(event[own], leave[own], index[own])
        own = handed & asked
        self._events.hidden(event[own], leave[own])
        took = (column(batch, "result") == 0) & ~column(batch, "open").astype(bool)
        object_ = column(batch, "object")
        own = took & self._retains[name]
        self._events.retained(object_[own], enter[own])
        own = took & self._releases[name]
        self._events.released(object_[own], enter[own])
        lists = batch.column("waits")
        handles = lists.flatten().to_numpy(zero_copy_only=False)
        if len(handles):
            times = np.asarray(lists.value_lengths().fill_null(0))
            self._waited.append((handles, np.repeat(enter, times), np.repeat(index, times)))

    def _kernels_of(self, batch: pa.RecordBatch) -> Objects:
        """The name of the kernel that each call (n,) ran, by the lifetime of its handle; None where there is none."""
        found = np.full(batch.num_rows, None, object)
        launches = np.flatnonzero(self._launches[column(batch, "name")])
        offsets, known = self._named.makers_of(
            column(batch, "object")[launches], column(batch, "index")[launches]
        )
        unique, places = np.unique(offsets[known], return_inverse=True)
        texts = np.array([self._kernels.get(offset) for offset in unique.tolist()], object)
        found[launches[known]] = texts[places]
        return found

    def _keep(self, batch: pa.RecordBatch, kernels: Objects) -> None:
        index, wanted = column(batch, "index"), self._wanted
        # Both are in order: only the calls of this batch are looked for.
        low, high = np.searchsorted(wanted, [index[0], index[-1] + np.uint64(1)])
        own = np.isin(index, wanted[low:high], assume_unique=True)
        if own.any():
            index, name, queue, size = (
                column(batch, key)[own] for key in ("index", "name", "queue", "bytes")
            )
            self._timed.append(made.Timed(index, name, kernels[own], queue, size))

    def waits(self) -> Iterator[Part]:
        if not self._waited:
            return
        handles, times, calls = (np.concatenate(parts) for parts in zip(*self._waited, strict=True))
        self._waited = []
        makers, known = self._events.makers_of(handles, times)
        self._events = Lifetimes()
        self._counts["event waited for, its maker known", "edge_wait"] += int(known.sum())
        self._counts["event waited for, its maker not known", "edge_wait"] += int(len(known) - known.sum())
        for first in range(0, len(handles), self._batch):
            part = slice(first, first + self._batch)
            rows = {
                "process": pa.array(np.zeros(len(handles[part]), np.int64)),
                "call_id": pa.array(calls[part]),
                "event": pa.array(handles[part]),
                "maker_id": pa.array(makers[part], mask=~known[part]),
            }
            yield Rows("edge_wait", pa.table(rows))

    def intervals(self) -> Iterator[Part]:
        timed = made.Timed.together(self._timed)
        device = self._device()
        for batch in self._log.batches("devices", self._batch):
            given = column(batch, "result") == 0
            self._counts["device times", "the runtime did not give them"] += int(len(given) - given.sum())
            batch = batch.filter(pa.array(given))
            self._counts["device times", "level3_device"] += batch.num_rows
            if batch.num_rows:
                rows = made.intervals(batch, timed, self._names, device, self._values)
                yield from self._rows("level3_device", rows)

    def _device(self) -> str:
        """The one device whose clock was read; device records do not say theirs."""
        found = {
            int(d)
            for batch in self._log.batches("clocks", self._batch)
            for d in np.unique(column(batch, "device"))
        }
        found.discard(0)
        return made.handle_text(found.pop()) or NO_DEVICE if len(found) == 1 else NO_DEVICE

    def clocks(self) -> Iterator[Part]:
        for batch in self._log.batches("clocks", self._batch):
            given = column(batch, "result") == 0
            self._counts["clock reading", "the runtime did not give it"] += int(len(given) - given.sum())
            batch = batch.filter(pa.array(given))
            self._counts["clock reading", "clock_sample"] += batch.num_rows
            if batch.num_rows:
                by = "probe" if self._log.header.producer.startswith(PROBE) else "shim"
                yield from self._rows("clock_sample", made.clock_samples(batch, self._values, by))

    def _rows(self, table: str, rows: pa.Table) -> Iterator[Part]:
        yield from self._quarantined()
        yield Rows(table, rows)

    def _quarantined(self) -> Iterator[Part]:
        for rejected in self._values.take():
            self._counts["value of a record", f"quarantine: {rejected.reason}"] += 1
            yield rejected

    def counts(self) -> Iterator[Part]:
        tally = self._log.tally()
        self._last = tally.last_ns if tally.last_ns is not None and tally.last_ns <= made.MOST else None
        self._truncated = tally.truncated
        self._counts.update(dict(sorted(self._marks.counts.items())))
        self._counts.update(account.counts(self._log, tally, self._names, self._entries))
        for (what, fate), count in list(self._counts.items()):
            if count > account.MOST_RECORDS:
                # Only a damaged header says so: nothing that is added up with it may leave 64 bits.
                self._counts[what, fate] = 0
                self._counts[what, "quarantine: a count that cannot be"] += 1
                yield Rejected("a count that cannot be", f"{what}, {fate}", str(count))
        yield from (Counted(what, fate, count) for (what, fate), count in self._counts.items() if count)

    def ending(self) -> Ending:
        return Ending(self._truncated, self._last)


READER = Akvlog()
