"""What goes wrong because of the input, said in one line.

Everything below the command line raises these; only ``cli`` turns them into exit codes.
"""

from __future__ import annotations

import unicodedata
from functools import partial

#: Control, format (bidirectional overrides among them), surrogate, unassigned, line and paragraph separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})


def visible(text: object) -> str:
    r"""Text from a capture with every character that is not seen, ends a line or moves others, spelled out.

    >>> visible("a\x1b[2J\nb")
    'a\\u001b[2J\\u000ab'
    """
    text = str(text)
    if text.isprintable():  # nothing of the kind, as nearly always
        return text
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c) in _UNSEEN else c for c in text)


class BadInput(Exception):  # noqa: N818 (it reads as what it says: raise BadInput)
    """Input that cannot be used: which file, where in it, and why. Exit code 2.

    >>> str(BadInput("trace.json", "not a capture", place="byte 12"))
    'trace.json: byte 12: not a capture'
    """

    def __init__(self, source: object, why: str, *, place: str | None = None) -> None:
        self.source = str(source)
        self.why = why
        self.place = place
        super().__init__(": ".join(part for part in (self.source, place, why) if part))

    def __reduce__(self) -> tuple[object, ...]:
        # It is made from more than the one text that exceptions are copied by.
        return partial(BadInput, place=self.place), (self.source, self.why)
