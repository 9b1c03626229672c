"""Where the records of an akvlog file lie: which indexes may be there, and reading some of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import numpy.typing as npt

from akvsite.scan._header import RECORD_BYTES, RESERVED_AT, Header

#: Continuations of one call that are looked for; the recorder writes fewer. It bounds what one row can hold.
MOST_CONTINUATIONS = 256
#: Smaller holes of a file are read, as the zeros they are: that is quick, and leaves nothing to a file system that tells
#: late of what is being written.
LEAST_HOLE = 1 << 30

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Slots:
    """The slots of a file, as they were when it was opened.

    ``ranges`` are the indexes that may be there, first and one past the last, oldest first: two ranges only where a file
    that wraps is cut, so that the newest of an older lap and the oldest of this one are missing.
    """

    at: int
    capacity: int
    ranges: tuple[tuple[int, int], ...]
    #: Whether records may be written over while they are read.
    turning: bool

    @property
    def count(self) -> int:
        return sum(end - first for first, end in self.ranges)

    def pieces(self, file: IO[bytes], most: int) -> Iterator[tuple[int, int, int]]:
        """Runs of at most ``most`` indexes: first, how many, and how many follow that a call may continue in.

        Pieces that lie wholly in a large hole of the file are left out: nothing was written there.
        """
        for begin, end in self.ranges:
            while begin < end:
                hole = min(end - begin, self._hole(file, begin))
                skipped = hole if hole == end - begin else hole - hole % most
                if skipped * RECORD_BYTES >= LEAST_HOLE:
                    begin += skipped
                    continue
                count = min(most, end - begin)
                yield begin, count, min(MOST_CONTINUATIONS, end - begin - count)
                begin += count

    def _hole(self, file: IO[bytes], first: int) -> int:
        """How many records from this one on, up to the turn of the lap, the file system holds no bytes of."""
        slot = first % self.capacity
        at = self.at + slot * RECORD_BYTES
        try:
            return min(self.capacity - slot, (os.lseek(file.fileno(), at, os.SEEK_DATA) - at) // RECORD_BYTES)
        except OSError as error:
            # No such address: no bytes from here to the end. Any other: the file system does not tell.
            return self.capacity - slot if error.errno == errno.ENXIO else 0

    def read(self, file: IO[bytes], first: int, count: int) -> Words:
        """Records ``first`` and on, as rows of eight words; zeros where the file ends early."""
        buffer = np.zeros(count * RECORD_BYTES, np.uint8)
        slot = first % self.capacity
        before_wrap = min(count, self.capacity - slot) * RECORD_BYTES
        _fill(file, buffer[:before_wrap], self.at + slot * RECORD_BYTES)
        _fill(file, buffer[before_wrap:], self.at)
        words = buffer.view("<u8").reshape(-1, 8)
        if self.turning:
            # A slot is reserved again before it is written again: what may be half of the next lap is left out.
            reserved = int.from_bytes(os.pread(file.fileno(), 8, RESERVED_AT), "little")
            words[: max(0, min(count, reserved - self.capacity - first))] = 0
        return words


def find_slots(header: Header, file_bytes: int) -> Slots:
    """Which records may be in a file of this size. The header is not trusted: a slot beyond the file is none."""
    there = min(header.capacity, max(0, file_bytes - header.records_at) // RECORD_BYTES)
    if not header.wraps or header.reserved <= there:
        ranges = [(0, min(header.reserved, there))]
    elif header.reserved <= header.capacity:
        ranges = [(0, there)]
    else:
        oldest = header.reserved - header.capacity
        turn = oldest + header.capacity - oldest % header.capacity
        ranges = [
            (oldest, oldest + max(0, there - oldest % header.capacity)),
            (turn, turn + min(header.reserved - turn, there)),
        ]
        if ranges[0][1] == turn:  # nothing is cut: one run through the turn of the lap
            ranges = [(oldest, header.reserved)]
    turning = header.wraps and not header.closed
    return Slots(header.records_at, header.capacity, tuple(r for r in ranges if r[0] < r[1]), turning)


def _fill(file: IO[bytes], buffer: npt.NDArray[np.uint8], at: int) -> None:
    done = 0
    while done < len(buffer):
        got = os.preadv(file.fileno(), [buffer[done:].data], at + done)
        if not got:
            return
        done += got
