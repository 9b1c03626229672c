"""A real Chromium, and a small site with a chart of every mark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import samples
import site_build
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from akvsite.charts import Drawing, embed

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium() -> str:
    found = shutil.which("chromium")
    if not found:
        pytest.skip("no chromium on the path")
    return found


@pytest.fixture(scope="session")
def running(driver: Playwright, chromium: str) -> Iterator[Browser]:
    """One Chromium with an empty profile: to start one takes longer than most tests."""
    browser = driver.chromium.launch(executable_path=chromium, args=ARGUMENTS, headless=True)
    yield browser
    browser.close()


@pytest.fixture
def browser(running: Browser) -> Iterator[BrowserContext]:
    """A profile of its own, in memory: nothing is cached and nothing kept."""
    context = running.new_context()
    yield context
    context.close()


@pytest.fixture
def page(browser: BrowserContext) -> Page:
    page = browser.new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
    return page


@pytest.fixture(scope="session")
def pages() -> dict[str, dict[str, Drawing]]:
    drawn = {mark: draw() for mark, draw in samples.BY_MARK.items()}
    first = ("bands", "budget", "distribution", "series")
    return {
        "first": {mark: drawn[mark] for mark in first} | {"hostile": samples.draw_hostile()},
        "second": {mark: drawing for mark, drawing in drawn.items() if mark not in first}
        | {"groups": samples.draw_groups()},
    }


@pytest.fixture(scope="session")
def bundle() -> str:
    return embed.vega_bundle()


@pytest.fixture(scope="session")
def port() -> int:
    """Chosen before the site is built: the theme follows links without a load only where it knows its address."""
    return site_build.free_port()


@pytest.fixture(scope="session")
def site(
    tmp_path_factory: pytest.TempPathFactory, pages: dict[str, dict[str, Drawing]], bundle: str, port: int
) -> Path:
    return site_build.built(tmp_path_factory.mktemp("site"), pages, bundle, f"http://127.0.0.1:{port}/")


@pytest.fixture(scope="session")
def address(site: Path, port: int) -> Iterator[str]:
    with site_build.served(site, port) as url:
        yield url
