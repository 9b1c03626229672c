"""One fresh process of an experiment: timed from its start to its end, and begun again where a device could not be made."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from akvsite.errors import BadInput, visible
from akvsite.experiments._shapes import Check
from akvsite.record import levels, processes
from akvsite.tables import LEVELS

OFF, EDGE = LEVELS[0], LEVELS[-1]
#: In a run's folder: what recorders write, and what the program leaves, as in a capture.
RECORDED, FILES = "records", "files"
#: Processes, where a SYCL device could not be made: it fails now and then on a busy host.
TRIES = 8
#: Bytes of the end of standard error that its last line is looked for in.
_TAIL = 4096


@dataclass(frozen=True)
class Ended:
    """How a process ended. ``duration_ns``: wall clock from its start to its end; ``again``: how often it was begun again."""

    pid: int
    code: int
    duration_ns: int
    #: The last line on standard error; empty where there was none.
    said: str
    #: All of standard output, where it was asked for.
    out: bytes = b""
    again: int = 0
    #: Processes that it left running; they were ended, so that none runs on beside the next run.
    left: int = 0

    @property
    def told(self) -> dict[str, int]:
        """What is to be known of a run beside its times: counts, those of 0 left out."""
        counts = {"device made again": self.again, "processes left running, and ended": self.left}
        return {what: count for what, count in counts.items() if count}


def run(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    *,
    program: Path | None = None,
    treatment: str,
    what: str,
    most_seconds: float | None = None,
    keep_out: bool = False,
    again: Callable[[Ended], bool] = lambda _: False,
) -> Ended:
    """The process, which ended with 0.

    ``program``: the file that is run, where the command's first word is only what it is called. ``treatment`` and ``what``
    (``the engine``) are named where it did not end so. ``again``: whether an end is one of those after
    which another process is tried. Raises ``BadInput``.
    """
    for number in range(TRIES):
        ended = _once(command, environment, program, treatment, what, most_seconds, keep_out)
        if ended.code == 0:
            return replace(ended, again=number)
        if not again(ended):
            break
    how = f"by signal {-ended.code}" if ended.code < 0 else f"with {ended.code}"
    said = f": {visible(ended.said)}" if ended.said else ", and says nothing"
    raise BadInput(treatment, f"{what} ended {how}{said}")


def result(path: Path, check: Check, who: str) -> dict[str, Any]:
    """What a program that ended with 0 wrote into ``path``: one line of JSON. Raises ``BadInput`` where it is not sound."""
    try:
        made: dict[str, Any] = json.loads(path.read_bytes())
        check(made, "the result")
        return made
    except FileNotFoundError:
        raise BadInput(who, "wrote no result, and yet ended with 0") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(who, f"wrote no sound result: {visible(error)}") from error


def environment_at(
    level: str,
    environment: Mapping[str, str],
    folder: Path,
    preload: list[Path],
    *,
    without: Sequence[str] = (),
) -> dict[str, str]:
    """The environment at a level, as a capture gives it; ``without`` these variables.

    Tracers from outside are none of it: with one the experiment was refused.

    Recorders write to ``folder/records``, the program itself to ``folder/files``.
    """
    return levels.environment_for(
        level,
        {name: value for name, value in environment.items() if name not in without},
        folder=None if level == OFF else folder / RECORDED,
        timing="asis",
        preload=preload if level == EDGE else [],
        files=folder / FILES,
    )


def _once(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    program: Path | None,
    treatment: str,
    what: str,
    most_seconds: float | None,
    keep_out: bool,
) -> Ended:
    # Files, not pipes: what the process starts itself may hold them open beyond its end.
    with TemporaryFile() as errors, TemporaryFile() as out, processes.taking_in_orphans():
        before = processes.below_this()
        began = time.monotonic_ns()
        try:
            process = subprocess.Popen(
                command, executable=program, env=dict(environment), stdin=subprocess.DEVNULL,
                stdout=out if keep_out else subprocess.DEVNULL, stderr=errors,
            )  # fmt: skip
        except OSError as error:
            raise BadInput(command[0], f"cannot be run: {error.strerror}") from error
        try:
            in_time = _wait(process, most_seconds)
            ended = time.monotonic_ns()
        except BaseException:
            process.kill()
            process.wait()
            processes.end_those_left(before, grace=0)
            raise
        if not in_time:
            process.kill()
            process.wait()
            processes.end_those_left(before, grace=0)
            raise BadInput(treatment, f"{what} took longer than {most_seconds:g} s")
        left = processes.end_those_left(before)
        out.seek(0)
        return Ended(
            process.pid, process.returncode, ended - began, _last_line(errors), out.read(), left=left
        )


def _wait(process: subprocess.Popen[bytes], most_seconds: float | None) -> bool:
    """Whether it ended in time. ``Popen.wait`` with a limit looks only now and then, up to 50 ms late."""
    if most_seconds is not None:
        descriptor = os.pidfd_open(process.pid)
        try:
            polling = select.poll()
            polling.register(descriptor, select.POLLIN)
            if not polling.poll(most_seconds * 1000):
                return False
        finally:
            os.close(descriptor)
    process.wait()
    return True


def _last_line(file: IO[bytes]) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
    lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
