"""Memory snapshots of torch: a small one with the oddities of real ones, damaged and hostile ones, and a real one."""

from __future__ import annotations

import copy
import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from akvsite.errors import BadInput
from akvsite.readers import _pickled, find, torch_memory
from akvsite.readers._pickled import NotPlain, Pickled
from akvsite.reading import Rows

GOLDEN = Path(__file__).parent / "golden" / "memory_snapshot.pickle"
BASE = 0x7F0000000000
FRAMES = [{"filename": "/home/ada/serve.py", "name": "step", "line": 12}]
#: The golden file: expected rows are in ``golden/memory_snapshot.expected.json``.
SNAPSHOT: dict[str, Any] = {
    "segments": [
        {
            "device": 0, "address": BASE, "total_size": 4096, "allocated_size": 1536, "active_size": 2048,
            "requested_size": 1900, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
            "is_expandable": False, "frames": FRAMES,
            "blocks": [
                {"address": BASE, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": FRAMES},
                {"address": BASE + 1024, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": []},
                {"address": BASE + 1536, "size": 512, "requested_size": 400, "state": "active_pending_free"},
                {"address": BASE + 2048, "size": 2048, "requested_size": 0, "state": "inactive"},
            ],
        },
        # As older files have it: no addresses of blocks, no pool, nothing but sizes; and one of a graph's pool.
        {
            "device": 1, "address": 2**63 + 512, "total_size": 1024, "stream": 2**47, "segment_type": "large",
            "blocks": [
                {"size": 512, "state": "active_awaiting_free"},
                {"size": 512, "state": "inactive"},
            ],
        },
        {"device": 0, "address": 1, "total_size": 512, "segment_pool_id": (0, 3), "is_expandable": True, "blocks": []},
        # What nothing can be made of.
        {"device": 0, "address": "0x10", "total_size": 512, "blocks": [{"size": 1, "state": "inactive"}]},
        {"device": 0, "address": 5, "total_size": True, "blocks": [{"size": -1, "state": "inactive"}, {"size": 5}]},
        "a segment",
    ],
    "device_traces": [
        [
            {"action": "segment_alloc", "addr": BASE, "size": 4096, "stream": 0, "time_us": 1700000000000001},
            {"action": "alloc", "addr": BASE, "size": 1024, "stream": 0, "time_us": 1700000000000002, "frames": FRAMES},
            {"action": "alloc", "addr": BASE + 1024, "size": 512, "stream": 0, "time_us": 1700000000000003},
            {"action": "free_requested", "addr": BASE + 1024, "size": 512, "stream": 0, "time_us": 1700000000000004},
            {"action": "free_completed", "addr": BASE + 1024, "size": 512, "stream": 0, "time_us": 1700000000000005},
            {"action": "alloc", "addr": BASE + 1536, "size": 512, "stream": 0},
            {"action": "oom", "addr": 0, "size": 2**40, "device_free": 17, "stream": 0, "time_us": 1700000000000006},
            {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 1700000000000007},
            {"addr": 0, "size": 0},
            {"action": "alloc", "addr": BASE, "size": 1.5, "frames": FRAMES},
        ],
        [],
        None,
    ],
    "allocator_settings": {
        "PYTORCH_CUDA_ALLOC_CONF": "backend:native /home/ada", "expandable_segments": False, "max_split_size": -1,
        "roundup_power2_divisions": {"1": 0},
    },
}  # fmt: skip


def rows_of(path: Path, gather: Any) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = gather(find(path), path).rows
    return found


def test_the_golden_file_is_what_it_says(bless: bool) -> None:
    if bless:
        GOLDEN.write_bytes(pickle.dumps(SNAPSHOT, 4))
    assert pickle.loads(GOLDEN.read_bytes()) == SNAPSHOT


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("packed", [False, True])
def test_every_protocol_gives_the_same_rows(protocol: int, packed: bool, gather: Any, tmp_path: Path) -> None:
    data = pickle.dumps(SNAPSHOT, protocol)
    path = tmp_path / ("a.pickle.gz" if packed else "a.pickle")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert rows_of(path, gather) == rows_of(GOLDEN, gather)


def test_no_file_of_the_machine_comes_out(gather: Any) -> None:
    assert "ada" not in json.dumps(gather(find(GOLDEN), GOLDEN).plain())


@pytest.mark.parametrize(
    "snapshot",
    [
        {"segments": []},
        {"segments": [], "device_traces": []},
        {"segments": [], "device_traces": [[]], "allocator_settings": None},
    ],
)
def test_a_snapshot_may_be_empty(snapshot: dict[str, Any], gather: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(pickle.dumps(snapshot, 4))
    found = gather(find(path), path)
    assert found.rows == {} and found.rejected == []


class Global:
    """Pickled, it asks for a function."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_function_in_it_is_refused_and_not_called(protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "x": Global(tmp_path / "made")}, protocol))
    with pytest.raises(
        BadInput, match=r"^a\.pickle: byte \d+: asks for a class, a function or an object \((STACK_)?GLOBAL\)"
    ):
        list(find(path).read(path))
    assert not (tmp_path / "made").exists()


START = b"\x80\x04}\x8c\x08segments"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a class", b"(c__main__\nA\n"),
        ("an instance", b"(i__main__\nA\n"),
        ("an extension", b"\x82\x01"),
        ("a persistent id", b"N" + b"Q"),
        ("a state for an object", b"}" + b"b"),
        ("bytes, of which there are none in a snapshot", b"C\x01a"),
        ("a number of many bytes", b"\x8b\xff\xff\xff\x7f"),
        ("a long number", b"\x8a\xff" + b"\x01" * 255),
        ("a text that is longer than the file", b"\x8d" + b"\xff" * 7 + b"\x7f"),
        ("a text that is no text", b"\x8c\x02\xff\xfe"),
        ("a place that was never kept", b"j\xff\xff\xff\x7f"),
        ("more taken than there is", b"\x87\x87\x87"),
        ("a mark that is not there", b"t"),
        ("a mark above what was taken away", b"N(0000000t"),
        ("a list as a key", b"]N" + b"s"),
        ("a key without its value", b"(Nu"),
        ("an append to a number", b"K\x01" + b"Na"),
        ("a pickle without an end", b"]"),
        ("an end with nothing before it", b"00."),
    ],
)  # fmt: skip
def test_a_hostile_or_damaged_pickle_is_one_clear_line(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(START + data + (b"" if name == "a pickle without an end" else b"."))
    with pytest.raises(BadInput, match=r"^a\.pickle: ") as error:
        list(find(path).read(path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("opening", [b"]", b"}\x8c\x01k", b"("])
def test_however_deep_it_nests(opening: bytes, tmp_path: Path) -> None:
    """In a process of its own: what recurses would end it. Also as a record, and beside one."""
    deep = opening * 200_000 + b"N" + {b"]": b"a", b"(": b"t"}.get(opening, b"s") * 200_000
    path = tmp_path / "a.pickle"
    path.write_bytes(b"\x80\x04}(\x8c\x08segments](" + deep + b"e\x8c\x0ddevice_traces](" + deep + b"eu.")
    program = (
        "import sys; from pathlib import Path; from akvsite.readers import find; p = Path(sys.argv[1])\n"
        "print(sorted(type(part).__name__ for part in find(p).read(p)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Rejected" in done.stdout


def test_a_bomb_is_not_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pickle.gz"
    path.write_bytes(gzip.compress(START + b"]" + b"N" * (4 << 20) + b"."))
    monkeypatch.setattr(torch_memory, "MOST_BYTES", 1 << 20)
    with pytest.raises(BadInput, match="larger than 1 MiB"):
        list(find(path).read(path))


def test_one_segment_many_times_over_is_refused(tmp_path: Path) -> None:
    """A thousand mentions of one segment of a thousand blocks would be a million rows out of a few kilobytes."""
    blocks = [{"address": n, "size": 1, "state": "inactive"} for n in range(1000)]
    path = tmp_path / "a.pickle"
    path.write_bytes(
        pickle.dumps({"segments": [{"address": 0, "total_size": 1000, "blocks": blocks}] * 1000}, 4)
    )
    with pytest.raises(BadInput, match="one record stands in it several times"):
        list(find(path).read(path))


@pytest.mark.parametrize(
    ("limit", "data"), [("MOST_CONTAINERS", b"]" * 50), ("MOST_INSTRUCTIONS", b"N0" * 50)]
)  # fmt: skip
def test_what_it_may_use_is_bounded(limit: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Pickled(data + b"].").value() == []
    monkeypatch.setattr(_pickled, limit, 40)
    with pytest.raises(NotPlain, match="more than 40 "):
        Pickled(data + b"].").value()


def test_a_file_that_was_cut_says_where(tmp_path: Path) -> None:
    data = GOLDEN.read_bytes()
    path = tmp_path / "a.pickle.gz"
    path.write_bytes(gzip.compress(data)[:-300])
    with pytest.raises(BadInput, match=r"it ends in the middle \(gzip stream ends before its end mark\)"):
        list(find(path).read(path))


def test_every_cut_of_the_file_is_refused(tmp_path: Path) -> None:
    data = GOLDEN.read_bytes()
    for size in range(300, len(data), 7):
        with pytest.raises(NotPlain):
            Pickled(data[:size]).value()


@pytest.mark.parametrize(
    "data", [b"\x80\x04K\x01.", b"\x80\x04}\x8c\x08segmentsNs.", b"\x80\x04}\x8c\x08segments}s."]
)
def test_a_pickle_of_something_else(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"no reader knows this file|no list of segments in it"):
        list(find(path).read(path))


def test_what_follows_the_end_is_not_lost_in_silence(gather: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(GOLDEN.read_bytes() + b"more")
    last = gather(find(path), path).rejected[-1]
    assert (last.reason, last.raw) == ("follows the end of the pickle", "4 bytes")


def test_rows_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_memory, "BATCH_ROWS", 3)
    parts = [p for p in find(GOLDEN).read(GOLDEN) if isinstance(p, Rows)]
    assert [p.rows.num_rows for p in parts if p.table == "memory_event"] == [3, 3, 2]


def test_it_unpickles_what_python_unpickles() -> None:
    value = {"a": [1, -1, 255, 256, 65536, -(2**31), 2**63, -(2**63), 1.5, True, None, (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
             "text": ["x" * 300, "x" * 70_000, "ä", "\ud800"], 5: {"b": {}}}  # fmt: skip
    value["again"] = [value["a"], value["a"]]
    many = copy.deepcopy(value) | {f"k{n}": [n] for n in range(400)}
    for protocol in (2, 3, 4, 5):
        assert Pickled(pickle.dumps(many, protocol)).value() == many


def test_the_real_snapshot_against_its_truth(real: Path, gather: Any) -> None:
    truth = json.loads((real / "h200" / "truth.json").read_text())["memory"]
    found = gather(torch_memory.READER, real / "h200" / "memory_snapshot.pickle.gz")
    assert found.rejected == []
    blocks = found.rows["memory_block"]
    assert sum(s["bytes"] for s in found.rows["memory_segment"]) == truth["reserved"]
    active = [b for b in blocks if b["state"] == "active_allocated"]
    assert sum(b["bytes"] for b in active) == truth["allocated"]
    events = found.rows["memory_event"]
    left = sum(e["bytes"] for e in events if e["action"] in ("alloc", "free_completed"))
    # What was handed out in the history and is still held, among it what the requests leaked: a block each.
    held = [b for b in active if "since_ns" in b]
    # The history has what was asked for, and not what the block that was found for it holds.
    assert sum(b["requested_bytes"] for b in held) == left
    leaked = [b["bytes"] for b in held if b["bytes"] == truth["leaked_bytes"] // truth["requests"]]
    assert len(leaked) == truth["requests"] and sum(leaked) == truth["leaked_bytes"]
