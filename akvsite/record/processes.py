"""Processes as the kernel shows them: a command with its descendants, their memory, the libraries they map."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from akvsite.errors import BadInput

#: How long what a command has left may take to end by itself; and then, once it is told to.
GRACE_S = 1.0
_TO_END_S = 10.0
_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
#: Libraries of the runtimes that this project looks at, by base name.
_RUNTIME = re.compile(
    rb"/((?:libsycl|libur_|libpi_|libze_|libOpenCL|libintelocl|libigdrcl|libcudart|libcuda\.|libcublas|libcudnn"
    rb"|libtorch|libc10|libamdhip64|libhsa-runtime|libxptifw|libakv_)[^/\n]*?)(?: \(deleted\))?\n"
)
_STATUS = re.compile(rb"^(VmRSS|RssAnon):\s+(\d+) kB$", re.MULTILINE)


class Tree:
    """A process and its descendants, also those whose parent has ended since it was seen.

    A process whose parent ended before both were seen is not known to belong here.
    """

    def __init__(self, pid: int) -> None:
        #: Start times tell a process from another one that got its number later.
        self.known: dict[int, int] = {}
        self._root = pid
        self._foreign: set[int] = set()
        self._newest = b""

    def alive(self) -> list[int]:
        """The process ids, the command's own first."""
        # The number of the newest process of the machine changes with each one made: else nobody is new here.
        newest = _bytes("/proc/loadavg").rpartition(b" ")[2]
        self.known = {pid: start for pid, start in self.known.items() if _started(pid) == start}
        if newest != self._newest or not newest:
            self._newest = newest
            self._look()
        return list(self.known)

    def _look(self) -> None:
        with os.scandir("/proc") as entries:
            there = {int(entry.name) for entry in entries if entry.name.isdigit()}
        self._foreign &= there
        new = {pid: stat for pid in there - self._foreign - self.known.keys() if (stat := _stat(pid))}
        if not self.known and self._root in new:
            self.known[self._root] = new[self._root][1]
        children: dict[int, list[int]] = {}
        for pid, (parent, _) in new.items():
            children.setdefault(parent, []).append(pid)
        waiting = list(self.known)
        while waiting:
            for child in children.get(waiting.pop(), []):
                if child not in self.known:
                    self.known[child] = new[child][1]
                    waiting.append(child)
        self._foreign |= new.keys() - self.known.keys()


@contextmanager
def taking_in_orphans() -> Iterator[None]:
    """Processes below this one whose parent ends become its own children, not those of the machine's first process.

    So none is lost sight of, whatever it forked (``PR_SET_CHILD_SUBREAPER`` of ``prctl(2)``, Linux 3.4).
    """
    libc = ctypes.CDLL(None)
    before = ctypes.c_int(0)
    libc.prctl(_GET_SUBREAPER, ctypes.byref(before))
    libc.prctl(_SET_SUBREAPER, ctypes.c_ulong(1))
    try:
        yield
    finally:
        libc.prctl(_SET_SUBREAPER, ctypes.c_ulong(before.value))


def below_this() -> dict[int, int]:
    """Start times of the processes that descend from this one, by their process ids."""
    tree = Tree(os.getpid())
    tree.alive()
    return {pid: start for pid, start in tree.known.items() if pid != os.getpid()}


def end_those_left(before: Mapping[int, int], *, grace: float = GRACE_S) -> int:
    """End what descends from this process and was not there ``before``; how many had to be ended.

    Those that end by themselves within ``grace`` seconds, as helpers of a program that has just ended do, are not counted.
    Inside ``taking_in_orphans``. Raises ``BadInput`` where one of them cannot be ended.
    """

    seen: set[int] = set()

    def left() -> dict[int, int]:
        found = {pid: start for pid, start in below_this().items() if before.get(pid) != start}
        seen.update(found)
        for pid in seen:
            with contextlib.suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
        return found

    ended: set[tuple[int, int]] = set()
    until = time.monotonic() + grace
    while left() and time.monotonic() < until:
        time.sleep(0.01)
    until = time.monotonic() + _TO_END_S
    # Again and again: one that is ended may just have begun another.
    while found := left():
        if time.monotonic() > until:
            why = "were left by the command and cannot be ended: end them by hand"
            raise BadInput(f"{len(found)} processes", why)
        for pid, start in found.items():
            ended.add((pid, start))
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return len(ended)


def memory(pid: int) -> tuple[int, int] | None:
    """Resident and anonymous bytes; None where the process is gone.

    From the counters of ``status``. ``smaps_rollup`` counts every page instead, and holds up a process that maps or
    unmaps meanwhile: 2 ms for each 100 MB here, which an engine with a large cache on the host would feel.
    """
    found = {key: int(kib) * 1024 for key, kib in _STATUS.findall(_bytes(f"/proc/{pid}/status"))}
    return (found[b"VmRSS"], found[b"RssAnon"]) if len(found) == 2 else None


def runtime_libraries(pid: int) -> set[str] | None:
    """Base names of the runtime libraries that the process maps; None where its maps cannot be read."""
    text = _bytes(f"/proc/{pid}/maps")
    if not text:
        return None
    return {name.decode("utf-8", "replace") for name in _RUNTIME.findall(text)}


def is_runtime(name: str) -> bool:
    """Whether a library of this base name belongs to a runtime."""
    return _RUNTIME.fullmatch(b"/" + name.encode("utf-8", "replace") + b"\n") is not None


def command_name(pid: int) -> str | None:
    return _bytes(f"/proc/{pid}/comm").decode("utf-8", "replace").strip() or None


def _started(pid: int) -> int | None:
    stat = _stat(pid)
    return stat[1] if stat else None


def _stat(pid: int) -> tuple[int, int] | None:
    """Parent and start time; None where the process is gone or has ended and is only waited for."""
    # The name in parentheses may hold anything: what follows the last one is plain.
    fields = _bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return (int(fields[1]), int(fields[19])) if len(fields) > 19 and fields[0] not in b"ZX" else None


def _bytes(path: str) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""  # it ended, or it is somebody else's
    pieces = []
    try:
        while piece := os.read(file, 1 << 20):
            pieces.append(piece)
    except OSError:
        pieces.clear()
    finally:
        os.close(file)
    return b"".join(pieces)
