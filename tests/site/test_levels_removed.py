"""Of a capture with every level, one level or one table at a time is taken away: each page is there, and says what is missing.

The rule: a page that needs what is not there does not exist, and the run's own page says what is not known and which level
would tell; a page that exists names it too.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import pytest
from bundles import call, interval, read_in, steps, write_capture

from akvsite import site
from akvsite.charts import embed
from akvsite.pages._listed import LISTINGS, READERS
from akvsite.pages._run import ADDS
from akvsite.store import Store

MS = 1_000_000
STEPS = 12


def _token(number: int, step: int) -> dict[str, Any]:
    names = ("arrived", "scheduled", "launched", "device_first", "device_last", "sampled", "copied", "detokenised", "sent", "client")  # fmt: skip
    times = {f"{name}_ns": (10 * step + at) * MS for at, name in enumerate(names)}
    return {
        "request": f"r{number % 3}",
        "number": number,
        "tokens": 1,
        "step": step,
        **times,
        "arrived_ns": 0,
    }


def _tables() -> dict[str, list[dict[str, Any]]]:
    """Every level of one small run: 12 steps of 10 ms, in each a layer window, a phase, two calls, two device records."""
    numbers = range(STEPS)
    return {
        "step": steps(STEPS, 10 * MS, source="probe", batch=1),
        "request": [{"name": f"r{n}", "start_ns": 0, "end_ns": 110 * MS, "zero": "capture", "prompt_tokens": 4, "output_tokens": 4, "ttft_ns": 8 * MS, "ok": 1} for n in range(3)],
        "request_event": [{"request": f"r{n}", "event": event, "at_ns": at * MS, "step": 0, "tokens": 4} for n in range(3) for at, event in enumerate(("arrived", "admitted"))],
        "token": [_token(n, n) for n in numbers],
        "level1_runner": [{"name": "launch", "start_ns": (10 * n + 1) * MS, "end_ns": (10 * n + 2) * MS, "thread": "1"} for n in numbers],
        "level2_host": [
            {"name": name, "start_ns": (10 * n + 1) * MS, "end_ns": (10 * n + 5) * MS, "thread": "1", "category": category, "layer": layer}
            for n in numbers
            for name, category, layer in (("attention", "region", None), ("layer.0", "layer", 0))
        ],
        "level4_edge": [
            one
            for n in numbers
            for one in (call((10 * n + 1) * MS, (10 * n + 1) * MS + 9_000, 2 * n), call((10 * n + 2) * MS, (10 * n + 2) * MS + 9_000, 2 * n + 1, "cudaMemcpyAsync"))
        ],
        "level3_device": [
            one
            for n in numbers
            for one in (interval((10 * n + 3) * MS, (10 * n + 4) * MS, 2 * n), interval((10 * n + 4) * MS, (10 * n + 5) * MS, 2 * n + 1, "HtoD", kind="copy", queue="8", bytes=64))
        ],
        "memory_sample": [{"at_ns": 10 * n * MS, "resident_bytes": 4096 * n, "anonymous_bytes": 4096} for n in numbers],
    }  # fmt: skip


#: Which tables a level adds.
LEVELS = {
    "runner": ("level1_runner", "request_event", "token"),
    "host": ("level2_host",),
    "device": ("level3_device",),
    "edge": ("level4_edge",),
}
REMOVED: dict[str, tuple[str, ...]] = {
    "nothing": (),
    # The other levels are one table each.
    "level-runner": LEVELS["runner"],
    **{f"table-{table}": (table,) for table in _tables()},
    "all-but-steps": tuple(table for table in _tables() if table != "step"),
    "all-but-device-records": tuple(table for table in _tables() if table != "level3_device"),
}
#: The table of each listing's rows, where one alone makes it.
TABLE = {
    "steps": "step", "requests": "request", "events": "request_event", "tokens": "token", "phases": "level1_runner",
    "regions": "level2_host", "calls": "level4_edge", "intervals": "level3_device", "memory": "memory_sample",
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The pages of all those runs, as text: by path, without MkDocs."""
    folder = tmp_path_factory.mktemp("removed")
    for name, gone in REMOVED.items():
        kept = {table: rows for table, rows in _tables().items() if table not in gone}
        write_capture(folder / "captures" / f"without-{name}", kept, level="edge")
    assets = folder / "site_src" / "assets"
    assets.mkdir(parents=True)
    # The drawing library takes seconds to make, and no page is drawn here.
    (assets / "vega.js").write_text(embed.vega_version() + "\n")
    read_in(folder / "akvsite.db", folder / "captures")
    with Store.open(folder / "akvsite.db") as store:
        site.take_notes(store, folder / "captures")
        site.write_pages(store, folder)
    source = folder / "site_src"
    return {
        path.relative_to(source).with_suffix("").as_posix(): html.unescape(path.read_text())
        for path in source.rglob("*.md")
    }


@pytest.mark.parametrize("name", REMOVED)
def test_rows_name_each_kind_that_is_not_there(written: Mapping[str, str], name: str) -> None:
    page = written[f"rows/without-{name}"]
    gone = REMOVED[name]
    for listed in LISTINGS:
        if listed.name not in TABLE:
            continue
        line = f"{listed.title}: none on record"
        if TABLE[listed.name] in gone:
            assert line in page
            assert not listed.level or f"{line}; level {listed.level} adds {ADDS[listed.level]}" in page
        else:
            assert line not in page


@pytest.mark.parametrize("name", REMOVED)
def test_a_reader_is_there_or_the_run_says_why_not(written: Mapping[str, str], name: str) -> None:
    run = written[f"runs/without-{name}"]
    gone = REMOVED[name]
    tables = {"tokens": "token", "steps": "step", "calls": "level4_edge"}
    for folder, _, _ in READERS:
        there = tables[folder] not in gone
        assert (f"{folder}/without-{name}" in written) == there
        assert (f'href="../{folder}/without-{name}.html"' in run) == there
    for level, missing in LEVELS.items():
        line = f"is not known: level {level} "
        told = any(table in gone for table in missing if table != "request_event")
        assert (line in run) == told, f"{line!r} on the page of the run"
    if "step" in gone:
        assert "no time of a step can be told from it" in run
    if "token" in gone:
        assert "What happened to a token is not known: level runner" in run


#: What each page of a reader must name, by the table that is gone, where the page exists: a level, in these words. Tokens
#: here state their device milestones themselves; that no device record lies beside them the script says of each life.
SAID = {
    "steps": {"level2_host": "host", "level3_device": "device"},
    "tokens": {"level4_edge": "edge"},
    "calls": {"level3_device": "device"},
}


@pytest.mark.parametrize("name", REMOVED)
def test_a_page_that_is_there_names_what_it_lacks_and_the_level_that_would_tell(
    written: Mapping[str, str], name: str
) -> None:
    for folder, levels in SAID.items():
        page = written.get(f"{folder}/without-{name}")
        if page is None:
            continue
        for table, level in levels.items():
            if table in REMOVED[name]:
                assert f"evel {level}" in page, f"{folder}: nothing says that level {level} would tell"


def test_no_page_says_zero_for_what_is_not_there(written: Mapping[str, str]) -> None:
    """Nothing of a device is on record: no page of the run gives an idle time or a count of 0 for it."""
    run = written["runs/without-table-level3_device"]
    assert "what the device did is unknown, not idle" in run
    for folder in ("runs", "steps", "tokens", "calls"):
        assert "0 device records" not in written[f"{folder}/without-table-level3_device"]
