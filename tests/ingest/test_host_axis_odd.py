"""Odd clocks: what was once said too narrowly, of the wrong device, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bundles import ask, call, interval, read_in, write_capture
from test_host_axis import AHEAD, KERNELS, READINGS, at, bound, capture, shim_call

from akvsite.link import device_lanes

TICKS = (1.0, 32.0, 52.0833333, 83.3333333)


def kernel(index: int, start: int, end: int | None, **more: Any) -> dict[str, Any]:
    row = interval(start, end, None, device="0xd", queue="0x1")  # type: ignore[arg-type]
    return row | {"call_index": index, "clock": "device"} | more


def reading(
    before: int, device: int, after: int, tick: int | None = None, name: str = "0xd"
) -> dict[str, Any]:
    row = {"device": name, "host_before_ns": before, "host_after_ns": after, "device_ns": device}
    return row | {"resolution_ns": tick, "source": "shim"}


def honest(folder: Path, seed: int) -> dict[int, tuple[float, float]]:
    """A capture of clocks within the assumptions; the true host times of its records, less ``at(0)``, by call index."""
    rng = np.random.default_rng(seed)
    slope, tick = rng.uniform(-190e-6, 190e-6), float(rng.choice(TICKS))
    span, origin = 1e9 * 10 ** rng.uniform(-2, 1), int(rng.integers(10**6, 10**13))

    def stamp(host: float) -> int:
        # A rate that turns once, by 1.5 ppm either way; the runtime rounds whole ticks down to whole ns.
        y = slope * host + 1.5e-6 * abs(host - span / 2)
        return origin + int(np.floor(np.floor((host - y) / tick) * tick))

    samples = []
    for host in np.sort(rng.uniform(0, span, int(rng.integers(1, 6)))):
        width = 10 ** rng.uniform(1.5, 4.5)
        latch = rng.uniform(np.floor(host), np.ceil(host + width))
        samples.append(
            reading(at(0) + int(host), stamp(latch), at(0) + int(np.ceil(host + width)), int(tick))
        )
    calls, waits, kernels, truth = [], [], [], {}
    for n, start in enumerate(np.sort(rng.uniform(0, span, 20)).tolist()):
        end = start + 10 ** rng.uniform(2, 6)
        entered, seen = (
            int(np.floor(start - 10 ** rng.uniform(0, 5))),
            int(np.ceil(end + 10 ** rng.uniform(0, 5))),
        )
        calls.append(
            shim_call(
                2 * n, "urEnqueueKernelLaunch", "launch", at(0) + entered, at(0) + entered + 1, event=n + 1
            )
        )
        if n % 2:
            calls.append(shim_call(2 * n + 1, "urEventWait", "wait", at(0) + entered + 1, at(0) + seen))
            waits.append({"call_id": 2 * n + 1, "event": n + 1, "maker_id": 2 * n})
        kernels.append(kernel(2 * n, stamp(start), stamp(end)))
        truth[2 * n] = (start, end)
    tables = {"level4_edge": calls, "edge_wait": waits, "level3_device": kernels, "clock_sample": samples}
    write_capture(folder, tables, level="edge")
    return truth


def test_the_truth_is_inside_what_is_stored_of_honest_clocks(tmp_path: Path) -> None:
    """The whole way, the tick of each record's own stamp included: it happened somewhere in its tick."""
    truths = {f"r{seed}": honest(tmp_path / "captures" / f"r{seed}", seed) for seed in range(40)}
    store = tmp_path / "akvsite.db"
    read_in(store, tmp_path / "captures")
    rows = ask(
        store,
        "SELECT r.name, d.call_index, h.* FROM device_on_host h JOIN level3_device d ON d.id = h.interval_id"
        " JOIN run r ON r.id = d.run_id",
    )
    assert len(rows) == 20 * len(truths)
    for row in rows:
        for end, truth in zip(("start", "end"), truths[row["name"]][row["call_index"]], strict=True):
            assert abs(row[f"{end}_ns"] - at(0) - truth) <= row[f"{end}_bound_ns"] + 1, (row, truth)


@pytest.mark.parametrize("far", [2**61, 10**18, -(2**61)])
def test_a_record_of_another_age_makes_no_other_coarse(far: int, tmp_path: Path) -> None:
    # Such a record says something of the rate, and nothing that makes the others less known.
    folder = capture(tmp_path / "a", readings=READINGS, kernels=[*KERNELS, (AHEAD + far, AHEAD + far + 1)])
    near = capture(tmp_path / "b", readings=READINGS, kernels=KERNELS)
    store = tmp_path / "akvsite.db"
    read_in(store, folder, near)
    query = (
        "SELECT h.* FROM device_on_host h JOIN level3_device d ON d.id = h.interval_id JOIN run r ON r.id = d.run_id"
        " WHERE r.name = ? ORDER BY h.interval_id"
    )
    with_it, without = ask(store, query, "a")[: len(KERNELS)], ask(store, query, "b")
    for row, alone, (start, end) in zip(with_it, without, KERNELS, strict=True):
        assert abs(row["start_ns"] - start) <= row["start_bound_ns"] <= alone["start_bound_ns"] + 1
        assert abs(row["end_ns"] - end) <= row["end_bound_ns"] <= alone["end_bound_ns"] + 1


def test_records_without_times_are_bounded_by_nothing_and_break_nothing(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    rows = {"level3_device": [kernel(0, None, None)], "clock_sample": [reading(at(0), 5, at(0) + 9)]}  # type: ignore[arg-type]
    read_in(store, write_capture(tmp_path / "a", rows, level="edge"))
    known = bound(store)
    assert (known["state"], known["half_widest_ns"], known["outside"]) == ("bounded", None, None)


@pytest.mark.parametrize("tick", [-1, -2, 0, 2**40])
def test_a_resolution_that_is_none_is_not_used(tick: int, tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, capture(tmp_path / "a", readings=READINGS, kernels=KERNELS, tick=tick))
    assert bound(store)["tick_ns"] == (tick if tick > 0 else None)


def test_records_that_do_not_say_their_device_are_not_taken_for_one_counters(tmp_path: Path) -> None:
    folder = capture(tmp_path / "a", readings=READINGS, kernels=KERNELS)
    calls = [shim_call(0, "urEnqueueKernelLaunch", "launch", at(0), at(0) + 9)]
    rows = [kernel(0, at(0.1) - AHEAD, at(0.2) - AHEAD, device="not known")]
    samples = [reading(at(0), 1, at(0) + 9, name=name) for name in ("0xd", "0xe")]
    tables = {"level4_edge": calls, "level3_device": rows, "clock_sample": samples}
    store = tmp_path / "akvsite.db"
    read_in(store, write_capture(folder, tables, level="edge"))
    assert bound(store)["state"] == "unbounded" and "of which device" in bound(store)["because"]


def test_a_wait_that_names_no_device_says_nothing_of_one_of_two(tmp_path: Path) -> None:
    calls = [call(0, 4_000, 1), call(5_000, 9_000, 2)]
    calls.append(call(10_000, 60_000, 3, name="cudaDeviceSynchronize", kind="wait"))
    rows = [interval(6_000, 50_000, 1, device="0"), interval(11_000, 500_000, 2, device="1")]
    store = tmp_path / "akvsite.db"
    read_in(store, write_capture(tmp_path / "a", {"level4_edge": calls, "level3_device": rows}, level="edge"))
    known = ask(store, "SELECT device, ends, because FROM device_clock ORDER BY device")
    assert [(k["device"], k["ends"]) for k in known] == [("0", 0), ("1", 0)]
    assert all("no constant" not in k["because"] for k in known)


def test_a_queue_whose_handle_was_handed_out_anew_is_another_queue() -> None:
    none = device_lanes.NONE
    drains = device_lanes.Drains.of(
        [(1, "0x1", 30, 40), (1, "0x1", 70, 80), (1, None, 90, 95)], [(1, "0x1", 5), (1, "0x1", 60)]
    )
    assert drains.first_return(1, "0x1", np.array([10, 35, 65, 75])).tolist() == [40, none, 80, none]
    assert drains.first_return(1, None, np.array([10, 91])).tolist() == [95, none]
    assert drains.first_return(2, "0x1", np.array([10])).tolist() == [none]


def test_times_far_outside_the_readings_are_counted(tmp_path: Path) -> None:
    """A counter that wrapped where nothing is linked is not seen: that its times lie outside is."""
    store = tmp_path / "akvsite.db"
    rows = [kernel(n, at(s) - AHEAD, at(s) - AHEAD + 9) for n, s in ((0, 0.5), (1, 100.0))]
    samples = [reading(b, k - AHEAD, a) for b, k, a in READINGS]
    read_in(
        store, write_capture(tmp_path / "a", {"level3_device": rows, "clock_sample": samples}, level="edge")
    )
    known = bound(store)
    assert (known["outside"], known["outside_most_ns"]) == (2, at(100.0) + 9 - at(1.0))


def test_the_drawn_band_hides_no_wide_place(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    ends = [*np.linspace(0, 0.01, 600), 0.5, *np.linspace(0.99, 1, 600)]
    rows = [kernel(n, at(float(s)) - AHEAD, at(float(s)) - AHEAD + 9) for n, s in enumerate(ends)]
    samples = [reading(b, k - AHEAD, a) for b, k, a in (READINGS[0], READINGS[2])]
    read_in(
        store, write_capture(tmp_path / "a", {"level3_device": rows, "clock_sample": samples}, level="edge")
    )
    (drawn,) = ask(store, "SELECT max(high_ns - low_ns) AS widest, count(*) AS stretches FROM clock_band")
    assert drawn["stretches"] <= 400
    assert drawn["widest"] >= 2 * bound(store)["half_widest_ns"] - 10


def test_the_drift_of_a_clock_is_no_width_of_its_band(tmp_path: Path) -> None:
    """A device that runs 100 ppm fast for an hour, read each second: 360 ms of drift, and 10 us of not knowing."""
    store = tmp_path / "akvsite.db"
    seconds = range(0, 3600, 10)
    samples = [reading(at(s) - 9_000, at(s) - AHEAD + s * 100_000, at(s) + 1_000) for s in seconds]
    rows = [
        kernel(n, at(s) - AHEAD + s * 100_000, at(s) - AHEAD + s * 100_000 + 9) for n, s in enumerate(seconds)
    ]
    read_in(
        store, write_capture(tmp_path / "a", {"level3_device": rows, "clock_sample": samples}, level="edge")
    )
    assert bound(store)["state"] == "bounded"
    (drawn,) = ask(store, "SELECT max(high_ns - low_ns) AS widest FROM clock_band")
    assert 2 * bound(store)["half_widest_ns"] - 10 <= drawn["widest"] < 40_000


def test_two_processes_with_counters_of_their_own_share_no_axis(tmp_path: Path) -> None:
    rows = [kernel(0, 1_000, 2_000, process=0), kernel(0, 201_000_000, 201_001_000, process=1)]
    processes = "".join(f'[[process]]\npid = "{pid}"\n' for pid in (41, 42))
    store = tmp_path / "akvsite.db"
    read_in(store, write_capture(tmp_path / "a", {"level3_device": rows}, level="edge", more=processes))
    gaps = ask(store, "SELECT * FROM device_gap")
    assert gaps == []
    assert [r["process_id"] for r in ask(store, "SELECT process_id FROM interval ORDER BY start_ns")] == [
        1,
        2,
    ]
