"""Memory of a command's processes over time, and the runtime libraries they map."""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass, field

from akvsite.record import processes
from akvsite.record.clean import Facts

FIRST_INTERVAL_NS = 100_000_000
#: A command that runs long is looked at less often: at this many rounds every second one is dropped and the interval doubles.
MOST_ROUNDS = 4096
#: Reading may take at most this part of the time: one in 20.
SHARE = 20
#: Processes of which samples are kept; a build may start thousands.
MOST_PROCESSES = 1000
MAPS_AT_MOST_EVERY_NS = 10_000_000_000


@dataclass
class Watched:
    """One process: its index in the bundle, and when its maps are read again."""

    index: int
    name: str | None
    maps_at: int
    maps_wait: int = FIRST_INTERVAL_NS // 2


@dataclass
class Sampler:
    """Reads ``/proc`` of the command and its descendants when asked to, and keeps what it read in columns."""

    tree: processes.Tree
    interval_ns: int = FIRST_INTERVAL_NS
    watched: dict[tuple[int, int], Watched] = field(default_factory=dict)
    libraries: set[str] = field(default_factory=set)
    rounds: int = 0
    reads: int = 0
    reading_ns: int = 0
    unwatched: int = 0
    #: Columns: the round, index of the process, time on CLOCK_MONOTONIC, resident and anonymous bytes.
    columns: tuple[array[int], ...] = field(default_factory=lambda: tuple(array("q") for _ in range(5)))
    next_at: int = 0
    #: The number of the next round among those kept.
    _number: int = 0

    def sample(self) -> None:
        """One round over all processes; says in ``next_at`` when the next one is due."""
        began = time.monotonic_ns()
        for pid in self.tree.alive():
            self._look_at(pid)
        self.rounds += 1
        self._number += 1
        if self._number >= MOST_ROUNDS:
            self._thin_out()
        took = time.monotonic_ns() - began
        self.reading_ns += took
        self.next_at = began + max(self.interval_ns, took * SHARE)

    def _look_at(self, pid: int) -> None:
        key = (pid, self.tree.known[pid])
        found = self.watched.get(key)
        if found is None:
            if len(self.watched) >= MOST_PROCESSES:
                self.unwatched += 1
                return
            found = self.watched[key] = Watched(len(self.watched), None, 0)
        at = time.monotonic_ns()
        # A name is read with the maps: a process is a copy of its parent until it calls exec.
        if at >= found.maps_at:
            found.maps_at = at + found.maps_wait
            found.maps_wait = min(2 * found.maps_wait, MAPS_AT_MOST_EVERY_NS)
            found.name = processes.command_name(pid) or found.name
            self.libraries |= processes.runtime_libraries(pid) or set()
            self.reads += 2
        memory = processes.memory(pid)
        self.reads += 1
        if memory is None:
            return
        for column, value in zip(self.columns, (self._number, found.index, at, *memory), strict=True):
            column.append(value)

    def _thin_out(self) -> None:
        """Drop every second round: what is left is as far apart as the rounds to come."""
        self.interval_ns *= 2
        keep = [place for place, number in enumerate(self.columns[0]) if number % 2 == 0]
        self.columns = tuple(array("q", (column[place] for place in keep)) for column in self.columns)
        self.columns[0][:] = array("q", (number // 2 for number in self.columns[0]))
        self._number = (self._number + 1) // 2

    def facts(self) -> Facts:
        """What looking cost: counts, and the time that reading took."""
        return {
            "interval_ns": self.interval_ns,
            "rounds": self.rounds,
            "reads": self.reads,
            "reading_ns": self.reading_ns,
            "rows": len(self.columns[0]),
            "processes": len(self.watched),
            "processes_not_sampled": self.unwatched or None,
            "read_from": "VmRSS and RssAnon of each process's status",
        }
