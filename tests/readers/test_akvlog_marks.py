"""What a probe marked: each record becomes a row, a column of one, or a count."""

from __future__ import annotations

from pathlib import Path

import pytest
from akvlogs import AkvLog
from probe_logs import BY_EXCEPTION, ProbeLog

from akvsite.milestones import TOKEN
from akvsite.readers.akvlog import READER, Akvlog


def engine() -> ProbeLog:
    """Two steps of which the second is open, two requests, one preempted."""
    log = ProbeLog(closed=False)
    log.request("r1", "arrived", 50, tokens=16)
    log.request(9, "arrived", 60, tokens=8)
    log.step(0, 100, 900, batch=2)
    log.phase("launch", 120, 300)
    log.region("qkv", 130, 150, flags=BY_EXCEPTION)
    log.layer(3, 125, 200)
    log.token("r1", 0, "scheduled", 105, step=0)
    log.token(9, 0, "scheduled", 106, step=0)
    log.stamp("launched", 300, step=0)
    log.stamp("sampled", 800, step=0)
    log.token("r1", 0, "sampled", 790, step=0)
    log.token("r1", 0, "sampled", 795, step=0)
    log.token("r1", 0, "sent", 890, step=0)
    log.stamp("copied", 850, step=5)
    log.request(9, "preempted", 880, step=0)
    log.request("r1", "sang", 881)
    log.token("r1", 0, "hummed", 882)
    log.step(1, 1000, None, kind="warmup")
    log.phase("launch", 1010, None)
    log.mark(40, "kept", 1, 2)
    return log


def client() -> ProbeLog:
    """A stream with a chunk of the role alone, one of a token, one of eight."""
    log = ProbeLog()
    log.request("r1", "client sent", 10, tokens=16)
    log.token("r1", 0, "client", 900, tokens=0)
    log.token("r1", 0, "client", 2_200)
    log.token("r1", 1, "client", 2_360, tokens=8)
    log.request("r1", "client done", 2_400, tokens=9)
    log.request("r2", "client sent", 20, tokens=4)
    log.request("r2", "client failed", 70, tokens=0)
    log.request("r3", "client sent", 30)
    return log


def test_each_record_of_a_probe_is_somewhere(tmp_path: Path, gather) -> None:
    found = gather(READER, engine().write(tmp_path / "a.akvlog"))
    rows = found.rows
    assert [(r.get("name"), r.get("start_ns"), r.get("end_ns"), r.get("number"), r.get("kind"), r.get("batch"), r.get("source")) for r in rows["step"]] == [
        ("decode.step.0", 100, 900, 0, "decode", 2, "probe"),
        ("warmup.step.1", 1000, None, 1, "other", None, "probe"),
    ]  # fmt: skip
    assert [
        (r.get("name"), r.get("start_ns"), r.get("end_ns"), r.get("thread")) for r in rows["level1_runner"]
    ] == [
        ("launch", 120, 300, "7"),
        ("launch", 1010, None, "7"),
    ]
    assert [(r.get("name"), r.get("category"), r.get("layer")) for r in rows["level2_host"]] == [
        ("qkv", "region", None),
        ("layer", "layer", 3),
    ]
    assert [(r.get("request"), r.get("event"), r.get("at_ns"), r.get("step"), r.get("tokens")) for r in rows["request_event"]] == [
        ("r1", "arrived", 50, None, 16),
        ("9", "arrived", 60, None, 8),
        ("9", "preempted", 880, 0, None),
    ]  # fmt: skip
    tokens = {
        r.get("request"): {k: r.get(f"{k}_ns") for k in TOKEN if r.get(f"{k}_ns") is not None}
        for r in rows["token"]
    }
    assert tokens == {
        # What a token says of itself stands before what its step says, and the first before the second.
        "r1": {"arrived": 50, "scheduled": 105, "launched": 300, "sampled": 790, "sent": 890},
        "9": {"arrived": 60, "scheduled": 106, "launched": 300, "sampled": 800},
    }
    assert "request" not in rows
    counted = found.counted
    assert counted["region left by an exception", "its row says the rest"] == 1
    assert counted["step that was entered and not left", "step"] == 1
    assert counted["milestone of a token", "left out: the first of its name stands"] == 1
    assert counted["milestone of a token", "not known to this version"] == 1
    assert counted["milestone of a step", "no token of its step is in the file"] == 1
    assert counted["mark of a request", "of nothing known to this version"] == 1
    assert counted["mark of a probe", "of a kind not known to this version"] == 1


def test_the_first_record_stands_for_the_step_too_and_what_cannot_be_is_set_aside(
    tmp_path: Path, gather
) -> None:
    log = ProbeLog()
    log.token("r", 0, "sampled", 50)
    log.token("r", 0, "sent", 100, step=1)
    log.token("r", 0, "sent", 900, step=7, tokens=None)
    log.token("r", 1, "client", 950, tokens=2**62)
    log.stamp("launched", 90, step=1)
    log.stamp("launched", 890, step=7)
    log.token("r", -3, "sent", 960)
    found = gather(Akvlog(), log.write(tmp_path / "a.akvlog"))
    assert [
        (t["number"], t.get("step"), t.get("tokens"), t.get("launched_ns"), t.get("sent_ns"))
        for t in found.rows["token"]
    ] == [(0, 1, 1, 90, 100), (1, None, None, None, None)]
    assert [(r.reason, r.raw) for r in found.rejected] == [
        ("place of a token below 0", "-3"),
        ("tokens of a piece beyond 2^31 - 1", str(2**62)),
    ]
    assert found.counted["milestone of a token", "quarantine: its place cannot be"] == 1


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("made", [engine, client])
def test_batches_change_nothing(made, rows: int, tmp_path: Path, gather) -> None:
    path = made().write(tmp_path / "a.akvlog")
    assert gather(Akvlog(rows), path).plain() == gather(READER, path).plain()


def test_a_chunk_without_a_token_is_no_first_token(tmp_path: Path, gather) -> None:
    rows = gather(READER, client().write(tmp_path / "a.akvlog")).rows
    assert [(r.get("number"), r.get("tokens"), r.get("client_ns")) for r in rows["token"]] == [
        (0, 1, 2_200),
        (0, 0, 900),
        (1, 8, 2_360),
    ]
    names = ("name", "start_ns", "end_ns", "prompt_tokens", "output_tokens", "ttft_ns", "ok")
    assert [tuple(r.get(n) for n in names) for r in rows["request"]] == [
        ("r1", 10, 2_400, 16, 9, 2_190, 1),
        ("r2", 20, 70, 4, 0, None, 0),
        ("r3", 30, None, None, None, None, None),
    ]


def test_a_stream_without_its_request_has_tokens_and_no_request(tmp_path: Path, gather) -> None:
    """The file wrapped, or the client marks tokens alone."""
    log = ProbeLog()
    log.token("r1", 0, "client", 5)
    rows = gather(READER, log.write(tmp_path / "a.akvlog")).rows
    assert [r["client_ns"] for r in rows["token"]] == [5] and "request" not in rows
    log.request("r2", "client sent", 6)
    rows = gather(READER, log.write(tmp_path / "b.akvlog")).rows
    assert [(r["name"], r.get("ttft_ns")) for r in rows["request"]] == [("r2", None)]


def test_a_number_may_be_given_to_another_request(tmp_path: Path, gather) -> None:
    log = AkvLog(["sent"], header={"producer": b"akv_probe 1"})
    one, other = log.add_name("one", 2), log.add_name("other", 2)
    log.object(5, one, what=3)
    log.mark(21, 0, 10, 0, 5, 0, 0, value=0)
    log.object(5, other, what=3)
    log.mark(21, 0, 20, 0, 5, 0, 0, value=0)
    rows = gather(READER, log.write(tmp_path / "a.akvlog")).rows["token"]
    assert [(r.get("request"), r.get("sent_ns"), r.get("tokens")) for r in rows] == [
        ("one", 10, None),
        ("other", 20, None),
    ]


def test_spans_are_on_the_clock_of_their_device(tmp_path: Path, gather) -> None:
    log = ProbeLog()
    log.span(5, 9, step=4)
    log.log.clock(100, 110, device=0xD0, device_time=7)
    rows = gather(READER, log.write(tmp_path / "a.akvlog")).rows
    (span,) = rows["level3_device"]
    names = ("name", "kind", "device", "queue", "clock", "step", "start_ns", "end_ns")
    assert [span[n] for n in names] == ["compute", "span", "0xd0", "compute", "device", 4, 5, 9]
    assert [r.get("source") for r in rows["clock_sample"]] == ["probe"]


def test_values_that_no_column_holds_are_kept_apart(tmp_path: Path, gather) -> None:
    log = ProbeLog()
    log.step(2**63 + 1, 2**63, 2**64 - 1)
    log.request("r", "arrived", 2**63)
    log.token("r", 0, "sent", 2**64 - 1)
    log.token("r", 1, "sent", 5, step=2**63)
    found = gather(READER, log.write(tmp_path / "a.akvlog"))
    assert [(r.get("number"), r.get("start_ns"), r.get("end_ns")) for r in found.rows["step"]] == [
        (None, None, None)
    ]
    assert "request_event" not in found.rows
    assert [(r.get("number"), r.get("step"), r.get("sent_ns")) for r in found.rows["token"]] == [(1, None, 5)]
    assert len(found.rejected) == 5


@pytest.mark.parametrize(
    ("producer", "level", "source"),
    [(b"akv_probe 0.1.0", "runner", "probe"), (b"akv_counters 0.1.0", "off", "engine counter")],
)
def test_the_producer_says_who_drew_the_steps(
    producer: bytes, level: str, source: str, tmp_path: Path, gather
) -> None:
    log = ProbeLog(producer)
    log.step(0, 1, 2)
    path = log.write(tmp_path / "a.akvlog")
    assert READER.level(path) == level
    assert [r.get("source") for r in gather(READER, path).rows["step"]] == [source]


def test_a_later_token_does_not_stand_in_for_the_first(tmp_path: Path, gather) -> None:
    log = ProbeLog()
    log.request("r1", "client sent", 1)
    log.token("r1", 0, "sent", 4)
    log.token("r1", 1, "client", 9)
    rows = gather(READER, log.write(tmp_path / "a.akvlog")).rows
    assert [(r["name"], r.get("ttft_ns")) for r in rows["request"]] == [("r1", None)]
