"""Values of Chrome traces: ids and pids as text, times, whole numbers, shapes, and begins that wait."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from akvsite.readers._chrome_events import Event, clean
from akvsite.tables import signed64

LEAST, MOST = -(2**63), 2**63 - 1
#: Times beyond this many microseconds fit no 64 bits of nanoseconds; they are not even multiplied.
FAR = Decimal(10) ** 17


def id_text(value: Any, sentinel: str | None = None) -> str:
    """An id as text. Numbers that are equal are one id, however the file spells them.

    >>> id_text(7), id_text(7.0), id_text("0x7f"), id_text(-1)
    ('7', '7', '0x7f', '-1')
    """
    if isinstance(value, str):
        return clean(value, sentinel)
    if isinstance(value, float | Decimal | bool) and -(2**63) <= value < 2**64 and value == int(value):
        value = int(value)
    return clean(str(value), sentinel)


class Texts(dict[Any, str | None]):
    """Ids as text: the file's numbers and strings; NULL where it says null."""

    def __init__(self) -> None:
        super().__init__()
        self.sentinel: str | None = None

    def __missing__(self, value: Any) -> str | None:
        text = None if value is None else id_text(value, self.sentinel)
        # A sentinel belongs to its chunk alone.
        if self.sentinel is None and len(self) < 100_000:
            self[value] = text
        return text


@dataclass
class Process:
    pid: str
    host_rows: int = 0
    calls: int = 0
    name: str | None = None
    #: Correlation ids of its calls, kept since several processes may share one file.
    correlations: list[np.ndarray[Any, np.dtype[np.int64]]] = field(default_factory=list)


class Processes(dict[Any, int]):
    """Pid as the file has it -> the reader's number of the process."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Process] = []
        self._by_text: dict[str, int] = {}
        self.sentinel: str | None = None

    def __missing__(self, pid: Any) -> int:
        index = self.of_text(self.text(pid))
        if self.sentinel is None:
            self[pid] = index
        return index

    def text(self, pid: Any) -> str:
        return "null" if pid is None else id_text(pid, self.sentinel)

    def of_text(self, text: str) -> int:
        if text not in self._by_text:
            self._by_text[text] = len(self.found)
            self.found.append(Process(text))
        return self._by_text[text]

    def of(self, pids: list[Any]) -> list[int]:
        try:
            return [self[pid] for pid in pids]
        except TypeError:  # a pid that is a list or an object
            return [self.of_text(self.text(pid)) for pid in pids]


class Open:
    """The begins of one thread that have no end yet."""

    def __init__(self) -> None:
        self._stack: list[Event] = []
        self._named: dict[str | None, list[Event]] = {}
        self._done: set[int] = set()

    def begin(self, event: Event) -> None:
        self._stack.append(event)
        self._named.setdefault(event.name, []).append(event)

    def last(self, name: str | None) -> Event | None:
        """The begin that an end of this name closes: the last of that name, else the last of all."""
        if name and (named := self._tidy(self._named.get(name, []))):
            return named[-1]
        rest = self._tidy(self._stack)
        return rest[-1] if rest else None

    def end(self, event: Event) -> None:
        self._done.add(id(event))
        self._tidy(self._named.get(event.name, []))
        if self._stack[-1] is event:
            self._stack.pop()
            self._done.discard(id(event))

    def _tidy(self, events: list[Event]) -> list[Event]:
        while events and id(events[-1]) in self._done:
            done = events.pop()
            if events is self._stack:
                self._done.discard(id(done))
        return events

    def rest(self) -> list[Event]:
        return [event for event in self._stack if id(event) not in self._done]


def nanoseconds(microseconds: Decimal) -> int | None:
    """Whole nanoseconds of exact microseconds; None where they do not fit in 64 bits."""
    if not microseconds.is_finite() or not -FAR < microseconds < FAR:
        return None
    time = round(microseconds * 1000)
    return time if LEAST <= time <= MOST else None


_DIGITS = re.compile(r"\d+")


def shape(value: Any) -> str | None:
    """
    >>> shape([132, 1, 1]), shape("grid(4096,)"), shape("[1, 2, 3]"), shape(None)
    ('132x1x1', '4096', '1x2x3', None)
    """
    if value is None:
        return None
    if isinstance(value, list):
        return "x".join(map(str, value))[:80] or None
    return "x".join(_DIGITS.findall(str(value)[:80])) or None


_HEX = re.compile(r"^[+-]?0[xX][0-9a-fA-F]+$")
_PLAIN = re.compile(r"^[+-]?[0-9]{1,20}$")


def whole(value: Any) -> int | None:
    """A 64-bit whole number out of a number, a quoted one or a hexadecimal one; None where it is none.

    >>> whole("0x10"), whole(" 12 "), whole(5.0), whole(2**64 - 1), whole("abc"), whole(True), whole(2**64)
    (16, 12, 5, -1, None, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip()
        if _PLAIN.match(value):
            value = int(value)
        elif _HEX.match(value) and len(value) <= 19:
            value = int(value, 16)
        else:
            return None
    elif isinstance(value, float | Decimal):
        if not -(2**63) <= value < 2**64 or value != int(value):
            return None
        value = int(value)
    if not isinstance(value, int):
        return None
    try:
        return signed64(value)
    except OverflowError:
        return None
