"""Every kind of page of the real site, in a real Chromium: served, from disk, light and dark, wide and narrow."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import built_site
import by_hand
import checks
import pytest
import site_build
from playwright.sync_api import Browser, Page

from akvsite import charts

#: One page of each kind, and each page with an oddity of its own.
KINDS = (
    "index", "runs", "comparisons", "hosts", "claims", "retractions", "method", "schema", "bring", "publish", "discipline",
    "comparisons/h200-prefetch", "comparisons/mixed-levels", "comparisons/one-run-a-side", "runs/h200-kv-prefetch-device",
    "runs/h200-overlap-control", "runs/h200-decode-off-a0", "runs/cpu-torch-profiler", "runs/hostile-names", "runs/metadata-only",
    "runs/launches-unseen", "runs/two-devices", "runs/kernel-before-launch", "runs/serving", "runs/cut-short",
    "edge", "experiments", "experiments/tracer-sycl-cpu", "runs/h200-edge-graph", "runs/sycl-cpu-edge",
    "experiments/probe-made-up", "runs/looked-at", "experiments/runner-h200-probe", "runs/runner-sycl-device",
    "experiments/overlap-h200", "experiments/aa-h200", "instruments", "inquiries/the-observer-that-changed-the-answer",
    "claims/h200-copies-hide-wholly",
    "tokens", "tokens/runner-sycl-device", "steps/runner-sycl-device", "calls/sycl-cpu-edge", "rows/runner-sycl-device",
)  # fmt: skip
PLAIN = "publish"
#: Pages of the same parts as another: what is odd about them is in their words and drawings.
ALIKE = (
    "comparisons/mixed-levels", "runs/h200-overlap-control", "runs/h200-decode-off-a0", "runs/metadata-only",
    "runs/launches-unseen", "runs/two-devices", "runs/kernel-before-launch", "runs/cut-short", "runs/sycl-cpu-edge",
    "runs/looked-at", "experiments/runner-h200-probe", "claims/h200-copies-hide-wholly",
)  # fmt: skip


@pytest.fixture(scope="module")
def real_port() -> int:
    return site_build.free_port()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, real_port: int) -> Path:
    """Built for the address it is served from, without which the theme loads each page anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AKVSITE_URL", f"http://127.0.0.1:{real_port}/")
        return built_site.made(tmp_path_factory.mktemp("real") / "checkout") / "site"


@pytest.fixture(scope="module")
def real_address(real: Path, real_port: int) -> Iterator[str]:
    with site_build.served(real, real_port) as url:
        yield url


@pytest.fixture(scope="module")
def plain_rules(running: Browser, real_address: str) -> set[str]:
    """The rules of access that a page of the theme breaks by itself."""
    with running.new_context() as context:
        page = context.new_page()
        page.goto(f"{real_address}{PLAIN}.html")
        return checks.axe_ids(page)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_drawn_readable_and_keeps_to_itself(
    page: Page, real_address: str, plain_rules: set[str], kind: str
) -> None:
    watch = checks.Watch(page, real_address)
    # Where text stands is a matter of the width, and how it stands out one of the scheme.
    looked_at = (
        ((320, ("default",)), (1440, ("slate", "default"))) if kind not in ALIKE else ((1440, ("default",)),)
    )
    for width, schemes in looked_at:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{real_address}{kind}.html")
        checks.settle(page)
        for scheme in schemes:
            checks.use_scheme(page, scheme)
            checks.assert_drawn(page)
            checks.assert_footers(page)
            checks.assert_no_overflow(page)
            checks.assert_lines_apart(page)
            checks.assert_contrast(page)
    assert page.title() != "hit", "a name from a capture ran as a script"
    watch.assert_clean()
    if kind not in ALIKE:
        assert checks.axe_ids(page) <= plain_rules, "a rule of access that a plain page keeps"


def test_every_chart_of_every_page_has_each_part_of_the_printed_line(real: Path) -> None:
    """Count or method, level with its control, clock, seen; a page's charts are all among the files."""
    lines: dict[str, list[str]] = {}
    for script in sorted(real.glob("data/**/*.js")):
        call = re.fullmatch(r'akvChart\("(?:[^"\\]|\\.)*",(.*)\);\n', script.read_text())
        if call:
            lines[script.relative_to(real).as_posix()] = json.loads(call[1])["usermeta"]["akv"]["footer"]
    assert {file: gaps for file, footer in lines.items() if (gaps := charts.missing_parts(footer))} == {}
    for file, footer in lines.items():
        level = next(line for line in footer if line.startswith("level "))
        looked = "capture on" in level or "cost of looking unknown, no control" in level
        assert looked or level.startswith("level off,"), f"{file}: {level}"
    shown = {
        (page.parent / source).resolve().relative_to(real.resolve()).as_posix()
        for page in real.rglob("*.html")
        for source in re.findall(r'data-akv-src="([^"]+)"', page.read_text())
    }
    assert shown
    assert shown <= lines.keys()


def test_following_links_from_home_to_a_run_draws_without_a_page_load(page: Page, real_address: str) -> None:
    """D18 on the real site: Home, Runs, a run, its method."""
    watch = checks.Watch(page, real_address)
    page.goto(f"{real_address}index.html")
    page.evaluate("window.stayed = true")
    page.click("nav >> text=Runs")
    page.wait_for_selector("[data-akv-table]")
    page.click("table >> text=h200-kv-prefetch-device")
    page.wait_for_selector("figure[data-akv-key=timeline]")
    checks.assert_drawn(page)
    assert page.evaluate("window.stayed === true"), "the browser loaded the page anew"
    watch.assert_clean()


def test_the_real_site_opens_from_disk(page: Page, real: Path) -> None:
    """D19 on the real site."""
    watch = checks.Watch(page, real.as_uri())
    page.context.set_offline(True)
    page.goto((real / "runs" / "h200-kv-prefetch-device.html").as_uri())
    checks.assert_drawn(page)
    page.goto((real / "comparisons" / "h200-prefetch.html").as_uri())
    checks.assert_drawn(page)
    assert not watch.strays


def test_runs_are_found_by_search(page: Page, real_address: str) -> None:
    page.goto(f"{real_address}index.html")
    page.locator(".md-search__input").click()
    page.keyboard.type("overlap control")
    page.wait_for_selector(".md-search-result__link", timeout=120_000)
    assert "overlap" in page.locator(".md-search-result__link").first.inner_text()


def test_a_life_a_budget_and_links_are_shown_as_they_were_read_by_hand(page: Page, real_address: str) -> None:
    """Out of the raw files of a committed capture, without the readers, the links or the questions (``by_hand``)."""
    folder = by_hand.CAPTURES / "runner-sycl-edge"
    files = [by_hand.Raw(path) for path in by_hand.declared(folder)]
    found = by_hand.roles(files)
    assert found is not None
    engine, client = found
    step, marks = by_hand.milestones(engine, client, "r18", 0)
    page.goto(f"{real_address}tokens/runner-sycl-edge.html#request=r18&number=0")
    checks.settle(page)
    shown = page.locator(".akv-reader").inner_text()
    known = sorted(marks.items(), key=lambda mark: by_hand.MILESTONES.index(mark[0]))
    for (_, begun), (_, ended) in itertools.pairwise(known):
        assert f"{ended - begun:,} ns" in shown
    (drawn,) = [r for r in engine.of_kind(by_hand.STEP) if r.words[0] == step]
    page.goto(f"{real_address}steps/runner-sycl-edge.html#step={step}")
    checks.settle(page)
    shown = page.locator(".akv-reader").inner_text()
    for ns in by_hand.budget(engine, drawn).values():
        assert exactly(ns) in shown
    pairs = [
        pair
        for file in files
        if file.producer.startswith("akv_ur")
        for pair in by_hand.pairs_of_recorder(file)
    ]
    names = [pair.call for pair in pairs]
    rarest = min(names, key=names.count)
    page.goto(f"{real_address}calls/runner-sycl-edge.html#name={rarest}")
    checks.settle(page)
    shown = page.locator(".akv-reader").inner_text()
    own = [pair for pair in pairs if pair.call == rarest]
    assert len(own) > 9
    for pair in own:
        assert exactly(pair.call_length) in shown and "event handle" in shown


def exactly(ns: int) -> str:
    """A length as the pages write it: in its largest unit, with every nanosecond."""
    size, unit = next((n, u) for n, u in ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")) if ns >= n)
    return f"{Decimal(ns) / size:f} {unit}"
