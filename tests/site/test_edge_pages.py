"""The sections of a run page that show runtime calls, and what is left of them where a level is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import two_tools
import words
from akvlogs import AkvLog
from bundles import call, interval, read_in, steps, write_capture

from akvsite import site
from akvsite.pages import run
from akvsite.store import Store

Page = Callable[..., str]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The one run page of a store that holds these captures, as text that is seen."""

    def made(*paths: Path, name: str | None = None) -> str:
        store = tmp_path / "akvsite.db"
        read_in(store, *paths, run=name)
        with Store.open(store) as opened:
            site.take_notes(opened, tmp_path)
            (written,) = run.write(site.SiteDesk(opened, lambda name, content: None))
        assert words.VERDICT.search(words.RULE.sub("", words.of_page(written.text))) is None
        return words.of_page(written.text)

    return made


def engine(path: Path, read: int = 905, **header: Any) -> Path:
    names = ["urKernelCreate", "urEnqueueKernelLaunch", "urEventWait", "urEventRelease", "urQueueFinish"]
    log = AkvLog(names, closed=False, counts={3: 5}, header=header)
    log.call(0, enter=1_000, exit=1_100, object=0xA0)
    log.object(0xA0, log.add_name("attention", 2))
    for number in range(4):
        at = 2_000 + 1_000 * number
        made = log.call(1, enter=at, exit=at + 100, queue=0x10, event=0xE0 + number, object=0xA0)
        log.device(made, 0xE0 + number, queued=at, submitted=at + 5, start=at + 20, end=at + 90)
        log.call(2, enter=at + 200, exit=at + 700, waits=[0xE0 + number])
        if number:
            log.call(3, enter=at + 800, exit=at + 810, object=0xE0 + number)
    log.clock(900, 910, device=0xD0, device_time=read, resolution=52)
    log.call(4, enter=9_000, open=True, queue=0x10)
    return log.write(path)


def test_a_run_of_the_recorder_shows_its_calls(page: Page, tmp_path: Path) -> None:
    text = page(engine(tmp_path / "a.akvlog"))
    for title in (
        "Calls on the host's axis", "Runtime calls", "The longest calls", "Entered and never returned", "Host waits",
        "Handles", "What the recorder says of itself", "From submission to start",
    ):  # fmt: skip
        assert f"## {title}" in text, title
    assert "p50 needs" not in text and "n 4 < 200" in text
    assert "(its own clock)" in text
    # One reading within 10 ns, of a counter of 52 ns, and four waits; a record lies somewhere in its own tick as well.
    assert "on the host's axis bounded" in " ".join(text.split()) and "clock ±60 ns (widest 60 ns)" in text
    assert "## From call to device" in text and "Below the calls: 3 device records of theirs" in text
    # 4 events and a kernel were made; 3 events were released.
    assert " event shim 4 0 3 " in " ".join(text.split())
    assert "counted only: neither its time nor what it did 5" in " ".join(text.split())


def test_clocks_that_contradict_each_other_convert_nothing(page: Page, tmp_path: Path) -> None:
    """The device's clock was read as 904 ns earlier than its own kernels can have it."""
    text = " ".join(page(engine(tmp_path / "a.akvlog", read=1)).split())
    assert "on the host's axis inconsistent: no clock within the stated slope and wander" in text
    assert "No device record is on this axis" in text
    assert "From call to device" not in text and "±" not in text
    assert "constant bias that nothing would show constant bias: not told" in text
    assert "before their call unknown: they are not on the host's axis" in text


def test_the_axes_of_two_tools_are_known_as_far_as_the_least_known_file(page: Page, tmp_path: Path) -> None:
    """A process and its fork, each with a bound of its own, beside the vendor's trace: 110 ns, and 1,990."""
    begun = (800, two_tools.EPOCH + 850, 900, 0)
    files = [
        engine(
            tmp_path / f"{name}.akvlog",
            start=begun,
            close=(9_000, two_tools.EPOCH + 9_060, after, 0),
            pid=pid,
        )
        for name, after, pid in (("a", 9_100, 41), ("b", 11_000, 42))
    ]
    text = " ".join(page(*files, two_tools.vendor(tmp_path / "c.json"), name="both").split())
    assert "against times of another tool ±2.0 us more" in text


def test_two_tools_are_set_side_by_side_and_not_added_up(page: Page, tmp_path: Path) -> None:
    text = " ".join(page(*two_tools.both(tmp_path), name="both").split())
    assert "## Calls as two tools saw them" in text
    # In thread 7: two launches in both, none of one alone, one inside another call.
    assert "7 launch 2 0 0 1" in text
    assert "7 copy 0 0 1 0" in text
    assert "Their rows may be the same calls, so they are never added up." in text
    assert "kernels 2 of 2 launched" in text


def test_memory_is_drawn_by_process(page: Page, tmp_path: Path) -> None:
    rows = [
        {"process": 0, "at_ns": 10 * n, "resident_bytes": 2**20 * (1 + n), "anonymous_bytes": 2**19}
        for n in range(5)
    ]
    process = '[[process]]\npid = "41"\nname = "decode"'
    text = page(write_capture(tmp_path / "mem", {"memory_sample": rows}, level="edge", more=process))
    assert "## Host memory" in text
    assert "process 41 (decode) 5 1.000 MiB 5.000 MiB 5.000 MiB 512.0 KiB" in " ".join(text.split())


TABLES: dict[str, list[dict[str, Any]]] = {
    "step": steps(),
    "level4_edge": [call(1, 2, 1), call(3, None, 2), {**call(None, None, 3), "source": "shim", "open": 1}],  # type: ignore[arg-type]
    "level3_device": [
        interval(4, 5, 1),
        interval(6, None, None),
        {**interval(1, 2, None), "clock": "device"},
    ],  # type: ignore[arg-type]
    "memory_sample": [{"at_ns": 1, "resident_bytes": 5}],
    "clock_sample": [{"device": "0", "source": "shim"}],
}


@pytest.mark.parametrize("left_out", [None, *TABLES])
def test_no_level_is_needed_by_another(left_out: str | None, page: Page, tmp_path: Path) -> None:
    tables: Mapping[str, Any] = {name: rows for name, rows in TABLES.items() if name != left_out}
    text = page(write_capture(tmp_path / "some", tables, level="edge"))
    assert ("## Runtime calls" in text) == (left_out != "level4_edge")
    assert ("## Host memory" in text) == (left_out != "memory_sample")


@pytest.mark.parametrize("only", TABLES)
def test_each_level_alone_makes_a_page(only: str, page: Page, tmp_path: Path) -> None:
    page(write_capture(tmp_path / "one", {only: TABLES[only]}, level="edge"))
