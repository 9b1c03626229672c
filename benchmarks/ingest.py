"""Time and memory of reading one large trace, beside a named peer in the same run.

    python benchmarks/ingest.py [TRACE] [--rounds N] [--hta-python PYTHON]

Ours is `akvsite ingest TRACE` into a fresh store, every record accounted for. The peer is HolisticTraceAnalysis 0.5.0,
`TraceAnalysis(trace_files={0: TRACE})`, which leaves a data frame in memory. Each round starts both in fresh processes,
one after the other, and which of them goes first alternates. Time is the wall clock of the whole process, processor
time its user and system time, memory the largest resident size of it or of a process it waited for. Only the ratios
say something: times belong to a host and to what else it did meanwhile.

The peer has an environment of its own, made on first use in the user's cache folder.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

PEER = "HolisticTraceAnalysis==0.5.0"
TRACE = Path(__file__).parents[1] / "../shared/real/kineto/large_54MB.json.gz"
#: Events of that trace: what is stored, counted by reason or in quarantine adds up to it.
EVENTS = 216_092

PEER_CODE = """
import sys, time
began = time.perf_counter()
from hta.trace_analysis import TraceAnalysis
print("import", time.perf_counter() - began)
TraceAnalysis(trace_files={0: sys.argv[1]})
"""
#: Records by their fate; repaired values and links are no records of the file.
ACCOUNT = "SELECT sum(count) FROM ingest_count WHERE what NOT IN ('repaired value', 'link')"


@dataclass(frozen=True)
class Taken:
    """What one process took."""

    seconds: float
    cpu_seconds: float
    mib: float
    output: str


def measure(command: list[str]) -> Taken:
    """Run one process to its end. Exits where it fails."""
    with tempfile.TemporaryFile("w+") as said:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read()
    if process.returncode:
        sys.exit(f"{Path(command[0]).name} stopped with {process.returncode}: {output.strip()[-1000:]}")
    return Taken(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def peer_python(given: Path | None) -> Path:
    """The interpreter of the peer's environment, which is made where it is missing."""
    if given is not None:
        return given
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "akvsite" / PEER.replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "complete").is_file():
        print(f"making the peer's environment ({PEER})", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PEER], check=True
        )
        (folder / "complete").touch()
    return python


def ours(trace: Path) -> tuple[Taken, int]:
    """Ingest into a fresh store; also the number of records that it accounts for."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "tmp.db")
        taken = measure(
            [str(Path(sys.executable).with_name("akvsite")), "ingest", str(trace), "--store", str(store)]
        )
        connection = sqlite3.connect(store)
        (records,) = connection.execute(ACCOUNT).fetchone()
        connection.close()
    return taken, records


def peer(python: Path, trace: Path) -> tuple[Taken, float]:
    """The peer, and how long its imports took."""
    taken = measure([str(python), "-c", PEER_CODE, str(trace)])
    imports = next(float(line.split()[1]) for line in taken.output.splitlines() if line.startswith("import "))
    return taken, imports


def line(name: str, values: list[float], unit: str = "") -> str:
    return f"{name:44} {statistics.median(values):7.2f}  ({min(values):.2f} to {max(values):.2f}) {unit}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trace", nargs="?", type=Path, default=TRACE)
    parser.add_argument("--rounds", type=int, default=5, help="pairs of fresh processes (5)")
    parser.add_argument("--hta-python", type=Path, help=f"an interpreter that has {PEER}")
    given = parser.parse_args()
    trace = given.trace.resolve()
    if not trace.is_file():
        print(f"not measured: there is no {given.trace.name} (give the path of a Kineto trace)")
        return
    python = peer_python(given.hta_python)
    # Once each, not counted: files and libraries are in the page cache for all that follow.
    _, records = ours(trace)
    peer(python, trace)
    if given.trace == TRACE and records != EVENTS:
        sys.exit(f"{records:,} records accounted for, the trace has {EVENTS:,} events")
    mine: list[Taken] = []
    theirs: list[tuple[Taken, float]] = []
    for number in range(given.rounds):
        if number % 2:
            theirs.append(peer(python, trace))
        taken, again = ours(trace)
        if again != records:
            sys.exit(f"{again:,} records accounted for, {records:,} before")
        mine.append(taken)
        if not number % 2:
            theirs.append(peer(python, trace))
    print(f"{records:,} records, each stored, counted by reason or in quarantine; {given.rounds} rounds")
    print(f"{'':44}  median  (least to most)")
    print(line("akvsite ingest, whole process", [t.seconds for t in mine], "s"))
    print(line("peer, whole process", [t.seconds for t, _ in theirs], "s"))
    print(line("peer without its imports", [t.seconds - i for t, i in theirs], "s"))
    print(line("akvsite ingest, largest resident size", [t.mib for t in mine], "MiB"))
    print(line("peer, largest resident size", [t.mib for t, _ in theirs], "MiB"))
    pairs = list(zip(mine, theirs, strict=True))
    print("ratios, ours over the peer's, pair by pair")
    print(line("time, whole processes", [m.seconds / t.seconds for m, (t, _) in pairs]))
    print(
        line(
            "time, peer without its imports, ours with", [m.seconds / (t.seconds - i) for m, (t, i) in pairs]
        )
    )
    print(line("processor time, whole processes", [m.cpu_seconds / t.cpu_seconds for m, (t, _) in pairs]))
    print(line("memory, whole processes", [m.mib / t.mib for m, (t, _) in pairs]))


if __name__ == "__main__":
    main()
