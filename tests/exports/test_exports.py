"""A run's rows for other tools: each row once, times to the nanosecond, and what overlaps without nesting kept whole."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import perfetto_reading
import pyarrow.parquet as pq
import pytest
from bundles import ask, call, interval, read_in, write_capture
from bundles import steps as numbered
from perfetto_reading import Slice, Trace

from akvsite import exports
from akvsite.errors import BadInput
from akvsite.store import Store

#: A time beyond what a double holds to the nanosecond.
ZERO = 2**53 + 1
ODD = "void f<T>(\U0001f600 'x', \"y\") \\x9f \x00\n"
FORMULA = "=HYPERLINK(A1)"

STEP = {"kind": "decode", "source": "engine counter", "warm_up": 0}
REGION = {"category": "region", "thread": "1"}


def capture(folder: Path) -> Path:
    steps = [
        {
            "name": f"step.{n}",
            "number": n,
            "start_ns": ZERO + 1000 * n,
            "end_ns": ZERO + 1000 * n + 900,
            **STEP,
        }
        for n in range(3)
    ]
    steps[2]["end_ns"] = None
    regions = [
        {"name": "outer", "start_ns": ZERO + 10, "end_ns": ZERO + 500, **REGION},
        {"name": "inner", "start_ns": ZERO + 10, "end_ns": ZERO + 100, **REGION},
        # Begins inside the outer one and outlasts it.
        {"name": "over", "start_ns": ZERO + 400, "end_ns": ZERO + 700, **REGION},
        {"name": "after", "start_ns": ZERO + 500, "end_ns": ZERO + 500, **REGION},
    ]
    calls = [
        call(ZERO + 20, ZERO + 25, 1, object=2**64 - 1),
        call(ZERO + 30, ZERO + 35, 2, name="cudaMemcpyAsync"),
        call(ZERO + 1_020, ZERO + 1_025, 3),
        call(ZERO + 1_800, ZERO + 1_801, None, name=FORMULA),
        {**call(ZERO + 2_020, ZERO + 2_020, None), "end_ns": None, "open": 1},
    ]
    intervals = [
        interval(ZERO + 40, ZERO + 95, 1, name=ODD),
        # Before its call, as recorded.
        interval(ZERO + 22, ZERO + 24, 2, name="Memcpy HtoD", kind="copy", queue="9"),
        interval(ZERO + 1_040, ZERO + 1_095, 3),
        interval(7, 12, None, name="on its own clock", queue="8", clock="device"),
    ]
    token = {"request": "r0", "tokens": 1, "arrived_ns": ZERO - 50}
    tokens = [
        {**token, "number": 0, "step": 0, "scheduled_ns": ZERO + 1, "launched_ns": ZERO + 20, "sampled_ns": ZERO + 800},
        {**token, "number": 1, "step": 1, "scheduled_ns": ZERO + 1_001, "launched_ns": ZERO + 1_000, "client_ns": ZERO + 1_950},
        {**token, "number": 2, "step": 2, "scheduled_ns": ZERO + 2_001},
    ]  # fmt: skip
    requests = [
        {"name": "r0", "start_ns": ZERO - 60, "end_ns": ZERO + 3_000, "zero": "capture", "ok": 1},
        {"name": "r1", "start_ns": 0, "end_ns": 77, "zero": "request start"},
    ]
    events = [{"request": "r0", "event": "arrived", "at_ns": ZERO - 50, "tokens": 4}]
    tables = {
        "step": steps, "level2_host": regions, "level4_edge": calls, "level3_device": intervals, "token": tokens,
        "request": requests, "request_event": events,
    }  # fmt: skip
    return write_capture(folder, tables, level="edge")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    read_in(folder / "s.db", capture(folder / "made-up"))
    return folder / "s.db"


def export(
    store: Path, form: str, out: Path, steps: exports.Steps | None = None, **about: Any
) -> dict[str, int]:
    told = {
        "run": "made-up",
        "level": "edge",
        "role": "dev",
        "use": "structure, not speed",
        "retractions": [],
        **about,
    }
    with Store.read(store) as opened:
        return exports.write(
            exports.Source(opened, 1, told, steps), form, out, replace=False, progress=lambda _: None
        )


@pytest.fixture(scope="module")
def trace(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    out = tmp_path_factory.mktemp("perfetto") / "t"
    export(store, "perfetto", out)
    return perfetto_reading.read(out.read_bytes())


def one(trace: Trace, name: str) -> Slice:
    (found,) = (s for s in trace.slices if s.name == name)
    return found


@pytest.mark.parametrize(
    ("question", "key", "group"),
    [
        ("row_step", "step_id", "Steps"), ("row_region", "region_id", "Regions and layer windows"),
        ("row_call", "call_id", "Runtime calls"), ("row_token", "token_id", "Requests and their tokens"),
        ("row_request", "request_id", "Requests and their tokens"), ("row_interval", "interval_id", "Device"),
        ("row_event", "event_id", "Requests and their tokens"),
    ],
)  # fmt: skip
def test_every_row_is_in_the_trace_once_with_its_times(
    question: str, key: str, group: str, store: Path, trace: Trace
) -> None:
    # Other rows name a step or a call too.
    drawn = [s for s in trace.slices if key in s.arguments and s.path[0].startswith(group)]
    rows = {row[key]: row for row in ask(store, f"SELECT * FROM {question}")}
    assert Counter(s.arguments[key] for s in drawn) == Counter(list(rows))
    for s in drawn:
        row = rows[s.arguments[key]]
        if question in ("row_step", "row_region", "row_call"):
            took = row["duration_ns"]
            end = None if took is None else row["start_ns"] + took
            assert (s.name, s.start_ns, s.end_ns) == (row["name"], row["start_ns"], end)
            assert s.mark == (took is None)


def test_what_overlaps_without_nesting_is_on_a_further_track(trace: Trace) -> None:
    outer, inner, over, after = (one(trace, name) for name in ("outer", "inner", "over", "after"))
    assert (outer.depth, inner.depth, over.depth) == (0, 1, 0)
    assert (inner.track, over.track) == (outer.track, f"{outer.track} (2)")
    assert (after.start_ns, after.end_ns) == (ZERO + 500, ZERO + 500)


def test_slices_of_a_track_are_inside_each_other_or_apart(trace: Trace) -> None:
    by_track: dict[tuple[str, ...], list[Slice]] = {}
    for s in trace.slices:
        if not s.mark:
            by_track.setdefault(s.path, []).append(s)
    for slices in by_track.values():
        for a in slices:
            for b in slices:
                assert a.end_ns is not None and b.end_ns is not None
                assert not a.start_ns < b.start_ns < a.end_ns < b.end_ns, (a, b)


def test_a_call_and_its_record_are_joined_and_say_how_even_where_the_record_is_earlier(trace: Trace) -> None:
    copy = next(s for s in trace.slices if s.name == "Memcpy HtoD")
    (made,) = (s for s in trace.slices if s.path[0] == "Runtime calls" and set(s.flows) & set(copy.flows))
    assert made.name == "cudaMemcpyAsync" and made.start_ns > copy.start_ns
    assert copy.arguments["associated by"] == "correlation id"
    assert copy.arguments["clock"] == "as the vendor converted it, unproven"
    assert one(trace, FORMULA).flows == ()


def test_records_of_no_host_time_stand_apart_and_say_so(trace: Trace) -> None:
    own = one(trace, "on its own clock")
    assert own.path[0].startswith("Device records on the device's own clock: not on the host's axis")
    assert (own.start_ns, own.end_ns, own.flows) == (7, 12, ())
    assert {s.path[0] for s in trace.slices if s.category in ("kernel", "copy") and "interval_id" in s.arguments} == {
        "Device queues", own.path[0],
    }  # fmt: skip


def test_lives_are_made_of_segments_and_what_is_not_on_record_is_said(trace: Trace) -> None:
    assert one(trace, "token 0").start_ns == ZERO - 50
    assert one(trace, "arrived to scheduled").end_ns == ZERO + 1
    unknown = one(trace, "unknown: launched to sampled")
    assert (unknown.end_ns, unknown.depth) == (ZERO + 800, 2)
    assert unknown.arguments == {"inside": "not on record"}
    late = one(trace, "token 1")
    assert late.arguments["milestones"] == "out of order, as recorded"
    assert (late.start_ns, late.end_ns) == (ZERO + 1_000, ZERO + 1_950)
    assert one(trace, "token 2").mark
    assert one(trace, "request r1").track == "request r1 (times count from its own start)"


def test_names_come_back_whole_and_the_run_says_what_it_is(store: Path, tmp_path: Path, trace: Trace) -> None:
    assert one(trace, ODD).category == "kernel"
    export(store, "perfetto", tmp_path / "t", retractions=["RETRACTED 2026-01-02 (x)"])
    stamped = perfetto_reading.read((tmp_path / "t").read_bytes())
    name = "made-up: level edge, dev host, structure, not speed"
    assert trace.tracks[0] == (name,)
    assert stamped.tracks[0] == (f"{name} · RETRACTED 2026-01-02 (x)",)


def test_times_before_zero_are_all_later_by_a_stated_time(tmp_path: Path) -> None:
    rows = [{"name": "early", "number": 0, "start_ns": -40, "end_ns": -5, **STEP}]
    read_in(tmp_path / "s.db", write_capture(tmp_path / "made-up", {"step": rows}))
    export(tmp_path / "s.db", "perfetto", tmp_path / "t")
    trace = perfetto_reading.read((tmp_path / "t").read_bytes())
    early = one(trace, "early")
    assert (early.start_ns, early.end_ns) == (0, 35)
    assert one(trace, "about this run").arguments["times are later, by ns"] == 40


def test_in_a_trace_of_some_steps_the_run_is_told_where_they_begin(tmp_path: Path) -> None:
    read_in(
        tmp_path / "s.db",
        write_capture(tmp_path / "made-up", {"step": numbered(2, 1_000, ZERO)}, level="host"),
    )
    export(tmp_path / "s.db", "perfetto", tmp_path / "t", exports.Steps(1, 1))
    trace = perfetto_reading.read((tmp_path / "t").read_bytes())
    assert one(trace, "about this run").start_ns == one(trace, "step.1").start_ns == ZERO + 1_000


def test_parquet_has_every_row_with_whole_numbers_of_64_bits(store: Path, tmp_path: Path) -> None:
    written = export(store, "parquet", tmp_path / "p")
    for name, question in (
        ("calls", "row_call"),
        ("intervals", "row_interval"),
        ("tokens", "row_token"),
        ("steps", "row_step"),
    ):
        table = pq.read_table(tmp_path / "p" / f"{name}.parquet")
        rows = [
            {k: v for k, v in row.items() if k != "run_id"} for row in ask(store, f"SELECT * FROM {question}")
        ]
        assert sorted(table.to_pylist(), key=repr) == sorted(rows, key=repr)
        assert written[name] == len(rows)
        assert json.loads(table.schema.metadata[b"akvsite"])["use"] == "structure, not speed"
    about = json.loads((tmp_path / "p" / "about.json").read_text())
    assert about["rows"] == written and about["columns"]["calls"]["queue"]


def test_csv_has_no_formula_and_every_row_its_retraction(store: Path, tmp_path: Path) -> None:
    written = export(store, "csv", tmp_path / "c", retractions=["RETRACTED 2026-01-02 (x)"])
    with (tmp_path / "c" / "calls.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == written["calls"] == 5
    assert {row["name"] for row in rows} == {"cudaLaunchKernel", "cudaMemcpyAsync", f"'{FORMULA}"}
    assert {row["retracted"] for row in rows} == {"RETRACTED 2026-01-02 (x)"}
    assert rows[0]["start_ns"] == str(ZERO + 20)
    # Unknown is empty and never 0.
    assert rows[-1]["duration_ns"] == ""


def test_of_some_steps_are_their_calls_the_records_of_those_and_their_tokens(
    store: Path, tmp_path: Path
) -> None:
    written = export(store, "csv", tmp_path / "c", exports.Steps(1, 1))
    assert {name: count for name, count in written.items() if count} == {
        "steps": 1, "requests": 1, "events": 1, "tokens": 1, "calls": 2, "intervals": 1,
    }  # fmt: skip
    with pytest.raises(
        BadInput, match="made-up: has no step with a number from 5 to 9; those on record are from 0 to 2"
    ):
        export(store, "csv", tmp_path / "d", exports.Steps(5, 9))
    with pytest.raises(BadInput, match="has no step of number 999;"):
        export(store, "csv", tmp_path / "d", exports.Steps(999, 999))
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    ("steps", "said"),
    [([], "has no steps on record"), ([{"name": "s", "start_ns": 1, "end_ns": 2, **STEP}], "none of them has a number")],
)  # fmt: skip
def test_a_run_without_numbered_steps_says_so(steps: list[dict[str, Any]], said: str, tmp_path: Path) -> None:
    regions = [{"name": "outer", "start_ns": 0, "end_ns": 5, **REGION}]
    read_in(
        tmp_path / "s.db",
        write_capture(tmp_path / "made-up", {"level2_host": regions, "step": steps}, level="host"),
    )
    with pytest.raises(BadInput, match=f"made-up: .*{said}"):
        export(tmp_path / "s.db", "csv", tmp_path / "c", exports.Steps(0, 0))


def test_a_number_that_no_step_has_is_one_line(store: Path, akvsite: Any) -> None:
    for step in ("99999999999999999999999", "-1"):
        akvsite("export", "made-up", "--format", "csv", "--store", store, f"--step={step}").refused(
            "--step", step
        )


@pytest.mark.parametrize("form", exports.FORMATS)
def test_only_an_export_is_replaced(form: str, store: Path, akvsite: Any, tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    own.write_bytes(store.read_bytes())
    (tmp_path / "note.md").write_text("made by akvsite export")
    (tmp_path / "link").symlink_to(own)
    words = ("export", "made-up", "--format", form, "--replace", "--out")
    for name, said in (
        ("own.db", "is the store itself"),
        ("link", "is the store"),
        ("note.md", "is no export"),
    ):
        before = (tmp_path / name).read_bytes()
        akvsite(*words, name, "--store", own).refused(name, said)
        assert (tmp_path / name).read_bytes() == before
    for _ in range(2):
        done = akvsite(*words, "again", "--store", own)
        assert done.code == 0 and "next: " in done.out
    if (tmp_path / "again").is_dir():
        # A file of somebody's inside an export is no export's.
        own.rename(tmp_path / "again" / "own.db")
        akvsite(*words, "again", "--store", "again/own.db").refused("again", "is no export")
        assert (tmp_path / "again" / "own.db").read_bytes() == store.read_bytes()


def test_nothing_is_replaced_unasked_or_left_half_written(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "c"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    with pytest.raises(BadInput, match="exists; it is left as it is"):
        export(store, "csv", out)
    with Store.read(store) as opened, pytest.raises(BadInput, match="is no export"):
        exports.write(exports.Source(opened, 1), "csv", out, replace=True, progress=lambda _: None)

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("akvsite.exports.parquet.write_about", broken)
    with pytest.raises(BadInput, match="cannot be written: No space left on device"):
        export(store, "parquet", tmp_path / "p")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c"]
    assert (out / "mine.txt").read_text() == "kept"
