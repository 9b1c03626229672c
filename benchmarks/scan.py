"""Speed of scanning one large akvlog file, beside three things measured in the same run.

    python benchmarks/scan.py [--records N] [--rounds N] [--keep PATH]

One file is generated: calls, one in eight with the two events that it waits for, one in eight a kernel launch with
device times. Each round takes, one after the other, with the file in the page cache:

- the rust engine and the python (numpy) engine: every column of every table, batch by batch;
- a copy of the file's bytes from memory to memory;
- reading the records one by one with ``struct``, a tuple of the same fields a record (over one record in twenty, scaled).

The rust engine reads pieces on as many threads as it says; everything else here runs on one. Only the ratios say
something: times belong to a host and to what else it did meanwhile.
"""

from __future__ import annotations

import argparse
import mmap
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from akvlogs import CALL, CALL_NAME, CONTINUED, DEVICE, MORE, WAITS, AkvLog

from akvsite import scan

RECORDS = 10_000_000
#: One record in so many is read by the slow way; its time is scaled.
SAMPLE = 20


def generate(path: Path, records: int) -> None:
    """A file of ``records`` records, a pattern of eight repeated: made with numpy, a million at a time."""
    log = AkvLog(capacity=records, header={"reserved": records})
    for id in range(64):
        log.add_name(f"urCall{id}", CALL_NAME, id)
    kinds = np.array([CALL, MORE, CALL, CALL, CALL, DEVICE, CALL, CALL], np.uint64)
    with path.open("wb") as file:
        file.write(log.build())
        for first in range(0, records, 1 << 20):
            index = np.arange(first, min(first + (1 << 20), records), dtype=np.uint64)
            kind = kinds[index % 8]
            words = np.zeros((len(index), 8), "<u8")
            flags = np.where(index % 8 == 0, CONTINUED, 0).astype(np.uint64)
            commit = kind | flags << np.uint64(8) | (index % 64) << np.uint64(16)
            words[:, 0] = commit | ((index + 1) & np.uint64(0xFFFFFFFF)) << np.uint64(32)
            words[:, 1] = 1_000_000_000 + 700 * index
            words[:, 2] = words[:, 1] + 350
            words[:, 3] = 4711
            words[:, 4:] = index[:, None]
            words[kind == MORE, 1] = WAITS | 2 << 16 | 2 << 32
            words[kind == DEVICE, 1] = index[kind == DEVICE] - 1
            file.write(words.tobytes())


def by_engine(path: Path, engine: str) -> Callable[[], int]:
    def run() -> int:
        with scan.open_log(path, engine) as log:
            return sum(batch.num_rows for piece in log.pieces() for batch in piece.values())

    return run


def copy(path: Path) -> Callable[[], int]:
    """The file's bytes, in memory already, to other memory that has been used before."""
    content = np.fromfile(path, np.uint8)
    target = np.ones_like(content)

    def run() -> int:
        target[:] = content
        return len(content)

    return run


def row_by_row(path: Path) -> Callable[[], int]:
    """What a plain Python reader does: a record at a time, its fields as Python's numbers."""
    with scan.open_log(path, "python") as log:
        at, count = log.header.records_at, log.header.reserved // SAMPLE
    unpack = struct.Struct("<BBHIQQIi4Q").unpack_from

    def run() -> int:
        rows = 0
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for index in range(count):
                kind, flags, name, low, a, b, thread, result, *rest = unpack(content, at + 64 * index)
                if low == (index + 1) & 0xFFFFFFFF and kind:
                    row = (index, name, flags, kind == 1, thread, a, b, result, *rest)
                    rows += len(row) > 0
        return rows

    return run


def measure(run: Callable[[], int]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    from akvsite.scan._engines import installed

    engines = installed()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bench.akvlog")
        generate(path, given.records)
        size = path.stat().st_size
        ways = {engine: by_engine(path, engine) for engine in engines}
        ways |= {"copy": copy(path), "row by row": row_by_row(path)}
        rows = {name: way() for name, way in ways.items()}  # once, not counted: caches and libraries
        assert len({rows[engine] for engine in engines}) == 1, rows
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(given.rounds):
            for name, way in ways.items():
                seconds[name].append(measure(way) * (SAMPLE if name == "row by row" else 1))
    report(given.records, size, seconds)


def report(records: int, size: int, seconds: dict[str, list[float]]) -> None:
    print(f"{records:,} records, {size / 1e6:,.0f} MB; {len(seconds['copy'])} rounds")
    print(f"{'':34} {'median':>9}  (least to most)")

    def line(name: str, values: list[float], unit: str) -> None:
        print(f"{name:34} {statistics.median(values):9.2f}  ({min(values):.2f} to {max(values):.2f}) {unit}")

    for name, taken in seconds.items():
        line(name, [size / 1e6 / s for s in taken], "MB/s")
    if "rust" not in seconds:
        print("the rust engine is not installed: its ratios are not measured")
        return
    from akvsite.scan._rust import THREADS

    print(f"ratios of speeds, round by round; the rust engine reads on {THREADS} threads")
    for name, other in (("rust", "copy"), ("rust", "row by row"), ("python", "rust")):
        line(f"{name} over {other}", [b / a for a, b in zip(seconds[name], seconds[other], strict=True)], "")


if __name__ == "__main__":
    main()
