"""Any command in an experiment: its wall clock, its steps where it tells them, and what is refused of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from bundles import ask, read_in
from capturing import ROOT, environment
from ur_captures import build_shim

from akvsite.errors import BadInput
from akvsite.experiments import Plan, _workload, aa, carry_out, find, probe
from akvsite.experiments._command import Command
from akvsite.experiments._engine import COMMAND, STEP, Engine
from akvsite.manifest import load
from akvsite.pages import _control, _noise
from akvsite.pages import aa as aa_page
from akvsite.site import SiteDesk
from akvsite.store import Store
from akvsite.tables import LEVELS

#: An engine that tells its steps to a probe and, at level off, to its counters; each as long as its number says.
ENGINE = """
import json, os, sys
from pathlib import Path
from akvsite import record
from akvsite.record.counters import Counters
steps, counted = int(sys.argv[1]), Counters()
for n in range(steps):
    kind = "prefill" if n == 0 else "decode"
    with record.step(n, kind, 4):
        pass
    counted.step(n, kind, 4, 10_000 * n, 10_000 * n + 1000 + n)
if "bare" not in sys.argv:
    output = os.environ["AKV_LEVEL"] if "differs" in sys.argv else "ab"
    facts = {"contract": {"output_hash": output, "batch": 4}, "engine": {"operators": "fused"}}
    (Path(os.environ["AKV_FILES"]) / "facts.json").write_text(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def shim() -> None:
    build_shim()


@pytest.fixture
def engine(tmp_path: Path) -> tuple[str, ...]:
    path = tmp_path / "my_engine.py"
    path.write_text(ENGINE)
    return (sys.executable, str(path))


def env(**more: str) -> dict[str, str]:
    return environment(PYTHONPATH=str(ROOT), **more)


def facts_of(bundle: Path) -> dict[str, str]:
    return {f"{f.part}.{f.key}": f.value for f in load(bundle).facts}


def test_a_command_at_every_level(shim: None, tmp_path: Path, engine: tuple[str, ...]) -> None:
    plan = Plan(
        blocks=2, seed=5, out=tmp_path / "out", arguments=(*engine, "12", "--token=hf_secret"), warm_up=3
    )
    done = carry_out(find("probe"), plan, env())
    bundle = tmp_path / "out/probe"
    facts = facts_of(bundle)
    declared = load(bundle)
    assert declared.level == "edge" and (declared.engine or "").endswith(" my_engine.py")
    assert facts["contract.arguments"] == "3" and "secret" not in (bundle / "capture.toml").read_text()
    assert "contract.iterations" not in facts and str(tmp_path) not in (bundle / "capture.toml").read_text()
    assert facts["capture.outputs"] == "the same output in all 10 runs"
    assert (facts["capture.engine.operators"], facts["capture.stated.batch"]) == ("fused", "4")
    assert "$AKV_LEVEL is device" in facts["capture.shared.device_looked_at_by"]
    trials = pq.read_table(bundle / "trials.parquet").to_pylist()
    # Of 12 steps one is no decode step, and three are cut.
    assert {len([t for t in trials if t["process"] == p and t["arm"] == STEP]) for p in range(10)} == {8}
    whole = [t["duration_ns"] for t in trials if t["arm"] == COMMAND]
    assert len(whole) == 10 and min(whole) > 10_000_000
    off = [t["duration_ns"] for t in trials if t["treatment"] == "off" and t["arm"] == STEP]
    assert off == [1000 + n for n in range(4, 12)] * 2
    lines = {line.partition(",")[0]: line for key, line in facts.items() if key.startswith("capture.runs.")}
    assert "calls recorded 0" in lines["edge"] and "steps recorded by the probe 12" in lines["runner"]
    assert "effect on the wall clock of the command, edge" in done.numbers
    assert done.numbers["effect on the median decode step, host"].refusal == "2 pairs < 8"
    store = tmp_path / "akvsite.db"
    read_in(store, bundle)
    assert {r["arm"] for r in ask(store, "SELECT arm FROM looking_run")} == {STEP, COMMAND}


def test_a_command_without_steps_is_timed_as_a_whole(tmp_path: Path) -> None:
    plan = Plan(blocks=8, out=tmp_path, arguments=(sys.executable, "-S", "-c", "pass"))
    done = carry_out(find("aa"), plan, env())
    assert [list(row[:2]) for r in done.results for row in r["trials"]] == [[COMMAND, 0]] * 16
    effect = done.numbers["effect on the wall clock of the command, A again"]
    assert effect.low is not None and effect.n == 8 and effect.unit == "%"
    one = done.numbers["a single pair, the wall clock of the command"]
    assert (one.low, one.high) == (min(effect.dots), max(effect.dots))
    facts = facts_of(tmp_path / "aa")
    assert load(tmp_path / "aa").level == "off" and facts["capture.experiment"] == "aa"
    assert facts["capture.outputs"] == "not stated by the command" and facts["contract.command"].endswith(
        "-c …"
    )


def test_what_a_command_leaves_running_is_ended_and_told(tmp_path: Path) -> None:
    """Also where it is out of sight: in a session of its own, its parent long gone."""
    leaves = f"(setsid sleep 40 & echo $! >> {tmp_path}/left) & wait; exit 0"
    done = carry_out(find("aa"), Plan(blocks=1, out=tmp_path, arguments=("sh", "-c", leaves)), env())
    assert all(ns < 20e9 for r in done.results for _, _, ns in r["trials"])
    left = (tmp_path / "left").read_text().split()
    assert len(left) == 2 and not any(Path(f"/proc/{pid}").exists() for pid in left)
    assert "processes left running, and ended 1" in facts_of(tmp_path / "aa")["capture.runs.000"]


def test_a_program_beside_the_caller_is_the_one_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one of the same name in PATH."""
    monkeypatch.chdir(tmp_path)
    for name in ("true", "g.py"):
        Path(name).write_text('#!/bin/sh\necho "$0" >> mark\n')
        Path(name).chmod(0o755)
        carry_out(find("aa"), Plan(blocks=1, out=tmp_path / name[0], arguments=(f"./{name}",)), env())
    assert [Path(line).name for line in Path("mark").read_text().split()] == ["true"] * 2 + ["g.py"] * 2


def test_numbers_of_steps_that_differ_are_told(tmp_path: Path, engine: tuple[str, ...]) -> None:
    count = tmp_path / "count"
    count.touch()
    grows = f"echo x >> {count}; exec {' '.join(engine)} $(($(wc -l < {count}) + 4)) bare"
    carry_out(find("aa"), Plan(blocks=1, out=tmp_path / "o", arguments=("sh", "-c", grows)), env())
    said = "DIFFER: from 4 to 5 decode steps in 2 runs"
    assert facts_of(tmp_path / "o/aa")["capture.steps_made"] == said
    store = tmp_path / "akvsite.db"
    read_in(store, tmp_path / "o/aa")
    with Store.open(store) as opened:
        (page,) = aa_page.write(SiteDesk(opened))
    assert said in page.text


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; print('first', file=sys.stderr); sys.exit('too hot')", "the command ended with 1: too hot"),
        ("import os; os.kill(os.getpid(), 9)", "the command ended by signal 9, and says nothing"),
    ],
)  # fmt: skip
def test_a_command_that_ends_otherwise_is_named_with_its_run(tmp_path: Path, program: str, said: str) -> None:
    mark = tmp_path / "mark"
    program = f"import pathlib; p = pathlib.Path({str(mark)!r})\nif p.exists():\n  {program}\np.touch()"
    plan = Plan(blocks=1, out=tmp_path / "out", arguments=(sys.executable, "-c", program))
    with pytest.raises(BadInput, match=rf"^run 2 of 2, A.*: off: {said}$"):
        carry_out(find("aa"), plan, env())
    # The first run is kept; the same command goes on.
    mark.unlink()
    assert len(carry_out(find("aa"), plan, env()).results) == 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"warm_up": 11}, "told 11 decode steps, and 11 to be cut and some to be measured"),
        ({"iterations": 12}, "told 11 decode steps, and 0 to be cut and 12 to be measured"),
    ],
)
def test_steps_that_are_too_few_are_told(
    tmp_path: Path, engine: tuple[str, ...], asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        carry_out(find("aa"), Plan(blocks=1, out=tmp_path / "o", arguments=(*engine, "12"), **asked), env())


def test_outputs_that_differ_are_told(shim: None, tmp_path: Path, engine: tuple[str, ...]) -> None:
    carry_out(find("probe"), Plan(blocks=1, out=tmp_path / "o", arguments=(*engine, "2", "differs")), env())
    assert facts_of(tmp_path / "o/probe")["capture.outputs"].startswith("DIFFER: 5 different")


def test_steps_of_several_processes_are_not_mixed(tmp_path: Path, engine: tuple[str, ...]) -> None:
    twice = (
        f"import subprocess, sys\nfor _ in range(2): subprocess.run({[*engine, '5', 'bare']!r}, check=True)"
    )
    command = (sys.executable, "-c", twice)
    done = carry_out(find("aa"), Plan(blocks=1, out=tmp_path / "o", arguments=command), env())
    assert [[row[0] for row in r["trials"]] for r in done.results] == [[COMMAND]] * 2
    assert "decode steps told by 2 processes" in facts_of(tmp_path / "o/aa")["capture.runs.000"]
    with pytest.raises(BadInput, match=r"0 decode steps.*told by 2 processes"):
        carry_out(find("aa"), Plan(blocks=1, out=tmp_path / "p", arguments=command, warm_up=1), env())


def test_what_cannot_be_asked_for(tmp_path: Path) -> None:
    for which, plan, said in (
        ("aa", Plan(arguments=("no-such-program", "x")), "no-such-program: no such program"),
        ("aa", Plan(arguments=("true",), device="cuda"), "--device: is for the reference engine"),
        ("probe", Plan(device="tpu"), "--device: is 'tpu'; one of cuda, xpu, cpu, sycl"),
        ("probe", Plan(device="cpu", arguments=("--backend", "sycl")), "--backend: is given behind `--`"),
        ("tracer", Plan(device="cuda"), "the tracer experiment runs on sycl alone"),
        ("aa", Plan(arguments=("--result", "x")), "--result: is given by the experiment"),
        ("aa", Plan(warm_up=-1), "--warm-up"),
        ("overlap", Plan(warm_up=3), "--warm-up: is for decode steps: overlap leaves out 12 cycles"),
        ("tracer", Plan(warm_up=3), "--warm-up: is for decode steps"),
    ):
        with pytest.raises(BadInput, match=said):
            carry_out(find(which), Plan(**{**vars(plan), "out": tmp_path / "o"}), env())
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("device", "backend", "where"),
    [("cuda", "torch", "cuda"), ("xpu", "torch", "xpu"), ("cpu", "torch", "cpu"), ("sycl", "sycl", "cpu")],
)
def test_where_it_computes_is_said_to_the_engine(device: str, backend: str, where: str) -> None:
    made = _workload.of(Plan(device=device, arguments=("--model", "small")))
    assert isinstance(made, Engine)
    assert (made.backend, made.device, made.arguments[-2:]) == (backend, where, ("--model", "small"))


def test_the_same_twice_has_a_fixed_schedule_unless_another_is_asked_for() -> None:
    for arguments, schedule in (
        ((), "fixed"),
        (("--schedule=closed",), "closed"),
        (("--schedule", "closed"), "closed"),
    ):
        made = aa.EXPERIMENT.of(Plan(arguments=arguments))
        assert made.CONTRACT["engine"]["schedule"] == schedule  # type: ignore[index]
    assert "schedule" not in probe.EXPERIMENT.of(Plan()).CONTRACT["engine"]  # type: ignore[operator]


def test_results_of_a_command_that_no_numbers_can_be_made_of_are_told() -> None:
    unsound = Command(("true",)).unsound
    good: dict[str, Any] = {
        "trials": [[COMMAND, 0, 9], [STEP, 0, 5]], "stated": {}, "facts": {}, "output_hash": "x", "steps_made": 1,
    }  # fmt: skip
    assert unsound({}, good) is None
    for key, value in (
        ("trials", good["trials"][1:]), ("trials", [[COMMAND, 0, 9], [STEP, 1, 5]]), ("trials", [[COMMAND, 0, 0]]),
        ("stated", None), ("output_hash", 3), ("steps_made", None),
    ):  # fmt: skip
        assert unsound({}, {**good, key: value}), key


def test_words_of_a_bundle_are_those_that_pages_look_for() -> None:
    assert (_noise.A, _noise.AGAIN) == aa.Twice.TREATMENTS and LEVELS[0] == _control.OFF
    assert (_control.STEP, _control.COMMAND) == (STEP, COMMAND)
    assert _noise.FEWEST == _workload.FEWEST
