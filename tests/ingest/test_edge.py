"""Files of our recorders in a run: links by event, and one axis with the vendor's trace of the same process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from akvlogs import AkvLog
from bundles import ask, read_in
from hypothesis import given
from hypothesis import strategies as st
from two_tools import EPOCH, both, shim, vendor

from akvsite.errors import BadInput
from akvsite.link import same_call


def test_both_are_on_one_axis_and_no_call_counts_twice(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, *both(tmp_path), run="both")
    calls = ask(store, "SELECT source, name, start_ns - ? AS at FROM level4_edge ORDER BY id", EPOCH)
    assert [c["at"] for c in calls if c["source"] == "shim"] == [5_000, 6_000, 6_100, 7_000, 8_500]
    pairs = ask(
        store,
        "SELECT s.start_ns - ? AS shim, v.start_ns - ? AS vendor, p.made_by FROM same_call p"
        " JOIN level4_edge s ON s.id = p.shim_id JOIN level4_edge v ON v.id = p.vendor_id ORDER BY 1",
        EPOCH, EPOCH,
    )  # fmt: skip
    assert [(p["shim"], p["vendor"]) for p in pairs] == [(5_000, 5_020), (6_000, 6_020)]
    assert {p["made_by"] for p in pairs} == {"order in the thread"}
    seen = ask(store, "SELECT direction, kind, seen, expected FROM coverage ORDER BY 1, 2")
    assert [tuple(row.values()) for row in seen] == [
        ("calls with device records", "copy", 0, 1),
        # Neither the driver call inside the second launch nor the one after the trace had ended counts.
        ("calls with device records", "kernel", 2, 2),
        ("device records with a call", "kernel", 2, 2),
        ("steps with device records", "step", 1, 1),
    ]
    (cost,) = ask(store, "SELECT * FROM call_cost WHERE name = '__cudaLaunchKernel'")
    assert (cost["calls"], cost["calls_linked"], cost["intervals"]) == (3, 2, 2)


def test_the_bound_of_the_axis_is_stated(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, *both(tmp_path), run="both")
    facts = {r["key"]: r["value"] for r in ask(store, "SELECT key, value FROM fact_list")}
    # 50 ns at the start, 50 at the close, 10 of drift.
    assert facts["host axis is known to, in ns"] == "110"
    assert "CLOCK_REALTIME" in facts["host axis"] and "10 ns of drift" in facts["host axis"]


def test_the_shims_calls_lie_in_the_steps_of_their_process(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, *both(tmp_path), run="both")
    found = ask(store, "SELECT step_id FROM level4_edge WHERE source = 'shim' ORDER BY id")
    assert [r["step_id"] for r in found] == [1, 1, 1, 1, None]


def test_another_process_is_not_taken_for_the_same(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, shim(tmp_path / "a.akvlog"), vendor(tmp_path / "b.json", pid=42), run="both")
    assert ask(store, "SELECT count(*) AS n FROM same_call") == [{"n": 0}]
    # Nothing tells them apart, so what counts is what the vendor's tracer saw.
    (seen,) = ask(store, "SELECT seen, expected FROM coverage WHERE direction LIKE 'calls%'")
    assert seen == {"seen": 2, "expected": 2}


def test_alone_it_stays_on_its_own_clock(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, shim(tmp_path / "a.akvlog"))
    assert ask(store, "SELECT min(start_ns) AS first FROM level4_edge") == [{"first": 5_000}]
    facts = {r["key"]: r["value"] for r in ask(store, "SELECT key, value FROM fact_list")}
    assert facts["host axis"] == "CLOCK_MONOTONIC, as recorded"


def test_a_trace_that_comes_later_does_not_make_two_axes(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    log, trace = shim(tmp_path / "a.akvlog"), vendor(tmp_path / "b.json")
    read_in(store, log, run="both")
    with pytest.raises(BadInput, match="give all files of the run together"):
        read_in(store, trace, run="both")
    read_in(store, trace, run="other")
    read_in(store, log, run="other")
    assert len(ask(store, "SELECT * FROM same_call")) == 2


def test_device_times_belong_to_their_calls_by_the_event(tmp_path: Path) -> None:
    log = AkvLog(["urEnqueueKernelLaunch"])
    first = log.call(0, enter=10, exit=20, event=5, queue=1)
    second = log.call(0, enter=30, exit=40, event=5, queue=1)
    # Read later, and in another order; and one whose call is lost.
    log.device(second, 5, start=300, end=310)
    log.device(first, 5, start=100, end=110)
    log.device(99, 5, start=500, end=510)
    store = tmp_path / "akvsite.db"
    read_in(store, log.write(tmp_path / "a.akvlog"))
    found = ask(
        store,
        "SELECT c.start_ns AS host, d.start_ns AS device, l.made_by FROM link l JOIN level4_edge c ON c.id = l.call_id"
        " JOIN level3_device d ON d.id = l.interval_id ORDER BY 1",
    )
    assert [tuple(r.values()) for r in found] == [(10, 100, "event handle"), (30, 300, "event handle")]
    (run,) = ask(store, "SELECT level, clock FROM run")
    assert run == {"level": 4, "clock": "device clock, not converted"}
    assert ask(store, "SELECT * FROM launch_delay") == []


def test_what_a_recorder_lost_is_said(tmp_path: Path) -> None:
    log = AkvLog(["urEnqueueKernelLaunch", "urEventGetInfo"], counts={1: 12}, header={"device_times_lost": 3})
    log.device(log.call(0, enter=10, exit=20, event=5), 5, start=1, end=2)
    log.hole()
    store = tmp_path / "akvsite.db"
    read_in(store, log.write(tmp_path / "a.akvlog"))
    lost = ask(store, "SELECT what, fate, count FROM call_lost ORDER BY count")
    assert [tuple(r.values()) for r in lost] == [
        ("record", "hole: reserved and never written", 1),
        ("device times", "lost: too many events waited to be read", 3),
        ("call urEventGetInfo", "counted only: neither its time nor what it did", 12),
    ]
    assert ask(store, "SELECT name, count FROM call_counted") == [{"name": "urEventGetInfo", "count": 12}]
    assert ask(store, "SELECT because FROM sight") == [{"because": "a recorder lost records"}]


def test_a_driver_call_inside_the_vendors_runtime_call_is_that_call() -> None:
    """A runtime inside a library is not seen by the shim, and what it asks the driver for is."""

    def one(group: int, start: int, end: int) -> same_call.Calls:
        return same_call.Calls(*(np.array([v]) for v in (group, group, 9, start, end)))

    assert [ids.tolist() for ids in same_call.same_calls(one(1, 120, 180), one(2, 100, 200), 0)] == [[1], [2]]
    assert [ids.tolist() for ids in same_call.same_calls(one(1, 220, 280), one(2, 100, 200), 0)] == [[], []]


SPANS = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 6)), max_size=10)


def laid(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Calls of one thread: one after another, with gaps."""
    at, made = 0, []
    for gap, length in spans:
        made.append((at + gap, at + gap + length))
        at = made[-1][1]
    return made


def calls(spans: list[tuple[int, int]]) -> same_call.Calls:
    starts, ends = (np.array([span[i] for span in spans], np.int64) for i in (0, 1))
    return same_call.Calls(
        np.arange(len(spans)), np.zeros(len(spans), np.int64), np.full(len(spans), -1), starts, ends
    )


def slowly(outer: list[tuple[int, int]], inner: list[tuple[int, int]], bound: int) -> list[tuple[int, int]]:
    pairs, free = [], 0
    for number, (start, end) in enumerate(inner):
        for place in range(free, len(outer)):
            if outer[place][0] <= start + bound and outer[place][1] >= end - bound:
                pairs.append((place, number))
                free = place + 1
                break
    return pairs


@given(SPANS, SPANS, st.integers(0, 3))
def test_the_same_calls_are_those_that_a_slow_reading_finds(outer, inner, bound: int) -> None:
    shim_ids, vendor_ids = same_call.same_calls(calls(laid(outer)), calls(laid(inner)), bound)
    assert list(zip(shim_ids.tolist(), vendor_ids.tolist(), strict=True)) == slowly(
        laid(outer), laid(inner), bound
    )
