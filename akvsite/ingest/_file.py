"""One file on its way into the store: its parts become rows, with processes, steps and ids."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from akvsite import link, readers
from akvsite.conform import conform
from akvsite.errors import BadInput
from akvsite.ingest._captures import Outcome, Source
from akvsite.milestones import TOKEN
from akvsite.reading import Counted, Ending, Fact, HostClock, Part, Process, Rejected, Rows
from akvsite.store import RowWriter, Store

Ints = npt.NDArray[np.int64]

#: No time lies farther from zero (146 years), so that the difference of any two fits in 64 bits: SQLite would make
#: a floating number of one that does not.
FARTHEST = 2**62 - 1
#: Times on the clock of the host, of the tables that a file with a ``HostClock`` fills.
HOST_TIMES = {
    "step": ("start_ns", "end_ns"),
    "request": ("start_ns", "end_ns"),
    "request_event": ("at_ns",),
    "token": tuple(f"{milestone}_ns" for milestone in TOKEN),
    "level1_runner": ("start_ns", "end_ns"),
    "level2_host": ("start_ns", "end_ns"),
    "level4_edge": ("start_ns", "end_ns"),
    "clock_sample": ("host_before_ns", "host_after_ns"),
}
#: The fact that says on which axis the host times of such a file are.
AXIS = "host axis"
#: How well it is known there, in ns.
AXIS_BOUND = "host axis is known to, in ns"
MONOTONIC = "CLOCK_MONOTONIC, as recorded"
#: Readings of CLOCK_REALTIME less CLOCK_MONOTONIC that lie further apart are of two boots, or of two machines: setting
#: the clock by the network moves it by milliseconds, and a boot begins CLOCK_MONOTONIC anew.
ONE_BOOT_NS = 1_000_000_000
#: No row lasts longer (104 days): the longest time that a float64 holds to the nanosecond.
LONGEST = 2**53


class Members:
    """The processes of one file, or of the level files of one rank, and the ids that their rows carry."""

    def __init__(self, *, keyed: bool = False) -> None:
        self.process_ids: Ints = np.zeros(0, dtype=np.int64)
        self.gathered = link.Gathered(keyed)
        #: The file whose intervals were gathered last: what is left unlinked is counted there.
        self.intervals_of = 0
        self.waits_of = 0


class Boots:
    """The clocks of the boots that the files of one declared capture were recorded in.

    Files of one boot share CLOCK_MONOTONIC: they are moved by one offset, that of the first of them, so that times of
    two processes stay as exact against each other as they were recorded.
    """

    def __init__(self, *, declared: bool) -> None:
        self._declared = declared
        self._first: list[tuple[HostClock, str]] = []

    def of(self, clock: HostClock, name: str) -> tuple[HostClock, bool]:
        """The clock to be used for a file, and whether it is of another boot than the files before it."""
        if not self._declared:
            return clock, False
        for first, file in self._first:
            apart = abs(first.to_realtime_ns - clock.to_realtime_ns)
            if apart <= ONE_BOOT_NS:
                bound = max(first.bound_ns, apart + clock.bound_ns)
                because = f"as to {file}, {apart} ns from what this file says itself; +- {bound} ns"
                return HostClock(first.to_realtime_ns, bound, because), False
        self._first.append((clock, name))
        return clock, len(self._first) > 1


class Steps:
    """The step of each host row, found as the rows are written: to change them afterwards takes as long again.

    ``late`` says that steps came after rows that may belong to them, so that all have to be looked at in the end.
    """

    def __init__(self, store: Store, run_id: int, *, again: bool) -> None:
        self.late = again
        self._store = store
        self._run_id = run_id
        self._steps: link.Steps | None = None
        self._asked = False
        #: Where the steps of each batch came from: the first id, the last one, and the file.
        self._written: list[tuple[int, int, Path]] = []

    def written(self, ids: Ints, path: Path) -> None:
        if len(ids):
            self._written.append((int(ids[0]), int(ids[-1]), path))

    def file_of(self, step: int) -> Path:
        """The file that the step, written in this ingest, came from."""
        return next(path for first, last, path in self._written if first <= step <= last)

    def of(self, table: str, rows: pa.Table, processes: Ints) -> Ints | None:
        """The step of each of ``rows`` (n,), 0 for none; None for tables that know no steps."""
        if table == "step":
            self._steps = None
            self.late |= self._asked
        if table not in link.STEP_TABLES or "start_ns" not in rows.column_names:
            return None
        starts = rows.column("start_ns")
        self._asked = True
        if not pa.types.is_integer(starts.type):
            self.late = True
            return None
        if self._steps is None:
            self._steps = self._read()
        return self._steps.at(processes, _int64(starts), _known(starts))

    def _read(self) -> link.Steps:
        self._store.connection.execute(link.NESTED_STATEMENT, {"run": self._run_id})
        found = self._store.rows(link.STEPS_QUERY, [self._run_id])
        never = np.iinfo(np.int64).min
        ids, processes, starts, ends = (
            np.array([never if row[name] is None else row[name] for row in found], dtype=np.int64)
            for name in ("id", "process_id", "start_ns", "end_ns")
        )
        return link.Steps(ids, processes, starts, ends)


class File:
    """One file on its way into the store."""

    def __init__(
        self,
        store: Store,
        writer: RowWriter,
        steps: Steps,
        run_id: int,
        source: Source,
        outcome: Outcome,
        members: Members,
        boots: Boots,
        *,
        epoch: bool = False,
    ) -> None:
        self.boots = boots
        self.store = store
        self.writer = writer
        self.steps = steps
        self.run_id = run_id
        self.source = source
        self.outcome = outcome
        self.members = members
        #: Whether host times are to be those of CLOCK_REALTIME, since another file of the run has those.
        self.epoch = epoch
        self.later_ns = 0
        self.ingest_id = 0
        self.counts: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()

    def ingest(self, digest: str) -> None:
        source = self.source
        self.ingest_id = self.store.insert(
            "ingest",
            {
                "run_id": self.run_id,
                "path": source.name,
                "format": source.format,
                "reader_version": source.made_by,
                "sha256": digest,
                "bytes": source.path.stat().st_size,
                "truncated": 0,
                "last_ns": None,
            },
        )
        for part in source.read():
            self.take(part)
        self.settle()
        self.store.connection.executemany(
            "INSERT INTO ingest_count (ingest_id, what, fate, count) VALUES (?, ?, ?, ?)",
            [(self.ingest_id, what, fate, count) for (what, fate), count in sorted(self.counts.items())],
        )
        self.outcome.counts.update(self.counts)

    def take(self, part: Part) -> None:
        match part:
            case Rows():
                self.write(part)
            case Process():
                self.name_process(part)
            case Counted():
                self.counts[part.what, part.fate] += part.count
            case Rejected():
                self.reject(part)
            case Fact():
                self.state(part)
            case HostClock():
                self.place(part)
            case Ending():
                self.end(part)

    def state(self, fact: Fact) -> None:
        self.store.connection.execute(
            "INSERT OR REPLACE INTO run_fact (run_id, ingest_id, part, key, value) VALUES (?, ?, ?, ?, ?)",
            [self.run_id, self.ingest_id, fact.part, fact.key, fact.value],
        )

    def place(self, clock: HostClock) -> None:
        """Put the file's host times on the axis of the run."""
        clock, other_boot = self.boots.of(clock, self.source.name)
        if other_boot and not self.epoch:
            self.outcome.notes.append(
                f"{self.source.name}: its CLOCK_MONOTONIC is not that of the file before it: another boot or machine, or"
                " the clock was set; its times may not be compared with theirs"
            )
        if self.epoch:
            self.later_ns = clock.to_realtime_ns
            self.state(Fact("capture", AXIS_BOUND, str(clock.bound_ns)))
            said = f"CLOCK_REALTIME: {clock.to_realtime_ns} ns were added to CLOCK_MONOTONIC, {clock.because}"
        else:
            said = MONOTONIC
        self.state(Fact("capture", AXIS, said))

    def reject(self, part: Rejected) -> None:
        self.store.insert(
            "quarantine",
            {
                "ingest_id": self.ingest_id,
                "reason": part.reason,
                "place": part.place,
                "raw": readers.without_secrets(part.raw),
            },
        )

    def end(self, part: Ending) -> None:
        self.store.connection.execute(
            "UPDATE ingest SET truncated = ?, last_ns = ? WHERE id = ?",
            [
                int(part.truncated),
                part.last_ns + self.later_ns if part.last_ns else part.last_ns,
                self.ingest_id,
            ],
        )
        if part.truncated:
            self.outcome.truncated.append(self.source.name)
        for how, count in part.repaired.items():
            self.counts["repaired value", how] += count
            self.outcome.notes.append(f"{count:,} {'value' if count == 1 else 'values'} repaired: {how}")

    def name_process(self, process: Process) -> None:
        row_id = self.process_id(process.index)
        rank = self.source.rank if self.source.rank is not None else process.rank
        self.store.connection.execute(
            "UPDATE process SET pid = ?, rank = ?, name = ? WHERE id = ?",
            [process.pid, rank, process.name, row_id],
        )

    def process_id(self, index: int) -> int:
        # Rows may come before the record that names their process: it gets its row with the first of either.
        known = self.members.process_ids
        if index >= len(known):
            known = np.zeros(index + 1, dtype=np.int64)
            known[: len(self.members.process_ids)] = self.members.process_ids
            self.members.process_ids = known
        if not known[index]:
            known[index] = self.store.insert(
                "process",
                {
                    "run_id": self.run_id,
                    "ingest_id": self.ingest_id,
                    "pid": "unknown",
                    "rank": self.source.rank,
                    "name": None,
                },
            )
        return int(known[index])

    def write(self, part: Rows) -> None:
        try:
            rows = self.admit(self.on_axis(part))
            if part.table == "step":
                _refuse_half_marks(rows)
            processes = self.processes_of(rows)
            if part.table == "edge_wait":
                self.gather_waits(rows, processes)
                return
            ids = self.writer.write(part.table, rows, processes, self.steps.of(part.table, rows, processes))
        except (ValueError, pa.ArrowException) as error:
            raise BadInput(
                self.source.path, f"{next(iter(str(error).splitlines()), 'cannot be read')}"
            ) from error
        if part.table == "step":
            self.steps.written(ids, self.source.path)
        if len(ids) and part.table in ("level4_edge", "level3_device"):
            self.gather(part.table, rows, ids, processes, owned=part.owned)

    def gather(self, table: str, rows: pa.Table, ids: Ints, processes: Ints, *, owned: bool) -> None:
        """Keep the ids by which calls and device records are associated once all of them are there."""
        gathered = self.members.gathered
        if table == "level3_device":
            gathered.keyed = owned or (gathered.keyed and "process" in rows.column_names)
            self.members.intervals_of = self.ingest_id
        for name, both in (("correlation", gathered.correlation), ("call_index", gathered.call_index)):
            if name in rows.column_names:
                known = _known(rows.column(name))
                side = both.calls if table == "level4_edge" else both.intervals
                side.add(ids[known], processes[known], _int64(rows.column(name))[known])

    def gather_waits(self, rows: pa.Table, processes: Ints) -> None:
        """Keep what was waited for until the calls have their ids."""
        body = conform("edge_wait", rows)
        calls, events, makers = (_int64(body.column(n)) for n in ("call_id", "event", "maker_id"))
        self.members.waits_of = self.ingest_id
        self.members.gathered.waits.append(
            link.Waits(processes, calls, events, makers, _known(body.column("maker_id")))
        )

    def settle(self) -> None:
        """Each record has one fate: what went to the quarantine here is no longer counted as a row."""
        for (table, fate), count in self.refused.items():
            left = count
            for (what, stored), had in list(self.counts.items()):
                if stored == table and left:
                    moved = min(had, left)
                    left -= moved
                    self.counts[what, stored] -= moved
                    self.counts[what, fate] += moved
            if left:
                self.counts[f"row of {table}", fate] += left
        self.counts += Counter()

    def on_axis(self, part: Rows) -> Rows:
        """The rows with their host times on the run's axis."""
        if not self.later_ns:
            return part
        rows = part.rows
        for name in HOST_TIMES.get(part.table, ()):
            if name not in rows.column_names:
                continue
            times = _int64(rows.column(name))
            # What cannot be a time stays what it is, for the quarantine; the others leave room for the sum.
            near = (times <= FARTHEST) & (times >= -FARTHEST)
            times = np.where(near, times, 0) + np.where(near, self.later_ns, times)
            moved = pa.array(times, mask=~_known(rows.column(name)))
            rows = rows.set_column(rows.schema.get_field_index(name), name, moved)
        return Rows(part.table, rows)

    def admit(self, part: Rows) -> pa.Table:
        """The rows whose times can be: the others go to the quarantine with the reason."""
        rows = part.rows
        for name in rows.column_names:
            if rows.column_names.count(name) > 1:
                raise ValueError(f"column {name!r} of {part.table} is there twice")
        for name in rows.column_names:
            kind = rows.schema.field(name).type
            if not name.endswith("_ns") or not pa.types.is_integer(kind):
                continue
            if pa.types.is_uint64(kind):
                rows = self.keep(
                    rows,
                    pc.less(rows.column(name), pa.scalar(2**63, pa.uint64())),
                    part.table,
                    f"{name} beyond 2^63 - 1",
                )
            times = rows.column(name).cast(pa.int64())
            near = pc.and_(
                pc.less_equal(times, pa.scalar(FARTHEST, pa.int64())),
                pc.greater_equal(times, pa.scalar(-FARTHEST, pa.int64())),
            )
            rows = self.keep(rows, near, part.table, f"{name} more than 146 years from zero")
        if "start_ns" in rows.column_names and "end_ns" in rows.column_names:
            start, end = rows.column("start_ns"), rows.column("end_ns")
            if pa.types.is_integer(start.type) and pa.types.is_integer(end.type):
                # Both lie within FARTHEST: their difference fits.
                length = pc.subtract(end.cast(pa.int64()), start.cast(pa.int64()))
                good = pc.greater_equal(length, 0)
                rows = self.keep(rows, good, part.table, "ends before it begins")
                length = length.filter(pc.fill_null(good, True))
                good = pc.less_equal(length, LONGEST)
                rows = self.keep(rows, good, part.table, "lasts longer than 104 days")
                length = pc.fill_null(length.filter(pc.fill_null(good, True)), 0)
                # As floating numbers: the sum is what may not fit.
                total = self.writer.lasted[part.table] + np.cumsum(length.to_numpy().astype(np.float64))
                if len(total) and total[-1] > FARTHEST:
                    rows = self.keep(
                        rows, pa.chunked_array([pa.array(total <= FARTHEST)]), part.table,
                        "with those before it lasts longer than 146 years",
                    )  # fmt: skip
                    total = total[total <= FARTHEST]
                if len(total):
                    self.writer.lasted[part.table] = float(total[-1])
        return rows

    def keep(self, rows: pa.Table, good: pa.ChunkedArray, table: str, reason: str) -> pa.Table:
        good = pc.fill_null(good, True)
        refused = rows.filter(pc.invert(good))
        if not refused.num_rows:
            return rows
        for row in refused.to_pylist():
            raw = ", ".join(f"{k}={v!r}" for k, v in row.items() if v is not None)
            self.reject(Rejected(reason, f"row of {table}", raw))
        self.refused[table, f"quarantine: {reason}"] += refused.num_rows
        return rows.filter(good)

    def processes_of(self, rows: pa.Table) -> Ints:
        if "process" not in rows.column_names:
            return np.full(rows.num_rows, self.process_id(0), dtype=np.int64)
        local = rows.column("process")
        if not pa.types.is_integer(local.type) or local.null_count:
            raise BadInput(self.source.path, "column 'process' must hold whole numbers")
        index = local.to_numpy()
        for one in np.unique(index):
            if not 0 <= one < 100_000:
                raise BadInput(
                    self.source.path, f"column 'process' holds {one}, which is not a number of a process"
                )
            self.process_id(int(one))
        owners: Ints = self.members.process_ids[index]
        return owners


def _refuse_half_marks(rows: pa.Table) -> None:
    """Warm-up is 0 or 1: another number would be cut by one question and counted by the next."""
    if rows.column_names.count("warm_up") != 1:
        return
    for value in pc.unique(rows.column("warm_up")).to_pylist():
        if value is not None and value not in (0, 1):
            raise ValueError(f"column 'warm_up' of step holds {value!r}; 0 or 1")


def _known(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.is_valid(column).to_numpy(), dtype=bool)


def _int64(column: pa.ChunkedArray) -> Ints:
    bits: Ints = pc.fill_null(column, 0).to_numpy().astype(np.int64, copy=False)
    return bits
