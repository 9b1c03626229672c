"""A chart on a page: the block of HTML, the data script, the CSV file and the drawing library."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

from browser import samples

from akvsite import charts
from akvsite.charts import Drawing, bands, embed


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
    page = parsed(embed.figure(drawing, "key", "../data/r1", sql="../data/q.sql", cite="runs/r1#key"))
    said = " ".join(page.said)
    assert "runs/r1#key" in said
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


def test_csv_of_a_withdrawn_chart_says_so_in_each_row() -> None:
    rows = [bands.Row(f"k{n}", samples.STEP) for n in range(3)]
    stamps = tuple(
        f"RETRACTED 2026-01-0{n} (not-{n}): a claim that stands on run {'a' * 90} was withdrawn"
        for n in (1, 2)
    )
    plain = list(csv.reader(io.StringIO(embed.csv_text(bands.draw("?", rows, samples.FOOTER)))))
    drawing = bands.draw("?", rows, replace(samples.FOOTER, stamps=stamps))
    under = list(csv.reader(io.StringIO(embed.csv_text(drawing))))
    said = "RETRACTED 2026-01-01 (not-1); RETRACTED 2026-01-02 (not-2)"
    assert under == [[*plain[0], "retracted"], *([*row, said] for row in plain[1:])]


def test_a_table_is_capped_and_says_where_the_rest_is() -> None:
    drawing = bands.draw("?", [bands.Row(f"k{n}", samples.STEP) for n in range(100)], samples.FOOTER)
    html = embed.figure(drawing, "key", "data")
    assert html.count("<tr>") == embed.TABLE_ROWS + 1
    assert "80 more rows are in the CSV file" in html
    assert embed.csv_text(drawing).count("\n") == 101


def test_the_library_is_one_script_that_leaves_one_name() -> None:
    bundle = embed.vega_bundle()
    assert bundle.splitlines()[0] == embed.vega_version()
    assert "window.vegaEmbed=" in bundle.replace(" ", "")
    assert "import(" not in bundle
    assert len(bundle) < 1_200_000
