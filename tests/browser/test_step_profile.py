"""The profile of one step in a real Chromium, from disk: its budget to the nanosecond, queues, gaps, and what is not known."""

from __future__ import annotations

import shutil
from pathlib import Path

import checks
import pytest
import reader_site
import site_build
from bundles import ask, call, interval, steps, write_capture
from playwright.sync_api import Page, expect

from akvsite.pages import rows
from akvsite.pages import steps as step_pages

#: A capture whose steps a probe and a profiler drew both; the calls and device records are the profiler's.
TWO_TOOLS = "overlap-trace-h200-small-copies"
HOSTILE = "<img src=x onerror=\"document.title='hit'\">"


def host(
    name: str, start: int, end: int | None, category: str = "region", **more: object
) -> dict[str, object]:
    return {"name": name, "start_ns": start, "end_ns": end, "thread": "1", "category": category, **more}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, bundle: str) -> Path:
    """``whole`` has every level and full sight, ``unseen`` lacks a record, ``bare`` has steps alone."""
    folder = tmp_path_factory.mktemp("profile")
    captures = folder / "captures"
    regions = [
        # Regions that overlap: each moment is given to the one that began first. The last goes on after the step.
        host("layer 0", 100_100, 100_701, "layer", layer=0), host(HOSTILE, 100_100, 100_403), host("mlp", 100_301, 100_607),
        host("tail", 100_900, 101_200), host("before", 99_500, 99_990), host("layer 0", 101_300, 101_500, "layer", layer=0),
    ]  # fmt: skip
    calls = [
        call(100_011, 100_020, 1), call(100_031, 100_040, 2), call(100_051, 100_060, 3, "cudaMemcpyAsync"), call(100_700, 100_880, 4),
        call(101_011, 101_020, 5),
    ]  # fmt: skip
    records = [
        interval(100_020, 100_420, 1), interval(100_520, 100_620, 2), interval(100_320, 100_570, 3, name="HtoD", kind="copy", queue="9"),
        interval(100_917, 100_950, 4), interval(101_020, 101_100, 5),
    ]  # fmt: skip
    drawn = [
        row | {"start_ns": 100_000 + row["start_ns"], "end_ns": 100_000 + row["end_ns"]}
        for row in steps(3, 1000)
    ]
    drawn[2]["end_ns"] = None
    phases = [{"name": "launch", "start_ns": 100_005, "end_ns": 100_890, "thread": "1"}]
    tables = {
        "step": drawn,
        "level1_runner": phases,
        "level2_host": regions,
        "level4_edge": calls,
        "level3_device": records,
    }
    write_capture(captures / "whole", tables, level="edge")
    write_capture(
        captures / "unseen", {**tables, "level4_edge": [*calls, call(101_500, 101_510, 99)]}, level="edge"
    )
    write_capture(captures / "bare", {"step": drawn})
    spans = [
        interval(start, end, None, name="span", kind="span")
        for start, end in ((100_500, 101_400), (101_300, 101_900), (99_000, 99_900))
    ]
    write_capture(captures / "spans", {"step": drawn, "level3_device": spans}, level="device")
    own = [
        row
        | {"start_ns": row["start_ns"] + 7_000_000, "end_ns": row["end_ns"] + 7_000_000, "clock": "device"}
        for row in records
    ]
    write_capture(
        captures / "apart", {"step": drawn, "level4_edge": calls, "level3_device": own}, level="edge"
    )
    shutil.copytree(site_build.ROOT / "captures" / TWO_TOOLS, captures / TWO_TOOLS)
    return reader_site.built(folder, captures, (rows, step_pages), bundle)


def opened(page: Page, made: Path, choice: str = "", run: str = "whole") -> Page:
    page.goto(f"{(made / 'steps' / run).as_uri()}.html{choice}")
    page.wait_for_selector("[data-akv-reader-ready=yes]")
    return page


def table(page: Page, caption: str) -> list[list[str]]:
    found: list[list[str]] = page.evaluate(
        """caption => [...document.querySelectorAll('.akv-reader table')].filter(t => t.caption.textContent.startsWith(caption))
            .flatMap(t => [...t.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)))""",
        caption,
    )
    return found


def said(page: Page) -> str:
    return page.locator(".akv-reader").inner_text()


def test_the_budget_is_that_of_the_question_to_the_nanosecond(page: Page, made: Path) -> None:
    watch = checks.Watch(page, made.as_uri())
    opened(page, made)
    expected = ask(
        made.parent / "akvsite.db",
        "SELECT region, ns FROM step_budget b JOIN run r ON r.id = b.run_id JOIN step s ON s.id = b.step_id"
        " WHERE r.name = 'whole' AND s.number = 0 ORDER BY ns DESC",
    )
    found = table(page, "Where the host's time went")
    assert [line[:2] for line in found[:-2]] == [[row["region"], f"{row['ns']} ns"] for row in expected]
    rest = 1000 - sum(row["ns"] for row in expected)
    assert found[-2][:2] == ["remainder: not attributed", f"{rest} ns"] and rest == 1000 - 303 - 204 - 100
    assert table(page, "Layer windows") == [["0", "601 ns", "94 ns", f"{HOSTILE} 303 ns, mlp 204 ns"]]
    assert table(page, "Runner phases") == [["launch", "5 ns", "885 ns"]]
    assert page.title() != "hit" and "One record, no estimate." in said(page)
    watch.assert_clean()


def test_copies_against_kernels_stay_open(page: Page, made: Path) -> None:
    opened(page, made)
    caption = "Copies against kernels in the step: seen in an instrumented capture, open until a control"
    assert table(page, caption) == [["0", "3: 533 ns", "1: 250 ns", "150 ns, 60.0 % of the shorter"]]


def test_gaps_stand_with_what_was_on_the_host_then(page: Page, made: Path) -> None:
    opened(page, made)
    found = table(page, "Gaps on the device's queues")
    assert found[::2] == [
        ["297 ns", "7 of device 0", "620 ns, unproven"],
        ["100 ns", "7 of device 0", "420 ns, unproven"],
    ]
    assert (
        found[1][0]
        == "on the host at that time: phases: launch (270 ns); regions: layer 0 (81 ns), tail (17 ns); calls: cudaLaunchKernel (180 ns)"
    )
    assert "at that time, which does not say that it is why" in said(page)
    # Of the next step: a gap that began in this one.
    opened(page, made, "#step=1")
    assert table(page, "Gaps on the device's queues")[0][:3] == ["70 ns", "7 of device 0", "-50 ns, unproven"]


def test_a_gap_leads_to_its_row_and_on_to_the_record_that_ends_it(page: Page, made: Path) -> None:
    opened(page, made)
    page.locator("td a", has_text="297 ns").click()
    page.wait_for_url("**/rows/whole.html#of=gaps&*")
    row = page.locator(".akv-row")
    expect(row).to_contain_text("gaps between the device records of a queue")
    expect(page.locator(".akv-notes")).to_contain_text("told by the record that ends it")
    row.locator("tr", has_text="interval_id").get_by_role("link").click()
    expect(row).to_contain_text("device records")
    expect(
        row.get_by_role(
            "link", name="Gaps between the device records of a queue whose interval_id is this row"
        )
    ).to_be_visible()
    # What is not known to be a gap is no row of any kind.
    page.goto(f"{(made / 'rows' / 'unseen').as_uri()}.html#of=gaps")
    expect(page.locator(".akv-browse-said")).to_contain_text(
        "not known to be idle, and no gap is told: not every record was seen"
    )


def test_without_full_sight_no_gap_is_told(page: Page, made: Path) -> None:
    opened(page, made, run="unseen")
    assert table(page, "Gaps") == []
    assert "is not known to be idle, and no gap is told: not every record was seen" in said(page)
    assert "Not everything that ran is known to be in the records" in said(page)


def test_records_without_a_place_on_the_axis_of_the_host_are_drawn_apart(page: Page, made: Path) -> None:
    opened(page, made, run="apart")
    drawings = page.locator(".akv-profile-drawing")
    assert drawings.count() == 2
    assert "by the device's own clock?" in drawings.nth(1).inner_text()
    assert "queue" not in drawings.nth(0).locator("svg").inner_html()
    gap, below = table(page, "Gaps on the device's queues")[:2]
    assert gap[2] == "has no place on the host's axis"
    assert below == ["on the host at that time: unknown, since the gap has no place on the host's axis"]
    # By its own clock what it covers is known all the same.
    assert table(page, "Copies against kernels")[0][3] == "150 ns, 60.0 % of the shorter"


def test_steps_that_two_tools_drew_are_read_together(page: Page, made: Path) -> None:
    opened(page, made, "#step=1", TWO_TOOLS)
    assert (
        "Another source drew the same iteration: its rows are here too (engine annotation: decode.step.1, row "
        in said(page)
    )
    (kernels,) = ask(
        made.parent / "akvsite.db",
        "SELECT d.kernels, d.copies FROM step_device d JOIN run r ON r.id = d.run_id JOIN step s ON s.id = d.step_id"
        f" WHERE r.name = '{TWO_TOOLS}' AND s.number = 1",
    )
    (line,) = table(page, "Copies against kernels")
    assert line[1].startswith(f"{kernels['kernels']}: ") and line[2].startswith(f"{kernels['copies']}: ")
    assert table(page, "Where the host's time went, in the step that engine annotation drew")
    assert len(table(page, "Gaps on the device's queues")) == 2 * 12


def test_a_step_without_records_has_no_gaps_to_tell(page: Page, made: Path) -> None:
    opened(page, made, "#step=2")
    assert "No record of work on the device belongs to this step" in said(page)
    assert "Stretches without a record" not in said(page) and "not longer than two ticks" not in said(page)


def test_stretches_between_timing_events_are_drawn_as_what_they_are(page: Page, made: Path) -> None:
    opened(page, made, "#step=0", "spans")
    bars = page.locator(".akv-lanes-one[aria-label^='between two timing events, not work']")
    # Of three one lies in the step in part, and one ended before it.
    assert bars.count() == 1
    assert "1 stretch between two timing events that lies in the time of this step is on record" in said(page)
    assert "work and waiting lie in it alike" in page.locator("svg.akv-lanes").text_content()


def test_a_click_further_down_brings_the_drawing_into_sight(page: Page, made: Path) -> None:
    page.set_viewport_size({"width": 900, "height": 500})
    opened(page, made)
    assert "Nothing was chosen: this is the longest step after the cut." in said(page)
    link = page.locator("td a[href='#step=1']").first
    link.scroll_into_view_if_needed()
    expect(page.locator(".akv-profile-said")).not_to_be_in_viewport()
    link.click()
    expect(page.locator(".akv-profile-said")).to_contain_text("step.1")
    expect(page.locator(".akv-profile-said")).to_be_in_viewport()
    assert "Nothing was chosen" not in said(page)


def test_missing_levels_are_named(page: Page, made: Path) -> None:
    watch = checks.Watch(page, made.as_uri())
    opened(page, made, run="bare")
    for level in ("Level host would tell", "Level runner would tell", "Level device would tell"):
        assert level in said(page)
    assert page.locator(".akv-lanes-one").count() >= 1
    watch.assert_clean()


def test_a_step_is_chosen_by_address_buttons_and_keyboard(page: Page, made: Path) -> None:
    opened(page, made, "#step=1")
    status = page.locator(".akv-profile-said")
    expect(status).to_contain_text("step.1")
    page.get_by_role("button", name="next step").press("Enter")
    expect(status).to_contain_text("step.2")
    expect(status).to_contain_text("no end on record")
    assert page.url.endswith("#step=2") and page.get_by_role("button", name="next step").is_disabled()
    page.go_back()
    expect(status).to_contain_text("step.1")
    page.locator("td a", has_text="step.0").first.click()
    expect(status).to_contain_text("step.0")
    page.evaluate("location.hash = '#step=77'")
    expect(status).to_contain_text("names no step of this run")


def test_numbers_lead_to_their_rows(page: Page, made: Path) -> None:
    opened(page, made)
    page.locator("td a", has_text="mlp").click()
    page.wait_for_url("**/rows/whole.html#*")
    assert "of=regions" in page.url and "step_id=0" in page.url and "name=mlp" in page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(page: Page, made: Path, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 390, "height": 900})
    opened(page, made)
    checks.assert_no_overflow(page)
    # What the host did beside a gap is read without a move to the side.
    gaps = page.get_by_role("group", name="Gaps on the device's queues")
    assert gaps.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert checks.axe_ids(page) == set()
