"""What a number is: a value with its band, its count, its method and what it may be used for.

``Estimate`` is the only thing that a chart, a table cell or a page accepts for a measurement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["estimated", "counted", "declared", "unknown"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that cannot travel without its band.

    ``value``, ``low`` and ``high`` are in ``unit``. ``low`` and ``high`` are None where no band is stated (then
    ``refusal`` says why, unless the kind is counted or declared) and ``-inf``/``inf`` where the band is unbounded.
    An unknown number has ``value`` None, never 0.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    unit: str
    method: str
    kind: Kind = "estimated"
    #: What the band speaks of, such as "this run only; between runs: unknown (1 run)".
    scope: str = ""
    #: Records seen of records expected, such as "kernels 555 of 555".
    seen: str = ""
    #: What the number may be used for, such as "structure, not speed".
    use: str = ""
    #: Why there is no band.
    refusal: str = ""
    #: A one-sided statement that stands beside a refusal, not instead of it.
    one_sided: str = ""
    #: What must hold for the band to mean what it says.
    assumes: str = ""
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"an estimate is finite or unknown, not {self.value}")
        if (self.low is None) != (self.high is None):
            raise ValueError("a band has two ends")
        if self.kind == "unknown" and self.value is not None:
            raise ValueError("an unknown number has no value")
        if self.kind == "estimated" and self.low is None and not self.refusal:
            raise ValueError("an estimate without a band says why")
