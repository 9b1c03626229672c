"""Text logs of the Unified Runtime, read line by line: the engine that needs no Rust.

Two writers are known. The tracing layer prints ``---> urX`` where a call begins and ``<--- urX(params) -> RESULT;`` where
it returns. ``urtrace`` prints ``urX(params) -> RESULT;``, with ``--profiling`` a duration after it, and with ``--begin``
``begin(id) - urX(params);`` and ``end(id) - urX(params) -> RESULT;``. Neither says which thread. What the application
printed lies between the lines, and may stand before one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import IO, Any, NamedTuple

import pyarrow as pa

from akvsite.escape import escape
from akvsite.scan._tables import UR_TEXT

#: Bytes of a line that are read; and calls that are kept as begun, the oldest of more being given up as not returned.
MOST_LINE = 1 << 18
MOST_OPEN = 256
#: Bytes of text after which a batch ends, however few its rows.
MOST_TEXT = 32 << 20

_ARROW = re.compile(rb"(?:^|(?<= ))(--->|<---) (ur[A-Z][A-Za-z0-9_]*)")
_MARKED = re.compile(rb" *(begin|end)\(([0-9]{1,20})\) - (ur[A-Z][A-Za-z0-9_]*)\(")
_PLAIN = re.compile(rb" *(ur[A-Z][A-Za-z0-9_]*)\(")
_DURATION = re.compile(rb"\(([0-9]{1,18})(?:\.([0-9]{1,18}))?(?:e([+-]?[0-9]{1,3}))?(ns|us|ms|s)\)")
_POWER = {b"ns": 0, b"us": 3, b"ms": 6, b"s": 9}


@dataclass
class TextCounts:
    """Lines of a text log, all of them; and of these those that are no call."""

    lines: int = 0
    #: Printed by the application, or not understood.
    other: int = 0
    #: Longer than is read; not looked into.
    too_long: int = 0
    #: A line of a call behind text of the application; the call is read.
    mixed: int = 0

    def set(self, counts: tuple[int, ...]) -> None:
        for field, count in zip(fields(self), counts, strict=True):
            setattr(self, field.name, count)


class _Begun(NamedTuple):
    line: int
    name: bytes
    id: bytes | None
    params: bytes


class _Reader:
    """Rows are made where calls return; those that never do come last, or where too many are open."""

    def __init__(self, counts: TextCounts) -> None:
        self.counts = counts
        self.open: list[_Begun] = []
        self.rows: list[tuple[Any, ...]] = []
        self.text = 0

    def take(self, line: bytes) -> None:
        self.counts.lines += 1
        line = line.rstrip(b" \t\r")
        if found := _ARROW.search(line):
            rest = line[found.end() :]
            if found[1] == b"--->" and rest.lstrip(b" ")[:1] in (b"", b"("):
                self._begin(found[2], None, b"")
            elif found[1] == b"<---" and rest[:1] == b"(":
                self._end(found[2], None, rest[1:])
            else:
                self.counts.other += 1
                return
            self.counts.mixed += bool(line[: found.start()].strip(b" "))
        elif found := _MARKED.match(line):
            rest = line[found.end() :]
            if found[1] == b"begin":
                self._begin(found[3], found[2], rest.removesuffix(b";").removesuffix(b")"))
            else:
                self._end(found[3], found[2], rest)
        elif (found := _PLAIN.match(line)) and b") -> " in line[found.end() :]:
            self._row(found[1], len(self.open), line[found.end() :])
        else:
            self.counts.other += 1

    def _begin(self, name: bytes, id: bytes | None, params: bytes) -> None:
        if len(self.open) == MOST_OPEN:
            self._not_returned(self.open.pop(0), 0)
        self.open.append(_Begun(self.counts.lines, name, id, params))

    def _end(self, name: bytes, id: bytes | None, rest: bytes) -> None:
        # The last one begun: threads are not told apart, so calls of one name that overlap may be swapped.
        for depth in range(len(self.open) - 1, -1, -1):
            if self.open[depth].name == name and self.open[depth].id == id:
                del self.open[depth]
                self._row(name, depth, rest)
                return
        self._row(name, len(self.open), rest)

    def _row(self, name: bytes, depth: int, rest: bytes) -> None:
        params, arrow, tail = rest.rpartition(b") -> ")
        if not arrow:
            self._add(self.counts.lines, name, depth, None, None, rest, True)
            return
        result, _, after = tail.partition(b";")
        self._add(self.counts.lines, name, depth, result, duration_ns(after.strip(b" ")), params, True)

    def _not_returned(self, call: _Begun, depth: int) -> None:
        self._add(call.line, call.name, depth, None, None, call.params, False)

    def _add(
        self,
        line: int,
        name: bytes,
        depth: int,
        result: bytes | None,
        ns: int | None,
        params: bytes,
        returned: bool,
    ) -> None:
        texts = name.decode(), None if result is None else escape(result), escape(params)
        self.text += sum(len(text.encode()) for text in texts if text is not None)
        self.rows.append((line, texts[0], depth, texts[1], ns, texts[2], returned))

    def finish(self) -> None:
        for depth, call in enumerate(self.open):
            self._not_returned(call, depth)
        self.open = []

    def batch(self) -> pa.RecordBatch:
        columns = [
            pa.array(column, type=field.type)
            for column, field in zip(zip(*self.rows, strict=True), UR_TEXT, strict=True)
        ]
        self.rows, self.text = [], 0
        return pa.RecordBatch.from_arrays(columns, schema=UR_TEXT)


def batches(file: IO[bytes], counts: TextCounts, rows: int) -> Iterator[pa.RecordBatch]:
    """The calls of a log in batches of about ``rows``, while ``counts`` grows."""
    reader = _Reader(counts)
    for line in _lines(file):
        if line is None:
            counts.lines += 1
            counts.too_long += 1
        else:
            reader.take(line)
        if len(reader.rows) >= rows or reader.text >= MOST_TEXT:
            yield reader.batch()
    reader.finish()
    if reader.rows:
        yield reader.batch()


def duration_ns(text: bytes) -> int | None:
    """``(1.5us)`` in whole nanoseconds, halves upwards; None where it is no duration or beyond 64 bits.

    >>> duration_ns(b"(1.5us)"), duration_ns(b"(1.23457e+06ms)"), duration_ns(b"")
    (1500, 1234570000000, None)
    """
    found = _DURATION.fullmatch(text)
    if not found:
        return None
    digits = int(found[1] + (found[2] or b""))
    power = _POWER[found[4]] + int(found[3] or 0) - len(found[2] or b"")
    ns = digits * 10**power if power >= 0 else (2 * digits + 10**-power) // (2 * 10**-power)
    return ns if ns < 1 << 63 else None


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Lines without their ends, by position; None for one that is longer than is read."""
    at, held, skipping = 0, b"", False
    while piece := os.pread(file.fileno(), 1 << 20, at):
        at += len(piece)
        *whole, rest = piece.split(b"\n")
        for line in whole:
            line, held = held + line if held else line, b""
            yield None if skipping or len(line) > MOST_LINE else line
            skipping = False
        if not skipping:
            held += rest
        if len(held) > MOST_LINE:
            held, skipping = b"", True
    if held or skipping:
        yield None if skipping else held
