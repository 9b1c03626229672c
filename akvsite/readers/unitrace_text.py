"""What ``unitrace -t`` prints: one line a device command, in nanoseconds, with its times of append and submission.

Lines of anything else in the file are counted: a program's own output may stand between them. The summaries of ``-h``
and ``-d`` are totals without times: a file that holds nothing else is refused.

A line says neither its process nor its queue: the thread that submitted it stands for the queue. The times are those of
the host's monotonic clock, brought there by the vendor from the time of submission: unproven.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from akvsite.conform import captured_columns
from akvsite.errors import BadInput
from akvsite.escape import escape
from akvsite.readers._head import BLOCK, Blocks
from akvsite.readers._unitrace_commands import CONVERSION, command_of
from akvsite.reading import BATCH_ROWS, Counted, Ending, Fact, Part, Process, Rejected, Rows
from akvsite.tables import TABLES

_LINE = (
    r"^Thread (?P<thread>\d{1,20}) Device (?P<device>(?:0[xX])?[0-9A-Fa-f]{1,20}) : (?P<name>.*) \[ns\] (?P<appended>\d+) \(append\)"
    r" (?P<submitted>\d+) \(submit\) (?P<start>\d+) \(start\) (?P<end>\d+) \(end\)[ \t\r]*$"
)
_BEGINS = re.compile(rb"^Thread \d{1,20} Device [0-9A-Fa-fxX]{1,22} : ", re.MULTILINE)
_SUMMARY = re.compile(rb"^=== [\w #]+ ===[ \t\r]*$", re.MULTILINE)
_TOOLS = re.compile(
    rb"^=== (?:API Timing Summary|Device Timing Summary|Kernel Properties|Kernel Submission Summary)",
    re.MULTILINE,
)
_MESSAGE = re.compile(rb"^\[(?:INFO|WARNING|ERROR)\] ")
_LOSS = re.compile(rb"^\[ERROR\] .*(?:timestamp|event)")
_TIMES = ("appended", "submitted", "start", "end")
#: Times of more than 146 years; all have 19 digits from 10^18 on.
_FARTHEST = str(2**62 - 1).encode()
#: A line that is longer is not read; its first bytes are kept.
MAX_LINE = 1 << 20
_KEPT = 1 << 12

UNREADABLE = "a line of the timeline that cannot be read"
TOO_FAR = "a time more than 146 years from zero"
CUT_SHORT = "cut short by the end of the file"
TOO_LONG = f"a line of more than {MAX_LINE >> 20} MiB, only its beginning is kept"


class UnitraceText:
    NAME = "unitrace_text"
    VERSION = 1
    ABOUT = "device timeline that unitrace -t prints (pti-gpu), plain or gzip"
    LEVEL = "device"
    EPOCH = False

    def __init__(self, block: int = BLOCK) -> None:
        self._block = block

    def sniff(self, head: bytes, path: Path) -> bool:
        if head.lstrip()[:1] in (b"{", b"[") and not _MESSAGE.match(head.lstrip()):
            return False
        return _BEGINS.search(head) is not None or _TOOLS.search(head) is not None

    def read(self, path: Path) -> Iterator[Part]:
        reading = _Reading(path, self._block)
        yield Process(0, "unknown")
        yield from reading.lines()
        yield Fact("device", "time step", "1 ns")
        yield Fact("device", "conversion", CONVERSION)
        yield Fact(
            "capture",
            "host axis",
            "the host's monotonic clock (CLOCK_MONOTONIC_RAW on Linux), as the vendor wrote it",
        )
        yield from reading.counts()
        yield reading.ending()


class _Reading:
    """One file, from its lines to its rows."""

    def __init__(self, path: Path, block: int) -> None:
        self._path = path
        self._blocks = Blocks(path, block)
        self._counts: Counter[str] = Counter()
        self._repaired: Counter[str] = Counter()
        self._in_summary = False
        self._number = 0
        self._cut = False
        self._last: int | None = None

    def lines(self) -> Iterator[Part]:
        rest = b""
        for block in self._blocks:
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            if len(rest) > MAX_LINE:
                # What is cut off here goes on as a line of its own, which is none of the timeline.
                lines.append(rest)
                rest = b""
            yield from self._batches(lines)
        if rest:
            yield from self._batches([rest], unfinished=True)
        if not self._counts["level3_device"] and self._counts["a summary: totals without times"]:
            raise BadInput(
                self._path.name,
                "a summary of unitrace (-h, -d or the like): totals without times, of which no record can be made;"
                " bring what -t or --chrome-kernel-logging writes",
            )

    def _batches(self, lines: list[bytes], *, unfinished: bool = False) -> Iterator[Part]:
        for first in range(0, len(lines), BATCH_ROWS):
            yield from self._take(lines[first : first + BATCH_ROWS], unfinished)

    def _take(self, lines: list[bytes], unfinished: bool) -> Iterator[Part]:
        before = self._number
        self._number += len(lines)
        column = pa.array(lines, pa.binary())
        short = pc.less_equal(pc.binary_length(column), MAX_LINE)
        found = pc.extract_regex(pc.if_else(short, column, b""), _LINE)
        whole = pc.is_valid(found)
        far = pa.array([False] * len(lines))
        for name in _TIMES:
            text = pc.fill_null(pc.struct_field(found, name), b"0")
            digits = pc.binary_length(text)
            far = pc.or_(
                far,
                pc.or_(pc.greater(digits, 19), pc.and_(pc.equal(digits, 19), pc.greater(text, _FARTHEST))),
            )
        follows = 0
        for at in pc.indices_nonzero(pc.or_(pc.invert(whole), far)).to_pylist():
            # A summary ends where the timeline goes on.
            self._in_summary &= at == follows
            follows = at + 1
            yield from self._other(lines[at], before + at + 1, bool(whole[at].as_py()), unfinished)
        self._in_summary &= follows == len(lines)
        rows = found.filter(pc.and_(whole, pc.invert(far)))
        if len(rows):
            yield Rows("level3_device", self._rows(rows))

    def _other(self, line: bytes, number: int, whole: bool, unfinished: bool) -> Iterator[Part]:
        """A line that makes no row."""
        begins = _BEGINS.match(line) is not None or (unfinished and line.startswith(b"Thread "))
        if whole or begins or len(line) > MAX_LINE:
            reason = (
                TOO_FAR
                if whole
                else TOO_LONG
                if len(line) > MAX_LINE
                else CUT_SHORT
                if unfinished
                else UNREADABLE
            )
            self._cut |= reason == CUT_SHORT
            self._counts["quarantine"] += 1
            yield Rejected(reason, f"line {number}", escape(line[:_KEPT]))
        elif not line.strip():
            self._counts["blank"] += 1
        elif _MESSAGE.match(line):
            lost = _LOSS.match(line) is not None
            self._counts[
                "lost: the tool says that it could not read a time" if lost else "a message of the tool"
            ] += 1
        else:
            self._in_summary |= _SUMMARY.match(line) is not None
            self._counts[
                "a summary: totals without times" if self._in_summary else "not of the timeline"
            ] += 1

    def _rows(self, found: pa.Array) -> pa.Table:
        count = len(found)
        times = {name: pc.struct_field(found, name).cast(pa.string()).cast(pa.int64()) for name in _TIMES}
        names = pc.struct_field(found, "name").dictionary_encode()
        commands = [command_of(_unquoted(self._text(raw))) for raw in names.dictionary.to_pylist()]

        def told(word: str, kind: pa.DataType) -> pa.Array:
            return pa.array([getattr(command, word) for command in commands], kind).take(names.indices)

        columns = {
            "process": pa.repeat(pa.scalar(0, pa.int64()), count),
            **{word: told(word, pa.string()) for word in ("name", "kind", "direction", "grid", "block")},
            "bytes": told("bytes", pa.int64()),
            "start_ns": times["start"],
            "end_ns": times["end"],
            "appended_ns": times["appended"],
            "submitted_ns": times["submitted"],
            "device": pc.struct_field(found, "device").cast(pa.string()),
            "queue": pc.binary_join_element_wise(
                "of thread", pc.struct_field(found, "thread").cast(pa.string()), " "
            ),
        }
        last = pc.max(times["end"]).as_py()
        self._last = last if self._last is None else max(last, self._last)
        self._counts["level3_device"] += count
        order = [c.name for c in captured_columns(TABLES["level3_device"]) if c.name in columns]
        return pa.table({name: columns[name] for name in ("process", *order)})

    def _text(self, raw: bytes) -> str:
        text = escape(raw)
        if not raw.isascii() and text.encode("utf-8") != raw:
            self._repaired["bytes that are not UTF-8 escaped as \\xNN"] += 1
        return text

    def counts(self) -> Iterator[Part]:
        yield from (Counted("line", fate, count) for fate, count in sorted(self._counts.items()) if count)

    def ending(self) -> Ending:
        return Ending(self._cut or self._blocks.cut is not None, self._last, dict(self._repaired))


def _unquoted(name: str) -> str:
    """Names stand in quotes, since they may hold commas; those of OpenCL do not.

    >>> _unquoted('"f<a, b>"'), _unquoted("GEMM")
    ('f<a, b>', 'GEMM')
    """
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


READER = UnitraceText()
