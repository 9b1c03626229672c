"""Cases of the questions that are too long, or too many, to be written out as tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bundles import ask, call, interval, read_in, write_capture
from hypothesis import given
from hypothesis import strategies as st

from akvsite import ingest
from akvsite.store import Store


def test_launches_without_records_are_counted_and_nothing_is_made_of_them(tmp_path: Path) -> None:
    """D8: 200 kernel launches and 12 copies; device rows for the copies only."""
    calls = [call(10 * i, 10 * i + 4, i) for i in range(200)]
    calls += [call(5000 + 10 * i, 5004 + 10 * i, 1000 + i, name="cudaMemcpyAsync") for i in range(12)]
    copies = [interval(5002 + 10 * i, 5008 + 10 * i, 1000 + i, name="HtoD", kind="copy") for i in range(12)]
    store = tmp_path / "akvsite.db"
    read_in(
        store, write_capture(tmp_path / "a", {"level4_edge": calls, "level3_device": copies}, level="edge")
    )
    found = ask(store, "SELECT direction, kind, seen, expected FROM coverage ORDER BY 1, 2")
    assert [tuple(row.values()) for row in found] == [
        ("calls with device records", "copy", 12, 12),
        ("calls with device records", "kernel", 0, 200),
        ("device records with a call", "copy", 12, 12),
    ]
    assert ask(store, "SELECT * FROM device_time WHERE lane = 'kernel'") == []


def test_files_that_contradict_each_other_are_both_quoted(tmp_path: Path) -> None:
    """Two ranks may say different things about one run: none of them is passed over."""
    for rank, world in enumerate((8, 4, 6)):
        (tmp_path / f"rank{rank}.json").write_text(
            f'{{"traceEvents": [], "distributedInfo": {{"rank": {rank}, "world_size": {world}, "backend": "nccl"}}}}'
        )
    store = tmp_path / "akvsite.db"
    read_in(store, *sorted(tmp_path.glob("*.json")), run="job")
    facts = {r["key"]: r["value"] for r in ask(store, "SELECT * FROM fact_list")}
    assert facts["distributed.backend"] == "nccl"
    assert facts["distributed.world_size"] == "4; 8; and 1 more"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("store") / "akvsite.db") as opened:
        ingest.install_views(opened)
        run = {"name": "a", "level": 3, "timing": "off", "clock": "c", "declared": 0}
        opened.insert("run", run)
        file = {"path": "p", "format": "f", "reader_version": 1, "sha256": "", "bytes": 0, "truncated": 0}
        opened.insert("ingest", {"run_id": 1, **file})
        opened.insert("process", {"run_id": 1, "ingest_id": 1, "pid": "1"})
        opened.insert(
            "step",
            {
                "id": 1, "run_id": 1, "process_id": 1, "name": "step", "start_ns": 0, "end_ns": 100,
                "kind": "decode", "source": "client", "warm_up": 0, "nested": 0,
            },
        )  # fmt: skip
        yield opened


SPANS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 60)), min_size=1, max_size=12)


def covered(spans: list[tuple[int, int]], end: int) -> int:
    return len({moment for start, length in spans for moment in range(start, min(end, start + length))})


@given(SPANS)
def test_rows_that_overlap_never_add_up_to_more_than_the_step(
    store: Store, spans: list[tuple[int, int]]
) -> None:
    """D16, in every shape: each moment of the step is given to one row."""
    with store.transaction():
        store.connection.execute("DELETE FROM level2_host")
        for start, length in spans:
            store.insert(
                "level2_host",
                {
                    "run_id": 1, "process_id": 1, "name": f"{start}", "start_ns": start, "end_ns": start + length,
                    "thread": "1", "category": "region", "step_id": 1,
                },
            )  # fmt: skip
    total = store.one("SELECT coalesce(sum(ns), 0) FROM step_budget")
    assert total == covered(spans, 100) <= 100


@given(
    st.lists(st.tuples(SPANS, st.sampled_from(["kernel", "copy", "fill", "wait"])), min_size=1, max_size=3)
)
def test_the_union_of_a_device_counts_each_moment_once(
    store: Store, queues: list[tuple[list[tuple[int, int]], str]]
) -> None:
    with store.transaction():
        store.connection.execute("DELETE FROM level3_device")
        for number, (spans, kind) in enumerate(queues):
            for start, length in spans:
                store.insert(
                    "level3_device",
                    {
                        "run_id": 1, "process_id": 1, "name": "k", "start_ns": start, "end_ns": start + length,
                        "kind": kind, "device": "0", "queue": f"{number}",
                    },
                )  # fmt: skip
    work = [span for spans, kind in queues if kind != "wait" for span in spans]
    found = {r["lane"]: r for r in store.rows("SELECT * FROM device_time")}
    assert ("all" in found) == bool(work)
    if work:
        assert found["all"]["union_ns"] == covered(work, 1000)
        assert found["all"]["sum_ns"] == sum(length for _, length in work)
        gaps = store.one("SELECT coalesce(sum(gap_ns), 0) FROM device_gap")
        assert gaps + found["all"]["union_ns"] == found["all"]["last_ns"] - found["all"]["first_ns"]
    assert "wait" not in found
