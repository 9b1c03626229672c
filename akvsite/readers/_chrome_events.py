"""Events of a Chrome trace as typed records, whatever the file's types, and what had to be mended to get
them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from akvsite.escape import escape, escape_text
from akvsite.readers._chrome_json import Stretch, split

NOT_A_NUMBER = "bare inf or nan read as null"
NOT_UTF8 = "bytes that are not UTF-8 escaped as \\xNN"
NOT_STRICT = "control characters inside a string kept"
NOT_AN_OBJECT = "args that are no object left out"
NOT_WHOLE = "values that are no whole number left out"

_STRING_OR_BARE = re.compile(
    rb'"(?:[^"\\\r\n]++|\\[^\r\n])*+"|[-+]?(?<![A-Za-z0-9_."])(?:inf(?:inity)?|nan(?:\([a-z0-9]*\))?|1\.#\w+)(?![A-Za-z0-9_])',
    re.IGNORECASE,
)
_MAYBE_BARE = re.compile(rb"[:,\[]\s*+[-+]?(?:inf|nan|1\.#)", re.IGNORECASE)
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\t]")


class Args(msgspec.Struct, gc=False):
    """The arguments that become columns; any JSON value may stand in each."""

    external_id: Any = msgspec.field(default=None, name="External id")
    correlation: Any = None
    device: Any = None
    stream: Any = None
    bytes: Any = None
    grid: Any = None
    block: Any = None
    registers: Any = msgspec.field(default=None, name="registers per thread")
    shared: Any = msgspec.field(default=None, name="shared memory")
    graph: Any = msgspec.field(default=None, name="graph id")
    graph_node: Any = msgspec.field(default=None, name="graph node id")
    device_type: Any = msgspec.field(default=None, name="Device Type")
    device_id: Any = msgspec.field(default=None, name="Device Id")
    address: Any = msgspec.field(default=None, name="Addr")
    block_bytes: Any = msgspec.field(default=None, name="Bytes")
    allocated: Any = msgspec.field(default=None, name="Total Allocated")
    reserved: Any = msgspec.field(default=None, name="Total Reserved")
    old_external_id: Any = msgspec.field(default=None, name="external id")
    kind: Any = None
    size: Any = None
    direction: Any = None
    stream_id: Any = None
    mem_size: Any = msgspec.field(default=None, name="mem size")
    sycl_queue: Any = msgspec.field(default=None, name="sycl queue")
    l0_queue: Any = msgspec.field(default=None, name="l0 queue")
    appended: Any = None
    submitted: Any = None
    id: Any = None
    name: Any = None
    labels: Any = None


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False):
    ph: str = ""
    cat: str | None = None
    name: str | None = None
    pid: Any = None
    tid: Any = None
    ts: Decimal | None = None
    dur: Decimal | None = None
    args: Args | None = None


_TYPED = msgspec.json.Decoder(list[Event])
_RAWS = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(Event)
_ARGS = [(f.name, f.encode_name) for f in msgspec.structs.fields(Args)]


@dataclass
class Chunk:
    """The events of one stretch. ``raw`` and ``place`` find an event's bytes again, by its place in
    ``events``.
    """

    stretch: Stretch
    #: Items of the file before this stretch.
    first: int
    events: list[Event] = field(default_factory=list)
    #: Stands between the bytes that were no UTF-8 in this chunk's texts; None where all were.
    sentinel: str | None = None
    #: Items of the stretch that are no events: their place among the items, and why.
    unusable: dict[int, str] = field(default_factory=dict)
    items: int = 0
    _numbers: list[int] | None = None

    def spans(self) -> list[tuple[int, int]]:
        if self.stretch.spans is None:
            found = split(self.stretch.data + b",")
            self.stretch.spans = found.spans
        return self.stretch.spans

    def raw(self, item: int) -> tuple[str, str]:
        """Where item ``item`` of the stretch stood, and its bytes."""
        start, end = self.spans()[item]
        place = f"event {self.first + item + 1}, byte {self.stretch.at + start}"
        return place, escape(self.stretch.data[start:end])

    def item_of(self, event: Event) -> int:
        at = next(i for i, other in enumerate(self.events) if other is event)
        if not self.unusable:
            return at
        if self._numbers is None:
            self._numbers = [i for i in range(self.items) if i not in self.unusable]
        return self._numbers[at]


class Decoder:
    """Stretches to chunks; remembers what it decoded to judge a boundary, and counts what it mended."""

    def __init__(self) -> None:
        self.mended: Counter[str] = Counter()
        self.events = 0
        self._judged: tuple[bytes, _Events | list[msgspec.Raw], _Mended] | None = None

    def is_whole(self, data: bytes) -> bool:
        """Whether ``[data]`` is a JSON array, once mended."""
        self._judged = None
        mended = _Mended(data)
        # The cheap order: as it is, then mended, then item by item.
        for text in mended.versions():
            decoded = _decode(text)
            if decoded is not None:
                self._judged = (data, decoded, mended)
                return True
        return False

    def chunk(self, stretch: Stretch) -> Chunk:
        if self._judged is None or self._judged[0] is not stretch.data:
            self.is_whole(stretch.data)
        judged, self._judged = self._judged, None
        if judged is None:
            chunk = Chunk(stretch, self.events)
            self._one_by_one(chunk, [stretch.data[start:end] for start, end in chunk.spans()])
        else:
            _, decoded, mended = judged
            self.mended += mended.counts
            chunk = Chunk(stretch, self.events, sentinel=mended.sentinel)
            if isinstance(decoded, _Events):
                chunk.events = decoded.events
                chunk.items = len(decoded.events)
            else:
                self._one_by_one(chunk, [bytes(raw) for raw in decoded])
        self.events += chunk.items
        return chunk

    def _one_by_one(self, chunk: Chunk, raws: list[bytes]) -> None:
        chunk.items = len(raws)
        for item, raw in enumerate(raws):
            if _is_utf8(raw):
                try:
                    chunk.events.append(_ONE.decode(raw))
                    continue
                except (msgspec.DecodeError, RecursionError):
                    pass
            elif chunk.sentinel is None:
                chunk.sentinel = _unused(chunk.stretch.data)
            try:
                chunk.events.append(self._lenient(chunk, raw))
            except _UnusableError as error:
                chunk.unusable[item] = str(error)

    def _lenient(self, chunk: Chunk, raw: bytes) -> Event:
        mended = _Mended(raw, chunk.sentinel)
        text = raw
        for text in mended.versions():  # noqa: B007 (the last version is the most mended one)
            pass
        try:
            value = json.loads(text, parse_float=Decimal, parse_constant=lambda _: None, strict=False)
        except RecursionError:
            raise _UnusableError("nested too deeply") from None
        except (ValueError, InvalidOperation) as error:
            raise _UnusableError(f"not JSON: {str(error).splitlines()[0]}") from None
        if not isinstance(value, dict):
            raise _UnusableError("not an object")
        self.mended += mended.counts
        if _CONTROL.search(raw):
            self.mended[NOT_STRICT] += 1
        return self._event(value)

    def _event(self, value: dict[str, Any]) -> Event:
        args = value.get("args")
        if args is not None and not isinstance(args, dict):
            self.mended[NOT_AN_OBJECT] += 1
            args = None
        return Event(
            ph=_text(value.get("ph")) or "",
            cat=_text(value.get("cat")),
            name=_text(value.get("name")),
            pid=value.get("pid"),
            tid=value.get("tid"),
            ts=_decimal(value, "ts"),
            dur=_decimal(value, "dur"),
            args=None if args is None else Args(**{field: args.get(key) for field, key in _ARGS}),
        )


class _UnusableError(Exception):
    """Why an item of the list cannot be an event."""


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)


def _decimal(event: dict[str, Any], key: str) -> Decimal | None:
    value = event.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise _UnusableError(f"{key} is not a number")
    try:
        return Decimal(value)
    except InvalidOperation:
        raise _UnusableError(f"{key} is not a number") from None


@dataclass
class _Events:
    events: list[Event]


def _decode(text: bytes) -> _Events | list[msgspec.Raw] | None:
    text = b"[" + text + b"]"
    try:
        return _Events(_TYPED.decode(text))
    except msgspec.ValidationError:
        # Some item has a type that the records do not have: the list itself may be whole all the same.
        try:
            return _RAWS.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return None
    except (msgspec.DecodeError, RecursionError):
        return None


class _Mended:
    """A stretch of JSON, as it is and then with what other tools write into it mended."""

    def __init__(self, data: bytes, sentinel: str | None = None) -> None:
        self.data = data
        self.sentinel: str | None = None
        self._wanted = sentinel
        self.counts: Counter[str] = Counter()

    def versions(self) -> Iterator[bytes]:
        data = self.data
        valid = _is_utf8(data)
        if valid:
            yield data
        else:
            data = self._escaped(data)
        if _MAYBE_BARE.search(data):
            bare = 0

            def mend(match: re.Match[bytes]) -> bytes:
                nonlocal bare
                if match[0].startswith(b'"'):
                    return match[0]
                bare += 1
                return b"null"

            repaired = _STRING_OR_BARE.sub(mend, data)
            if bare:
                self.counts[NOT_A_NUMBER] += bare
                yield repaired
                return
        if not valid:
            yield data

    def _escaped(self, data: bytes) -> bytes:
        """``data`` with every byte that is no UTF-8 as a sentinel and two hex digits."""
        sentinel = self._wanted or _unused(data)
        self.sentinel = sentinel
        mark = sentinel.encode()
        text = _ESCAPED_BYTE.sub(
            lambda m: f"{sentinel}{ord(m[0]) - 0xDC00:02x}", data.decode("utf-8", "surrogateescape")
        )
        data = text.encode("utf-8")
        self.counts[NOT_UTF8] += len(re.findall(mark + rb'(?:[^"\\]++|\\.)*+', data, re.DOTALL))
        return data


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _unused(data: bytes) -> str:
    """A character of the private use area that the data does not hold, neither as itself nor spelled out."""
    lowered = data.lower()
    for code in range(0xE000, 0xF8FF):
        if chr(code).encode() not in data and f"\\u{code:04x}".encode() not in lowered:
            return chr(code)
    raise ValueError("every private character is taken")


def clean(text: str, sentinel: str | None) -> str:
    """A text of a chunk as it goes into a row."""
    if "\\" in text or not text.isascii():
        text = escape_text(text)
        if sentinel is not None:
            text = text.replace(sentinel, "\\x")
    return text
