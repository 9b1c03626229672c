"""What the command is: where its program lies, whether it is a python, and whether a library can be preloaded."""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from akvsite.errors import BadInput

_PYTHON = re.compile(r"(python|pypy)\d*(\.\d+)*t?")
_INTERPRETER = 3  # PT_INTERP


@dataclass(frozen=True)
class Program:
    """``about`` is what may be told of the command: its program and script, no argument."""

    #: Absolute: a bare name would be looked for in ``PATH`` by whoever begins it.
    path: Path
    about: str
    #: The python that runs it, where one does.
    python: Path | None
    #: Why a preloaded library would not be mapped; None where nothing is known against it.
    refuses_preload: str | None


def find(command: Sequence[str]) -> Program:
    """Raises ``BadInput`` where there is no such program."""
    found = shutil.which(command[0])
    if found is None:
        place = Path(command[0])
        why = "cannot be executed" if place.is_file() else "no such program"
        raise BadInput(command[0] or "''", why)
    path = Path(found).absolute()
    interpreter = _interpreter(path)
    python = next((p for p in (path, interpreter) if p and _PYTHON.fullmatch(p.name)), None)
    about = path.name
    if python == path and (script := _script(command[1:])):
        about += f" {script}"
    return Program(path, about, python, _refusal(path) or (_refusal(interpreter) if interpreter else None))


def _script(words: Sequence[str]) -> str | None:
    """The script or module that a python is to run."""
    rest = iter(words)
    for word in rest:
        if word == "-m":
            return f"-m {next(rest, '')}".strip()
        if word == "-c":
            return "-c …"
        if word in ("-W", "-X"):
            next(rest, None)
        elif not word.startswith("-"):
            return Path(word).name
    return None


def _interpreter(path: Path) -> Path | None:
    """The program that a script names in its first line."""
    try:
        with path.open("rb") as file:
            line = file.readline(512)
    except OSError:
        return None
    words = line[2:].decode("utf-8", "replace").split() if line.startswith(b"#!") else []
    if words and Path(words[0]).name == "env":
        words = [w for w in words[1:] if not w.startswith("-") and "=" not in w]
    found = shutil.which(words[0]) if words else None
    return Path(found).absolute() if found else None


def _refusal(path: Path) -> str | None:
    try:
        mode = path.stat().st_mode
        with path.open("rb") as file:
            dynamic = _is_dynamic(file.read(65_536))
    except OSError:
        return None
    if mode & (stat.S_ISUID | stat.S_ISGID) or _has_capabilities(path):
        return f"{path.name} runs with more rights than its user: the loader preloads nothing into it"
    if dynamic is False:
        return f"{path.name} is statically linked or of another kind of machine: nothing can be preloaded into it"
    return None


def _has_capabilities(path: Path) -> bool:
    try:
        return "security.capability" in os.listxattr(path)
    except OSError:
        return False


def _is_dynamic(head: bytes) -> bool | None:
    """Whether a 64-bit ELF program names a loader; None where the bytes are no ELF program."""
    if not head.startswith(b"\x7fELF"):
        return None
    if len(head) < 64 or head[4] != 2:
        return False  # a 32-bit program cannot map a 64-bit library
    offset, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    entries = range(offset, offset + size * count, size or 1)
    return any(struct.unpack_from("<I", head, at)[0] == _INTERPRETER for at in entries if at + 4 <= len(head))
