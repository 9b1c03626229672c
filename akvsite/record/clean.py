"""What may be written into a bundle: no folder, host, user or secret of the machine it was made on."""

from __future__ import annotations

import contextlib
import getpass
import platform
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from akvsite.errors import visible
from akvsite.readers import without_secrets

#: Facts of a capture.toml: nested tables of plain values; None is left out.
Value = str | int | float | bool | None
Facts = Mapping[str, "Value | Facts"]

LONGEST = 1000


class Version(str):
    """A version number: four numbers with dots look like an address and are none."""

    __slots__ = ()


#: A folder in front of a name, at the start of a word; a lone slash in "a/b" is none.
_FOLDERS = re.compile(r"(?<![\w.])(?:~|\.{0,2})/(?:[^\s'\",:;)>/]*/)*(?=[^\s'\",:;)>/]*)")


def base_names(text: str) -> str:
    """Every path in the text, reduced to its last part.

    >>> base_names("/opt/a/libx.so:../b/liby.so, a/b")
    'libx.so:liby.so, a/b'
    """
    return _FOLDERS.sub("", text)


def clean(text: str) -> str:
    """One line of bounded length that says nothing of whose machine it comes from.

    >>> clean("/home/ada/run.py")
    'run.py'
    """
    text = without_secrets(base_names(visible(" ".join(text.split()))))
    for own in own_names():
        text = re.sub(rf"(?<![\w]){re.escape(own)}(?![\w])", "[redacted]", text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def cleaned(facts: Facts) -> dict[str, Value | Facts]:
    """The facts with every text cleaned; what is unknown, and tables that hold nothing, are left out."""
    made: dict[str, Value | Facts] = {}
    for key, value in facts.items():
        if isinstance(value, Mapping):
            if inner := cleaned(value):
                made[key] = inner
        elif isinstance(value, Version):
            if value:
                made[key] = str(value)
        elif isinstance(value, str):
            if value.strip():
                made[key] = clean(value)
        elif value is not None:
            made[key] = value
    return made


@cache
def own_names() -> tuple[str, ...]:
    """Names of this machine and its user. Very short ones are words of many texts, and `root` is nobody's name."""
    names = {platform.node(), platform.node().partition(".")[0]}
    # An account may have no name, as in many containers.
    with contextlib.suppress(KeyError, OSError, RuntimeError):
        names |= {getpass.getuser(), Path.home().name}
    return tuple(
        sorted((n for n in names if len(n) > 2 and n not in ("root", "localhost")), key=len, reverse=True)
    )
