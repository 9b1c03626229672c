"""An engine's own counters, for level off: plain lists while it runs, one akvlog file in ``$AKV_FILES`` at its end.

At level off nothing is written while the engine runs. The lists hold what it was told; whoever tells it nothing pays
nothing. Above off the probe records the same, so this keeps nothing then.
"""

from __future__ import annotations

import atexit
import os
from itertools import count
from struct import error as error_of_struct
from time import monotonic_ns

from akvsite.record._akvlog_writer import AkvlogFile
from akvsite.record.events import (
    FIRST_HANDLE,
    OF_REQUEST,
    OF_STEP,
    OF_TOKEN,
    STEP,
    RequestEvents,
    TokenMarks,
    and_one,
    is_milestone,
    number_of,
    say,
    text_of,
)
from akvsite.record.probe import level

PRODUCER = "akv_counters 0.1.0"

_REQUEST = 3
#: Kind, name, start, end, value, request or number of the step, step + 1, tokens + 1.
_Kept = tuple[int, str, int, int, int, "int | str", int, int]


class Counters:
    """Steps, request events and token milestones, kept until the process ends.

    ``kept`` is False, and everything is dropped at once, where the level is not off or ``$AKV_FILES`` names no folder.
    """

    def __init__(self, prefix: str = "counters") -> None:
        self.prefix = prefix
        self._folder = os.environ.get("AKV_FILES") or None
        self.kept = self._folder is not None and level() == "off"
        self._records: list[_Kept] = []
        if self.kept:
            atexit.register(self.write)
            # What the parent was told is the parent's to write.
            os.register_at_fork(after_in_child=self._records.clear)

    def step(self, number: int, kind: str, batch: int | None, start_ns: int, end_ns: int) -> None:
        """A step that is over. Times of CLOCK_MONOTONIC, in ns."""
        if self.kept:
            value = -1 if batch is None else batch
            self._records.append((STEP, kind, start_ns, end_ns, value, number, 0, 0))

    def stamp(self, milestone: str, step: int, at_ns: int | None = None) -> None:
        """A milestone that all tokens of a step share."""
        if self.kept and is_milestone(milestone):
            self._records.append((OF_STEP, milestone, _now(at_ns), 0, 0, step, 0, 0))

    def request(self, id: int | str) -> RequestEvents:
        """A request; see ``RequestEvents``."""
        return _Request(self, id)

    def token(self, request: int | str, index: int, step: int | None = None) -> TokenMarks:
        """A token; see ``TokenMarks``."""
        return _Token(self, request, index, step) if self.kept else _NO_TOKEN

    def write(self) -> str | None:
        """Write the file, and forget what is in it; its path, or None where there is nothing or no folder takes it.

        Done at the normal end of the process without being asked.
        """
        records, self._records[:] = self._records.copy(), ()
        if not records or self._folder is None:
            return None
        try:
            file = AkvlogFile(self._folder, self.prefix, PRODUCER)
        except (OSError, ValueError, MemoryError) as error:
            say(f"{len(records)} counted records are lost: {error}")
            return None
        numbers = count(FIRST_HANDLE)
        handles: dict[str, int] = {}
        no_numbers = 0
        for kind, name, start, end, value, of, step, tokens in records:
            number = number_of(of)
            if number is None:
                text = text_of(of)
                number = handles.get(text)
                if number is None:
                    number = handles[text] = next(numbers)
                    file.name_object(_REQUEST, number, text)
            try:
                file.write(kind, 0, file.id_of(text_of(name)), start, end, value, number, step, tokens)
            except (TypeError, error_of_struct):
                no_numbers += 1
        file.close()
        if file.lost or no_numbers:
            say(
                f"counted records that are lost: {file.lost} had no room, {no_numbers} held what is no number"
            )
        return file.path

    def _keep(self, record: _Kept) -> None:
        if self.kept:
            self._records.append(record)


class _Request(RequestEvents):
    __slots__ = ("_counters", "_id")

    def __init__(self, counters: Counters, id: int | str) -> None:
        self._counters = counters
        self._id = id

    def _event(self, name: str, tokens: int | None, step: int | None, at_ns: int | None) -> None:
        value = -1 if tokens is None else tokens
        self._counters._keep((OF_REQUEST, name, _now(at_ns), 0, value, self._id, and_one(step), 0))


class _Token(TokenMarks):
    __slots__ = ("_counters", "_id", "_index", "_step")

    def __init__(self, counters: Counters, id: int | str, index: int, step: int | None) -> None:
        self._counters = counters
        self._id = id
        self._index = index
        self._step = step

    def mark(self, milestone: str, at_ns: int | None = None, tokens: int | None = 1) -> None:
        if is_milestone(milestone):
            at = _now(at_ns)
            self._counters._keep(
                (OF_TOKEN, milestone, at, 0, self._index, self._id, and_one(self._step), and_one(tokens))
            )


_NO_TOKEN = TokenMarks()


def _now(at_ns: int | None) -> int:
    return monotonic_ns() if at_ns is None else at_ns
