"""What the page of a run shows of what an engine recorded of its device: a memory snapshot, timing events."""

from __future__ import annotations

from pathlib import Path

import pytest
import words
from bundles import interval, read_in, write_capture

from akvsite import site
from akvsite.pages import run
from akvsite.store import Store

GOLDEN = Path(__file__).parents[1] / "readers" / "golden" / "memory_snapshot.pickle"


def page_of(capture: Path, folder: Path) -> str:
    store = folder / f"{capture.stem}.db"
    read_in(store, capture)
    with Store.open(store) as opened:
        site.take_notes(opened, folder)
        (written,) = run.write(site.SiteDesk(opened, lambda name, content: None))
    text = " ".join(words.of_page(written.text).split())
    assert words.VERDICT.search(words.RULE.sub("", text)) is None
    return text


def test_what_was_held_is_counted_and_nothing_is_said_of_it(tmp_path: Path) -> None:
    text = page_of(GOLDEN, tmp_path)
    assert "It has what torch's allocator held at one moment." in text
    assert "## Device memory" in text
    # Segments of 4,096 and 512 bytes; blocks of 1,024 and 512 held, 512 waiting, 2,048 free; 148 more than asked for.
    assert " 0 2 4.500 KiB 1.500 KiB 512.0 B 148.0 B 2.000 KiB 512.0 B " in text
    # What an older file asked for is unknown, not 0.
    assert " 1 1 1.000 KiB 0 B 512.0 B unknown 512.0 B 0 B " in text
    assert "The history of device 0 has 8 entries, among them 3 allocations and 1 release." in text
    assert " 0 1.000 KiB 1 1.000 KiB 1 1.000 us 1.000 us " in text
    # The block at the address of one that came back is another, older one.
    assert " 0 512.0 B 2 1.000 KiB 0 unknown unknown " in text


@pytest.mark.parametrize("declared", ["on", "off", "asis", "unknown"])
def test_timing_events_that_were_not_declared_are_told_by_their_records(
    declared: str, tmp_path: Path
) -> None:
    top = f'timing_events = "{declared}"'
    for name, kind in (("spans", "span"), ("kernels", "kernel")):
        rows = [{**interval(10 * n, 10 * n + 5, None), "kind": kind, "clock": "device"} for n in range(3)]
        text = page_of(
            write_capture(tmp_path / name, {"level3_device": rows}, level="device", top=top), tmp_path
        )
        said = text.partition("timing events on device queues ")[2]
        shown = "on: 3 stretches between timing events are in the records, although"
        assert said.startswith(shown) == (kind == "span" and declared != "on"), said[:200]
        assert said.startswith((shown, declared))
        # Of stretches alone no step of device times is told, and nothing is said in its place.
        assert (": no gap below that is stated" in text) == (kind == "kernel") and ". :" not in text
