"""The journal of an experiment: what is planned, then a line for each run that is finished."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict

from akvsite.errors import BadInput, visible
from akvsite.experiments._shapes import Check, facts, list_of, maybe, natural, row_of, table_of, whole, words

NAME = "journal.jsonl"


class Planned(TypedDict):
    """What was planned; ``order``: blocks of treatments; ``started``: a date of ISO 8601.

    Of the arguments only hashes are kept, to be compared: they may hold what is nobody's business.
    """

    experiment: str
    blocks: int
    iterations: int
    seed: int
    order: list[list[str]]
    started: str
    shared: dict[str, Any]
    salt: str
    arguments: list[str]
    device: str | None
    warm_up: int | None
    host: str | None
    role: str | None


_MAY: Mapping[str, Check] = {"device": words, "warm_up": natural, "host": words, "role": words}
_FIRST = table_of(
    {
        "plan": table_of(
            {
                "experiment": words, "blocks": natural, "iterations": natural, "seed": whole,
                "order": list_of(list_of(words)), "started": words, "shared": facts,
                "salt": words, "arguments": list_of(words),
            },
            {key: maybe(check) for key, check in _MAY.items()},
        )
    }
)  # fmt: skip

#: What a process measured: ``trials``, each arm, number, ns; ``memory``, each time in ns, two numbers of bytes.
MEASURED: Mapping[str, Check] = {"pid": natural, "trials": list_of(row_of(words, natural, natural))}
MEASURED_TOO: Mapping[str, Check] = {"memory": list_of(row_of(natural, natural, natural))}

_RUN = table_of(
    {"run": natural, "treatment": words, "before": facts, "after": facts, **MEASURED},
    {"facts": facts, **MEASURED_TOO},
)


def hashed(words: Sequence[str], salt: str) -> list[str]:
    """A hash of each word, the same for the same word and salt."""
    return [
        hashlib.sha256(f"{salt} {word}".encode("utf-8", "surrogateescape")).hexdigest()[:16] for word in words
    ]


class Journal:
    """An experiment's folder with its journal, held by one program at a time.

    ``plan`` is what was planned when the folder was made; ``runs`` holds the finished runs by their number. A line
    that was cut short is as if it had never been begun: its run is made again. Where no run was finished, no folder
    stays, and one that is found is begun anew. Raises ``BadInput`` where the journal does not hold what was written into it.
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
        elif kind is not None and not self.runs:
            # There is nothing to go on with, and the next call may ask for something else.
            shutil.rmtree(self.folder, ignore_errors=True)
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
                entry: dict[str, Any] = json.loads(line)
                if number == 1:
                    _FIRST(entry, "the first line")
                    self.plan = entry["plan"]
                    continue
                _RUN(entry, "the run")
            except (ValueError, RecursionError) as error:
                raise self.damaged(visible(error), number) from error
            run = entry.pop("run")
            if run in self.runs:
                raise self.damaged(f"run {run} is there twice", number)
            self.runs[run], self.lines[run] = entry, number

        if not self.runs:
            self.plan = None
            self.path.unlink()

    def _append(self, entry: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
