"""Bytes of a capture as text, so that every byte can be had back.

The same rule as that of the readers: a byte that is no part of valid UTF-8 becomes ``\\xNN``, and a literal ``\\x``
with two hex digits that was there before has its backslash written as ``\\x5c``.
"""

from __future__ import annotations

import re

_LITERAL = re.compile(rb"\\(?=x[0-9a-fA-F]{2})")


def escape(raw: bytes) -> str:
    r"""``raw`` as text.

    >>> escape(b"k\x9f"), escape(rb"a\x41")
    ('k\\x9f', 'a\\x5cx41')
    """
    if b"\\" in raw:
        raw = _LITERAL.sub(rb"\\x5c", raw)
    return raw.decode("utf-8", "backslashreplace")
