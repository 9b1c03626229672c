"""The page of a run's runtime calls: how they are associated with device records, and what stands alone on either side."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import two_tools
import words
from bundles import call, interval, read_in, steps, write_capture

from akvsite import site
from akvsite.pages import _call_tables, calls
from akvsite.store import Store

Page = Callable[..., dict[str, str]]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The pages of runtime calls of a store that holds these captures, by their paths, as text that is seen."""

    def made(*paths: Path, name: str | None = None) -> dict[str, str]:
        store = tmp_path / "akvsite.db"
        read_in(store, *paths, run=name)
        with Store.open(store) as opened:
            site.take_notes(opened, tmp_path)
            written = list(calls.write(site.SiteDesk(opened, lambda name, content: None)))
        found = {each.path: " ".join(words.of_page(each.text).split()) for each in written}
        for text in found.values():
            assert words.VERDICT.search(words.RULE.sub("", text)) is None
        return found

    return made


def test_the_records_of_a_call_on_record_twice_are_those_of_one_call(page: Page, tmp_path: Path) -> None:
    """Of the recorder's three launches two are the vendor's as well; one began later, and one lies inside another."""
    text = page(*two_tools.both(tmp_path), name="both")["calls/both"]
    # 480 and 980 ns by the vendor's rows, which have the records; the recorder's rows have no delay of their own.
    assert "launch vendor 2 of 2 480 ns no band" in text and "980 ns no band" in text
    assert (
        "launch shim 2 of 3 with the vendor's row with the vendor's row 2 correlation id, of the same call"
        in text
    )
    assert "A call that two tools recorded is two rows with the same device records: one call." in text
    # The copy was made while the tracer was on; the last launch after its last call.
    assert "copy: 0 of 1, kernel: 2 of 2" in text
    assert "launch 1 the device records are those of the vendor's tracer, which has no such call" in text
    assert "launch 1 inside another recorded call, which stands for both" in text


def test_calls_without_a_record_lead_to_as_many_rows_as_are_counted(tmp_path: Path) -> None:
    """The recorder's rows of a call that the vendor has too hold no record of their own, and are not without one."""
    read_in(tmp_path / "akvsite.db", *two_tools.both(tmp_path), run="both")
    with Store.open(tmp_path / "akvsite.db") as opened:
        site.take_notes(opened, tmp_path)
        desk = site.SiteDesk(opened)
        counts = desk.ask("call_alone")
        assert sum(r["calls"] for r in counts) == 3
        for row in counts:
            own = {name: row[name] for name in ("run_id", "source", "kind", "name")}
            assert len(desk.ask("row_call", **own, no_record=row["because"])) == row["calls"]


def test_what_stands_alone_is_told_with_what_is_on_record_of_it(page: Page, tmp_path: Path) -> None:
    tables = {
        "level4_edge": [
            call(0, 10, 1),
            call(20, 30, None, result=-5),
            call(40, 50, None),
            call(60, 70, None, "cudaMalloc", kind="other"),
        ],
        "level3_device": [
            interval(5, 8, 1),
            interval(25, 28, 9),
            {**interval(50, 60, None), "kind": "span", "clock": "device"},
        ],
    }
    text = page(write_capture(tmp_path / "alone", tables, level="edge"))["calls/alone"]
    assert "launch 1 of 3 5 ns no band" in text
    assert "launch 1 did not succeed" in text and "launch 1 nothing is known of it" in text
    assert "kernel as the vendor converted them 1 of 2 1 0" in text
    assert (
        "span by its own clock 0 of 1 1 (a stretch between two timing events, which belongs to no call) 1"
        in text
    )
    assert "1 call of 1 other name are expected to have no device record, and have none." in text
    assert "In which step a call was made is not known" in text


def test_runs_without_calls_are_counted_and_have_no_page(page: Page, tmp_path: Path) -> None:
    kernels = write_capture(tmp_path / "kernels", {"level3_device": [interval(0, 10, None)]}, level="device")
    unseen = write_capture(tmp_path / "unseen", {"level4_edge": [call(0, 10, None)]}, level="edge")
    found = page(kernels, unseen)
    assert set(found) == {"calls", "calls/unseen"}
    assert "unseen edge dev 1 0 of 1 none recorded" in found["calls"]
    assert "1 run more: no runtime call on record." in found["calls"]
    assert "What ran on the device for a call is not known" in found["calls/unseen"]
    # What was not recorded is no number.
    assert (
        "launch 0 of 1 no device record no device record none recorded none associated"
        in found["calls/unseen"]
    )


def test_where_nothing_is_chosen_the_longest_step_with_calls_opens(tmp_path: Path) -> None:
    drawn = steps(4, 1000)
    # Longest without a call, then the one that is meant, which ends last.
    drawn[1]["end_ns"] += 300
    drawn[3]["end_ns"] += 200
    made = [call(10, 20, 1), call(2500, 2520, 2), call(3010, 3050, 3)]
    folder = write_capture(tmp_path / "lengths", {"step": drawn, "level4_edge": made}, level="edge")
    read_in(tmp_path / "akvsite.db", folder)
    with Store.open(tmp_path / "akvsite.db") as opened:
        (page,) = [
            p.text
            for p in calls.write(site.SiteDesk(opened, lambda name, content: None))
            if p.path == "calls/lengths"
        ]
    about = json.loads(html.unescape(page.partition('data-akv-reader-about="')[2].partition('"')[0]))
    assert about["first"] == 3


def test_a_call_with_an_empty_name_can_be_reached() -> None:
    assert _call_tables._name("").html == '<a href="#name="><code>&#40;empty&#41;</code></a>'
