"""An akvlog file written from Python (``shim/AKVLOG.md``): the same layout and the same promises as the recorder in C.

What was committed is in the file at every moment, also after SIGKILL: slots lie in a shared mapping, and the commit word
of each is stored last. Space is taken from the disk before it is touched. Nothing here raises once the file is made.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import time
from _operator import index as index_of
from _thread import RLock, _local, get_native_id
from errno import EDQUOT, EEXIST, EFBIG, ENOENT, ENOSPC
from itertools import count

MAGIC = b"\x89AKVLOG\n"
_HEADER_BYTES, _COUNTS, _RECORD_BYTES = 4096, 1024, 64
_NAMES_AT = _HEADER_BYTES + 8 * _COUNTS
_NAMES_BYTES = 1 << 20
_NAME_MOST = 4095
_RECORDS_AT = -(-(_NAMES_AT + _NAMES_BYTES) // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
#: Records that a file begins with, and those that it grows by.
_FIRST, _PIECE = 1 << 15, 1 << 20
_CAP_BYTES = 4 << 30
_IDS = 1 << 16
_U64 = (1 << 64) - 1

_CALL_NAME, _OBJECT_NAME = 1, 2
_OBJECT = 4
_COMPLETE, _CUT = 1 << 31, 1 << 47
_STOPPED_CAPACITY, _STOPPED_DISK, _STOPPED_OTHER = 1, 2, 3

# Words of the header, by their place.
_MADE, _RESERVED, _NAMES_RESERVED, _LOST, _NAMES_LOST = 160 // 8, 192 // 8, 256 // 8, 320 // 8, 328 // 8

_BODY = struct.Struct("=QQIi4Q")

#: Mappings are never let go of: each keeps a descriptor, and a program that closed all of its own may have opened
#: another file under that number.
_kept: list[object] = []


class AkvlogFile:
    """One file, of the process that made it. Raises ``OSError`` where it cannot be made."""

    def __init__(self, folder: str, prefix: str, producer: str) -> None:
        self._threads = _local()
        pid = os.getpid()
        self._lock = RLock()
        self._inside = False
        self._capacity = max(64, _cap_bytes() // _RECORD_BYTES)
        self._indexes = count()
        self._ids: dict[str, int] = {}
        self._pieces: list[tuple[int, mmap.mmap, memoryview]] = []
        self._stopped = False
        part = os.path.join(folder, f".{prefix}-{pid}-{get_native_id()}-{time.monotonic_ns()}.part")
        file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            first = min(_FIRST, self._capacity)
            os.posix_fallocate(file, 0, _RECORDS_AT + first * _RECORD_BYTES)
            self._inode = os.fstat(file).st_ino
            self._map = _mapped(file, 0, _RECORDS_AT)
            self._words = memoryview(self._map).cast("Q")
            self._map_piece(file, 0, first)
            self._fill_header(producer, first)
            self.path = _named(part, folder, f"{prefix}-{pid}")
        except BaseException:
            os.unlink(part)
            raise
        finally:
            os.close(file)
        _kept.append(self)

    def _fill_header(self, producer: str, first: int) -> None:
        try:
            program = os.fsencode(os.readlink("/proc/self/exe"))
        except OSError:
            program = os.fsencode(sys.executable or "")
        struct.pack_into(
            "<IIIIQQQQQQII4q", self._map, 8, 1, _HEADER_BYTES, _RECORD_BYTES, 0, _NAMES_AT, _NAMES_BYTES, _HEADER_BYTES,
            _COUNTS, _RECORDS_AT, self._capacity, os.getpid(), os.getppid(), *_moment(),
        )  # fmt: skip
        self._words[_MADE] = first
        for at, text, room in ((384, producer.encode(), 128), (512, program, 512)):
            self._map[at : at + room] = text[: room - 1].ljust(room, b"\0")
        # The magic last: a file without it was never begun.
        self._map[0:8] = MAGIC

    def _map_piece(self, file: int, first: int, end: int) -> None:
        # On a page: every piece but the last is a whole number of pages long.
        mapped = _mapped(file, _RECORDS_AT + first * _RECORD_BYTES, (end - first) * _RECORD_BYTES)
        for _, old, _ in self._pieces:
            # Written, and perhaps looked at once more: a span that is open longer brings its page back.
            old.madvise(mmap.MADV_DONTNEED)
        self._pieces.append((first, mapped, memoryview(mapped).cast("Q")))
        self._ready = end

    # --- records ---

    def write(
        self,
        kind: int,
        flags: int,
        name: int,
        start: int,
        end: int,
        value: int = 0,
        a: int = 0,
        b: int = 0,
        c: int = 0,
        d: int = 0,
    ) -> int:
        """One record, of this thread; its index, or -1 where there is no room. Numbers are cut to 64 bits.

        Raises ``TypeError`` where something is no number, and nothing is written.
        """
        words = (index_of(a) & _U64, index_of(b) & _U64, index_of(c) & _U64, index_of(d) & _U64)
        return self.put(kind, flags, name, index_of(start) & _U64, index_of(end) & _U64, value, *words)

    def put(
        self,
        kind: int,
        flags: int,
        name: int,
        start: int,
        end: int,
        value: int,
        a: int,
        b: int = 0,
        c: int = 0,
        d: int = 0,
    ) -> int:
        """``write`` of numbers that are known to fit."""
        index = next(self._indexes)
        if index >= self._ready and not self._make_room(index):
            return -1
        # Two threads could only meet here between these two lines, where Python does not change from one to the other;
        # the next record would put it right.
        if self._words[_RESERVED] <= index:
            self._words[_RESERVED] = index + 1
        try:
            thread = self._threads.id
        except AttributeError:
            # A system call, once for each thread.
            thread = self._threads.id = get_native_id()
        words, at = self._slot(index)
        _BODY.pack_into(words, 8 * at + 8, start, end, thread, value, a, b, c, d)
        words[at] = kind | flags << 8 | name << 16 | ((index + 1) & 0xFFFFFFFF) << 32
        return index

    def finish(self, index: int, kind: int, flags: int, name: int, end: int) -> None:
        """Give the record of a span that was shown as open its end."""
        words, at = self._slot(index)
        words[at + 2] = end
        words[at] = kind | flags << 8 | name << 16 | ((index + 1) & 0xFFFFFFFF) << 32

    def _slot(self, index: int) -> tuple[memoryview, int]:
        """The words of a piece, and the place of the record among them."""
        first, _, words = self._pieces[-1]
        if index < first:
            first, _, words = next(piece for piece in reversed(self._pieces) if index >= piece[0])
        return words, (index - first) * (_RECORD_BYTES // 8)

    def _make_room(self, index: int) -> bool:
        with self._lock:
            # A signal handler or a finaliser that records while its own thread is in here would make the same piece.
            while index >= self._ready and not self._inside and not self._stopped:
                self._inside = True
                try:
                    self._grow()
                finally:
                    self._inside = False
            if index < self._ready:
                return True
            self._words[_LOST] += 1
            return False

    def _grow(self) -> None:
        end = min(self._ready + _PIECE, self._capacity)
        if end <= self._ready:
            self._stop(_STOPPED_CAPACITY, 0)
            return
        try:
            # Opened by its path each time: a program that closes all of its descriptors would close ours.
            file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                if os.fstat(file).st_ino != self._inode:
                    raise FileNotFoundError(ENOENT, os.strerror(ENOENT), self.path)
                start = _RECORDS_AT + self._ready * _RECORD_BYTES
                os.posix_fallocate(file, start, (end - self._ready) * _RECORD_BYTES)
                self._map_piece(file, self._ready, end)
                self._words[_MADE] = end
            finally:
                os.close(file)
        except (OSError, ValueError, MemoryError) as error:
            code = getattr(error, "errno", 0) or 0
            self._stop(_STOPPED_DISK if code in (ENOSPC, EDQUOT, EFBIG) else _STOPPED_OTHER, code)

    def _stop(self, why: int, code: int) -> None:
        self._stopped = True
        struct.pack_into("<Ii", self._map, 148, why, code)

    # --- names ---

    def id_of(self, text: str) -> int:
        """The id of a name, from 1; 0, which has no text, where there is no room for it."""
        return self._ids.get(text) or self._new_id(text)

    def _new_id(self, text: str) -> int:
        with self._lock:
            if text in self._ids:
                return self._ids[text]
            if self._inside or len(self._ids) + 1 >= _IDS:
                self._words[_NAMES_LOST] += 1
                return 0
            self._inside = True
            try:
                made = len(self._ids) + 1
                if self._append(text, _CALL_NAME, made) < 0:
                    # Not kept in `_ids`: what has no room in the file takes no memory either.
                    return 0
                self._ids[text] = made
            finally:
                self._inside = False
            return made

    def name_object(self, what: int, handle: int, text: str) -> None:
        """Record that the object known as ``handle`` is called ``text``."""
        with self._lock:
            if self._inside:
                return
            self._inside = True
            try:
                at = self._append(text, _OBJECT_NAME, 0)
            finally:
                self._inside = False
        if at >= 0:
            self.write(_OBJECT, 0, 0, time.monotonic_ns(), 0, what, handle, at)

    def _append(self, text: str, what: int, id: int) -> int:
        """An entry of the names, its offset or -1. Under the lock."""
        # As in C, where a text ends at a zero.
        data = text.partition("\0")[0].encode("utf-8", "backslashreplace")
        cut = _CUT if len(data) > _NAME_MOST else 0
        data = data[:_NAME_MOST]
        size = 8 + -(-len(data) // 8) * 8
        at = self._words[_NAMES_RESERVED]
        if at + size > _NAMES_BYTES:
            self._words[_NAMES_LOST] += 1
            return -1
        self._words[_NAMES_RESERVED] = at + size
        head = len(data) | what << 32 | cut | id << 48
        place = _NAMES_AT + at
        # The length stands before the text, so that a reader can step over a text that was never finished.
        self._words[place // 8] = head
        self._map[place + 8 : place + 8 + len(data)] = data
        self._words[place // 8] = head | _COMPLETE
        return at

    # --- the end ---

    @property
    def lost(self) -> int:
        """Records for which there was no room."""
        return int(self._words[_LOST])

    def close(self) -> None:
        """Say that the process came to its normal end. The file can be written to even then."""
        struct.pack_into("<4q", self._map, 112, *_moment())
        struct.pack_into("<I", self._map, 144, 1)


def _mapped(file: int, at: int, size: int) -> mmap.mmap:
    if sys.version_info >= (3, 13):
        return mmap.mmap(file, size, offset=at, trackfd=False)
    return mmap.mmap(file, size, offset=at)


def _named(part: str, folder: str, stem: str) -> str:
    """Give the file its final name; a process id comes again after exec, and in a long capture."""
    for number in range(10_000):
        path = os.path.join(folder, f"{stem}.{number}.akvlog" if number else f"{stem}.akvlog")
        try:
            os.link(part, path)
        except FileExistsError:
            continue
        except OSError:  # a file system without links
            if os.path.lexists(path):
                continue
            os.rename(part, path)
            return path
        os.unlink(part)
        return path
    raise FileExistsError(EEXIST, os.strerror(EEXIST), stem)


def _moment() -> tuple[int, int, int, int]:
    before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return before, real, after, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def _cap_bytes() -> int:
    """Bytes of records at most: ``$AKV_CAP``, with K, M or G; what is no size is as good as not set."""
    text = os.environ.get("AKV_CAP", "")
    shift = {"K": 10, "M": 20, "G": 30}.get(text[-1:], 0)
    digits = text[:-1] if shift else text
    if not digits.isascii() or not digits.isdecimal():
        return _CAP_BYTES
    given = int(digits) << shift
    return given if 0 < given <= 1 << 44 else _CAP_BYTES
