"""An estimate's words and row: what a reader of a chart sees, and what a chart is handed."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akvsite.estimate import Estimate, counted, declared, unknown, written

VERDICTS = re.compile(
    r"\b(faster|slower|better|worse|regression|improvement|wins?|significant|pass(es|ed)?|fail(s|ed|ure)?)\b",
    re.I,
)
finite = st.floats(allow_nan=False, allow_infinity=False)
UNITS = ["ns", "us", "ms", "s", "B", "bytes", "B/s", "ratio", "steps/s", "fraction of the shorter", ""]


def of(value: float, low: float, high: float, unit: str = "ns") -> Estimate:
    return Estimate(
        value, low, high, 1840, unit, "EWC B=4", scope="this run only; between runs: unknown (1 run)"
    )


@pytest.mark.parametrize(
    "estimate, text",
    [
        (of(21_340_000, 21_104_000, 21_606_000), "21.34 ms [21.10, 21.61] 95 %, this run only"),
        (of(21.34, 21.104, 21.606, "ms"), "21.34 ms [21.10, 21.61] 95 %, this run only"),
        (of(0.02134, 0.021104, 0.021606, "s"), "21.34 ms [21.10, 21.61] 95 %, this run only"),
        (of(21_340_000, 21_100_000, math.inf), "21.34 ms [21.10, unbounded] 95 %, this run only"),
        (of(950, -math.inf, math.inf), "950 ns no band: n 1840 bounds neither end"),
        (of(0, -3000, 3000), "0.0 us [-3.0, 3.0] 95 %, this run only"),
        (of(1_000_000, 999_998, 1_000_001), "1.000000 ms [0.999998, 1.000001] 95 %, this run only"),
        (of(7, 7, 7), "7 ns [7, 7] 95 %, this run only"),
        (of(300, 250, 4000, "ms"), "300 ms [250, 4000] 95 %, this run only"),
        (of(1.5 * 2**30, 1.25 * 2**30, 1.75 * 2**30, "bytes"), "1.50 GiB [1.25, 1.75] 95 %, this run only"),
        (of(-0.004, -0.9, 0.9, "1"), "0.0 [-0.9, 0.9] 95 %, this run only"),
        (of(1.034, 1.0212, 1.0479, "ratio"), "1.034 × [1.021, 1.048] 95 %, this run only"),
        (replace(of(2, 1, 3, "s"), scope="6 runs", confidence=0.96875), "2.0 s [1.0, 3.0] 96.8 %, 6 runs"),
        (
            Estimate(
                128.42, None, None, 71, "ms", "", refusal="n is 71", one_sided="upper bound is unbounded"
            ),
            "128 ms no band: n is 71; upper bound is unbounded",
        ),
        (counted(1_234_567, "launches"), "1234567 launches (counted)"),
        (counted(2**30, "B"), "1073741824 B (counted)"),
        (declared(0.1, "ms"), "0.1 ms (declared)"),
        (declared(32.0, ""), "32 (declared)"),
        (unknown("no device records", "ns"), "unknown: no device records"),
        (
            replace(of(12_300, 11_900, 12_800), systematic=1_090, systematic_of="clock"),
            "12.30 us [11.90, 12.80] 95 %, this run only, clock ±1.1 us, together [10.8, 13.9] us",
        ),
        (
            replace(of(12_300, 11_900, math.inf), systematic=1_090, systematic_of="clock"),
            "12.30 us [11.90, unbounded] 95 %, this run only, clock ±1.1 us, together [10.8, unbounded] us",
        ),
        (
            replace(of(12_300, 11_900, 12_800), systematic=None, systematic_of="clock, unproven"),
            "12.30 us [11.90, 12.80] 95 %, this run only, clock, unproven: bound unknown",
        ),
    ],
)
def test_text(estimate: Estimate, text: str) -> None:
    assert estimate.text() == text
    assert estimate.text("p50 step") == f"p50 step {text}"


def test_footer_says_what_the_line_above_leaves_out() -> None:
    made = replace(
        of(2, 1, 3), cut=160, assumes="a steady series", seen="kernels 555 of 555", use="structure, not speed"
    )
    assert made.footer() == (
        "between runs: unknown (1 run) · n 1840 (160 cut, declared) · EWC B=4 · assumes a steady series"
        " · seen: kernels 555 of 555 · structure, not speed"
    )


def test_a_number_within_a_sentence() -> None:
    assert written(128.42, "ms") == "128.4 ms"
    assert written(128_420_000, "ns") == "128.4 ms"
    assert written(0, "ns") == "0 ns"


@given(
    st.lists(finite, min_size=3, max_size=3).map(sorted), st.sampled_from(UNITS), st.booleans(), st.booleans()
)
def test_written_band_contains_the_computed_one(
    ends: list[float], unit: str, no_low: bool, no_high: bool
) -> None:
    low, value, high = -math.inf if no_low else ends[0], ends[1], math.inf if no_high else ends[2]
    text = of(value, low, high, unit).text()
    if no_low and no_high:
        assert " no band: " in text and "95 %" not in text
        return
    found = re.fullmatch(r"(\S+) ?(.*?) \[(\S+), (\S+)\] 95 %, this run only", text)
    assert found, text
    assert (found[3] == "unbounded", found[4] == "unbounded") == (no_low, no_high)
    shown, written_low, written_high = found[1], found[3], found[4]
    factors = {"ns": "1e-9", "us": "1e-6", "ms": "1e-3", "s": "1"}
    factors |= {
        f"{prefix}B{rate}": str(1024**i)
        for i, prefix in enumerate(["", "Ki", "Mi", "Gi", "Ti"])
        for rate in ("", "/s")
    }
    scale = Decimal(factors.get(found[2], "1")) / Decimal(factors.get(unit, "1"))
    slack = 1 + Decimal("1e-20")
    if not no_low:
        assert Decimal(written_low) * scale <= Decimal(repr(low)) + abs(Decimal(repr(low))) * (slack - 1)
        assert Decimal(written_low) <= Decimal(shown)
    if not no_high:
        assert Decimal(written_high) * scale >= Decimal(repr(high)) - abs(Decimal(repr(high))) * (slack - 1)
        assert Decimal(written_high) >= Decimal(shown)


@given(finite, st.floats(min_value=0, max_value=1e300), st.sampled_from(UNITS))
def test_no_more_than_two_digits_of_the_width_are_written(value: float, half: float, unit: str) -> None:
    low, high = value - half, value + half
    if not math.isfinite(low) or not math.isfinite(high) or not low < value < high:
        return
    found = re.search(r"\[(\S+), (\S+)\]", of(value, low, high, unit).text())
    assert found
    ends = [Decimal(end) for end in found.groups()]
    last_digit = min(
        Decimal(1).scaleb(end.normalize().adjusted() + 1 - len(end.normalize().as_tuple().digits))
        for end in ends
        if end
    )
    assert (ends[1] - ends[0]) / last_digit <= 99 + 2


@given(finite, finite, finite, st.booleans(), st.booleans())
def test_a_row_is_strict_json(a: float, b: float, c: float, no_low: bool, no_high: bool) -> None:
    low, value, high = sorted((a, b, c))
    made = replace(
        of(np.float64(value), -math.inf if no_low else low, math.inf if no_high else high),
        dots=(1.0, math.inf),
        also=of(2, 1, math.inf),
    )
    row = made.as_row()
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert row["has_band"] and (row["low_unbounded"], row["high_unbounded"]) == (no_low, no_high)
    assert (row["low"] is None, row["high"] is None) == (no_low, no_high)
    assert row["also"]["high_unbounded"] and row["dots"] == [1.0, None]


def test_rows_tell_no_band_unbounded_and_unknown_apart() -> None:
    refused = Estimate(np.int64(5), None, None, 71, "ns", "", refusal="n is 71").as_row()
    assert (refused["value"], type(refused["value"]), refused["has_band"], refused["high_unbounded"]) == (
        5,
        int,
        False,
        False,
    )
    absent = unknown("no steps", "ns").as_row()
    assert (absent["value"], absent["kind"], absent["has_band"]) == (None, "unknown", False)
    json.dumps(
        [refused, absent, counted(3, "steps").as_row(), declared(np.float32(0.5), "").as_row()],
        allow_nan=False,
    )


def test_nanoseconds_beyond_a_float_stay_exact() -> None:
    made = of(2**60 + 1, 2**60 - 1, 2**60 + 3)
    assert made.as_row()["value"] == 2**60 + 1
    assert made.text().startswith("1152921504.606846977 s [1152921504.606846975, 1152921504.606846979]")


@pytest.mark.parametrize(
    "fields",
    [
        {"value": math.nan},
        {"value": math.inf},
        {"low": None},
        {"low": 4.0},
        {"low": math.nan},
        {"value": None},
        {"kind": "unknown"},
        {"low": None, "high": None},
    ],
)
def test_what_is_no_estimate(fields: dict[str, float | None]) -> None:
    with pytest.raises(ValueError):
        replace(of(2, 1, 3), **fields)  # type: ignore[arg-type]


def test_a_systematic_part_is_added_linearly_and_says_what_it_is() -> None:
    apart = replace(of(10, 8, 12), systematic=3, systematic_of="clock")
    assert (apart.low_in_all, apart.high_in_all) == (5, 15)
    assert (apart.as_row()["low_in_all"], apart.as_row()["systematic"]) == (5, 3)
    open_end = replace(of(10, 8, math.inf), systematic=None, systematic_of="clock, unproven")
    assert open_end.low_in_all is None and open_end.as_row()["systematic"] is None
    with pytest.raises(ValueError, match="comes from"):
        replace(of(10, 8, 12), systematic=3)
    with pytest.raises(ValueError, match="half-width"):
        replace(of(10, 8, 12), systematic=-1, systematic_of="clock")
