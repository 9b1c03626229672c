"""What torch itself can tell of a device: its profiler over chosen steps, and a snapshot of its memory.

    profiler = Profiler(first=100, last=120)
    for number, kind in steps:
        with profiler.step(number, kind):
            ...
    profiler.close()

Importing this imports no torch; making a ``Profiler`` does.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from akvsite.errors import BadInput

#: Steps before the window in which the profiler is made ready and what it sees is dropped.
WARM_UP = 3

_NOTHING: AbstractContextManager[None] = contextlib.nullcontext()
#: Most allocations and releases that torch keeps of one device; the oldest make room.
HISTORY = 1_000_000
# What a snapshot may hold. Frames, annotations and contexts hold paths and texts of the machine.
_SEGMENT = (
    "device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream",
    "segment_type", "segment_pool_id", "is_expandable",
)  # fmt: skip
_BLOCK = ("address", "size", "requested_size", "state")
_EVENT = ("action", "addr", "size", "stream", "time_us")


class Profiler:
    """``torch.profiler`` over the steps from ``first`` to ``last``, both included; a run without them profiles nothing.

    ``step`` is called by the one thread that runs torch, with numbers that never go down. Between the last step of the
    window and the next one the program stands still while torch fetches the device's records; the file is written by
    ``close``. The records stay in memory until then. Everything that goes wrong with the file is one line on standard
    error: it never ends the program.

    ``folder`` is ``$AKV_FILES`` where none is given. With ``export`` off the profiler does its work and no file is
    written: what it costs is then in the run, and what it saw is not.

    The profiler works from its ``prepare_trace``, ``start_trace`` and ``stop_trace`` (torch documents them with
    ``torch.profiler._KinetoProfile``): the one with a schedule would draw a second set of steps, numbered by its own count.
    """

    def __init__(
        self,
        first: int,
        last: int,
        *,
        warm_up: int = WARM_UP,
        folder: str | os.PathLike[str] | None = None,
        export: bool = True,
        record_shapes: bool = False,
        with_stack: bool = False,
    ) -> None:
        if not 0 <= first <= last:
            raise BadInput(
                f"{first}:{last}", "is no range of steps: two numbers from 0, the first not above the last"
            )
        folder = folder or os.environ.get("AKV_FILES")
        if export and not folder:
            raise BadInput("AKV_FILES", "names no folder for the profiler's trace")
        torch = _torch()
        with contextlib.suppress(ImportError):
            # Torch's profiler asks for this at its first use, and loading it takes seconds: not in a step.
            hasattr(torch, "_inductor")
        self._first, self._last = first, last
        self._from = max(0, first - warm_up)
        self._folder = Path(folder) if folder and export else None
        self._options = {"record_shapes": record_shapes, "with_stack": with_stack}
        self._profiler: Any = None
        self._function: Callable[[str], AbstractContextManager[Any]] | None = None
        self._running = False
        self._done = False
        self._steps = 0
        self._inside: int | None = None
        #: What was done, for the capture: activities, steps, and the file's name.
        self.facts: dict[str, str] = {"profiler": "torch", "profiler.steps": "0"}

    def step(self, number: int, kind: str = "decode") -> AbstractContextManager[Any]:
        """Around step ``number``; in the window it is annotated ``KIND.step.NUMBER``, which the Kineto reader knows."""
        if self._done or number < self._from:
            return _NOTHING
        if number < self._first:
            self._prepare()
            return _NOTHING
        if number > self._last:
            self._stop()
            return _NOTHING
        return _Step(self, number, kind)

    def close(self) -> Path | None:
        """End the window if it is open, and write what was recorded. Returns the file; None where there is none."""
        self._stop()
        profiler, self._profiler = self._profiler, None
        if profiler is None or not self._steps or self._folder is None:
            return None
        try:
            path = _export(profiler, self._folder, f"torch-{os.getpid()}-steps-{self._first}-{self._last}")
        except (OSError, RuntimeError) as error:
            self.facts["profiler.failed"] = "the trace could not be written"
            _say(f"the profiler's trace could not be written: {_why(error)}")
            return None
        self.facts["profiler.file"] = path.name
        return path

    def _prepare(self) -> None:
        if self._profiler is not None:
            return
        torch = _torch()
        kinds = torch.profiler.ProfilerActivity
        wanted = [kinds.CPU, *(getattr(kinds, name.upper()) for name in _devices(torch))]
        there = [kind for kind in wanted if kind in torch.profiler.supported_activities()]
        self._profiler = torch.profiler.profile(activities=there, **self._options)
        self._function = torch.profiler.record_function
        self._profiler.prepare_trace()
        self.facts["profiler.activities"] = ", ".join(kind.name for kind in there)

    def _begin(self, number: int, name: str) -> AbstractContextManager[Any]:
        self._prepare()
        if not self._running:
            self._profiler.start_trace()
            self._running = True
        self._steps += 1
        self._inside = number
        self.facts["profiler.steps"] = str(self._steps)
        assert self._function is not None
        return self._function(name)

    def _ended(self, number: int) -> None:
        self._inside = None
        if number >= self._last:
            self._stop()

    def _stop(self) -> None:
        if self._done:
            return
        self._done = True
        if self._inside is not None:
            self.facts["profiler.cut_step"] = str(self._inside)  # closed inside: torch ends it here
        if self._profiler is not None:
            if not self._running:
                # Made ready and never begun, it would be in the way of every later profiler of this process.
                self._profiler.start_trace()
            self._running = False
            # It waits for the device first, so that every launch of the window has its record.
            self._profiler.stop_trace()


class _Step:
    """One step in the window."""

    __slots__ = ("_inner", "_name", "_number", "_profiler")

    def __init__(self, profiler: Profiler, number: int, kind: str) -> None:
        self._profiler, self._number, self._name = profiler, number, f"{kind}.step.{number}"

    def __enter__(self) -> None:
        self._inner = self._profiler._begin(self._number, self._name)
        self._inner.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, trace)
        self._profiler._ended(self._number)


def _export(profiler: Any, folder: Path, stem: str) -> Path:
    """The trace as torch writes it, compressed. It holds the name it is written under, which loses its folder."""
    # Elsewhere first: a program that is killed meanwhile leaves no half of a file in the capture.
    with tempfile.TemporaryDirectory() as aside:
        name = f"{stem}.pt.trace.json"
        plain = Path(aside) / name
        profiler.export_chrome_trace(str(plain))
        packed = Path(aside) / f"{name}.gz"
        with plain.open("rb") as source, packed.open("wb") as raw, _gzip(raw) as target:
            target.writelines(line.replace(os.fsencode(plain), name.encode()) for line in source)
        return _placed(packed, folder)


def _gzip(raw: IO[bytes]) -> gzip.GzipFile:
    """No name and no time in the header: the same content gives the same file."""
    return gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0)


def _placed(path: Path, folder: Path) -> Path:
    """Move the file into the folder, under a name that nobody has."""
    stem, dot, rest = path.name.partition(".")
    number, target = 1, folder / path.name
    while os.path.lexists(target):
        number += 1
        target = folder / f"{stem}-{number}{dot}{rest}"
    shutil.move(path, target)
    return target


def memory_history(entries: int = HISTORY) -> str:
    """Let torch keep what its allocator does from now on, without stacks, where it can. Returns the kind of device.

    Raises ``BadInput`` where there is no device of whose memory torch gives a snapshot.
    """
    kind, memory = _memory()
    if hasattr(memory, "_record_memory_history"):
        # No context: a stack names files of this machine.
        memory._record_memory_history(enabled="all", context=None, stacks="python", max_entries=entries)
    return kind


def memory_snapshot(path: str | os.PathLike[str]) -> Path:
    """Write what the allocator holds, and its history since ``memory_history``, as torch's pickle, compressed (.gz).

    Frames are left out, and so is everything else that the reader does not know. Raises ``BadInput`` where there is no
    such device, ``OSError`` where the file cannot be written; then there is none.
    """
    path = Path(path)
    _, memory = _memory()
    # XPU has in later releases the documented half of it: what is held, without a history.
    whole = hasattr(memory, "_snapshot")
    bare = _bare(memory._snapshot() if whole else {"segments": memory.memory_snapshot()})
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as raw, _gzip(raw) as file:
            pickle.dump(bare, file, protocol=4)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _bare(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A snapshot (https://pytorch.org/docs/stable/torch_cuda_memory.html) with the fields that are kept."""

    def only(fields: tuple[str, ...], of: dict[str, Any]) -> dict[str, Any]:
        return {name: of[name] for name in fields if name in of}

    return {
        "segments": [
            {
                **only(_SEGMENT, segment),
                "blocks": [only(_BLOCK, block) for block in segment.get("blocks", ())],
            }
            for segment in snapshot.get("segments", ())
        ],
        "device_traces": [
            [only(_EVENT, event) for event in one] for one in snapshot.get("device_traces", ())
        ],
    }


def _memory() -> tuple[str, Any]:
    torch = _torch()
    for kind in _devices(torch):
        memory = getattr(getattr(torch, kind), "memory", None)
        if hasattr(memory, "_snapshot") or hasattr(memory, "memory_snapshot"):
            return kind, memory
    raise BadInput("memory snapshot", f"torch {torch.__version__} gives none of any device here")


def _devices(torch: Any) -> list[str]:
    """Kinds of device that torch can use here."""
    kinds = (kind for kind in ("cuda", "xpu") if hasattr(torch, kind))
    return [kind for kind in kinds if getattr(torch, kind).is_available()]


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise BadInput("torch", "is not installed, and this needs it") from error


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _say(line: str) -> None:
    print(f"akvsite: {line}", file=sys.stderr)
