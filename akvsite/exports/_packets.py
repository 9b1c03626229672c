"""Packets of a Perfetto trace, encoded by hand: a few messages with a few fields, of which a run needs millions.

Numbers of fields, and what they mean, are those of Perfetto's public protos: ``protos/perfetto/trace/trace.proto``,
``trace_packet.proto``, ``interned_data/interned_data.proto`` and, under ``track_event/``, ``track_descriptor.proto``,
``track_event.proto`` and ``debug_annotation.proto`` (github.com/google/perfetto). How values are encoded is said in
"Protocol Buffers: Encoding" (protobuf.dev).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import BinaryIO, Final

Value = int | float | str

#: Where a message's field is a number, and where it is bytes of a length (text, or a message).
_NUMBER, _BYTES = 0, 2
_MASK = 2**64 - 1
#: Bytes that are gathered before they are written.
_BUFFER: Final = 1 << 20


def _varint(value: int) -> bytes:
    """A whole number, seven bits a byte; a negative one is the two's complement of 64 bits."""
    value &= _MASK
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(at: int, value: int) -> bytes:
    return _varint(at << 3 | _NUMBER) + _varint(value)


def _bytes(at: int, value: bytes) -> bytes:
    return _varint(at << 3 | _BYTES) + _varint(len(value)) + value


# Trace, TracePacket, and what stands in every packet of an event: of the one sequence, and after the first one.
_PACKET, _TIMESTAMP, _SEQUENCE, _FLAGS, _INTERNED, _EVENT, _TRACK = 1, 8, 10, 13, 12, 11, 60
_CLEARED, _NEEDS = 1, 2
_TIMED = _varint(_TIMESTAMP << 3)
_OF_SEQUENCE = _number(_SEQUENCE, 1) + _number(_FLAGS, _NEEDS)
# TrackEvent.
_TYPE, _TRACK_UUID, _NAME_IID, _CATEGORY_IIDS, _ANNOTATIONS = 9, 11, 10, 3, 4
_BEGIN, _END, _INSTANT = (_number(_TYPE, kind) for kind in (1, 2, 3))
#: ``flow_ids``, fixed 64 bits each.
_FLOW = _varint(47 << 3 | 1)
# DebugAnnotation.
_KEY_IID, _INT, _DOUBLE, _TEXT_IID = 1, 4, 5, 17
# InternedData, by what is interned.
_CATEGORIES, _NAMES, _KEYS, _TEXTS = 1, 2, 3, 29
# TrackDescriptor; children stand in the order of their ranks.
_UUID, _NAME, _PARENT, _ORDERING, _RANK, _EXPLICIT = 1, 2, 5, 11, 12, 3


@dataclass
class Packets:
    """Writes packets to ``file``. Times are ns and not below 0; tracks are numbered from 1; ids of flows have 64 bits."""

    file: BinaryIO
    #: The least time that was written, ns; None before the first.
    earliest_ns: int | None = None
    _tracks: int = 0
    _buffer: list[bytes] = field(default_factory=list)
    _held: int = 0
    #: Texts that were told once and go by their numbers from then on, and those that the next packet tells.
    _iids: dict[tuple[int, str], int] = field(default_factory=dict)
    _new: bytes = b""
    _arguments: dict[tuple[str, Value], bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._packet(_number(_SEQUENCE, 1) + _number(_FLAGS, _CLEARED))

    def track(self, name: str, parent: int = 0, rank: int = 0) -> int:
        """A track, or a group of them, and its number. Among those of one parent the least rank is on top."""
        self._tracks += 1
        told = _number(_UUID, self._tracks) + _bytes(_NAME, name.encode()) + _number(_ORDERING, _EXPLICIT)
        if parent:
            told += _number(_PARENT, parent)
        self._packet(_OF_SEQUENCE + _bytes(_TRACK, told + _number(_RANK, rank)))
        return self._tracks

    def begin(
        self,
        at_ns: int,
        track: int,
        name: str,
        arguments: dict[str, Value | None],
        flows: tuple[int, ...] = (),
        category: str = "",
    ) -> None:
        self._event(_BEGIN, at_ns, track, name, arguments, flows, category)

    def instant(self, at_ns: int, track: int, name: str, arguments: dict[str, Value | None]) -> None:
        self._event(_INSTANT, at_ns, track, name, arguments, (), "")

    def end(self, at_ns: int, track: int) -> None:
        event = _END + _number(_TRACK_UUID, track)
        self._packet(_TIMED + _varint(at_ns) + _OF_SEQUENCE + _bytes(_EVENT, event))

    def close(self) -> None:
        self.file.write(b"".join(self._buffer))
        self._buffer.clear()

    def _event(
        self, kind: bytes, at_ns: int, track: int, name: str,
        arguments: dict[str, Value | None], flows: tuple[int, ...], category: str,
    ) -> None:  # fmt: skip
        event = [kind, _number(_TRACK_UUID, track), _number(_NAME_IID, self._iid(_NAMES, name))]
        if category:
            event.append(_number(_CATEGORY_IIDS, self._iid(_CATEGORIES, category)))
        # What is not known is left out: no value of a number says it.
        event += [self._argument(key, value) for key, value in arguments.items() if value is not None]
        event += [_FLOW + struct.pack("<Q", flow & _MASK) for flow in flows]
        told = _bytes(_INTERNED, self._new) if self._new else b""
        self._new = b""
        self._packet(_TIMED + _varint(at_ns) + _OF_SEQUENCE + told + _bytes(_EVENT, b"".join(event)))
        if self.earliest_ns is None or at_ns < self.earliest_ns:
            self.earliest_ns = at_ns

    def _argument(self, key: str, value: Value) -> bytes:
        made = self._arguments.get((key, value))
        if made is not None:
            return made
        held = _number(_KEY_IID, self._iid(_KEYS, key))
        if isinstance(value, str):
            held += _number(_TEXT_IID, self._iid(_TEXTS, value))
        elif isinstance(value, int):
            held += _number(_INT, value)
        else:
            held += _varint(_DOUBLE << 3 | 1) + struct.pack("<d", value)
        made = _bytes(_ANNOTATIONS, held)
        # Small numbers and words come again and again; times and ids do not.
        if isinstance(value, str) or -1 <= value <= 4_096:
            self._arguments[key, value] = made
        return made

    def _iid(self, what: int, text: str) -> int:
        """The number of a text; the first time, the next packet tells it."""
        number = self._iids.get((what, text))
        if number is None:
            number = self._iids[what, text] = len(self._iids) + 1
            self._new += _bytes(what, _number(1, number) + _bytes(2, text.encode()))
        return number

    def _packet(self, body: bytes) -> None:
        packet = _bytes(_PACKET, body)
        self._buffer.append(packet)
        self._held += len(packet)
        if self._held > _BUFFER:
            self.close()
            self._held = 0
