"""torch's profiler over chosen steps, on the CPU: the file that it leaves is read, and holds those steps."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from bundles import ask, read_in
from capturing import ROOT

from akvsite.errors import BadInput
from akvsite.record import torch_device
from akvsite.record.torch_device import Profiler

# In a process of their own: torch takes seconds to import. One after another in it, so each also comes after the others.
START = """
import json, os, sys
from akvsite.record.torch_device import Profiler

def run(profiler, steps, inside=lambda number: None):
    for number in steps:
        with profiler.step(number):
            import torch
            torch.set_num_threads(1)
            for layer in range(2):
                with torch.profiler.record_function(f"layer.{layer}"):
                    torch.tanh(torch.ones(8, 8) @ torch.ones(8, 8))
            inside(number)

said = {}
for name, program in json.load(sys.stdin).items():
    os.environ["AKV_FILES"] = os.path.join(sys.argv[1], name)
    os.mkdir(os.environ["AKV_FILES"])
    scope = {"run": run, "Profiler": Profiler, "os": os, "sys": sys}
    exec(program, scope)
    said[name] = {"facts": scope["p"].facts, "told": scope.get("told")}
print(json.dumps(said))
"""

WINDOW = """
early = "torch" in sys.modules
p = Profiler(4, 7, warm_up=2)
late = "torch._inductor" in sys.modules
run(p, range(10))
told = [early, late, p.close().name, p.close()]
"""
#: Programs, and the steps that their file holds.
ENDS = {
    "ends-in-the-window": ("p = Profiler(1, 90); run(p, range(4)); p.close()", [1, 2, 3]),
    "closed-in-a-step": ("p = Profiler(1, 90); run(p, range(4), lambda n: n == 3 and p.close())", [1, 2, 3]),
    "exception": (
        "p = Profiler(1, 90)\ntry: run(p, range(4), lambda n: 1 / (n < 2))\nexcept ZeroDivisionError: pass\np.close()",
        [1, 2],
    ),
    "numbers-jump": ("p = Profiler(2, 5); run(p, (0, 3, 4, 8, 9)); p.close()", [3, 4]),
    "no-warm-up": ("p = Profiler(0, 1, warm_up=0); run(p, range(3)); p.close()", [0, 1]),
    "closed-in-its-warm-up-then-another": (
        "p = Profiler(3, 4); run(p, range(2)); p.close(); p = Profiler(3, 4); run(p, range(6)); p.close()",
        [3, 4],
    ),
}
NO_FILE = {
    "never-came": ("p = Profiler(50, 60); run(p, range(10)); p.close()", "0"),
    "ended-in-the-warm-up": ("p = Profiler(10, 60); run(p, range(9)); p.close()", "0"),
    "no-file-wanted": (
        """
import torch
told = []
p = Profiler(1, 3, export=False)
run(p, range(5), lambda n: told.append(torch._C._autograd._profiler_enabled()))
p.close()
""",
        "3",
    ),
}
DOCS = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "site_src/device.md").read_text(), re.DOTALL | re.MULTILINE
)
OTHERS = {
    "window": WINDOW,
    "docs": f"steps = 130\n{DOCS[0]}\np = profiler",
    "folder-gone": "p = Profiler(0, 1); run(p, range(3)); os.rmdir(os.environ['AKV_FILES']); p.close()",
    "twice": "for _ in range(2):\n  p = Profiler(0, 1); run(p, range(3)); p.close()",
}


class Done(NamedTuple):
    folder: Path
    told: dict[str, dict[str, Any]]
    lines: list[str]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("profiles")
    programs = OTHERS | {name: program for name, (program, _) in (ENDS | NO_FILE).items()}
    ended = subprocess.run(
        [sys.executable, "-c", START, str(folder)], env={"OMP_NUM_THREADS": "1", "PATH": ""},
        input=json.dumps(programs), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    lines = [line for line in ended.stderr.splitlines() if line.startswith("akvsite: ")]
    return Done(folder, json.loads(ended.stdout), lines)


def steps_of(store: Path, file: Path) -> list[tuple[object, ...]]:
    read_in(store, file)
    return [
        tuple(row.values()) for row in ask(store, "SELECT number, kind, source FROM step ORDER BY start_ns")
    ]


def test_the_steps_of_the_window_are_in_the_file_and_no_others(done: Done, tmp_path: Path) -> None:
    (file,) = (done.folder / "window").iterdir()
    assert done.told["window"]["told"][2:] == [file.name, None]
    assert str(done.folder).encode() not in _unpacked(file) and b"/tmp" not in _unpacked(file)
    assert steps_of(tmp_path / "a.db", file) == [(n, "decode", "engine annotation") for n in (4, 5, 6, 7)]
    (layers,) = ask(tmp_path / "a.db", "SELECT count(*) AS n FROM level2_host WHERE category = 'layer'")
    assert layers["n"] == 8
    assert done.told["window"]["facts"] == {
        "profiler": "torch", "profiler.steps": "4", "profiler.activities": "CPU", "profiler.file": file.name,
    }  # fmt: skip


def test_what_takes_long_to_load_is_loaded_before_the_first_step(done: Done) -> None:
    assert done.told["window"]["told"][:2] == [False, True]


@pytest.mark.parametrize("name", ENDS)
def test_however_the_window_ends(name: str, done: Done, tmp_path: Path) -> None:
    (file,) = (done.folder / name).iterdir()
    steps = ENDS[name][1]
    assert [row[0] for row in steps_of(tmp_path / "a.db", file)] == steps
    assert done.told[name]["facts"]["profiler.steps"] == str(len(steps))
    assert done.told[name]["facts"].get("profiler.cut_step") == ("3" if name == "closed-in-a-step" else None)


@pytest.mark.parametrize("name", NO_FILE)
def test_no_file_where_there_is_nothing_to_write(name: str, done: Done) -> None:
    assert list((done.folder / name).iterdir()) == []
    assert done.told[name]["facts"]["profiler.steps"] == NO_FILE[name][1]


def test_without_a_file_the_profiler_is_on_all_the_same(done: Done) -> None:
    assert done.told["no-file-wanted"]["told"] == [False, True, True, True, False]


def test_the_page_about_it_says_how(done: Done, tmp_path: Path) -> None:
    (file,) = (done.folder / "docs").iterdir()
    assert [row[0] for row in steps_of(tmp_path / "a.db", file)] == list(range(100, 120))


def test_a_folder_that_is_gone_is_a_line_and_not_the_end(done: Done) -> None:
    assert done.lines == ["akvsite: the profiler's trace could not be written: No such file or directory"]
    assert done.told["folder-gone"]["facts"]["profiler.failed"] == "the trace could not be written"


def test_a_name_that_is_taken_is_left_alone(done: Done) -> None:
    assert len(list((done.folder / "twice").glob("torch-*-steps-0-1*.pt.trace.json.gz"))) == 2


def test_what_cannot_be_met_is_said_before_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AKV_FILES", raising=False)
    monkeypatch.setattr(torch_device, "_torch", SimpleNamespace)
    for first, last in ((3, 2), (-1, 4)):
        with pytest.raises(BadInput, match="is no range of steps"):
            Profiler(first, last, folder=tmp_path)
    with pytest.raises(BadInput, match="names no folder"):
        Profiler(1, 2)


class _Torch:
    """A torch whose one device gives snapshots of its memory: all of it (``_snapshot``), or what is held alone."""

    __version__ = "0"

    def __init__(self, kind: str, gives: str = "_snapshot") -> None:
        self.asked: dict[str, object] = {}
        memory = SimpleNamespace()
        if gives == "_snapshot":
            memory = SimpleNamespace(_record_memory_history=self._record, _snapshot=_snapshot)
        elif gives:
            memory = SimpleNamespace(memory_snapshot=lambda: _snapshot()["segments"])
        setattr(self, kind, SimpleNamespace(is_available=lambda: True, memory=memory))

    def _record(self, **options: object) -> None:
        self.asked = options


def _snapshot() -> dict[str, object]:
    frames = [{"filename": "/home/ada/serve.py", "name": "step", "line": 3}]
    block = {
        "address": 4096,
        "size": 512,
        "requested_size": 500,
        "state": "active_allocated",
        "frames": frames,
    }
    return {
        "segments": [{"device": 0, "address": 4096, "total_size": 1024, "frames": frames, "blocks": [block]}],
        "device_traces": [[{"action": "alloc", "addr": 4096, "size": 512, "time_us": 7, "frames": frames}]],
        "allocator_settings": {"x": "/home/ada"},
        "external_annotations": ["ada"],
    }


@pytest.mark.parametrize(
    ("kind", "gives"), [("cuda", "_snapshot"), ("xpu", "_snapshot"), ("xpu", "memory_snapshot")]
)
def test_a_memory_snapshot_names_no_file_of_the_machine(
    kind: str, gives: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = _Torch(kind, gives)
    monkeypatch.setattr(torch_device, "_torch", lambda: torch)
    assert torch_device.memory_history(10) == kind
    path = torch_device.memory_snapshot(tmp_path / "memory.pickle.gz")
    assert list(tmp_path.iterdir()) == [path]
    held = _unpacked(path)
    assert b"ada" not in held and b"active_allocated" in held
    read_in(tmp_path / "a.db", path)
    assert ask(tmp_path / "a.db", "SELECT bytes, requested_bytes, since_ns FROM memory_block") == [
        {"bytes": 512, "requested_bytes": 500, "since_ns": 7_000 if gives == "_snapshot" else None}
    ]
    if gives == "_snapshot":
        assert torch.asked["context"] is None and torch.asked["max_entries"] == 10


@pytest.mark.parametrize("torch", [_Torch("cuda", ""), _Torch("xpu", ""), _Torch("mps")])
def test_no_memory_snapshot_where_torch_gives_none(
    torch: _Torch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_device, "_torch", lambda: torch)
    for ask_for in (torch_device.memory_history, lambda: torch_device.memory_snapshot(tmp_path / "a.gz")):
        with pytest.raises(BadInput, match="torch 0 gives none of any device here"):
            ask_for()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("there", "seen"),
    [({"cuda"}, "CPU, CUDA"), ({"xpu"}, "CPU, XPU"), ({"cuda", "xpu"}, "CPU, CUDA"), (set(), "CPU")],
)
def test_it_looks_at_the_devices_that_are_there(
    there: set[str], seen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device may be there whose activity this torch does not support, as XPU in the last but one."""
    kinds = {name: SimpleNamespace(name=name) for name in ("CPU", "CUDA", "XPU")}
    made: list[list[object]] = []
    profiler = SimpleNamespace(prepare_trace=lambda: None, start_trace=lambda: None, stop_trace=lambda: None)
    supported = [kinds[name] for name in seen.split(", ")]
    torch = SimpleNamespace(
        profiler=SimpleNamespace(
            ProfilerActivity=SimpleNamespace(**kinds),
            supported_activities=lambda: supported,
            profile=lambda activities, **options: made.append(activities) or profiler,
            record_function=lambda name: contextlib.nullcontext(),
        ),
        **{kind: SimpleNamespace(is_available=lambda kind=kind: kind in there) for kind in ("cuda", "xpu")},
    )
    monkeypatch.setattr(torch_device, "_torch", lambda: torch)
    one = Profiler(0, 0, folder=tmp_path, export=False)
    with one.step(0):
        pass
    assert one.close() is None
    assert made == [supported] and one.facts["profiler.activities"] == seen


def test_outside_the_window_a_step_is_the_same_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_device, "_torch", SimpleNamespace)
    profiler = Profiler(100, 101, folder=tmp_path)
    assert profiler.step(3) is profiler.step(4)
    with contextlib.suppress(KeyError), profiler.step(5):
        raise KeyError


def _unpacked(path: Path) -> bytes:
    import gzip

    return gzip.decompress(path.read_bytes())
