"""The journal of an experiment: what is planned, then a line for each run that is finished."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from akvsite.errors import BadInput

NAME = "journal.jsonl"


class Journal:
    """An experiment's folder with its journal, held by one program at a time.

    ``plan`` is what was planned when the folder was made; ``runs`` holds the finished runs by their number. A line
    that was cut short is as if it had never been begun: its run is made again.
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
        self.plan: dict[str, Any] | None = None
        self.runs: dict[int, dict[str, Any]] = {}
        self._read()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._lock)

    def begin(self, plan: dict[str, Any]) -> None:
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
        for number, line in enumerate(whole.splitlines()):
            try:
                entry = json.loads(line)
                if number == 0:
                    self.plan = entry["plan"]
                else:
                    self.runs[int(entry.pop("run"))] = entry
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise BadInput(
                    self.path, "is damaged; move its folder away to begin again", place=f"line {number + 1}"
                ) from error

    def _append(self, entry: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
