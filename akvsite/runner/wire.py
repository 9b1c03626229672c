"""What goes between the engine and its clients: lines of JSON over TCP on the loopback.

To the engine: ``{"id": "r0", "prompt": [5, 9], "output_tokens": 3}``, with ``"at_step"`` in a fixed schedule. To the client:
``{"id": "r0", "index": 0, "tokens": [7, 8], "text": "..", "done": false}``, or ``{"id": "r0", "error": "why"}``; an error
without an id is of a line that could not be read.
"""

from __future__ import annotations

import json
from typing import Any, TypeGuard

from akvsite.errors import visible
from akvsite.runner.workload import Asked

LOOPBACK = "127.0.0.1"
MOST_LINE = 1 << 20  # bytes


class Lines:
    """Bytes as they come, cut into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, data: bytes) -> list[bytes]:
        """Lines that are now whole. Raises ``ValueError`` where one is longer than ``MOST_LINE``."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if any(len(line) > MOST_LINE for line in (*lines, self._rest)):
            raise ValueError(f"a line is longer than {MOST_LINE} bytes")
        return lines

    @property
    def half(self) -> bool:
        """There is a beginning of a line that has not ended."""
        return bool(self._rest)


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def asked(text: bytes, vocabulary: int) -> Asked:
    """A request out of a line. Raises ``ValueError`` that says what is wrong with it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("a line is not JSON") from error
    if not isinstance(found, dict):
        raise ValueError("a line is not an object")
    name, prompt, output = found.get("id"), found.get("prompt"), found.get("output_tokens")
    at_step = found.get("at_step")
    if not isinstance(name, str) or not 0 < len(name) <= 200 or visible(name) != name:
        raise ValueError('"id" is not a printable text of 1 to 200 characters')
    if not isinstance(prompt, list) or not all(_whole(token) and 0 <= token < vocabulary for token in prompt):
        raise ValueError(f'"prompt" is not a list of tokens from 0 to {vocabulary - 1}')
    if not _whole(output):
        raise ValueError('"output_tokens" is not a whole number')
    if at_step is not None and not _whole(at_step):
        raise ValueError('"at_step" is not a whole number')
    return Asked(name, tuple(prompt), output, at_step)


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
