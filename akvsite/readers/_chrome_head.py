"""Whose Chrome trace it is, told from its first bytes: several tools write that form, in words of their own."""

from __future__ import annotations

import re

_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:')
_PHASE_KEY = re.compile(rb'"ph"\s*:\s*"')
_LIST_OF_OBJECTS = re.compile(rb"\[\s*(?:\{|\]\s*$)")
_KINETO = re.compile(rb'"(?:schemaVersion|deviceProperties|baseTimeNanoseconds|distributedInfo)"\s*:')
#: Names of processes, categories of device records, and categories of the arrows between host and device.
_UNITRACE = re.compile(
    rb'"name"\s*:\s*"(?:RANK \d+ )?(?:HOST|DEVICE)<|"cat"\s*:\s*"gpu_op"|"cat"\s*:\s*"(?:CL_)?Flow_(?:H2D|D2H)_'
)


def is_chrome_trace(head: bytes) -> bool:
    """Whether the first bytes are those of a Chrome trace: an object with a list of events, or the bare list."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return _EVENTS_KEY.search(head) is not None or (
            b'"deviceProperties"' in head and b'"schemaVersion"' in head
        )
    return _LIST_OF_OBJECTS.match(text) is not None and (
        _PHASE_KEY.search(text) is not None or b"{" not in text
    )


def by_unitrace(head: bytes) -> bool:
    """Whether unitrace wrote the Chrome trace that begins so."""
    return _UNITRACE.search(head) is not None and _KINETO.search(head) is None
