"""What can be said of a request and of a token: the same words for the probe and for an engine's own counters."""

from __future__ import annotations

import os
from _operator import index

from akvsite.milestones import TOKEN

OF_REQUEST, OF_TOKEN, OF_STEP, BETWEEN_EVENTS = 20, 21, 22, 23
STEP = 16
#: A request that is known by a text has a number from here on, which no engine gives to one of its own.
FIRST_HANDLE = 1 << 63

_SAID_MOST = 100


class RequestEvents:
    """Events of one request. ``at_ns`` is on CLOCK_MONOTONIC, and now where it is not given."""

    __slots__ = ()

    def _event(self, name: str, tokens: int | None, step: int | None, at_ns: int | None) -> None:
        raise NotImplementedError

    def arrived(self, prompt_tokens: int | None = None, at_ns: int | None = None) -> None:
        """It reached the engine."""
        self._event("arrived", prompt_tokens, None, at_ns)

    def admitted(self, step: int | None = None, at_ns: int | None = None) -> None:
        """The scheduler took it into the batch, for ``step``."""
        self._event("admitted", None, step, at_ns)

    def preempted(self, step: int | None = None, at_ns: int | None = None) -> None:
        """The scheduler took it out of the batch before it was done."""
        self._event("preempted", None, step, at_ns)

    def resumed(self, step: int | None = None, at_ns: int | None = None) -> None:
        """The scheduler took it into the batch again."""
        self._event("resumed", None, step, at_ns)

    def finished(self, output_tokens: int | None = None, at_ns: int | None = None) -> None:
        """Its last token was generated."""
        self._event("finished", output_tokens, None, at_ns)

    def failed(self, output_tokens: int | None = None, at_ns: int | None = None) -> None:
        """It ended before its last token."""
        self._event("failed", output_tokens, None, at_ns)

    def client_sent(self, prompt_tokens: int | None = None, at_ns: int | None = None) -> None:
        """Its client sent it."""
        self._event("client sent", prompt_tokens, None, at_ns)

    def client_done(self, output_tokens: int | None = None, at_ns: int | None = None) -> None:
        """Its client saw its last piece."""
        self._event("client done", output_tokens, None, at_ns)

    def client_failed(self, output_tokens: int | None = None, at_ns: int | None = None) -> None:
        """Its client saw it end before its last piece."""
        self._event("client failed", output_tokens, None, at_ns)


class TokenMarks:
    """Milestones of one token."""

    __slots__ = ()

    def mark(self, milestone: str, at_ns: int | None = None, tokens: int | None = 1) -> None:
        """It came to a milestone (``akvsite.milestones.TOKEN``); ``tokens`` is how many this piece holds, None unknown."""


def number_of(id: int | str) -> int | None:
    """The number by which a request is known without a text; None where it needs one."""
    return id if isinstance(id, int) and 0 <= id < FIRST_HANDLE else None


def text_of(id: int | str) -> str:
    """The text of a request that has no number. An engine goes on where what it gave has none."""
    try:
        return str(id)
    except Exception:
        return f"a {type(id).__name__} without a text"


def and_one(value: int | None) -> int:
    """Numbers that may be unknown are kept with one added: 0 is none, and so is what is no number."""
    try:
        return 0 if value is None else index(value) + 1
    except Exception:
        return 0


_said: set[str] = set()


def is_milestone(milestone: str) -> bool:
    """Whether it is one; else a line on standard error, once for each word: an engine goes on."""
    try:
        if milestone in TOKEN:
            return True
        if milestone not in _said and len(_said) < _SAID_MOST:
            _said.add(milestone)
            say(f"{repr(milestone)[:80]} is no milestone and is left out; one of {', '.join(TOKEN)}")
    except Exception:
        return False  # something that cannot be told from others, such as a list
    return False


def say(line: str) -> None:
    """One line on standard error, where there is one."""
    try:
        os.write(2, f"akvsite.record: {line}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        return
