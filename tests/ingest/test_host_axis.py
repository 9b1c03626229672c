"""Device times on the host's axis: what bounds them, what contradicts them, and what is said where nothing does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bundles import ask, call, interval, read_in, steps, write_capture

from akvsite.link import host_axis
from akvsite.store import Store

#: The host's clock is ahead of the device's by this, in every capture made here. Epoch times: no float holds them.
AHEAD = 1_790_000_000_000_000_001 - 7_000_000_000


def shim_call(index: int, name: str, kind: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    row = {"name": name, "kind": kind, "start_ns": start, "end_ns": end, "thread": "1", "source": "shim"}
    return {**row, "result": 0, "call_index": index, **more}


def capture(
    folder: Path,
    *,
    readings: list[tuple[int, int, int]],
    kernels: list[tuple[int, int]],
    launch_early: int = 5_000,
    wait_late: int | None = 9_000,
    waited_with: int = 0,
    tick: int | None = None,
) -> Path:
    """A capture in true host times: readings (before, at, after), kernels (start, end), each launched, each waited for."""
    calls, waits, intervals = [], [], []
    for n, (start, end) in enumerate(kernels):
        entered = start - launch_early
        calls.append(
            shim_call(
                2 * n, "urEnqueueKernelLaunch", "launch", entered, entered + 10, event=n + 1, queue="0x1"
            )
        )
        if wait_late is not None:
            calls.append(
                shim_call(2 * n + 1, "urEventWait", "wait", end, end + wait_late, result=waited_with)
            )
            waits.append({"call_id": 2 * n + 1, "event": n + 1, "maker_id": 2 * n})
        row = interval(start - AHEAD, end - AHEAD, None, device="0xd", queue="0x1")
        intervals.append(row | {"call_index": 2 * n, "clock": "device"})
    samples = [
        {
            "device": "0xd",
            "host_before_ns": before,
            "host_after_ns": after,
            "device_ns": at - AHEAD,
            "resolution_ns": tick,
            "source": "shim",
        }
        for before, at, after in readings
    ]
    tables = {
        "level4_edge": calls,
        "edge_wait": waits,
        "level3_device": intervals,
        "clock_sample": samples,
    }
    return write_capture(folder, {t: rows for t, rows in tables.items() if rows}, level="edge")


def at(seconds: float) -> int:
    return 1_790_000_000_000_000_000 + round(seconds * 1e9)


READINGS = [(at(s) - 9_000, at(s), at(s) + 1_000) for s in (0.0, 0.5, 1.0)]
KERNELS = [(at(s), at(s) + 40_000) for s in (0.2, 0.4, 0.6)]


def bound(store: Path) -> dict[str, Any]:
    (row,) = ask(store, "SELECT * FROM device_clock")
    return row


def test_a_bounded_time_lies_where_it_was_and_says_how_far_it_is_known(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, capture(tmp_path / "a", readings=READINGS, kernels=KERNELS))
    known = bound(store)
    assert (known["state"], known["readings"], known["starts"], known["ends"]) == ("bounded", 3, 3, 3)
    # A bracket of 10 us leaves 5 either way; the launch, 5 us before, holds its lower end.
    assert known["half_widest_ns"] <= 5_000
    assert known["least_wander_ppm"] == pytest.approx(0, abs=1e-6)
    rows = ask(store, "SELECT h.* FROM device_on_host h ORDER BY interval_id")
    assert len(rows) == 3
    for (start, end), row in zip(KERNELS, rows, strict=True):
        assert abs(row["start_ns"] - start) <= row["start_bound_ns"] <= known["half_widest_ns"]
        assert abs(row["end_ns"] - end) <= row["end_bound_ns"] <= known["half_widest_ns"]
    assert ask(store, "SELECT clock FROM run") == [{"clock": "bounded"}]
    delays = ask(store, "SELECT delay_ns, bound_ns, clock FROM launch_delay")
    assert all(abs(d["delay_ns"] - 5_000) <= d["bound_ns"] and d["clock"] == "device" for d in delays)
    band = ask(store, "SELECT * FROM clock_band")
    assert band and all(k["low_ns"] <= AHEAD <= k["high_ns"] for k in band)


def test_what_the_readings_could_be_wrong_by_is_told(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, capture(tmp_path / "a", readings=READINGS, kernels=KERNELS))
    known = bound(store)
    # The readings leave [-9, 1] us around the truth and causality [-5, 9]: less a bias they touch from -18 to 6 us.
    assert known["blind_low_ns"] == pytest.approx(-18_000, abs=1_500)
    assert known["blind_high_ns"] == pytest.approx(6_000, abs=1_500)
    # Causality alone leaves 5 us and 9 us: half of 14.
    assert known["causal_half_widest_ns"] == pytest.approx(7_000, abs=1_500)


def test_a_kernel_that_no_clock_can_put_after_its_launch_converts_nothing(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    folder = capture(tmp_path / "a", readings=READINGS, kernels=KERNELS, launch_early=-20_000)
    read_in(store, folder)
    known = bound(store)
    assert known["state"] == "inconsistent" and "no clock" in known["because"]
    assert known["half_widest_ns"] is None
    assert ask(store, "SELECT * FROM device_on_host") == []
    assert ask(store, "SELECT * FROM launch_delay") == []
    assert ask(store, "SELECT clock FROM run") == [{"clock": "inconsistent"}]


@pytest.mark.parametrize("wait", [{"wait_late": None}, {"waited_with": -5}])
def test_without_readings_and_without_a_wait_that_went_well_one_side_alone_is_held(
    tmp_path: Path, wait: dict[str, Any]
) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, capture(tmp_path / "a", readings=[], kernels=KERNELS, **wait))
    known = bound(store)
    assert (known["state"], known["starts"], known["ends"]) == ("unbounded", 3, 0)
    assert "one side alone" in known["because"]
    assert ask(store, "SELECT clock FROM run") == [{"clock": "device clock, not converted"}]


def test_causality_alone_is_a_band_where_both_sides_are_held(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, capture(tmp_path / "a", readings=[], kernels=KERNELS))
    known = bound(store)
    assert known["state"] == "bounded" and known["readings"] == 0
    assert known["half_widest_ns"] == known["causal_half_widest_ns"]
    assert (known["blind_low_ns"], known["blind_high_ns"]) == (None, None)


def test_the_tick_widens_what_is_known(tmp_path: Path) -> None:
    halves = []
    for tick in (None, 52, 5_000):
        store = tmp_path / f"{tick}.db"
        read_in(store, capture(tmp_path / f"tick-{tick or 0}", readings=READINGS, kernels=KERNELS, tick=tick))
        halves.append(bound(store)["half_widest_ns"])
        assert bound(store)["tick_ns"] == tick
    assert halves == sorted(halves) and halves[0] < halves[2]


def test_a_finished_queue_has_ended_what_was_given_to_it_before(tmp_path: Path) -> None:
    calls = [
        shim_call(0, "urEnqueueKernelLaunch", "launch", at(0), at(0) + 10, queue="0x1"),
        shim_call(1, "urEnqueueKernelLaunch", "launch", at(0.1), at(0.1) + 10, queue="0x2"),
        shim_call(2, "urQueueFinish", "wait", at(0.2), at(0.3), queue="0x1"),
        # Given to the queue after its last finish: nothing waited for it.
        shim_call(3, "urEnqueueKernelLaunch", "launch", at(0.4), at(0.4) + 10, queue="0x1"),
        # A copy that blocked its caller, and one whose call went wrong.
        shim_call(4, "urEnqueueUSMMemcpy", "copy", at(0.5), at(0.6), queue="0x2", blocking=1),
        shim_call(5, "urEnqueueUSMMemcpy", "copy", at(0.7), at(0.8), queue="0x2", blocking=1, result=-5),
    ]
    rows = [
        interval(at(s) - AHEAD, at(s) + 9 - AHEAD, None, device="0xd", queue=q)
        | {"call_index": n, "clock": "device"}
        for n, s, q in (
            (0, 0.01, "0x1"),
            (1, 0.11, "0x2"),
            (3, 0.41, "0x1"),
            (4, 0.51, "0x2"),
            (5, 0.71, "0x2"),
        )
    ]
    store = tmp_path / "akvsite.db"
    read_in(store, write_capture(tmp_path / "a", {"level4_edge": calls, "level3_device": rows}, level="edge"))
    assert (bound(store)["starts"], bound(store)["ends"]) == (5, 2)


def test_of_the_vendors_times_causality_tells_what_it_can(tmp_path: Path) -> None:
    """D3: a kernel 0.6 us before its launch, and a second, normal pair. Times of pytorch/kineto#1380, in ns."""
    calls = [call(1_000_000, 1_004_000, 1), call(2_000_000, 2_004_000, 2)]
    calls.append(call(2_010_000, 2_050_000, 3, name="cudaDeviceSynchronize", kind="wait"))
    kernels = [interval(999_400, 1_001_900, 1), interval(2_006_000, 2_048_000, 2)]
    store = tmp_path / "akvsite.db"
    read_in(
        store, write_capture(tmp_path / "a", {"level4_edge": calls, "level3_device": kernels}, level="edge")
    )
    known = bound(store)
    assert (known["made_by"], known["state"], known["half_widest_ns"]) == ("vendor", "unproven", None)
    assert (known["early"], known["early_most_ns"]) == (1, 600)
    # All times can only be right where they are told 600 ns too early at least, and 2 us at most.
    assert (known["blind_low_ns"], known["blind_high_ns"]) == (-2_000, -600)
    assert ask(store, "SELECT delay_ns, bound_ns FROM launch_delay ORDER BY called_ns") == [
        {"delay_ns": -600, "bound_ns": None},
        {"delay_ns": 6_000, "bound_ns": None},
    ]


def test_a_start_at_its_submission_is_counted(tmp_path: Path) -> None:
    rows = [interval(s, s + 50, None, submitted_ns=b) for s, b in ((100, 100), (200, 150), (300, None))]
    store = tmp_path / "akvsite.db"
    read_in(store, write_capture(tmp_path / "a", {"level3_device": rows}, level="device"))
    assert (bound(store)["at_submission"], bound(store)["submissions"]) == (1, 2)


def test_runs_that_were_stored_before_there_were_bounds_get_theirs(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, capture(tmp_path / "a", readings=READINGS, kernels=KERNELS))
    before = bound(store)
    with Store.open(store) as opened, opened.transaction():
        opened.connection.execute("DELETE FROM clock_bound")
        opened.connection.execute("DELETE FROM device_on_host")
    read_in(store, write_capture(tmp_path / "b", {"step": steps()}))
    after = bound(store)
    assert {**after, "bound_id": 0} == {**before, "bound_id": 0}
    assert len(ask(store, "SELECT * FROM device_on_host")) == len(KERNELS)


def test_the_tick_of_a_counter_is_told_from_lengths_alone_where_they_show_it() -> None:
    counted = np.arange(3, 203) * 125 // 3  # 41.67 ns, rounded down: no whole number of ns
    assert host_axis.tick_of_lengths(32 * np.arange(1, 201)) == 32
    assert host_axis.tick_of_lengths(counted) is None
    assert host_axis.tick_of_lengths(np.arange(1_000, 2_000)) is None
    assert host_axis.tick_of_lengths(32 * np.arange(1, 40)) is None, "too few"
    # What is long is stretched by the vendor's rate, and left out.
    assert host_axis.tick_of_lengths(np.append(500 * np.arange(1, 101), 60_017)) == 500
