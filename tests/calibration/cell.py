"""One line of the calibration table: what was seen, beside the range that is stated for it."""

from __future__ import annotations

from typing import NamedTuple


class Cell(NamedTuple):
    """``got`` in ``unit`` for one case of a grid, and the range (both ends included) in which it must lie.

    ``stated`` is None for a case in which the method is known not to hold: what it really gets is printed. ``of`` is
    the number of trials that ``got`` is a share of; 0 where it is no share.
    """

    grid: str
    case: str
    got: float
    stated: tuple[float, float] | None
    unit: str = "%"
    of: int = 0

    @property
    def inside(self) -> bool:
        return self.stated is None or self.stated[0] <= self.got <= self.stated[1]

    def __str__(self) -> str:
        stated = f"{self.stated[0]:g} to {self.stated[1]:g} {self.unit}" if self.stated else "no range stated"
        got = f"{self.got:.2f} {self.unit}"
        return f"{self.case:<72} {got:>12}   {stated}{'' if self.inside else '   OUTSIDE'}"
