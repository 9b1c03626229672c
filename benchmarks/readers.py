"""Time and memory of the pages of one large run, beside those of a small run in the same site.

    python benchmarks/readers.py [--steps N] [--few N] [--calls N] [--rounds N] [--keep FOLDER]

Two made-up captures of one shape (``large_run.py``): 16 requests in flight, a thousand calls a step with the device records of
some of them. They are ingested, the pages are written by one process, and built again as a person would do it, by two where the store is large: the
first is the peer of the second. Then each page that follows tokens,
steps, calls and rows is opened from disk in Chromium, in a fresh profile each time, the large run's and the small one's
alternating: seconds until its reader says that it is ready, bytes of all files loaded by then, the heap of its JavaScript, and
the resident memory of the largest renderer. The small run is the named peer: what should be read is how far the two differ. A
page that loads what it shows and no more differs little, however many rows there are.

Another peer, loaded in the same browser: the rows of the calls in one script, as a page without pieces would need them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import large_run
from playwright.sync_api import BrowserContext, Page, sync_playwright

from akvsite import ingest, site
from akvsite.store import Store

ROOT = Path(__file__).parents[1]
KINDS = ("runs", "tokens", "steps", "calls", "rows")
#: What is opened: folder of the page, and what is chosen in it.
OPENED = (
    ("runs", ""), ("tokens", ""), ("tokens", "#token=40"), ("steps", ""), ("steps", "#step=40"), ("calls", ""),
    ("calls", "#step=40"), ("rows", ""), ("rows", "#of=calls&name=urEventWait"),
)  # fmt: skip
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
READY = """() => [...document.querySelectorAll("[data-akv-reader]")].every(e => e.hasAttribute("data-akv-reader-ready"))"""


@dataclass
class Made:
    """What it took to make the site: seconds by the wall clock, and processor seconds of all processes."""

    ingest: float
    #: Pages written by one process, and by two.
    pages: tuple[float, float]
    pages_cpu: tuple[float, float]
    mkdocs: float
    mib: float
    by_page: dict[str, float] = field(default_factory=dict)


@dataclass
class Opened:
    """One opening of a page."""

    seconds: float
    bytes: int
    heap_mib: float
    renderer_mib: float


def build(folder: Path, runs: dict[str, int], calls: int) -> Made:
    """Captures, store and site of ``runs`` (name: steps) in ``folder``."""
    for name, steps in runs.items():
        large_run.write(folder / "captures" / name, large_run.Shape(steps, calls))
    project = folder / "project"
    left = shutil.ignore_patterns(
        *KINDS, "comparisons", "experiments", "claims", "inquiries", "data", site.WRITTEN
    )
    shutil.copytree(ROOT / site.SOURCE, project / site.SOURCE, ignore=left)
    shutil.copy(ROOT / "mkdocs.yml", project)
    marks: list[tuple[str, float]] = []
    with Store.open(folder / "store.db") as store:
        began = time.perf_counter()
        for _ in ingest.ingest(store, ingest.plan([folder / "captures"])):
            pass
        ingest.install_views(store)
        ingest.take_statistics(store)
        site.take_notes(store, folder / "captures")
        ingested, spent = time.perf_counter(), spent_s()
        site.write_pages(store, project, lambda name: marks.append((name, time.perf_counter())), beside=False)
        alone, spent_alone = time.perf_counter(), spent_s()
        shutil.rmtree(project / site.SOURCE / "data")
        written: list[float] = []
        again, spent_again = time.perf_counter(), spent_s()

        def hear(name: str) -> None:
            if name == "MkDocs":
                written.extend((time.perf_counter(), spent_s()))

        site.build(store, project, folder / "captures", folder / "site", hear)
        done = time.perf_counter()
    made = Made(
        ingested - began, (alone - ingested, written[0] - again), (spent_alone - spent, written[1] - spent_again),
        done - written[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )  # fmt: skip
    last = ingested
    for name, at in marks:
        made.by_page[name] = at - last
        last = at
    return made


def spent_s() -> float:
    """Processor seconds of this process and of those that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def one_script(folder: Path, run: str) -> Path:
    """The calls of a run in one script, and a page that loads it: the way that the pages here do not go."""
    connection = sqlite3.connect(folder / "store.db")
    rows = connection.execute(
        "SELECT name, kind, thread, queue, start_ns, end_ns FROM level4_edge WHERE run_id = (SELECT id FROM run WHERE name = ?)",
        [run],
    )
    out = folder / "site" / "one.html"
    (folder / "site" / "one.js").write_text(f"rows = {json.dumps(rows.fetchall())};\n")
    out.write_text('<!doctype html><meta charset="utf-8"><script src="one.js"></script>')
    return out


def renderer_mib(profile: Path) -> float:
    """Resident memory of the largest renderer of the browser of this profile."""
    told: dict[int, tuple[int, str]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            told[int(status.parent.name)] = parent, (status.parent / "cmdline").read_text()
        except OSError:
            continue
    ours = {pid for pid, (_, line) in told.items() if str(profile) in line}
    for _ in range(4):
        ours |= {pid for pid, (parent, _) in told.items() if parent in ours}
    sizes = [
        int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        for pid in ours
        if "--type=renderer" in told[pid][1]
    ]
    return max(sizes, default=0) * os.sysconf("SC_PAGE_SIZE") / 2**20


def opening(context: BrowserContext, profile: Path, address: str) -> Opened:
    loaded: set[Path] = set()
    page: Page = context.new_page()
    page.on("request", lambda r: loaded.add(Path(unquote(urlparse(r.url).path))))
    began = time.perf_counter()
    page.goto(address, wait_until="load")
    page.wait_for_function(READY)
    seconds = time.perf_counter() - began
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    metrics: list[dict[str, Any]] = session.send("Performance.getMetrics")["metrics"]
    heap = next(m["value"] for m in metrics if m["name"] == "JSHeapUsedSize")
    return Opened(
        seconds, sum(p.stat().st_size for p in loaded if p.is_file()), heap / 2**20, renderer_mib(profile)
    )


def openings(addresses: list[str]) -> Iterator[tuple[str, Opened]]:
    """Each page in a browser of its own, whose cache is empty."""
    with sync_playwright() as driver:
        for address in addresses:
            with tempfile.TemporaryDirectory() as temporary:
                profile = Path(temporary)
                context = driver.chromium.launch_persistent_context(
                    profile, executable_path=shutil.which("chromium"), args=CHROMIUM, headless=True
                )
                yield address, opening(context, profile, address)
                context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000, help="steps of the large run (1000)")
    parser.add_argument("--few", type=int, default=100, help="steps of the small run (100)")
    parser.add_argument("--calls", type=int, default=1_000, help="runtime calls a step (1000)")
    parser.add_argument("--rounds", type=int, default=3, help="openings of each page (3)")
    parser.add_argument("--keep", type=Path, help="a folder that does not exist yet, to keep what is made in")
    given = parser.parse_args()
    # Building takes minutes: what is known is said at once, also into a file.
    sys.stdout.reconfigure(line_buffering=True)
    large, small = f"large-{given.steps}", f"small-{given.few}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        if given.keep:
            folder.mkdir(parents=True)
        told(build(folder, {large: given.steps, small: given.few}, given.calls), folder, large, small)
        pages = {
            f"{kind}{chosen}": [
                (folder / "site" / kind / f"{run}.html").as_uri() + chosen for run in (large, small)
            ]
            for kind, chosen in OPENED
        }
        one = one_script(folder, large).as_uri()
        every = [a for _ in range(given.rounds) for pair in pages.values() for a in pair] + [
            one
        ] * given.rounds
        found: dict[str, list[Opened]] = {}
        for address, opened in openings(every):
            found.setdefault(address, []).append(opened)
    print(f"\nopened {given.rounds} times each: medians; memory is the most of them")
    print(f"{'page':34}{'seconds':>18}{'MiB loaded':>20}{'heap, MiB':>18}{'renderer, MiB':>18}")
    for name, addresses in pages.items():
        row(name, [found[a] for a in addresses])
    row("calls in one script, large alone", [found[one]])


def told(made: Made, folder: Path, large: str, small: str) -> None:
    print(f"{'ingest of both':34}{made.ingest:9.1f} s")
    for who, took, spent in zip(("one process", "`akvsite build`"), made.pages, made.pages_cpu, strict=True):
        print(f"{f'pages written by {who}':34}{took:9.1f} s, {spent:.1f} s of a processor")
    print(
        f"{'  the second over the first':34}{made.pages[1] / made.pages[0]:9.2f}, at most {made.mib:.0f} MiB in the first of them"
    )
    print(f"{'MkDocs':34}{made.mkdocs:9.1f} s")
    for kind in KINDS:
        print(
            f"{'  ' + kind + ', large / small':34}"
            + " / ".join(f"{made.by_page.get(f'{kind}/{run}', 0):.1f} s" for run in (large, small))
        )
    for run in (large, small):
        files = [
            p.stat().st_size
            for p in (folder / "site").rglob("*")
            if p.is_file() and (run in p.parts or p.stem == run)
        ]
        print(f"{'files of ' + run:34}{sum(files) / 2**20:9.1f} MiB, largest {max(files) / 2**20:.2f} MiB")


def row(name: str, runs: list[list[Opened]]) -> None:
    def cells(values: list[float], form: str) -> str:
        return " / ".join(format(v, form) for v in values)

    print(
        f"{name:34}{cells([statistics.median(o.seconds for o in own) for own in runs], '.2f'):>18}"
        f"{cells([statistics.median(o.bytes for o in own) / 2**20 for own in runs], '.2f'):>20}"
        f"{cells([max(o.heap_mib for o in own) for own in runs], '.1f'):>18}"
        f"{cells([max(o.renderer_mib for o in own) for own in runs], '.0f'):>18}"
    )


if __name__ == "__main__":
    main()
