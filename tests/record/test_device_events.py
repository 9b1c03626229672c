"""Timing events on queues: made-up runtimes whose truth is known, and the SYCL CPU device for real."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bundles import ask, read_in
from capturing import ROOT, environment
from ur_captures import runtime

from akvsite import clock, record
from akvsite.errors import BadInput
from akvsite.record import _events_torch, device_events
from akvsite.record._events_torch import CUDA_NS, ORIGIN_NS, TorchTimer
from akvsite.record.device_events import Bracket, DeviceEvents

MS = 1_000_000


class Written:
    """What would go into the file."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int, int, int | None, str]] = []
        self.clocks: list[tuple[int, int, int, int, int]] = []


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    made = Written()
    monkeypatch.setattr(record, "device_span", lambda *span: made.spans.append(span))
    monkeypatch.setattr(record, "clock", lambda *read: made.clocks.append(read))
    return made


class Steady:
    """A timer whose marks are numbers that count up, done when the test says so."""

    def __init__(self) -> None:
        self.put_on: list[str] = []
        self.done = 0

    def put(self, queue: str) -> int:
        self.put_on.append(queue)
        return len(self.put_on)

    def is_done(self, mark: int) -> bool:
        return mark <= self.done

    def wait(self, mark: int) -> None:
        self.done = max(self.done, mark)

    def times(self, first: int, last: int) -> tuple[int, int]:
        return 10 * first, 10 * last

    def bracket(self) -> Bracket:
        return Bracket(1, 2, 3, 4)


QUEUES = {"compute": "a", "copy": "b"}


def test_a_step_is_one_stretch_of_each_queue(written: Written) -> None:
    timer = Steady()
    events = DeviceEvents(timer, QUEUES, device=3)
    events.first(7)
    events.last()
    assert timer.put_on == ["a", "b", "a", "b"] and written.spans == []
    events.close()
    assert written.spans == [(10, 30, 4, 7, "compute"), (20, 40, 4, 7, "copy")]
    assert written.clocks == [(4, 1, 3, 2, 4)] * 2  # at the start and at the end
    assert events.facts["timing events"] == "on" and events.facts["timing events.stretches"] == "2"
    events.close()
    assert len(written.clocks) == 2


def test_nothing_is_read_before_it_is_time_to_and_only_what_has_ended(written: Written) -> None:
    timer = Steady()
    now = DeviceEvents(timer, QUEUES, every_ns=0)
    later = DeviceEvents(timer, QUEUES, every_ns=3_600_000 * MS)
    for events in (now, later):
        timer.put_on.clear()
        timer.done = 3
        written.spans.clear()
        written.clocks.clear()
        events.first(1)
        events.last()
        events.collect()
        assert [span[4] for span in written.spans] == (["compute"] if events is now else [])
        assert len(written.clocks) == (1 if events is now else 0)
    later.close()
    assert [span[4] for span in written.spans] == ["compute", "copy"]


def test_without_room_steps_go_without_events_and_are_counted(written: Written) -> None:
    timer = Steady()
    events = DeviceEvents(timer, QUEUES, room=5, every_ns=3_600_000 * MS)
    for step in range(4):
        events.first(step)
        events.last()
    assert len(timer.put_on) == 8
    events.close()
    assert [span[3] for span in written.spans] == [0, 0, 1, 1]
    assert (events.spans, events.lost, events.unfinished) == (4, 4, 0)


def test_half_full_is_time_to_read(written: Written) -> None:
    timer = Steady()
    timer.done = 100
    events = DeviceEvents(timer, QUEUES, room=6, every_ns=3_600_000 * MS)
    for step in range(8):
        events.first(step)
        events.last()
        events.collect()
    assert events.lost == 0 and len(written.spans) == 16


def test_a_step_that_was_left_is_counted_and_has_no_stretch(written: Written) -> None:
    events = DeviceEvents(Steady(), QUEUES)
    events.first(1)  # an exception: no last
    events.first(2)
    events.last()
    events.last()  # once more changes nothing
    events.first(3)
    events.close()
    assert [span[3] for span in written.spans] == [2, 2]
    assert events.unfinished == 4


def test_the_page_about_it_says_how(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "site_src/device.md").read_text()
    (block,) = re.findall(r"^```python\n([^`]*of_torch.*?)^```", text, re.DOTALL | re.MULTILINE)
    monkeypatch.setattr(device_events, "of_torch", lambda queues: DeviceEvents(Steady(), queues))
    exec(block, {"record": record, "steps": 3, "stream": "a", "other": "b"})
    assert [(span[3], span[4]) for span in written.spans] == [
        (n, queue) for n in range(3) for queue in QUEUES
    ]


# --- torch: the time between two events is all there is ---


class Device:
    """A device whose counter ticks every ``tick`` ns, some ppm off the host's, and whose runtime says float32 ms."""

    def __init__(self, kind: str, tick: int, ppm: float) -> None:
        self.kind, self.tick, self.ppm = kind, tick, ppm
        self.host = 5_000_000_000_123

    def later(self, ns: int) -> None:
        self.host += ns

    def true(self) -> int:
        return 777 + round(self.host * (1 + self.ppm * 1e-6))

    def module(self) -> SimpleNamespace:
        device = self

        class Event:
            def __init__(self, enable_timing: bool = False) -> None:
                assert enable_timing
                self.true = self.stamp = -1

            def record(self, stream: object) -> None:
                device.later(3_000)
                self.true = device.true()
                self.stamp = self.true // device.tick * device.tick
                device.later(9_000)

            def synchronize(self) -> None: ...

            def query(self) -> bool:
                return True

            def elapsed_time(self, end: Event) -> float:
                elapsed = (end.stamp - self.stamp) / MS
                return float(np.float32(elapsed)) if device.kind == "cuda" else elapsed

        return SimpleNamespace(Event=Event, Stream=lambda number: object())


def timer_of(device: Device, monkeypatch: pytest.MonkeyPatch) -> TorchTimer:
    torch = SimpleNamespace(version=SimpleNamespace(), **{device.kind: device.module()})
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(_events_torch, "monotonic_ns", lambda: device.host)
    stream = SimpleNamespace(device=SimpleNamespace(type=device.kind))
    return TorchTimer({"compute": stream})


def stretches(
    device: Device, timer: TorchTimer, brackets: int, gap: int
) -> Iterator[tuple[Bracket, int, int]]:
    """Brackets ``gap`` ns apart, and between two of them an event: what is said of it, and its true time."""
    yield timer.bracket(), -1, -1
    for _ in range(brackets):
        device.later(int(gap * 0.7))
        first, last = timer.put(None), timer.put(None)
        truth = first.event.true  # before it is used up
        start, end = timer.times(first, last)
        assert end >= start
        device.later(int(gap * 0.3))
        yield timer.bracket(), start, truth


@pytest.mark.parametrize(("kind", "ppm"), [("cuda", 37.0), ("cuda", -180.0), ("xpu", 12.0)])
def test_the_axis_holds_its_resolution_for_as_long_as_it_likes(
    kind: str, ppm: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(kind, CUDA_NS if kind == "cuda" else 52, ppm)
    timer = timer_of(device, monkeypatch)
    found = list(stretches(device, timer, 3_000, 100 * MS))
    (first, _, _), *rest = found
    assert first.device_ns == ORIGIN_NS
    resolution = max(bracket.resolution_ns for bracket, _, _ in found)
    assert resolution == (CUDA_NS + 16 if kind == "cuda" else 0)
    stated = np.array([start for _, start, _ in rest])
    truth = np.array([true for _, _, true in rest])
    # Against the device's own truth: off by a constant, by the tick, and by what rounding adds up to, parts of the rate.
    off = (truth - truth[0]) - (stated - stated[0])
    allowed = (resolution or 53) + 0.06e-6 * (truth - truth[0])
    assert (np.abs(off) <= allowed).all()
    assert truth[-1] - truth[0] > 299 * 1000 * MS


def test_the_host_times_that_come_of_it_hold_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device("cuda", CUDA_NS, 21.0)
    timer = timer_of(device, monkeypatch)
    found = list(stretches(device, timer, 400, 100 * MS))
    before, at, after = (
        np.array([getattr(bracket, name) for bracket, _, _ in found], np.int64)
        for name in ("before_ns", "device_ns", "after_ns")
    )
    width = max(bracket.resolution_ns for bracket, _, _ in found) + 1
    band = clock.feasible(clock.Constraints.of_readings(before, at, after, width))
    assert band.consistent and band.bounded
    stated = np.array([start for _, start, _ in found[1:]], np.int64)
    host = np.array([(true - 777) / (1 + 21e-6) for _, _, true in found[1:]])
    (middle, half), (later, later_half) = band.at(stated), band.at(stated + width)
    assert (middle - half <= host + 1).all() and (host <= later + later_half + 1).all()
    assert np.median(half) < 15_000


def test_one_base_for_all_would_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason for the bases: five minutes after its base, a time is stated to 31 us."""
    device = Device("cuda", 1, 0.0)
    timer = timer_of(device, monkeypatch)
    timer.bracket()
    device.later(300_000 * MS)
    assert timer.bracket().resolution_ns == CUDA_NS + 2 * 31_250


def test_events_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device("cuda", CUDA_NS, 0.0)
    timer = timer_of(device, monkeypatch)
    timer.bracket()
    first, last = timer.put(None), timer.put(None)
    timer.times(first, last)
    again = {id(timer.put(None).event), id(timer.put(None).event)}
    assert again == {id(first.event), id(last.event)}


@pytest.mark.parametrize("queues", [{}, {"compute": SimpleNamespace(device=SimpleNamespace(type="cpu"))}])
def test_the_cpu_has_no_such_events(queues: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    with pytest.raises(BadInput, match="are of streams of one CUDA or XPU device"):
        device_events.of_torch(queues)


# --- SYCL, on the CPU device ---

PROGRAM = """
import sys, time
import dpctl, dpctl.memory as memory
from akvsite import record
from akvsite.record import device_events

timed = [dpctl.SyclQueue("cpu", property=p) for p in (["enable_profiling"], ["enable_profiling", "in_order"])]
a, b = (memory.MemoryUSMShared(1 << 16, queue=timed[0]) for _ in "ab")
events = device_events.of_sycl({"compute": timed[0], "copy": timed[1]}, every_ns=2_000_000)
for step in range(40):
    with record.step(step):
        with record.phase("launch"):
            events.first(step)
            for queue in timed:
                for _ in range(3): queue.memcpy_async(b, a, 1 << 16)
            events.last()
        with record.phase("wait"):
            for queue in timed: queue.wait()
    events.collect()
events.close()
assert events.facts["timing events.stretches"] == "80", events.facts
try: device_events.of_sycl({"compute": dpctl.SyclQueue("cpu")})
except Exception as error: print(error)
"""


def sycl(folder: Path) -> Path:
    """The file of one process. Making the device fails now and then on a loaded machine: tried again."""
    where = runtime("2025.3")
    variables = {
        "LD_LIBRARY_PATH": str(where / "lib"),
        "OCL_ICD_FILENAMES": "libintelocl.so",
        "AKV_LEVEL": "device",
    }
    for attempt in range(5):
        out = folder / str(attempt)
        out.mkdir()
        done = subprocess.run(
            [where / "bin/python", "-c", PROGRAM], env=environment(**variables, AKV_DIR=str(out)), timeout=120,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            assert (
                done.stdout == "queue compute: was made without enable_profiling: its events have no times\n"
            )
            (file,) = out.iterdir()
            return file
        assert "could not be created" in done.stderr or "No device" in done.stderr, done.stderr
    raise AssertionError("no device in five attempts")


def test_sycl_barriers_lie_in_their_step_on_the_hosts_axis(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    read_in(store, sycl(tmp_path))
    spans = ask(
        store,
        "SELECT d.queue, d.step, d.start_ns, d.end_ns, h.start_ns - h.start_bound_ns AS least, h.end_ns + h.end_bound_ns AS most,"
        " s.start_ns AS begun, s.end_ns AS left FROM level3_device d JOIN step s ON s.number = d.step"
        " LEFT JOIN device_on_host h ON h.interval_id = d.id WHERE d.kind = 'span' ORDER BY d.step, d.queue",
    )
    assert [(span["queue"], span["step"]) for span in spans] == [
        (q, n) for n in range(40) for q in ("compute", "copy")
    ]
    (bound,) = ask(store, "SELECT state, because, readings, tick_ns FROM clock_bound")
    assert bound["state"] == "bounded", bound
    assert bound["readings"] >= 3
    for span in spans:
        assert 0 <= span["start_ns"] <= span["end_ns"]
        # What is possible on the host's axis meets the step that it belongs to.
        assert span["least"] < span["left"] and span["most"] > span["begun"]
