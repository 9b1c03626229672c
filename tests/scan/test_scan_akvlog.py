"""Akvlog files as tables, with both engines: what each record becomes, and that none is unaccounted for."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Any

import akvlogs
import pytest
from akvlogs import AkvLog

from akvsite import scan


def rows(log: scan.Log, table: str = "calls", size: int = scan.ROWS) -> list[dict[str, Any]]:
    return [row for batch in log.batches(table, size) for row in batch.to_pylist()]


def test_a_call_with_all_its_words(opened: Any) -> None:
    log = AkvLog()
    log.call(
        7, enter=10, exit=25, thread=4711, result=-5, queue=0xA0, event=0xE0, object=0xB0, bytes=1 << 40,
        flags=akvlogs.BLOCKING | akvlogs.NESTED, waits=list(range(100, 108)), work=[64, 2, 1, 32, 1, 1],
        addresses=[2**64 - 1, 1],
    )  # fmt: skip
    log.call(8, enter=30, open=True, handles=[3])
    assert rows(opened(log)) == [
        {
            "index": 0, "name": 7, "flags": akvlogs.BLOCKING | akvlogs.NESTED | akvlogs.CONTINUED, "open": False,
            "thread": 4711, "enter_ns": 10, "exit_ns": 25, "result": -5, "queue": 0xA0, "event": 0xE0, "object": 0xB0,
            "bytes": 1 << 40, "waits": list(range(100, 108)), "work": [64, 2, 1, 32, 1, 1],
            "addresses": [2**64 - 1, 1], "handles": [],
        },
        {
            "index": 5, "name": 8, "flags": akvlogs.CONTINUED, "open": True, "thread": 1, "enter_ns": 30,
            "exit_ns": None, "result": None, "queue": 0, "event": 0, "object": 0, "bytes": 0, "waits": [], "work": [],
            "addresses": [], "handles": [3],
        },
    ]  # fmt: skip


def test_the_other_tables(opened: Any) -> None:
    log = AkvLog()
    log.device(3, 0xE0, queued=1, submitted=2, start=3, end=2**64 - 1, result=-1, thread=9)
    log.object(0xC0, 24, at=5, what=2, thread=9)
    log.clock(10, 20, device=0xD0, device_time=15, host_time=16, resolution=52, result=3, thread=9)
    log.mark(16, 2, 100, 200, 1, 2, 3, 4, value=-7, thread=9, flags=128)
    log.mark(63, 65535, 100, 0)
    there = opened(log)
    assert rows(there, "devices") == [
        {
            "index": 0, "call": 3, "event": 0xE0, "thread": 9, "result": -1, "queued": 1, "submitted": 2, "start": 3,
            "end": 2**64 - 1,
        }
    ]  # fmt: skip
    assert rows(there, "objects") == [
        {"index": 1, "at_ns": 5, "thread": 9, "what": 2, "handle": 0xC0, "name_offset": 24}
    ]
    assert rows(there, "clocks") == [
        {
            "index": 2, "before_ns": 10, "after_ns": 20, "thread": 9, "result": 3, "device": 0xD0, "device_time": 15,
            "host_time": 16, "resolution": 52,
        }
    ]  # fmt: skip
    assert [(r["kind"], r["flags"], r["name"], r["value"], r["a"], r["d"]) for r in rows(there, "marks")] == [
        (16, 128, 2, -7, 1, 4),
        (63, 0, 65535, 0, 0, 0),
    ]
    assert rows(there) == []


def test_every_record_is_counted(accounted: Any, opened: Any) -> None:
    log = AkvLog(names=["a", "b"])
    log.call(1, enter=10, exit=25, waits=[1] * 7)
    log.call(0, enter=5, open=True)
    log.hole()
    log.more(akvlogs.WAITS, [1])  # after a hole: a stray
    log.call(1, enter=0, exit=0)
    log.more(9, [1])  # words of no known sort
    log.device(0, 1, start=2, end=99_999)  # the device's clock: no time of the host
    log.mark(20, 0, 7, 90)
    log.add(7)
    log.add(64)
    log.add(255)
    tally = accounted(opened(log))
    assert tally == scan.Tally(
        reserved=13, present={1: 1, 2: 2, 3: 4, 5: 1, 7: 1, 20: 1, 64: 1, 255: 1}, unknown={7: 1, 64: 1, 255: 1},
        holes=1, overwritten=0, lost=0, missing=0, open_calls=1, strays=1, unknown_words=1,
        calls_by_name={0: 1, 1: 2}, first_ns=5, last_ns=90,
    )  # fmt: skip
    assert not tally.truncated


def test_an_empty_log_has_no_times(accounted: Any, opened: Any) -> None:
    log = opened(AkvLog())
    tally = accounted(log)
    assert (tally.reserved, tally.present, tally.first_ns, tally.last_ns) == (0, {}, None, None)
    assert log.table("calls").num_rows == 0
    assert log.table("calls").schema == scan.TABLES["calls"]


def test_a_commit_word_of_another_lap_is_a_hole(accounted: Any, opened: Any) -> None:
    log = AkvLog()
    log.hole(akvlogs.record(akvlogs.CALL, 5, [1, 2]))
    log.hole(akvlogs.record(akvlogs.CALL, 1, [1, 2])[:4] + bytes(60))
    log.call(0, enter=1, exit=2)
    assert [row["index"] for row in rows(opened(log))] == [2]
    assert accounted(opened(log)).holes == 2


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_continuations_reach_across_batches(accounted: Any, opened: Any, size: int) -> None:
    log = AkvLog()
    log.call(0, enter=1, exit=2, waits=list(range(20)))
    log.call(1, enter=3, exit=4)
    log.call(2, enter=5, exit=6, addresses=[1, 2])
    found = rows(opened(log), size=size)
    assert [row["waits"] for row in found] == [list(range(20)), [], []]
    assert [row["addresses"] for row in found] == [[], [], [1, 2]]
    assert accounted(opened(log)).strays == 0


def test_continuations_of_one_call_have_a_limit(accounted: Any, opened: Any) -> None:
    log = AkvLog()
    log.call(0, enter=1, exit=2)
    for word in range(300):
        log.more(akvlogs.HANDLES, [word])
    assert rows(opened(log))[0]["handles"] == list(range(256))
    assert accounted(opened(log)).strays == 44


def test_a_count_of_words_is_not_trusted(opened: Any) -> None:
    log = AkvLog()
    log.call(0, enter=1, exit=2)
    log.more(akvlogs.WAITS, [1, 2, 3, 4, 5, 6], count=65535)
    assert rows(opened(log))[0]["waits"] == [1, 2, 3, 4, 5, 6]


def test_indexes_beyond_32_bits(opened: Any) -> None:
    log = AkvLog(wraps=True, capacity=8, first_index=2**32 - 4)
    for number in range(8):
        log.call(0, enter=number + 1, exit=100)
    assert [row["index"] for row in rows(opened(log))] == list(range(2**32 - 4, 2**32 + 4))


def test_a_file_that_wraps_keeps_the_last_lap(accounted: Any, opened: Any) -> None:
    log = AkvLog(wraps=True, capacity=8)
    for number in range(3):
        log.call(number, enter=number + 1, exit=100, waits=[number] * 7)  # 3 records each
    log.call(3, enter=9, exit=100, waits=[3])
    there = opened(log)
    # 11 records: 0, 1 and 2 are written over, and the call that begins at 6 goes on through the turn at 8.
    assert [(row["index"], row["waits"]) for row in rows(there, size=2)] == [
        (3, [1] * 7),
        (6, [2] * 7),
        (9, [3]),
    ]
    assert accounted(there).overwritten == 3


def test_a_call_that_was_written_over_leaves_strays(accounted: Any, opened: Any) -> None:
    log = AkvLog(wraps=True, capacity=4)
    log.call(0, enter=1, exit=2, waits=[1] * 12)
    log.call(1, enter=3, exit=4)
    log.call(1, enter=3, exit=4)
    there = opened(log)
    assert [row["index"] for row in rows(there)] == [3, 4]
    assert (accounted(there).overwritten, accounted(there).strays) == (1, 2)


def test_a_file_that_wraps_and_is_cut(accounted: Any, opened: Any) -> None:
    log = AkvLog(wraps=True, capacity=8)
    for number in range(11):
        log.call(0, enter=number + 1, exit=100)
    cut = opened(log, cut=len(log.build()) - 3 * 64)
    # Slots 5, 6 and 7 are missing, which held 5, 6 and 7; 8, 9 and 10 are in the slots of 0, 1 and 2.
    assert [row["index"] for row in rows(cut)] == [3, 4, 8, 9, 10]
    tally = accounted(cut)
    assert (tally.overwritten, tally.missing, tally.truncated) == (3, 3, True)


def test_a_torn_end(accounted: Any, opened: Any) -> None:
    log = AkvLog()
    for number in range(4):
        log.call(0, enter=number + 1, exit=100)
    torn = opened(log, cut=len(log.build()) - 100)
    assert [row["index"] for row in rows(torn)] == [0, 1]
    assert (accounted(torn).missing, accounted(torn).truncated) == (2, True)


def test_a_file_that_grew_ahead_is_not_truncated(accounted: Any, opened: Any) -> None:
    log = AkvLog(capacity=1 << 20)
    log.call(0, enter=1, exit=2)
    grown = opened(log, grown=1 << 16)
    assert len(rows(grown)) == 1
    assert not accounted(grown).truncated


def test_what_was_reserved_before_the_file_was_made_longer_is_a_hole(accounted: Any, opened: Any) -> None:
    """A process that is killed while its file is to grow: nothing was cut off, there was nothing yet."""
    log = AkvLog(header={"reserved": 7, "made": 2})
    log.call(0, enter=1, exit=2)
    log.call(0, enter=3, exit=4)
    tally = accounted(opened(log))
    assert (tally.holes, tally.missing, tally.truncated) == (5, 0, False)
    # One of the two that were made is cut off.
    tally = accounted(opened(log, cut=len(log.build()) - 64))
    assert (tally.holes, tally.missing, tally.truncated) == (5, 1, True)


def test_what_found_no_room_is_lost_and_not_missing(accounted: Any, opened: Any) -> None:
    log = AkvLog(capacity=2, header={"reserved": 7, "stopped": 1, "records_lost": 5})
    log.call(0, enter=1, exit=2)
    log.call(0, enter=3, exit=4)
    tally = accounted(opened(log))
    assert (tally.lost, tally.missing, tally.truncated) == (5, 0, False)
    # A full disk: the file never grew to its capacity, and the recorder counted what it could not write.
    log.capacity, log.header = 1000, {"reserved": 7, "stopped": 2, "errno": 28, "records_lost": 5}
    tally = accounted(opened(log))
    assert (tally.lost, tally.missing, tally.truncated) == (5, 0, False)


@pytest.mark.parametrize("wraps", [False, True])
def test_a_header_that_promises_too_much(accounted: Any, opened: Any, wraps: bool) -> None:
    log = AkvLog(wraps=wraps, header={"reserved": 2**64 - 1, "capacity": 2**63})
    log.call(0, enter=1, exit=2)
    tally = accounted(opened(log))
    assert tally.missing + tally.lost + tally.overwritten > 2**62
    assert sum(tally.present.values()) <= 1


def test_several_tables_in_one_pass(opened: Any) -> None:
    log = AkvLog()
    call = log.call(0, enter=1, exit=2, waits=[9])
    log.device(call, 1)
    log.call(0, enter=1, exit=2)
    there = opened(log)
    found = [{table: batch.num_rows for table, batch in piece.items()} for piece in there.pieces(rows=3)]
    assert found == [{"calls": 1, "devices": 1}, {"calls": 1}]
    assert [batch.num_rows for batch in there.batches("calls", 3)] == [1, 1]
    assert [batch.num_rows for batch in there.batches("devices", 3)] == [1]
    with pytest.raises(ValueError, match="no table 'call'"):
        there.batches("call")
    for wrong in (0, scan.ROWS_MOST + 1):
        with pytest.raises(ValueError, match="records, not"):
            there.batches("calls", wrong)


def test_a_file_that_is_cut_while_it_is_read(accounted: Any, engine: str, tmp_path: Path) -> None:
    log = AkvLog()
    for number in range(100):
        log.call(0, enter=number, exit=number + 1)
    path = log.write(tmp_path / "x.akvlog")
    with scan.open_log(path, engine) as live:
        os.truncate(path, len(log.build()) - 64 * 60)
        assert live.table("calls").num_rows == 40
        assert accounted(live).holes == 60


def test_records_that_are_written_over_while_they_are_read(
    accounted: Any, engine: str, tmp_path: Path
) -> None:
    log = AkvLog(wraps=True, capacity=8, closed=False)
    for number in range(8):
        log.call(number, enter=number, exit=number + 1)
    path = log.write(tmp_path / "x.akvlog")
    with scan.open_log(path, engine) as live:
        assert live.table("calls").num_rows == 8
        # Three slots are reserved again, and their writers may be at work: what is read there may be half of each.
        with path.open("r+b") as file:
            file.seek(192)
            file.write((11).to_bytes(8, "little"))
        assert live.table("calls")["index"].to_pylist() == [3, 4, 5, 6, 7]
        assert accounted(live).holes == 3


def test_large_holes_of_a_file_are_not_read(accounted: Any, engine: str, tmp_path: Path) -> None:
    """A terabyte with two records in it: one at its start, one far behind."""
    count, far = 1 << 34, (1 << 33) + 5
    log = AkvLog(capacity=count, header={"reserved": count, "made": count})
    log.call(0, enter=1, exit=2)
    path = log.write(tmp_path / "ur-1.akvlog")
    records_at = path.stat().st_size - 64
    try:
        os.truncate(path, records_at + 64 * count)
    except OSError:
        pytest.skip("no file of this length can be made here")
    with path.open("r+b") as file:
        os.pwrite(file.fileno(), akvlogs.record(akvlogs.CALL, far, [3, 4]), records_at + 64 * far)
    with scan.open_log(path, engine) as there:
        pieces = list(islice(there._slots.pieces(there._file, 1 << 16), 4))
        assert [first for first, _, _ in pieces] == [0, far - far % (1 << 16)]
        assert [(call["index"], call["enter_ns"]) for call in rows(there)] == [(0, 1), (far, 3)]
        tally = accounted(there)
    assert (tally.present, tally.holes, tally.missing) == ({2: 2}, count - 2, 0)
    assert 2 <= count - tally.unread < 1 << 20
