"""What a number is: a value with its band, its count, its method and what it may be used for.

``Estimate`` is the only thing that a chart, a table cell or a page accepts for a measurement. How bands are
made is in ``akvsite.estimators``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any, Literal

Kind = Literal["estimated", "counted", "declared", "unknown"]

#: Units that are written at a readable scale: the steps of each family, smallest first, as (factor, unit).
_TIME = ((Decimal("1e-9"), "ns"), (Decimal("1e-6"), "us"), (Decimal("1e-3"), "ms"), (Decimal(1), "s"))
_BYTES = tuple((Decimal(1024**power), name) for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB")))
_BYTE_RATES = tuple((factor, f"{name}/s") for factor, name in _BYTES)
_FAMILY = {name: family for family in (_TIME, _BYTES, _BYTE_RATES) for _, name in family} | {"bytes": _BYTES}
#: Decimals that a whole number of nanoseconds has in each unit.
_NS_DECIMALS = {"ns": 0, "us": 3, "ms": 6, "s": 9}
#: Units that read better as a sign.
_SIGN = {"ratio": "×", "1": ""}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that cannot travel without its band.

    ``value``, ``low`` and ``high`` are in ``unit``. ``low`` and ``high`` are None where no band is stated
    (then ``refusal`` says why, unless the kind is counted or declared) and ``-inf``/``inf`` where the band is
    unbounded. An unknown number has ``value`` None, never 0. Order statistics of integer samples stay Python
    integers, so that no nanosecond is lost to a float.

    >>> made = Estimate(21_340_000, 21_100_000, 21_610_000, 1840, "ns", "EWC B=4", scope="this run only")
    >>> made.text("p50 step")
    'p50 step 21.34 ms [21.10, 21.61] 95 %, this run only'
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
    #: Samples left out at the start, by a number declared in the capture.
    cut: int = 0
    #: What is drawn as dots: one statistic a run, or the samples where they are too few for a band.
    dots: tuple[float, ...] = ()
    #: A second band made another way, such as the distribution-free one of the median run.
    also: Estimate | None = None
    #: What no number of samples makes smaller, such as the clock's bound: a half-width in ``unit`` that is added
    #: linearly outside the band. None where it is not known; 0 where there is none.
    systematic: float | None = 0.0
    #: What it comes from, in two words: ``clock`` or ``clock, unproven``.
    systematic_of: str = ""

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"an estimate is finite or unknown, not {self.value}")
        if (self.low is None) != (self.high is None):
            raise ValueError("a band has two ends")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError(f"a band goes from low to high, not from {self.low} to {self.high}")
        if self.kind == "unknown" and self.value is not None:
            raise ValueError("an unknown number has no value")
        if self.kind != "unknown" and self.value is None:
            raise ValueError(f"a number without a value is unknown, not {self.kind}")
        if self.kind == "estimated" and self.low is None and not self.refusal:
            raise ValueError("an estimate without a band says why")
        if self.systematic is not None and not 0 <= self.systematic < math.inf:
            raise ValueError(f"a half-width is 0 or more and finite, or None, not {self.systematic}")
        if self.systematic != 0 and not self.systematic_of:
            raise ValueError("a systematic part says what it comes from")

    @property
    def low_in_all(self) -> float | None:
        """The band's lower end with the systematic part outside it; None where either is not known."""
        return None if self.low is None or self.systematic is None else self.low - _plain(self.systematic)

    @property
    def high_in_all(self) -> float | None:
        """The band's upper end with the systematic part outside it; None where either is not known."""
        return None if self.high is None or self.systematic is None else self.high + _plain(self.systematic)

    def text(self, name: str = "") -> str:
        """One line for a chart or a cell: name, value, unit, band, confidence and the head of its scope.

        Times and bytes are written at one readable scale for value and band. The band's width decides how
        many digits are written, and its ends are rounded outwards, so that the written band contains the
        computed one. Counts and declared numbers are written exactly, as given.

        >>> counted(555, "launches").text("kernels")
        'kernels 555 launches (counted)'
        >>> unknown("no device records", "ns").text("idle")
        'idle unknown: no device records'
        """
        return " ".join(part for part in (name, self._body()) if part)

    def footer(self) -> str:
        """What stands under a chart: rest of the scope, count, method, assumptions, records seen, use."""
        rest = self.scope.partition(";")[2].strip()
        count = f"n {self.n}" + (f" ({self.cut} cut, declared)" if self.cut else "")
        assumes = f"assumes {self.assumes}" if self.assumes else ""
        seen = f"seen: {self.seen}" if self.seen else ""
        parts = (rest, count, self.method, assumes, seen, self.use)
        return " · ".join(part for part in parts if part)

    def as_row(self) -> dict[str, Any]:
        """The estimate as strictly valid JSON: an unbounded end is null, and its flag says so.

        ``has_band`` tells "no band" from "unbounded". Integers stay integers.
        """
        return {
            "value": _json_number(self.value),
            "low": _json_number(self.low),
            "high": _json_number(self.high),
            "has_band": self.low is not None,
            "low_unbounded": self.low is not None and math.isinf(self.low),
            "high_unbounded": self.high is not None and math.isinf(self.high),
            "n": int(self.n),
            "cut": int(self.cut),
            "unit": self.unit,
            "method": self.method,
            "kind": self.kind,
            "scope": self.scope,
            "seen": self.seen,
            "use": self.use,
            "refusal": self.refusal,
            "one_sided": self.one_sided,
            "assumes": self.assumes,
            "confidence": float(self.confidence),
            "dots": [_json_number(dot) for dot in self.dots],
            "also": self.also.as_row() if self.also else None,
            "systematic": _json_number(self.systematic),
            "systematic_of": self.systematic_of,
            "low_in_all": _json_number(self.low_in_all),
            "high_in_all": _json_number(self.high_in_all),
            "text": self.text(),
            "footer": self.footer(),
        }

    def _body(self) -> str:
        if self.value is None:
            return f"unknown: {self.refusal}" if self.refusal else "unknown"
        if self.kind in ("counted", "declared"):
            return f"{_joined(_exact(self.value), self.unit)} ({self.kind})"
        value, low, high, unit = _written(self.value, self.low, self.high, self.unit)
        number = _joined(value, unit)
        if self.low is None:
            beside = f"; {self.one_sided}" if self.one_sided else ""
            return f"{number} no band: {self.refusal}{beside}{self._beside()}"
        if low == high == "unbounded":
            # Everything from nothing to infinity is no statement of 95 %.
            return f"{number} no band: {self.refusal or f'n {self.n} bounds neither end'}{self._beside()}"
        scope = self.scope.partition(";")[0].strip()
        band = f"[{low}, {high}] {_percent(self.confidence)}"
        return f"{number} {band}" + (f", {scope}" if scope else "") + self._beside()

    def _beside(self) -> str:
        """The systematic part, and band and part together, in the scale of the value."""
        if not self.systematic_of or self.value is None:
            return ""
        if self.systematic is None:
            return f", {self.systematic_of}: bound unknown"
        part = f", {self.systematic_of} ±{outward(self.systematic, self.unit)}"
        low, high = self.low_in_all, self.high_in_all
        if low is None or high is None or (math.isinf(low) and math.isinf(high)):
            return part
        _, below, above, unit = _written(self.value, low, high, self.unit)
        return f"{part}, together " + _joined(f"[{below}, {above}]", unit)


def counted(n: int, unit: str, *, seen: str = "", use: str = "") -> Estimate:
    """A count of things, which has no band because nothing was estimated."""
    return Estimate(int(n), None, None, int(n), unit, "count", kind="counted", seen=seen, use=use)


def declared(value: float, unit: str, *, use: str = "") -> Estimate:
    """A number of the configuration, taken over and not measured."""
    return Estimate(_plain(value), None, None, 0, unit, "declared", kind="declared", use=use)


def unknown(why: str, unit: str, *, n: int = 0, seen: str = "", use: str = "") -> Estimate:
    """A number that is not known, and why. Its value is None, never 0.

    >>> unknown("no steps", "ns").as_row()["value"] is None
    True
    """
    return Estimate(None, None, None, n, unit, "none", kind="unknown", refusal=why, seen=seen, use=use)


def written(value: float, unit: str) -> str:
    """A number within a sentence, at a readable scale and with four digits: ``128.4 ms``."""
    number = Decimal(str(_plain(value)))
    number, [], unit = _scaled(number, [], unit)
    return _joined(_digits(number, _decimals_for(number, 4), ROUND_HALF_EVEN), unit)


def outward(width: float, unit: str) -> str:
    """A half-width with two digits, never written smaller than it is."""
    with localcontext() as context:
        context.prec = 700
        number, [], shown = _scaled(Decimal(str(_plain(width))), [], unit)
        return _joined(_digits(number, _decimals_for(number, 2), ROUND_CEILING), shown)


def _written(value: float, low: float | None, high: float | None, unit: str) -> tuple[str, str, str, str]:
    """Value and band at one scale, with the digits that the band supports."""
    ends = [
        Decimal(str(_plain(end))) if end is not None and math.isfinite(end) else None for end in (low, high)
    ]
    with localcontext() as context:
        context.prec = 700  # any two floats can be subtracted and rounded without an error
        centre, ends, shown = _scaled(Decimal(str(_plain(value))), ends, unit)
        decimals = _supported_decimals(centre, ends)
        if unit == "ns" and isinstance(_plain(value), int):
            decimals = min(decimals, _NS_DECIMALS[shown])  # a whole nanosecond is not divided
        below = _digits(ends[0], decimals, ROUND_FLOOR) if ends[0] is not None else "unbounded"
        above = _digits(ends[1], decimals, ROUND_CEILING) if ends[1] is not None else "unbounded"
        return _digits(centre, decimals, ROUND_HALF_EVEN), below, above, shown


def _scaled(
    value: Decimal, ends: list[Decimal | None], unit: str
) -> tuple[Decimal, list[Decimal | None], str]:
    """Value and ends in the largest unit in which the value (or, for 0, an end) is at least 1."""
    family = _FAMILY.get(unit)
    if family is None:
        return value, ends, _SIGN.get(unit, unit)
    base = next((factor for factor, name in family if name == unit), family[0][0])
    size = abs(value) or max((abs(end) for end in ends if end is not None), default=Decimal(0))
    factor, shown = next(
        (step for step in reversed(family) if size * base >= step[0]), family[0] if size else (base, unit)
    )
    return (
        value * base / factor,
        [None if end is None else end * base / factor for end in ends],
        "B" if shown == "bytes" else shown,
    )


def _supported_decimals(value: Decimal, ends: list[Decimal | None]) -> int:
    """Decimals that leave two digits of the band's width; three digits of the value where no width is known.

    A lopsided band counts by twice its short side, but by no less than a tenth of its width.
    """
    low, high = ends
    sides = [abs(value - end) for end in ends if end is not None]
    if not sides:
        return _decimals_for(value, 3)
    span = 2 * min(sides)
    if low is not None and high is not None:
        span = max(span, (high - low) / 10)
    return _decimals_for(span, 2) if span else _decimals_for(value, 4)


def _decimals_for(number: Decimal, digits: int) -> int:
    return digits - 1 - number.adjusted() if number else 0


def _digits(number: Decimal, decimals: int, rounding: str) -> str:
    with localcontext() as context:
        context.prec = 700
        rounded = number.quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
        return f"{rounded + 0 if rounded else abs(rounded):f}"  # no "-0"


def _exact(value: float) -> str:
    value = _plain(value)
    whole = isinstance(value, int) or (value.is_integer() and abs(value) < 2**53)
    return str(int(value)) if whole else repr(value)


def _percent(confidence: float) -> str:
    """A confidence in percent, cut and not rounded: 0.96875 is 96.8 %, since 96.9 % was not reached."""
    tenths = math.floor(confidence * 1000 + 1e-9)
    return f"{tenths // 10}" + (f".{tenths % 10}" if tenths % 10 else "") + " %"


def _joined(number: str, unit: str) -> str:
    return f"{number} {unit}".strip()


def _plain(value: float) -> float:
    """A Python number: numpy's scalars are neither JSON nor Decimal."""
    return value if type(value) in (int, float) else getattr(value, "item", lambda: float(value))()


def _json_number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else _plain(value)
