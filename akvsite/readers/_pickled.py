"""Plain values out of a pickle, without Python's own unpickler: numbers, texts, lists, tuples and dicts, and nothing else.

A pickle is a program. Of its instructions (Python's ``pickletools`` describes them) those are carried out here that make
plain values; one that asks for a class, a function or an object ends the reading before anything of it is done. What
the program may use is bounded: bytes, instructions, and containers. Nothing here recurses, whatever is nested.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

#: A million allocations with their stacks make some 25 million instructions and 8 million containers.
MOST_INSTRUCTIONS = 1 << 26
MOST_CONTAINERS = 1 << 24
#: No number of a snapshot has more bytes: 64 bits and a sign.
_MOST_DIGITS = 9
_STOP = ord(".")


class NotPlain(Exception):  # noqa: N818 (it reads as what it says)
    """A pickle that is damaged, too large, or asks for more than plain values; ``at`` is the byte."""

    def __init__(self, why: str, at: int) -> None:
        self.why, self.at = why, at
        super().__init__(f"byte {at}: {why}")


class Pickled:
    """The value of one pickle. ``containers`` afterwards: how many it made; ``end``: the byte after it."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}
        self.containers = 0
        self.end = 0

    def value(self) -> Any:
        """Raises ``NotPlain``."""
        begun = 0
        try:
            for _ in range(MOST_INSTRUCTIONS):
                begun = self.end
                code = self._data[begun]
                self.end = begun + 1
                if code == _STOP:
                    return self._stack.pop()
                act = _ACTS.get(code)
                if act is None:
                    raise NotPlain(_refused(code), begun)
                act(self)
        except (IndexError, KeyError, TypeError, UnicodeDecodeError) as error:
            if begun >= len(self._data):
                raise NotPlain("it ends in the middle", begun) from error
            raise NotPlain("damaged: an instruction that cannot be carried out", begun) from error
        raise NotPlain(f"more than {MOST_INSTRUCTIONS:,} instructions", self.end)

    def _take(self, size: int) -> bytes | bytearray:
        taken = self._data[self.end : self.end + size]
        if len(taken) < size:
            raise NotPlain("it ends in the middle", len(self._data))
        self.end += size
        return taken

    def _number(self, size: int) -> int:
        return int.from_bytes(self._take(size), "little")

    def _text(self, size: int) -> None:
        self._stack.append(self._take(size).decode("utf-8", "surrogatepass"))

    def _long(self) -> None:
        size = self._number(1)
        if size > _MOST_DIGITS:
            raise NotPlain(f"a number of {size} bytes", self.end)
        self._stack.append(int.from_bytes(self._take(size), "little", signed=True))

    def _new(self, container: Any) -> None:
        self.containers += 1
        if self.containers > MOST_CONTAINERS:
            raise NotPlain(f"more than {MOST_CONTAINERS:,} lists, tuples and dicts", self.end)
        self._stack.append(container)

    def _since_mark(self) -> list[Any]:
        first = self._marks.pop()
        items = self._stack[first:]
        if first > len(self._stack):
            raise IndexError
        del self._stack[first:]
        return items

    def _last(self, count: int) -> list[Any]:
        if len(self._stack) < count:
            raise IndexError
        items = self._stack[-count:]
        del self._stack[-count:]
        return items

    def _append(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) is not list:
            raise TypeError
        target += items

    def _set(self, items: list[Any]) -> None:
        target = self._stack[-1]
        keys, values = items[::2], items[1::2]
        # Other keys could be nested without end, and are hashed by recursion.
        if (
            type(target) is not dict
            or len(keys) != len(values)
            or not all(type(k) in (str, int) for k in keys)
        ):
            raise TypeError
        target.update(zip(keys, values, strict=True))

    def _keep(self, place: int) -> None:
        self._memo[place] = self._stack[-1]

    # The commonest two by far, without a call more than they need.

    def _keep_next(self) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _again(self) -> None:
        self._stack.append(self._memo[self._data[self.end]])
        self.end += 1


def _refused(code: int) -> str:
    if code in _OF_CLASSES:
        return f"asks for a class, a function or an object ({_OF_CLASSES[code]}), and a snapshot needs none"
    return f"instruction {code:#04x} makes nothing that a snapshot holds"


_OF_CLASSES = {
    ord("c"): "GLOBAL", 0x93: "STACK_GLOBAL", ord("i"): "INST", ord("o"): "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX",
    ord("R"): "REDUCE", ord("b"): "BUILD", ord("P"): "PERSID", ord("Q"): "BINPERSID", 0x82: "EXT1", 0x83: "EXT2",
    0x84: "EXT4",
}  # fmt: skip

_ACTS: dict[int, Callable[[Pickled], object]] = {
    0x80: lambda p: p._take(1),  # PROTO
    0x95: lambda p: p._take(8),  # FRAME
    ord("("): lambda p: p._marks.append(len(p._stack)),
    ord("0"): lambda p: p._stack.pop(),
    ord("1"): lambda p: p._since_mark(),
    ord("N"): lambda p: p._stack.append(None),
    0x88: lambda p: p._stack.append(True),
    0x89: lambda p: p._stack.append(False),
    ord("K"): lambda p: p._stack.append(p._number(1)),
    ord("M"): lambda p: p._stack.append(p._number(2)),
    ord("J"): lambda p: p._stack.append(int.from_bytes(p._take(4), "little", signed=True)),
    0x8A: Pickled._long,
    ord("G"): lambda p: p._stack.append(struct.unpack(">d", p._take(8))[0]),
    0x8C: lambda p: p._text(p._number(1)),
    ord("X"): lambda p: p._text(p._number(4)),
    0x8D: lambda p: p._text(p._number(8)),
    ord("]"): lambda p: p._new([]),
    ord("}"): lambda p: p._new({}),
    ord(")"): lambda p: p._new(()),
    0x85: lambda p: p._new(tuple(p._last(1))),
    0x86: lambda p: p._new(tuple(p._last(2))),
    0x87: lambda p: p._new(tuple(p._last(3))),
    ord("t"): lambda p: p._new(tuple(p._since_mark())),
    ord("a"): lambda p: p._append(p._last(1)),
    ord("e"): lambda p: p._append(p._since_mark()),
    ord("s"): lambda p: p._set(p._last(2)),
    ord("u"): lambda p: p._set(p._since_mark()),
    0x94: Pickled._keep_next,  # MEMOIZE
    ord("q"): lambda p: p._keep(p._number(1)),
    ord("r"): lambda p: p._keep(p._number(4)),
    ord("h"): Pickled._again,
    ord("j"): lambda p: p._stack.append(p._memo[p._number(4)]),
}
