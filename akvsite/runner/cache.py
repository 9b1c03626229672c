"""The pages of the KV cache: which blocks of the host's pool are free, and which request owns the others."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence


class Blocks:
    """Blocks 0 to ``count - 1``, each free or of one owner. The lowest free ones go first, so that neighbours stay together."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = list(range(count))  # a heap
        self._owned: dict[str, list[int]] = {}

    @property
    def free(self) -> int:
        return len(self._free)

    def take(self, owner: str, count: int) -> bool:
        """``count`` more blocks for ``owner``: all of them, or none and False."""
        if count > len(self._free):
            return False
        self._owned.setdefault(owner, []).extend(heapq.heappop(self._free) for _ in range(count))
        return True

    def of(self, owner: str) -> tuple[int, ...]:
        """Its block table: blocks in the order of the tokens that they hold."""
        return tuple(self._owned.get(owner, ()))

    def held(self, owner: str) -> int:
        return len(self._owned.get(owner, ()))

    def release(self, owner: str) -> None:
        for block in self._owned.pop(owner, ()):
            heapq.heappush(self._free, block)


def stretches(blocks: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Neighbouring blocks of a table, each stretch one copy: (place in the table, first block, blocks).

    >>> list(stretches([4, 5, 6, 2, 3, 9]))
    [(0, 4, 3), (3, 2, 2), (5, 9, 1)]
    """
    start = 0
    for place in range(1, len(blocks) + 1):
        if place == len(blocks) or blocks[place] != blocks[place - 1] + 1:
            yield start, blocks[start], place - start
            start = place
