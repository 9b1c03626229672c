"""The SQLite file that ``nsys export`` makes of a report of Nsight Systems.

- Kernels, copies, fills and whole graph replays go to ``level3_device``, synchronizations as well, with kind ``wait``:
  they are no work. Where graphs were traced whole, a replay's device time stands in its one record and in no kernel.
- Runtime and driver calls go to ``level4_edge``; NVTX ranges and the profiler's overhead to ``level2_host``, ranges
  that name a step to ``step`` as well.
- Every other table is counted. Environments, hosts, users and paths are never read.

The file's times count from the start of its session; the date that it gives of that is added to them. How they were
brought from the device's clock to the host's is the vendor's: unproven.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from akvsite.errors import BadInput
from akvsite.escape import escape
from akvsite.readers import _nsys_about as about
from akvsite.readers import _nsys_rows as made
from akvsite.readers._head import GZIP
from akvsite.readers._held import Held
from akvsite.readers._nsys_file import Damaged, SqliteFile, TableOfFile, table_names
from akvsite.readers._redact import program
from akvsite.reading import Counted, Ending, Part, Process, Rejected, Rows

_SQLITE = b"SQLite format 3\0"
_NAMES = r"(?:StringIds|CUPTI_ACTIVITY_KIND_|META_DATA_EXPORT|EXPORT_META_DATA|TARGET_INFO_|ENUM_NSYS_|NVTX_EVENTS)"
_TABLE = re.compile(rf'CREATE TABLE "?{_NAMES}'.encode())
_NAME = re.compile(_NAMES)
#: The name of a table in a newer form.
_FORM = re.compile(r"^(?P<base>\w+?)(?:_V(?P<number>\d{1,9}))?$")

#: No time lies farther from zero: 146 years, as a store has it, so that the session's start can be added.
FARTHEST = 2**62 - 1
NO_START = "no start"
NO_NUMBER = "a time that is no whole number"
TOO_FAR = "a time more than 146 years from zero"

_RANGES = (59, 60, 70, 71)
#: Tables that are counted one by one; a file with more has the rest counted together.
_MOST_TABLES = 1000

_AT = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid")
_CALL = ("start", "end", "globalTid", "correlationId", "nameId", "returnValue")


@dataclass(frozen=True)
class _Kind:
    """One table of the file: the level that its rows go to, the columns they are made of, and how."""

    level: str
    whole: tuple[str, ...]
    make: Callable[[made.Making, made.Columns], dict[str, Any]]
    owner: str = "globalPid"
    texts: tuple[str, ...] = ()
    where: str = "1"
    #: A column, and which of its numbers are no row, with the reason.
    apart: tuple[str, dict[int, str]] | None = None


#: With call stacks on, a call has a second row of a class of its own around the first, with the same id.
_AGAIN = ("eventClass", {67: "the same call again, with its call stack"})
_CUPTI = "CUPTI_ACTIVITY_KIND_"
_KINDS = {
    f"{_CUPTI}KERNEL": _Kind(
        "level3_device",
        (*_AT, "demangledName", "shortName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY",
         "blockZ", "staticSharedMemory", "dynamicSharedMemory", "graphId", "graphNodeId"),
        made.kernels,
    ),
    f"{_CUPTI}MEMCPY": _Kind(
        "level3_device", (*_AT, "bytes", "copyKind", "srcKind", "dstKind", "graphNodeId"), made.copies
    ),
    f"{_CUPTI}MEMSET": _Kind("level3_device", (*_AT, "bytes", "memKind", "graphNodeId"), made.fills),
    f"{_CUPTI}GRAPH_TRACE": _Kind("level3_device", (*_AT, "graphId"), made.replays),
    f"{_CUPTI}SYNCHRONIZATION": _Kind("level3_device", (*_AT, "syncType"), made.waits),
    f"{_CUPTI}RUNTIME": _Kind("level4_edge", _CALL, made.calls, "globalTid", apart=_AGAIN),
    f"{_CUPTI}DRIVER": _Kind("level4_edge", _CALL, made.calls, "globalTid", apart=_AGAIN),
    f"{_CUPTI}OVERHEAD": _Kind(
        "level2_host", ("start", "end", "globalTid", "nameId", "overheadType"), made.overheads, "globalTid"
    ),
    "PROFILER_OVERHEAD": _Kind(
        "level2_host", ("start", "end", "globalTid", "nameId", "overheadType"), made.overheads, "globalTid"
    ),
    "NVTX_EVENTS": _Kind(
        "level2_host", ("start", "end", "globalTid", "textId"), made.ranges, "globalTid", ("text",),
        f"typeof(eventType) = 'integer' AND eventType IN {_RANGES}",
    ),
}  # fmt: skip


class Nsys:
    NAME = "nsys"
    VERSION = 1
    ABOUT = "SQLite file of nsys export (Nsight Systems)"
    LEVEL = "device"
    EPOCH = True

    def sniff(self, head: bytes, path: Path) -> bool:
        if not head.startswith(_SQLITE):
            return False
        # What tables there are may stand anywhere in the file.
        return _TABLE.search(head) is not None or any(map(_NAME.match, table_names(path)))

    def read(self, path: Path) -> Iterator[Part]:
        with path.open("rb") as file:
            if file.read(len(GZIP)) == GZIP:
                raise BadInput(
                    path.name, "is compressed: an SQLite file is read as it lies there, decompress it first"
                )
        with closing(SqliteFile(path)) as tables:
            reading = _Reading(path, tables)
            yield from reading.tables()
            yield from reading.processes()
            yield from reading.rows()
            yield from reading.facts()
            yield from reading.counts()
            yield reading.ending()


class _Reading:
    """One file, from its tables to its parts. The steps of ``Nsys.read``, in their order."""

    def __init__(self, path: Path, file: SqliteFile) -> None:
        self._path = path
        self._file = file
        self._mended: Counter[str] = Counter()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._held = Held()
        self._processes = made.Processes()
        self._making = made.Making(made.Strings(file, self._mended), self._processes, about.words(file))
        self._start = about.session_start(file)
        self._read: set[str] = set()
        self._last: int | None = None
        self._damaged = False

    def tables(self) -> Iterator[Part]:
        """Every table that has rows for a level, once; the rows wait."""
        forms = _forms(self._file.tables)
        if not forms and "StringIds" not in self._file.tables:
            raise BadInput(self._path.name, "an SQLite file without any table of an Nsight Systems export")
        for base, kind in _KINDS.items():
            if base in forms:
                yield from self._table(base, kind, self._file.tables[forms[base]])
        if (ranges := forms.get("NVTX_EVENTS")) is not None:
            self._other_events(self._file.tables[ranges])
        yield from self._what_is_no_table()

    def _table(self, base: str, kind: _Kind, table: TableOfFile) -> Iterator[Part]:
        self._read.add(table.name)
        where = kind.where
        if kind.apart is not None and kind.apart[0] in table.columns:
            column, reasons = kind.apart
            where = f"({column} IS NULL OR {column} NOT IN ({', '.join(map(str, reasons))}))"
            counts = self._file.counts_of(table, column)
            for number, reason in reasons.items():
                self._counts[base, reason] += counts.get(number, 0)
        before = 0
        try:
            found = self._file.batches(table, kind.whole, kind.texts, where)
            for batch, wrong in made.batches(found, kind.whole, kind.texts, self._mended):
                yield from self._take(base, kind, batch, wrong, before)
                before += batch.length
        except Damaged as damage:
            self._damaged = True
            self._counts[base, "quarantine"] += 1
            yield Rejected(f"cannot be read on: {damage.why}", f"{table.name}, after row {damage.row}", "")

    def _take(
        self, base: str, kind: _Kind, batch: made.Columns, wrong: dict[str, dict[int, bytes]], before: int
    ) -> Iterator[Part]:
        good = np.ones(batch.length, bool)
        for reason, bad in _bad_times(batch, wrong):
            for at in np.flatnonzero(bad & good).tolist():
                self._counts[base, "quarantine"] += 1
                yield Rejected(reason, f"{base}, row {before + at + 1}", _raw(batch, wrong, at))
            good &= ~bad
        columns = kind.make(self._making, batch)
        owners = batch[kind.owner]
        # Where a time cannot be, the sum may wrap: those rows go.
        for name in ("start", "end"):
            columns[f"{name}_ns"] = pc.add(batch[name], pa.scalar(self._start.added, pa.int64()))
        rows = made.shaped(kind.level, columns, batch.length)
        if not good.all():
            rows, owners = rows.filter(pa.array(good)), owners.filter(pa.array(good))
        if not rows.num_rows:
            return
        place = rows.schema.get_field_index("process")
        rows = rows.set_column(place, "process", self._processes.of(owners))
        self._counts[base, kind.level] += rows.num_rows
        last = max(pc.max(rows.column(name)).as_py() or -(2**63) for name in ("start_ns", "end_ns"))
        self._last = last if self._last is None else max(self._last, last)
        self._held.add(kind.level, rows)
        if base == "NVTX_EVENTS" and (steps := made.steps_of(rows)) is not None:
            self._held.add("step", steps)

    def _other_events(self, table: TableOfFile) -> None:
        """Events of NVTX that are no range."""
        for kind, count in self._file.counts_of(table, "eventType").items():
            if kind not in _RANGES:
                self._counts["NVTX_EVENTS", about.EVENTS.get(kind, "no event of a known type")] += count

    def _what_is_no_table(self) -> Iterator[Part]:
        for name, what in self._file.others.items():
            if _base(name) in _KINDS:
                self._counts[name, "quarantine"] += 1
                yield Rejected(f"a {what} and no table: not read", name[:200], "")
            else:
                self._counts["view, trigger or virtual table", "no table of the file"] += 1
        log = self._path.with_name(f"{self._path.name}-wal")
        if log.is_file() and log.stat().st_size:
            self._counts["write-ahead log", "quarantine"] += 1
            yield Rejected(
                "a write-ahead log beside the file: not read",
                "beside the file",
                f"{log.stat().st_size} bytes",
            )

    def processes(self) -> Iterator[Part]:
        names = about.process_names(self._file, set(self._processes.keys))
        for index, key in enumerate(self._processes.keys):
            name = names.get(key)
            yield Process(index, made.Processes.pid(key), None, program(name) if name else None)

    def rows(self) -> Iterator[Part]:
        for table, rows in self._held.replay():
            yield Rows(table, rows, owned=True)

    def facts(self) -> Iterator[Part]:
        yield from about.facts(self._file)
        yield from self._start.facts()
        yield from about.messages(self._file)

    def counts(self) -> Iterator[Part]:
        forms = set(_forms(self._file.tables))
        for number, name in enumerate(self._file.tables):
            if name in self._read:
                continue
            rows = self._file.count(name)
            what = name[:80] if number < _MOST_TABLES else "other tables"
            what = "ENUM_ tables" if name.startswith("ENUM_") else what
            if rows is None:
                self._damaged = True
                self._counts[what, "quarantine"] += 1
                yield Rejected("cannot be read", name[:200], "")
            elif _base(name) in forms:
                self._counts[what, "another form of a table that was read"] += rows
            elif name == "DIAGNOSTIC_EVENT":
                for fate, count in about.fates_of_messages(self._file).items():
                    self._counts[what, fate] += count
            else:
                self._counts[what, about.fate_of(name)] += rows
        yield from (Counted(what, fate, count) for (what, fate), count in self._counts.items() if count)

    def ending(self) -> Ending:
        return Ending(self._damaged, self._last, {how: count for how, count in self._mended.items() if count})


def _base(name: str) -> str:
    found = _FORM.match(name)
    return found["base"] if found else name


def _forms(tables: dict[str, TableOfFile]) -> dict[str, str]:
    """The table that is read for each name: the one of that very name, else its newest form.

    >>> _forms({"NVTX_EVENTS_V9": None, "NVTX_EVENTS_V10": None, "PROFILER_OVERHEAD": None})
    {'NVTX_EVENTS': 'NVTX_EVENTS_V10', 'PROFILER_OVERHEAD': 'PROFILER_OVERHEAD'}
    """
    forms: dict[str, tuple[int, str]] = {}
    for name in tables:
        found = _FORM.match(name)
        if found is not None and found["base"] in _KINDS:
            number = int(found["number"]) if found["number"] else 2**31
            forms[found["base"]] = max((number, name), forms.get(found["base"], (-1, "")))
    return {base: name for base, (_, name) in forms.items()}


def _bad_times(
    batch: made.Columns, wrong: dict[str, dict[int, bytes]]
) -> Iterator[tuple[str, np.ndarray[Any, np.dtype[np.bool_]]]]:
    """Which rows (n,) have a time that cannot be one, by reason."""
    no_number = np.zeros(batch.length, bool)
    for name in ("start", "end"):
        no_number[list(wrong.get(name, ()))] = True
    yield NO_NUMBER, no_number
    yield NO_START, np.asarray(pc.is_null(batch["start"]).to_numpy(zero_copy_only=False), bool)
    far = np.zeros(batch.length, bool)
    for name in ("start", "end"):
        times = pc.fill_null(batch[name], 0).to_numpy()
        far |= (times > FARTHEST) | (times < -FARTHEST)
    yield TOO_FAR, far


def _raw(batch: made.Columns, wrong: dict[str, dict[int, bytes]], at: int) -> str:
    """The values of one row, as they were."""
    values: dict[str, Any] = {name: column[at].as_py() for name, column in batch.whole.items()}
    values.update({name: escape(found[at]) for name, found in wrong.items() if at in found})
    values.update(
        {name: escape(text) for name, texts in batch.texts.items() if (text := texts[at]) is not None}
    )
    return ", ".join(f"{name}={value}" for name, value in values.items() if value is not None)


READER = Nsys()
