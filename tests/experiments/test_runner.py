"""Experiments: the order of runs, going on after an interruption, and one bundle in the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest
from bundles import ask, read_in
from capturing import ROOT, environment
from hypothesis import given
from hypothesis import strategies as st

from akvsite import experiments
from akvsite.errors import BadInput
from akvsite.estimate import Estimate
from akvsite.estimators.looking import order_in_pairs
from akvsite.experiments import Done, Plan, _design, carry_out
from akvsite.manifest import load


class Counting:
    """Runs that take no time, and may be broken off at one of them."""

    NAME, ABOUT, LEVEL, ENGINE = "counting", "counts its runs", "edge", "none"
    TREATMENTS = ("plain", "other", "third")
    ITERATIONS = 3
    CONTRACT: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, breaks_at: int | None = None) -> None:
        self.breaks_at = breaks_at
        self.made: list[str] = []
        self.prepared = 0

    def of(self, plan: Plan) -> Counting:
        return self

    def python(self, environment: Mapping[str, str]) -> Path | None:
        return None

    def prepare(self, plan: Plan, environment: Mapping[str, str]) -> dict[str, Any]:
        self.prepared += 1
        return {"calls": 9.0}

    def run(
        self,
        treatment: str,
        plan: Plan,
        folder: Path,
        shared: Mapping[str, Any],
        environment: Mapping[str, str],
    ) -> dict[str, Any]:
        assert list(folder.iterdir()) == [] and shared == {"calls": 9.0}
        (folder / "half-written").touch()
        if len(self.made) == self.breaks_at:
            raise KeyboardInterrupt
        self.made.append(treatment)
        at = len(self.made)
        memory = [[at, 4096 * at, 4096], [at + 1, 4096 * at, 4096]]
        return {
            "pid": 100 + at,
            "trials": [["loop", 0, at], ["loop", 1, at]],
            "memory": memory,
            "facts": {"n": at},
        }

    def unsound(self, shared: Mapping[str, Any], result: Mapping[str, Any] | None = None) -> str | None:
        return None

    def together(self, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {"all_together": len(results)}

    def numbers(self, done: Done) -> dict[str, Estimate]:
        return {}


@given(st.integers(2, 6), st.integers(1, 12), st.integers(0, 2**64))
def test_each_second_block_is_the_mirror_of_the_one_before(treatments: int, blocks: int, seed: int) -> None:
    names = [f"t{n}" for n in range(treatments)]
    made = _design.order(names, blocks, seed)
    assert len(made) == blocks and all(sorted(block) == names for block in made)
    assert all(made[i + 1] == made[i][::-1] for i in range(0, blocks - 1, 2))
    assert made == _design.order(names, blocks, seed)
    if blocks % 2 == 0:
        order = order_in_pairs(chain.from_iterable(made), "t0", "t1")
        couples = Counter(order[i : i + 2] for i in range(0, len(order), 2))
        assert couples["AB"] == couples["BA"] == blocks / 2


def test_seeds_make_different_orders() -> None:
    assert len({str(_design.order("abcd", 4, seed)) for seed in range(20)}) > 15


def plan(folder: Path, **more: Any) -> Plan:
    return Plan(**{"blocks": 4, "seed": 11, "out": folder, **more})


def test_one_bundle_holds_every_run(tmp_path: Path) -> None:
    experiment = Counting()
    done = carry_out(experiment, plan(tmp_path, host="bench", role="dev", note="a note"))
    order = [t for block in done.blocks for t in block]
    assert experiment.made == order and len(order) == 12
    assert [p.name for p in tmp_path.iterdir()] == ["counting"]
    declared = load(tmp_path / "counting")
    assert (declared.level, declared.host, declared.role) == ("edge", "bench", "dev")
    assert [(p.pid, p.name) for p in declared.processes] == [
        (str(101 + n), f"{t}, block {n // 3}") for n, t in enumerate(order)
    ]
    facts = {f"{f.part}.{f.key}": f.value for f in declared.facts}
    assert (facts["capture.seed"], facts["capture.all_together"]) == ("11", "12")
    assert facts["capture.order"] == " | ".join(", ".join(block) for block in done.blocks)
    assert facts["capture.runs.000"].startswith(f"{order[0]}, block 0: load ")
    assert facts["capture.runs.011"].endswith("n 12")
    trials = pq.read_table(tmp_path / "counting/trials.parquet").to_pylist()
    assert [(r["treatment"], r["repeat"], r["number"], r["duration_ns"]) for r in trials] == [
        (t, n // 3, k, n + 1) for n, t in enumerate(order) for k in (0, 1)
    ]
    read_in(tmp_path / "akvsite.db", tmp_path / "counting")
    rows = ask(
        tmp_path / "akvsite.db",
        "SELECT t.treatment, p.name, m.resident_bytes FROM trial t JOIN process p ON p.id = t.process_id"
        " JOIN memory_sample m ON m.process_id = p.id WHERE t.number = 0 ORDER BY m.id",
    )
    assert len(rows) == 24 and all(r["name"].startswith(r["treatment"]) for r in rows)
    assert rows[-1]["resident_bytes"] == 4096 * 12


@pytest.mark.parametrize("breaks_at", [0, 5, 11])
def test_broken_off_it_goes_on_where_it_was(tmp_path: Path, breaks_at: int) -> None:
    first, second, whole = Counting(breaks_at), Counting(), Counting()
    with pytest.raises(KeyboardInterrupt):
        carry_out(first, plan(tmp_path, seed=None))
    assert not (tmp_path / "counting").exists()
    done = carry_out(second, plan(tmp_path, seed=None))
    assert first.made + second.made == [t for block in done.blocks for t in block]
    # Where no run was finished there is nothing to go on with.
    assert (first.prepared, second.prepared, len(first.made)) == (1, int(breaks_at == 0), breaks_at)
    assert [r["treatment"] for r in done.results] == first.made + second.made
    again = carry_out(whole, plan(tmp_path, seed=done.seed, name="again"))
    assert again.blocks == done.blocks


def test_a_line_that_was_cut_short_is_a_run_that_is_made_again(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        carry_out(Counting(4), plan(tmp_path))
    journal = tmp_path / ".counting.experiment/journal.jsonl"
    text = journal.read_bytes()
    journal.write_bytes(text[:-10])
    second = Counting()
    carry_out(second, plan(tmp_path))
    assert len(second.made) == 12 - 3


def test_what_was_begun_otherwise_is_not_gone_on_with(tmp_path: Path) -> None:
    begun = {"host": "bench", "role": "dev", "arguments": ("--model", "tiny", "--token=hf_secret")}
    with pytest.raises(KeyboardInterrupt):
        carry_out(Counting(1), plan(tmp_path, **begun))
    for other, said in (
        ({"seed": 12}, "seed 11"),
        ({"blocks": 5}, "blocks 4"),
        ({"iterations": 7}, "iterations 3"),
        ({"warm_up": 2}, "warm_up none"),
        ({"device": "cpu"}, "device none"),
        ({"host": "other"}, "host bench"),
        # Runs of a development host are not published as those of a proof host, nor as those of nobody's.
        ({"host": None, "role": None}, "host bench"),
        ({"role": None}, "role dev"),
        ({"arguments": ()}, "3 arguments behind `--` instead of 0"),
        ({"arguments": ("--model", "small", "--token=hf_secret")}, r"arguments of which number 2 \(near --model\) was another"),
        ({"arguments": ("--model", "tiny", "--token=hf_other")}, r"arguments of which number 3 \(near --token\) was another"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=f"with {said}.* was begun here") as refused:
            carry_out(Counting(), plan(tmp_path, **{**begun, **other}))
        assert "hf_" not in str(refused.value)
    # Nothing of the arguments is told by what is kept; and a note may be written anew.
    assert b"hf_secret" not in (tmp_path / ".counting.experiment/journal.jsonl").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        carry_out(Counting(0), plan(tmp_path, **begun, note="another note"))
    journal = tmp_path / ".counting.experiment/journal.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([lines[0], "{no json", *lines[1:]]) + "\n")
    with pytest.raises(BadInput, match="line 2: is damaged"):
        carry_out(Counting(), plan(tmp_path, **begun))


def test_nothing_stays_of_what_ended_before_a_run_was_finished(tmp_path: Path) -> None:
    class Failing(Counting):
        def run(self, *given: Any) -> dict[str, Any]:
            raise BadInput("missing.py", "no such script")

    with pytest.raises(BadInput, match="no such script"):
        carry_out(Failing(), plan(tmp_path))
    assert list(tmp_path.iterdir()) == []
    # Nor is a plan without runs, as a program that was killed leaves it, in the way of another.
    with pytest.raises(KeyboardInterrupt):
        carry_out(Counting(1), plan(tmp_path))
    journal = tmp_path / ".counting.experiment/journal.jsonl"
    journal.write_text(journal.read_text().splitlines(keepends=True)[0])
    assert len(carry_out(Counting(), plan(tmp_path, blocks=2)).results) == 6


@pytest.mark.parametrize(("level", "treatments"), [("off", ("A", "B")), ("edge", ("off", "edge"))])
def test_runs_at_level_off_are_refused_where_a_tracer_looks_on(
    tmp_path: Path, level: str, treatments: tuple[str, ...]
) -> None:
    class AtOff(Counting):
        LEVEL, TREATMENTS = level, treatments  # type: ignore[assignment]

    outside = {"LD_PRELOAD": "/opt/libunitrace_tool.so", "ROCP_TOOL_LIB": "x"}
    with pytest.raises(BadInput, match=r"^ROCP_TOOL_LIB, LD_PRELOAD=libunitrace_tool.so: looks on"):
        carry_out(AtOff(), plan(tmp_path / "out"), outside)
    assert not (tmp_path / "out").exists()
    carry_out(AtOff(), plan(tmp_path / "out"), {"LD_PRELOAD": "/opt/libtcmalloc.so.4"})
    facts = {f"{f.part}.{f.key}": f.value for f in load(tmp_path / "out/counting").facts}
    assert facts["software.environment.LD_PRELOAD"] == "libtcmalloc.so.4"


def test_what_can_never_be_a_control_is_told_before_its_runs(tmp_path: Path) -> None:
    class AtOff(Counting):
        LEVEL = "off"

    told: list[str] = []
    experiment = AtOff()

    def tell(line: str) -> None:
        assert experiment.made == []
        told.append(line)

    done = carry_out(experiment, plan(tmp_path, name="a"), {}, tell=tell)
    assert told == [done.no_control] and "--host NAME and --host-role" in told[0]
    assert carry_out(AtOff(), plan(tmp_path, name="b", host="h", role="dev"), tell=tell).no_control is None
    assert carry_out(Counting(), plan(tmp_path, name="c"), tell=tell).no_control is None
    assert len(told) == 1


DAMAGE = {
    "no seed": (1, lambda plan, run: plan.pop("seed")),
    "order as text": (1, lambda plan, run: plan.update(order="plain, other")),
    "another order": (1, lambda plan, run: plan["order"].reverse()),
    "started never": (1, lambda plan, run: plan.update(started="never")),
    "a plan of nothing": (1, lambda plan, run: plan.update(shared=None)),
    "no trials": (3, lambda plan, run: run.pop("trials")),
    "text in trials": (3, lambda plan, run: run["trials"][0].append("x")),
    "nothing before": (3, lambda plan, run: run.update(before=None)),
    "2**80": (3, lambda plan, run: run["memory"][0].__setitem__(1, 2**80)),
    "a time below 0": (3, lambda plan, run: run["trials"][1].__setitem__(2, -1)),
    "another treatment": (3, lambda plan, run: run.update(treatment="none of them")),
    "a run twice": (3, lambda plan, run: run.update(run=0)),
    "a run too many": (3, lambda plan, run: run.update(run=12)),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_journal_is_named_with_its_line(tmp_path: Path, what: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        carry_out(Counting(3), plan(tmp_path))
    journal = tmp_path / ".counting.experiment/journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    line, damage = DAMAGE[what]
    damage(lines[0]["plan"], lines[2])
    journal.write_text("".join(json.dumps(entry) + "\n" for entry in lines))
    experiment = Counting()
    for _ in range(2):  # nor is anything held or changed by the first refusal
        with pytest.raises(BadInput, match=rf"journal\.jsonl: line {line}: is damaged: \S"):
            carry_out(experiment, plan(tmp_path))
    assert experiment.made == [] and [p.name for p in tmp_path.iterdir()] == [".counting.experiment"]


def test_what_no_numbers_can_be_made_of_is_not_published(tmp_path: Path) -> None:
    class Picky(Counting):
        flaw: str | None = None

        def unsound(self, shared: Any, result: Any = None) -> str | None:
            return result and self.flaw

        def numbers(self, done: Done) -> dict[str, Estimate]:
            assert not done.place.exists()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        carry_out(Picky(), plan(tmp_path, blocks=1))
    assert [p.name for p in tmp_path.iterdir()] == [".counting.experiment"]
    picky = Picky()
    picky.flaw = "too round"
    with pytest.raises(BadInput, match="line 2: is damaged: too round"):
        carry_out(picky, plan(tmp_path, blocks=1))
    with pytest.raises(BadInput, match="cannot be used: too round"):
        carry_out(picky, plan(tmp_path, blocks=1, name="fresh"))


def test_no_folder_stays_where_nothing_was_planned(tmp_path: Path) -> None:
    class Unready(Counting):
        def prepare(self, *given: Any) -> dict[str, Any]:
            raise BadInput("python", "is not there")

    with pytest.raises(BadInput, match="is not there"):
        carry_out(Unready(), plan(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_is_carried_out_by_one_program_at_a_time(tmp_path: Path) -> None:
    class Greedy(Counting):
        def run(self, *given: Any) -> dict[str, Any]:
            with pytest.raises(BadInput, match="another program"):
                carry_out(Counting(), plan(tmp_path))
            return super().run(*given)

    carry_out(Greedy(), plan(tmp_path, blocks=1))


def test_requests_that_cannot_be_met(tmp_path: Path) -> None:
    (tmp_path / "counting").mkdir()
    with pytest.raises(BadInput, match="is there already"):
        carry_out(Counting(), plan(tmp_path))
    with pytest.raises(BadInput, match="--name"):
        carry_out(Counting(), plan(tmp_path, name="No Good"))
    with pytest.raises(BadInput, match="from 1"):
        carry_out(Counting(), plan(tmp_path, name="x", blocks=0))
    with pytest.raises(BadInput, match="no such experiment"):
        experiments.find("_runner")
    assert experiments.names()


def test_the_command_line_names_what_there_is(akvsite: Any) -> None:
    akvsite("experiment", "nothing").refused("nothing", "no such experiment", "tracer")
    told = akvsite("experiment", "--help").out
    for name in experiments.names():
        assert f"{name}: " in " ".join(told.split()) and f"akvsite experiment {name} " in " ".join(
            told.split()
        )
    akvsite("experiment", "tracer", "--host-role", "proof").refused("--host-role", "--host NAME")


def test_killed_at_any_run_it_goes_on(tmp_path: Path) -> None:
    """A program that ends with SIGKILL in its third run, begun again until it is through."""
    program = (
        "import os, sys\nfrom pathlib import Path\n"
        "sys.path.insert(0, str(Path('tests').absolute()))\n"
        "from experiments.test_runner import Counting, plan\nfrom akvsite.experiments import carry_out\n"
        "class Dies(Counting):\n"
        "    def run(self, *given):\n"
        "        if len(self.made) == 3: os.kill(os.getpid(), 9)\n"
        "        return super().run(*given)\n"
        "carry_out(Dies(), plan(Path(sys.argv[1])))\n"
    )
    ends = [
        subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=False).returncode
        for _ in range(4)
    ]
    assert ends == [-signal.SIGKILL] * 3 + [0]
    assert pq.read_table(tmp_path / "counting/trials.parquet").num_rows == 24
    assert [p.name for p in tmp_path.iterdir()] == ["counting"]


def test_it_begins_where_few_packages_are(tmp_path: Path) -> None:
    """On a machine with a device, typer, pyarrow and numpy are all there is."""
    blocked = ("sqlite_utils", "altair", "msgspec", "mkdocs", "material", "yaml", "vl_convert", "torch")
    asked = ["akvsite", "experiment", "tracer", "--iterations", "1", "--out", str(tmp_path)]
    program = (
        f"import sys, runpy\nfor m in {blocked!r}: sys.modules[m] = None\n"
        f"sys.argv = {asked!r}\nrunpy.run_module('akvsite', run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    # Everything is loaded, and the first check of the experiment itself has its say.
    assert (done.returncode, done.stderr) == (2, "akvsite: --iterations: at least 20, one for each segment\n")
