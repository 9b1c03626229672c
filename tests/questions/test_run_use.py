"""What a run's numbers may be used for: every combination, and that an instrumented run never reaches speed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from akvsite import ingest, questions, readers
from akvsite.ingest._captures import OFF
from akvsite.record import device, quiet, software
from akvsite.store import Store
from akvsite.tables import CAPTURED, LEVELS, TABLES

Fact = tuple[str, str, str]
Key = tuple[int, str | None, int, bool, str, str, str, str, str]

#: The parts of a complete contract: what states each, and what is said where it is missing.
PARTS: dict[str, tuple[list[Fact], str]] = {
    "workload": ([("contract", "workload", "decode")], "its workload"),
    "outputs": ([("contract", "output_hash", "sha256 aa")], "the hash of its outputs"),
    "software": ([("software", "torch", "2.11.0")], "the versions of its software"),
    "device": ([("device", "gpu_0.name", "Card")], "facts of its device"),
    "load": ([("host", "cpus", "8"), ("load", "before.load_1_min", "0.1")], "the load a core before it"),
    "users": (
        [("load", "before.device.other_processes", "0")],
        "how many other processes were on its device before it",
    ),
    "warm-up": ([], "its warm-up"),
    "engine": ([], "its engine"),
}
#: Which parts of the contract a run lacks: none, each by itself, or all.
LACKING = ("", *PARTS, "all")
#: What was going on beside the run, as its capture states it, and what is said of it.
BESIDE: dict[str, tuple[list[Fact], str]] = {
    "quiet": ([("load", "before.governor", "performance")], ""),
    "nothing stated": ([], ""),
    "busy": ([("load", "before.load_1_min", "0.81")], "the host was busy: load a core 0.101"),
    "powersave": ([("load", "before.governor", "powersave")], "governor `powersave`"),
    "two governors": ([("load", "before.governor", "performance, powersave")], "governor `performance, powersave`"),
    "another process": ([("load", "before.device.other_processes", "1")], "other processes on its device: 1"),
    "busy after": ([("load", "after.load_1_min", "8.01")], "the host was busy: load a core 1.001 after it"),
    "its own load after": ([("load", "after.load_1_min", "8"), ("load", "after.governor", "performance"),
                            ("load", "after.device.other_processes", "0")], ""),
    "powersave after": ([("load", "after.governor", "powersave")], "governor `powersave` after it"),
    "another process after": ([("load", "after.device.other_processes", "1")], "other processes on its device after it: 1"),
    "unclear after": ([("load", "after.load_1_min", "0..99")], "what it states after it is no number: load average `0..99`"),
    "unknown after": ([("load", "after.device.other_processes", "unknown")],
                      "what it states after it is no number: other processes on the device `unknown`"),
}  # fmt: skip
#: Tools, and whether they look on while the run runs.
TOOLS = {"": False, "time.perf_counter_ns": False, "torch profiler (Kineto)": True}
#: Who drew the steps, and whether it looks on.
SOURCES = {
    "": False,
    "engine counter": False,
    "client": False,
    "probe": True,
    "profiler step": True,
    "engine annotation": True,
}
SPEED: Key = (0, "proof", 1, False, "off", "", "quiet", "", "client")

COMBINATIONS: list[Key] = [
    (level, role, declared, excluded, *rest)
    for level, role, (declared, excluded), *rest in itertools.product(
        range(len(LEVELS)), ("dev", "proof", "unknown", None), ((0, False), (1, False), (1, True)),
        ("on", "off", "asis", "unknown"), ("", "all"), ("quiet", "busy"), TOOLS, SOURCES,
    )
] + list(
    # What the contract lacks and what went on beside the run matter only where all else is as it should be; there every
    # combination of them is made.
    itertools.product(
        (0, 1), ("dev", "proof"), (1,), (False,), ("off", "asis"), LACKING, BESIDE, ("",), ("client", "probe")
    )
)  # fmt: skip


def facts_of(key: Key) -> list[Fact]:
    lacking, beside, tool = key[5:8]
    stated: dict[tuple[str, str], str] = {("software", "tool"): "a profiler that was not on"}
    for part, (facts, _) in PARTS.items():
        if lacking not in (part, "all"):
            stated |= {(f[0], f[1]): f[2] for f in facts}
    # What is missing is not stated by what went on beside the run either.
    gone = {f[1] for part in PARTS if lacking in (part, "all") for f in PARTS[part][0]}
    extra = [f for f in BESIDE[beside][0] if f[1] not in gone]
    stated |= {(f[0], f[1]): f[2] for f in extra}
    if tool:
        stated["capture", "tool"] = tool
    return [(part, key, value) for (part, key), value in stated.items()]


def make(
    store: Store, name: str, key: Key, hosts: dict[str, int], more: Iterable[Fact] = ()
) -> dict[str, str]:
    level, role, declared, excluded, timing, lacking, _, _, source = key
    run = store.insert(
        "run",
        {
            "name": name, "level": level, "host_id": hosts[role] if role else None, "timing": timing,
            "clock": "host only", "declared": declared,
            "warm_up_steps": None if lacking in ("warm-up", "all") else 0,
            "engine": None if lacking in ("engine", "all") else "toy",
        },
    )  # fmt: skip
    file = store.insert(
        "ingest",
        {"run_id": run, "path": "a", "format": "level file", "reader_version": 1, "sha256": "", "bytes": 0, "truncated": 0},
    )  # fmt: skip
    stated = {(part, fact): value for part, fact, value in [*facts_of(key), *more]}
    for (part, fact), value in stated.items():
        store.insert(
            "run_fact", {"run_id": run, "ingest_id": file, "part": part, "key": fact, "value": value}
        )
    process = store.insert("process", {"run_id": run, "ingest_id": file, "pid": "1"})
    for drawn in ("engine counter", source) if source else ():
        store.insert(
            "step",
            {"run_id": run, "process_id": process, "name": "s", "kind": "decode", "source": drawn, "warm_up": 0},
        )  # fmt: skip
    if excluded:
        store.insert("exclusion", {"run_name": name, "date": "2026-01-01", "because": "the fan"})
    return use_of(store, run)


def use_of(store: Store, run: int) -> dict[str, Any]:
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
            return {
                key: make(store, f"run{i}", key, hosts) for i, key in enumerate(dict.fromkeys(COMBINATIONS))
            }


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(tmp_path / "akvsite.db") as opened:
        ingest.install_views(opened)
        yield opened


@pytest.fixture
def hosts(store: Store) -> dict[str, int]:
    return {role: store.insert("host", {"name": role, "role": role}) for role in ("proof", "dev")}


def wanted(key: Key) -> tuple[str, str]:
    """The rule, a second time and in other words."""
    level, role, declared, excluded, timing, lacking, beside, tool, source = key
    if excluded:
        return "nothing", "excluded on 2026-01-01: the fan"
    if level > 0:
        return "structure", f"captured while it ran (level {LEVELS[level]})"
    if not declared or role in (None, "unknown"):
        return (
            "structure",
            "no capture.toml declares it"
            if not declared
            else "its capture.toml does not state its host and role",
        )
    if TOOLS[tool]:
        return "structure", "its capture names a profiler as its tool"
    if SOURCES[source]:
        return "structure", "its steps were drawn by a probe or a profiler"
    why = ""
    if role == "dev":
        why = "level off on a dev host"
    elif timing != "off":
        why = "timing events on" if timing == "on" else f"timing events are `{timing}`"
    elif lacking:
        missing = [words for part, (_, words) in PARTS.items() if lacking in (part, "all")]
        why = f"the contract is not complete (not stated: {', '.join(missing)})"
    else:
        why = BESIDE[beside][1]
    return ("comparison under the same load", why) if why else ("speed", "level off on a proof host")


def test_every_combination(uses: dict[Key, dict[str, str]]) -> None:
    for key, row in uses.items():
        use, words = wanted(key)
        assert (row["use"], row["level"], row["role"]) == (use, LEVELS[key[0]], key[1] or "unknown"), key
        assert row["because"].startswith(words), key


def test_speed_has_one_way(uses: dict[Key, dict[str, str]]) -> None:
    speed = {key for key, row in uses.items() if row["use"] == "speed"}
    unseen = itertools.product(("quiet",), ("", "time.perf_counter_ns"), ("", "engine counter", "client"))
    beside = [*unseen, ("nothing stated", "", "client"), ("its own load after", "", "client")]
    assert speed == {(0, "proof", 1, False, "off", "", *each) for each in beside}


@pytest.mark.parametrize(
    ("part", "stated"),
    [
        ("workload", [("contract", "engine.requests", "4")]),
        ("software", [("contract", "versions.torch", "2.11.0")]),
    ],
)
def test_a_part_may_be_stated_in_another_way(
    part: str, stated: list[Fact], store: Store, hosts: dict[str, int]
) -> None:
    key = (*SPEED[:5], part, *SPEED[6:])
    assert make(store, "without", key, hosts)["use"] != "speed"
    assert make(store, "with", key, hosts, stated)["use"] == "speed"


@pytest.mark.parametrize("beside", ["", "other_processes", "gpu_0.clock_mhz", "name of a card"])
def test_no_device_beside_one_is_a_contradiction(beside: str, store: Store, hosts: dict[str, int]) -> None:
    facts = [f for part in PARTS if part not in ("device", "users") for f in PARTS[part][0]]
    facts.append(("load", "before.device.told_by", device.NO_DEVICE))
    if beside == "name of a card":
        facts += PARTS["device"][0]
    elif beside:
        facts.append(("load", f"before.device.{beside}", "0"))
    row = make(store, "run", (*SPEED[:5], "all", *SPEED[6:]), hosts, facts)
    store.connection.execute("UPDATE run SET warm_up_steps = 0, engine = 'toy'")
    row = use_of(store, 1)
    assert row["use"] == ("comparison under the same load" if beside else "speed")
    assert not beside or "how many other processes were on its device before it" in row["because"]


@pytest.mark.parametrize(
    "stated",
    [
        ("contract", "workload", "  "),
        ("contract", "output_hash", ""),
        ("software", "torch", "the command's python, which gave no answer"),
        ("device", "gpu_0.name", " "),
        ("host", "cpus", "0"),
        ("host", "cpus", "many"),
        ("load", "before.load_1_min", "low"),
        ("load", "before.load_1_min", "nan"),
        ("load", "before.load_1_min", "-1"),
        ("load", "before.load_1_min", "0..99"),
        ("load", "before.load_1_min", "0.1.9"),
        ("load", "before.load_1_min", "0."),
        ("host", "cpus", "9" * 30),
        ("load", "before.device.other_processes", "unknown"),
        ("load", "before.device.other_processes", "7 others"),
        ("load", "before.device.other_processes", "-1"),
        ("load", "before.device.other_processes", "0.5"),
        ("load", "before.device.other_processes", ""),
    ],
)
def test_a_value_that_says_nothing_states_no_part(stated: Fact, store: Store, hosts: dict[str, int]) -> None:
    row = make(store, "run", SPEED, hosts, [stated])
    assert row["use"] == "comparison under the same load"
    assert row["because"].startswith("the contract is not complete")


@pytest.mark.parametrize(
    "tool",
    ["Nsight Systems", "nsys 2025.1", "rocprofv3", "xprof", "unitrace", "CUPTI", "VTune", "py-spy", "perf record",
     "TORCH.PROFILER", "Kineto", "perf-record", "linux perf record", "Perfetto", "omniperf", "omnitrace", "valgrind", "likwid-perfctr",
     "bpftrace", "Score-P", "TAU", "memray", "pyinstrument", "yappi", "austin", "gprof", "magic-trace", "Tracy", "a clock (perf)"],
)  # fmt: skip
def test_a_profiler_by_any_name_states_no_speed(tool: str, store: Store, hosts: dict[str, int]) -> None:
    for key in ("tool", "Tool", "TOOLS.first", "Profiler"):
        assert make(store, f"run-{key}", SPEED, hosts, [("capture", key, tool)])["use"] == "structure", key


@pytest.mark.parametrize("key", ["profiler", "profiling", "Tracing", "profiler.on"])
@pytest.mark.parametrize("value", ["on", "true", "1", "mine", "off", "false", "0", "none", ""])
def test_a_profiler_that_was_on_states_no_speed(
    key: str, value: str, store: Store, hosts: dict[str, int]
) -> None:
    on = value in ("on", "true", "1", "mine")
    assert make(store, "run", SPEED, hosts, [("capture", key, value)])["use"] == (
        "structure" if on else "speed"
    )


@pytest.mark.parametrize(
    "tool",
    [
        "time.perf_counter_ns",
        "perf_counter",
        "akvsite experiment",
        "a contract of abstract extracts",
        "taut",
        "a tracker",
    ],
)
def test_a_tool_that_does_not_look_on_takes_no_speed_away(
    tool: str, store: Store, hosts: dict[str, int]
) -> None:
    assert make(store, "run", SPEED, hosts, [("capture", "tool", tool)])["use"] == "speed"


@pytest.mark.parametrize(
    ("name", "value", "on"),
    [
        ("LD_PRELOAD", "libakv_ur.so", True),
        ("LD_PRELOAD", "libunitrace_tool.so", True),
        ("LD_PRELOAD", "libToolsInjection64.so", True),
        ("LD_PRELOAD", "libcupti.so.13", True),
        ("LD_PRELOAD", "libxptifw.so", True),
        ("LD_PRELOAD", "librocprofiler-sdk-tool.so", True),
        ("LD_PRELOAD", "libroctracer64.so", True),
        ("LD_PRELOAD", "vgpreload_core-amd64-linux.so", True),
        ("LD_PRELOAD", "libtcmalloc.so:libjemalloc.so.2", False),
        ("AKV_LEVEL", "off", False),
        ("AKV_LEVEL", "edge", True),
        ("ROCP_TOOL_LIB", "librocprof-tool.so", True),
        ("COMPUTE_PROFILE", "1", True),
        ("COMPUTE_PROFILE", "0", False),
    ],
)
def test_a_tracer_in_the_environment_states_no_speed(
    name: str, value: str, on: bool, store: Store, hosts: dict[str, int]
) -> None:
    row = make(store, "run", SPEED, hosts, [("software", f"environment.{name}", value)])
    assert row["use"] == ("structure" if on else "speed")


def test_an_unknown_level_is_no_speed(store: Store, hosts: dict[str, int]) -> None:
    """A level that this version does not know was looked at in a way that it does not know."""
    rows = [make(store, f"run{level}", (level, *SPEED[1:]), hosts) for level in (-1, 5, 99)]
    assert {row["use"] for row in rows} == {"structure"}


# What was looked at says so by what it holds, whatever it declares.


def row_of(table: str, run: int, process: int) -> dict[str, Any]:
    """One row of a table with something in every column that needs it."""
    something: dict[type, Any] = {int: 1, float: 1.0, str: "x"}
    row = {
        column.name: something[column.kind]
        for column in TABLES[table].columns
        if not column.nullable and column.name != "id"
    }
    return row | {"run_id": run, "process_id": process}


@pytest.mark.parametrize("table", [t for t in CAPTURED if t not in OFF and t != "edge_wait"])
def test_a_row_of_a_level_proves_that_it_was_looked_at(
    table: str, store: Store, hosts: dict[str, int]
) -> None:
    # A wait is a row of its call, which is a row of level edge.
    assert make(store, "run", SPEED, hosts)["use"] == "speed"
    process = store.one("SELECT id FROM process WHERE run_id = 1")
    store.insert(table, row_of(table, 1, process))
    assert use_of(store, 1)["use"] == "structure"


@pytest.mark.parametrize("column", ["device_first_ns", "device_last_ns"])
def test_a_device_milestone_of_a_token_proves_it_too(
    column: str, store: Store, hosts: dict[str, int]
) -> None:
    make(store, "run", SPEED, hosts)
    process = store.one("SELECT id FROM process WHERE run_id = 1")
    store.insert("token", row_of("token", 1, process))
    assert use_of(store, 1)["use"] == "speed", "the client's own tokens are wall clock"
    store.insert("token", row_of("token", 1, process) | {column: 5})
    assert use_of(store, 1)["use"] == "structure"


@pytest.mark.parametrize("reader", readers.readers(), ids=lambda reader: reader.NAME)
def test_a_file_of_a_tool_that_looks_on_proves_it_without_a_row(
    reader: Any, store: Store, hosts: dict[str, int]
) -> None:
    """A new format is taken for one that looks on until the rule says otherwise."""
    make(store, "run", SPEED, hosts)
    file = {"run_id": 1, "path": "b", "reader_version": 1, "sha256": "", "bytes": 0, "truncated": 0}
    store.insert("ingest", {**file, "format": reader.NAME})
    # Of an akvlog its rows tell: an engine's own counters are in the same format as what a recorder saw.
    looks = reader.LEVEL != "off" and reader.NAME != "akvlog"
    assert use_of(store, 1)["use"] == ("structure" if looks else "speed")


@pytest.mark.parametrize(
    "fact",
    [
        ("capture", "edge.calls_seen", "0"),
        ("capture", "probe.files", "1"),
        ("capture", "memory_sampling.samples", "4"),
        ("capture", "experiment", "probe"),
        ("capture", "experiment", "tracer"),
        ("capture", "tracers_switched_on", "AKV_LEVEL"),
        ("software", "environment.LD_PRELOAD", "libakv_ur.so"),
        ("contract", "engine.device_records", "events"),
        ("contract", "engine.profile_steps", "200:209"),
    ],
    ids=lambda fact: f"{fact[1]}={fact[2]}",
)
def test_what_a_capture_writes_of_its_recorders_proves_it(
    fact: Fact, store: Store, hosts: dict[str, int]
) -> None:
    assert make(store, "run", SPEED, hosts, [fact])["use"] == "structure"


@pytest.mark.parametrize("name", sorted(software._LOOKING))
def test_a_switch_of_a_tracer_proves_it(name: str, store: Store, hosts: dict[str, int]) -> None:
    """The recorder refuses a proof host with these switches; the rule does too, where one came from elsewhere."""
    values = (
        "",
        "0",
        "1",
        "2",
        "true",
        "-1",
        "UR_LAYER_TRACING",
        "UR_LAYER_TRACING;UR_LAYER_LEAK_CHECKING",
        "libtool.so",
    )
    for value in values:
        row = make(store, f"run{value}", SPEED, hosts, [("software", f"environment.{name}", value)])
        on = bool(software.looking({name: value}))
        assert row["use"] == ("structure" if on else "speed"), value


@pytest.mark.parametrize("word", [*software.TRACER_LIBRARIES, ""])
def test_a_preloaded_library_that_the_recorder_takes_for_a_tracer_proves_it(
    word: str, store: Store, hosts: dict[str, int]
) -> None:
    library = f"{word}_Tool.so" if word.startswith("lib") else f"libtcmalloc.so:libX{word.upper()}_tool.so"
    assert bool(software.tracers(library)) == bool(word)
    row = make(store, "run", SPEED, hosts, [("software", "environment.LD_PRELOAD", library)])
    assert row["use"] == ("structure" if word else "speed")


@pytest.mark.parametrize("treatment", ["capture at level edge", "capture at level runner", "device", "host"])
def test_what_was_timed_above_off_is_no_speed(treatment: str, store: Store, hosts: dict[str, int]) -> None:
    make(store, "run", SPEED, hosts)
    process = store.one("SELECT id FROM process WHERE run_id = 1")
    trial = row_of("trial", 1, process)
    store.insert("trial", {**trial, "treatment": "capture at level off"})
    assert use_of(store, 1)["use"] == "speed"
    store.insert("trial", {**trial, "treatment": treatment, "repeat": 2})
    assert use_of(store, 1)["use"] == "structure"


# One place.


def test_the_thresholds_are_those_of_the_recorder(store: Store) -> None:
    (row,) = store.rows("SELECT * FROM threshold")
    assert row["proof_load_a_core"] == quiet.LOAD_PER_CORE
    assert row["proof_other_processes"] == quiet.OTHER_USERS
    assert row["proof_governor"] == quiet.GOVERNOR
    assert row["no_device"] == device.NO_DEVICE


def test_no_other_question_decides_what_is_speed() -> None:
    deciding = {
        name for name, question in questions.questions().items() if "THEN 'speed'" in question.sql or "'proof'" in question.sql
    }  # fmt: skip
    assert deciding == {"run_use"}
