"""The journal of an experiment: what is planned, then a line for each run that is finished."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, NotRequired, TypedDict, cast

import msgspec

from akvsite.errors import BadInput, visible

NAME = "journal.jsonl"

#: What a column of int64 holds.
Natural = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Plain = str | int | float | bool | None
_Facts = dict[str, _Plain | dict[str, _Plain | dict[str, _Plain]]]


class Planned(TypedDict):
    """What was planned; ``order``: blocks of treatments; ``started``: a date of ISO 8601."""

    experiment: str
    blocks: Natural
    iterations: Natural
    seed: int
    order: list[list[str]]
    started: str
    shared: _Facts


class Measured(TypedDict):
    """What a process measured: ``trials``, each arm, number, ns; ``memory``, each time in ns, two numbers of bytes."""

    pid: Natural
    trials: list[tuple[str, Natural, Natural]]
    memory: NotRequired[list[tuple[Natural, Natural, Natural]]]


class _Run(Measured):
    run: Natural
    treatment: str
    before: _Facts
    after: _Facts
    facts: NotRequired[_Facts]


class _First(TypedDict):
    plan: Planned


_FIRST, _RUN = msgspec.json.Decoder(_First), msgspec.json.Decoder(_Run)


class Journal:
    """An experiment's folder with its journal, held by one program at a time.

    ``plan`` is what was planned when the folder was made; ``runs`` holds the finished runs by their number. A line
    that was cut short is as if it had never been begun: its run is made again. Where nothing was planned, no folder
    stays. Raises ``BadInput`` where the journal does not hold what was written into it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise BadInput(folder, f"cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise BadInput(folder, "another program is carrying out this experiment") from None
        self.plan: Planned | None = None
        self.runs: dict[int, dict[str, Any]] = {}
        #: Where each run that was read stands, from 1.
        self.lines: dict[int, int] = {}
        try:
            self._read()
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.plan is None:
            with suppress(OSError):
                self.folder.rmdir()
        os.close(self._lock)

    def damaged(self, why: str, line: int = 1) -> BadInput:
        """What to raise where the plan, or the run in this line, does not hold together."""
        return BadInput(
            self.path, f"is damaged: {why}; move its folder away to begin again", place=f"line {line}"
        )

    def begin(self, plan: Planned) -> None:
        self.plan = plan
        self._append({"plan": plan})

    def finished(self, number: int, result: dict[str, Any]) -> None:
        """Keep the result of a run; it is on the disk when this returns."""
        self.runs[number] = result
        self._append({"run": number, **result})

    def _read(self) -> None:
        if not self.path.exists():
            return
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            os.truncate(self.path, len(whole))
        for number, line in enumerate(whole.split(b"\n")[:-1], start=1):
            try:
                if number == 1:
                    self.plan = _FIRST.decode(line)["plan"]
                    continue
                entry = cast(dict[str, Any], _RUN.decode(line))
            except (ValueError, RecursionError) as error:
                raise self.damaged(visible(error), number) from error
            run = entry.pop("run")
            if run in self.runs:
                raise self.damaged(f"run {run} is there twice", number)
            self.runs[run], self.lines[run] = entry, number

    def _append(self, entry: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
