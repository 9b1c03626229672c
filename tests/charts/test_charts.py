"""Charts as specifications; what a browser makes of them is tested in tests/browser."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import altair as alt
import pytest
from browser import samples

from akvsite import charts
from akvsite.charts import Drawing, bands, distribution, embed, runs, series, shift, timeline, trials
from akvsite.estimate import Estimate, unknown

MARKS = sorted(
    module.name
    for module in pkgutil.iter_modules(charts.__path__)
    if module.name != "embed" and not module.name.startswith("_")
)
VERDICTS = re.compile(
    r"\b(faster|slower|better|worse|regress\w*|improv\w*|wins?|significan\w*|pass(ed)?|fail(ed|s)?)\b", re.I
)


def words(drawing: Drawing) -> str:
    return json.dumps([drawing.spec, drawing.question, drawing.footer, drawing.summary, drawing.columns])


def every_string(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from every_string(item)
    elif isinstance(value, list):
        for item in value:
            yield from every_string(item)


def test_every_mark_has_a_drawing_to_test_with() -> None:
    assert sorted(samples.BY_MARK) == MARKS
    for mark in MARKS:
        draw = importlib.import_module(f"akvsite.charts.{mark}").draw
        assert inspect.signature(draw).return_annotation == "Drawing"


def test_question_and_footer_are_inside_the_specification(drawing: Drawing) -> None:
    spec = drawing.spec
    assert " ".join(spec["title"]["text"]) == drawing.question
    (child,) = spec["vconcat"]
    assert tuple(child["title"]["text"]) == drawing.footer
    assert child["title"]["orient"] == "bottom"
    assert all(len(line) <= charts.LINE for line in drawing.footer)


def test_the_specification_is_valid(drawing: Drawing) -> None:
    text = json.dumps(drawing.spec, allow_nan=False)
    alt.Chart.from_dict(json.loads(text))
    left = [string for string in every_string(drawing.spec) if string.startswith("@")]
    assert not left, "a placeholder was not filled in"


def test_no_more_rows_than_a_chart_may_have(drawing: Drawing) -> None:
    assert sum(len(rows) for rows in drawing.spec["datasets"].values()) <= charts.MAX_ROWS


def test_a_drawing_says_in_words_what_it_shows(drawing: Drawing) -> None:
    assert drawing.summary.startswith(drawing.question)
    assert len(drawing.summary) > len(drawing.question) + 40
    assert drawing.spec["description"] == drawing.summary
    assert drawing.rows
    assert all(len(row) == len(drawing.columns) for row in drawing.rows)


def test_no_verdict_is_written_anywhere(drawing: Drawing) -> None:
    assert not VERDICTS.search(words(drawing))
    assert not VERDICTS.search(embed.figure(drawing, "key", "data"))


def test_a_second_drawing_owes_nothing_to_the_first() -> None:
    first = samples.draw_bands()
    before = json.dumps(first.spec)
    first.spec["vconcat"][0]["layer"].clear()
    assert json.dumps(samples.draw_bands().spec) == before


def test_an_unknown_number_is_drawn_hollow_and_at_no_value() -> None:
    drawing = bands.draw(
        "?", [bands.Row("a", samples.STEP), bands.Row("b", unknown("no records", "ns"))], samples.FOOTER
    )
    row = drawing.spec["datasets"]["rows"][1]
    assert row["value"] is None
    assert row["from"] is None
    assert row["state"] == "unknown"
    shapes = [
        dict(zip(scale["domain"], scale["range"], strict=True))
        for layer in drawing.spec["vconcat"][0]["layer"]
        if (scale := layer["encoding"].get("shape", {}).get("scale"))
    ]
    assert shapes
    assert all(shape["unknown"] == charts.HOLLOW for shape in shapes)
    assert "unknown 1 of 2: no records" in " ".join(drawing.footer)
    assert drawing.rows[1][2] is None


def test_only_unknown_numbers_make_a_chart_too() -> None:
    drawing = bands.draw("?", [bands.Row("a", unknown("no records", "ns"))], samples.FOOTER)
    json.dumps(drawing.spec, allow_nan=False)
    assert "unknown 1 of 1: no records" in " ".join(drawing.footer)


def test_an_unbounded_end_is_an_open_arrow_at_the_edge() -> None:
    rows = samples.draw_bands().spec["datasets"]["rows"]
    domain = samples.draw_bands().spec["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    upper, lower = rows[1], rows[2]
    assert (upper["open_high"], upper["to"]) == (True, domain[1])
    assert (lower["open_low"], lower["from"]) == (True, domain[0])


def test_a_refused_band_is_a_dot_alone_and_the_footer_says_why() -> None:
    drawing = samples.draw_bands()
    row = drawing.spec["datasets"]["rows"][6]
    assert (row["from"], row["state"]) == (None, "no band: refused")
    assert "no band for 2 of 9: n 4 < 8" in " ".join(drawing.footer)


def test_a_bound_that_is_not_a_number_leaves_a_visible_gap() -> None:
    """D4: pytorch/kineto#105."""
    with pytest.raises(ValueError, match="from nan"):
        Estimate(5e6, math.nan, 7e6, 9, "ns", "m")
    refused = Estimate(5e6, None, None, 9, "ns", "m", refusal="its lower end is not a number")
    drawing = shift.draw("?", [(10, samples.STEP), (20, refused)], samples.FOOTER, sides=("A", "B"))
    row = drawing.spec["datasets"]["rows"][1]
    assert (row["from"], row["to"]) == (None, None)
    assert row["value"] is not None
    assert "no band for 1 of 2: its lower end is not a number" in " ".join(drawing.footer)


def test_a_sample_that_is_not_a_number_is_a_gap() -> None:
    drawing = series.draw("?", [1.0, math.nan, None, math.inf, 2.0], samples.FOOTER, unit="ns")
    json.dumps(drawing.spec, allow_nan=False)
    assert [row["mid"] for row in drawing.spec["datasets"]["rows"]] == [1, None, None, None, 2]
    assert "3 missing and left as gaps" in " ".join(drawing.footer)


def test_units_are_not_mixed_on_one_axis() -> None:
    with pytest.raises(ValueError, match="one axis, one unit"):
        bands.draw(
            "?",
            [bands.Row("a", samples.STEP), bands.Row("b", Estimate(1, 0, 2, 9, "B", "m"))],
            samples.FOOTER,
        )


def test_a_distribution_has_few_points_and_its_extremes() -> None:
    drawing = distribution.draw("?", {"A": list(range(100_000))}, samples.FOOTER, unit="ns")
    rows = drawing.spec["datasets"]["rows"]
    assert len(rows) <= distribution.POINTS
    assert drawing.rows[0][3] == 0
    assert drawing.rows[-1][3] == 99_999
    assert rows[-1]["share"] == 1
    assert "n 100000 of A" in drawing.footer


def test_a_distribution_of_nothing_is_drawn() -> None:
    drawing = distribution.draw("?", {"A": [], "B": [math.nan]}, samples.FOOTER, unit="ns")
    assert "not finite and not drawn: 1 samples of B" in " ".join(drawing.footer)


def test_a_series_is_binned_and_its_cut_is_told() -> None:
    drawing = samples.draw_series(20_000)
    rows = drawing.spec["datasets"]["rows"]
    assert len(rows) <= series.MOST
    assert {row["part"] for row in rows} == {"kept", "warm-up, cut (declared)"}
    assert "(60 cut, declared, 12 missing and left as gaps)" in " ".join(drawing.footer)
    assert sum(row[1] for row in drawing.rows) == 20_000


@pytest.mark.parametrize("n", [0, 1, 1499, 1500, 1501])
@pytest.mark.parametrize("cut", [0, 1])
def test_a_series_of_any_length(n: int, cut: int) -> None:
    drawing = series.draw("?", [1.0] * n, samples.FOOTER, unit="ns", cut=min(cut, n))
    json.dumps(drawing.spec, allow_nan=False)
    assert len(drawing.spec["datasets"]["rows"]) <= series.MOST
    assert sum(row[1] for row in drawing.rows) == n


def test_a_long_timeline_merges_neighbours_and_says_so() -> None:
    intervals = [timeline.Interval("q", "ab"[i % 2], 100 * i, 100 * i + 60) for i in range(9000)]
    drawing = timeline.draw("?", intervals, samples.FOOTER, origin="start")
    assert len(drawing.spec["datasets"]["rows"]) == charts.MAX_ROWS
    assert "drawn as 5000: neighbours of a lane that are 40 ns apart" in " ".join(drawing.footer)
    assert len(drawing.rows) == 9000


def test_the_widest_gap_of_a_long_timeline_stays() -> None:
    intervals = [timeline.Interval("q", "k", 100 * i, 100 * i + 60) for i in range(6000)]
    intervals += [timeline.Interval("q", "k", 700_000, 700_060)]
    drawing = timeline.draw("?", intervals, samples.FOOTER, origin="start")
    rows = sorted(drawing.spec["datasets"]["rows"], key=lambda row: row["a"])
    assert rows[-1]["a"] - rows[-2]["d"] == pytest.approx((700_000 - 599_960) / 1e3)


def test_an_end_is_as_wide_as_its_clock_bound() -> None:
    intervals = [timeline.Interval("q", "k", 100, 900, "", 10, 20), timeline.Interval("q", "k", 950, None)]
    one, hung = timeline.draw("?", intervals, samples.FOOTER, origin="start").spec["datasets"]["rows"]
    assert [one[end] for end in "abcd"] == [90, 110, 880, 920]
    assert hung["open"]


def test_no_repeat_is_clipped() -> None:
    drawing = samples.draw_trials()
    domain = drawing.spec["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    values = [row["value"] for row in drawing.spec["datasets"]["repeats"]]
    assert min(values) == -2.8
    assert domain[0] < min(values)
    assert domain[1] > max(values)
    assert "repeats without a number, and so without a dot: 1" in " ".join(drawing.footer)


def test_trials_without_an_estimate_are_drawn() -> None:
    drawing = trials.draw("?", [trials.Treatment("a", [1.0, math.inf])], samples.FOOTER, unit="1")
    json.dumps(drawing.spec, allow_nan=False)
    assert "no estimate was made for a" in " ".join(drawing.footer)


def test_every_run_is_a_dot_and_pairs_are_joined() -> None:
    drawing = samples.draw_runs()
    rows = drawing.spec["datasets"]["rows"]
    assert len([row for row in rows if row.get("pair")]) == 16
    assert len({(row["label"], row["lane"]) for row in rows}) == len(rows), (
        "no dot lies on another by its place"
    )
    assert runs.draw("?", [], samples.FOOTER).rows == ()


def test_a_value_without_a_band_is_drawn_open_and_unlike_an_unknown_one() -> None:
    (scale, *_) = [
        scale
        for layer in samples.draw_bands().spec["vconcat"][0]["layer"]
        if (scale := layer["encoding"].get("shape", {}).get("scale"))
    ]
    shape = dict(zip(scale["domain"], scale["range"], strict=True))
    assert shape["no band: refused"].count("M") == 2, "a hole in it"
    assert len(set(shape.values())) == 7


def test_words_count_the_numbers_with_a_band_and_say_why_others_have_none() -> None:
    assert "9 numbers, 5 with a band, 2 without (n 4 < 8), 1 unknown (no device records), 1 counted" in (
        samples.draw_bands().summary
    )
    assert "6 parts of a step, 4 with a band, 1 without (n 4 < 8), 1 unknown" in samples.draw_budget().summary


def test_every_row_of_a_file_says_what_was_seen_and_at_which_level_and_clock(drawing: Drawing) -> None:
    for column in ("seen", "use", "level", "clock"):
        at = drawing.columns.index(column)
        assert all(row[at] for row in drawing.rows), column
    assert drawing.rows[0][drawing.columns.index("level")].startswith("edge, dev host: capture on, +33 %")


def test_a_thinned_series_says_so_over_its_table() -> None:
    assert "a row is up to 14 neighbouring samples" in embed.figure(samples.draw_series(20_000), "k", "data")
    assert samples.draw_series(600).caption == ""


def test_an_axis_of_steps_has_whole_numbers() -> None:
    drawing = series.draw("?", [1e6], samples.FOOTER, unit="ns")
    axes = [layer["encoding"]["x"].get("axis") for layer in drawing.spec["vconcat"][0]["layer"]]
    assert {"grid": False, "tickMinStep": 1, "format": "d", "values": [0]} in axes


def test_an_axis_without_a_number_has_no_ticks() -> None:
    drawing = bands.draw("?", [bands.Row("a", unknown("no records", "ns"))], samples.FOOTER, axis="time")
    x = drawing.spec["vconcat"][0]["layer"][0]["encoding"]["x"]
    assert x["axis"]["labels"] is False
    assert x["title"] == "time: unknown"


def test_repeats_are_dots_once() -> None:
    estimate = samples.ms(2, 1, 3, dots=(1e6, 3e6))
    drawing = trials.draw("?", [trials.Treatment("a", [1e6, 3e6], estimate)], samples.FOOTER, unit="ns")
    assert drawing.spec["datasets"]["rows"][0]["dots"] == []
    assert " ".join(drawing.footer).count("small dot") == 1
