"""The site as files: whole, the same twice, small, and without a word of verdict."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import built_site

from akvsite import listings, site
from akvsite.store import Store

PAGES = (
    "index",
    "runs",
    "comparisons",
    "hosts",
    "claims",
    "retractions",
    "method",
    "schema",
    "bring",
    "publish",
)


def html(project: Path, page: str) -> str:
    return (project / "site" / f"{page}.html").read_text(encoding="utf-8")


def pages(project: Path) -> list[Path]:
    return sorted(p for p in (project / "site").rglob("*.html") if p.name != "404.html")


def digest(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and not p.name.startswith(".")
    }


def test_every_kind_of_page_is_there(project: Path) -> None:
    built = {p.relative_to(project / "site").as_posix() for p in pages(project)}
    assert {f"{page}.html" for page in PAGES} <= built
    assert "runs/h200-kv-prefetch-device.html" in built
    assert "comparisons/h200-prefetch.html" in built


def test_building_twice_writes_the_same_bytes(project: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(project, again)
    before = digest(again / "site_src")
    # A new store too: no id, order or date of the first one may show.
    (again / "akvsite.db").unlink()
    built_site.run(again, "ingest", "captures", "loose")
    with Store.open(again / "akvsite.db") as store:
        site.take_notes(store, again / "captures")
        assert site.write_pages(store, again).changed == 0
    assert digest(again / "site_src") == before


def test_a_page_that_is_no_longer_made_goes_away(small_project: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(small_project, again)
    assert (again / "site" / "comparisons" / "pairs.html").exists()
    (again / "captures" / "comparisons" / "pairs.toml").unlink()
    (again / "site_src" / "mine.md").write_text("# Mine\n\nWritten by hand.\n")
    built_site.run(again, "build")
    assert not (again / "site" / "comparisons" / "pairs.html").exists()
    assert not (again / "site_src" / "data" / "comparisons" / "pairs").exists()
    assert (again / "site" / "mine.html").exists(), "what a person wrote stays"


def test_a_folder_of_somebody_else_is_left_alone(small_project: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(small_project, again)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    done = built_site.run(again, "build", "--out", str(other), check=False)
    assert done.returncode == 2
    assert "thesis" not in done.stderr and len(done.stderr.splitlines()) == 1
    assert (other / "thesis.txt").read_text() == "years of work"


def test_zensical_builds_the_same_sources(project: Path, tmp_path: Path) -> None:
    again = tmp_path / "zensical"
    shutil.copytree(project, again, ignore=shutil.ignore_patterns("site"))
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "-f", "mkdocs.yml"],
        cwd=again,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (again / "site" / "runs" / "h200-kv-prefetch-device.html").is_file()
    assert (
        "akvChart"
        in (again / "site" / "data" / "runs" / "h200-kv-prefetch-device" / "step-series.js").read_text()
    )


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name == "id":
                self.ids.add(value)
            if value and name in ("href", "src", "data-akv-src"):
                self.links.append(value)


def test_every_link_leads_somewhere_and_none_leaves_the_site(project: Path) -> None:
    site = project / "site"
    read: dict[Path, _Links] = {}
    for page in pages(project):
        read[page] = _Links()
        read[page].feed(page.read_text(encoding="utf-8"))
    for page, found in read.items():
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                # A viewer of other people's, which a person may follow; nothing of it is loaded.
                viewer = "ui.perfetto.dev"
                assert parts.hostname in ("127.0.0.1", "squidfunk.github.io", viewer), (
                    f"{page.name} links to {link}"
                )
                continue
            if not parts.path:
                continue
            target = (page.parent / unquote(parts.path)).resolve()
            if parts.path == "." or target == site.resolve():
                continue
            assert target.is_file(), f"{page.relative_to(site)} links to {link}, which is not there"
            # With "=" it says what is chosen there, and is no place on the page.
            if parts.fragment and "=" not in parts.fragment and target in read:
                assert unquote(parts.fragment) in read[target].ids, f"{page.relative_to(site)}: no {link}"


def test_pages_and_charts_stay_small(project: Path) -> None:
    site = project / "site"
    assert (site / "search" / "search_index.json").stat().st_size < 1_000_000
    for page in pages(project):
        name = page.relative_to(site).with_suffix("")
        data = [p.stat().st_size for p in (site / "data" / name).glob("*.js")]
        size = page.stat().st_size
        assert name.parts[0] != "rows" or size <= 150_000, (
            f"{name}: its rows are in files of their own, and it has {size} bytes"
        )
        assert page.stat().st_size + sum(data) <= 2_000_000, name
    for script in (site / "data").rglob("*.js"):
        if script.is_relative_to(site / "data" / "rows"):
            most = listings.INDEX_BYTES if script.name == "index.js" else listings.PIECE_BYTES
            assert script.stat().st_size <= most, script
            continue
        spec = json.loads(re.search(r"akvChart\(.*?,\s*(\{.*\})\s*\)", script.read_text(), re.S)[1])  # type: ignore[index]
        rows = [len(values) for values in spec.get("datasets", {}).values()]
        assert sum(rows) <= 5_000, script
