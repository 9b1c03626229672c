"""The files themselves: header, names, compression, what is refused and why, and which engine is used."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import akvlogs
import pytest
from akvlogs import AkvLog
from hypothesis import given
from hypothesis import strategies as st

from akvsite import scan
from akvsite.errors import BadInput
from akvsite.escape import escape, unescape


def test_the_header(opened: Any) -> None:
    log = AkvLog(header={"executable": b"/opt/\xff\\x41", "events_asked": 5, "device_times_unread": 6})
    header = opened(log).header
    assert (header.pid, header.parent_pid, header.producer) == (4711, 4710, "akv_test 1")
    assert header.executable == "/opt/\\xff\\x5cx41"
    assert header.start == scan.Clocks(1_000, 1_700_000_000_000_000_000, 1_100, 1_050)
    assert header.close == scan.Clocks(9_000, 1_700_000_000_000_008_000, 9_100, 9_050)
    assert (header.events_asked, header.device_times_unread, header.closed) == (5, 6, True)
    # While the process runs, what is written at the close is not known.
    live = opened(AkvLog(closed=False)).header
    assert (live.close, live.device_times_unread, live.closed) == (None, None, False)


def test_names(opened: Any) -> None:
    log = AkvLog(names=["urQueueCreate", b"k\xff"], counts={3: 7, 1023: 2**64 - 1})
    log.add_name("void gemm<float>", akvlogs.OBJECT_NAME, cut=True)
    log.add_raw_name(bytes(16))
    log.add_name("half", akvlogs.NOTE, complete=False)
    at = log.add_name("", akvlogs.LIBRARY)
    log.add_raw_name(b"\xff\xff\xff\x7f" + bytes(4))  # would reach beyond the names
    log.add_name("never seen")
    there = opened(log)
    assert [(n["what"], n["id"], n["cut"], n["text"], n["complete"]) for n in there.names.to_pylist()] == [
        (1, 0, False, "urQueueCreate", True),
        (1, 1, False, "k\\xff", True),
        (2, 0, True, "void gemm<float>", True),
        (4, 0, False, "half", False),
        (3, 0, False, "", True),
    ]
    assert there.names["offset"].to_pylist()[-1] == at
    assert there.counts.to_pylist() == [{"id": 3, "count": 7}, {"id": 1023, "count": 2**64 - 1}]


def test_offsets_beyond_the_file_hold_nothing(accounted: Any, opened: Any) -> None:
    log = AkvLog(names=["a"], header={"names_at": 2**64 - 1, "counts_at": 2**63, "records_at": 2**63})
    log.call(0, enter=1, exit=2)
    there = opened(log)
    assert (there.names.num_rows, there.counts.num_rows, accounted(there).missing) == (0, 0, 1)


def test_a_compressed_file(opened: Any) -> None:
    log = AkvLog(names=["a"])
    for number in range(1000):
        log.call(0, enter=number, exit=number + 1)
    plain, packed = opened(log), opened(log, "ur-1.akvlog.gz", grown=3 << 20)
    assert packed.table("calls").equals(plain.table("calls"))
    assert packed.tally() == plain.tally()
    assert packed.file_bytes == plain.file_bytes + (3 << 20)


def test_a_compressed_file_that_is_cut(accounted: Any, engine: str, tmp_path: Path) -> None:
    log = AkvLog()
    for number in range(1000):
        log.call(0, enter=number * 977, exit=number + 1)
    path = tmp_path / "x.akvlog.gz"
    whole = gzip.compress(log.build(), mtime=0)
    path.write_bytes(whole[: len(whole) * 3 // 4])
    with scan.open_log(path, engine) as cut:
        assert accounted(cut).truncated
        assert 0 < cut.table("calls").num_rows < 1000
    path.write_bytes(whole[:20] + b"\xff" * 100)
    with pytest.raises(BadInput, match="no sound gzip stream"):
        scan.open_log(path, engine)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"magic": b"\x89AKVLOG\r"}, ["no akvlog"]),
        ({"version": 2}, ["byte 8", "version 2"]),
        ({"header_bytes": 8192}, ["byte 12"]),
        ({"record_bytes": 128}, ["byte 16", "128"]),
        ({"names_bytes": 2**40}, ["byte 32"]),
        ({"counts": 1025}, ["byte 48", "1,025"]),
        ({"records_at": 4097}, ["byte 56"]),
        ({"records_at": 0}, ["byte 56"]),
        ({"flags": 1, "capacity": 1000}, ["byte 64", "power of two"]),
        ({"flags": 1, "capacity": 0}, ["byte 64"]),
    ],
)
def test_what_is_refused(tmp_path: Path, header: dict[str, Any], words: list[str]) -> None:
    path = AkvLog(header=header).write(tmp_path / "x.akvlog")
    with pytest.raises(BadInput) as refused:
        scan.open_log(path)
    for word in [path.name, *words]:
        assert word in str(refused.value)


def test_what_is_no_file_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "x.akvlog"
    for content, why in (
        (b"", "no akvlog"),
        (b"{}", "no akvlog"),
        (AkvLog().build()[:4095], "the header is cut"),
    ):
        path.write_bytes(content)
        with pytest.raises(BadInput, match=why):
            scan.open_log(path)
    with pytest.raises(BadInput, match="No such file"):
        scan.open_log(tmp_path / "none")
    with pytest.raises(BadInput, match="no regular file"):
        scan.open_log(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="no regular file"):
        scan.open_log(tmp_path / "pipe")


def test_engines_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = AkvLog().write(tmp_path / "x.akvlog")
    with pytest.raises(BadInput, match="'numpy' is no engine"):
        scan.open_log(path, "numpy")
    monkeypatch.setattr("akvsite.scan._engines.CRATE", "akvscan_not_there")
    with pytest.raises(BadInput, match=r"pip install \./scanner"):
        scan.open_log(path, "rust")
    with scan.open_log(path) as log:
        assert log.engine == "python"


@given(st.binary(max_size=20) | st.from_regex(rb"(\\|x[0-9A-Fa-f]{1,2}|\xc3\xa9|\xff){1,6}", fullmatch=True))
def test_every_byte_of_a_text_can_be_had_back(raw: bytes) -> None:
    assert unescape(escape(raw)) == raw
