"""The printed line under every chart: its parts, their order, and what it says of what is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from browser import samples

from akvsite import charts
from akvsite.charts import Drawing, Footer, bands, embed, series, shift, timeline
from akvsite.estimate import counted, unknown

STEP = samples.STEP
PARTS = ("count or method", "level", "clock", "seen")


def printed(*numbers: object, footer: Footer = samples.FOOTER, **more: object) -> list[str]:
    """The printed line of a chart of these numbers, unbroken."""
    rows = [bands.Row(f"{at}", number) for at, number in enumerate(numbers)]  # type: ignore[arg-type]
    drawing = bands.draw("?", rows, footer, **more)  # type: ignore[arg-type]
    return unbroken(drawing)


def unbroken(drawing: Drawing) -> list[str]:
    lines: list[str] = drawing.spec["usermeta"]["akv"]["footer"]
    return lines


def test_every_mark_has_every_part_in_one_order(drawing: Drawing) -> None:
    lines = unbroken(drawing)
    assert charts.missing_parts(lines) == []
    assert " ".join(drawing.footer) == " ".join(lines), (
        "what stands in the image is the same, in shorter lines"
    )
    places = [
        next(at for at, line in enumerate(lines) if line.startswith(begin))
        for begin in ("n ", "level ", "clock ", "seen: ")
    ]
    assert places == sorted(places)
    assert places[3] - places[1] == 2, "level, clock and seen stand together"


def test_level_control_clock_and_sight_are_the_page_s_words(drawing: Drawing) -> None:
    text = " ".join(drawing.footer)
    for part in (
        "level edge, dev host: capture on, +33 % [29, 37] against its control, 8 ABBA pairs: not a speed",
        "clock ±1.1 us (worst 3.1) if one counter, brackets true, wander <= 2 ppm",
        "seen: kernels 555 of 555 launched, copies 12 of 12, replays 0 of 0",
    ):
        assert part in text


def test_one_run_s_line_reads_as_designed() -> None:
    drawing = series.draw(
        "?", [1.0] * 2000, samples.FOOTER, unit="ns", cut=160, headline=[("p50 step", STEP)]
    )
    assert drawing.spec["usermeta"]["akv"]["headline"] == [
        "p50 step 21.34 ms [21.10, 21.61] 95 %, this run only · between runs: unknown (1 run)"
    ]
    assert unbroken(drawing)[:4] == [
        "n 1840 (160 cut, declared) · EWC B=4 · assumes a steady series after the cut, phi <= 0.95",
        "level edge, dev host: capture on, +33 % [29, 37] against its control, 8 ABBA pairs: not a speed"
        " · structure, not speed",
        f"clock {samples.FOOTER.clock}",
        f"seen: {samples.FOOTER.seen}",
    ]


def test_what_a_line_over_the_drawing_says_of_its_scope_is_not_said_again() -> None:
    assert "band 95 %, this run only · between runs: unknown (1 run)" in printed(STEP)
    assert not [line for line in printed(STEP, headline=[("p50", STEP)]) if line.startswith("band ")]
    other = replace(STEP, scope="8 runs")
    assert printed(STEP, other, headline=[("p50", STEP)])[0] == "band 95 %, 8 runs"


def test_two_numbers_that_share_the_rest_of_their_scope_say_it_once() -> None:
    drawing = series.draw("?", [1.0], samples.FOOTER, unit="ns", headline=[("mean", STEP), ("p50", STEP)])
    first, second = drawing.spec["usermeta"]["akv"]["headline"]
    assert first.endswith("95 %, this run only")
    assert second.endswith("95 %, this run only · between runs: unknown (1 run)")


def test_a_level_without_a_control_says_that_its_cost_is_unknown() -> None:
    def level(**footer: str) -> str:
        return next(x for x in printed(STEP, footer=Footer(**footer)) if x.startswith("level "))

    assert level(level="edge, dev host").startswith(
        "level edge, dev host: cost of looking unknown, no control"
    )
    assert "cost of looking unknown" in level(level="device and off, proof host")
    assert "cost" not in level(level="off, proof host")


@pytest.mark.parametrize("part", ["clock", "seen"])
def test_a_part_that_nobody_stated_says_so_and_keeps_the_chart_off_a_page(part: str) -> None:
    drawing = bands.draw("?", [bands.Row("a", STEP)], replace(samples.FOOTER, **{part: ""}))
    assert charts.missing_parts(unbroken(drawing)) == [part]
    with pytest.raises(ValueError, match=f"'k' does not say: {part}"):
        embed.figure(drawing, "k", "data")


def test_a_chart_without_its_printed_line_comes_onto_no_page(drawing: Drawing) -> None:
    for footer in ([], ["n 3"], [line for line in unbroken(drawing) if not line.startswith("n ")]):
        spec = drawing.spec | {"usermeta": {"akv": drawing.spec["usermeta"]["akv"] | {"footer": footer}}}
        with pytest.raises(ValueError, match="does not say"):
            embed.figure(replace(drawing, spec=spec), "k", "data")
    with pytest.raises(ValueError, match=", ".join(PARTS)):
        embed.figure(replace(drawing, spec={}), "k", "data")


def test_counts_and_unknown_numbers_say_what_they_are_in_place_of_a_method() -> None:
    assert "numbers counted or declared: 2" in printed(counted(3, "ns"), counted(4, "ns"))
    assert "no number known" in printed(unknown("no records", "ns"))
    assert charts.missing_parts(printed(unknown("no records", "ns"))) == []
    assert "method: read once" in printed(
        unknown("no records", "ns"), footer=replace(samples.FOOTER, method="read once")
    )


def test_a_systematic_part_is_said_on_the_clock_s_line() -> None:
    def clock(*numbers: object, **footer: str) -> str:
        lines = printed(*numbers, footer=Footer("off, proof host", **footer))
        return next(line for line in lines if line.startswith("clock "))

    known = replace(STEP, systematic=1_049.0, systematic_of="clock")
    wider = replace(STEP, systematic=31_000.0, systematic_of="clock")
    blank = replace(STEP, systematic=None, systematic_of="clock, unproven")
    assert clock(known) == "clock ±1.1 us (systematic, added linearly outside the band)"
    assert clock(known, wider) == "clock ±1.1 us to ±31 us (systematic, added linearly outside the band)"
    assert clock(known, clock="host and device") == (
        "clock host and device · on these numbers ±1.1 us (systematic, added linearly outside the band)"
    )
    assert clock(blank) == "clock bound unknown: unproven"
    assert clock(STEP, blank) == "clock bound unknown for 1 of 2: unproven"
    assert clock(blank, clock="vendor, unproven: bound unknown") == "clock vendor, unproven: bound unknown"
    assert clock(STEP) == "clock not stated"


def test_a_systematic_part_is_in_the_table_and_in_the_file() -> None:
    blank = replace(STEP, systematic=None, systematic_of="clock, unproven")
    rows = [
        bands.Row("a", replace(STEP, systematic=1000.0, systematic_of="clock")),
        bands.Row("b", blank),
        bands.Row("c", STEP),
    ]
    drawing = bands.draw("?", rows, samples.FOOTER)
    at = drawing.columns.index("systematic")
    assert [row[at : at + 2] for row in drawing.rows] == [
        (1000.0, "clock"),
        ("unknown", "clock, unproven"),
        (None, ""),
    ]


def test_different_uses_stand_behind_the_level_and_refusals_behind_what_was_seen() -> None:
    other = samples.ms(
        1,
        None,
        None,
        use="compare under the same load only",
        one_sided="p99 is above 3 ms",
        refusal="n 4 < 8",
    )
    lines = printed(STEP, other)
    level = next(line for line in lines if line.startswith("level "))
    assert level.endswith("not a speed · structure, not speed; compare under the same load only")
    assert lines[lines.index(f"seen: {samples.FOOTER.seen}") + 1 :][:2] == [
        "no band for 1 of 2: n 4 < 8",
        "p99 is above 3 ms",
    ]


def test_a_fourth_thing_of_a_kind_is_in_the_table() -> None:
    lines = printed(*(replace(STEP, scope=f"{k} runs", use=f"use {k}", method=f"t{k}") for k in range(2, 7)))
    assert lines[:4] == [
        "band 95 %, 2 runs",
        "band 95 %, 3 runs",
        "band 95 %, 4 runs",
        "and 2 more scopes, in the table",
    ]
    assert "use 2; use 3; use 4; and 2 more uses, in the table" in " ".join(lines)
    assert "and 2 more methods, in the table" in lines


def test_a_stamp_stands_over_all_numbers() -> None:
    footer = replace(samples.FOOTER, of="run r1", stamps=("RETRACTED 2026-01-01 (r): a claim was withdrawn",))
    assert printed(STEP, footer=footer)[:2] == ["run r1", "RETRACTED 2026-01-01 (r): a claim was withdrawn"]


def test_intervals_are_counted() -> None:
    assert "n 1 interval on 1 lane" in unbroken(
        timeline.draw("?", [timeline.Interval("q", "k", 0, 9)], samples.FOOTER, origin="start")
    )


def test_no_line_begins_with_a_dot_or_breaks_a_comparison() -> None:
    long = replace(STEP, method="m" * 46, assumes="a steady series after the cut that is long, phi <= 0.95")
    drawing = bands.draw("?", [bands.Row("a", long)], samples.FOOTER)
    assert not [line for line in drawing.footer if line.startswith("·") or line.endswith("<=")]


def test_a_footer_says_first_what_the_chart_is_of() -> None:
    of = replace(samples.FOOTER, of="run r1 on lab-1")
    drawing = bands.draw("?", [bands.Row("a", samples.STEP)], of)
    assert drawing.footer[0] == "run r1 on lab-1"


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
