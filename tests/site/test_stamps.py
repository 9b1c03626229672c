"""The stamp of a retraction on everything that is built: each page and each chart is read, and none is listed here."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import built_site
import claims
import stamped
from bundles import write_capture

from akvsite import site
from akvsite.store import Store


def pages(folder: Path) -> dict[str, str]:
    found = sorted((folder / "site").rglob("*.html"))
    return {path.relative_to(folder / "site").as_posix(): path.read_text(encoding="utf-8") for path in found}


def charts(folder: Path) -> dict[str, str]:
    found = drawn(folder / "site" / "data")
    return {path.relative_to(folder / "site").as_posix(): path.read_text(encoding="utf-8") for path in found}


def drawn(data: Path) -> list[Path]:
    """The data of charts: rows, which a page loads on demand, are drawn under its own stamp."""
    return sorted(path for path in data.rglob("*.js") if not path.is_relative_to(data / "rows"))


def test_whatever_names_a_stamped_run_carries_the_stamp(project: Path) -> None:
    under = stamped.of_store(project / "akvsite.db")
    assert ("runs", built_site.RETRACTED_RUN) in under and ("comparisons", "loads-unknown") in under
    bare = {name: found for name, text in pages(project).items() if (found := stamped.unmarked(text, under))}
    assert not bare, bare
    without = [name for name, text in charts(project).items() if stamped.unprinted(text, under)]
    assert not without, without


def small(folder: Path) -> Path:
    """A project of one run and one claim, with the theme's settings and none of the pages that are written by hand."""
    settings = (built_site.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    folder.mkdir()
    (folder / "mkdocs.yml").write_text(re.sub(r"(?s)\nnav:.*?\n(?=\w)", "\n", settings))
    shutil.copytree(built_site.ROOT / "site_src" / "assets", folder / "site_src" / "assets")
    steps = [
        {"name": f"step.{n}", "start_ns": 100 * n, "end_ns": 100 * n + 50 + n % 3, "number": n, "kind": "decode", "source": "client", "warm_up": 0}
        for n in range(20)
    ]  # fmt: skip
    for name in ("run-a", "run-b"):
        write_capture(folder / "captures" / name, {"step": steps})
    claims.write_claim(folder / "captures", "holds", claims.cited("chart", "runs/run-a#step-series"))
    return folder


def test_a_site_built_before_and_again_has_the_stamp_everywhere(tmp_path: Path) -> None:
    folder = small(tmp_path / "small")
    built_site.run(folder, "ingest", "captures")
    built_site.run(folder, "build")
    assert "data-akv-retraction" not in "".join(pages(folder).values())
    built_site.run(folder, "retract", "holds", "--because", "It was not so.", "--control", "run-b")
    built_site.run(folder, "build")
    under = stamped.of_store(folder / "akvsite.db")
    assert under.keys() == {("runs", "run-a"), ("experiments", "run-a")}
    built = pages(folder)
    assert not {name: found for name, text in built.items() if (found := stamped.unmarked(text, under))}
    assert all(
        "data-akv-retraction" in built[name]
        for name in (
            "index.html",
            "runs.html",
            "runs/run-a.html",
            "claims.html",
            "claims/holds.html",
            "retractions.html",
        )
    )
    of_run = {name: text for name, text in charts(folder).items() if name.startswith("data/runs/run-a/")}
    assert of_run and all("RETRACTED" in text for text in of_run.values())
    feed = (folder / "site" / "retractions.atom").read_text(encoding="utf-8")
    assert feed == (folder / site.SOURCE / "retractions.atom").read_text(encoding="utf-8")
    assert "It was not so." in feed.replace("&amp;#46;", ".")


def test_were_all_runs_under_a_retraction_every_page_and_chart_would_say_so(
    project: Path, tmp_path: Path
) -> None:
    """Experiments among them, which no claim of this site is about."""
    shutil.copy(project / "akvsite.db", tmp_path)
    (tmp_path / site.SOURCE / "assets").mkdir(parents=True)
    shutil.copy(project / site.SOURCE / "assets" / "vega.js", tmp_path / site.SOURCE / "assets")
    with Store.open(tmp_path / "akvsite.db") as store:
        with store.transaction():
            store.insert("claim", {"claim": "all", "date": "2026-01-01", "state": "retracted", "scope": "timeline", "statement": "All is so.", "body": ""})  # fmt: skip
            store.insert(
                "retraction",
                {"retraction": "none", "date": "2026-01-02", "claim": "all", "reason": "No.", "body": ""},
            )
            for run in store.rows("SELECT name FROM run ORDER BY name"):
                store.insert("claim_run", {"claim": "all", "kind": "run", "name": run["name"]})
        site.write_pages(store, tmp_path)
    under = stamped.of_store(tmp_path / "akvsite.db")
    source = tmp_path / site.SOURCE
    bare = {
        path.name: found
        for path in source.rglob("*.md")
        if (found := stamped.unmarked(path.read_text(encoding="utf-8"), under))
    }
    assert not bare, bare
    without = [
        path.relative_to(source)
        for path in drawn(source / "data")
        if stamped.unprinted(path.read_text(encoding="utf-8"), under)
    ]
    assert not without, without
