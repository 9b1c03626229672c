"""A file or a folder that is there whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from akvsite.errors import BadInput

#: What an export writes of itself, in a folder: its mark, by which another export knows it as one to replace.
ABOUT = "about.json"


@contextmanager
def replaced(out: Path, *, replace: bool) -> Iterator[Path]:
    """A path beside ``out`` to write to, a file or a folder; it takes the place of ``out`` when all went well.

    Raises ``BadInput`` where ``out`` exists and may not be replaced, or cannot be made.
    """
    _refuse(out, replace)
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.resolve().parent))
    except OSError as error:
        raise BadInput(out, f"cannot be written: {error.strerror}") from error
    try:
        fresh = beside / "fresh"
        yield fresh
        _swap(fresh, out, beside / "old")
    except OSError as error:
        raise BadInput(out, f"cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _refuse(out: Path, replace: bool) -> None:
    if not out.parent.is_dir():
        raise BadInput(out, "the folder above it does not exist")
    if not (out.exists() or out.is_symlink()):
        return
    if not replace:
        raise BadInput(
            out, "exists; it is left as it is. Name another with --out, or replace it with --replace"
        )
    if out.is_symlink() or (out.is_dir() and any(out.iterdir()) and not (out / ABOUT).is_file()):
        raise BadInput(out, "is no export; it is left as it is. Name another with --out")


def _swap(fresh: Path, out: Path, old: Path) -> None:
    """The old one goes back where the new one cannot take its place."""
    if out.exists():
        out.rename(old)
    try:
        fresh.rename(out)
    except OSError:
        if old.exists():
            old.rename(out)
        raise
