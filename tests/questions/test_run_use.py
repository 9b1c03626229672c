"""What a run's numbers may be used for: every combination, and that an instrumented run never reaches speed."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from akvsite import ingest
from akvsite.store import Store
from akvsite.tables import LEVELS

Key = tuple[int, str | None, int, bool, str, bool, str, str]

#: Tools, and whether they look on while the run runs.
TOOLS = {"": False, "time.perf_counter_ns": False, "torch profiler (Kineto)": True}
#: Who drew the steps, and whether it looks on.
SOURCES = {
    "": False,
    "engine counter": False,
    "client": False,
    "profiler step": True,
    "engine annotation": True,
}

COMBINATIONS: list[Key] = list(
    itertools.product(
        range(len(LEVELS)), ("dev", "proof", "unknown", None), (0, 1), (False, True),
        ("on", "off", "asis", "unknown"), (False, True), TOOLS, SOURCES,
    )
)  # fmt: skip


def make(store: Store, name: str, key: Key, hosts: dict[str, int]) -> dict[str, str]:
    level, role, declared, excluded, timing, contract, tool, source = key
    run = store.insert(
        "run",
        {
            "name": name, "level": level, "host_id": hosts[role] if role else None, "timing": timing,
            "clock": "host only", "declared": declared,
        },
    )  # fmt: skip
    file = store.insert(
        "ingest",
        {"run_id": run, "path": "a", "format": "b", "reader_version": 1, "sha256": "", "bytes": 0, "truncated": 0},
    )  # fmt: skip
    facts = [("load", "before", "0"), ("software", "tool", "a profiler that was not on")]
    facts += [("contract", "workload", "decode")] if contract else []
    facts += [("capture", "tool", tool)] if tool else []
    for part, fact, value in facts:
        store.insert(
            "run_fact", {"run_id": run, "ingest_id": file, "part": part, "key": fact, "value": value}
        )
    if source:
        process = store.insert("process", {"run_id": run, "ingest_id": file, "pid": "1"})
        for drawn in ("engine counter", source):
            store.insert(
                "step",
                {"run_id": run, "process_id": process, "name": "s", "kind": "decode", "source": drawn, "warm_up": 0},
            )  # fmt: skip
    if excluded:
        store.insert("exclusion", {"run_name": name, "date": "2026-01-01", "because": "the fan"})
    (row,) = store.rows("SELECT * FROM run_use WHERE run_id = ?", [run])
    return row


@pytest.fixture(scope="module")
def uses(tmp_path_factory: pytest.TempPathFactory) -> dict[Key, dict[str, str]]:
    with Store.open(tmp_path_factory.mktemp("store") / "akvsite.db") as store:
        ingest.install_views(store)
        with store.transaction():
            hosts = {
                role: store.insert("host", {"name": role, "role": role})
                for role in ("dev", "proof", "unknown")
            }
            return {key: make(store, f"run{i}", key, hosts) for i, key in enumerate(COMBINATIONS)}


def test_every_combination(uses) -> None:
    for key, row in uses.items():
        level, role, declared, excluded, timing, contract, tool, source = key
        if excluded:
            wanted, words = "nothing", "excluded on 2026-01-01: the fan"
        elif level > 0:
            wanted, words = "structure", f"captured while it ran (level {LEVELS[level]})"
        elif not declared or role in (None, "unknown"):
            wanted, words = "structure", "no capture.toml declares its host and role"
        elif TOOLS[tool]:
            wanted, words = "structure", "its capture names a profiler as its tool"
        elif SOURCES[source]:
            wanted, words = "structure", "its steps were drawn by a profiler"
        else:
            wanted = "comparison under the same load"
            if role == "dev":
                words = "level off on a dev host"
            elif timing == "on":
                words = "timing events on"
            elif timing != "off":
                words = f"timing events are `{timing}`"
            elif not contract:
                words = "the contract is not stated"
            else:
                wanted, words = "speed", "level off on a proof host"
        assert (row["use"], row["level"], row["role"]) == (wanted, LEVELS[level], role or "unknown"), key
        assert row["because"].startswith(words), key


def test_speed_has_one_way(uses) -> None:
    speed = {key for key, row in uses.items() if row["use"] == "speed"}
    assert speed == {
        (0, "proof", 1, False, "off", True, tool, source)
        for tool in ("", "time.perf_counter_ns")
        for source in ("", "engine counter", "client")
    }


@pytest.mark.parametrize(
    "tool",
    ["Nsight Systems", "nsys 2025.1", "rocprofv3", "xprof", "unitrace", "CUPTI", "VTune", "py-spy", "perf record",
     "TORCH.PROFILER", "Kineto"],
)  # fmt: skip
def test_a_profiler_by_any_name_states_no_speed(tool: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "akvsite.db") as store:
        ingest.install_views(store)
        hosts = {"proof": store.insert("host", {"name": "a", "role": "proof"})}
        row = make(store, "run", (0, "proof", 1, False, "off", True, tool, "engine counter"), hosts)
    assert row["use"] == "structure"


def test_an_unknown_level_is_no_speed(tmp_path: Path) -> None:
    """A level that this version does not know was looked at in a way that it does not know."""
    with Store.open(tmp_path / "akvsite.db") as store:
        ingest.install_views(store)
        host = store.insert("host", {"name": "a", "role": "proof"})
        for level in (-1, 5, 99):
            store.insert(
                "run",
                {
                    "name": f"r{level}",
                    "level": level,
                    "host_id": host,
                    "timing": "off",
                    "clock": "c",
                    "declared": 1,
                },
            )
        assert {r["use"] for r in store.rows("SELECT use FROM run_use")} == {"structure"}
