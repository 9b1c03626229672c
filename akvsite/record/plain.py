"""Plain files in folders that a command could write to: nothing else is opened, changed or waited for."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from akvsite.errors import BadInput
from akvsite.record.clean import clean


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file that has this name alone: a link would lead to somebody else's file.

    Raises ``BadInput`` where it is anything else, or cannot be opened.
    """
    try:
        # A pipe would wait for somebody at its other end.
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        why = "no plain file" if path.is_symlink() or not path.is_file() else error.strerror
        raise BadInput(shown(path.name), f"left where it was: {why}") from error
    about = os.fstat(file)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
        os.close(file)
        raise BadInput(shown(path.name), "left where it was: no plain file with one name")
    return file


def read_plain(path: Path, most: int) -> bytes:
    """Its first ``most`` bytes. Raises ``BadInput`` as ``open_plain`` does."""
    with os.fdopen(open_plain(path), "rb") as file:
        return file.read(most)


def is_folder(path: Path) -> bool:
    """Whether it is a folder itself, and not a link to one."""
    return path.is_dir() and not path.is_symlink()


def remove(folder: Path, what: str) -> list[str]:
    """Take away what a command made of its folder, and nothing behind a link; a line where that cannot be done."""
    try:
        if is_folder(folder):
            shutil.rmtree(folder)
        else:
            folder.unlink(missing_ok=True)
    except OSError as error:
        return [f"{what}: what was left there could not be removed ({error.strerror})"]
    return []


def free_bytes(folder: Path) -> int:
    """What the file system of the folder still takes."""
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize


def shown(name: str) -> str:
    r"""A file's name as it may be told; bytes that are no text are spelled out.

    >>> shown("a\udcff.txt")
    'a\\xff.txt'
    """
    return clean(os.fsencode(name).decode("utf-8", "backslashreplace"))


def may_be_told(name: str) -> bool:
    """Whether a name may stand in a bundle as it is."""
    return shown(name) == name
