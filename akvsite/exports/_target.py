"""A file or a folder that is there whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from akvsite.errors import BadInput
from akvsite.exports._rows import ROWS

#: What an export writes of itself, in a folder.
ABOUT = "about.json"
#: What stands in every export: the mark by which another export knows it as one to replace.
MADE_BY = "akvsite export"

#: The mark as a trace holds it: ``InternedString.str`` (field 2) with its length, which no text and no store has.
_MARK: Final = bytes([2 << 3 | 2, len(MADE_BY)]) + MADE_BY.encode()
#: Bytes of a trace in which its mark stands: what is told of the run comes first, before any row.
_HEAD: Final = 1 << 20
_ENDINGS: Final = (".csv", ".parquet")


@contextmanager
def replaced(out: Path, store: Path, *, replace: bool) -> Iterator[Path]:
    """A path beside ``out`` to write to, a file or a folder; it takes the place of ``out`` when all went well.

    Raises ``BadInput`` where ``out`` exists and may not be replaced, or cannot be made. What is no export is never
    replaced, and ``store``, from which the rows come, even less.
    """
    _refuse(out, store, replace)
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


def _refuse(out: Path, store: Path, replace: bool) -> None:
    if not out.parent.is_dir():
        raise BadInput(out, "the folder above it does not exist")
    if not (out.exists() or out.is_symlink()):
        return
    if out.resolve() == store.resolve():
        raise BadInput(out, "is the store itself; it is left as it is. Name another with --out")
    if not replace:
        raise BadInput(
            out, "exists; it is left as it is. Name another with --out, or replace it with --replace"
        )
    if out.is_symlink() or not (_is_folder_of_rows(out) if out.is_dir() else _is_trace(out)):
        raise BadInput(out, "is no export; it is left as it is. Name another with --out")


def _is_folder_of_rows(out: Path) -> bool:
    """An export's own files and nothing else; or an empty folder."""
    held = {path.name for path in out.iterdir()}
    own = {f"{kind.name}{ending}" for kind in ROWS for ending in _ENDINGS}
    if not held <= own | {ABOUT}:
        return False
    try:
        return not held or json.loads((out / ABOUT).read_text(encoding="utf-8"))["made by"] == MADE_BY
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _is_trace(out: Path) -> bool:
    if not out.is_file():
        return False
    with out.open("rb") as file:
        return _MARK in file.read(_HEAD)


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
