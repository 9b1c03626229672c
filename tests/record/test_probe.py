"""The probe, as an extension and in plain Python: what it writes at each level, and where from it is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from capturing import ROOT, environment
from probes import (
    EVENTS,
    LAYER,
    LEVELS,
    ONE_OF_EACH,
    PHASE,
    REGION,
    REQUEST,
    STAMP,
    STEP,
    TEXT,
    TOKEN,
    Probe,
    read,
)

from akvsite import tables
from akvsite.record import probe

# --- levels and records ---


def test_levels_are_those_of_the_store() -> None:
    assert probe.LEVELS == tables.LEVELS


@pytest.mark.parametrize(("level", "kinds"), LEVELS)
def test_each_level_adds_to_the_one_above(run: Probe, level: str, kinds: set[int]) -> None:
    done = run(ONE_OF_EACH + "print(record.level(), record.lost(), record.path())", level)
    logs = done.logs()
    assert {m.kind for log in logs for m in log.marks} == kinds
    assert sum(len(log.clocks) for log in logs) == (level in ("device", "edge"))
    path = done.folder / f"probe-{logs[0].header.pid}.akvlog" if logs else None
    assert done.out.split() == [level, "0", str(path)]
    # Not even a list of what was mapped.
    assert len(list(done.folder.iterdir())) == len(logs) == (level != "off")


def test_what_is_in_each_record(run: Probe, engine: str) -> None:
    log = run(ONE_OF_EACH, "device").log
    marks = {m.kind: m for m in log.marks}
    assert len(marks) == len(log.marks)
    (thread,) = {m.thread for m in log.marks}
    assert thread == log.header.pid
    fields = {kind: (m.name, m.flags, m.value, m.a, m.b, m.c) for kind, m in marks.items()}
    assert fields == {
        STEP: ("mixed", 0, 4, 7, 0, 0),
        PHASE: ("launch", 0, 0, 0, 0, 0),
        REGION: ("qkv", 0, 0, 0, 0, 0),
        LAYER: ("layer", 0, 3, 0, 0, 0),
        STAMP: ("launched", 0, 0, 7, 0, 0),
        REQUEST: ("arrived", 0, 12, TEXT, 0, 0),
        TOKEN: ("sent", 0, 5, TEXT, 8, 3),
        EVENTS: ("compute", 0, 0, 9, 8, 0),
    }
    assert [(marks[k].start, marks[k].end) for k in (STAMP, REQUEST, TOKEN, EVENTS)] == [
        (11, 0), (13, 0), (14, 0), (100, 200),
    ]  # fmt: skip
    order = [marks[kind].start for kind in (STEP, PHASE, LAYER, REGION)]
    order += [marks[kind].end for kind in (REGION, LAYER, PHASE, STEP)]
    assert order == sorted(order) and order[0] > 0
    assert log.requests == [(TEXT, "r7")]
    (clock,) = log.clocks
    assert [clock[n] for n in ("device", "before_ns", "after_ns", "device_time", "resolution", "result")] == [
        9, 20, 30, 1000, 4, 0,
    ]  # fmt: skip
    assert log.header.producer == ("akv_probe 0.1.0" if engine == "native" else "akv_probe 0.1.0 python")
    assert (log.header.closed, log.tally.holes, log.tally.missing) == (True, 0, 0)


def test_what_is_not_known_is_not_zero(run: Probe) -> None:
    script = """
with record.step(number=3, batch=None): pass
record.token(8, 0).mark("sampled", tokens=None)
record.request(8).finished()
"""
    step, token, request = run(script, "runner").log.marks
    assert (step.name, step.value, step.a) == ("decode", -1, 3)
    assert (token.a, token.b, token.c) == (8, 0, 0)
    assert (request.value, request.a) == (-1, 8)


def test_every_event_of_a_request(run: Probe) -> None:
    script = """
r = record.request("r1")
r.client_sent(4); r.arrived(4); r.admitted(1); r.preempted(2); r.resumed(3); r.finished(9)
r.client_done(9); r.failed(1); r.client_failed()
"""
    marks = run(script, "runner").log.marks
    assert [(m.name, m.value, m.b) for m in marks] == [
        ("client sent", 4, 0), ("arrived", 4, 0), ("admitted", -1, 2), ("preempted", -1, 3), ("resumed", -1, 4),
        ("finished", 9, 0), ("client done", 9, 0), ("failed", 1, 0), ("client failed", -1, 0),
    ]  # fmt: skip
    assert {m.a for m in marks} == {TEXT}


def test_what_has_no_text_raises_nothing(run: Probe) -> None:
    script = """
class Odd:
    def __str__(self): raise RuntimeError("odd")
    def __index__(self): raise RuntimeError("odd")
class OddText(str):
    def __eq__(self, other): raise RuntimeError("odd")
    def __hash__(self): raise RuntimeError("odd")
    def __str__(self): raise RuntimeError("odd")
record.request(Odd()).arrived(1, at_ns=5)
record.request(OddText("r")).arrived(1, at_ns=6)
record.stamp([], step=1)
record.stamp(OddText("sent"), step=1)
record.stamp("x" * 100_000, step=1)
record.token(Odd(), 0, step=Odd()).mark("sent", at_ns=7)
"""
    done = run(script, "runner")
    assert [text for _, text in done.log.requests] == ["a Odd without a text", "a OddText without a text"]
    assert [(m.kind, m.start) for m in done.log.marks] == [(REQUEST, 5), (REQUEST, 6), (TOKEN, 7)]
    (line,) = done.err.splitlines()
    assert "is no milestone" in line and len(line) < 300


def test_a_text_is_written_again_after_it_was_forgotten(run: Probe) -> None:
    script = """
from akvsite.record import probe
probe._MOST_HANDLES = 2
for id in ("a", "b", "c", "a", 5, "5"): record.request(id).arrived()
"""
    log = run(script, "runner").log
    texts = dict(log.requests)
    assert [texts.get(m.a, m.a) for m in log.marks] == ["a", "b", "c", "a", 5, "5"]
    assert len(log.requests) == 5


def test_the_level_is_chosen_by_a_call(run: Probe, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    script = """
record.set_level("host", "other")
import os
os.chdir("/")
with record.region("a"): pass
record.set_level("off")
with record.region("b"): pass
record.set_level("runner")
with record.step(1), record.region("c"): pass
"""
    done = run(script, "off")
    assert done.logs() == []
    (path,) = (tmp_path / "other").iterdir()
    assert [(m.kind, m.name) for m in read(path).marks] == [(REGION, "a"), (STEP, "decode")]


def test_a_level_that_there_is_not(run: Probe) -> None:
    done = run(
        "print(record.level()); record.set_level('loud'); record.set_level('host'); print(record.level())",
        "hots",
    )
    assert done.out.split() == ["off", "host"]
    assert [line.split(",")[0] for line in done.err.splitlines()] == [
        "akvsite.record: 'hots' is no level", "akvsite.record: 'loud' is no level",
    ]  # fmt: skip


@pytest.mark.parametrize("folder", ["", None])
def test_without_a_folder_it_is_off(run: Probe, folder: str | None) -> None:
    unset = (
        "import os; os.environ.pop('AKV_DIR', None); record.probe._place = None; record.set_level('host')\n"
    )
    script = "assert record.level() == 'off'\n" + ONE_OF_EACH
    done = run((unset if folder is None else "") + script, AKV_DIR=folder if folder is not None else "")
    assert done.logs() == [] and done.err == ""


# --- loading ---

HEAVY = (
    "numpy",
    "pyarrow",
    "typer",
    "torch",
    "tomllib",
    "pathlib",
    "re",
    "dataclasses",
    "importlib.metadata",
)


def test_importing_it_loads_nothing_heavy(engine: str) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from akvsite import record\n"
        "record.counters.Counters\n"
        f"print(record.engine(), [m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", script], env={"AKV_PROBE": engine}, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout == f"{engine} []\n", done.stderr


def test_the_launcher_is_there_when_it_is_asked_for() -> None:
    from akvsite import record

    for name in record.__all__:
        assert getattr(record, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        record.nothing  # noqa: B018


def test_where_the_extension_is_looked_for(tmp_path: Path) -> None:
    """A copy of what an engine needs, without the rest of the checkout."""
    copy = tmp_path / "site/akvsite"
    (copy / "record").mkdir(parents=True)
    names = ("__init__", "probe", "events", "counters", "_engine", "_python_probe", "_akvlog_writer")
    for name in ("__init__.py", "milestones.py", *(f"record/{name}.py" for name in names)):
        (copy / name).write_bytes((ROOT / "akvsite" / name).read_bytes())
    built = ROOT / "shim/build/akv_probe.abi3.so"

    def asked(**variables: str) -> tuple[str, str]:
        given = {**environment(**variables), "PYTHONPATH": str(tmp_path / "site")}
        done = subprocess.run(
            [sys.executable, "-c", "from akvsite import record; print(record.engine())"], env=given, cwd=tmp_path,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip(), done.stderr

    assert asked() == ("python", "")
    engine, said = asked(AKV_PROBE="native")
    assert engine == "python" and said.count("\n") == 1 and "make shim" in said
    assert asked(AKVSITE_SHIM=str(built.parent)) == ("native", "")
    (copy / "record" / built.name).write_text("no library")
    assert asked() == ("python", "")
    (copy / "record" / built.name).unlink()
    (copy / "record" / built.name).write_bytes(built.read_bytes())
    assert asked() == ("native", "")
    assert asked(AKV_PROBE="python") == ("python", "")


def test_without_the_headers_of_python_the_build_says_so_and_goes_on(tmp_path: Path) -> None:
    made = subprocess.run(
        ["make", "-C", str(ROOT / "shim"), "probe", "PYTHON_INCLUDE=/nowhere", f"BUILD={tmp_path}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert made.stderr.count("\n") == 1 and "no Python.h" in made.stderr
    assert not list(tmp_path.glob("*.so"))
