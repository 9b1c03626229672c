"""Runtime calls on their page, in a real Chromium, from disk: what is associated with each, what stands alone, pages of a name."""

from __future__ import annotations

from pathlib import Path

import checks
import pytest
import reader_site
import two_tools
from akvlogs import AkvLog
from axe_playwright_python.sync_playwright import Axe
from bundles import call, interval, steps, write_capture
from playwright.sync_api import Page, expect

from akvsite import listings
from akvsite.pages import calls, rows

HOSTILE = "<img src=x onerror=\"document.title='hit'\"> k"
#: Calls that fill more than two pages of 200.
MANY = 450


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, bundle: str) -> Path:
    """``whole``: three steps of 10 us; ``hung``: without steps, with waits; ``both``: two tools, one process."""
    folder = tmp_path_factory.mktemp("calls")
    captures = folder / "captures"
    write_capture(
        captures / "whole",
        {
            "step": [*steps(2, 10_000), {**steps(3, 10_000)[2], "end_ns": None, "number": 1}],
            "level4_edge": [
                call(1_000, 1_500, 1),
                call(3_000, 3_500, 2, HOSTILE),
                call(4_000, 9_000, 3, "cudaGraphLaunch", kind="graph replay"),
                call(9_500, 9_600, None, "cudaMalloc", kind="other"),
                call(9_700, 9_900, None, "cudaStreamSynchronize", kind="wait", queue="7"),
                *(call(10_000 + 10 * n, 10_005 + 10 * n, 100 + n, "cudaMemcpyAsync") for n in range(MANY)),
            ],
            "level3_device": [
                interval(400, 2_000, 1),
                interval(2_500, 2_700, 999, HOSTILE),
                *(interval(at, at + 1_000, 3) for at in (5_000, 7_000, 7_500)),
                *(
                    interval(10_002 + 10 * n, 10_004 + 10 * n, 100 + n, "copy", kind="copy")
                    for n in range(200)
                ),
            ],
        },
        level="edge",
    )
    log = AkvLog(["urEnqueueKernelLaunch", "urEventWait"], closed=False)
    log.call(0, enter=2_000, exit=2_100, queue=0x10, event=0xE0)
    log.call(1, enter=2_200, exit=2_900, waits=[0xE0, 0xE7])
    log.call(0, enter=3_000, open=True, queue=0x10)
    _declared(captures / "hung", log.write)
    _declared(captures / "both", two_tools.shim, two_tools.vendor)
    with pytest.MonkeyPatch.context() as patch:
        # As of a run that is a hundred times as large.
        patch.setattr(listings, "PIECE_ROWS", 16)
        return reader_site.built(folder, captures, (rows, calls), bundle)


def _declared(folder: Path, *write: object) -> None:
    folder.mkdir()
    lines = ["format = 1", f'name = "{folder.name}"', 'level = "edge"', '[host]\nname = "h"\nrole = "dev"']
    for name, one in zip(("a.akvlog", "b.json"), write, strict=False):
        one(folder / name)  # type: ignore[operator]
        lines.append(f'[[file]]\npath = "{name}"')
    (folder / "capture.toml").write_text("\n".join(lines) + "\n")


def opened(page: Page, made: Path, choice: str = "", run: str = "whole") -> Page:
    page.goto(f"{(made / 'calls' / run).as_uri()}.html{choice}")
    page.wait_for_selector("[data-akv-reader-ready=yes]")
    return page


def table(page: Page, label: str = "calls") -> list[dict[str, str]]:
    """The rows of one of the reader's tables, each by the heads of its columns."""
    found: list[dict[str, str]] = page.evaluate(
        """label => {
            const table = document.querySelector(`.akv-reader [aria-label="${label}"] table`);
            const heads = [...table.tHead.rows[0].cells].map(cell => cell.textContent);
            return [...table.tBodies[0].rows].map(row =>
                Object.fromEntries([...row.cells].map((cell, n) => [heads[n], cell.textContent])));
        }""",
        label,
    )
    return found


DELAY = "from its start to the first of theirs"


def test_the_calls_of_a_step_with_what_is_associated_with_each(page: Page, made: Path) -> None:
    watch = checks.Watch(page, made.as_uri())
    opened(page, made, "#step=0")
    assert [row["row"] for row in table(page)] == ["0", "1", "2", "4"]
    assert (
        "1 call of it left out: of such no device record is expected, and none waits"
        in page.locator(".akv-said").inner_text()
    )
    page.get_by_role("link", name="All calls of the step").click()
    expect(page.locator(".akv-said")).to_contain_text("1 to 5 of 5 calls of step 0")
    first, lost, replay, other, wait = table(page)
    assert first["device records"] == "1, by correlation id" and first["time inside"] == "500 ns"
    assert first[DELAY] == "-600 ns, bound unknown: begins before its call on this axis, kept as it is"
    assert (lost["call"], lost["device records"], lost[DELAY]) == (HOSTILE, "none on record", "")
    # One call, whose records overlap for half a microsecond.
    assert replay["device records"] == "3, by correlation id; all of this one call, covering 2.5 us"
    assert (replay["time inside"], replay[DELAY]) == ("5 us", "1 us, bound unknown")
    assert other["device records"] == "none expected"
    assert (wait["time inside"], wait["waits for"]) == ("200 ns, holding the host", "queue 7, no event named")
    said = (
        "1 call of this step held the host, by name or by request: 200 ns inside them, added up over threads"
    )
    assert said in page.locator(".akv-reader").inner_text()
    alone = page.locator(".akv-alone").inner_text()
    assert f"1 of those shown are expected to have one and have none on record (1 {HOSTILE})" in alone
    (record,) = table(page, "device records with no call")
    assert (record["name"], record["associated by"], record["call"]) == (HOSTILE, "nothing", "none on record")
    assert page.title() != "hit"
    watch.assert_clean()


def test_the_drawing_joins_what_is_associated_and_says_no_more(page: Page, made: Path) -> None:
    opened(page, made, "#step=0")
    titles = page.locator(".akv-lanes-link title").all_text_contents()
    assert titles == ["associated by correlation id"] * 4
    assert page.locator(".akv-lanes marker, .akv-lanes [marker-end]").count() == 0
    text = " ".join(page.locator(".akv-lanes text").all_text_contents())
    for lane in ("thread 1", "thread 1 · no device record", "queue 7 · kernel", "queue 7 · kernel · no call"):
        assert lane in text
    assert "Which calls of step 0 are associated with which device records?" in text
    assert "run whole on bench" in text and "kernels 1 of 2 launched" in text.replace("  ", " ")
    assert "caus" not in page.locator(".akv-reader").inner_text().lower().replace("causality", "")


def test_calls_of_a_name_come_page_by_page_and_the_page_is_in_the_address(page: Page, made: Path) -> None:
    opened(page, made, "#name=cudaMemcpyAsync")
    said = page.locator(".akv-said")
    expect(said).to_contain_text("1 to 200 of 450 rows of this name")
    assert len(table(page)) == 200 and table(page)[0]["row"] == "5"
    page.get_by_role("button", name="Last").click()
    expect(said).to_contain_text("401 to 450 of 450")
    assert page.url.endswith("#name=cudaMemcpyAsync&page=3")
    assert [row["row"] for row in table(page)] == [str(n) for n in range(405, 455)]
    assert page.get_by_role("button", name="Next").is_disabled()
    page.get_by_role("button", name="Previous").click()
    expect(said).to_contain_text("201 to 400 of 450")
    page.go_back()
    expect(said).to_contain_text("401 to 450 of 450")
    page.get_by_label("Calls of a name").select_option("cudaGraphLaunch")
    expect(said).to_contain_text("1 to 1 of 1 rows of this name")
    assert page.url.endswith("#name=cudaGraphLaunch")


def test_no_more_files_are_read_than_a_page_needs_until_its_reader_asks(page: Page, made: Path) -> None:
    """200 calls with a record each, in 13 pieces of 16 records: one more than are read at once."""
    read: list[str] = []
    page.on("request", lambda asked: "/rows/" in asked.url and read.append(asked.url))
    opened(page, made, "#name=cudaMemcpyAsync")
    assert "1 more file of rows, not read so far" in page.locator(".akv-reader").inner_text()
    # No call is said to have no record where none was looked for.
    unread = [row for row in table(page) if row["device records"] == "1, not looked up"]
    assert 0 < len(unread) <= 16 and all(row[DELAY] == "" for row in unread)
    assert "none of those shown" in page.locator(".akv-alone").inner_text()
    assert len([url for url in read if "/intervals/" in url and "index" not in url]) == 12
    page.get_by_role("button", name="Read further").click()
    expect(page.get_by_role("button", name="Read further")).to_have_count(0)
    assert {row["device records"] for row in table(page)} == {"1, by correlation id"}
    # The last page of 50 calls lies in the last four or five pieces of the listing.
    read.clear()
    page.get_by_role("button", name="Last").click()
    expect(page.locator(".akv-said")).to_contain_text("401 to 450 of 450")
    assert 4 <= len([url for url in read if "/calls/" in url]) <= 5
    assert {row["device records"] for row in table(page)} == {"none on record"}


def test_two_rows_of_one_call_are_one_call(page: Page, made: Path) -> None:
    """The recorder's two launches are the vendor's, whose device records are theirs; one of its calls lies inside another."""
    opened(page, made, "#step=0", run="both")
    found = table(page)
    launches = [row for row in found if row["call"] == "__cudaLaunchKernel"]
    assert [row["row"].endswith(": one call") for row in launches] == [True, True]
    assert [row["device records"] for row in launches] == [
        "1, by correlation id, of the same call at the other tool"
    ] * 2
    # 5,500 and 7,000 less 5,020 and 6,020, by the vendor's own row.
    assert [row[DELAY] for row in launches] == ["480 ns, bound unknown", "980 ns, bound unknown"]
    assert not [row for row in found if row["call"] == "cudaLaunchKernel"]
    assert [row["kind"] for row in found if row["call"] == "cuLaunchKernelEx"] == [
        "launch, inside another call"
    ]


def test_a_call_that_hung_and_a_wait_for_events(page: Page, made: Path) -> None:
    opened(page, made, "#call=1", run="hung")
    launch, wait, hung = table(page)
    assert wait["why it is here"] == "the call chosen" and wait["time inside"] == "700 ns, holding the host"
    assert wait["waits for"] == "events of call 0; 1 whose call is not known"
    assert launch["why it is here"] == "it waited for an event of this one"
    assert hung["time inside"] == "never returned"
    assert page.locator(".akv-lanes-open").count() == 1
    assert page.locator("tr[aria-current=true] td").first.inner_text() == "1"
    # Without steps there is none to choose; a bar leads to its call.
    assert page.get_by_label("of the step with number").count() == 0
    page.locator(".akv-lanes-one[aria-label*='row 0']").focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr[aria-current=true] td").first).to_have_text("0")
    assert page.url.endswith("#call=0")


def test_what_is_shown_where_nothing_was_chosen_is_said(page: Page, made: Path) -> None:
    for run, said in (
        ("whole", "this is the longest step that has calls"),
        ("hung", "these are the calls of the first name that launches"),
    ):
        opened(page, made, run=run)
        assert page.locator(".akv-status").inner_text().startswith(f"Nothing was chosen: {said}"), run
    page.evaluate("akvChoice.go('#call=1')")
    expect(page.locator(".akv-status")).to_have_text("")


@pytest.mark.parametrize(
    "choice, said",
    [
        ("#call=999", "There is no call 999 in this run."),
        ("#step=0&page=99", "There is no page 99 of the calls of this step: it has 1 page."),
        ("#step=77", "There is no step in row 77 of this run."),
        ("#name=nothing", "There is no call of that name, or no such page of them, in this run: nothing."),
    ],
)
def test_what_is_not_there_is_said(page: Page, made: Path, choice: str, said: str) -> None:
    opened(page, made, choice)
    assert page.locator(".akv-status").inner_text() == said


def test_a_step_without_an_end_leaves_open_what_lies_in_it(page: Page, made: Path) -> None:
    opened(page, made, "#step=2")
    assert "the step has no end on record" in page.locator(".akv-said").inner_text()
    assert "not known, since the step has no end on record" in page.locator(".akv-alone").inner_text()


def test_a_step_is_chosen_by_its_number_and_of_several_none_is_meant(page: Page, made: Path) -> None:
    opened(page, made, "#step=0")
    page.get_by_label("of the step with number").fill("1")
    page.keyboard.press("Enter")
    expect(page.locator(".akv-reader")).to_contain_text(
        "2 steps have number 1: row 1 (engine counter), row 2"
    )
    assert page.url.endswith("#step=1")


@pytest.mark.parametrize("width, scheme", [(1200, "default"), (390, "slate")])
def test_it_can_be_read_and_reached(page: Page, made: Path, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, made)
    checks.use_scheme(page, scheme)
    checks.assert_no_overflow(page)
    found = Axe().run(page, context=".akv-reader")
    assert not found.response["violations"], found.generate_report()
