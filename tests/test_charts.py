"""Charts as specifications and as page blocks; what a browser makes of them is tested in tests/browser."""

from __future__ import annotations

import csv
import importlib
import inspect
import io
import json
import math
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
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


@pytest.fixture(params=MARKS)
def drawing(request: pytest.FixtureRequest) -> Drawing:
    return samples.BY_MARK[request.param]()


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
    printed = " ".join(drawing.footer)
    for part in (
        "level edge, dev host: capture on, +33 % [29, 37]",
        "clock +-1.1 us (worst 3.1)",
        "seen: kernels 555 of 555 launched",
    ):
        assert part in printed
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
    row = drawing.spec["datasets"]["rows"][4]
    assert (row["from"], row["state"]) == (None, "value, no band stated")
    assert "no band for 1 of 7: n 4 < 8" in " ".join(drawing.footer)


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
    assert "A (n 100000)" in " ".join(drawing.footer)


def test_a_distribution_of_nothing_is_drawn() -> None:
    drawing = distribution.draw("?", {"A": [], "B": [math.nan]}, samples.FOOTER, unit="ns")
    assert "not finite and not drawn: 1 samples of B" in " ".join(drawing.footer)


def test_a_series_is_binned_and_its_cut_is_told() -> None:
    drawing = samples.draw_series(20_000)
    rows = drawing.spec["datasets"]["rows"]
    assert len(rows) <= series.MOST
    assert {row["part"] for row in rows} == {"kept", "warm-up, cut (declared)"}
    assert "60 cut at the start (declared)" in " ".join(drawing.footer)
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


def test_a_footer_says_first_what_the_chart_is_of() -> None:
    of = replace(samples.FOOTER, of="run r1 on lab-1")
    drawing = bands.draw("?", [bands.Row("a", samples.STEP)], of)
    assert drawing.footer[0] == "run r1 on lab-1"


def test_a_value_without_a_band_is_drawn_open_and_unlike_an_unknown_one() -> None:
    (scale, *_) = [
        scale
        for layer in samples.draw_bands().spec["vconcat"][0]["layer"]
        if (scale := layer["encoding"].get("shape", {}).get("scale"))
    ]
    shape = dict(zip(scale["domain"], scale["range"], strict=True))
    assert shape["value, no band stated"].count("M") == 2, "a hole in it"
    assert len(set(shape.values())) == 4


def test_words_count_the_numbers_with_a_band_and_say_why_others_have_none() -> None:
    assert "7 numbers, 4 with a band, 1 without (n 4 < 8), 1 unknown (no device records), 1 counted" in (
        samples.draw_bands().summary
    )
    assert "6 parts of a step, 4 with a band, 1 without (n 4 < 8), 1 unknown" in samples.draw_budget().summary


def test_where_no_number_has_a_band_the_reason_is_told_once() -> None:
    rows = [bands.Row(name, samples.ms(at, None, None)) for at, name in enumerate("abc", 1)]
    drawing = bands.draw("?", rows, samples.FOOTER, headline=[("mean", samples.ms(2, None, None))])
    assert drawing.summary.count("n 4 < 8") == 1
    assert "b: 2.00 ms, no band;" in drawing.summary
    lead = [(name, samples.ms(at, None, None)) for at, name in enumerate(("mean", "p50"), 1)]
    steps = series.draw("?", [1e6], samples.FOOTER, unit="ns", headline=lead)
    assert "No number here has a band: n 4 < 8." in steps.summary
    printed = [*drawing.spec["title"]["subtitle"], *drawing.footer]
    assert sum(line.count("n 4 < 8") for line in printed) == 1
    assert embed.figure(drawing, "k", "data").count("n 4 &lt; 8") == 2, "in words, and over the table"


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


def test_ways_and_what_they_assume_stand_together_a_line_each() -> None:
    other = replace(samples.STEP, method="mean", assumes="no bursts")
    drawing = bands.draw("?", [bands.Row("a", samples.STEP), bands.Row("b", other)], samples.FOOTER)
    printed = drawing.spec["usermeta"]["akv"]["footer"]
    assert "EWC B=4 · assumes a steady series after the cut, phi <= 0.95" in printed
    assert "mean · assumes no bursts" in printed


def test_runs_and_the_steps_in_them_are_counted_apart() -> None:
    printed = samples.draw_runs().spec["usermeta"]["akv"]["footer"]
    assert "n 1840 steps a run (160 cut, declared); 8 runs a side" in printed


def test_deciles_have_one_method() -> None:
    deciles = [
        (d, samples.ms(1, 0, 2, method=f"t over differences of pairs' p{d}, 5 df"))
        for d in range(10, 100, 10)
    ]
    drawing = shift.draw("?", deciles, samples.FOOTER, sides=("A", "B"))
    assert "t over differences of pairs, each decile, 5 df" in " ".join(drawing.footer)
    assert "more methods" not in " ".join(drawing.footer)


def test_repeats_are_dots_once() -> None:
    estimate = samples.ms(2, 1, 3, dots=(1e6, 3e6))
    drawing = trials.draw("?", [trials.Treatment("a", [1e6, 3e6], estimate)], samples.FOOTER, unit="ns")
    assert drawing.spec["datasets"]["rows"][0]["dots"] == []
    assert " ".join(drawing.footer).count("small dot") == 1


# On a page


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def parsed(html: str) -> _Page:
    page = _Page()
    page.feed(html)
    return page


def test_a_figure_says_what_stands_in_for_the_chart(drawing: Drawing) -> None:
    page = parsed(embed.figure(drawing, "key", "../data/r1", sql="../data/q.sql"))
    said = " ".join(page.said)
    assert embed.WAITING in said
    assert drawing.summary in said
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    assert links == ["../data/r1/key.csv", "../data/q.sql"]
    assert ("a", "r1-key.csv") in [(tag, attrs.get("download")) for tag, attrs in page.tags]
    assert ("figure", "../data/r1/key.js") in [(tag, attrs.get("data-akv-src")) for tag, attrs in page.tags]
    assert any("data-search-exclude" in attrs for _, attrs in page.tags)


def test_hostile_names_stay_text_in_a_figure() -> None:
    html = embed.figure(samples.draw_hostile(), 'k"><b>', "d'><i>", sql='"><u>')
    page = parsed(html)
    assert {tag for tag, _ in page.tags} <= {
        *("figure", "div", "p", "strong", "figcaption", "a", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td", "bdi"),
    }
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "\n\n" not in html.rstrip("\n"), "a blank line would end the block for Markdown"
    assert not any(char in html for char in "\u202e\u2028\r")
    assert samples.HOSTILE[0] in " ".join(page.said)


def test_a_data_script_is_one_call_that_no_name_can_leave() -> None:
    drawing = samples.draw_hostile()
    script = embed.data_script(drawing, "k</script>")
    assert "<" not in script
    assert script.isascii()
    assert script.count("\n") == 1
    call = re.fullmatch(r'akvChart\(("(?:[^"\\]|\\.)*"),(.*)\);\n', script)
    assert call
    assert json.loads(call[1]) == "k</script>"
    assert json.loads(call[2]) == json.loads(json.dumps(drawing.spec))


def test_a_long_name_is_shortened_in_the_middle_and_stays_apart() -> None:
    names = [f"{'k' * 5000}{end}{'z' * 5000}" for end in "ab"]
    short = charts.labels(names)
    assert len(set(short.values())) == 2
    assert all(len(label) < 60 for label in short.values())


def test_csv_holds_all_rows_and_no_formula() -> None:
    drawing = Drawing(
        {},
        "?",
        (),
        "",
        ("=c", "n"),
        (("=1+1", -3), ("@a", -0.5), ("-x", None), ('ok, "q"\n', 2**63), (" +1", True)),
    )
    assert list(csv.reader(io.StringIO(embed.csv_text(drawing)))) == [
        ["'=c", "n"],
        ["'=1+1", "-3"],
        ["'@a", "-0.5"],
        ["'-x", ""],
        ['ok, "q"\n', str(2**63)],
        ["' +1", "True"],
    ]


def test_a_table_is_capped_and_says_where_the_rest_is() -> None:
    drawing = bands.draw("?", [bands.Row(f"k{n}", samples.STEP) for n in range(100)], samples.FOOTER)
    html = embed.figure(drawing, "key", "data")
    assert html.count("<tr>") == embed.TABLE_ROWS + 1
    assert "60 more rows are in the CSV file" in html
    assert embed.csv_text(drawing).count("\n") == 101


def test_the_library_is_one_script_that_leaves_one_name() -> None:
    bundle = embed.vega_bundle()
    assert bundle.splitlines()[0] == embed.vega_version()
    assert "window.vegaEmbed=" in bundle.replace(" ", "")
    assert "import(" not in bundle
    assert len(bundle) < 1_200_000
