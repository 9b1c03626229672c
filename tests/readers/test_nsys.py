"""Exports of Nsight Systems: real ones by counts taken with plain SQL, and files that are not what they seem."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from bundles import ask, read_in
from sqlite_files import made

from akvsite.errors import BadInput
from akvsite.readers import find, nsys
from akvsite.readers.nsys import READER

GOLDEN = Path(__file__).parent / "golden" / "nsys.sql"
DEVICE, CALLS, HOST = "level3_device", "level4_edge", "level2_host"
#: Which table of the file goes to which level.
LEVEL = {
    "KERNEL": DEVICE, "MEMCPY": DEVICE, "MEMSET": DEVICE, "GRAPH_TRACE": DEVICE, "SYNCHRONIZATION": DEVICE,
    "RUNTIME": CALLS, "OVERHEAD": HOST,
}  # fmt: skip
SECRETS = ("/home/", "/root", "hf_", "ghp_", "sk-", "Bearer", "EXPORT_", ".nsys-rep", "/tmp/")
REAL = {
    "small_wsl_3.24": (4, 9, 31, 0),
    "h100_2gpu_3.25": (4612, 5796, 16980, 0),
    "saxpy_mpi_2.9": (20, 57, 38, 0),
    "graph_trace_3.16": (42, 62, 15, 0),
}

SESSION = "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
KERNELS = """
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'a'), (2, 'b'), (3, 'c');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
        start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER
    );
"""
#: The global id of process 41.
P41 = (1 << 48) + (41 << 24)


@pytest.fixture(scope="module")
def reading(real, gather):
    """Each real file, read once."""
    known = {}

    def once(name):
        if name not in known:
            known[name] = gather(find(real / "nsys" / f"{name}.sqlite"), real / "nsys" / f"{name}.sqlite")
        return known[name]

    return once


def plain(path: Path) -> Iterator[tuple[str, int]]:
    """Each table of a file and how many rows it has."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            yield name, connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]


@pytest.mark.parametrize("name", REAL)
def test_every_row_of_a_real_file_is_accounted_for(name, reading, real):
    found = reading(name)
    assert tuple(len(found.rows.get(t, ())) for t in (DEVICE, CALLS, HOST, "step")) == REAL[name]
    assert found.rejected == []
    counted: dict[str, int] = {}
    for (what, _), count in found.counted.items():
        counted[what] = counted.get(what, 0) + count
    words = 0
    for table, rows in plain(real / "nsys" / f"{name}.sqlite"):
        if table.startswith("ENUM_"):
            words += rows
        else:
            assert counted.get(table, 0) == rows, table
        kind = table.removeprefix("CUPTI_ACTIVITY_KIND_")
        if kind in LEVEL and rows:
            again = found.counted.get((table, "the same call again, with its call stack"), 0)
            assert found.counted[table, LEVEL[kind]] == rows - again
            assert again == (38 if (name, kind) == ("saxpy_mpi_2.9", "RUNTIME") else 0)
    assert counted.get("ENUM_ tables", 0) == words


@pytest.mark.parametrize("name", REAL)
def test_real_times_are_those_of_the_file_from_its_session_on(name, reading, real):
    found = reading(name)
    with closing(
        sqlite3.connect(f"{(real / 'nsys' / f'{name}.sqlite').as_uri()}?immutable=1", uri=True)
    ) as connection:
        (epoch,) = connection.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()
        first, last = connection.execute(
            "SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        ).fetchone()
        pids = {
            p
            for (p,) in connection.execute(
                "SELECT DISTINCT (globalTid / 0x1000000) % 0x1000000 FROM CUPTI_ACTIVITY_KIND_RUNTIME"
            )
        }
    kernels = [row for row in found.rows[DEVICE] if row["kind"] == "kernel"]
    assert min(row["start_ns"] for row in kernels) == epoch + first
    assert max(row["end_ns"] for row in kernels) == epoch + last
    assert found.facts["capture", "utcEpochNs"] == str(epoch)
    callers = {found.processes[row["process"]].pid for row in found.rows[CALLS]}
    assert callers == {str(pid) for pid in pids}
    assert found.ending is not None and found.ending.last_ns >= epoch + last


def test_a_replay_traced_whole_has_its_device_time_in_one_record(reading, real, tmp_path):
    rows = reading("graph_trace_3.16").rows[DEVICE]
    replays = [row for row in rows if row["kind"] == "graph replay"]
    assert len(replays) == 10
    # By hand from the file: 815,789,245 - 34,168,307 ns of the first replay.
    assert replays[0]["end_ns"] - replays[0]["start_ns"] == 781_620_938
    store = tmp_path / "akvsite.db"
    read_in(store, real / "nsys" / "graph_trace_3.16.sqlite")
    lanes = {r["lane"]: r for r in ask(store, "SELECT * FROM device_time")}
    assert lanes["graph replay"]["intervals"] == 10
    assert lanes["graph replay"]["sum_ns"] > 100 * lanes["kernel"]["sum_ns"]
    assert lanes["all"]["union_ns"] >= lanes["graph replay"]["union_ns"]
    seen = {
        (r["direction"], r["kind"]): (r["seen"], r["expected"]) for r in ask(store, "SELECT * FROM coverage")
    }
    assert seen["calls with device records", "graph replay"] == (10, 10)
    assert seen["device records with a call", "graph replay"] == (10, 10)


def test_half_of_the_kernels_of_two_gpus_have_their_call(real, tmp_path):
    path = real / "nsys" / "h100_2gpu_3.25.sqlite"
    store = tmp_path / "akvsite.db"
    read_in(store, path)
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
        pid = "(global{} / 0x1000000) % 0x1000000"
        calls = set(
            connection.execute(f"SELECT {pid.format('Tid')}, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME")
        )
        kernels = connection.execute(
            f"SELECT {pid.format('Pid')}, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL"
        ).fetchall()
    expected = [
        (pid, sum(p == pid for p, _ in kernels), sum(p == pid and (p, i) in calls for p, i in kernels))
        for pid in (111, 112)
    ]
    found = ask(
        store,
        "SELECT p.pid, s.expected, s.seen FROM seen s JOIN process p ON p.id = s.process_id"
        " WHERE s.direction = 'device records with a call' AND s.kind = 'kernel' ORDER BY p.pid",
    )
    assert [(int(r["pid"]), r["expected"], r["seen"]) for r in found] == expected
    assert all(0 < seen < whole for _, whole, seen in expected)


@pytest.mark.parametrize("name", REAL)
def test_nothing_that_is_somebodys_leaves_a_real_file(name, reading):
    found = reading(name)
    said = [*found.facts.values(), *(r.raw for r in found.rejected), *(str(p) for p in found.processes)]
    said += [row["name"] for rows in found.rows.values() for row in rows]
    assert [text for text in said for secret in SECRETS if secret in text] == []


def test_nothing_that_is_somebodys_leaves_a_made_up_file(gather, tmp_path):
    said = str(gather(READER, made(tmp_path / "a.sqlite", GOLDEN.read_text())).plain())
    assert [
        secret for secret in (*SECRETS, "gpu7", "serve.py", "DeviceEnvironment", "sshd") if secret in said
    ] == []


def test_equal_correlation_ids_of_two_processes_are_two_ids(tmp_path):
    store = tmp_path / "akvsite.db"
    read_in(store, made(tmp_path / "a.sqlite", GOLDEN.read_text()))
    links = ask(
        store,
        "SELECT p.pid, c.name AS call, d.name AS kernel FROM link l JOIN level4_edge c ON c.id = l.call_id"
        " JOIN level3_device d ON d.id = l.interval_id JOIN process p ON p.id = l.process_id WHERE d.correlation = 5 ORDER BY p.pid",
    )
    assert [tuple(r.values()) for r in links] == [
        ("41", "cudaLaunchKernel_v7000", "void gemm<float, 16>(float*)"),
        ("42", "cudaLaunchKernel_v7000", "k\\x9f"),
    ]
    assert ask(store, "SELECT clock, level FROM run") == [{"clock": "vendor, unproven", "level": 3}]
    # Ids that differ by 2^32 are two as well.
    assert ask(
        store,
        "SELECT count(DISTINCT correlation) AS n FROM level3_device WHERE correlation IN (5, 4294967301)",
    ) == [{"n": 2}]


def test_a_replay_in_one_record_is_device_time_of_its_own_kind(tmp_path):
    store = tmp_path / "akvsite.db"
    read_in(store, made(tmp_path / "a.sqlite", GOLDEN.read_text()))
    lanes = ask(
        store,
        "SELECT lane, intervals, sum_ns FROM device_time WHERE device = '0' AND process_id = 1 ORDER BY lane",
    )
    assert [tuple(r.values()) for r in lanes] == [
        ("all", 5, 900 + 100 + 100 + 10 + 5000), ("copy", 1, 100), ("fill", 1, 10), ("graph replay", 1, 5000), ("kernel", 2, 1000),
    ]  # fmt: skip
    seen = ask(
        store, "SELECT direction, seen, expected FROM coverage WHERE kind = 'graph replay' ORDER BY direction"
    )
    assert [tuple(r.values()) for r in seen] == [
        ("calls with device records", 1, 1),
        ("device records with a call", 1, 1),
    ]


def test_two_queues_that_overlap_are_counted_once_and_a_stream_once_a_device(tmp_path):
    ms = 1_000_000
    rows = f"(0, {100 * ms}, 0, 7, 1, {P41}, 1), ({50 * ms}, {150 * ms}, 0, 8, 2, {P41}, 2), (0, {150 * ms}, 1, 7, 3, {P41}, 3)"
    store = tmp_path / "akvsite.db"
    read_in(
        store,
        made(tmp_path / "d9.sqlite", f"{KERNELS} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES {rows};"),
    )
    found = ask(
        store,
        "SELECT device, union_ns, sum_ns, last_ns - first_ns AS span FROM device_time WHERE lane = 'all' ORDER BY device",
    )
    assert [tuple(r.values()) for r in found] == [
        ("0", 150 * ms, 200 * ms, 150 * ms),
        ("1", 150 * ms, 150 * ms, 150 * ms),
    ]
    queues = ask(store, "SELECT device, queue FROM device_queues ORDER BY device, queue")
    assert [tuple(r.values()) for r in queues] == [("0", "7"), ("0", "8"), ("1", "7")]
    assert "does not say" in ask(store, "SELECT value FROM run_fact WHERE key = 'host axis'")[0]["value"]


def test_two_ranges_that_cross_on_one_thread_are_both_kept(gather, tmp_path):
    sql = f"""
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
        INSERT INTO NVTX_EVENTS VALUES (0, 5, 60, 'one', {P41 + 1}), (3, 7, 60, 'two', {P41 + 1});
    """
    rows = gather(READER, made(tmp_path / "a.sqlite", sql)).rows[HOST]
    assert [(r["start_ns"], r["end_ns"], r["thread"]) for r in rows] == [(0, 5, "1"), (3, 7, "1")]


@pytest.mark.parametrize(
    ("start", "end"),
    [(2**63, 5), (5, 2**64 - 1), ("'soon'", 5), ("X'00'", 5), (1.5, 5), ("NULL", 5), (2**62, 2**62 + 1)],
)
def test_a_time_that_cannot_be_goes_to_the_quarantine_as_it_was(start, end, gather, tmp_path):
    sql = f"{KERNELS} {SESSION} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({start}, {end}, 0, 7, 1, {P41}, 1), (1, 2, 0, 7, 1, {P41}, 1);"
    found = gather(READER, made(tmp_path / "a.sqlite", sql))
    assert [r["start_ns"] for r in found.rows[DEVICE]] == [1]
    (rejected,) = found.rejected
    assert rejected.place == "CUPTI_ACTIVITY_KIND_KERNEL, row 1"
    for value in (start, end):
        kept = {"'soon'": "text soon", "X'00'": "blob of 1 bytes", "NULL": ""}.get(value, str(value))
        # SQLite keeps a number that does not fit in 63 bits as a float.
        assert (kept if not isinstance(value, int) or value < 2**63 else repr(float(value))) in rejected.raw


def test_a_time_that_does_not_fit_with_the_start_of_the_session_is_refused_by_the_store(tmp_path):
    sql = f"{KERNELS} {SESSION} INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({2**61}); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({2**61}, {2**61 + 1}, 0, 7, 1, {P41}, 1);"
    store = tmp_path / "akvsite.db"
    read_in(store, made(tmp_path / "a.sqlite", sql))
    assert ask(store, "SELECT count(*) AS n FROM level3_device") == [{"n": 0}]
    assert ask(store, "SELECT count(*) AS n FROM quarantine") == [{"n": 1}]


def test_times_that_were_exported_as_dates_stay_as_they_are(gather, tmp_path):
    sql = f"""
        {KERNELS} {SESSION} INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1764460000000000000);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT); INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_NORMALIZE', 'true'), ('EXPORT_PARAM_TIME_SHIFT', '-250');
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1764460000000000005, 1764460000000000007, 0, 7, 1, {P41}, 1);
    """
    found = gather(READER, made(tmp_path / "a.sqlite", sql))
    assert [r["start_ns"] for r in found.rows[DEVICE]] == [1764460000000000005]
    assert found.facts["capture", "host axis"].endswith("the export had moved all times by -250 ns")


def test_the_newest_form_of_a_table_is_read_and_the_others_counted(gather, tmp_path):
    sql = (
        KERNELS.replace("KIND_KERNEL", "KIND_KERNEL_V10")
        + KERNELS.replace("KIND_KERNEL", "KIND_KERNEL_V9").partition(");")[2].partition(";")[2]
    )
    sql += f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V10 VALUES (1, 2, 0, 7, 1, {P41}, 1); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V9 VALUES (3, 4, 0, 7, 1, {P41}, 1);"
    found = gather(READER, made(tmp_path / "a.sqlite", sql))
    assert [r["start_ns"] for r in found.rows[DEVICE]] == [1]
    assert found.counted["CUPTI_ACTIVITY_KIND_KERNEL_V9", "another form of a table that was read"] == 1


def test_what_only_looks_like_a_table_is_not_read(gather, tmp_path):
    sql = """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
            WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT start, start AS end FROM n;
        CREATE VIEW NVTX_EVENTS_V3 AS SELECT * FROM no_such_table;
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, "end", globalTid, nameId, "a ""b" GLOB);
        CREATE TRIGGER CUPTI_ACTIVITY_KIND_MEMCPY INSERT ON StringIds BEGIN SELECT 1; END;
    """
    found = gather(READER, made(tmp_path / "a.sqlite", sql))
    assert found.rows == {}
    assert sorted((r.reason, r.place) for r in found.rejected) == [
        ("a trigger and no table: not read", "CUPTI_ACTIVITY_KIND_MEMCPY"),
        ("a view and no table: not read", "CUPTI_ACTIVITY_KIND_KERNEL"),
        ("a view and no table: not read", "NVTX_EVENTS_V3"),
    ]


def test_huge_values_are_described_and_not_read(gather, tmp_path):
    sql = f"""
        {KERNELS} INSERT INTO StringIds VALUES (4, zeroblob(20000000)), (5, printf('%.*c', 9000, 'x'));
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
            (1, 2, 0, 7, 1, {P41}, 4), (3, zeroblob(1000000), 0, 7, 1, {P41}, 1), (5, 6, 0, 7, 1, {P41}, 5);
    """
    found = gather(READER, made(tmp_path / "a.sqlite", sql))
    assert [len(r["name"]) for r in found.rows[DEVICE]] == [len("string 4"), 4096]
    (rejected,) = found.rejected
    assert "end=blob of 1000000 bytes" in rejected.raw and len(rejected.raw) < 1000
    assert found.ending is not None
    assert found.ending.repaired == {
        "names that are not among the file's strings": 1,
        "texts cut after 4096 bytes": 1,
        "values that are no whole number left out": 1,
    }


def of_many_pages(path: Path) -> bytes:
    values = ", ".join(f"({n}, {n + 1}, 0, 7, {n}, {P41}, 1)" for n in range(2000))
    sql = f"PRAGMA page_size = 1024; {KERNELS} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES {values};"
    return made(path, sql).read_bytes()


def test_a_damaged_page_ends_its_table_and_says_so(gather, tmp_path):
    path = tmp_path / "a.sqlite"
    data = of_many_pages(path)
    half = len(data) // 2048 * 1024
    path.write_bytes(data[:half] + b"\xff" * 1024 + data[half + 1024 :])
    found = gather(READER, path)
    kernels = [row["start_ns"] for row in found.rows[DEVICE]]
    assert kernels == list(range(len(kernels))) and 0 < len(kernels) < 2000
    assert [r.reason.partition(":")[0] for r in found.rejected] == ["cannot be read on"]
    assert found.rejected[0].place == f"CUPTI_ACTIVITY_KIND_KERNEL, after row {len(kernels)}"
    assert found.ending is not None and found.ending.truncated


def test_a_file_that_lost_its_end_is_one_line(tmp_path):
    path = tmp_path / "a.sqlite"
    data = of_many_pages(path)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(
        BadInput, match=f"^a.sqlite: is cut short: {len(data) // 2} of {len(data)} bytes are there$"
    ):
        list(READER.read(path))


@pytest.mark.parametrize("at", [100, 105, 108])
def test_a_damaged_schema_is_one_line(at, tmp_path):
    path = made(tmp_path / "a.sqlite", KERNELS)
    data = bytearray(path.read_bytes())
    data[at : at + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    with pytest.raises(BadInput) as raised:
        list(READER.read(path))
    assert str(raised.value).startswith("a.sqlite: ")
    assert len(str(raised.value).splitlines()) == 1


def test_any_byte_of_a_file_may_be_wrong(gather, tmp_path):
    whole = made(
        tmp_path / "whole.sqlite",
        f"PRAGMA page_size = 512; {KERNELS} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 1, {P41}, 1);",
    ).read_bytes()
    path = tmp_path / "a.sqlite"
    for at in range(16, len(whole), 23):
        for value in (0x00, 0xFF):
            data = bytearray(whole)
            data[at] = value
            path.write_bytes(data)
            try:
                gather(READER, path)
            except BadInput as error:
                assert str(error).startswith("a.sqlite: ")


def test_a_compressed_export_says_what_to_do(tmp_path):
    path = tmp_path / "a.sqlite.gz"
    path.write_bytes(gzip.compress(made(tmp_path / "a.sqlite", KERNELS).read_bytes()))
    with pytest.raises(BadInput, match="decompress it first"):
        list(find(path).read(path))


def test_a_write_ahead_log_is_named_and_nothing_is_written_beside_the_file(gather, tmp_path):
    folder = tmp_path / "capture"
    folder.mkdir()
    path = tmp_path / "live.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"PRAGMA journal_mode = WAL; {KERNELS}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 1, {P41}, 1)")
        connection.commit()
        for file in tmp_path.glob("live.sqlite*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert set(before) == {"live.sqlite", "live.sqlite-wal"}
    found = gather(find(folder / "live.sqlite"), folder / "live.sqlite")
    assert found.rows == {}
    assert [r.reason for r in found.rejected] == ["a write-ahead log beside the file: not read"]
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_the_projects_own_store_and_other_databases_are_nobodys(tmp_path):
    store = tmp_path / "akvsite.db"
    read_in(store, made(tmp_path / "a.sqlite", GOLDEN.read_text()))
    for path in (store, made(tmp_path / "b.sqlite", "CREATE TABLE kernels (start INTEGER);")):
        with pytest.raises(BadInput, match="no reader knows this file"):
            find(path)


def test_an_export_without_rows_is_an_empty_capture(gather, tmp_path):
    found = gather(
        READER, made(tmp_path / "a.sqlite", "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);")
    )
    assert (found.processes, found.rows, found.rejected) == ([], {}, [])


def test_a_table_that_comes_late_in_a_large_file_is_still_found(tmp_path):
    padding = "CREATE TABLE padding (x); INSERT INTO padding VALUES (zeroblob(200000));"
    many = " ".join(f"CREATE TABLE t{n} (x /* {'x' * 200} */);" for n in range(40))
    path = made(tmp_path / "a.sqlite", padding + many + KERNELS)
    assert not nsys._TABLE.search(path.read_bytes()[:65536])
    assert find(path) is READER
