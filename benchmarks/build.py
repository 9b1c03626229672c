"""Time and size of a site of many runs, and whether a run costs more among many than among few.

    python benchmarks/build.py [--few N] [--many N] [--keep FOLDER]

Made-up captures, the same for every call: two of four runs are off-level steps, one is a device trace (steps, operators,
calls, kernels, copies), one is requests. They are ingested and built as a person would do it, in a copy of the
project. Processor seconds and bytes of the two sites stand side by side; what should be read is the last column, the
cost of a run in the large site over that in the small one, after the cost of an almost empty site is taken off both.
It is about 1 where nothing grows faster than the number of runs. Processor time, since one build cannot be repeated
often enough to see through what else the host does; everything here runs on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from akvsite import ingest, site
from akvsite.store import Store

ROOT = Path(__file__).parents[1]
STEPS, TRACE_STEPS, LAUNCHES, REQUESTS = 400, 40, 12, 200
#: Small sites are mostly what every site has; this one is nothing else.
BARE = 4


def steps(random_: random.Random) -> pa.Table:
    """Steps of about 20 ms, one after the other, each a little like the one before."""
    now, level, rows = 0, 0.0, []
    for number in range(STEPS):
        level = 0.7 * level + random_.gauss(0, 4e5)
        took = int(20e6 + level)
        rows.append(
            {
                "name": f"decode.step.{number}", "number": number, "kind": "decode", "source": "engine counter",
                "start_ns": now, "end_ns": now + took, "warm_up": 0,
            }
        )  # fmt: skip
        now += took + 50_000
    return pa.Table.from_pylist(rows)


def requests(random_: random.Random) -> pa.Table:
    rows = []
    for number in range(REQUESTS):
        start, first = number * 10**8, random_.randrange(10**7, 10**8)
        rows.append(
            {
                "name": f"request {number}", "zero": "capture", "start_ns": start,
                "end_ns": start + first + random_.randrange(10**9, 2 * 10**9), "prompt_tokens": 512,
                "output_tokens": 64, "ttft_ns": first, "ok": 1,
            }
        )  # fmt: skip
    return pa.Table.from_pylist(rows)


def trace(random_: random.Random) -> bytes:
    """A Kineto trace with times in microseconds, as torch's profiler writes them."""
    events: list[dict[str, Any]] = []

    def event(cat: str, name: str, pid: int, tid: int, ts: float, dur: float, **args: object) -> None:
        events.append(
            {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
        )

    for step in range(TRACE_STEPS):
        at = 20_000.0 * step
        event("user_annotation", f"decode.step.{step}", 100, 100, at, 19_000)
        for launch in range(LAUNCHES):
            key, now = step * LAUNCHES + launch + 1, at + 1_000 * launch + 10
            copy = launch % 4 == 3
            event("cpu_op", f"aten::op_{launch % 5}", 100, 100, now, 80, **{"External id": key})
            event(
                "cuda_runtime", "cudaMemcpyAsync" if copy else "cudaLaunchKernel", 100, 100, now + 10,
                5 + random_.random(), correlation=key, **{"External id": key},
            )  # fmt: skip
            event(
                "gpu_memcpy" if copy else "kernel", "Memcpy HtoD (Pinned -> Device)" if copy else f"kernel_{launch % 5}", 0,
                13 if copy else 7, now + 30, 400 + 100 * random_.random(), device=0, stream=13 if copy else 7,
                correlation=key, **{"External id": key}, **({"bytes": 1 << 20} if copy else {}),
            )  # fmt: skip
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


def capture(folder: Path, number: int) -> None:
    """One capture with its ``capture.toml``."""
    random_ = random.Random(number)
    folder.mkdir(parents=True)
    kind = number % 4
    level, name, table = [
        ("off", "steps.parquet", "step"), ("off", "steps.parquet", "step"),
        ("device", "trace.json", None), ("off", "requests.parquet", "request"),
    ][kind]  # fmt: skip
    if kind == 2:
        (folder / name).write_bytes(trace(random_))
    else:
        pq.write_table(requests(random_) if kind == 3 else steps(random_), folder / name)
    (folder / "capture.toml").write_text(
        f'format = 1\nname = "{folder.name}"\nlevel = "{level}"\nengine = "made up"\n'
        + ("warm_up_steps = 20\n" if table == "step" else "")
        + '[host]\nname = "bench"\nrole = "dev"\n'
        + f'[contract]\nworkload = "made up"\nseed = {number}\n[load.before]\nload_1_min = 0.{number % 10}\n'
        + f'[[file]]\npath = "{name}"\n'
        + (f'table = "{table}"\n' if table else "")
    )


def comparison(folder: Path, number: int) -> None:
    """Steps of three runs beside those of three others: one comparison for every 20 runs."""
    folder.mkdir(parents=True, exist_ok=True)
    first = 20 * number
    sides = [[f"run-{n:04}" for n in range(first, first + 12) if n % 4 == side] for side in (0, 1)]
    (folder / f"pairs-{number:03}.toml").write_text(
        f'name = "pairs-{number:03}"\ntitle = "Do the steps of the two sides differ?"\ndesign = "ABBA pairs"\n'
        + "".join(
            f'[{key}]\nlabel = "{key}"\nruns = {json.dumps(runs)}\n'
            for key, runs in zip("ab", sides, strict=True)
        )
    )


@dataclass(frozen=True)
class Built:
    """What a site of so many runs took and holds: processor seconds and bytes."""

    runs: int
    ingest: float
    pages: float
    mkdocs: float
    bytes: int
    search: int
    page: int
    page_data: int


def spent() -> float:
    """Processor seconds of this process and of those that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def build(folder: Path, runs: int) -> Built:
    """Make captures, a store and a site of ``runs`` runs in ``folder``."""
    captures, project = folder / "captures", folder / "project"
    for number in range(runs):
        capture(captures / f"run-{number:04}", number)
    for number in range(runs // 20):
        comparison(captures / "comparisons", number)
    made = shutil.ignore_patterns("runs", "comparisons", "data", site.WRITTEN)
    shutil.copytree(ROOT / site.SOURCE, project / site.SOURCE, ignore=made)
    shutil.copy(ROOT / site.CONFIG, project)
    marks: dict[str, float] = {}

    def progress(name: str) -> None:
        if name == "MkDocs":
            marks[name] = spent()

    with Store.open(folder / "store.db") as store:
        began = spent()
        for _ in ingest.ingest(store, ingest.plan([captures])):
            pass
        ingest.install_views(store)
        ingested = spent()
        site.build(store, project, captures, project / "site", progress)
        done = spent()
    out = project / "site"
    pages = {p.stem: p.stat().st_size for p in (out / "runs").glob("*.html")}
    largest = max(pages, key=lambda name: (pages[name] + size(out / "data" / "runs" / name), name))
    return Built(
        runs, ingested - began, marks["MkDocs"] - ingested, done - marks["MkDocs"],
        size(out), (out / "search" / "search_index.json").stat().st_size,
        pages[largest], size(out / "data" / "runs" / largest),
    )  # fmt: skip


def size(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--few", type=int, default=20, help="runs of the small site (20)")
    parser.add_argument("--many", type=int, default=200, help="runs of the large site (200)")
    parser.add_argument("--keep", type=Path, help="a folder that does not exist yet, to keep what is made in")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        if given.keep:
            folder.mkdir(parents=True)
        # Not counted: modules are loaded and the library of charts is bundled.
        build(folder / "first", BARE)
        bare, few, many = (build(folder / f"{n}-runs", n) for n in (BARE, given.few, given.many))
    print(
        f"{'':34}{BARE:>8} runs {given.few:>7} runs {given.many:>7} runs   a run among {given.many}, / among {given.few}"
    )
    for name, key, unit, scale in (
        ("ingest", "ingest", "s", 1), ("pages written", "pages", "s", 1), ("MkDocs", "mkdocs", "s", 1),
        ("site", "bytes", "KiB", 1024), ("search index", "search", "KiB", 1024),
    ):  # fmt: skip
        values = [getattr(b, key) / scale for b in (bare, few, many)]
        large = (values[2] - values[0]) / (many.runs - bare.runs)
        small = (values[1] - values[0]) / (few.runs - bare.runs)
        cells = "".join(f"{v:>9.2f} {unit:3}" for v in values)
        print(f"{name:34}{cells}   {large:8.3f} {unit:3}  / {small:.3f} = {large / small:.2f}")
    for name, key in (("largest run page, HTML", "page"), ("its chart data", "page_data")):
        print(f"{name:34}" + "".join(f"{getattr(b, key) / 1024:>9.2f} KiB" for b in (bare, few, many)))


if __name__ == "__main__":
    main()
