"""A trace that torch writes today, on this machine, is read whole."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from akvsite import readers
from akvsite.reading import Counted, Ending, Part, Rejected, Rows

STEPS, LAYERS = 5, 3
# In a process of its own: torch takes seconds to import, and its profiler keeps state in the process.
MAKE = f"""
import sys
import torch
from torch.profiler import ProfilerActivity, profile, record_function

torch.set_num_threads(1)
weights = torch.randn(32, 32)
x = torch.randn(1, 32)
with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as profiler:
    for step in range({STEPS}):
        with record_function(f"decode.step.{{step}}"):
            for layer in range({LAYERS}):
                with record_function(f"layer.{{layer}}"):
                    x = torch.tanh(x @ weights)
profiler.export_chrome_trace(sys.argv[1])
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("torch") / "run.pt.trace.json"
    subprocess.run([sys.executable, "-c", MAKE, str(path)], check=True, timeout=300)
    return path


@pytest.fixture(scope="module")
def parts(trace: Path) -> list[Part]:
    return list(readers.find(trace).read(trace))


def rows(parts: list[Part], table: str) -> list[dict[str, object]]:
    return [
        row
        for part in parts
        if isinstance(part, Rows) and part.table == table
        for row in part.rows.to_pylist()
    ]


def test_every_event_is_accounted_for(trace: Path, parts: list[Part]) -> None:
    events = json.loads(trace.read_bytes())["traceEvents"]
    counted = [part for part in parts if isinstance(part, Counted)]
    assert [part for part in parts if isinstance(part, Rejected)] == []
    assert sum(part.count for part in counted) == len(events)
    stored = Counter[str]()
    for part in parts:
        if isinstance(part, Rows):
            stored[part.table] += part.rows.num_rows
    for table in ("level2_host", "memory_event"):
        assert sum(part.count for part in counted if part.fate == table) == stored[table] > 0


def test_the_regions_that_were_made_are_there(parts: list[Part]) -> None:
    found = Counter(str(row["name"]) for row in rows(parts, "level2_host"))
    assert {f"decode.step.{n}": 1 for n in range(STEPS)}.items() <= found.items()
    assert {f"layer.{n}": STEPS for n in range(LAYERS)}.items() <= found.items()
    assert found["aten::tanh"] == STEPS * LAYERS
    layers = [row for row in rows(parts, "level2_host") if row["category"] == "layer"]
    assert Counter(row["layer"] for row in layers) == dict.fromkeys(range(LAYERS), STEPS)


def test_steps_are_numbered_and_follow_each_other(parts: list[Part]) -> None:
    steps = rows(parts, "step")
    assert [(s["number"], s["kind"], s["source"]) for s in steps] == [
        (n, "decode", "engine annotation") for n in range(STEPS)
    ]
    times = [time for s in steps for time in (s["start_ns"], s["end_ns"])]
    assert times == sorted(times)
    assert all(isinstance(time, int) for time in times)


def test_nothing_was_cut_or_mended(parts: list[Part]) -> None:
    ending = parts[-1]
    assert isinstance(ending, Ending)
    assert (ending.truncated, ending.repaired) == (False, {})
