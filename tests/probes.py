"""Programs that use the probe, each in a process of its own, and what they leave."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from capturing import environment

from akvsite import scan

STEP, PHASE, REGION, LAYER, REQUEST, TOKEN, STAMP, EVENTS = range(16, 24)
RAISED, LASTS = 1, 2
#: The first number that stands for a text.
TEXT = 1 << 63

ONE_OF_EACH = """
with record.step(7, "mixed", 4):
    with record.phase("launch"):
        with record.layer(3), record.region("qkv"):
            pass
record.stamp("launched", step=7, at_ns=11)
record.request("r7").arrived(12, at_ns=13)
record.token("r7", 5, step=7).mark("sent", at_ns=14, tokens=2)
record.device_span(100, 200, 9, 7, "compute")
record.clock(9, 20, 30, 1000, 4)
"""


#: Kinds of records that each level has.
LEVELS: list[tuple[str, set[int]]] = [
    ("off", set()),
    ("runner", {STEP, PHASE, STAMP, REQUEST, TOKEN}),
    ("host", {STEP, PHASE, REGION, LAYER, STAMP, REQUEST, TOKEN}),
    ("device", {STEP, PHASE, REGION, LAYER, STAMP, REQUEST, TOKEN, EVENTS}),
    ("edge", {STEP, PHASE, REGION, LAYER, STAMP, REQUEST, TOKEN, EVENTS}),
]


class Mark(NamedTuple):
    kind: int
    name: str | None
    flags: int
    start: int
    end: int
    thread: int
    value: int
    a: int
    b: int
    c: int


class Log(NamedTuple):
    header: scan.Header
    tally: scan.Tally
    marks: list[Mark]
    #: Numbers of requests and their texts.
    requests: list[tuple[int, str]]
    clocks: list[dict[str, Any]]

    def spans(self, kind: int = REGION) -> list[str | None]:
        return [m.name for m in self.marks if m.kind == kind]


def read(path: Path) -> Log:
    with scan.open_log(path) as log:
        texts = log.names.to_pylist()
        named = {n["id"]: n["text"] for n in texts if n["what"] == 1}
        places = {n["offset"]: n["text"] for n in texts}
        marks = [
            Mark(
                row["kind"], named.get(row["name"]), row["flags"], row["start_ns"], row["end_ns"], row["thread"],
                row["value"], row["a"], row["b"], row["c"],
            )
            for row in log.table("marks").to_pylist()
        ]  # fmt: skip
        requests = [
            (o["handle"], places[o["name_offset"]])
            for o in log.table("objects").to_pylist()
            if o["what"] == 3
        ]
        return Log(log.header, log.tally(), marks, requests, log.table("clocks").to_pylist())


class Ran(NamedTuple):
    code: int
    out: str
    err: str
    folder: Path

    def logs(self) -> list[Log]:
        return [read(path) for path in sorted(self.folder.glob("*.akvlog"))]

    @property
    def log(self) -> Log:
        (log,) = self.logs()
        return log


Probe = Callable[..., Ran]


def run(
    engine: str, folder: Path, script: str, level: str = "host", *, check: bool = True, **variables: str
) -> Ran:
    """Run a script with ``record`` imported and its engine made sure of; it records into ``akv`` in ``folder``."""
    records = folder / "akv"
    records.mkdir(exist_ok=True)
    given = {"AKV_DIR": str(records), "AKV_LEVEL": level, "AKV_PROBE": engine, **variables}
    head = f"from akvsite import record\nassert record.engine() == {engine!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", head + script], env=environment(**given), cwd=folder, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr, records)
