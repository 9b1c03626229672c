"""The page of the same thing twice: its numbers are those of the raw file, and its words judge nothing."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import looked_at
import pytest
from bundles import read_in
from words import verdicts

from akvsite import site
from akvsite.charts import missing_parts
from akvsite.pages import aa, experiments, run
from akvsite.store import Store

Build = Callable[[], tuple[dict[str, str], dict[str, list[str]]]]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Pages by path, and printed lines by chart, of the captures in ``tmp_path``."""

    def made() -> tuple[dict[str, str], dict[str, list[str]]]:
        read_in(tmp_path / "akvsite.db", tmp_path)
        left: dict[str, str] = {}
        with Store.open(tmp_path / "akvsite.db") as opened:
            site.take_notes(opened, tmp_path)
            desk = site.SiteDesk(opened, left.__setitem__)
            pages = {page.path: page.text for module in (aa, experiments, run) for page in module.write(desk)}
        calls = {path: re.fullmatch(r'akvChart\("[^"]*",(.*)\);\n', script) for path, script in left.items()}
        lines = {p: json.loads(c[1])["usermeta"]["akv"]["footer"] for p, c in calls.items() if c}
        return pages, {path: said for path, said in lines.items() if "experiments/" in path}

    return made


@pytest.mark.parametrize("steps", [210, 0])
def test_the_page_of_the_same_thing_twice(tmp_path: Path, build: Build, steps: int) -> None:
    looked_at.twice(tmp_path / "aa-x", count=steps)
    pages, printed = build()
    page = html.unescape(pages["experiments/aa-x"])
    assert page.startswith(f"# {aa.TITLE}") and page.count("<figure") == 3
    # The number stands before the longer words.
    found = re.findall(r"<tr><td>([^<]*)</td>(.*?)<td>([^<]*)</td></tr>", page)
    rows = [(of, what, number) for what, number, of in found]
    timed = ["median decode step", "mean decode step"] if steps else []
    timed.append("wall clock of the command")
    assert [row[:2] for row in rows if row[0] in timed] == [
        (name, what)
        for name in timed
        for what in (
            "A again against A, over the pairs", "a single pair, least to most", "A, over runs", "A again, over runs",
        )
    ]  # fmt: skip
    said = {row[:2]: row[2] for row in rows}
    for what, confidence in (
        ("A again against A, over the pairs", "95 %"),
        ("a single pair, least to most", "77.7 %"),
    ):
        assert re.search(rf"% \[-?[\d.]+, -?[\d.]+\] {confidence}", said[timed[0], what])
    for words in ("block 7", "mirror", "load 0.00 before"):
        assert words in page
    assert verdicts(page) == []
    assert printed and not any(missing_parts(lines) for lines in printed.values())
    assert all(any(line.startswith("level off") for line in lines) for lines in printed.values())
    listed = html.unescape(pages["experiments"])
    row = re.search(r'<tr><td[^>]*><a href="experiments/aa-x.html">.*?</tr>', listed)
    assert row and "<td>off</td><td>off: may serve as a control</td>" in row[0]
    assert "../experiments/aa-x.html" in pages["runs/aa-x"]


def test_too_few_pairs_have_no_band_and_outputs_that_differ_are_over_everything(
    tmp_path: Path, build: Build
) -> None:
    looked_at.twice(tmp_path / "aa-x", blocks=4, outputs="DIFFER: 2 different sequences of tokens in 8 runs")
    pages, printed = build()
    page = html.unescape(pages["experiments/aa-x"])
    assert "4 pairs < 8" in page and "DIFFER: 2 different" in page[: page.index("## The noise floor")]
    assert all("THE OUTPUTS OF THE RUNS DIFFER" in lines for lines in printed.values())
