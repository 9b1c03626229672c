"""The life of a token over the files of one run: engine, client, profiler, device events."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from bundles import ask, read_in
from probe_logs import ProbeLog

from akvsite.errors import BadInput
from akvsite.ingest._tokens import JOINED
from akvsite.link import tokens

BOOT = 1_700_000_000_000_000_000 - 1_050


def capture(folder: Path, files: list[str], *, level: str = "runner") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "format = 1",
        f'name = "{folder.name}"',
        f'level = "{level}"',
        '[host]\nname = "h"\nrole = "dev"',
    ]
    lines += [f'[[file]]\npath = "{name}"' for name in files]
    (folder / "capture.toml").write_text("\n".join(lines) + "\n")
    return folder


def engine(**header: object) -> ProbeLog:
    """Three steps of 1,000 ns, one token of r1 each, launched from 100 to 300 and waited for until 700."""
    log = ProbeLog(pid=41, **header)
    log.request("r1", "arrived", 50, tokens=16)
    for n in range(3):
        at = 1_000 * (n + 1)
        log.step(n, at, at + 1_000, batch=1)
        log.phase("launch", at + 100, at + 300)
        log.phase("wait", at + 300, at + 700)
        log.stamp("launched", at + 300, step=n)
        log.token("r1", n, "scheduled", at + 10, step=n)
        log.token("r1", n, "sent", at + 900, step=n)
    return log


def client(*chunks: tuple[int, int, int], **header: object) -> ProbeLog:
    log = ProbeLog(pid=42, **header)
    log.request("r1", "client sent", 20, tokens=16)
    for place, size, at in chunks:
        log.token("r1", place, "client", at, tokens=size)
    log.request("r1", "client done", 9_000, tokens=3)
    return log


def trace(path: Path, calls: list[tuple[int, int, int]]) -> Path:
    """A torch trace of process 41 on CLOCK_REALTIME: (launched, device start, device end), ns after the boot."""
    base = BOOT - BOOT % 1_000
    events = []
    for n, (at, start, end) in enumerate(calls, 1):

        def us(ns: int) -> float:
            return (ns + BOOT - base) / 1_000

        events += [
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 41, "tid": 7, "ts": us(at), "dur": 0.01,
             "args": {"correlation": n}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": us(start), "dur": (end - start) / 1_000,
             "args": {"correlation": n, "device": 0, "stream": 7}},
        ]  # fmt: skip
    path.write_bytes(
        gzip.compress(
            json.dumps({"baseTimeNanoseconds": base, "schemaVersion": 1, "traceEvents": events}).encode()
        )
    )
    return path


def token_rows(store: Path, *columns: str) -> list[tuple[object, ...]]:
    return [tuple(r[c] for c in columns) for r in ask(store, "SELECT * FROM token ORDER BY number, id")]


def test_what_the_client_saw_stands_in_the_engines_row(tmp_path: Path) -> None:
    folder = capture(tmp_path / "a", ["engine.akvlog", "client.akvlog"])
    engine().write(folder / "engine.akvlog")
    client((0, 0, 1_500), (0, 1, 2_100), (1, 2, 4_300)).write(folder / "client.akvlog")
    store = tmp_path / "akvsite.db"
    (outcome,) = read_in(store, folder)
    # Two tokens came in one chunk; the chunk of the role alone is no token of the engine.
    assert token_rows(store, "number", "tokens", "step", "sent_ns", "client_ns") == [
        (0, 1, 0, 1_900, 2_100),
        (0, 0, None, None, 1_500),
        (1, 1, 1, 2_900, 4_300),
        (2, 1, 2, 3_900, 4_300),
    ]
    assert outcome.counts["token", JOINED] == 2
    assert outcome.counts["token", "token"] == 4
    assert ask(store, "SELECT ttft_ns, output_tokens, ok FROM request") == [
        {"ttft_ns": 2_080, "output_tokens": 3, "ok": 1}
    ]


def test_a_chunk_with_a_token_that_the_engine_has_not_stays(tmp_path: Path) -> None:
    folder = capture(tmp_path / "a", ["engine.akvlog", "client.akvlog"])
    engine().write(folder / "engine.akvlog")
    client((0, 1, 2_100), (2, 2, 4_300), (7, 1, 5_000)).write(folder / "client.akvlog")
    store = tmp_path / "akvsite.db"
    read_in(store, folder)
    found = ask(store, "SELECT number, client_ns FROM token WHERE client_ns IS NOT NULL ORDER BY client_ns")
    assert [tuple(r.values()) for r in found] == [(0, 2_100), (2, 4_300), (7, 5_000)]
    assert ask(store, "SELECT count(*) AS n FROM token") == [{"n": 5}]


@pytest.mark.parametrize(
    ("engines", "clients", "gone"),
    [
        ([(0, 1), (1, 1), (2, 1)], [(0, 2), (1, 2)], 0),
        ([(0, 1), (1, 1), (2, 1)], [(0, 2), (2, 1)], 2),
        ([(0, 1), (0, 1), (1, 1)], [(0, 1), (1, 1)], 1),
        ([(0, 1)], [(0, 1), (0, 1)], 0),
        ([], [(0, 1)], 0),
    ],
    ids=["chunks overlap", "chunks meet", "two engines", "two clients", "no engine"],
)
def test_only_what_is_certain_is_joined(engines, clients, gone: int) -> None:
    rows = [(n, "r", place, size, None, 1, 1) for n, (place, size) in enumerate(engines)]
    rows += [(100 + n, "r", place, size, 5, 2, 0) for n, (place, size) in enumerate(clients)]
    found = tokens.joined(rows)
    assert len(found.gone) == gone and found.left == len(clients) - gone
    sizes = {100 + n: size for n, (_, size) in enumerate(clients)}
    assert len(found.engine) == sum(sizes[id] for id in found.gone.tolist())


def test_two_processes_of_one_boot_are_moved_by_one_offset(tmp_path: Path) -> None:
    """Each header tells the difference of the clocks anew, 300 ns apart here: tokens may not move against each other."""
    folder = capture(tmp_path / "a", ["engine.akvlog", "client.akvlog", "t.json.gz"], level="device")
    engine().write(folder / "engine.akvlog")
    later = {"start": (1_000, BOOT + 1_350, 1_100, 1_050), "close": (9_000, BOOT + 9_350, 9_100, 9_050)}
    client((0, 1, 2_100), **later).write(folder / "client.akvlog")
    trace(folder / "t.json.gz", [])
    store = tmp_path / "akvsite.db"
    read_in(store, folder)
    (first, *_) = token_rows(store, "scheduled_ns", "sent_ns", "client_ns")
    assert first == (BOOT + 1_010, BOOT + 1_900, BOOT + 2_100)
    bounds = ask(
        store,
        "SELECT CAST(value AS INTEGER) AS ns FROM run_fact WHERE key = 'host axis is known to, in ns' ORDER BY 1",
    )
    assert bounds[-1]["ns"] >= 300


def test_files_of_two_boots_keep_their_own_offsets(tmp_path: Path) -> None:
    folder = capture(tmp_path / "a", ["engine.akvlog", "client.akvlog"])
    engine().write(folder / "engine.akvlog")
    start = (5_000, BOOT + 90_000_000_000, 5_100, 5_050)
    client((0, 1, 2_100), start=start, close=(0, 0, 0, 0)).write(folder / "client.akvlog")
    (outcome,) = read_in(tmp_path / "akvsite.db", folder)
    assert any("another boot or machine" in note for note in outcome.notes)


def test_calls_of_another_file_find_the_steps_of_their_process(tmp_path: Path) -> None:
    folder = capture(tmp_path / "a", ["engine.akvlog", "t.json.gz"], level="device")
    engine().write(folder / "engine.akvlog")
    # Launched in the launch phases of steps 0 and 1, and between the phases of step 2.
    work = [(1_110, 1_400, 1_500), (1_290, 1_550, 1_690), (2_150, 2_400, 2_600), (3_050, 3_400, 3_600)]
    trace(folder / "t.json.gz", work)
    store = tmp_path / "akvsite.db"
    read_in(store, folder)
    found = ask(
        store, "SELECT s.number FROM level4_edge c LEFT JOIN step s ON s.id = c.step_id ORDER BY c.start_ns"
    )
    assert [r["number"] for r in found] == [0, 0, 1, 2]
    assert token_rows(store, "device_first_ns", "device_last_ns", "device_bound_ns") == [
        (BOOT + 1_400, BOOT + 1_690, None),
        (BOOT + 2_400, BOOT + 2_600, None),
        (None, None, None),
    ]
    assert ask(store, "SELECT seen, expected FROM seen WHERE kind = 'step'") == [{"seen": 3, "expected": 3}]


def test_a_span_reaches_its_tokens_by_the_bracketed_clock(tmp_path: Path) -> None:
    folder = capture(tmp_path / "a", ["engine.akvlog"], level="device")
    log = engine()
    for before in (900, 2_500, 4_200):
        log.log.clock(before, before + 20, device=0xD0, device_time=before + 10 + 1_000_000, resolution=1)
    for n in range(3):
        at = 1_000 * (n + 1) + 1_000_000
        log.span(at + 350, at + 500, step=n, queue="compute")
        log.span(at + 400, at + 650, step=n, queue="copy")
    log.write(folder / "engine.akvlog")
    store = tmp_path / "akvsite.db"
    read_in(store, folder)
    for n, (first, last, bound) in enumerate(
        token_rows(store, "device_first_ns", "device_last_ns", "device_bound_ns")
    ):
        assert bound is not None and 0 < bound < 50
        assert abs(first - (1_000 * (n + 1) + 350)) <= bound
        assert abs(last - (1_000 * (n + 1) + 650)) <= bound
    (clock,) = ask(store, "SELECT state, readings, starts, ends, records FROM device_clock")
    assert tuple(clock.values()) == ("bounded", 3, 6, 6, 6)
    # Spans are no work: nothing is said to have been busy, and nothing to be missing.
    assert ask(store, "SELECT because FROM sight") == [{"because": "no device records"}]
    assert ask(store, "SELECT * FROM device_time") == [] and ask(store, "SELECT * FROM interval") == []


def test_a_killed_engine_leaves_all_steps_before_it(tmp_path: Path) -> None:
    folder = capture(tmp_path / "a", ["engine.akvlog"])
    log = engine()
    log.step(3, 4_000, None, batch=1)
    log.phase("launch", 4_100, None)
    log.token("r1", 3, "scheduled", 4_010, step=3)
    log.log.closed = False
    log.write(folder / "engine.akvlog")
    store = tmp_path / "akvsite.db"
    read_in(store, folder)
    steps = ask(store, "SELECT name, end_ns FROM step ORDER BY number")
    assert [tuple(s.values()) for s in steps] == [
        ("decode.step.0", 2_000), ("decode.step.1", 3_000), ("decode.step.2", 4_000), ("decode.step.3", None),
    ]  # fmt: skip
    assert token_rows(store, "number", "launched_ns")[-1] == (3, None)


@pytest.mark.parametrize(("rows", "level"), [("step", 1), ("region", 2), ("span", 3)])
def test_an_undeclared_probe_is_of_the_level_of_its_rows(rows: str, level: int, tmp_path: Path) -> None:
    log = ProbeLog()
    log.step(0, 100, 900)
    if rows != "step":
        log.region("qkv", 120, 150)
    if rows == "span":
        log.span(1, 2, step=0)
    read_in(tmp_path / "akvsite.db", log.write(tmp_path / "a.akvlog"))
    assert ask(tmp_path / "akvsite.db", "SELECT level FROM run") == [{"level": level}]


def test_a_declared_off_may_hold_counters_and_no_probe(tmp_path: Path) -> None:
    folder = capture(tmp_path / "a", ["a.akvlog"], level="off")
    log = ProbeLog(b"akv_counters 0.1.0")
    log.step(0, 100, 900)
    log.write(folder / "a.akvlog")
    read_in(tmp_path / "akvsite.db", folder)
    assert ask(tmp_path / "akvsite.db", "SELECT source FROM step") == [{"source": "engine counter"}]
    ProbeLog().write(folder / "a.akvlog")
    with pytest.raises(BadInput, match="level runner"):
        read_in(tmp_path / "other.db", folder)
    assert not (tmp_path / "other.db").exists() or not np.any(ask(tmp_path / "other.db", "SELECT * FROM run"))
