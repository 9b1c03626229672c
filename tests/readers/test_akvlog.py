"""The files of our own recorders: what becomes of every record, and of what cannot be."""

from __future__ import annotations

import gzip
from pathlib import Path

import akvlogs
import pytest
from akvlogs import AkvLog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akvsite.errors import BadInput
from akvsite.readers import find
from akvsite.readers.akvlog import READER, Akvlog

GOLDEN = Path(__file__).parent / "golden" / "edge.akvlog.gz"
CREATE, LAUNCH, COPY, WAIT, RELEASE, FINISH, ASKED = range(7)
NAMES = [
    "urKernelCreate", "urEnqueueKernelLaunch", "urEnqueueUSMMemcpy", "urEventWait", "urEventRelease", "urQueueFinish",
    "urEventGetInfo",
]  # fmt: skip


def edge() -> AkvLog:
    """A small process that hung in its last call, with every oddity that a recorder may leave."""
    log = AkvLog(NAMES, counts={ASKED: 12}, closed=False)
    first = log.add_name("gemm<T, 16>", akvlogs.OBJECT_NAME)
    second = log.add_name("softmax", akvlogs.OBJECT_NAME)
    log.add_name("timing=on", akvlogs.NOTE)
    log.add_name("/opt/runtime/lib/libsycl.so.8", akvlogs.LIBRARY)
    log.add_name("never whole", akvlogs.CALL_NAME, id=20, complete=False)
    log.clock(1_000, 1_010, device=0xD0, device_time=90, host_time=5_000, resolution=52)
    log.clock(1_020, 1_030, device=0xD0, device_time=0, result=-3)
    log.call(CREATE, enter=1_100, exit=1_200, object=0xA0)
    log.object(0xA0, first, at=1_190)
    launch = log.call(
        LAUNCH, enter=1_300, exit=1_400, queue=0x10, event=0xE1, object=0xA0, work=[64, 1, 1, 8, 1, 1]
    )
    copy = log.call(
        COPY, enter=1_500, exit=1_600, queue=0x10, event=0xE2, object=0xF000, bytes=4096, waits=[0xE1],
        addresses=[0xF000, 0xF100], flags=akvlogs.BLOCKING,
    )  # fmt: skip
    log.device(launch, 0xE1, queued=5, submitted=10, start=100, end=150)
    log.device(copy, 0xE2, queued=6, submitted=11, start=160, end=190)
    log.device(copy, 0xE2, result=-7)
    log.call(WAIT, enter=1_700, exit=1_900, waits=[0xE1, 0xE2, 0x99])
    log.call(RELEASE, enter=1_910, exit=1_920, object=0xE1)
    # The handle of the kernel and that of the event are used again, by others.
    log.call(CREATE, enter=1_930, exit=1_940, object=0xA0)
    log.object(0xA0, second, at=1_935)
    again = log.call(
        LAUNCH,
        enter=1_950,
        exit=1_960,
        queue=0x10,
        event=0xE1,
        object=0xA0,
        thread=2,
        flags=akvlogs.EVENT_ASKED,
    )
    log.device(again, 0xE1, start=200, end=210)
    log.call(WAIT, enter=1_970, exit=1_980, waits=[0xE1])
    log.call(20, enter=1_981, exit=1_982, result=-5, flags=akvlogs.NESTED | akvlogs.CUT)
    log.hole()
    log.more(akvlogs.WAITS, [0xE2])
    log.mark(20, 0, 1_990, 1_995)
    log.add(9, [1])
    log.call(FINISH, enter=2_000, open=True, queue=0x10)
    return log


def test_the_golden_file_is_what_it_is_made_from(bless: bool) -> None:
    if bless:
        GOLDEN.write_bytes(gzip.compress(edge().build(), mtime=0))
    assert gzip.decompress(GOLDEN.read_bytes()) == edge().build()
    assert find(GOLDEN) is READER


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_batches_change_nothing(rows: int, gather) -> None:
    """What belongs together may lie in different batches: names, waits, device times."""
    assert gather(Akvlog(rows), GOLDEN).plain() == gather(READER, GOLDEN).plain()


#: Kinds of record in the account, apart from what is said of the same records once more.
RECORDS = {
    "call",
    "call that never returned",
    "continuation",
    "kernel named",
    "clock reading",
    "mark of a probe",
    "mark of a request",
    "request named",
    "milestone of a token",
    "milestone of a step",
    "record",
}
NOT_RECORDS = {"lost: too many events waited to be read", "never read: the process ended first"}


def accounted(counted: dict[tuple[str, str], int]) -> int:
    return sum(
        count
        for (what, fate), count in counted.items()
        if what in RECORDS
        or what.startswith("record of kind")
        or (what == "device times" and fate not in NOT_RECORDS)
    )


def many(count: int, **kinds: object) -> AkvLog:
    log = AkvLog(NAMES, **kinds)
    for number in range(count):
        log.call(LAUNCH, enter=10 * number + 1, exit=10 * number + 2, event=number + 1)
    return log


@pytest.mark.parametrize(
    ("log", "cut"),
    [
        (edge(), None),
        (many(40, wraps=True, capacity=16), None),
        (many(40, capacity=16, header={"records_lost": 24, "stopped": 1}), None),
        (many(40), 5_000 + 16_384),
        (many(0), None),
    ],
    ids=["golden", "wraps", "stopped", "cut short", "nothing"],
)  # fmt: skip
def test_every_record_has_one_fate(log: AkvLog, cut: int | None, tmp_path: Path, gather) -> None:
    whole = log.build()
    path = log.write(tmp_path / "a.akvlog", cut=cut)
    found = gather(READER, path)
    reserved = int.from_bytes(whole[192:200], "little")
    assert accounted(found.counted) == reserved
    assert len(found.rows.get("level4_edge", [])) == sum(
        n for (_, fate), n in found.counted.items() if fate == "level4_edge"
    )
    assert found.ending.truncated == (cut is not None)


def test_times_that_cannot_be_are_null_and_kept_as_they_were(tmp_path: Path, gather) -> None:
    """D15: times 2^63 and 2^64 - 1, ids 2^32 + 5 and 5."""
    log = AkvLog(NAMES)
    log.call(LAUNCH, enter=2**63, exit=2**64 - 1, event=2**32 + 5, object=2**64 - 1, bytes=2**63)
    made = log.call(LAUNCH, enter=10, exit=20, event=5, object=2**32 + 5)
    log.call(WAIT, enter=30, exit=40, waits=[5, 2**32 + 5])
    log.device(made, 5, submitted=2**63, start=7, end=2**64 - 1)
    log.clock(1, 2**63, device=2**32 + 5, device_time=2**64 - 1)
    found = gather(READER, log.write(tmp_path / "a.akvlog"))
    first, second, _ = found.rows["level4_edge"]
    assert "start_ns" not in first and "end_ns" not in first and "bytes" not in first
    assert (first["event"], second["event"]) == (2**32 + 5, 5)
    assert (first["object"], second["object"]) == (2**64 - 1, 2**32 + 5)
    (record,) = found.rows["level3_device"]
    assert record["start_ns"] == 7 and "end_ns" not in record and "submitted_ns" not in record
    assert [(r.reason, r.raw) for r in found.rejected] == [
        ("time of entry beyond 2^63 - 1", str(2**63)),
        ("time of return beyond 2^63 - 1", str(2**64 - 1)),
        ("bytes beyond 2^63 - 1", str(2**63)),
        ("device time (end) beyond 2^63 - 1", str(2**64 - 1)),
        ("device time (submitted) beyond 2^63 - 1", str(2**63)),
        ("host time beyond 2^63 - 1", str(2**63)),
        ("device time beyond 2^63 - 1", str(2**64 - 1)),
    ]
    assert found.rejected[0].place == "record 0"
    # The two handles are two events; the one that was handed out at a time that cannot be has no known life.
    waits = {row["event"]: row.get("maker_id") for row in found.rows["edge_wait"]}
    assert waits == {5: 1, 2**32 + 5: None}


@pytest.mark.parametrize(
    ("closed", "said"),
    [(True, "yes"), (False, "no: a signal or _exit ended it, or it still ran")],
)
def test_a_process_that_did_not_end_by_itself_is_flagged(
    closed: bool, said: str, tmp_path: Path, gather
) -> None:
    """D14: what was written before a kill is all there, and the file says how it ended."""
    found = gather(READER, many(1_000, closed=closed).write(tmp_path / "a.akvlog"))
    assert found.facts["capture", "akvlog.process ended by its normal exit"] == said
    assert len(found.rows["level4_edge"]) == 1_000
    assert not found.ending.truncated


def test_a_count_that_cannot_be_is_kept_and_added_to_nothing(tmp_path: Path, gather) -> None:
    log = AkvLog(NAMES, counts={ASKED: 2**63 + 1}, header={"device_times_lost": 2**64 - 1})
    found = gather(READER, log.write(tmp_path / "a.akvlog"))
    assert sorted(r.raw for r in found.rejected) == [str(2**64 - 1), str(2**63 + 1)]
    assert max(found.counted.values()) == 1


def test_a_call_that_never_returned_shows_what_hung(tmp_path: Path, gather) -> None:
    log = AkvLog(NAMES, closed=False)
    log.call(FINISH, enter=50, open=True, queue=0x10)
    (row,) = gather(READER, log.write(tmp_path / "a.akvlog")).rows["level4_edge"]
    assert (row["name"], row["start_ns"], row["open"], row["queue"]) == ("urQueueFinish", 50, 1, "0x10")
    assert "end_ns" not in row and "result" not in row


def test_nothing_of_the_machine_is_in_the_facts(tmp_path: Path, gather) -> None:
    log = AkvLog(NAMES, header={"executable": b"/home/me/venv/bin/python3"})
    log.add_name("loaded=/home/me/lib/libx.so", akvlogs.NOTE)
    log.add_name("/home/me/lib/libsycl.so.8", akvlogs.LIBRARY)
    found = gather(READER, log.write(tmp_path / "a.akvlog"))
    assert found.facts["capture", "akvlog.program"] == "python3"
    assert found.facts["software", "libraries of the recorder"] == "libsycl.so.8"
    assert found.processes[0].name == "python3"
    assert "/home/me" not in str(found.facts)


@pytest.mark.parametrize(
    ("clocks", "offset", "bound"),
    [
        # +-50 at the start, +-50 at the close, and 20 ns of drift between them.
        ({"start": (1_000, 10**18, 1_100, 0), "close": (9_000, 10**18 + 8_020, 9_100, 0)}, 10**18 - 1_050, 120),
        ({"start": (1_000, 10**18, 1_100, 0), "close": (0, 0, 0, 0), "closed": 0}, 10**18 - 1_050, 50),
        ({"start": (1_000, 0, 1_100, 0)}, None, None),
        ({"start": (-(2**62), 2**62, -(2**62), 0)}, None, None),
    ],
    ids=["both ends", "never closed", "no reading", "no difference of clocks"],
)  # fmt: skip
def test_how_well_the_axis_is_known(clocks: dict[str, object], offset, bound, tmp_path: Path) -> None:
    from akvsite.reading import HostClock

    path = AkvLog(NAMES, header=clocks).write(tmp_path / "a.akvlog")
    found = [part for part in READER.read(path) if isinstance(part, HostClock)]
    assert [(c.to_realtime_ns, c.bound_ns) for c in found] == ([] if offset is None else [(offset, bound)])


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    path = AkvLog(NAMES, header={"version": 2}).write(tmp_path / "a.akvlog")
    with pytest.raises(BadInput, match="version 2"):
        list(READER.read(path))


@given(
    damage=st.lists(
        st.tuples(st.integers(0, 511) | st.integers(12_288, 23_000), st.integers(0, 255)), max_size=12
    ),
    cut=st.none() | st.integers(0, 23_000),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_read_or_refused(damage, cut: int | None, tmp_path: Path, gather) -> None:
    """Whatever its bytes say, rows fit their tables, every record has a fate, and nothing else is raised."""
    content = bytearray(edge().build())
    for at, byte in damage:
        content[at % len(content)] = byte
    path = tmp_path / "a.akvlog"
    path.write_bytes(bytes(content)[:cut])
    try:
        found = gather(READER, path)
    except BadInput:
        return
    assert len(found.rows.get("level4_edge", [])) == sum(
        n for (_, fate), n in found.counted.items() if fate == "level4_edge"
    )
