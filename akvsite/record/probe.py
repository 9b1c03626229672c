"""The probe: what an engine says of its steps, requests and tokens, at the level that was chosen for the run.

Below its level a call costs next to nothing and writes nothing. Records go to ``$AKV_DIR/probe-PID.akvlog``
(``shim/AKVLOG.md``), one file a process, made at the first record. Nothing is raised because of recording: where no
record can be written, it is counted as lost. Times are nanoseconds of CLOCK_MONOTONIC.
"""

from __future__ import annotations

import os
from itertools import count
from time import monotonic_ns

from akvsite.record._engine import choose
from akvsite.record.events import (
    BETWEEN_EVENTS,
    FIRST_HANDLE,
    OF_REQUEST,
    OF_STEP,
    OF_TOKEN,
    RequestEvents,
    TokenMarks,
    and_one,
    is_milestone,
    number_of,
    say,
    text_of,
)

#: The words of ``akvsite.tables.LEVELS``, which is not loaded into an engine.
LEVELS = ("off", "runner", "host", "device", "edge")
_RUNNER, _DEVICE = 1, 3
#: Texts of requests that are remembered; one that was forgotten gets another number, and its text is written again.
_MOST_HANDLES = 1 << 16

_engine = choose()
_level = 0
_place: str | None = None

step, phase, region, layer = _engine.step, _engine.phase, _engine.region, _engine.layer


def engine() -> str:
    """Which of the two is at work: ``native`` or ``python``. ``$AKV_PROBE`` asks for one."""
    return _engine.NAME


def level() -> str:
    """The level at which this process records now."""
    return LEVELS[_level]


def set_level(level: str, folder: str | os.PathLike[str] | None = None) -> None:
    """Record at ``level`` from now on, into ``folder`` (else that of before, else ``$AKV_DIR``; none of them: off).

    A level that there is not is off, and a line on standard error. Spans that are open stay in the file in which they
    began.
    """
    global _level, _place
    if level not in LEVELS:
        say(f"{level!r} is no level, nothing is recorded; one of {', '.join(LEVELS)}")
        level = LEVELS[0]
    if folder is not None:
        _place = _absolute(os.fspath(folder))
    elif _place is None and (given := os.environ.get("AKV_DIR")):
        _place = _absolute(given)
    _level = LEVELS.index(level) if _place is not None else 0
    _engine.configure(_level, _place)


def _absolute(folder: str) -> str:
    """The program may change its own folder."""
    try:
        return os.path.abspath(folder)
    except OSError:
        return folder


def lost() -> int:
    """How many records of this process could not be written; a count."""
    return _engine.lost()


def path() -> str | None:
    """The file that this process writes; None where it has recorded nothing."""
    return _engine.path()


# --- milestones ---


def stamp(milestone: str, step: int, at_ns: int | None = None) -> None:
    """A milestone (``akvsite.milestones.TOKEN``) that all tokens of a step share."""
    if _level >= _RUNNER and is_milestone(milestone):
        _engine.mark(OF_STEP, milestone, monotonic_ns() if at_ns is None else at_ns, 0, 0, step, 0, 0)


class _Request(RequestEvents):
    __slots__ = ("_id",)

    def __init__(self, id: int | str) -> None:
        self._id = id

    def _event(self, name: str, tokens: int | None, step: int | None, at_ns: int | None) -> None:
        if _level >= _RUNNER:
            at = monotonic_ns() if at_ns is None else at_ns
            value = -1 if tokens is None else tokens
            _engine.mark(OF_REQUEST, name, at, 0, value, _handle(self._id), and_one(step), 0)


def request(id: int | str) -> RequestEvents:
    """A request, by a number or a text; two processes mean the same one by the same text."""
    return _Request(id)


class _Token(TokenMarks):
    __slots__ = ("_id", "_index", "_step")

    def __init__(self, id: int | str, index: int, step: int | None) -> None:
        self._id = id
        self._index = index
        self._step = step

    def mark(self, milestone: str, at_ns: int | None = None, tokens: int | None = 1) -> None:
        if _level >= _RUNNER and is_milestone(milestone):
            at = monotonic_ns() if at_ns is None else at_ns
            _engine.mark(
                OF_TOKEN,
                milestone,
                at,
                0,
                self._index,
                _handle(self._id),
                and_one(self._step),
                and_one(tokens),
            )


_NO_TOKEN = TokenMarks()


def token(request: int | str, index: int, step: int | None = None) -> TokenMarks:
    """The token at place ``index`` (from 0) of a request's output, made by ``step``."""
    return _Token(request, index, step) if _level >= _RUNNER else _NO_TOKEN


# --- the device ---


def device_span(start: int, end: int, device: int, step: int | None, queue_name: str) -> None:
    """A stretch between two timing events of a queue, in nanoseconds of the clock of ``device`` (level device)."""
    if _level >= _DEVICE:
        _engine.mark(BETWEEN_EVENTS, queue_name, start, end, 0, device, and_one(step), 0)


def clock(device: int, before: int, after: int, device_time: int, resolution: int) -> None:
    """The device's clock was read between two readings of the host's; ``resolution`` in ns (level device)."""
    if _level >= _DEVICE:
        _engine.bracket(device, before, after, device_time, resolution)


# --- numbers of requests ---

_handles: dict[str, int] = {}
_handles_of = 0
_numbers = count(FIRST_HANDLE)


def _handle(id: int | str) -> int:
    """The number by which the file knows a request; its text is written before its first use."""
    global _handles, _handles_of
    if (number := number_of(id)) is not None:
        return number
    text = text_of(id)
    generation = _engine.generation()
    if generation != _handles_of or len(_handles) >= _MOST_HANDLES:
        _handles, _handles_of = {}, generation
    found = _handles.get(text)
    if found is None:
        found = _handles[text] = next(_numbers)
        _engine.name_request(found, text)
    return found


set_level(os.environ.get("AKV_LEVEL") or LEVELS[0])
