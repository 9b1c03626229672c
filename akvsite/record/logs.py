"""What the command's recorders left: akvlog files on their way into the bundle, and notes where nothing was recorded."""

from __future__ import annotations

import fcntl
import gzip
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from akvsite import scan
from akvsite.errors import BadInput
from akvsite.record.clean import base_names, clean
from akvsite.record.plain import is_folder, may_be_told, open_plain, read_plain, shown
from akvsite.wording import number_of

_RECORD_BYTES = 64
_EXECUTABLE = slice(512, 1024)
_COMPLETE = 1 << 31
_CUT = 1 << 15
#: Kinds of names (``shim/AKVLOG.md``): those that may hold a path, and notes.
_LIBRARY, _NOTE = 3, 4
_WITH_PATHS = (_LIBRARY, _NOTE)
#: Bytes of a list of libraries that are read at most.
_MAPS_MOST = 1 << 20
#: Beginning of the producer of files that hold no runtime call: those of the probe (``akvsite.record.probe``).
_PROBE = "akv_probe"


@dataclass
class Files:
    """Counts of some recorders' files: records lost, and processes that came to their end or did not."""

    files: int = 0
    lost: int = 0
    #: Processes that reached their normal exit, and those that did not.
    closed: int = 0
    open: int = 0
    #: Files that some process still writes to: what was there by now is in the bundle.
    still_written: int = 0


@dataclass
class Logs(Files):
    """The recorders' files, relative to the bundle, and what they say. ``calls`` is a count.

    The counts are of files with runtime calls; those of the probe are in ``probe``.
    """

    calls: int = 0
    probe: Files = field(default_factory=Files)
    kept: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Runtime libraries that a process mapped, by its own word.
    libraries: set[str] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)


def collect(source: Path, bundle: Path, *, compress: bool) -> Logs:
    """Move the akvlog files of ``source`` to ``edge/`` and ``probe/`` of the bundle, cut to what is used and without
    paths of this machine."""
    made = Logs()
    if not is_folder(source):
        made.left_out.append(
            "$AKV_DIR: the command removed or replaced the folder; what was recorded is missing"
        )
        return made
    for path in sorted(source.glob("maps-*.txt")):
        try:
            lines = read_plain(path, _MAPS_MOST).decode("utf-8", "replace").splitlines()
        except (BadInput, OSError) as error:
            made.left_out.append(_why(path, error))
            continue
        made.libraries |= {line.strip().rpartition("/")[2] for line in lines if line.strip()}
    for path in sorted(source.glob("*.akvlog")):
        try:
            os.close(open_plain(path))
            if not may_be_told(path.name):
                raise BadInput(shown(path.name), "no name that a recorder gives")
            used, of = _account(path, made)
        except (BadInput, OSError) as error:
            made.left_out.append(_why(path, error))
            continue
        target = bundle / ("probe" if of is made.probe else "edge")
        target.mkdir(exist_ok=True)
        kept = target / path.name
        of.still_written += not _moved(path, kept, used)
        _take_paths_out(kept)
        if compress:
            kept = packed(kept)
        made.kept.append(kept.relative_to(bundle).as_posix())
    if made.probe.lost:
        made.left_out.append(
            f"probe: {number_of(made.probe.lost, 'record')} for which there was no room (counted)"
        )
    made.notes = list(dict.fromkeys(made.notes))
    return made


def _why(path: Path, error: BadInput | OSError) -> str:
    why = error.why if isinstance(error, BadInput) else error.strerror
    return f"{shown(path.name)}: {clean(why or type(error).__name__)}"


def settle(path: Path) -> None:
    """Cut a file that lies where the command put it to what is used, and take paths of this machine out of it.

    Raises ``BadInput`` where it is no akvlog; then it is as it was.
    """
    os.close(open_plain(path))
    used, _ = _account(path, Logs())
    place = path.with_name(f"{path.name}.taken")
    _moved(path, place, used)
    _take_paths_out(place)
    place.rename(path)


def _account(path: Path, made: Logs) -> tuple[int, Files]:
    """Count what the file holds; returns the bytes of it that are used, and among which files it counts. Raises
    ``BadInput``."""
    with scan.open_log(path) as log:
        tally = log.tally()
        counted = log.counts.column("count").to_pylist()
        names = log.names.to_pylist()
        header = log.header
    made.calls += tally.present.get(1, 0) + tally.present.get(2, 0) + sum(counted)
    of = made.probe if header.producer.startswith(_PROBE) else made
    of.files += 1
    of.lost += header.records_lost
    of.closed += header.closed
    of.open += not header.closed
    made.notes += [clean(n["text"]) for n in names if n["what"] == _NOTE and n["complete"]]
    records = min(header.reserved, header.capacity)
    return min(path.stat().st_size, header.records_at + _RECORD_BYTES * records), of


def _moved(path: Path, place: Path, used: int) -> bool:
    """Bring the file to its place, cut to ``used`` bytes; False where some process still writes to it. A file that is still mapped is copied: to cut it would end the
    process that writes to it with SIGBUS."""
    with os.fdopen(open_plain(path, os.O_RDWR), "r+b") as file:
        if _nobody_else_has(file):
            file.truncate(used)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            path.rename(place)
            return True
    with os.fdopen(open_plain(path), "rb") as file, place.open("xb") as copy:
        left = used
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            copy.write(piece)
            left -= len(piece)
    path.unlink()
    return False


def _nobody_else_has(file: IO[bytes]) -> bool:
    """Whether no process has the file open or mapped for writing: only then the kernel grants a lease on it."""
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError:
        return False
    return True


def _take_paths_out(path: Path) -> None:
    """Reduce the path of the program, and those in names of libraries and notes, to base names, in place."""
    with scan.open_log(path) as log:
        header = log.header
    with os.fdopen(open_plain(path, os.O_RDWR), "r+b") as file:
        head = bytearray(os.pread(file.fileno(), 1024, 0))
        program = bytes(head[_EXECUTABLE]).partition(b"\0")[0].rpartition(b"/")[2]
        head[_EXECUTABLE] = program.ljust(512, b"\0")
        os.pwrite(file.fileno(), head[_EXECUTABLE], 512)
        size = min(header.names_bytes, header.names_reserved)
        area = bytearray(os.pread(file.fileno(), size, header.names_at))
        if _shorten_names(area):
            os.pwrite(file.fileno(), area, header.names_at)


def _shorten_names(area: bytearray) -> bool:
    """Base names instead of paths. An entry may become shorter: the words after it are zero, which readers skip."""
    changed = False
    at = 0
    while at + 8 <= len(area):
        if not any(area[at : at + 8]):
            at += 8
            continue
        length = int.from_bytes(area[at : at + 4], "little")
        what = int.from_bytes(area[at + 4 : at + 6], "little") & ~_CUT
        size = length & ~_COMPLETE
        end = at + 8 + size
        if end > len(area):
            break
        text = bytes(area[at + 8 : end])
        short = base_names(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if what in _WITH_PATHS and len(short) < size:
            area[at : at + 4] = (len(short) | length & _COMPLETE).to_bytes(4, "little")
            area[at + 8 : end] = short.ljust(size, b"\0")
            changed = True
        at = (end + 7) & ~7
    return changed


def packed(path: Path) -> Path:
    """The same bytes as gzip, in the place of the file."""
    made = path.with_name(f"{path.name}.gz")
    with path.open("rb") as file, made.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as out:
        shutil.copyfileobj(file, out, 1 << 20)
    path.unlink()
    return made
