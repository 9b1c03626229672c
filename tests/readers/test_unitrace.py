"""What unitrace writes: real timelines by counts taken with grep, its trace, and what only looks like either."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from bundles import ask, read_in

from akvsite.errors import BadInput
from akvsite.readers import find
from akvsite.readers.unitrace import READER, Unitrace
from akvsite.readers.unitrace_text import READER as TEXT
from akvsite.readers.unitrace_text import UnitraceText

GOLDEN = Path(__file__).parent / "golden"
DEVICE, CALLS, HOST = "level3_device", "level4_edge", "level2_host"
#: Real timelines: records, copies, orders (barriers and resets, which are no work), bytes of the copies.
REAL = {
    "dpc_gemm_t.txt": (20, 16, 0, 16 * 4_194_304),
    "graph_t.txt": (75, 2, 55, 2 * 4_194_304),
    "vec_add_t.txt": (15, 3, 0, 3 * 128),
}
LINE = '"k" [ns] 1 (append) 2 (submit) {start} (start) {end} (end)\n'


def timeline(*spans: tuple[int, int, int]) -> str:
    """Lines of ``-t``: device, start and end of each record."""
    return "".join(f"Thread 1 Device {d} : " + LINE.format(start=s, end=e) for d, s, e in spans)


# The text of -t.


@pytest.mark.parametrize("name", REAL)
def test_every_line_of_a_real_timeline_is_accounted_for(name, real, gather):
    path = real / "unitrace" / name
    found = gather(find(path), path)
    rows = found.rows[DEVICE]
    kinds = [row["kind"] for row in rows]
    copied = sum(row.get("bytes", 0) for row in rows)
    assert (len(rows), kinds.count("copy"), kinds.count("wait"), copied) == REAL[name]
    text = path.read_text()
    assert len(rows) == len(re.findall(r"\(end\)$", text, re.MULTILINE))
    assert sum(found.counted.values()) == len(text.splitlines())
    assert found.rejected == [] and found.ending is not None and not found.ending.truncated
    # Every time of the file, in its order.
    written = [int(n) for n in re.findall(r"(\d+) \((?:append|submit|start|end)\)", text)]
    columns = ("appended_ns", "submitted_ns", "start_ns", "end_ns")
    assert written == [row[column] for row in rows for column in columns]


def test_the_name_of_a_real_kernel_keeps_what_stands_in_it(real, gather):
    path = real / "unitrace" / "dpc_gemm_t.txt"
    (name,) = {r["name"] for r in gather(TEXT, path).rows[DEVICE] if r["kind"] == "kernel"}
    assert name.startswith("RunAndCheck(sycl::_V1::queue, std::vector<float, ") and name.endswith(
        "::__GEMM[SIMD32]"
    )
    assert "{lambda(sycl::_V1::handler&)#1}" in name


@pytest.mark.parametrize("name", ["dpc_gemm_h.txt", "dpc_gemm_d.txt"])
def test_a_real_summary_is_refused_in_one_line(name, real, akvsite):
    line = akvsite("ingest", real / "unitrace" / name).refused(
        name, "a summary of unitrace", "totals without times", "-t"
    )
    assert "chrome-kernel-logging" in line


def test_a_summary_after_a_timeline_is_counted(gather, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(timeline((0, 3, 4)) + '\n=== Device Timing Summary ===\n\n  Kernel, Calls\n  "k", 1\n')
    found = gather(find(path), path)
    assert len(found.rows[DEVICE]) == 1
    assert found.counted["line", "a summary: totals without times"] == 3


def test_two_devices_are_told_apart_and_overlap_is_counted_once(tmp_path):
    path, store = tmp_path / "a.txt", tmp_path / "akvsite.db"
    path.write_text(timeline((7, 0, 100), (7, 50, 150), (8, 0, 150)))
    read_in(store, path)
    found = ask(store, "SELECT device, union_ns, sum_ns FROM device_time WHERE lane = 'all' ORDER BY device")
    assert [tuple(r.values()) for r in found] == [("7", 150, 200), ("8", 150, 150)]
    assert ask(store, "SELECT clock, level FROM run") == [{"clock": "vendor, unproven", "level": 3}]


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_blocks_may_end_anywhere(block, gather):
    path = GOLDEN / "unitrace_t.txt"
    assert gather(UnitraceText(block), path).plain() == gather(TEXT, path).plain()


@pytest.mark.parametrize("at", range(1, 140, 5))
def test_a_timeline_cut_anywhere_keeps_its_whole_lines(at, gather, tmp_path):
    path = tmp_path / "a.txt"
    text = timeline((0, 3, 4), (0, 5, 6))
    path.write_text(text[:-at])
    found = gather(TEXT, path)
    left = text[:-at].rpartition("\n")[2]
    assert len(found.rows.get(DEVICE, ())) == text[:-at].count("(end)")
    cut = left.startswith("Thread ") and "(end)" not in left
    assert [r.reason for r in found.rejected] == ["cut short by the end of the file"] * cut
    assert found.ending is not None and found.ending.truncated == cut


def test_a_damaged_gzip_gives_what_it_holds(gather, tmp_path):
    path = tmp_path / "a.txt.gz"
    whole = gzip.compress(timeline(*((0, n, n + 1) for n in range(3000))).encode(), mtime=0)
    path.write_bytes(whole[: len(whole) // 2])
    found = gather(find(path), path)
    rows = found.rows[DEVICE]
    assert 0 < len(rows) < 3000 and [r["start_ns"] for r in rows] == list(range(len(rows)))
    assert found.ending is not None and found.ending.truncated


def test_a_line_without_an_end_is_not_kept_whole(gather, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(
        timeline((0, 3, 4)).encode()
        + b"Thread 1 Device 0 : "
        + b"x" * (3 << 20)
        + b"\n"
        + timeline((0, 5, 6)).encode()
    )
    found = gather(TEXT, path)
    assert len(found.rows[DEVICE]) == 2
    assert found.rejected and all(len(r.raw) <= 4096 for r in found.rejected)


# The trace.


def trace(*events: dict, **more: object) -> str:
    """A trace as unitrace begins one."""
    first = {"ph": "M", "name": "process_name", "pid": 5, "ts": 1.0, "args": {"name": "HOST<gpu7.lab>"}}
    return json.dumps({"traceEvents": [first, *events], **more})


def command(number: int, device: int = 99, start: float = 10.0, name: str = "k") -> dict:
    return {
        "ph": "X", "pid": device, "tid": 98, "name": name, "cat": "gpu_op", "ts": start, "dur": 1.0,
        "args": {"id": f"{number}"},
    }  # fmt: skip


def call(
    *numbers: int, pid: int = 5, start: float = 1.0, name: str = "zeCommandListAppendLaunchKernel"
) -> list[dict]:
    """A call and its arrows."""
    event = {
        "ph": "X",
        "pid": pid,
        "tid": pid,
        "name": name,
        "cat": "cpu_op",
        "ts": start,
        "dur": 0.5,
        "id": 0,
    }
    arrows = [
        {"ph": "s", "pid": pid, "tid": pid, "name": "dep", "cat": f"Flow_H2D_{n}_{pid}", "ts": start, "id": n}
        for n in numbers
    ]
    return [event, *arrows]


def arrow(number: int, device: int, side: int) -> dict:
    return {
        "ph": "t",
        "pid": device,
        "tid": 98,
        "name": "dep",
        "cat": f"Flow_H2D_{number}_{side}",
        "ts": 10.0,
        "id": number,
    }


@pytest.mark.parametrize("block", [16, 100, 1 << 20])
def test_a_call_and_its_arrows_may_lie_in_two_chunks(block, gather):
    path = GOLDEN / "unitrace_ze.json"
    assert gather(Unitrace(block, block), path).plain() == gather(READER, path).plain()


def test_a_call_is_linked_with_every_record_that_it_submitted(tmp_path):
    path, store = tmp_path / "a.json", tmp_path / "akvsite.db"
    path.write_text(trace(command(1), command(2), command(3), command(9), *call(1), *call(2, 3, start=2.0)))
    read_in(store, path)
    links = ask(
        store,
        "SELECT c.start_ns AS at, count(*) AS records, l.made_by FROM link l JOIN level4_edge c ON c.id = l.call_id GROUP BY c.id",
    )
    assert [tuple(r.values()) for r in links] == [(1000, 1, "correlation id"), (2000, 2, "correlation id")]
    seen = ask(store, "SELECT seen, expected FROM coverage WHERE direction = 'device records with a call'")
    assert [tuple(r.values()) for r in seen] == [(3, 4)]


def test_equal_ids_of_two_processes_in_one_trace_are_two_ids(tmp_path):
    path, store = tmp_path / "a.json", tmp_path / "akvsite.db"
    events = [command(1, 99, name="a"), arrow(1, 99, 5), command(1, 97, name="b"), arrow(1, 97, 6)]
    path.write_text(
        trace(*events, *call(1, pid=5), *call(1, pid=6, name="zeCommandListAppendLaunchCooperativeKernel"))
    )
    read_in(store, path)
    links = ask(
        store,
        "SELECT p.pid, d.name FROM link l JOIN level3_device d ON d.id = l.interval_id JOIN process p ON p.id = l.process_id"
        " ORDER BY p.pid",
    )
    assert [tuple(r.values()) for r in links] == [("5", "a"), ("6", "b")]


def test_an_arrow_whose_call_is_not_there_is_nobodys(gather, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(trace(command(1), *call(1)[1:], *call(start=1.25)))
    found = gather(READER, path)
    assert "correlation" not in found.rows[CALLS][0]


def test_the_step_of_the_times_is_said(gather, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(trace(command(1, start=1764460000000100.25)))
    found = gather(READER, path)
    assert found.facts["device", "time step"] == "250 ns"
    # With times from the start of the machine on, a nanosecond is there.
    path.write_text(trace(command(1, start=542502841453.331)))
    found = gather(READER, path)
    assert found.facts["device", "time step"] == "1 ns"
    assert found.facts["capture", "host axis"].startswith("CLOCK_MONOTONIC_RAW")


def test_a_trace_without_its_end_is_read_and_flagged(gather):
    found = gather(READER, GOLDEN / "unitrace_ze.json")
    assert found.ending is not None and found.ending.truncated
    assert "gpu7" not in str(found.plain())


def test_a_trace_of_metadata_alone_has_no_events(gather, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(trace())
    found = gather(find(path), path)
    assert (found.processes, found.rows) == ([], {})


# Whose file it is.


@pytest.mark.parametrize(
    ("content", "reader"),
    [
        (trace(), "unitrace"),
        (trace(*call(1)), "unitrace"),
        (json.dumps([command(1)]), "unitrace"),
        (json.dumps({"traceEvents": call(1)}), "unitrace"),
        # The words of unitrace in a trace of torch's profiler are somebody's annotation.
        (json.dumps({"schemaVersion": 1, "traceEvents": [command(1)]}), "kineto"),
        (json.dumps({"traceEvents": call()}), "kineto"),
        (timeline((0, 1, 2)), "unitrace_text"),
        ("[INFO] hello\n" + timeline((0, 1, 2)), "unitrace_text"),
        ("output\n\n=== API Timing Summary ===\n", "unitrace_text"),
        (json.dumps({"traceEvents": [], "note": "\n" + timeline((0, 1, 2))}), "kineto"),
    ],
)
def test_a_file_goes_to_the_tool_that_wrote_it(content, reader, tmp_path):
    path = tmp_path / "a"
    path.write_text(content)
    assert reader == find(path).NAME


def test_a_text_that_quotes_a_heading_is_nobodys(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("see === API Timing Summary === in the manual\n")
    with pytest.raises(BadInput, match="no reader knows this file"):
        find(path)
