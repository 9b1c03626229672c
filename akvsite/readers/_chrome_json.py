"""The events of a Chrome trace, as stretches of whole events, out of blocks of bytes that end anywhere.

A stretch ``p`` of the array that begins at an event is whole exactly if ``[p]`` is valid JSON. So the last
``} , {`` of a buffer is tried first, with the decoder itself as the judge; only where that fails does an
exact tokenizer look for the boundaries. Both see every byte a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

CHUNK = 1 << 19
#: An event larger than this is not read; its first bytes are kept.
MAX_EVENT = 16 << 20
#: A value beside the events that is larger than this is not kept.
MAX_VALUE = 1 << 20
KEPT_OF_OVERSIZE = 1 << 16
#: Boundaries tried with the decoder before the tokenizer takes over.
TRIES = 3

NO_JSON = "neither an object nor a list"
BEGINNING_OF_NO_JSON = "not JSON, only its beginning is kept"
CUT_SHORT = "cut short by the end of the file"

_BOUNDARY = re.compile(rb"\}[ \t\r\n]*+,[ \t\r\n]*+(?=\{)")
# No string runs over a line end: so a quote too many is noticed at the end of its line. "broken" is a quote
# whose string ends with the buffer, or in such a fault.
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


def split(data: bytes, pos: int = 0) -> Split:
    """Spans of the whole items of an array, from ``pos`` inside it, in one pass over its tokens.

    >>> split(b'{"a": [1, 2]}, 3, {"b"').spans
    [(0, 13), (15, 16)]
    """
    found = Split(rest=pos)
    depth = 0
    start = pos
    for token in _TOKEN.finditer(data, pos):
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
            span = trim(data, start, token.start())
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


def trim(data: bytes, start: int, end: int) -> tuple[int, int]:
    space = _SPACE.match(data, start, end)
    start = space.end() if space else start
    while end > start and data[end - 1] in b" \t\r\n":
        end -= 1
    return start, end


class Stream:
    """The parts of one trace, in the order of the file; ``cut`` says afterwards why it ended early."""

    def __init__(self, blocks: Iterator[bytes], chunk: int = CHUNK) -> None:
        self._blocks = blocks
        self._chunk = max(chunk, 64)
        #: What waits is ``_data[_pos:]``; ``_at`` is the offset of ``_data[0]`` in the file.
        self._data = b""
        self._pos = 0
        self._at = 0
        self._ended = False
        self._wasted = 0
        self.cut: str | None = None

    def parts(self, is_whole: Callable[[bytes], bool]) -> Iterator[Stretch | Broken | Beside]:
        """``is_whole`` judges a stretch: whether ``[stretch]`` is valid JSON."""
        self._fill(self._chunk)
        if self._data.startswith(b"\xef\xbb\xbf"):
            self._pos = 3
        first = self._next_mark()
        if first == b"[":
            self._pos += 1
            yield from self._events(is_whole)
        elif first == b"{":
            self._pos += 1
            yield from self._members(is_whole)
        elif first:
            yield Broken(self._here, self._rest(KEPT_OF_OVERSIZE), NO_JSON)
            self.cut = "what follows is not JSON"
        else:
            self.cut = "the file is empty"

    # The buffer.

    @property
    def _left(self) -> int:
        return len(self._data) - self._pos

    @property
    def _here(self) -> int:
        return self._at + self._pos

    def _rest(self, size: int) -> bytes:
        return self._data[self._pos : self._pos + size]

    def _fill(self, size: int) -> None:
        """Reads until ``size`` bytes are left to use, or the file ends."""
        have = self._left
        if have >= size or self._ended:
            return
        pieces = [self._data[self._pos :]]
        while have < size:
            block = next(self._blocks, b"")
            if not block:
                self._ended = True
                break
            pieces.append(block)
            have += len(block)
        self._at += self._pos
        self._pos = 0
        self._data = b"".join(pieces)

    def _next_mark(self) -> bytes:
        """The next byte that is no white space, not taken yet; empty at the end of the file."""
        while True:
            space = _SPACE.match(self._data, self._pos)
            self._pos = space.end() if space else self._pos
            if self._left or self._ended:
                return self._rest(1)
            self._fill(self._chunk)

    # Members of the top-level object.

    def _members(self, is_whole: Callable[[bytes], bool]) -> Iterator[Stretch | Broken | Beside]:
        while self.cut is None:
            mark = self._next_mark()
            if mark == b"}":
                return
            if mark == b",":
                self._pos += 1
                continue
            key = self._key()
            if key is None:
                return
            if key == "traceEvents" and self._next_mark() == b"[":
                self._pos += 1
                yield from self._events(is_whole)
                continue
            raw, whole = self._value()
            if whole:
                yield Beside(key, raw)
            else:
                self.cut = f"the value of {key[:80]!r} has no end"

    def _key(self) -> str | None:
        while True:
            match = _KEY.match(self._data, self._pos)
            if match is not None and (match.end() < len(self._data) or self._ended):
                self._pos = match.end()
                return match[1].decode("utf-8", "replace")
            if self._ended or self._left > MAX_VALUE:
                self.cut = "the file ends between members" if self._ended else "what follows is not JSON"
                return None
            self._fill(self._left * 2 + self._chunk)

    def _value(self) -> tuple[bytes | None, bool]:
        """The next value up to its comma or bracket, None where it is too large; and whether it is whole."""
        kept: list[bytes] = []
        size = depth = 0
        while True:
            start, used = self._pos, len(self._data)
            ended = False
            for token in _TOKEN.finditer(self._data, start):
                mark = self._data[token.start()]
                if token["broken"] is not None:
                    rest = _REST_OF_STRING.match(self._data, token.start())
                    if (rest is not None and rest.end() < len(self._data)) or self._left > MAX_EVENT:
                        return None, False
                    used = token.start()
                    break
                if depth == 0 and mark in b",}]":
                    used, ended = token.start(), True
                    break
                depth += (mark in b"{[") - (mark in b"}]")
            size += used - start
            kept = [*kept, self._data[start:used]] if size <= MAX_VALUE else []
            self._pos = used
            if ended:
                return (b"".join(kept) if size <= MAX_VALUE else None), True
            if self._ended:
                return None, False
            self._fill(self._left * 2 + self._chunk)

    # Events.

    def _events(self, is_whole: Callable[[bytes], bool]) -> Iterator[Stretch | Broken]:
        want = self._chunk
        while True:
            self._fill(want)
            boundary = self._boundary(is_whole)
            if boundary is not None:
                yield boundary
                want = self._chunk
                continue
            before = self._pos
            stretch, broken, closed = self._exactly()
            if stretch is not None:
                yield stretch
            yield from broken
            if closed:
                return
            if self._ended:
                yield from self._tail(is_whole)
                return
            if self._left > MAX_EVENT:
                why = f"larger than {MAX_EVENT >> 20} MiB, only its beginning is kept"
                yield Broken(self._here, self._rest(KEPT_OF_OVERSIZE), why)
                self._pos = len(self._data)
                self._resume()
                want = self._chunk
            elif self._pos > before:
                want = self._left + self._chunk
            else:
                # Doubled, so that the bytes of one large event are looked at a bounded number of times.
                want = self._left * 2

    def _boundary(self, is_whole: Callable[[bytes], bool]) -> Stretch | None:
        """The longest stretch that the decoder takes for whole, taken from the buffer."""
        window = max(self._pos, len(self._data) - (1 << 16))
        candidates = list(_BOUNDARY.finditer(self._data, window))[-TRIES:]
        for candidate in reversed(candidates):
            stretch = self._data[self._pos : candidate.start() + 1]
            if is_whole(stretch):
                at = self._here
                self._pos = candidate.end()
                return Stretch(stretch, at)
        return None

    def _exactly(self) -> tuple[Stretch | None, list[Broken], bool]:
        """By the tokenizer: every whole event here, what is none between them, whether the list closes."""
        first = self._pos
        spans: list[tuple[int, int]] = []
        broken: list[Broken] = []
        closed = False
        while True:
            found = split(self._data, self._pos)
            spans += found.spans
            self._pos = found.rest
            if found.end is not None:
                self._pos = found.end
                closed = True
                break
            if found.fault is None:
                break
            if self._ended and self._data[self._pos :].strip() == b"}":
                self.cut = "the list of events is not closed"
                self._pos = len(self._data) - 1
                closed = True
                break
            gap = self._broken(found.fault)
            if gap is None:
                break
            broken.append(gap)
        if not spans:
            return None, broken, closed
        data = self._data[first : spans[-1][1]] if first < spans[-1][1] else b""
        at = self._at + first
        return Stretch(data, at, [(start - first, end - first) for start, end in spans]), broken, closed

    def _tail(self, is_whole: Callable[[bytes], bool]) -> Iterator[Stretch | Broken]:
        """The end of the file inside the list: an event, whole or cut short, or only a missing bracket."""
        start, end = trim(self._data, self._pos, len(self._data))
        self.cut = "the file ends inside the list of events"
        last = self._data[start:end]
        if last.endswith(b"}") and is_whole(last):
            yield Stretch(last, self._at + start)
        elif last:
            why = CUT_SHORT if len(last) <= MAX_VALUE else f"{CUT_SHORT}, only its beginning is kept"
            yield Broken(self._at + start, last[:MAX_VALUE], why)
        self._pos = len(self._data)

    def _broken(self, fault: int) -> Broken | None:
        """Gives up the event that begins here, and goes on at what looks like the start of the next.

        None where more of the file must be read to find that.
        """
        start, at = self._pos, self._here
        # Hostile input: once much was looked at twice, nothing is any more.
        search = start if self._wasted < MAX_EVENT else max(start, fault)
        found = _RESUME.search(self._data, search)
        if found is None and not self._ended and self._left <= MAX_EVENT:
            return None
        self._wasted += max(0, fault - start)
        end = len(self._data) if found is None else found.start() + 1
        self._pos = len(self._data) if found is None else found.end()
        raw = self._data[start : min(end, start + KEPT_OF_OVERSIZE)].strip()
        return Broken(at, raw, "not JSON" if end - start <= KEPT_OF_OVERSIZE else BEGINNING_OF_NO_JSON)

    def _resume(self) -> None:
        """Reads on to the next thing that looks like the start of an event."""
        while not self._ended:
            self._fill(self._left + self._chunk)
            found = _RESUME.search(self._data, self._pos)
            if found is not None:
                self._pos = found.end()
                return
            # The start may lie across two blocks.
            self._pos = len(self._data) if self._ended else max(self._pos, len(self._data) - 256)
