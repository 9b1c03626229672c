"""Level files of our own bundle: what is taken, what is refused, and that a refusal leaves the store as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from bundles import arrow, ask, call, dump, interval, read_in, steps, write_capture, write_rows

from akvsite.errors import BadInput


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that has one run already."""
    path = tmp_path / "akvsite.db"
    read_in(path, write_capture(tmp_path / "kept", {"step": steps()}))
    return path


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_rows_arrive_as_they_were_written(tmp_path: Path, ending: str) -> None:
    rows = [
        interval(1, 2, 2**64 - 1, name='gemm<a, "b">\u202e', bytes=0, graph=2**63),
        interval(2**62 - 2**53, 2**62 - 1, 2**32 + 5),
        interval(0, 0, 5),
        {**interval(0, 0, None), "start_ns": None, "end_ns": None},
    ]
    folder = write_capture(tmp_path / "a", {"level3_device": rows}, level="device", ending=ending)
    read_in(tmp_path / "akvsite.db", folder)
    found = ask(
        tmp_path / "akvsite.db",
        "SELECT *, hex64(correlation) AS h, hex64(graph) AS g FROM level3_device ORDER BY id",
    )
    assert [r["name"] for r in found] == [r["name"] for r in rows]
    assert [(r["start_ns"], r["end_ns"]) for r in found] == [
        (1, 2),
        (2**62 - 2**53, 2**62 - 1),
        (0, 0),
        (None, None),
    ]
    assert [r["h"] for r in found] == ["0xffffffffffffffff", "0x0000000100000005", "0x0000000000000005", None]
    assert found[0]["g"] == "0x8000000000000000"
    assert found[0]["bytes"] == 0 and found[1]["bytes"] is None


GOOD = arrow("step", steps())


def without(name: str) -> pa.Table:
    return GOOD.drop_columns([name])


def with_column(name: str, values: Any) -> pa.Table:
    rows = GOOD.drop_columns([name]) if name in GOOD.column_names else GOOD
    return rows.append_column(name, values if isinstance(values, pa.Array) else pa.array(values))


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (without("kind"), "column 'kind' of step is missing"),
        (without("kind").slice(0, 0), "column 'kind' of step is missing"),
        (with_column("surprise", [1, 2, 3]), "'surprise' is not a column of step"),
        (with_column("run_id", [1, 1, 1]), "'run_id' is not a column of step"),
        (with_column("kind", ["decode", None, "decode"]), "column 'kind' of step may not be empty"),
        (with_column("start_ns", ["1", "2", "3"]), "'start_ns' of step: must hold whole numbers"),
        (
            with_column("start_ns", pa.array([1, 2, 3], pa.timestamp("ms"))),
            "'start_ns' of step: must hold whole",
        ),
        (with_column("number", pa.array([2**63] * 3, pa.uint64())), "'number' of step"),
        (with_column("process", [0, -1, 0]), "column 'process' holds -1"),
        (with_column("process", [0, 10**6, 0]), "column 'process' holds 1000000"),
        (with_column("process", [0, None, 0]), "column 'process' must hold whole numbers"),
        (with_column("process", ["a", "b", "c"]), "column 'process' must hold whole numbers"),
    ],
)
def test_a_file_that_does_not_fit_is_named_with_its_column(
    rows: pa.Table, words: str, ending: str, store: Path, tmp_path: Path
) -> None:
    before = dump(store)
    folder = write_capture(tmp_path / "bad", {"trial": [], "step": rows}, ending=ending)
    with pytest.raises(BadInput) as refused:
        read_in(store, folder)
    assert words in str(refused.value)
    assert f"step{ending}" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert dump(store) == before


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_a_file_without_rows_is_a_run_without_rows(store: Path, tmp_path: Path, ending: str) -> None:
    read_in(store, write_capture(tmp_path / "empty", {"step": GOOD.slice(0, 0)}, ending=ending))
    assert ask(store, "SELECT steps FROM run_list WHERE name = 'empty'") == [{"steps": 0}]


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_a_damaged_file_is_refused_and_nothing_of_it_stays(store: Path, tmp_path: Path, ending: str) -> None:
    before = dump(store)
    many = arrow("step", steps(5000))
    folder = write_capture(tmp_path / "torn", {"step": many}, ending=ending)
    path = folder / f"step{ending}"
    whole = path.read_bytes()
    broken = {
        "empty": b"",
        "cut early": whole[:20],
        "cut half way": whole[: len(whole) // 2],
        "cut at the end": whole[:-1],
        "other bytes": b"\x89PNG" + whole,
    }
    if ending == ".parquet":  # in Arrow zeros are numbers like others
        broken["zeros"] = whole[: len(whole) // 3] + bytes(len(whole) // 3) + whole[2 * len(whole) // 3 :]
    for how, data in broken.items():
        path.write_bytes(data)
        with pytest.raises(BadInput) as refused:
            read_in(store, folder)
        assert f"step{ending}" in str(refused.value), how
        assert dump(store) == before, how


def test_times_that_cannot_be_go_to_the_quarantine_as_they_are(store: Path, tmp_path: Path) -> None:
    rows = pa.table(
        {
            "name": ["far", "top", "backwards", "good", "last", "remote", "long"],
            "kind": ["kernel"] * 7,
            "device": ["0"] * 7,
            "queue": ["7"] * 7,
            "start_ns": pa.array([2**63, 1, 30, 1, 2**62 - 1, 1, 1], pa.uint64()),
            "end_ns": pa.array([2**63, 2**64 - 1, 20, 2, 2**62 - 1, 2**62, 2**53 + 2], pa.uint64()),
        }
    )
    (outcome,) = read_in(store, write_capture(tmp_path / "odd", {"level3_device": rows}, level="device"))
    assert outcome.quarantined == 5
    assert [r["name"] for r in ask(store, "SELECT name FROM level3_device ORDER BY id")] == ["good", "last"]
    kept = {r["reason"]: r["raw"] for r in ask(store, "SELECT * FROM quarantine")}
    reasons = {
        "start_ns beyond 2^63 - 1": "far",
        "end_ns beyond 2^63 - 1": "top",
        "end_ns more than 146 years from zero": "remote",
        "ends before it begins": "backwards",
        "lasts longer than 104 days": "long",
    }
    assert set(kept) == set(reasons)
    assert all(repr(name) in kept[reason] for reason, name in reasons.items())
    assert str(2**64 - 1) in kept["end_ns beyond 2^63 - 1"]
    # Each record has one fate.
    account = ask(store, "SELECT fate, count FROM record_account WHERE path LIKE 'level3%' ORDER BY fate")
    assert {r["fate"]: r["count"] for r in account} == {
        "level3_device": 2,
        **{f"quarantine: {reason}": 1 for reason in reasons},
    }


def test_no_difference_of_times_leaves_64_bits(store: Path, tmp_path: Path) -> None:
    """SQLite makes a floating number, in silence, of a whole one that does not fit."""
    times = [
        (-(2**63), 2**63 - 1),
        (-(2**63), -(2**63)),
        (2**63 - 1, 2**63 - 1),
        (1 - 2**62, 1 - 2**62),
        (2**62 - 1, 2**62 - 1),
        (-(2**62), -(2**62)),
        (2**62, 2**62),
    ]
    times += [(0, 2**53), (0, 2**53 + 1), (-1, 2**53), (None, 2**63 - 1), (-(2**63), None)]
    rows = [{**steps(1)[0], "start_ns": start, "end_ns": end} for start, end in times]
    read_in(store, write_capture(tmp_path / "wide", {"step": rows}))
    stored = ask(store, "SELECT start_ns, end_ns FROM step WHERE run_id = 2 ORDER BY id")
    assert [tuple(r.values()) for r in stored] == [(1 - 2**62, 1 - 2**62), (2**62 - 1, 2**62 - 1), (0, 2**53)]
    found = ask(
        store,
        "SELECT DISTINCT typeof(b.start_ns - a.end_ns) AS t FROM step a, step b WHERE a.run_id = 2 AND b.run_id = 2",
    )
    assert found == [{"t": "integer"}]


def test_the_rows_of_a_table_together_stay_in_64_bits(store: Path, tmp_path: Path) -> None:
    rows = arrow("step", [{**s, "start_ns": 0, "end_ns": 2**53} for s in steps(1500)])
    more = '[[file]]\npath = "again.parquet"\ntable = "step"'
    folder = write_capture(tmp_path / "long", {"step": rows}, more=more)
    write_rows(folder / "again.parquet", rows)
    read_in(store, folder)
    found = ask(store, "SELECT count(*) AS n, sum(end_ns - start_ns) AS s FROM step WHERE run_id = 2")
    assert found == [{"n": 512, "s": 2**62}]
    (why,) = ask(store, "SELECT reason, count(*) AS n FROM quarantine GROUP BY reason")
    assert why == {"reason": "with those before it lasts longer than 146 years", "n": 3000 - 512}


TRACE = '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}'


@pytest.mark.parametrize(
    "table", ["level1_runner", "level2_host", "level3_device", "level4_edge", "memory_event"]
)
def test_a_run_declared_off_holds_no_rows_of_a_level(table: str, store: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"level: is 'off', and .* holds rows of {table}"):
        read_in(
            store, write_capture(tmp_path / "sly", {"step": steps(), table: []}, level="off", role="proof")
        )


def test_a_run_declared_off_holds_no_trace_of_a_profiler(store: Path, tmp_path: Path) -> None:
    folder = write_capture(tmp_path / "sly", {"step": steps()}, more='[[file]]\npath = "trace.json"')
    (folder / "trace.json").write_text(TRACE)
    with pytest.raises(BadInput, match=r"level: is 'off', and trace.json was made by a tool"):
        read_in(store, folder)


# Processes and links.


def test_level_files_of_one_capture_are_about_the_same_processes(store: Path, tmp_path: Path) -> None:
    tables = {
        "step": [{**s, "process": p} for p in (0, 1) for s in steps(2)],
        "level4_edge": [call(1, 2, 5, process=0), call(1, 2, 5, process=1), call(11, 12, 6, process=1)],
        "level3_device": [
            interval(3, 4, 5, process=0),
            interval(3, 4, 5, process=1),
            interval(13, 14, 6, process=1),
        ],
    }
    more = '[[process]]\npid = "41"\nrank = 0\n[[process]]\npid = 42\nrank = 1\nname = "worker"'
    read_in(store, write_capture(tmp_path / "two", tables, level="edge", more=more))
    processes = ask(store, "SELECT pid, rank, name FROM process WHERE run_id = 2 ORDER BY id")
    assert processes == [{"pid": "41", "rank": 0, "name": None}, {"pid": "42", "rank": 1, "name": "worker"}]
    linked = ask(
        store,
        "SELECT p.pid, c.correlation, s.number FROM link l JOIN level4_edge c ON c.id = l.call_id "
        "JOIN level3_device d ON d.id = l.interval_id AND d.process_id = c.process_id "
        "JOIN process p ON p.id = c.process_id JOIN step s ON s.id = c.step_id ORDER BY c.id",
    )
    assert [tuple(r.values()) for r in linked] == [("41", 5, 0), ("42", 5, 0), ("42", 6, 1)]


def test_ids_of_64_bits_are_not_confused(store: Path, tmp_path: Path) -> None:
    ids = [5, 2**32 + 5, 2**63 + 5, 2**64 - 1]
    tables = {
        "level4_edge": [call(i, i + 1, key, name=f"cudaLaunchKernel_{i}") for i, key in enumerate(ids)],
        "level3_device": [interval(i, i + 1, key, name=f"{i}") for i, key in enumerate(ids)],
    }
    read_in(store, write_capture(tmp_path / "wide", tables, level="edge"))
    pairs = ask(
        store,
        "SELECT c.name AS call, d.name AS kernel FROM link l JOIN level4_edge c ON c.id = l.call_id "
        "JOIN level3_device d ON d.id = l.interval_id ORDER BY d.id",
    )
    assert [(p["call"], p["kernel"]) for p in pairs] == [(f"cudaLaunchKernel_{i}", f"{i}") for i in range(4)]


def test_device_rows_that_do_not_say_whose_they_are_stay_unlinked(store: Path, tmp_path: Path) -> None:
    tables = {
        "level4_edge": [call(1, 2, 5, process=0), call(1, 2, 5, process=1), call(3, 4, 6, process=1)],
        "level3_device": [interval(3, 4, 5), interval(5, 6, 6)],
    }
    (outcome,) = read_in(store, write_capture(tmp_path / "unsaid", tables, level="edge"))
    assert ask(store, "SELECT c.correlation FROM link l JOIN level4_edge c ON c.id = l.call_id") == [
        {"correlation": 6}
    ]
    assert outcome.notes == ["1 device record left unlinked: the id occurs in several processes"]
    assert ask(store, "SELECT path, count FROM record_account WHERE what = 'link'") == [
        {"path": "level3_device.parquet", "count": 1}
    ]


def test_files_of_two_ranks_are_two_processes(store: Path, tmp_path: Path) -> None:
    more = "\n".join(f'[[file]]\npath = "r{r}.parquet"\ntable = "step"\nrank = {r}' for r in (0, 1))
    folder = write_capture(tmp_path / "ranks", {"trial": []}, more=more)
    for rank in (0, 1):
        write_rows(folder / f"r{rank}.parquet", arrow("step", steps(2 + rank)))
    read_in(store, folder)
    found = ask(
        store, "SELECT rank, count(*) AS n FROM step_time WHERE run_id = 2 GROUP BY process_id ORDER BY 1"
    )
    assert found == [{"rank": 0, "n": 2}, {"rank": 1, "n": 3}]


def test_the_quarantine_publishes_no_secret(store: Path, tmp_path: Path) -> None:
    rows = [{**steps(1)[0], "name": "HF_TOKEN=hf_abcdefghijkl by alice@gpu7 in /home/alice/x", "end_ns": -1}]
    read_in(store, write_capture(tmp_path / "odd", {"step": rows}))
    (row,) = ask(store, "SELECT raw FROM quarantine")
    assert not [word for word in ("hf_", "alice", "gpu7") if word in row["raw"]], row
    assert "end_ns=-1" in row["raw"] and "HF_TOKEN=[redacted]" in row["raw"]


def test_a_column_that_is_there_twice_is_named(store: Path, tmp_path: Path) -> None:
    for name in ("start_ns", "name", "process"):
        rows = GOOD if name in GOOD.column_names else with_column(name, [0, 0, 0])
        twice = rows.append_column(name, rows.column(name))
        folder = write_capture(tmp_path / "twice", {"step": twice}, ending=".arrow")
        with pytest.raises(BadInput, match=rf"step.arrow: column '{name}' of step is there twice"):
            read_in(store, folder)


def test_rows_of_many_batches_keep_their_order(store: Path, tmp_path: Path) -> None:
    read_in(store, write_capture(tmp_path / "long", {"step": steps(70_000)}))
    assert ask(
        store,
        "SELECT count(*) AS n, count(DISTINCT number) AS d, sum(end_ns - start_ns) AS t FROM step WHERE run_id = 2",
    ) == [{"n": 70_000, "d": 70_000, "t": 700_000}]


# Warm-up and steps.


def test_warm_up_is_cut_from_each_process_as_declared(store: Path, tmp_path: Path) -> None:
    rows = [{**s, "process": p} for p in (0, 1) for s in steps(4)]
    read_in(store, write_capture(tmp_path / "warm", {"step": rows}, top="warm_up_steps = 2"))
    found = ask(
        store, "SELECT process_id, number, warm_up FROM step WHERE run_id = 2 ORDER BY process_id, number"
    )
    assert [r["warm_up"] for r in found] == [1, 1, 0, 0, 1, 1, 0, 0]
    read_in(store, write_capture(tmp_path / "warmer", {"step": steps(2)}, top="warm_up_steps = 5"))
    assert ask(store, "SELECT sum(warm_up) AS n FROM step WHERE run_id = 3") == [{"n": 2}]


@pytest.mark.parametrize("kind", [pa.int64(), pa.bool_(), pa.uint8(), pa.float64()])
def test_a_file_may_repeat_the_declared_warm_up(kind: pa.DataType, store: Path, tmp_path: Path) -> None:
    marks = pa.array([True, True, False]).cast(pa.int64()).cast(kind)
    for table in ({"step": with_column("warm_up", marks)}, {"step": steps(3)}):
        name = f"warm{kind}".replace("_", "") + str(len(table["step"]))
        folder = write_capture(tmp_path / name, table, top="warm_up_steps = 2")
        read_in(store, folder, replace=True)
        found = ask(
            store,
            "SELECT warm_up FROM step s JOIN run r ON r.id = s.run_id WHERE r.name = ? ORDER BY s.id",
            name,
        )
        assert [r["warm_up"] for r in found] == [1, 1, 0]
    # Where fewer steps were captured than are declared, all of them are.
    every = [{**s, "warm_up": 1} for s in steps(2)]
    read_in(store, write_capture(tmp_path / "short", {"step": every}, top="warm_up_steps = 5"))


@pytest.mark.parametrize("declared", ["", "warm_up_steps = 0", "warm_up_steps = 2"])
@pytest.mark.parametrize(
    "marks", [(0, 1, 0, 1), (0, 0, 0, 1), (1, 0, 0, 0), (1, 1, 1, 0), (1, 1, 1, 1), (0, 1, 1, 0)]
)
def test_no_file_cuts_what_the_capture_does_not_declare(
    marks: tuple[int, ...], declared: str, store: Path, tmp_path: Path
) -> None:
    before = dump(store)
    tables = {
        "trial": [],
        "step": [{**s, "warm_up": m} for s, m in zip(steps(4), marks, strict=True)],
    }
    with pytest.raises(BadInput, match=r"step.parquet: marks step \d of its source warm_up = \d") as refused:
        read_in(store, write_capture(tmp_path / "sly", tables, top=declared))
    assert (declared or "declares no warm_up_steps").replace("warm_up_steps = 0", "no") in str(refused.value)
    assert dump(store) == before


def test_warm_up_of_one_process_says_nothing_of_another(store: Path, tmp_path: Path) -> None:
    rows = [{**s, "process": p, "warm_up": int(p == s["number"])} for p in (0, 1) for s in steps(3)]
    with pytest.raises(BadInput, match=r"step.parquet: marks step 1 of its source warm_up = 0"):
        read_in(store, write_capture(tmp_path / "sly", {"step": rows}, top="warm_up_steps = 1"))


@pytest.mark.parametrize("value", [2, -1, 0.5])
def test_warm_up_is_one_or_nought(value: float, store: Path, tmp_path: Path) -> None:
    before = dump(store)
    rows = with_column("warm_up", [value, 0, 0])
    with pytest.raises(BadInput, match=r"step.parquet: column 'warm_up' of step holds .*; 0 or 1"):
        read_in(store, write_capture(tmp_path / "sly", {"step": rows}, top="warm_up_steps = 1"))
    assert dump(store) == before


def test_a_host_row_belongs_to_the_step_in_which_it_begins(store: Path, tmp_path: Path) -> None:
    phases = [
        {"name": name, "start_ns": start, "end_ns": start + 5}
        for name, start in {"before": -1, "first": 0, "late": 9, "second": 10, "after": 30}.items()
    ]
    tables = {"step": steps(3), "level1_runner": phases}
    read_in(store, write_capture(tmp_path / "phases", tables, level="runner"))
    found = ask(
        store,
        "SELECT f.name, s.number FROM level1_runner f LEFT JOIN step s ON s.id = f.step_id ORDER BY f.id",
    )
    assert {r["name"]: r["number"] for r in found} == {
        "before": None,
        "first": 0,
        "late": 0,
        "second": 1,
        "after": None,
    }


# Paths.


@pytest.mark.parametrize(
    "name", ["../outside.parquet", "/etc/hostname", "link.parquet", "..", ".", "sub/../../outside.parquet"]
)
def test_no_path_leads_out_of_the_capture(name: str, store: Path, tmp_path: Path) -> None:
    before = dump(store)
    write_rows(tmp_path / "outside.parquet", GOOD)
    folder = write_capture(
        tmp_path / "sly", {"step": steps()}, more=f'[[file]]\npath = "{name}"\ntable = "step"'
    )
    (folder / "link.parquet").symlink_to("../outside.parquet")
    with pytest.raises(BadInput, match=r"file\[1\].path: .* points outside the capture's folder"):
        read_in(store, folder)
    assert dump(store) == before


def test_a_manifest_that_is_a_link_to_elsewhere_is_refused(store: Path, tmp_path: Path) -> None:
    folder = write_capture(tmp_path / "sly", {"step": steps()})
    (folder / "capture.toml").rename(tmp_path / "elsewhere.toml")
    (folder / "capture.toml").symlink_to("../elsewhere.toml")
    with pytest.raises(BadInput, match=r"points outside the capture's folder"):
        read_in(store, folder)
