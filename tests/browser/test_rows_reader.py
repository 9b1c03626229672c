"""Rows of a run in a real Chromium, from disk: what is written is what is read, and every row is reached and can be sent."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import checks
import listing_files
import pytest
import reader_site
from axe_playwright_python.sync_playwright import Axe
from bundles import call, interval, steps, write_capture
from playwright.sync_api import Page, expect

from akvsite import listings
from akvsite.listings import Column
from akvsite.pages import rows

HOSTILE = "</script><img src=x onerror=\"document.title='hit'\"> & ~"
CALLS, PIECE = 1_200, 50
#: 2,000 numbers that lie far from each other and from 0, then what no number in a browser holds, and nothing.
ODD: list[tuple[Any, ...]] = [
    *((n, (-1) ** n * (2**53 - 1 - n), n * 1_000_003, f"text {n % 7}", n / 8) for n in range(2_000)),
    (2_000, 2**63 - 1, -(2**63), HOSTILE, 0.1),
    (2_001, -(2**63), 2**53, "\ud800 \u2028 \u202e", None),
    (2_002, None, None, None, None),
    (2_003, 0, 5, "", -1.5e300),
]


def _names() -> list[str]:
    odd = {7: HOSTILE, 8: "~tilde", 9: "1..2", 10: "", 11: "x" * 3_000, 1_150: "late"}
    return [odd.get(n, f"urCall{n % 3}") for n in range(CALLS)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, bundle: str) -> Path:
    """A run with twelve steps and 1,200 calls in 24 pieces; rows of regions have lost their file."""
    folder = tmp_path_factory.mktemp("rows")
    calls = [
        call(1_000 * n, 1_000 * n + 1 + n % 5, n, name, queue="0xA" if n % 2 else None)
        for n, name in enumerate(_names())
    ]
    regions = [{"name": "r", "start_ns": 5, "end_ns": 9, "category": "region", "thread": "1"}]
    write_capture(
        folder / "captures" / "big",
        {
            "step": steps(12, 100_000),
            "level4_edge": calls,
            "level3_device": [interval(1_000 * n + 10, 1_000 * n + 30, n, f"kernel {n}") for n in range(40)],
            "level2_host": regions,
        },
        level="edge",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listings, "PIECE_ROWS", PIECE)
        out = reader_site.built(folder, folder / "captures", [rows], bundle)
    (out / "data/rows/big/regions/0.js").unlink()

    def leave(name: str, text: str) -> None:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")

    columns = [Column("at_ns", "when", origin=12_345), Column("n", "a number"), Column("name", "its name", pick=True), Column("part", "no whole number")]  # fmt: skip
    listings.write("data/odd", "Odd?", columns, [ODD], leave)
    wide = [[(n * 3_000 + k, f"{n * 3_000 + k:0150}") for k in range(3_000)] for n in range(12)]
    listings.write("data/wide", "Wide?", [Column("name", "its name")], wide, leave)
    return out


def _open(page: Page, made: Path, hash_: str = "") -> None:
    page.goto("about:blank")
    page.goto((made / "rows" / "big.html").as_uri() + hash_)
    page.wait_for_selector("[data-akv-reader-ready=yes]")


def _count(page: Page) -> Any:
    return page.locator(".akv-count")


def _places(page: Page) -> list[int]:
    return [
        int(p) for p in page.eval_on_selector_all("tr[data-place]", "rows => rows.map(r => r.dataset.place)")
    ]


def test_a_browser_reads_what_was_written(page: Page, made: Path) -> None:
    _open(page, made)
    found = page.evaluate(
        "akvRows.open('../data/odd').then(l => l.find({}, {count: 9999})).then(f => f.rows)"
    )
    files = {f"x/{file.name}": file.read_text() for file in (made / "data/odd").iterdir()}
    expected = listing_files.read(files)
    assert [row["place"] for row in found] == list(range(len(ODD)))
    for name, values in expected.items():
        assert [row[name] for row in found] == values, name
    exact = [None if row[1] is None else row[1] - 12_345 for row in ODD]
    assert [None if row["at_ns"] is None else int(row["at_ns"]) for row in found] == exact


def test_pieces_that_are_held_stay_under_their_limit(page: Page, made: Path) -> None:
    _open(page, made)
    counted = page.evaluate("akvRows.open('../data/wide').then(l => l.count({name: {has: '7'}}))")
    assert counted == {"rows": sum("7" in str(n) for n in range(36_000)), "stopped": False, "first": 7}
    held = page.evaluate("akvRows.held()")
    assert held["now"] <= 2_500_000
    assert 2_500_000 < held["most"] <= 2_500_000 + listings.PIECE_BYTES


def test_rows_are_chosen_counted_and_gone_through(page: Page, made: Path) -> None:
    _open(page, made)
    expect(_count(page)).to_have_text("12 rows shown (0 to 11) of 12, counted.")
    page.get_by_role("link", name="Runtime calls 1,200").click()
    expect(_count(page)).to_have_text("100 rows shown (0 to 99) of 1,200, counted.")
    names = _names()
    page.get_by_label("name", exact=True).select_option(label=f"urCall1 ({names.count('urCall1')})")
    expect(_count(page)).to_contain_text(f"of {names.count('urCall1')}, counted.")
    own = [n for n, name in enumerate(names) if name == "urCall1"]
    assert _places(page) == own[:100]
    page.get_by_role("button", name="next 100").click()
    expect(_count(page)).to_contain_text(f"({own[100]} to {own[199]})")
    page.get_by_role("button", name="last 100").click()
    expect(_count(page)).to_contain_text(f"({own[-100]:,} to {own[-1]:,})")
    page.get_by_role("button", name="previous 100").click()
    expect(_count(page)).to_contain_text(f"({own[-200]:,} to {own[-101]:,})")
    page.get_by_label("step", exact=True).fill("3")
    page.keyboard.press("Tab")
    expect(_count(page)).to_contain_text("33 rows shown")
    assert _places(page) == [n for n in own if 300 <= n < 400]
    # Back, and forward again.
    page.go_back()
    expect(_count(page)).to_contain_text(f"({own[-200]:,} to {own[-101]:,})")
    page.go_forward()
    expect(_count(page)).to_contain_text("33 rows shown")
    # A copied address opens the same.
    address = page.evaluate("location.hash")
    _open(page, made, address)
    assert _places(page) == [n for n in own if 300 <= n < 400]


@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ("duration_ns=5..&start_ns=..60000", [n for n in range(61) if n % 5 == 4]),
        ("name=~TILDE", [8]),
        ("name==~tilde", [8]),
        ("name==1..2", [9]),
        ("queue=!&step=0", [n for n in range(100) if n % 2 == 0]),
        ("name=urNothing", []),
        ("name==", [10]),
        ("start_ns=-..-", []),
        ("start_ns=..", []),
        ("start_ns=-5..-", []),
        ("start_ns=1100000&none=5", [1100]),
    ],
)
def test_an_address_says_what_rows_must_have(page: Page, made: Path, asked: str, places: list[int]) -> None:
    _open(page, made, f"#of=calls&{asked}")
    expect(_count(page)).to_contain_text(f"of {len(places)}, counted")
    assert _places(page) == places
    if "none" in asked:
        expect(page.locator(".akv-chosen")).to_contain_text("no column here has the name: none")


def test_a_row_in_full_leads_on(page: Page, made: Path) -> None:
    _open(page, made, "#of=calls&row=7")
    row = page.locator(".akv-row")
    expect(row).to_contain_text("Row 7 of 1,200: runtime calls")
    expect(row).to_contain_text(HOSTILE)
    row.get_by_role("link", name="Device records whose call_id is this row").click()
    expect(_count(page)).to_have_text("1 row shown (7 to 7) of 1, counted.")
    assert "kernel 7" in page.locator("tr[data-place='7']").inner_text()
    page.locator("tr[data-place='7'] td a").nth(1).click()
    expect(row).to_contain_text("Row 7 of 1,200: runtime calls")
    row.get_by_role("link", name="0", exact=True).click()
    expect(row).to_contain_text("Row 0 of 12: steps")
    assert (
        row.get_by_role("link", name="The profile of this step").get_attribute("href")
        == "../steps/big.html#step=0"
    )
    row.get_by_role("link", name="Runtime calls whose step_id is this row").click()
    expect(_count(page)).to_have_text("100 rows shown (0 to 99) of 100, counted.")
    assert page.title() != "hit"


def test_a_process_is_called_as_on_other_pages_and_its_id_is_the_key(page: Page, made: Path) -> None:
    page.goto(f"{(made / 'rows' / 'big').as_uri()}.html#of=calls&process_id=1&row=3")
    cells = page.locator("td", has_text="(id 1)")
    expect(cells.first).to_have_text(re.compile(r"^(rank|pid) .* \(id 1\)$"))
    # In the table, and in the row in full.
    assert cells.count() > 2


def test_no_two_values_of_a_filter_are_called_alike(page: Page, made: Path) -> None:
    _open(page, made)
    kernels = [
        "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<" + part + ">(" + "x" * 200 + ")"
        for part in ("a" * 40 + "Half", "a" * 40 + "Float", "b" * 40)
    ]  # fmt: skip
    # The last two differ where nothing of them is shown.
    texts = [
        *kernels,
        "plain",
        "",
        "x" * 90 + "1" + "y" * 300 + "1" + "z" * 90,
        "x" * 90 + "1" + "y" * 300 + "2" + "z" * 90,
    ]
    labels = page.evaluate("texts => akvChoice.distinct(texts, 70)", texts)
    assert len(set(labels)) == len(texts) and max(map(len, labels)) <= 76
    assert labels[3:5] == ["plain", "(empty)"]
    # What is alike in full is called alike.
    assert page.evaluate("akvChoice.distinct(['a', 'a'], 70)") == ["a", "a"]


def test_lanes_are_called_by_their_whole_names_which_overlap_no_bar(page: Page, made: Path) -> None:
    _open(page, made)
    names = [
        "queue 0x55e694a86fa0 · compute, kernel",
        "queue 0x55e694a86fa0 · compute, copy",
        "x" * 400 + "1" + "y" * 400,
        "x" * 400 + "2" + "y" * 400,
    ]
    for width, count in ((1200, 4), (390, 4), (390, 2)):
        page.set_viewport_size({"width": width, "height": 900})
        shown = page.evaluate(
            """names => {
                const box = document.querySelector('.akv-reader');
                const bar = {start: 0, end: 100, startBound: 0, endBound: 0, kind: 'k', onpick: () => 0};
                akvLanes.draw(box, {question: 'q', lanes: names.map(label => ({label, bars: [bar]}))});
                const of = one => { const r = one.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
                const labels = [...box.querySelectorAll('svg > .akv-lanes-label')];
                return {
                    words: labels.map(one => one.firstChild.textContent), labels: labels.map(of),
                    bars: [...box.querySelectorAll('.akv-lanes-bar, .akv-lanes-leads')].map(of), right: of(box)[2],
                };
            }""",
            names[:count],
        )
        assert len(set(shown["words"])) == count and shown["words"][:2] == names[:2], (width, shown["words"])
        for left, top, right, bottom in shown["labels"]:
            assert right <= shown["right"] + 1
            over = [b for b in shown["bars"] if b[0] < right and left < b[2] and b[1] < bottom and top < b[3]]
            assert not over, (width, over)


def test_keys_lead_through_the_rows_but_not_while_something_is_typed(page: Page, made: Path) -> None:
    _open(page, made, "#of=calls")
    expect(_count(page)).to_contain_text("of 1,200")
    focused = "document.activeElement.closest('tr[data-place]')?.dataset.place"
    for key, at in (("j", "0"), ("j", "1"), ("ArrowDown", "2"), ("k", "1"), ("ArrowUp", "0"), ("k", "0")):
        page.keyboard.press(key)
        assert page.evaluate(focused) == at, key
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".akv-row")).to_contain_text("Row 1 of")
    page.keyboard.press("Escape")
    expect(page.locator(".akv-row")).to_have_count(0)
    page.wait_for_function(f"{focused} === '1'")
    page.keyboard.press("n")
    expect(_count(page)).to_contain_text("(100 to 199)")
    page.keyboard.press("p")
    expect(_count(page)).to_contain_text("(0 to 99)")
    page.keyboard.press("?")
    assert page.locator(".akv-keys").evaluate("fold => fold.open")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.closest('.akv-ask') !== null")
    page.locator(".akv-ask-other input").click()
    page.keyboard.type("njk?")
    expect(_count(page)).to_contain_text("(0 to 99)")
    assert page.locator(".akv-ask-other input").input_value() == "njk?"


def test_a_long_search_says_how_far_it_is_and_can_be_stopped(page: Page, made: Path) -> None:
    _open(page, made)
    page.evaluate("""akvRows.open('../data/rows/big/calls').then(listing => {
        const own = listing.piece, gate = new Promise(open => { window.goOn = open; });
        listing.piece = number => (number < 3 ? Promise.resolve() : gate).then(() => own.call(listing, number));
    })""")
    page.evaluate("akvChoice.go('#of=calls&name=~nowhere')")
    said = page.locator(".akv-browse-said")
    expect(said).to_contain_text("Looked through 3 of 24 pieces; 0 rows found so far.")
    said.get_by_role("button", name="stop").click()
    page.evaluate("goOn()")
    expect(said).to_contain_text("Stopped: more rows may have this. “Next” looks on from there.")
    expect(_count(page)).to_contain_text("No row shown of how many is not counted.")
    page.get_by_role("button", name="next 100").click()
    expect(said).to_have_text("No row from row 200 on has this.")


def test_what_is_counted_after_a_search_was_stopped_is_shown(page: Page, made: Path) -> None:
    _open(page, made)
    page.evaluate("""akvRows.open('../data/rows/big/calls').then(listing => {
        const own = listing.piece, gate = new Promise(open => { window.goOn = open; });
        listing.piece = number => (number < 3 ? Promise.resolve() : gate).then(() => own.call(listing, number));
    })""")
    page.evaluate("akvChoice.go('#of=calls&name=~late')")
    page.locator(".akv-browse-said").get_by_role("button", name="stop").click()
    page.evaluate("goOn()")
    page.get_by_role("button", name="count them").click()
    expect(_count(page)).to_have_text("1 row shown (1,150 to 1,150) of 1, counted.")
    assert _places(page) == [1150]
    expect(page.locator(".akv-browse-said")).to_have_text("")


def test_a_search_goes_on_by_itself_until_it_has_rows_and_then_waits_to_be_asked(
    page: Page, made: Path
) -> None:
    _open(page, made)
    read: list[str] = []
    page.on("request", lambda asked: "/calls/" in asked.url and read.append(asked.url))
    page.evaluate("""akvRows.open('../data/rows/big/calls').then(listing => {
        listing.bytes = listing.bytes.map(() => 400000);
    })""")
    page.evaluate("akvChoice.go('#of=calls&name=~tilde')")
    said = page.locator(".akv-browse-said")
    expect(said).to_contain_text("Stopped: more rows may have this.")
    expect(_count(page)).to_contain_text("1 row shown (8 to 8) of how many is not counted.")
    assert len([url for url in read if not url.endswith("index.js")]) == 3
    said.get_by_role("button", name="look through all").click()
    expect(_count(page)).to_have_text("1 row shown (8 to 8) of 1, counted.")
    assert len({url for url in read if not url.endswith("index.js")}) == 24
    # Nothing to show so far: it looks on, whatever that loads.
    page.evaluate("akvChoice.go('#of=calls&name=~late')")
    expect(_count(page)).to_have_text("1 row shown (1,150 to 1,150) of 1, counted.")
    page.evaluate("akvChoice.go('#of=calls&name=~nowhere')")
    expect(said).to_have_text("No row has this.")


def test_what_cannot_be_read_is_said_in_a_line(page: Page, made: Path) -> None:
    _open(page, made, "#of=regions")
    said = page.locator(".akv-browse-said")
    expect(said).to_have_text("These rows could not be read: regions/0.js could not be loaded.")
    for of, line in (
        ("phases", "Runner phases: none on record; level runner adds runner phases, requests and tokens."),
        ("nothing", "No kind of rows has the name “nothing”."),
        ("constructor", "No kind of rows has the name “constructor”."),
        ("calls&row=5000", "There is no row 5,000: the last is 1,199."),
    ):
        page.evaluate("hash => akvChoice.go(hash)", f"#of={of}")
        expect(said).to_have_text(line)


def test_the_csv_file_has_the_rows_shown_and_says_what_they_are(page: Page, made: Path) -> None:
    _open(page, made, "#of=calls&step=0&name=~t")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of the rows shown").click()
    assert download.value.suggested_filename == "big-calls-7.csv"
    found = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert [row["row"] for row in found] == [
        str(n) for n, name in enumerate(_names()[:100]) if "t" in name.lower()
    ]
    assert {(row["run"], row["level"], row["start_ns counts from"]) for row in found} == {
        ("big", "edge", "0")
    }
    assert found[0]["name"] == HOSTILE
    stamped = page.evaluate("""akvRows.open('../data/rows/big/calls').then(l => l.find({}, {count: 1}).then(f =>
        akvRowsTable.csv(l, [Object.assign(f.rows[0], {name: '=1+1'})], {run: 'r', level: 'off', use: 'u', stamps: ['RETRACTED x']})))""")
    (row,) = csv.DictReader(io.StringIO(stamped))
    assert (row["name"], row["retracted"]) == ("'=1+1", "RETRACTED x")


def test_rows_are_sorted_among_those_shown_and_that_is_said(page: Page, made: Path) -> None:
    _open(page, made, "#of=calls&step=0")
    page.get_by_role("button", name="duration_ns").click()
    places = _places(page)
    assert places == sorted(places, key=lambda n: (n % 5, n))
    expect(page.locator(".akv-browse-said")).to_contain_text(
        "100 rows shown, among each other, and no others"
    )


@pytest.mark.parametrize(("width", "scheme"), [(1200, "default"), (390, "slate")])
def test_rows_can_be_read_and_reached(page: Page, made: Path, width: int, scheme: str) -> None:
    watch = checks.Watch(page, made.as_uri())
    page.set_viewport_size({"width": width, "height": 900})
    _open(page, made, "#of=calls&duration_ns=5..&start_ns=..20000&row=7")
    expect(page.locator(".akv-row")).to_be_visible()
    expect(_count(page)).to_contain_text("counted")
    checks.use_scheme(page, scheme)
    checks.assert_no_overflow(page)
    found = Axe().run(page, context=".akv-reader").response["violations"]
    assert not found, [(one["id"], one["nodes"][0]["html"]) for one in found]
    assert "level edge" in page.locator(".akv-notes").inner_text()
    assert not watch.strays
