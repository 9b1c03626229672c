"""How a chart draws what is not known: refused bands, open ends, and how far a clock may be off."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from browser import samples

from akvsite import charts
from akvsite.charts import Drawing, bands, budget, distribution, runs, shift, timeline, trials
from akvsite.estimate import Estimate, counted, unknown

CLOCK = replace(samples.STEP, systematic=50_000.0, systematic_of="clock")
UNPROVEN = replace(samples.STEP, systematic=None, systematic_of="clock, unproven")
REFUSED = samples.ms(21, None, None)
EVERY = {
    "value with band": samples.STEP,
    "no band: refused": REFUSED,
    "counted or declared": counted(21_000_000, "ns"),
    "unknown": unknown("no records", "ns"),
    "no end on that side": samples.ms(21, 20, math.inf),
    "with the clock's bound": CLOCK,
    "clock's bound unknown": UNPROVEN,
}


def layers(drawing: Drawing) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = drawing.spec["vconcat"][0]["layer"]
    return found


def legend(drawing: Drawing) -> dict[str, str]:
    """The entries of the legend of marks, with their shapes."""
    scales = [
        layer["encoding"]["shape"]["scale"] for layer in layers(drawing) if layer["encoding"].get("shape")
    ]
    assert all(scale == scales[0] for scale in scales), "two layers of one chart would have two legends"
    return dict(zip(scales[0]["domain"], scales[0]["range"], strict=True))


def row(estimate: Estimate) -> dict[str, Any]:
    (made,) = bands.draw("?", [bands.Row("a", estimate)], samples.FOOTER).spec["datasets"]["rows"]
    found: dict[str, Any] = made
    return found


def drawn(mark: str, estimates: list[Estimate]) -> Drawing:
    """A chart of each mark that draws Estimates."""
    named = [(f"{at}", estimate) for at, estimate in enumerate(estimates)]
    footer = samples.FOOTER
    if mark == "bands":
        return bands.draw("?", [bands.Row(*one) for one in named], footer)
    if mark == "budget":
        regions = [budget.Region(*one) for one in named] + [budget.Region("rest", samples.STEP, False)]
        return budget.draw("?", regions, footer)
    if mark == "runs":
        return runs.draw("?", [runs.Run("A", *one) for one in named], footer)
    if mark == "shift":
        return shift.draw("?", [(int(at), e) for at, e in named], footer, sides=("A", "B"))
    return trials.draw("?", [trials.Treatment(at, [], e) for at, e in named], footer, unit="ns")


@pytest.mark.parametrize("mark", ["bands", "budget", "runs", "shift", "trials"])
def test_every_kind_of_number_has_its_own_shape_in_the_legend_where_it_occurs(mark: str) -> None:
    whole = legend(drawn(mark, list(EVERY.values())))
    assert list(whole) == list(EVERY)
    assert len(set(whole.values())) == len(EVERY)
    for entry, estimate in EVERY.items():
        expected = {"value with band"} if estimate.low is not None or mark == "budget" else set()
        assert legend(drawn(mark, [estimate])).keys() == expected | {entry}, entry


def test_the_systematic_part_lies_outside_the_band() -> None:
    made = row(CLOCK)
    assert (made["all_from"], made["from"], made["to"], made["all_to"]) == pytest.approx(
        (21.05, 21.10, 21.61, 21.66)
    )
    assert made["capped"]
    styles = [layer["mark"]["style"] for layer in layers(samples.draw_bands())]
    assert styles.count("akv-systematic") == 2, "from where the band ends, on either side, and not through it"
    assert styles.count("akv-cap") == 2


def test_the_axis_has_room_for_the_systematic_part() -> None:
    drawing = bands.draw("?", [bands.Row("a", replace(CLOCK, systematic=9e6))], samples.FOOTER)
    low, high = layers(drawing)[0]["encoding"]["x"]["scale"]["domain"]
    (made,) = drawing.spec["datasets"]["rows"]
    assert low < made["all_from"] < made["all_to"] < high


def test_an_end_that_is_open_has_no_systematic_part_outside_it() -> None:
    made = row(samples.ms(21, 20, math.inf, systematic=0.05, systematic_of="clock"))
    assert made["all_to"] is None
    assert made["all_from"] == pytest.approx(19.95)


def test_without_a_clock_nothing_is_said_of_one() -> None:
    made = row(samples.STEP)
    assert not made.keys() & {"all_from", "all_to", "capped", "unsure"}


@pytest.mark.parametrize(("estimate", "marked"), [(UNPROVEN, True), (replace(REFUSED, systematic=None, systematic_of="clock"), True), (CLOCK, False)])  # fmt: skip
def test_a_bound_that_nobody_knows_has_a_mark_of_its_own(estimate: Estimate, marked: bool) -> None:
    made = row(estimate)
    assert bool(made.get("unsure")) is marked
    if marked:
        assert made.get("all_from") is None


def test_bands_that_their_dots_may_hide_are_counted() -> None:
    wide, narrow = samples.ms(10, 5, 15), samples.ms(10, 9.99, 10.01)
    rows = [bands.Row("wide", wide), bands.Row("narrow", narrow)]
    assert "bands that their dots may hide: 1" in bands.draw("?", rows, samples.FOOTER).footer
    assert "may hide" not in " ".join(bands.draw("?", rows[:1], samples.FOOTER).footer)


def test_a_second_band_that_is_refused_says_why() -> None:
    second = replace(REFUSED, refusal="history of 1 run < 2")
    drawing = bands.draw("?", [bands.Row("a", replace(samples.STEP, also=second))], samples.FOOTER)
    assert "no second band: history of 1 run < 2" in " ".join(drawing.footer)
    assert "dotted line" not in " ".join(drawing.footer)


# Distributions


def test_a_curve_has_a_band_as_wide_as_its_clock_s_bound() -> None:
    drawing = distribution.draw(
        "?", {"A": [1000, 3000, 9000], "B": [2000], "C": [4000]}, samples.FOOTER,
        unit="ns", bounds={"A": 500.0, "B": None, "C": 0.0},
    )  # fmt: skip
    rows = drawing.spec["datasets"]["rows"]
    assert [(r["least"], r["value"], r["most"]) for r in rows[:3]] == [
        (0.5, 1, 1.5),
        (2.5, 3, 3.5),
        (8.5, 9, 9.5),
    ]
    assert not any("least" in r for r in rows[3:])
    low, high = layers(drawing)[0]["encoding"]["x"]["scale"]["domain"]
    assert low < 0.5
    assert high > 9.5
    text = " ".join(drawing.footer)
    assert "pale band: the curve moved by its clock's bound, ±500 ns of A" in text
    assert "clock's bound unknown, so no pale band: B" in text
    at = drawing.columns.index("clock's bound")
    assert [r[at] for r in drawing.rows] == [500.0, 500.0, 500.0, "unknown", 0.0]


def test_without_bounds_no_clock_is_spoken_of() -> None:
    drawing = distribution.draw("?", {"A": [1, 2]}, samples.FOOTER, unit="ns")
    assert "pale band" not in " ".join(drawing.footer)
    assert "clock's bound" not in drawing.columns


def test_a_bound_of_a_side_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="a bound without samples: B"):
        distribution.draw("?", {"A": [1]}, samples.FOOTER, unit="ns", bounds={"B": 1.0})


# Deciles and budgets


@pytest.mark.parametrize(("scope", "said"), [
    ("8 pairs, nine deciles at once", "simultaneous band: all deciles at once"),
    ("8 pairs", "each band for its own decile, not for all at once"),
])  # fmt: skip
def test_whether_the_deciles_bands_hold_at_once_is_printed(scope: str, said: str) -> None:
    drawing = shift.draw("?", [(10, replace(samples.STEP, scope=scope))], samples.FOOTER, sides=("A", "B"))
    assert said in " ".join(drawing.footer)
    assert f"band 95 %, {scope}" in drawing.footer


def test_a_remainder_below_zero_is_drawn_below_zero() -> None:
    drawing = samples.draw_budget()
    rest = drawing.spec["datasets"]["rows"][-1]
    low, _ = layers(drawing)[0]["encoding"]["x"]["scale"]["domain"]
    assert rest["attributed"] is False
    assert rest["value"] == pytest.approx(-1.1)
    assert low < rest["from"] < 0
    assert "below 0 where regions add up to more than the step" in " ".join(drawing.footer)
    positive = budget.draw("?", [budget.Region("rest", samples.STEP, False)], samples.FOOTER)
    assert "below 0" not in " ".join(positive.footer)


# Timelines


def test_an_interval_on_an_unproven_clock_has_no_certain_part() -> None:
    intervals = [
        timeline.Interval("q", "k", 100, 900, "", None, 20),
        timeline.Interval("q", "k", 100, 900, "", 10, None),
        timeline.Interval("q", "k", 100, None, "", 10, None),
        timeline.Interval("q", "k", 100, 900),
    ]
    drawing = timeline.draw("?", intervals, samples.FOOTER, origin="start")
    assert [r["unsure"] for r in drawing.spec["datasets"]["rows"]] == [True, True, False, False]
    assert "dashed outline: the clock's bound is not known, 2 of 4 intervals" in " ".join(drawing.footer)
    certain = [layer for layer in layers(drawing) if layer["mark"]["style"].startswith("akv-interval")]
    assert certain
    assert all("!datum.unsure" in layer["transform"][0]["filter"] for layer in certain)
    at = drawing.columns.index("start_bound_ns")
    assert [r[at : at + 2] for r in drawing.rows] == [("unknown", 20), (10, "unknown"), (10, None), (0, 0)]


def test_an_interval_shorter_than_its_bound_has_no_certain_part() -> None:
    (made,) = timeline.draw(
        "?", [timeline.Interval("q", "k", 100, 110, "", 40, 40)], samples.FOOTER, origin="start"
    ).spec["datasets"]["rows"]
    assert made["c"] < made["b"]
    assert (made["a"], made["d"]) == (60, 150)


@pytest.mark.parametrize(("bound", "said"), [(0, "the first call"), (1500, "the first call ±1.5 us by its clock"), (None, "the first call, its clock's bound unknown")])  # fmt: skip
def test_time_0_says_how_well_it_is_known(bound: int | None, said: str) -> None:
    drawing = timeline.draw(
        "?",
        [timeline.Interval("q", "k", 0, 9)],
        samples.FOOTER,
        origin="the first call",
        origin_bound_ns=bound,
    )
    for text in (" ".join(drawing.footer), drawing.summary, drawing.caption):
        assert f"time 0 is {said}" in text


def test_an_interval_that_is_too_short_to_be_seen_is_a_thin_line() -> None:
    intervals = [timeline.Interval("q", "k", at, at + 5) for at in (0, 1_000_000)]
    intervals.append(timeline.Interval("q", "k", 200_000, 900_000))
    drawing = timeline.draw("?", intervals, samples.FOOTER, origin="start")
    assert [row["short"] for row in drawing.spec["datasets"]["rows"]] == [True, True, False]
    assert "thin line: 2 intervals too short for this axis, drawn wider than they are" in " ".join(
        drawing.footer
    )
    look = drawing.spec["config"]["style"]
    assert all(look[f"akv-{kind}-short"]["strokeWidth"] > 0.5 for kind in ("interval", "bound", "unsure"))


def test_intervals_that_are_drawn_as_one_keep_what_is_not_known_of_their_ends() -> None:
    def merged(last: timeline.Interval) -> dict[str, Any]:
        many = [timeline.Interval("q", "k", 10 * i, 10 * i + 5) for i in range(charts.MAX_ROWS)]
        rows = timeline.draw("?", [*many, last], samples.FOOTER, origin="start").spec["datasets"]["rows"]
        assert len(rows) == charts.MAX_ROWS
        found: dict[str, Any] = max(rows, key=lambda r: r["d"])
        return found

    at = 10 * charts.MAX_ROWS - 4
    assert merged(timeline.Interval("q", "k", at, at + 5, "", 0, None))["unsure"]
    assert merged(timeline.Interval("q", "k", at, at + 5, "", None, 0))["unsure"]
    assert not merged(timeline.Interval("q", "k", at, at + 5, "", 0, 3))["unsure"]
