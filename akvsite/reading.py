"""What a reader hands over: parts, in the order in which it finds them.

A reader knows its format and nothing of the store. It never holds a whole capture: it yields parts, each of
bounded size, and the ingest writes them as they come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa

#: Rows that a reader gathers before it hands them over.
BATCH_ROWS = 65_536


@dataclass(frozen=True)
class Process:
    """One process seen in the file. ``index`` is the reader's own number, used in the ``process`` column."""

    index: int
    pid: str
    rank: int | None = None
    name: str | None = None


@dataclass(frozen=True)
class Rows:
    """Rows of one table, without ``id`` and ``run_id``; ``process`` (the reader's index) stands for ``process_id``.

    A column that is left out is NULL. Times are integer nanoseconds on the capture's own axis. In ``edge_wait``,
    ``call_id`` and ``maker_id`` hold the ``call_index`` of those calls.
    """

    table: str
    rows: pa.Table
    #: Whether the file itself says whose each row is: ids of calls and device records are then looked for in one process.
    owned: bool = False


@dataclass(frozen=True)
class Rejected:
    """Something the reader could not use: kept with the reason, and where it stood; the ingest takes secrets out."""

    reason: str
    place: str
    raw: str


@dataclass(frozen=True)
class Counted:
    """What became of ``count`` records of one kind: stored in a table, or left out and why."""

    what: str
    fate: str
    count: int


@dataclass(frozen=True)
class Fact:
    """One fact about the run: ``part`` is ``host``, ``contract``, ``software``, ``load``, ``device`` or ``capture``."""

    part: str
    key: str
    value: str


@dataclass(frozen=True)
class HostClock:
    """The file's host times are those of CLOCK_MONOTONIC, and ``to_realtime_ns`` later on CLOCK_REALTIME.

    That holds to within ``bound_ns``; ``because`` says what the bound is made of. Comes before the rows.
    """

    to_realtime_ns: int
    bound_ns: int
    because: str


@dataclass(frozen=True)
class Ending:
    """The last part: whether the file was cut short, its last time, and how many values were repaired, by how."""

    truncated: bool = False
    last_ns: int | None = None
    repaired: dict[str, int] = field(default_factory=dict)


Part = Process | Rows | Rejected | Counted | Fact | HostClock | Ending


class Reader(Protocol):
    """One capture format: one file in ``readers/``, found by being there."""

    NAME: str
    #: Raised whenever the same bytes would give other rows, so that they are read again.
    VERSION: int
    #: One line for ``akvsite formats``.
    ABOUT: str
    #: The level that a run gets when nobody declares one.
    LEVEL: str
    #: Whether its host times are those of CLOCK_REALTIME; files of the same run are brought to that axis.
    EPOCH: bool

    def sniff(self, head: bytes, path: Path) -> bool:
        """Whether the first bytes (decompressed, at least 64 KiB where there are so many) look like this format."""
        ...

    def read(self, path: Path) -> Iterator[Part]:
        """Parts of the file. Raises ``BadInput`` only where nothing at all can be used."""
        ...


@runtime_checkable
class OfSeveralLevels(Protocol):
    """A reader whose files are not all of its ``LEVEL``: such as one format that several instruments write."""

    def level(self, path: Path) -> str:
        """The level that this file shows by itself, before its rows are looked at."""
        ...
