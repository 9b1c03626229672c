"""Bytes that are not UTF-8, written as text so that every byte can be had back.

A byte that is no part of valid UTF-8 becomes ``\\xNN``; a literal ``\\x`` with two hex digits that was there
before has its backslash written as ``\\x5c``. All other text stays as it is.
"""

from __future__ import annotations

import re
from typing import Any

_LITERAL = re.compile(r"\\(?=x[0-9a-fA-F]{2})")
_LITERAL_BYTES = re.compile(rb"\\(?=x[0-9a-fA-F]{2})")
_WRITTEN = re.compile(rb"\\x([0-9a-fA-F]{2})")


def escape(raw: bytes) -> str:
    r"""``raw`` as text that ``unescape`` turns back into the same bytes.

    >>> escape(b"k\x9f"), escape(rb"a\x41"), escape(rb"a\n")
    ('k\\x9f', 'a\\x5cx41', 'a\\n')
    """
    if b"\\" in raw:
        raw = _LITERAL_BYTES.sub(rb"\\x5c", raw)
    return raw.decode("utf-8", "backslashreplace")


def unescape(text: str) -> bytes:
    r"""The bytes that ``escape`` was given.

    >>> unescape('k\\x9f'), unescape('a\\x5cx41')
    (b'k\x9f', b'a\\x41')
    """
    return _WRITTEN.sub(lambda m: bytes([int(m[1], 16)]), text.encode("utf-8"))


def escape_text(text: str) -> str:
    r"""``escape`` for text that was decoded already; lone surrogates (which JSON can spell) become their
    three bytes.

    >>> escape_text("\udc9f") == escape(b"\xed\xb2\x9f")
    True
    """
    if "\\" in text:
        text = _LITERAL.sub(r"\\x5c", text)
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "backslashreplace")


def csv_cell(cell: Any) -> Any:
    """A cell of a CSV file: numbers as they are, and before text that a spreadsheet would run as a formula an apostrophe.

    >>> csv_cell("=1+1"), csv_cell(-1), csv_cell("a-b")
    ("'=1+1", -1, 'a-b')
    """
    if cell is None or isinstance(cell, bool | int | float):
        return cell
    text = str(cell).encode("utf-8", "backslashreplace").decode("utf-8")
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) or text[:1] in ("\t", "\r") else text
