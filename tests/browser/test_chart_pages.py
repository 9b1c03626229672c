"""The charts of a page, in a real Chromium."""

from __future__ import annotations

import base64
import html
import re
import shutil
from pathlib import Path

import checks
import pytest
import site_build
from playwright.sync_api import Page
from samples import FOOTER, STEP

from akvsite.charts import Drawing, bands
from akvsite.pages._html import Cell, link, table

Pages = dict[str, dict[str, Drawing]]


def lines(drawings: dict[str, Drawing]) -> dict[str, list[str]]:
    return {key: [drawing.question, *drawing.footer] for key, drawing in drawings.items()}


@pytest.mark.parametrize("name", ["first", "second"])
def test_every_chart_is_drawn_with_its_question_and_footer(
    page: Page, address: str, pages: Pages, name: str
) -> None:
    watch = checks.Watch(page, address)
    page.goto(f"{address}{name}.html")
    checks.assert_drawn(page, lines(pages[name]))
    checks.assert_footers(page)
    assert page.title() != "hit"
    watch.assert_clean()


def test_a_page_without_charts_does_not_load_the_library(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}index.html", wait_until="networkidle")
    assert not [url for url in asked if "vega" in url]


def test_following_a_link_draws_without_a_page_load(page: Page, address: str, pages: Pages) -> None:
    """D18: timvink/mkdocs-charts-plugin#5."""
    watch = checks.Watch(page, address)
    page.goto(f"{address}first.html")
    checks.assert_drawn(page)
    page.evaluate("window.stayed = true")
    page.click("nav >> text=second")
    page.wait_for_selector("#chart-timeline")
    checks.assert_drawn(page, lines(pages["second"]))
    assert page.evaluate("window.stayed === true"), "the browser loaded the page anew"
    page.go_back()
    page.wait_for_selector("#chart-bands")
    checks.assert_drawn(page, lines(pages["first"]))
    watch.assert_clean()


def test_from_disk_charts_are_drawn(page: Page, site: Path, pages: Pages) -> None:
    """D19: vega/vega-embed#951."""
    watch = checks.Watch(page, site.as_uri())
    page.context.set_offline(True)
    page.goto((site / "first.html").as_uri())
    checks.assert_drawn(page, lines(pages["first"]))
    assert not watch.strays


@pytest.mark.parametrize("lost", ["assets/vega.js", "data/bands.js"])
def test_what_cannot_be_drawn_says_why(page: Page, site: Path, tmp_path: Path, lost: str) -> None:
    """D19: the reason is visible text, and the table is open."""
    copy = tmp_path / "copy"
    shutil.copytree(site, copy)
    (copy / lost).unlink()
    page.goto((copy / "first.html").as_uri())
    checks.settle(page)
    said = page.locator("#bands .akv-failed")
    assert said.is_visible()
    assert f"{Path(lost).name} could not be loaded" in said.inner_text()
    assert page.locator("#bands .akv-table").is_visible()


def test_without_scripts_text_and_table_stand_for_the_chart(page: Page, address: str) -> None:
    page.route("**/*.js", lambda route: route.abort())
    page.goto(f"{address}first.html")
    assert "drawn by a script" in page.locator("#bands .akv-drawing").inner_text()
    page.click("#bands .akv-rows > summary")
    assert page.locator("#bands .akv-table").is_visible()


@pytest.mark.parametrize(
    ("name", "widths"), [("first", (1200, 390, 320, 768)), ("second", (320, 768, 390, 1200))]
)
def test_readable_in_light_and_dark_at_any_width_and_after_a_resize(
    page: Page, address: str, pages: Pages, name: str, widths: tuple[int, ...]
) -> None:
    """Every line of every chart, the printed line among them, in windows that grow wider and narrower."""
    page.set_viewport_size({"width": widths[0], "height": 900})
    page.goto(f"{address}{name}.html")
    checks.settle(page)
    for width in widths:
        checks.resize(page, width)
        checks.assert_drawn(page, lines(pages[name]))
        checks.assert_no_overflow(page)
        for scheme in ("slate", "default"):
            checks.use_scheme(page, scheme)
            checks.assert_lines_apart(page)
            checks.assert_contrast(page)


def test_lines_that_cannot_be_read_are_found(page: Page, address: str) -> None:
    """What the test before this one stands on: it fails where a line is too small, cut, or on another one."""
    page.goto(f"{address}second.html")
    checks.settle(page)
    spoil = {
        "over each other": "t => t.setAttribute('dy', '0')",
        "9 px": "t => t.style.fontSize = '9px'",
        "outside": "t => t.setAttribute('x', 5000)",
    }
    for what, how in spoil.items():
        page.evaluate(f"[...document.querySelectorAll('#shift text tspan')].slice(-1).forEach({how})")
        with pytest.raises(AssertionError, match=what):
            checks.assert_lines_apart(page)


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_charts_and_tables_break_no_rule_of_access(page: Page, address: str, scheme: str) -> None:
    """Against a plain page of the theme, which breaks some of its own."""
    page.goto(f"{address}index.html")
    checks.use_scheme(page, scheme)
    plain = checks.axe_ids(page)
    for name in ("first", "second", "runs"):
        page.goto(f"{address}{name}.html")
        checks.settle(page)
        checks.use_scheme(page, scheme)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert checks.axe_ids(page) <= plain, name


def test_tables_sort_and_filter_by_keyboard(page: Page, address: str) -> None:
    watch = checks.Watch(page, address)
    page.goto(f"{address}runs.html")
    first = page.locator("[data-akv-table] tbody tr:not([hidden]) td:first-child")
    page.locator("th button").nth(1).focus()
    page.keyboard.press("Enter")
    assert first.all_inner_texts() == ["alpha 10", "beta", "alpha 9"], "900 ns before 21 ms, unknown last"
    page.keyboard.press("Enter")
    assert page.locator("th").nth(1).get_attribute("aria-sort") == "descending"
    assert first.all_inner_texts() == ["beta", "alpha 10", "alpha 9"], "unknown last this way too"
    page.locator("th button").first.click()
    assert first.all_inner_texts() == ["alpha 9", "alpha 10", "beta"]
    page.fill(".akv-filter input", "alpha 1")
    assert first.all_inner_texts() == ["alpha 10"]
    assert "1 of 3 rows" in page.locator(".akv-filter").inner_text()
    page.fill(".akv-filter input", "1700")
    assert first.all_inner_texts() == ["beta"], "digits are found without their separators"
    page.fill(".akv-filter input", "1,7")
    assert first.all_inner_texts() == ["beta"], "and with them"
    page.fill(".akv-filter input", "no such row")
    assert "0 of 3 rows: no row has these words" in page.locator(".akv-filter").inner_text()
    outline = "getComputedStyle(document.querySelector('.akv-filter input')).outlineStyle"
    assert page.evaluate(outline) == "solid", "the field with the keyboard's focus can be told"
    watch.assert_clean()


NAMES = (
    "aten::index_put_",
    "until detokenised",
    "runner-h200-c1",
    "2026-11-30T15:25:11+00:00",
    "3.907146 ms",
)
#: Of a table of so many columns: whether it is cut, and how many lines each of its words and short cells takes.
LAID_OUT = """([html, lines]) => {
  document.querySelector('.md-content__inner').innerHTML = html;
  const box = document.querySelector('.akv-scroll');
  const of = cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].map(r => Math.round(r.top))).size;
  };
  return [box.scrollWidth - box.clientWidth, ...[...box.querySelectorAll(lines)].map(of)];
}"""


@pytest.mark.parametrize(("width", "columns"), [(390, 2), (390, 6), (1200, 6)])
def test_a_table_is_as_wide_as_the_page_and_breaks_no_word(
    page: Page, address: str, width: int, columns: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}/runs.html")
    sentence = "18.1 ms no band: n 10 < 200, clock, unproven: bound unknown"
    rows = [
        [Cell(link(name, "#")), *(sentence for _ in range(columns - 1))] for name in ("detokenise", "prefill")
    ]
    made = table(
        ["from and to", *(f"what is known of it {n}" for n in range(columns - 1))],
        rows,
        caption="Of each stretch, in its order; " * 4,
    )
    over, *lines = page.evaluate(LAID_OUT, [made, "td:first-child"])
    assert lines == [1, 1]
    assert (over > 1) == (width == 390 and columns == 6), "it is scrolled where its words do not fit"
    ends = "e => document.querySelector(e).getBoundingClientRect().right"
    assert page.evaluate(ends, "caption") <= page.evaluate(ends, ".akv-scroll"), "its caption is read whole"
    made = table(["a", "b", "c", "d", "e"], [NAMES])
    _, *lines = page.evaluate(LAID_OUT, [made, "td:not(:first-child).akv-short, td:first-child"])
    assert lines == [1, 1, 1, 1]


@pytest.mark.parametrize("width", [390, 1440])
def test_a_wide_table_scrolls_and_keeps_the_names_of_its_rows(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}first.html")
    checks.settle(page)
    page.click("#bands .akv-rows > summary")
    moved = page.evaluate(
        """() => {
            const box = document.querySelector('#bands .akv-scroll');
            const name = box.querySelector('tbody td'), before = name.getBoundingClientRect().left;
            box.scrollLeft = 60;
            return [box.scrollLeft, name.getBoundingClientRect().left - before];
        }"""
    )
    assert moved == [60, 0]


def test_fifty_pages_of_large_charts_leave_the_search_small(tmp_path: Path) -> None:
    """D20: danielfrg/mkdocs-jupyter#123."""
    large = bands.draw(
        "Where does device time go?",
        [bands.Row(f"kernel_with_a_long_name_{number}_" * 4, STEP) for number in range(2000)],
        FOOTER,
    )
    out = site_build.built(tmp_path, {f"page{n}": {f"large{n}": large} for n in range(50)}, "")
    index = out / "search" / "search_index.json"
    assert index.stat().st_size < 1_000_000
    text = index.read_text(encoding="utf-8")
    assert "Words that the search should find" in text
    assert "kernel_with_a_long_name" not in text
    html = (out / "page0.html").read_text(encoding="utf-8")
    assert "1980 more rows are in the CSV file" in html


#: The rows of pixels, of those that a line of text takes, in which anything but the ground is drawn.
INK = """async ([data, top, bottom]) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + data;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const rows = [...Array(bottom - top).keys()].map(y => pen.getImageData(0, top + y, image.width, 1).data);
    const ground = pen.getImageData(1, 1, 1, 1).data;
    return [image.width, image.height, rows.filter(row => row.some((c, i) => c !== ground[i % 4])).length];
}"""


@pytest.mark.parametrize("width", [390, 1200])
def test_an_image_that_is_saved_carries_the_printed_line(
    page: Page, address: str, pages: Pages, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}first.html")
    checks.settle(page)
    saved = {}
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.click(f"#bands button >> text={kind}")
        assert download.value.suggested_filename == f"bands.{kind.lower()}"
        saved[kind] = Path(download.value.path()).read_bytes()
    text = "".join(html.unescape(re.sub(r"<[^>]+>", "", saved["SVG"].decode())).split())
    for line in lines(pages["first"])["bands"]:
        assert "".join(line.split()) in text
    whole, last = page.evaluate(
        """() => {
            const svg = document.querySelector('#bands svg'), box = e => e.getBoundingClientRect();
            const line = [...svg.querySelectorAll('tspan')].pop(), top = box(svg).top;
            return [[box(svg).width, box(svg).height], [box(line).top - top, box(line).bottom - top]];
        }"""
    )
    # A PNG has two pixels for one of the page.
    top, bottom = (round(2 * end) for end in last)
    wide, high, inked = page.evaluate(INK, [base64.b64encode(saved["PNG"]).decode(), top, bottom])
    assert (wide, high) == tuple(round(2 * side) for side in whole)
    assert inked > 10, "the last line of the footer is in it"
