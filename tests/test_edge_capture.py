"""The committed edge capture of a GPU, read from its raw files alone: the shim's launches beside Kineto's."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

from akvsite.scan import open_log

CAPTURE = Path(__file__).parents[1] / "captures/h200-edge-decode"


class Launch(NamedTuple):
    start: int
    end: int
    name: str


def by_start(calls: dict[int, list[Launch]]) -> dict[int, list[Launch]]:
    return {thread: sorted(mine) for thread, mine in calls.items()}


@pytest.fixture(scope="module")
def kineto() -> dict[int, list[Launch]]:
    """Launches of each thread, epoch ns."""
    (path,) = (CAPTURE / "files").glob("*.json.gz")
    trace = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    base = int(trace["baseTimeNanoseconds"])
    found = defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and "Launch" in event["name"]:
            start, duration = (int(Decimal(event[key]) * 1000) for key in ("ts", "dur"))
            found[int(event["tid"])].append(Launch(base + start, base + start + duration, event["name"]))
    return by_start(found)


@pytest.fixture(scope="module")
def shim() -> dict[int, list[Launch]]:
    """Launches of each thread, on CLOCK_REALTIME by the bracket in the file's header."""
    found = defaultdict(list)
    (path,) = (CAPTURE / "edge").glob("*.akvlog.gz")
    with open_log(path) as log:
        start = log.header.start
        offset = start.realtime_ns - (start.monotonic_before_ns + start.monotonic_after_ns) // 2
        names = {row["id"]: row["text"] for row in log.names.to_pylist() if row["what"] == 1}
        for call in log.table("calls").to_pylist():
            if "Launch" in names[call["name"]]:
                launch = Launch(call["enter_ns"] + offset, call["exit_ns"] + offset, names[call["name"]])
                found[call["thread"]].append(launch)
    return by_start(found)


def within(shim: list[Launch], kineto: list[Launch]) -> list[Launch]:
    """The shim's launches of the time that Kineto looked at, with a millisecond for how the two clocks may differ."""
    first, last = kineto[0].start - 1_000_000, kineto[-1].end + 1_000_000
    return [launch for launch in shim if first <= launch.start and launch.end <= last]


def test_launches_agree_in_order_in_each_thread(
    shim: dict[int, list[Launch]], kineto: dict[int, list[Launch]]
) -> None:
    assert kineto and kineto.keys() <= shim.keys()
    for thread, theirs in kineto.items():
        ours = within(shim[thread], theirs)
        assert len(ours) == len(theirs) == 3210
        pairs = Counter((a.name, b.name) for a, b in zip(ours, theirs, strict=True))
        # A library with a runtime of its own inside (cuDNN's) is seen where it enters the driver: Kineto shows the
        # runtime's call, the shim the driver's below it. All others have one name.
        assert set(pairs) == {
            ("__cudaLaunchKernel", "cudaLaunchKernel"),
            ("cuLaunchKernelEx", "cuLaunchKernelEx"),
            ("cuLaunchKernelEx", "cudaLaunchKernelExC"),
        }
        assert pairs["cuLaunchKernelEx", "cudaLaunchKernelExC"] == 240


def test_one_call_lies_in_the_other_within_what_the_clocks_allow(
    shim: dict[int, list[Launch]], kineto: dict[int, list[Launch]]
) -> None:
    """Of a pair of one name the shim's is outside; where Kineto has the runtime's call, the driver's is inside."""
    for thread, theirs in kineto.items():
        for ours, call in zip(within(shim[thread], theirs), theirs, strict=True):
            outer, inner = (call, ours) if call.name == "cudaLaunchKernelExC" else (ours, call)
            assert outer.start - 2_000 <= inner.start and inner.end <= outer.end + 2_000
