"""Random weights that are a hash of their place: the same on every backend, without a file.

Whole-number arithmetic modulo 2**64 in int64, which numpy, torch and dpctl do alike, then one exact step to float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from akvsite.runner.config import Shape

_MULTIPLY = (
    -4658895280553007687,
    -7723592293110705685,
)  # odd 64-bit constants of splitmix64, as signed numbers
_GOLDEN = -7046029254386353131


def names(shape: Shape) -> Iterator[tuple[str, tuple[int, ...], float]]:
    """Every matrix (out, in) with the half-width of its uniform values; norms are all ones and not listed.

    Half-widths keep the variance of what goes through: sqrt(3 / in).
    """
    kv = shape.kv_heads * shape.head_dim

    def matrix(name: str, out: int, into: int) -> tuple[str, tuple[int, ...], float]:
        return name, (out, into), (3.0 / into) ** 0.5

    yield matrix("embed", shape.vocabulary, shape.width)
    for layer in range(shape.layers):
        yield matrix(f"{layer}.q", shape.width, shape.width)
        yield matrix(f"{layer}.k", kv, shape.width)
        yield matrix(f"{layer}.v", kv, shape.width)
        yield matrix(f"{layer}.o", shape.width, shape.width)
        yield matrix(f"{layer}.gate", shape.feed_forward, shape.width)
        yield matrix(f"{layer}.up", shape.feed_forward, shape.width)
        yield matrix(f"{layer}.down", shape.width, shape.feed_forward)
    yield matrix("head", shape.vocabulary, shape.width)


def uniform(index: Any, number: int, seed: int) -> Any:
    """int64 places (n,) of matrix ``number`` to whole numbers (n,) from -2**23 to 2**23 - 1; divide by 2**23 in float32.

    ``index`` is an array of any library with int64 arithmetic that wraps around, ``*``, ``^``, ``>>`` and ``&``.
    """
    x = index * _GOLDEN + (seed * 1_000_003 + number * 7_919 + 1)
    for shift, multiply in zip((30, 27), _MULTIPLY, strict=True):
        # An arithmetic shift: the bits that it brings in from the sign are masked away.
        x = x ^ ((x >> shift) & ((1 << (64 - shift)) - 1))
        x = x * multiply
    x = x ^ ((x >> 31) & ((1 << 33) - 1))
    return ((x >> 40) & 0xFFFFFF) - (1 << 23)
