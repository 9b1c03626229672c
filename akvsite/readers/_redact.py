"""Takes out of a line of text what says whose machine it was written on."""

from __future__ import annotations

import re

_HIDDEN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\")>\]]+"), "<url>"),
    (re.compile(r"(?<=\bhost )[^\s,;]+"), "<address>"),
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?"), "<address>"),
    (re.compile(r"(?<![\w.])(?:~|\.{0,2})/[^\s'\",:;)>]+"), "<path>"),
    (re.compile(r"(?<!\w)(?:[A-Za-z]:\\|\\\\)[^\s'\",;)>]+"), "<path>"),
    (re.compile(r"[\w.+-]+@[\w.-]+\.\w+"), "<address>"),
)


def redact(text: str) -> str:
    """
    >>> redact("Cannot connect to host gpu7.lab:8000 ssl:default [http://10.0.0.1:8000/v1]")
    'Cannot connect to host <address> ssl:default [<url>]'
    >>> redact('File "/home/me/run.py" in 10.1.2.3:80')
    'File "<path>" in <address>'
    """
    for pattern, instead in _HIDDEN:
        text = pattern.sub(instead, text)
    return text


def base_name(name: str) -> str:
    """The last part of a name that may be a path or a hub's ``owner/name``.

    >>> base_name("/models/me/llama-3/"), base_name("meta-llama/Llama-3.1-8B")
    ('llama-3', 'Llama-3.1-8B')
    """
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2]
