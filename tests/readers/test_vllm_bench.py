"""Results of vllm bench serve: real ones, and what goes wrong in them."""

from __future__ import annotations

import contextlib
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akvsite.errors import BadInput
from akvsite.readers import find
from akvsite.readers.vllm_bench import READER

# Rows by table, and every record by what became of it.
REAL = {
    "vllm_bench_goodput_colon.json": (
        {}, {"a fact": 29, "null": 2, "not among the facts that are kept": 1},
    ),
    "vllm_bench_pd_ratio.json": ({}, {"a fact": 27, "null": 2}),
    "vllm_bench_no_rpc_1000qps.json.gz": (
        {"request": 1000, "token": 34},
        {"request": 1000, "token": 34, "its places are requests": 6, "a fact": 12,
         "not among the facts that are kept": 15},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_a_real_result(name, real, gather):
    path = real / "serving" / name
    assert find(path) is READER
    found = gather(READER, path)
    tables, fates = REAL[name]
    assert {table: len(rows) for table, rows in found.rows.items()} == tables
    assert found.fates() == fates
    assert not found.rejected and not found.ending.truncated


def test_failed_requests_have_no_first_token_of_zero_and_empty_ones_are_unknown(real, gather):
    found = gather(READER, real / "serving" / "vllm_bench_no_rpc_1000qps.json.gz")
    rows = found.rows["request"]
    assert Counter((row.get("ok"), "ttft_ns" in row, "error" in row) for row in rows) == {
        (0, False, True): 949, (0, True, True): 34, (None, False, False): 17,
    }  # fmt: skip
    assert rows[0]["ttft_ns"] == 21_271_935_103 and rows[0]["zero"] == "request start"
    assert {row.get("error", "").partition(":")[0] for row in rows} == {
        "",
        "aiohttp.client_exceptions.ClientPayloadError",
    }
    assert found.facts["capture", "declared.completed"] == "17 requests"
    assert ("capture", "declared.mean_ttft_ms") not in found.facts


def test_facts_carry_the_unit_that_the_tool_declares(real, gather):
    found = gather(READER, real / "serving" / "vllm_bench_pd_ratio.json")
    assert found.facts["contract", "request_rate"] == "inf"
    assert found.facts["capture", "declared.mean_ttft_ms"] == "386.1210574500001 ms"
    assert found.facts["capture", "declared.request_throughput"] == "12.766738671689113 requests/s"


@pytest.fixture
def read(tmp_path, gather):
    def of(content):
        path = tmp_path / "result.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return gather(READER, path)

    return of


def test_values_of_another_type_are_unknown_and_kept(read):
    found = read(
        {
            "model_id": "m",
            "ttfts": [0.1, "soon", None],
            "itls": [[0.1, "x", 0.2], 7],
            "input_lens": [True, -1, 3],
        }
    )
    assert [row.get("ttft_ns") for row in found.rows["request"]] == [100_000_000, None, None]
    assert [row["client_ns"] for row in found.rows["token"]] == [100_000_000, 200_000_000]
    assert {r.place for r in found.rejected} == {
        "itls[0]",
        "input_lens[0]",
        "ttfts[1]",
        "itls[1]",
        "input_lens[1]",
    }
    assert found.fates()["quarantine"] == 5


def test_bare_nan_is_repaired_and_a_second_result_is_kept_aside(read):
    found = read(b'{"model_id": "m", "mean_ttft_ms": NaN}\n{"model_id": "n"}')
    assert sum(found.ending.repaired.values()) == 1
    assert [r.reason for r in found.rejected] == ["more than one result in the file"]
    assert not found.ending.truncated


WHOLE = json.dumps(
    {"model_id": "m", "duration": 12.5, "ttfts": [0.5, 0.25], "itls": [[0.1], []], "x": {"y": [1]}}
).encode()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(WHOLE)))
def test_any_truncation_gives_the_members_before_it(read, at):
    try:
        found = read(WHOLE[:at])
    except BadInput:
        assert at < WHOLE.index(b"duration")
        return
    assert found.ending.truncated == (at < len(WHOLE))
    assert found.facts.get(("capture", "declared.duration"), "12.5 s") == "12.5 s"


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(read, content):
    with contextlib.suppress(BadInput):
        read(b"{" + content)


def test_a_stream_with_fewer_chunks_than_tokens_has_no_first_token(read):
    """D12 as this tool writes it: the role alone at 0.9 s, then 1, 8 and 1 tokens. What is in a chunk it does not say."""
    found = read(
        b'{"model_id": "m", "output_lens": [10, 2], "ttfts": [0.9, 0.5], "itls": [[1.3, 0.16, 0.02], [0.1]],'
        b' "start_times": [0.0, 0.0]}'
    )
    assert [row.get("ttft_ns") for row in found.rows["request"]] == [None, 500_000_000]
    assert [row["client_ns"] for row in found.rows["token"]][:2] == [900_000_000, 2_200_000_000]
    assert sum(n for (what, _), n in found.counted.items() if what == "time to first token") == 1
