"""A reader of Perfetto traces for the tests: the wire format of protocol buffers, and how a viewer puts slices together.

It shares nothing with the writer. Numbers of fields are those of Perfetto's public protos.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Message = dict[int, list[Any]]


@dataclass
class Slice:
    """A slice, or a mark (``end_ns`` None, ``mark`` true). ``depth``: slices around it on its track."""

    start_ns: int
    name: str
    track: str
    path: tuple[str, ...]
    arguments: dict[str, Any]
    flows: tuple[int, ...]
    category: str
    depth: int
    mark: bool
    end_ns: int | None = None


@dataclass
class Trace:
    slices: list[Slice] = field(default_factory=list)
    #: Names of all tracks, with those of the groups around them, the outermost first.
    tracks: list[tuple[str, ...]] = field(default_factory=list)


def number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        key, at = number(data, at)
        kind = key & 7
        if kind == 0:
            value, at = number(data, at)
        elif kind == 1:
            value, at = data[at : at + 8], at + 8
        elif kind == 2:
            length, at = number(data, at)
            value, at = data[at : at + length], at + length
            assert len(value) == length
        else:
            raise AssertionError(f"wire type {kind}")
        yield key >> 3, value


def message(data: bytes) -> Message:
    found: Message = defaultdict(list)
    for key, value in fields(data):
        found[key].append(value)
    return found


def signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def read(data: bytes) -> Trace:
    trace = Trace()
    tracks: dict[int, tuple[str, ...]] = {}
    interned: dict[int, dict[int, str]] = defaultdict(dict)
    events: list[tuple[int, int, Message]] = []
    for order, (key, packet_data) in enumerate(fields(data)):
        assert key == 1
        packet = message(packet_data)
        assert packet[10] == [1], "one sequence"
        if 13 in packet and packet[13] == [1]:
            interned.clear()
        for each in packet.get(12, ()):
            for what, entry in fields(each):
                told = message(entry)
                interned[what][told[1][0]] = told[2][0].decode()
        for each in packet.get(60, ()):
            told = message(each)
            above = tracks[told[5][0]] if 5 in told else ()
            tracks[told[1][0]] = (*above, told[2][0].decode())
        events += [(packet[8][0], order, _resolved(message(each), interned)) for each in packet.get(11, ())]
    trace.tracks = list(tracks.values())
    open_slices: dict[int, list[Slice]] = defaultdict(list)
    for at, _, event in sorted(events, key=lambda e: e[:2]):
        _take(trace, open_slices[event[11][0]], tracks[event[11][0]], at, event)
    assert not any(open_slices.values()), "every slice that begins ends"
    return trace


def _resolved(event: Message, interned: dict[int, dict[int, str]]) -> Message:
    """Texts stand for their numbers as they are at this packet."""
    if 10 in event:
        event[23] = [interned[2][event[10][0]]]
    event[22] = [interned[1][iid] for iid in event.get(3, ())]
    arguments = {}
    for each in event.get(4, ()):
        told = message(each)
        key = interned[3][told[1][0]]
        assert key not in arguments
        if 17 in told:
            arguments[key] = interned[29][told[17][0]]
        elif 4 in told:
            arguments[key] = signed(told[4][0])
        else:
            arguments[key] = struct.unpack("<d", told[5][0])[0]
    event[4] = [arguments]
    return event


def _take(trace: Trace, stack: list[Slice], path: tuple[str, ...], at: int, event: Message) -> None:
    kind = event[9][0]
    if kind == 2:
        stack.pop().end_ns = at
        return
    made = Slice(
        at, event[23][0], path[-1], path, event[4][0],
        tuple(signed(struct.unpack("<Q", flow)[0]) for flow in event.get(47, ())),
        (event[22] or [""])[0], len(stack), kind == 3,
    )  # fmt: skip
    trace.slices.append(made)
    if kind == 1:
        stack.append(made)
