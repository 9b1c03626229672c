"""Kineto traces: real ones by their counts, and the cases that broke other tools."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from akvsite.errors import BadInput
from akvsite.escape import unescape
from akvsite.readers.kineto import READER, Kineto

FLOW, MARK, METADATA, WINDOW = (
    "a flow arrow",
    "a mark in time",
    "metadata",
    "the window of the profiler itself",
)
DRAWN = "drawn by the profiler around device records"
HOST, DEVICE, CALLS, MEMORY = "level2_host", "level3_device", "level4_edge", "memory_event"

# Events by what became of them; the last number is the steps, which are annotations too.
REAL = {
    "kineto/before_fix.json": ({HOST: 4, DEVICE: 3, CALLS: 1, FLOW: 4, METADATA: 60, MARK: 2, WINDOW: 1}, 0),
    "kineto/begin_end_counters.json": (
        {HOST: 12, "the end of its begin": 8, MARK: 6, "a counter sample": 5, "a sample": 3, METADATA: 3}, 0,
    ),
    "kineto/cpu_only.json.gz": ({HOST: 7479, FLOW: 110, METADATA: 12, MARK: 2, WINDOW: 1}, 5),
    "kineto/large_54MB.json.gz": (
        {HOST: 58715, DEVICE: 22290, CALLS: 42373, MEMORY: 28010, FLOW: 64663, METADATA: 38,
         MARK: 2, WINDOW: 1}, 5,
    ),
    "kineto/large_integer.json.gz": ({HOST: 1, DEVICE: 1}, 0),
    "kineto/mi250_toy_train.json.gz": (
        {HOST: 73, DEVICE: 16, CALLS: 21, FLOW: 45, METADATA: 60, DRAWN: 2, MARK: 2, WINDOW: 1}, 2,
    ),
    "kineto/mtia_inference.json.gz": (
        {HOST: 12042, DEVICE: 1313 + 113, CALLS: 710, FLOW: 1801, METADATA: 176, MARK: 2, WINDOW: 1}, 0,
    ),
    "kineto/old_categories.json.gz": ({DEVICE: 4, CALLS: 8, FLOW: 8, METADATA: 32, MARK: 1, WINDOW: 1}, 0),
    "kineto/qwen_0.5b_h100.json.gz": (
        {HOST: 8449, DEVICE: 1707, CALLS: 1922, MEMORY: 2450, FLOW: 3629, METADATA: 60, DRAWN: 1,
         MARK: 2, WINDOW: 1}, 1,
    ),
    "kineto/qwen_0.5b_mi300.json.gz": (
        {HOST: 8886, DEVICE: 1517, CALLS: 1707, MEMORY: 2692, FLOW: 3224, METADATA: 60, DRAWN: 1,
         MARK: 2, WINDOW: 1}, 1,
    ),
    "kineto/sglang_decode_mi300.json.gz": ({HOST: 884, DEVICE: 558, CALLS: 29, FLOW: 587}, 2),
    "kineto/triton_example.json.gz": (
        {HOST: 4, DEVICE: 1, CALLS: 2, FLOW: 3, METADATA: 58, MARK: 2, WINDOW: 1}, 1,
    ),
    "kineto/vllm_decode_graph_mi300.json.gz": ({HOST: 1085, DEVICE: 434, CALLS: 20, FLOW: 454}, 1),
    "h200/kv_prefetch_timing_off.pt.trace.json.gz": (
        {HOST: 19729, DEVICE: 4056, CALLS: 7706, FLOW: 11762, METADATA: 60, DRAWN: 390, MARK: 2,
         WINDOW: 1}, 6,
    ),
}  # fmt: skip
SECRETS = ("facebook", "mojif", "mast_", "tw_", "/tmp/", "/home/", "trainer", "host_name", "username")


@pytest.fixture(scope="session")
def reading(real, gather):
    """Each real file, read once."""
    known = {}

    def once(name):
        if name not in known:
            known[name] = gather(READER, real / name)
        return known[name]

    return once


def _events(path):
    data = path.read_bytes()
    trace = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


@pytest.mark.parametrize("name", REAL)
def test_every_event_of_a_real_file_is_accounted_for(name, real, reading):
    expected, steps = REAL[name]
    found = reading(name)
    assert found.fates() == expected
    assert {table: len(rows) for table, rows in found.rows.items() if table != "step"} == {
        fate: count for fate, count in expected.items() if fate in (HOST, DEVICE, CALLS, MEMORY)
    }
    assert len(found.rows.get("step", [])) == steps
    assert sum(found.counted.values()) == len(_events(real / name))
    assert not found.rejected and not found.ending.truncated and not found.ending.repaired


def test_the_table_has_every_kineto_file(real):
    assert {f"kineto/{p.name}" for p in (real / "kineto").iterdir()} <= set(REAL)


@pytest.mark.parametrize("name", REAL)
def test_no_fact_says_whose_machine_it_was(name, reading):
    said = " ".join(f"{key} {value}" for (_, key), value in reading(name).facts.items())
    assert not [secret for secret in SECRETS if secret in said]


def test_the_h200_trace(reading):
    found = reading("h200/kv_prefetch_timing_off.pt.trace.json.gz")
    names = Counter(row["name"] for row in found.rows[CALLS] if row["kind"] == "launch")
    assert names == {"cudaLaunchKernel": 1554, "cudaLaunchKernelExC": 768, "cuLaunchKernelEx": 1350}
    kinds = Counter(row["kind"] for row in found.rows[DEVICE])
    assert kinds == {"kernel": 3672, "copy": 384}
    assert {(r["bytes"], r["direction"]) for r in found.rows[DEVICE] if r["kind"] == "copy"} == {
        (4 << 20, "HtoD")
    }
    assert [(s["name"], s["number"], s["kind"]) for s in found.rows["step"]] == [
        (f"decode.step.{n}", n, "decode") for n in range(6)
    ]
    layers = Counter(row["layer"] for row in found.rows[HOST] if row["category"] == "layer")
    assert layers == dict.fromkeys(range(32), 6)
    assert found.facts["device", "0.name"] == "NVIDIA H200"
    # ts 5123796213831.198 us after the base: no float holds the sum.
    assert found.rows["step"][0]["start_ns"] == 1790857026000000000 + 5123796213831198


def test_kernels_without_a_launch_record(reading):
    found = reading("kineto/qwen_0.5b_h100.json.gz")
    calls = {row["correlation"] for row in found.rows[CALLS]}
    kernels = [row for row in found.rows[DEVICE] if row["kind"] == "kernel"]
    assert (len(kernels), sum(row["correlation"] not in calls for row in kernels)) == (1465, 436)
    assert {p.pid for p in found.processes} == {"25286", "0"}
    owner = {p.index: p.pid for p in found.processes}
    assert {owner[row["process"]] for row in kernels} == {"25286"}


def test_what_stands_after_the_events_is_known_before_the_rows(reading):
    found = reading("kineto/old_categories.json.gz")
    assert {p.rank for p in found.processes} == {1}
    cpu_only = reading("kineto/cpu_only.json.gz")
    assert cpu_only.processes[0].rank == 34
    assert min(row["start_ns"] for row in cpu_only.rows[HOST]) > 1719853884000000000


def test_mtia_kinds(reading):
    found = reading("kineto/mtia_inference.json.gz")
    kinds = Counter(row["kind"] for row in found.rows[DEVICE])
    assert kinds == {"copy": 877, "other": 291, "wait": 48 + 113, "kernel": 37 + 36 + 24}
    assert Counter(row["kind"] for row in found.rows[CALLS])["launch"] == 74
    assert [p.pid for p in found.processes] == ["865"]


# Cases from public reports.


def event(cat, name, ts, dur, pid=100, tid=101, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


@pytest.fixture
def read(tmp_path, gather):
    def of(content, name="trace.json", reader=READER):
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        (tmp_path / name).write_bytes(content)
        return gather(reader, tmp_path / name)

    return of


def launched(ids, kernels):
    calls = [
        event("cuda_runtime", "cudaLaunchKernel", 1000.0 + i, d, correlation=c)
        for i, (c, d) in enumerate(ids)
    ]
    return calls + [
        event("kernel", f"k{i}", 2000.0 + i, 0.5, pid=0, tid=7, device=0, stream=7, correlation=c)
        for i, c in enumerate(kernels)
    ]


def test_d3_a_kernel_that_starts_before_its_launch_is_kept_as_it_is(read):
    found = read([
        event("cuda_runtime", "cudaLaunchKernel", 1000.0, 4.0, correlation=1),
        event("kernel", "early", 999.4, 2.5, pid=0, tid=7, device=0, stream=7, correlation=1),
        event("cuda_runtime", "cudaLaunchKernel", 1010.0, 4.0, correlation=2),
        event("kernel", "normal", 1015.0, 2.5, pid=0, tid=7, device=0, stream=7, correlation=2),
    ])  # fmt: skip
    assert [(r["start_ns"], r["end_ns"]) for r in found.rows[DEVICE]] == [
        (999400, 1001900),
        (1015000, 1017500),
    ]
    assert found.rows[CALLS][0]["start_ns"] - found.rows[DEVICE][0]["start_ns"] == 600


@pytest.mark.parametrize(
    "bare", ["inf", "-inf", "nan", "-nan(ind)", "NaN", "Infinity", "-Infinity", "1.#INF"]
)
def test_d4_a_bare_number_that_is_none_is_repaired_and_counted(read, bare):
    copy = json.dumps(
        event("gpu_memcpy", "Memcpy DtoD: inf, nan", 10, 0, pid=0, tid=7, bytes=200, bandwidth=77)
    )
    text = f"[{copy.replace('77', bare)}, {json.dumps(event('cpu_op', 'next', 20, 1))}]"
    found = read(text.encode())
    assert sum(found.ending.repaired.values()) == 1
    (row,) = found.rows[DEVICE]
    assert (row["start_ns"], row["end_ns"], row["bytes"]) == (10000, 10000, 200)
    assert row["name"] == "Memcpy DtoD: inf, nan" and found.rows[HOST][0]["name"] == "next"


def test_d5_bytes_that_are_no_utf8_are_kept_and_counted(read):
    kernels = [
        event("kernel", name, i, 1, pid=0, tid=7) for i, name in enumerate(["AA", "BB", "Größe", r"C:\x64\k"])
    ]
    text = json.dumps(kernels, ensure_ascii=False).encode()
    found = read(text.replace(b"AA", b"\x6b\x9f").replace(b"BB", b"\xc0\xc1"))
    names = [row["name"] for row in found.rows[DEVICE]]
    assert names == [r"k\x9f", r"\xc0\xc1", "Größe", r"C:\x5cx64\k"]
    assert [unescape(n) for n in names] == [b"\x6b\x9f", b"\xc0\xc1", "Größe".encode(), rb"C:\x64\k"]
    assert sum(found.ending.repaired.values()) == 2


def test_d5_a_lone_surrogate_that_json_spells_out(read):
    found = read(b'[{"ph":"X","cat":"kernel","name":"a\\udc9f","pid":0,"tid":7,"ts":1,"dur":1}]')
    assert found.rows[DEVICE][0]["name"] == r"a\xed\xb2\x9f"


TEN = json.dumps({"traceEvents": [event("cpu_op", f"op{i}", i * 10, 5) for i in range(10)]}).encode()


def test_d6_a_file_of_no_bytes(read):
    found = read(b"", "empty.json")
    assert found.ending.truncated and found.ending.last_ns is None and not found.rows and not found.counted


def test_d6_json_cut_inside_event_7(read):
    found = read(TEN[: TEN.index(b"op6")])
    assert [row["name"] for row in found.rows[HOST]] == [f"op{i}" for i in range(6)]
    assert found.ending.truncated and found.ending.last_ns == 55_000
    (cut,) = found.rejected
    assert cut.place.startswith("event 7, byte ") and cut.reason == "cut short by the end of the file"
    assert TEN.decode()[int(cut.place.rpartition(" ")[2]) :].startswith(cut.raw)


def test_d6_gzip_cut_half_way(read):
    events = [event("cpu_op", f"op{i} {hash(i) % 977}", i * 10, 5) for i in range(20_000)]
    whole = gzip.compress(json.dumps(events).encode())
    half = whole[: len(whole) // 2]
    had = zlib.decompressobj(wbits=31).decompress(half)
    found = read(half, "half.json.gz")
    assert len(found.rows[HOST]) == had.count(b'"args": {}}')
    assert found.ending.truncated and found.ending.last_ns == found.rows[HOST][-1]["end_ns"]


def test_d6_a_gzip_file_whose_last_bytes_are_damaged_gives_its_events(read):
    whole = bytearray(gzip.compress(TEN))
    whole[-6] ^= 0xFF  # in the checksum
    found = read(bytes(whole), "damaged.json.gz")
    assert len(found.rows[HOST]) == 10 and found.ending.truncated


def test_gzip_in_members_and_with_padding(read):
    members = gzip.compress(TEN[:200]) + gzip.compress(TEN[200:]) + b"\0" * 512
    found = read(members, "members.json")
    assert len(found.rows[HOST]) == 10 and not found.ending.truncated


def test_d7_calls_and_kernels_of_one_id(read):
    found = read(launched([(9, 50), (10, 40)], [9, 9, 9, 10, 10]))
    calls = {row["correlation"]: row["end_ns"] - row["start_ns"] for row in found.rows[CALLS]}
    assert len(found.rows[CALLS]) == 2 and sum(calls.values()) == 90_000
    assert Counter(row["correlation"] for row in found.rows[DEVICE]) == {9: 3, 10: 2}


def test_d9_one_stream_number_on_two_devices(read):
    found = read([
        event("kernel", "a", 0, 100_000, pid=0, tid=7, device=0, stream=7),
        event("kernel", "b", 50_000, 100_000, pid=0, tid=8, device=0, stream=8),
        event("kernel", "c", 0, 150_000, pid=1, tid=7, device=1, stream=7),
    ])  # fmt: skip
    assert [(r["device"], r["queue"], r["end_ns"]) for r in found.rows[DEVICE]] == [
        ("0", "7", 100_000_000), ("0", "8", 150_000_000), ("1", "7", 150_000_000),
    ]  # fmt: skip
    assert [p.pid for p in found.processes] == ["unknown"]


@pytest.mark.parametrize(
    ("ts", "dur", "base"),
    [
        ("9223372036854775.808", "1", None),  # 2^63 ns
        ("18446744073709551.615", "1", None),  # 2^64 - 1 ns
        ("9223372036854775808", "1", None),
        ("18446744073709551615", "1", None),
        ("9223372036854775.800", "1", None),  # it begins in time and ends out of it
        ("1e999999", "1", None),
        ("1", "1e999999", None),
        ('"nan"', "1", None),
        ("8000000000000000", "1", 1790857026000000000),  # only with its base
    ],
)
def test_d15_times_that_do_not_fit_go_to_the_quarantine(read, ts, dur, base):
    text = f'{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ts},"dur":{dur}}}'
    end = "" if base is None else f', "baseTimeNanoseconds": {base}'
    found = read(f'{{"traceEvents": [{text}]{end}}}'.encode())
    (rejected,) = found.rejected
    assert "does not fit in 64 bits" in rejected.reason
    assert not found.rows
    assert found.fates() == {"quarantine": 1}
    if base is None:
        assert rejected.raw == text and rejected.place == "event 1, byte 17"


def test_d15_ids_keep_their_64_bits(read):
    found = read(launched([(2**32 + 5, 1), (5, 1), (2**64 - 1, 1), (2**63, 1)], [2**32 + 5, 5, 2**64 - 1]))
    assert [row["correlation"] for row in found.rows[CALLS]] == [2**32 + 5, 5, -1, -(2**63)]
    assert [row["correlation"] for row in found.rows[DEVICE]] == [2**32 + 5, 5, -1]


def test_d16_slices_that_overlap_on_one_thread_are_both_kept(read):
    found = read([event("cpu_op", "a", 0, 5), event("cpu_op", "b", 3, 4)])
    assert [(r["start_ns"], r["end_ns"]) for r in found.rows[HOST]] == [(0, 5000), (3000, 7000)]


def test_d17_a_trace_of_metadata_only(read):
    found = read(
        {"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "p"}}] * 3}
    )
    assert found.fates() == {METADATA: 3} and not found.rows and not found.processes
    assert not found.ending.truncated


# Other faults.


def test_calls_of_several_processes_take_their_own_device_rows(read):
    found = read([
        event("kernel", "of 1", 1, 1, pid=0, tid=7, device=0, stream=7, correlation=5),
        event("kernel", "of 2", 3, 1, pid=0, tid=7, device=0, stream=7, correlation=6),
        event("kernel", "of nobody", 5, 1, pid=0, tid=7, device=0, stream=7, correlation=99),
        event("cuda_runtime", "cudaLaunchKernel", 0, 1, pid=1, correlation=5),
        event("cuda_runtime", "cudaLaunchKernel", 2, 1, pid=2, correlation=6),
        event("cuda_runtime", "cudaMalloc", 4, 1, pid=2, correlation=7),
    ])  # fmt: skip
    owner = {p.index: p.pid for p in found.processes}
    assert [owner[row["process"]] for row in found.rows[DEVICE]] == ["1", "2", "2"]


def test_a_quote_too_many_costs_its_own_event_only(read):
    events = [json.dumps(event("cpu_op", f"op{i}", i, 1), indent=1) for i in range(5)]
    events[2] = events[2].replace("op2", 'op"2')
    found = read(('{"traceEvents": [' + ",\n".join(events) + "]}").encode())
    assert [row["name"] for row in found.rows[HOST]] == ["op0", "op1", "op3", "op4"]
    assert [r.reason for r in found.rejected] == ["not JSON"] and 'op\\"2' not in found.rejected[0].raw
    assert found.fates() == {HOST: 4, "quarantine": 1}


def test_a_bracket_too_many_and_one_too_few(read):
    text = json.dumps([event("cpu_op", f"op{i}", i, 1) for i in range(4)])
    found = read(text.replace('"op1", ', '"op1"}, ').encode())
    assert {"op0", "op2", "op3"} <= {row["name"] for row in found.rows[HOST]}
    assert found.rejected
    unclosed = read(TEN[:-2])
    assert len(unclosed.rows[HOST]) == 10 and unclosed.ending.truncated
    swapped = read(TEN[:-2] + b"}")
    assert len(swapped.rows[HOST]) == 10 and swapped.ending.truncated


@pytest.mark.parametrize("open_, close", [("[", "]"), ('{"a":', "}")])
def test_nesting_of_any_depth_is_no_crash(read, open_, close):
    inner = "1" if close == "}" else ""
    deep = f'{{"ph":"X","name":"deep","args":{{"a":{open_ * 50_000}{inner}{close * 50_000}}},"ts":1,"dur":1}}'
    after = json.dumps(event("cpu_op", "after", 5, 1))
    found = read(
        f'{{"x": {open_ * 50_000}{inner}{close * 50_000}, "traceEvents": [{deep}, {after}]}}'.encode()
    )
    assert [row["name"] for row in found.rows[HOST]] == ["after"]
    assert [r.reason for r in found.rejected] == ["nested too deeply"]


def test_numbers_of_any_length_are_no_crash(read):
    long = b'{"ph":"X","name":"n","ts":1,"dur":1,"pid":1,"args":{"correlation":' + b"9" * 10_000 + b"}}"
    found = read(b"[" + long + b"," + json.dumps(event("cpu_op", "after", 5, 1)).encode() + b"]")
    assert [row["name"] for row in found.rows[HOST]][-1] == "after"
    assert found.fates()[HOST] + found.fates().get("quarantine", 0) == 2


def test_control_characters_inside_a_string(read):
    found = read(b'[{"ph":"X","cat":"kernel","name":"a\tb\x01","pid":0,"tid":7,"ts":1,"dur":1}]')
    assert found.rows[DEVICE][0]["name"] == "a\tb\x01"
    assert sum(found.ending.repaired.values()) == 1


def test_a_base_that_fits_nowhere(read):
    found = read({"baseTimeNanoseconds": 2**70, "traceEvents": [event("cpu_op", "a", 1, 1)]})
    assert found.rows[HOST][0]["start_ns"] == 1000
    assert [r.place for r in found.rejected] == ["baseTimeNanoseconds"]


@pytest.mark.parametrize("content", [b"7", b'"text"', b"nothing", b"\x00\x01", b"<html>"])
def test_what_is_no_json_object_is_refused(read, content):
    with pytest.raises(BadInput, match="not JSON"):
        read(content)


MIXED = [
    event("user_annotation", "decode.step.3", 0, 90),
    event("cpu_op", "aten::mm", 1.5, 5, inputs=[{"a": 1}, {"b": [{}, {}]}]),
    event("cuda_runtime", "cudaLaunchKernel", 2.125, 1, correlation=7),
    event("kernel", 'k "},{" \\', 4, 2, pid=0, tid=7, device=0, stream=7, correlation=7, grid=[1, 2, 3]),
    {"ph": "B", "cat": "c", "name": "open", "pid": 100, "tid": 5, "ts": 1},
    event("gpu_memcpy", "Memcpy HtoD", 8, 0, pid=0, tid=8, bytes="16", stream="0x10"),
    {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 100,
        "tid": 1,
        "ts": 9,
        "args": {"Bytes": -1},
    },
    {"ph": "E", "cat": "c", "name": "open", "pid": 100, "tid": 5, "ts": 11},
    {"ph": "f", "cat": "ac2g", "id": 1, "pid": 0, "tid": 7, "ts": 4},
    event("kernel", "Größe", 12, 1, pid=0, tid=7, args=[1]),
    {
        "ph": "X",
        "cat": "cpu_op",
        "name": "args are a list",
        "pid": 100,
        "tid": 1,
        "ts": 13,
        "dur": 1,
        "args": [{}, {}],
    },
]
TRACE = {
    "deviceProperties": [{"id": 0}, {"id": 1}],
    "traceEvents": MIXED,
    "distributedInfo": {"rank": 2},
    "z": [{}, {}],
}
SPELLINGS = [
    json.dumps(TRACE).encode(),
    json.dumps(TRACE, indent=2, ensure_ascii=False).encode(),
    json.dumps(MIXED, separators=(",", ":")).encode(),
]


def canonical(found):
    """What was found, without the order of the rows in a table: that is the order of the chunks."""
    plain = found.plain()
    pids = {p.index: p.pid for p in found.processes}
    plain["processes"] = sorted((p.pid, p.rank, p.name) for p in found.processes)
    for table, rows in plain["rows"].items():
        named = [{**row, "process": pids[row["process"]]} for row in rows]
        plain["rows"][table] = sorted(named, key=lambda row: json.dumps(row, sort_keys=True))
    plain["rejected"] = sorted(plain["rejected"], key=lambda r: r["raw"])
    return plain


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SPELLINGS), st.integers(0, 4000), st.sampled_from([64, 256, 1024]))
def test_any_truncation_gives_the_events_before_it(read, text, at, chunk):
    at = min(at, len(text))
    try:
        small = read(text[:at], reader=Kineto(block=100, chunk=chunk))
    except BadInput:
        pytest.fail("a truncated trace is no bad input")
    large = read(text[:at], reader=Kineto(chunk=4 << 20))
    assert canonical(small) == canonical(large)
    assert small.ending.truncated or text[at:].strip() == b""
    # As many whole events as there are before the cut, and those first.
    whole = sum(count for (what, _), count in small.counted.items() if what != "no event")
    named = [e["name"] for e in MIXED[:whole] if e["ph"] == "X" and e.get("cat") != "ac2g"]
    names = [row["name"] for table in (HOST, DEVICE, CALLS) for row in small.rows.get(table, [])]
    assert sorted(n for n in names if n != "open") == sorted(named)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=200).map(lambda b: b'{"traceEvents":[' + b),
        st.text('{}[],:"\\ \n1ephts', max_size=200).map(lambda t: b'{"traceEvents":[' + t.encode()),
        st.binary(max_size=200).map(lambda b: gzip.compress(b'[{"ph":"X"}')[:-8] + b),
    ),
    st.sampled_from([64, 1 << 20]),
)
@example(b'{"traceEvents":[}', 64)
@example(b'[{"ph":"X","name":"\\', 64)
@example(b"\x1f\x8b", 64)
def test_random_bytes_are_read_or_refused(read, content, chunk):
    try:
        found = read(content, reader=Kineto(block=50, chunk=chunk))
    except BadInput:
        return
    assert found.ending is not None


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_one_damaged_byte_loses_little_and_nothing_silently(read, data):
    text = bytearray(json.dumps([event("cpu_op", f"op{i}", i, 1) for i in range(8)], indent=1).encode())
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] = data.draw(st.integers(0, 255))
    try:
        found = read(bytes(text), reader=Kineto(chunk=data.draw(st.sampled_from([64, 1 << 20]))))
    except BadInput:
        return
    kept = sum(found.counted.values())
    assert kept >= 7 or found.rejected or found.ending.truncated


def test_no_folder_of_a_person_and_no_command_line(gather, tmp_path) -> None:
    events = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/home/alice/bin/python3 a.py --token x"}},
        {"ph": "X", "cat": "python_function", "name": "/home/alice/a.py(3): step", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
    ]  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"traceEvents": events}))
    found = gather(READER, path)
    assert [p.name for p in found.processes if p.pid == "1"] == ["python3"]
    assert [r["name"] for r in found.rows["level2_host"]] == ["[redacted]/a.py(3): step"]


def test_events_that_are_no_row_may_all_be_without_a_time(gather, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(
        '{"traceEvents": [{"ph": "s", "name": "ac2g", "pid": 1, "tid": 1}, {"ph": "i", "name": "m", "ts": 2.5}]}'
    )
    found = gather(READER, path)
    assert sum(found.fates().values()) == 2
    assert found.ending is not None and found.ending.last_ns == 2500
