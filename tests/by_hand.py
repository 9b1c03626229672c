"""Captures read by hand: out of the raw files, with ``struct``, ``json`` and ``shim/AKVLOG.md`` alone.

Nothing of the readers, the scanner, the links or the questions is used, so that none of them is its own witness.
"""

from __future__ import annotations

import gzip
import itertools
import json
import struct
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

CAPTURES = Path(__file__).parents[1] / "captures"
CALL, OBJECT, DEVICE_TIMES, STEP, PHASE, REGION, LAYER, OF_REQUEST, OF_TOKEN, OF_STEP = (
    2,
    4,
    5,
    16,
    17,
    18,
    19,
    20,
    21,
    22,
)
MILESTONES = (
    "arrived", "scheduled", "launched", "device_first", "device_last", "sampled", "copied", "detokenised", "sent", "client",
)  # fmt: skip


@dataclass(frozen=True)
class Record:
    kind: int
    name: str
    start: int
    end: int
    thread: int
    value: int
    words: tuple[int, ...]
    #: Its place in the file, from 0.
    index: int


class Raw:
    """An akvlog file as it lies there."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        data = gzip.decompress(content) if path.suffix == ".gz" else content
        self.producer = data[384:512].partition(b"\0")[0].decode()
        self.pid = struct.unpack_from("<I", data, 72)[0]
        before, real, after, _ = struct.unpack_from("<4q", data, 80)
        self.ahead = real - (before + after) // 2
        names_at, names_bytes = struct.unpack_from("<QQ", data, 24)
        records_at, capacity = struct.unpack_from("<QQ", data, 56)
        reserved, names_used = struct.unpack_from("<Q", data, 192)[0], struct.unpack_from("<Q", data, 256)[0]
        names = data[names_at : names_at + min(names_bytes, names_used)]
        self._ids: dict[int, str] = {}
        self._objects: dict[int, str] = {}
        at = 0
        while at + 8 <= len(names):
            length, what, id = struct.unpack_from("<IHH", names, at)
            text = names[at + 8 : at + 8 + (length & 0x7FFFFFFF)].decode("utf-8", "replace")
            if what == 1:
                self._ids[id] = text
            elif what == 2:
                self._objects[at] = text
            at += 8 + (len(text.encode()) + 7) // 8 * 8 if length else 8
        self.records = list(self._read(data, records_at, min(reserved, capacity)))
        #: The request that each number stood for last: the captures here never give a number twice.
        self._requests = {
            r.words[0]: self._objects[r.words[1]] for r in self.records if r.kind == OBJECT and r.value == 3
        }

    def _read(self, data: bytes, at: int, count: int) -> Iterator[Record]:
        for index in range(min(count, (len(data) - at) // 64)):
            commit, start, end, thread, *words = struct.unpack_from("<8Q", data, at + 64 * index)
            if commit >> 32 != (index + 1) & 0xFFFFFFFF or not commit & 0xFF:
                continue
            value = struct.unpack("<i", struct.pack("<I", thread >> 32))[0]
            name = self._ids.get(commit >> 16 & 0xFFFF, "")
            yield Record(commit & 0xFF, name, start, end, thread & 0xFFFFFFFF, value, tuple(words), index)

    def request(self, number: int) -> str:
        return self._requests.get(number, str(number))

    def of_kind(self, kind: int) -> list[Record]:
        return [r for r in self.records if r.kind == kind]


def milestones(
    engine: Raw, client: Raw | None, request: str, place: int
) -> tuple[int | None, dict[str, int]]:
    """The step of a token and its milestones, on CLOCK_MONOTONIC."""
    found: dict[str, int] = {}
    step = None
    for record in engine.of_kind(OF_TOKEN):
        if engine.request(record.words[0]) == request and record.value == place:
            found.setdefault(record.name, record.start)
            step = record.words[1] - 1 if record.words[1] and step is None else step
    for record in engine.of_kind(OF_STEP):
        if record.words[0] == step:
            found.setdefault(record.name, record.start)
    for record in engine.of_kind(OF_REQUEST):
        if engine.request(record.words[0]) == request and record.name == "arrived":
            found.setdefault("arrived", record.start)
    for record in client.of_kind(OF_TOKEN) if client else []:
        holds = range(record.value, record.value + record.words[2] - 1)
        if client.request(record.words[0]) == request and record.name == "client" and place in holds:
            found.setdefault("client", record.start)
    return step, found


def declared(folder: Path) -> list[Path]:
    toml = tomllib.loads((folder / "capture.toml").read_text())
    return [folder / f["path"] for f in toml.get("file", []) if ".akvlog" in f["path"]]


def roles(files: list[Raw]) -> tuple[Raw, Raw] | None:
    """The file of the engine's probe, and that of its client."""
    probes = [f for f in files if f.producer.startswith("akv_probe")]
    engine = [f for f in probes if any(r.name != "client" for r in f.of_kind(OF_TOKEN))]
    client = [f for f in files if f not in engine and any(r.name == "client" for r in f.of_kind(OF_TOKEN))]
    return (engine[0], client[0]) if len(engine) == 1 and len(client) == 1 else None


def budget(engine: Raw, step: Record) -> dict[str, int]:
    """Where the host's time in a step went, ns: by region, all layer windows as one, moment by moment.

    A moment belongs to the row that began first of those that cover it. A layer window in which a region begins is left
    out: what lies in it is the regions' time.
    """
    rows = [
        r
        for r in (*engine.of_kind(REGION), *engine.of_kind(LAYER))
        if step.start <= r.start < step.end and r.thread == step.thread
    ]
    regions = [r for r in rows if r.kind == REGION]
    rows = [
        r for r in rows if r.kind == REGION or not any(r.start <= inner.start < r.end for inner in regions)
    ]
    edges = sorted({t for r in rows for t in (r.start, min(r.end, step.end))})
    found: dict[str, int] = {}
    for low, high in itertools.pairwise(edges):
        over = [r for r in rows if r.start <= low and r.end >= high]
        if over:
            owner = min(over, key=lambda r: (r.start, -r.end))
            name = "layer windows" if owner.kind == LAYER else owner.name
            found[name] = found.get(name, 0) + high - low
    return found


@dataclass(frozen=True)
class Pair:
    """A call and one device record of it: what is known of both without any conversion of clocks, ns."""

    call: str
    #: On CLOCK_MONOTONIC where the recorder saw it, on CLOCK_REALTIME where the trace did.
    call_start: int
    call_length: int
    record_start: int
    record_length: int


def pairs_of_recorder(edge: Raw) -> list[Pair]:
    """Device times that the recorder read from the event of a call, beside that call: by the number of its record."""
    calls = {r.index: r for r in edge.of_kind(CALL)}
    found = []
    for times in edge.of_kind(DEVICE_TIMES):
        made_by, failed = calls.get(times.start), times.value
        if made_by is not None and not failed:
            first, last = times.words[2:]
            found.append(Pair(made_by.name, made_by.start, made_by.end - made_by.start, first, last - first))
    return found


def pairs_of_trace(path: Path) -> list[Pair]:
    """Kernels, copies and fills of a trace beside the runtime call that has the same correlation id."""
    trace = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    events, base = trace["traceEvents"], trace["baseTimeNanoseconds"]

    def ns(event: dict[str, Any], key: str) -> int:
        return int((Decimal(event[key]) * 1000).to_integral_value()) + (base if key == "ts" else 0)

    calls: dict[int, list[dict[str, Any]]] = {}
    for event in events:
        if event.get("cat") in ("cuda_runtime", "cuda_driver"):
            calls.setdefault(event["args"]["correlation"], []).append(event)
    found = []
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            own = calls.get(event["args"]["correlation"], [])
            if own:
                found.append(
                    Pair(
                        own[0]["name"], ns(own[0], "ts"), ns(own[0], "dur"), ns(event, "ts"), ns(event, "dur")
                    )
                )
    return found


class Loaded:
    """Rows that a page loads, decoded as a browser does it."""

    def __init__(self, folder: Path) -> None:
        self.index = _argument(folder / "index.js", "akvListing(")[0]
        self.origin = {c["name"]: int(c["origin"]) for c in self.index["columns"] if "origin" in c}
        self.rows: list[dict[str, Any]] = []
        for number, count in enumerate(self.index["pieces"]):
            _, columns = _argument(folder / f"{number}.js", "akvPiece(")
            values = {name: _decoded(own, count) for name, own in columns.items()}
            self.rows += [{name: own[at] for name, own in values.items()} for at in range(count)]

    def time(self, row: dict[str, Any], name: str) -> int | None:
        """A time on its own axis, ns."""
        value: int | None = row[name]
        return None if value is None else value + self.origin[name]


def _argument(path: Path, function: str) -> list[Any]:
    text = path.read_text()
    assert text.startswith(function) and text.endswith(");\n")
    return json.loads(f"[{text[len(function) : -3]}]")


def _decoded(column: dict[str, Any], count: int) -> list[Any]:
    if "c" in column:
        values = [column["c"]] * count
    elif "t" in column:
        values = [None if at is None else column["t"][at] for at in column["i"]]
    elif "d" in column:
        values, last = [], 0
        for step in column["d"]:
            last += step or 0
            values.append(None if step is None else last)
    else:
        values = column["v"]
    for at, text in column.get("raw", {}).items():
        values[int(at)] = text
    return values
