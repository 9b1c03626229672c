"""The order of runs: blocks in which every treatment occurs once, each second block the mirror of the one before."""

from __future__ import annotations

import random
from collections.abc import Sequence


def order(treatments: Sequence[str], blocks: int, seed: int) -> list[list[str]]:
    """Blocks of treatments. Two treatments make ABBA; more make random blocks. The same seed makes the same order.

    A block is drawn at random and the next one is its mirror, so that any two treatments come first equally often
    and a drift of the machine weighs on both alike.

    >>> order("AB", 4, 1)
    [['A', 'B'], ['B', 'A'], ['A', 'B'], ['B', 'A']]
    """
    drawn = random.Random(seed)
    made: list[list[str]] = []
    while len(made) < blocks:
        block = drawn.sample(list(treatments), len(treatments))
        made += [block, block[::-1]]
    return made[:blocks]
