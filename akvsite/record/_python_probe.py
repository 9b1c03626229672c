"""The probe in plain Python, for where the extension of ``shim/probe`` is not built: the same functions, the same file."""

from __future__ import annotations

import atexit
import mmap
import os
from _thread import RLock
from time import monotonic_ns

from akvsite.record._akvlog_writer import AkvlogFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import SupportsIndex

NAME = "python"
PRODUCER = "akv_probe 0.1.0 python"

_STEP, _PHASE, _REGION, _LAYER = 16, 17, 18, 19
_CLOCK = 6
_REQUEST = 3
_RUNNER, _HOST = 1, 2
_RAISED, _OPEN = 1, 2
_U64 = (1 << 64) - 1
_MADV_WIPEONFORK = 18

_level = 0
_folder: str | None = None
_file: AkvlogFile | None = None
_failed = False
#: Records of this process that no file could take; those that a file counts itself are not among them.
_lost = 0
_lock = RLock()


#: Its first byte is 0 in a forked child, however that was forked: the kernel wipes the page (from 4.14 on).
_page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def _wipe_on_fork() -> None:
    try:
        _page.madvise(_MADV_WIPEONFORK)
    except OSError:
        return  # then `_forget` alone tells of a fork, by os.fork


_wipe_on_fork()


def _current() -> AkvlogFile | None:
    """The file of this process, made at the first record; None where there can be none."""
    return _file if _file is not None and _page[0] else _begin()


def _begin() -> AkvlogFile | None:
    global _file, _failed, _lost
    if not _page[0]:
        _forget()
        _page[0] = 1
    with _lock:
        if _file is None and not _failed and _folder is not None:
            try:
                _file = AkvlogFile(_folder, "probe", PRODUCER)
            except (OSError, ValueError, MemoryError):
                _failed = True
        if _file is None:
            _lost += 1
        return _file


def _forget() -> None:
    """In a forked child: it starts a file of its own and never writes into its parent's."""
    global _file, _failed, _lost, _lock
    _file, _failed, _lost, _lock = None, False, 0, RLock()


os.register_at_fork(after_in_child=_forget)


def configure(level: int, folder: str | None) -> None:
    """Record up to ``level`` into ``folder``; another folder than before gets a file of its own."""
    global _level, _folder, _file, _failed
    if not _page[0]:
        _forget()
        _page[0] = 1
    with _lock:
        if folder is not None and folder != _folder:
            close()
            _folder, _file, _failed = folder, None, False
        _level = level


@atexit.register
def close() -> None:
    """Mark the file as that of a process which came to its end."""
    if _file is not None and _page[0]:
        _file.close()


def lost() -> int:
    """Records of this process that could not be written."""
    return _lost + (_file.lost if _file is not None and _page[0] else 0)


def path() -> str | None:
    """The file being written."""
    return _file.path if _file is not None and _page[0] else None


def generation() -> int:
    """A number that is another one for each file; 0: there is no file."""
    file = _current()
    return 0 if file is None else id(file)


class _Nothing:
    """What a span is below its level. Two built-in functions that return a false value, the second whatever it is given:
    to call a method in Python would cost as much again."""

    __slots__ = ()
    if TYPE_CHECKING:

        def __enter__(self) -> object: ...
        def __exit__(self, kind: object, error: object, trace: object, /) -> None: ...
    else:
        __enter__ = bool
        __exit__ = "".format


NOTHING = _Nothing()


class _Span:
    """A stretch of time of one thread. Entered again inside itself it is still one."""

    __slots__ = ("_depth", "_file", "_index", "_kind", "_name", "_number", "_start", "_value")

    def __init__(self, kind: int, name: str, value: int = 0, number: int = 0) -> None:
        self._kind = kind
        self._name = name
        self._value = value
        self._number = number
        self._depth = 0
        self._file: AkvlogFile | None = None

    def __enter__(self) -> _Span:
        self._depth += 1
        if self._depth == 1:
            self._file = file = _current()
            self._start = monotonic_ns()
            if file is not None and self._kind <= _PHASE:
                # Shown while it lasts: of a process that hangs or is ended, it is known in what.
                name = file.id_of(self._name)
                self._index = file.put(self._kind, _OPEN, name, self._start, 0, self._value, self._number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end = monotonic_ns()
        file = self._file
        self._depth -= 1
        # Entered by the parent and left by a forked child, or begun in another file: not of this one.
        if self._depth or file is None or file is not _file or not _page[0]:
            self._depth = max(self._depth, 0)
            return
        flags = 0 if kind is None else _RAISED
        name = file.id_of(self._name)
        if self._kind > _PHASE:
            if _level >= _HOST:
                file.put(self._kind, flags, name, self._start, end, self._value, self._number)
        elif self._index >= 0:
            file.finish(self._index, self._kind, flags, name, end)


def _not_recorded() -> _Nothing:
    global _lost
    _lost += 1
    return NOTHING


def step(number: SupportsIndex, kind: str = "decode", batch: SupportsIndex | None = None) -> _Span | _Nothing:
    """One iteration of the engine, of ``batch`` requests (level runner)."""
    if _level < _RUNNER:
        return NOTHING
    try:
        return _Span(_STEP, str(kind), -1 if batch is None else _int32(batch), number.__index__() & _U64)
    except Exception:
        return _not_recorded()


def phase(name: str, /) -> _Span | _Nothing:
    """A part of a step of the runner (level runner)."""
    return NOTHING if _level < _RUNNER else _named(_PHASE, name)


def region(name: str, /) -> _Span | _Nothing:
    """A named part of a step (level host)."""
    return NOTHING if _level < _HOST else _named(_REGION, name)


def _named(kind: int, name: str) -> _Span | _Nothing:
    try:
        return _Span(kind, str(name))
    except Exception:
        return _not_recorded()


def layer(number: SupportsIndex, /) -> _Span | _Nothing:
    """One layer of the model in a step (level host)."""
    if _level < _HOST:
        return NOTHING
    try:
        return _Span(_LAYER, "layer", _int32(number))
    except Exception:
        return _not_recorded()


def mark(kind: int, name: str, start: int, end: int, value: int, a: int, b: int, c: int, /) -> None:
    """One record of a probe (kinds 16 to 63), whatever the level."""
    file = _current()
    if file is None:
        return
    try:
        file.write(kind, 0, file.id_of(str(name)), start, end, _int32(value), a, b, c)
    except Exception:
        _not_recorded()


def name_request(handle: int, text: str, /) -> None:
    """The text of the request known by the number ``handle``."""
    file = _current()
    if file is not None:
        file.name_object(_REQUEST, handle, text)


def bracket(device: int, before: int, after: int, device_time: int, resolution: int, /) -> None:
    """One bracket of a device's clock by the host's."""
    file = _current()
    if file is None:
        return
    try:
        file.write(_CLOCK, 0, 0, before, after, 0, device, device_time, 0, resolution)
    except Exception:
        _not_recorded()


def _int32(value: SupportsIndex) -> int:
    """A number that the record has 32 bits for; one that does not fit is as good as unknown."""
    number = value.__index__()
    return number if -(1 << 31) <= number < 1 << 31 else -1
