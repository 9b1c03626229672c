"""One token followed by hand: its milestones out of the raw records, with ``struct`` and ``shim/AKVLOG.md`` alone.

Nothing of the reader, the scanner or the links is used, so that none of them is its own witness. It is done on a made-up
capture, and on the first committed one that holds a probe's file and its client's.
"""

from __future__ import annotations

import gzip
import struct
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bundles import ask, read_in
from probe_logs import ProbeLog

CAPTURES = Path(__file__).parents[1] / "captures"
OBJECT, PHASE, OF_REQUEST, OF_TOKEN, OF_STEP = 4, 17, 20, 21, 22
MILESTONES = (
    "arrived", "scheduled", "launched", "device_first", "device_last", "sampled", "copied", "detokenised", "sent", "client",
)  # fmt: skip


@dataclass(frozen=True)
class Record:
    kind: int
    name: str
    start: int
    end: int
    value: int
    words: tuple[int, int, int, int]


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
            yield Record(
                commit & 0xFF, self._ids.get(commit >> 16 & 0xFFFF, ""), start, end, value, tuple(words)
            )

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


def made_up(folder: Path) -> Path:
    """Two processes, three requests, chunks of one and two tokens; one token is never detokenised."""
    folder.mkdir()
    engine, client = ProbeLog(pid=41), ProbeLog(pid=42)
    for n, request in enumerate(("r1", "r2", 17)):
        engine.request(request, "arrived", 50 + n, tokens=4)
        client.request(request, "client sent", 20 + n, tokens=4)
    for step in range(4):
        at = 1_000 * (step + 1)
        engine.step(step, at, at + 900, batch=3)
        engine.phase("launch", at + 100, at + 200)
        engine.phase("wait", at + 200, at + 600)
        engine.stamp("scheduled", at + 10, step=step)
        engine.stamp("launched", at + 100, step=step)
        engine.stamp("sampled", at + 650, step=step)
        for n, request in enumerate(("r1", "r2", 17)):
            if (step, request) != (2, "r2"):
                engine.token(request, step, "detokenised", at + 700 + n, step=step)
            engine.token(request, step, "sent", at + 800 + n, step=step)
            if step % 2:
                client.token(request, step - 1, "client", at + 850 + n, tokens=2)
    engine.write(folder / "engine.akvlog")
    client.write(folder / "client.akvlog")
    lines = ["format = 1", f'name = "{folder.name}"', 'level = "runner"', '[host]\nname = "h"\nrole = "dev"']
    lines += [f'[[file]]\npath = "{role}.akvlog"' for role in ("engine", "client")]
    (folder / "capture.toml").write_text("\n".join(lines) + "\n")
    return folder


def committed() -> Path | None:
    for toml in sorted(CAPTURES.glob("*/capture.toml")):
        files = declared(toml.parent)
        if len(files) > 1 and roles([Raw(path) for path in files]):
            return toml.parent
    return None


@pytest.mark.parametrize("which", ["made up", "committed"])
def test_a_token_followed_by_hand_is_the_stores(which: str, tmp_path: Path) -> None:
    folder = made_up(tmp_path / "by-hand") if which == "made up" else committed()
    if folder is None:
        pytest.skip("no committed capture holds a probe's file and its client's yet")
    files = [Raw(path) for path in declared(folder)]
    found = roles(files)
    assert found is not None
    engine, client = found
    store = tmp_path / "akvsite.db"
    read_in(store, folder)
    (axis,) = {r["value"][:14] for r in ask(store, "SELECT value FROM run_fact WHERE key = 'host axis'")}
    # All files of one boot are moved by what the first of them says.
    moved = files[0].ahead if axis == "CLOCK_REALTIME" else 0
    tokens = sorted({(engine.request(r.words[0]), r.value) for r in engine.of_kind(OF_TOKEN)})
    assert tokens
    for request, place in {tokens[0], tokens[len(tokens) // 2], tokens[-1]}:
        step, marks = milestones(engine, client, request, place)
        rows = ask(
            store,
            "SELECT * FROM token t JOIN process p ON p.id = t.process_id WHERE p.pid = ? AND request = ? AND number = ? AND tokens IS NOT 0",
            str(engine.pid), request, place,
        )  # fmt: skip
        assert len(rows) == 1 and rows[0]["step"] == step
        expected = {milestone: at + moved for milestone, at in marks.items()}
        stored = {m: rows[0][f"{m}_ns"] for m in MILESTONES if rows[0][f"{m}_ns"] is not None}
        device = {m: stored.pop(m) for m in ("device_first", "device_last") if m not in marks and m in stored}
        assert stored == expected
        _assert_inside_its_phases(engine, step, device, rows[0]["device_bound_ns"], moved)


def _assert_inside_its_phases(
    engine: Raw, step: int | None, device: dict[str, int], bound: int | None, moved: int
) -> None:
    """What the store knows of the device lies between the step's launch phase and the end of its wait, within the bound."""
    steps = [r for r in engine.records if r.kind == 16 and r.words[0] == step]
    if not device or bound is None or len(steps) != 1:
        return
    own = [p for p in engine.of_kind(PHASE) if steps[0].start <= p.start and p.end <= steps[0].end]
    launched = min(p.start for p in own if p.name == "launch")
    waited = max(p.end for p in own if p.name == "wait")
    assert launched + moved <= device["device_first"] + bound
    assert device["device_last"] - bound <= waited + moved


def test_the_hand_sees_a_difference(tmp_path: Path) -> None:
    """The check itself can fail: another client's clock is another milestone."""
    folder = made_up(tmp_path / "by-hand")
    engine, client = (Raw(folder / f"{role}.akvlog") for role in ("engine", "client"))
    assert milestones(engine, client, "r2", 2) == (
        2,
        {
            "scheduled": 3_010,
            "launched": 3_100,
            "sampled": 3_650,
            "sent": 3_801,
            "arrived": 51,
            "client": 4_851,
        },
    )
    assert milestones(engine, None, "17", 0)[1].get("client") is None
