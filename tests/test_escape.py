from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from akvsite.escape import escape, escape_text, unescape


@given(st.binary())
@example(b"\x6b\x9f")
@example(b"\xc0\xc1")
@example(rb"\x9f")
@example(rb"\x5cx9f")
@example(b"\\\x9f")
@example(b"\xed\xb2\x9f")
def test_every_byte_can_be_had_back(raw):
    text = escape(raw)
    text.encode("utf-8")
    assert unescape(text) == raw


@given(st.text())
@example(r"C:\x64\bin")
@example("\udc9f")
def test_text_and_bytes_are_escaped_alike(text):
    assert escape_text(text) == escape(text.encode("utf-8", "surrogatepass"))


def test_names_without_anything_odd_stay_as_they_are():
    for name in ("gemm<128, 64>", "Größe", r"C:\temp\new", r"\d+ \y"):
        assert escape(name.encode()) == name == escape_text(name)
