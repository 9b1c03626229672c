"""What an Nsight Systems export says about itself: only what may leave the file is asked for, by name.

The tables that hold environments, commands, users, hosts and paths are counted and never read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from akvsite.escape import escape
from akvsite.readers._nsys_file import Damaged, SqliteFile
from akvsite.readers._redact import redact, without_secrets
from akvsite.reading import Fact

#: Events of NVTX that are no row, and why.
EVENTS: dict[object, str] = {
    33: "the name of a category",
    34: "a mark in time",
    39: "the name of a thread",
    65: "a mark in time",
    **dict.fromkeys((35, 36, 37, 38, 66, 67, 68, 69), "half of a range"),
    **dict.fromkeys((64, 72, 73, 74), "metadata"),
    **dict.fromkeys((75, 76), "a domain made or destroyed"),
    **dict.fromkeys((97, 98, 99), "the name of a device, context or stream"),
}

_EXPORT = ("META_DATA_EXPORT", "EXPORT_META_DATA")
_SOFTWARE = {"EXPORT_PRODUCT_VERSION": "nsys"}
_CAPTURE = {
    "EXPORT_SCHEMA_VERSION": "nsys.schema",
    "EXPORT_PARAM_TIME_NORMALIZE": "nsys.time normalised",
    "EXPORT_PARAM_TIME_SHIFT": "nsys.time shift, ns",
}
_PLAIN = re.compile(r"^[\w.+ -]{1,40}$")
_DEVICE = ("totalMemory", "smCount", "clockRate", "computeMajor", "computeMinor")
_WORDS = ("ENUM_CUPTI_SYNC_TYPE", "ENUM_CUPTI_OVERHEAD_TYPE")
_SEVERITIES = {0: "unknown", 1: "info", 2: "warning", 3: "error", 4: "verbose"}
_MOST_MESSAGES = 20
_MOST_ROWS = 4096
#: The profiler's own words for device records and calls that may not be there.
_LOSS = re.compile(rb"not all cuda events|cuda.{0,60}(?:dropped|lost|overflow)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class SessionStart:
    """What is added to the file's times, in ns, and why."""

    epoch: int | None
    normalised: bool
    #: By how much the export moved all times, in ns, as its maker asked.
    shift: str

    @property
    def added(self) -> int:
        return 0 if self.normalised or self.epoch is None else self.epoch

    def facts(self) -> Iterator[Fact]:
        if self.epoch is not None:
            yield Fact("capture", "utcEpochNs", str(self.epoch))
        if self.normalised:
            said = "CLOCK_REALTIME, as the vendor exported it"
        elif self.epoch is not None:
            said = (
                f"CLOCK_REALTIME: the start of the session, {self.epoch} ns as the vendor gives it, was added"
            )
        else:
            said = "from the start of the session: the file does not say when that was"
        if self.shift not in ("", "0"):
            said += f"; the export had moved all times by {self.shift} ns"
        yield Fact("capture", "host axis", said)


def session_start(file: SqliteFile) -> SessionStart:
    epoch = None
    for row in _rows(file, "TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",), (), most=1):
        # A time before 1970 or after 2116 is none of a capture.
        if isinstance(row[0], int) and 0 < row[0] < 2**62:
            epoch = row[0]
    export = _export(file)
    normalised = export.get("EXPORT_PARAM_TIME_NORMALIZE", "").lower() in ("true", "1", "yes")
    return SessionStart(epoch, normalised, export.get("EXPORT_PARAM_TIME_SHIFT", ""))


def _export(file: SqliteFile) -> dict[str, str]:
    names = ", ".join(f"'{name}'" for name in (*_SOFTWARE, *_CAPTURE))
    found: dict[str, str] = {}
    for table in _EXPORT:
        for name, value in _rows(file, table, (), ("name", "value"), where=f"name IN ({names})"):
            if name is not None and value is not None and _PLAIN.match(text := escape(value)):
                found.setdefault(escape(name), text)
    return found


def facts(file: SqliteFile) -> Iterator[Fact]:
    found = _export(file)
    for part, keys in (("software", _SOFTWARE), ("capture", _CAPTURE)):
        yield from (Fact(part, key, found[name]) for name, key in keys.items() if name in found)
    mode = "name GLOB '*CUDA_GRAPH_TRACE_OPTIONS:MODE'"
    for (value,) in _rows(file, "META_DATA_CAPTURE", (), ("value",), where=mode, most=1):
        if value is not None and _PLAIN.match(text := escape(value)):
            yield Fact("capture", "nsys.graphs traced by", text)
    devices: dict[str, str] = {}
    for row in _rows(file, "TARGET_INFO_GPU", ("id", "cuDevice", *_DEVICE), ("name",), most=1024):
        number = next((str(n) for n in (row[1], row[0]) if isinstance(n, int)), None)
        if number is None:
            continue
        if row[-1]:
            devices.setdefault(f"{number}.name", without_secrets(escape(row[-1])[:200]))
        for key, value in zip(_DEVICE, row[2:-1], strict=True):
            if isinstance(value, int):
                devices.setdefault(f"{number}.{key}", str(value))
    yield from (Fact("device", key, value) for key, value in devices.items())


def words(file: SqliteFile) -> dict[str, dict[int, str]]:
    """The labels of the file's own numbers."""
    return {
        table: {
            row[0]: escape(row[1])[:80] for row in _rows(file, table, ("id",), ("label",)) if _labelled(row)
        }
        for table in _WORDS
    }


def _labelled(row: tuple[Any, ...]) -> bool:
    return isinstance(row[0], int) and bool(row[1])


def process_names(file: SqliteFile, keys: set[int]) -> dict[int, str]:
    """Names by what stands above the thread in a global id, of the processes that have rows."""
    found: dict[int, str] = {}
    for number, name in _rows(file, "PROCESSES", ("globalPid",), ("name",), most=1 << 20):
        if isinstance(number, int) and name and (number >> 24) in keys:
            found.setdefault(number >> 24, escape(name)[:1000])
    return found


def messages(file: SqliteFile) -> Iterator[Fact]:
    """Warnings and errors of the profiler, each once."""
    found: Counter[tuple[int, str]] = Counter()
    for severity, text in _rows(file, "DIAGNOSTIC_EVENT", ("severity",), ("text",), most=1 << 16):
        if severity in (2, 3) and text:
            found[severity, without_secrets(redact(escape(text)))[:200]] += 1
    for number, ((severity, text), count) in enumerate(sorted(found.items())[:_MOST_MESSAGES]):
        times = "" if count == 1 else f", {count} times"
        yield Fact("capture", f"nsys.message {number + 1:02}", f"{_SEVERITIES[severity]}{times}: {text}")


def fates_of_messages(file: SqliteFile) -> Counter[str]:
    fates: Counter[str] = Counter()
    for severity, text in _rows(file, "DIAGNOSTIC_EVENT", ("severity",), ("text",), most=1 << 30):
        if text and _LOSS.search(text):
            fates["lost: the profiler says that records may be missing"] += 1
        else:
            word = _SEVERITIES.get(severity, "unknown") if isinstance(severity, int) else "unknown"
            fates[f"a message of the profiler: {word}"] += 1
    return fates


def fate_of(table: str) -> str:
    """Why the rows of a table that is not read are only counted."""
    if table == "StringIds":
        return "texts that rows carry"
    if table.startswith("ENUM_"):
        return "words of the format"
    if table.startswith(("META_DATA_", "EXPORT_META_DATA", "TARGET_INFO_", "ANALYSIS_")):
        return "about the capture: kept only where it is among the facts"
    if table in ("PROCESSES", "ThreadNames", "ProcessStreams"):
        return "about the host's processes: kept only where it names one that has rows"
    return "no table for it"


def _rows(
    file: SqliteFile,
    table: str,
    whole: tuple[str, ...],
    texts: tuple[str, ...],
    *,
    where: str = "1",
    most: int = _MOST_ROWS,
) -> Iterator[tuple[Any, ...]]:
    """Rows of a table beside the events, as far as it is there and can be read."""
    if table not in file.tables:
        return
    left = most
    try:
        for rows in file.batches(file.tables[table], whole, texts, where):
            yield from rows[:left]
            left -= len(rows)
            if left <= 0:
                return
    except Damaged:
        # Its rows are counted as well, and there the damage is told.
        return
