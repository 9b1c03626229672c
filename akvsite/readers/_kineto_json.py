"""The events of a Chrome trace, as stretches of whole events, out of blocks of bytes that end anywhere.

A stretch ``p`` of the array that begins at an event is whole exactly if ``[p]`` is valid JSON. So the last ``} , {`` of
a buffer is tried first, with the decoder itself as the judge; only where that fails does an exact tokenizer look for
the boundaries. Both see every byte a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

CHUNK = 2 << 20
#: An event larger than this is not read; its first bytes are kept.
MAX_EVENT = 16 << 20
#: A value beside the events that is larger than this is not kept.
MAX_VALUE = 1 << 20
KEPT_OF_OVERSIZE = 1 << 16
#: Boundaries tried with the decoder before the tokenizer takes over.
TRIES = 3

_BOUNDARY = re.compile(rb"\}[ \t\r\n]*+,[ \t\r\n]*+(?=\{)")
# No string runs over a line end: so a quote too many is noticed at the end of its line. "broken" is a quote whose
# string ends with the buffer, or in such a fault.
_TOKEN = re.compile(rb'"(?:[^"\\\r\n]++|\\[^\r\n])*+"|(?P<broken>")|[\[\]{},]')
_REST_OF_STRING = re.compile(rb'"(?:[^"\\\r\n]++|\\[^\r\n])*+\\?')
_RESUME = re.compile(rb'\}\s*+,\s*+(?=\{\s*+"(?:ph|name|cat|pid|ts)"\s*+:)')
_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'"((?:[^"\\\r\n]++|\\[^\r\n])*+)"[ \t\r\n]*+:[ \t\r\n]*+')


@dataclass
class Stretch:
    """Whole events, joined by commas. ``spans`` is there where the tokenizer has split them already."""

    data: bytes
    #: Offset of the first byte in the decompressed file.
    at: int
    spans: list[tuple[int, int]] | None = None


@dataclass
class Broken:
    """Bytes among the events that are no event: where, what, and why."""

    at: int
    raw: bytes
    why: str


@dataclass
class Beside:
    """A member of the top-level object beside the events: raw JSON, or None where it is too large to keep."""

    key: str
    raw: bytes | None


@dataclass
class Split:
    spans: list[tuple[int, int]] = field(default_factory=list)
    #: Where the first event that is not whole begins.
    rest: int = 0
    #: Where the array ended, after its bracket; None where it goes on.
    end: int | None = None
    #: Where a fault was met in the event that begins at ``rest``.
    fault: int | None = None


def split(data: bytes) -> Split:
    """Spans of the whole items of an array, from inside it, in one pass over its tokens.

    >>> split(b'{"a": [1, 2]}, 3, {"b"').spans
    [(0, 13), (15, 16)]
    """
    found = Split()
    depth = 0
    start = 0
    for token in _TOKEN.finditer(data):
        mark = data[token.start()]
        if mark in b"{[":
            depth += 1
        elif mark == 0x22:
            if token["broken"] is not None:
                rest = _REST_OF_STRING.match(data, token.start())
                if rest is not None and rest.end() < len(data):
                    found.fault = rest.end()
                return found
        elif depth and mark in b"}]":
            depth -= 1
        elif depth == 0:
            span = _trim(data, start, token.start())
            if span[0] < span[1]:
                found.spans.append(span)
            if mark == 0x7D:
                found.rest = found.fault = token.start()
                return found
            start = found.rest = token.end()
            if mark == 0x5D:
                found.end = token.end()
                return found
    return found


def _trim(data: bytes, start: int, end: int) -> tuple[int, int]:
    space = _SPACE.match(data, start, end)
    start = space.end() if space else start
    while end > start and data[end - 1] in b" \t\r\n":
        end -= 1
    return start, end


class Stream:
    """The parts of one trace, in the order of the file. ``cut`` says afterwards why it ended early, or is None."""

    def __init__(self, blocks: Iterator[bytes], chunk: int = CHUNK) -> None:
        self._blocks = blocks
        self._chunk = max(chunk, 64)
        self._data = b""
        self._at = 0
        self._ended = False
        self._wasted = 0
        self.cut: str | None = None

    def parts(self, is_whole: Callable[[bytes], bool]) -> Iterator[Stretch | Broken | Beside]:
        """``is_whole`` judges a stretch: whether ``[stretch]`` is valid JSON."""
        self._fill(self._chunk)
        if self._data.startswith(b"\xef\xbb\xbf"):
            self._drop(3)
        self._skip_space()
        first = self._data[:1]
        if first == b"[":
            self._drop(1)
            yield from self._events(is_whole)
        elif first == b"{":
            self._drop(1)
            yield from self._members(is_whole)
        elif first:
            yield Broken(self._at, self._data[:KEPT_OF_OVERSIZE], "neither an object nor a list")
            self.cut = "what follows is not JSON"
        else:
            self.cut = "the file is empty"

    # The buffer -------------------------------------------------------------------------------------------------

    def _fill(self, size: int) -> None:
        if len(self._data) >= size or self._ended:
            return
        pieces = [self._data]
        have = len(self._data)
        while have < size:
            block = next(self._blocks, b"")
            if not block:
                self._ended = True
                break
            pieces.append(block)
            have += len(block)
        self._data = b"".join(pieces)

    def _drop(self, count: int) -> None:
        self._data = self._data[count:]
        self._at += count

    def _skip_space(self) -> None:
        while True:
            space = _SPACE.match(self._data)
            self._drop(space.end() if space else 0)
            if self._data or self._ended:
                return
            self._fill(self._chunk)

    # Members of the top-level object ----------------------------------------------------------------------------

    def _members(self, is_whole: Callable[[bytes], bool]) -> Iterator[Stretch | Broken | Beside]:
        while True:
            self._skip_space()
            if self._data[:1] == b",":
                self._drop(1)
                continue
            if self._data[:1] == b"}":
                return
            key = self._key()
            if key is None:
                return
            if key == "traceEvents" and self._data[:1] == b"[":
                self._drop(1)
                yield from self._events(is_whole)
                if self.cut is not None:
                    return
                continue
            raw, whole = self._value()
            if not whole:
                self.cut = f"the value of {key[:80]!r} has no end"
                return
            yield Beside(key, raw)

    def _key(self) -> str | None:
        while True:
            match = _KEY.match(self._data)
            if match is not None and (match.end() < len(self._data) or self._ended):
                self._drop(match.end())
                return match[1].decode("utf-8", "replace")
            if self._ended or len(self._data) > MAX_VALUE:
                self.cut = "the file ends between members" if self._ended else "what follows is not JSON"
                return None
            self._fill(len(self._data) * 2 + self._chunk)

    def _value(self) -> tuple[bytes | None, bool]:
        """The next value up to its comma or bracket; None in place of one that is too large; whether it is whole."""
        kept: list[bytes] = []
        size = depth = 0
        while True:
            used = 0
            end = None
            for token in _TOKEN.finditer(self._data):
                mark = self._data[token.start()]
                if token["broken"] is not None:
                    rest = _REST_OF_STRING.match(self._data, token.start())
                    if (rest is not None and rest.end() < len(self._data)) or len(self._data) > MAX_EVENT:
                        return None, False
                    break
                if depth == 0 and mark in b",}]":
                    end = token.start()
                    break
                depth += (mark in b"{[") - (mark in b"}]")
                used = token.end()
            else:
                used = len(self._data)
            if end is not None:
                kept.append(self._data[:end])
                size += end
                self._drop(end)
                return (b"".join(kept) if size <= MAX_VALUE else None), True
            if self._ended:
                return None, False
            if used:
                size += used
                kept = [*kept, self._data[:used]] if size <= MAX_VALUE else []
                self._drop(used)
            self._fill(len(self._data) * 2 + self._chunk)

    # Events -----------------------------------------------------------------------------------------------------

    def _events(self, is_whole: Callable[[bytes], bool]) -> Iterator[Stretch | Broken]:
        want = self._chunk
        while True:
            self._fill(want)
            boundary = self._boundary(is_whole)
            if boundary is not None:
                yield Stretch(self._data[: boundary.start() + 1], self._at)
                self._drop(boundary.end())
                want = self._chunk
                continue
            found = split(self._data)
            if found.spans:
                end = found.spans[-1][1]
                yield Stretch(self._data[:end], self._at, found.spans)
            if found.end is not None:
                self._drop(found.end)
                return
            self._drop(found.rest)
            if found.fault is not None:
                if self._ended and self._data.strip() == b"}":
                    self.cut = "the list of events is not closed"
                    return
                yield self._broken(found.fault - found.rest)
                want = self._chunk
            elif self._ended:
                yield from self._tail()
                return
            elif len(self._data) > MAX_EVENT:
                why = f"larger than {MAX_EVENT >> 20} MiB, only its beginning is kept"
                yield Broken(self._at, self._data[:KEPT_OF_OVERSIZE], why)
                self._resume(len(self._data))
                want = self._chunk
            else:
                # Doubled, so that the bytes of one large event are looked at a bounded number of times.
                want = max(self._chunk, len(self._data) * 2)

    def _boundary(self, is_whole: Callable[[bytes], bool]) -> re.Match[bytes] | None:
        window = max(0, len(self._data) - (1 << 16))
        candidates = list(_BOUNDARY.finditer(self._data, window))[-TRIES:]
        for candidate in reversed(candidates):
            if is_whole(self._data[: candidate.start() + 1]):
                return candidate
        return None

    def _tail(self) -> Iterator[Broken]:
        """The end of the file inside the array: an event that is cut short, or only a missing bracket."""
        start, end = _trim(self._data, 0, len(self._data))
        self.cut = "the file ends inside the list of events"
        if start < end:
            yield Broken(self._at + start, self._data[start:end][:MAX_VALUE], "cut short by the end of the file")
        self._drop(len(self._data))

    def _broken(self, fault: int) -> Broken:
        """Gives up the event at the buffer's start and goes on at the next thing that looks like the start of one."""
        at = self._at
        start = 0
        if self._wasted > MAX_EVENT:
            # Hostile input: never look twice at the same bytes.
            start = fault
        self._wasted += fault
        data = self._data
        taken = self._resume(start)
        why = "not JSON" if taken <= KEPT_OF_OVERSIZE else "not JSON, only its beginning is kept"
        return Broken(at, data[: min(taken, KEPT_OF_OVERSIZE)].strip(), why)

    def _resume(self, start: int) -> int:
        """Drops up to the next start of an event, searched from ``start``; how many bytes of the buffer went."""
        found = _RESUME.search(self._data, start)
        size = len(self._data)
        if found is not None:
            self._drop(found.end())
            return found.start() + 1
        self._drop(size)
        while not self._ended:
            self._fill(self._chunk)
            found = _RESUME.search(self._data)
            if found is not None:
                self._drop(found.end())
                return size
            # A boundary may lie across two buffers.
            self._drop(max(0, len(self._data) - 256) if not self._ended else len(self._data))
            if not self._ended:
                self._fill(len(self._data) + self._chunk)
        return size
