"""The overlap experiment on a real runtime, small; what triples say; and what does not hold together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bundles import ask, read_in

from akvsite import triples
from akvsite.errors import BadInput
from akvsite.experiments import Plan, carry_out, overlap
from akvsite.experiments._overlap_cycles import measure
from akvsite.experiments.overlap import OFF, ON, Overlap
from akvsite.manifest import load
from akvsite.triples import Triple

SMALL = ("--pieces", "3", "--copy-bytes", "65536", "--kernel-size", "64")


def test_it_runs_on_a_sycl_device(akvsite: Any, tmp_path: Path) -> None:
    done = akvsite(
        "experiment", "overlap", "--device", "sycl", "--pairs", "2", "--iterations", "6", "--seed", "1", "--json", "--", *SMALL
    )  # fmt: skip
    made = json.loads(done.out)
    assert (done.code, done.err) == (0, f"akvsite: {made['no_control_because']}\n")
    assert made["shared"]["warm_up_cycles"] == 12
    numbers = {number["statistic"]: number for number in made["numbers"]}
    assert {f"overlap, {OFF}", f"overlap, {ON}", "overlap, timing on minus timing off"} <= numbers.keys()
    assert all(number["n"] == 2 for number in numbers.values())

    bundle = tmp_path / "captures/overlap"
    declared = load(bundle)
    facts = {f"{f.part}.{f.key}": f.value for f in declared.facts}
    assert (declared.level, facts["contract.pieces"], facts["contract.copy_bytes"]) == ("off", "3", "65536")
    assert facts["capture.outputs"] == "the same in all 4 runs"
    lines = [facts[f"capture.runs.{number:03}"] for number in range(4)]
    # The treatment is in effect: the queues say so themselves.
    assert all(("made with enable_profiling" in line) == line.startswith(ON) for line in lines)
    assert all(("made with none" in line) == line.startswith(OFF) for line in lines)

    store = tmp_path / "akvsite.db"
    read_in(store, bundle)
    rows = ask(
        store, "SELECT treatment, cycles, copy_ns, both_ns, empty_ns, both_submitted_ns FROM overlap_run"
    )
    assert sorted(row["treatment"] for row in rows) == [OFF, OFF, ON, ON]
    assert all(row["cycles"] == 6 and 0 < row["both_submitted_ns"] <= row["both_ns"] for row in rows)
    assert all(row["empty_ns"] < row["both_ns"] for row in rows)
    # No host was named, so nothing is known of the machine.
    assert ask(store, "SELECT use FROM run_use") == [{"use": "structure"}]


def test_each_cycle_has_every_arm_and_the_arms_take_turns() -> None:
    seen: list[tuple[bool, bool]] = []
    trials = measure(lambda copy, compute: seen.append((copy, compute)), lambda: None, 6)
    assert {(arm, number) for arm, number, _ in trials} == {
        (name, number) for arm in ("copy", "compute", "both", "empty") for name in (arm, f"{arm}, submitted") for number in range(6)
    }  # fmt: skip
    cycles = [tuple(seen[at : at + 3]) for at in range(0, len(seen), 4)][-6:]
    assert len(set(cycles)) == 6
    assert all(sorted(cycle) == [(False, True), (True, False), (True, True)] for cycle in cycles)
    assert all(empty == (False, False) for empty in seen[3::4])


def of(treatment: str, block: int, copy: float, compute: float, both: float) -> Triple:
    return Triple(treatment, block, copy, compute, both)


def test_a_known_overlap_and_a_known_effect_come_out() -> None:
    runs = [
        run
        for block in range(8)
        for run in (
            of(OFF, block, 100 + block % 3, 200, 200 + block % 2),
            of(ON, block, 110 + block % 3, 200, 310 + block % 2),
        )[:: 1 if block % 2 == 0 else -1]
    ]
    off, on = (triples.overlap(runs, treatment) for treatment in (OFF, ON))
    assert off.low is not None and off.high is not None and off.low < 1 < off.high + 0.02
    assert on.low is not None and on.high is not None and on.low - 0.01 < 0 < on.high + 0.01
    less = triples.difference(runs, OFF, ON)
    assert less.n == 8 and less.high is not None and less.high < -0.9
    effect = triples.effect(runs, OFF, ON, "copy")
    assert effect.unit == "%" and effect.value == pytest.approx(9.9, abs=0.2)


def test_runs_in_one_order_get_no_band_of_a_difference() -> None:
    runs = [run for block in range(4) for run in (of(OFF, block, 1, 2, 2), of(ON, block, 1, 2, 3))]
    assert triples.difference(runs, OFF, ON).low is None
    assert "not interleaved" in triples.difference(runs, OFF, ON).refusal
    assert triples.effect(runs[:-1], OFF, ON, "copy").refusal.startswith("not every block")


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan(device="cpu"), "--device: is 'cpu'; overlap runs on cuda, xpu, sycl"),
        (Plan(device="sycl", arguments=("--pieces", "0")), "--pieces: is 0; from 1 to 4096"),
        (Plan(device="sycl", arguments=("--size", "3")), "--: unrecognized arguments"),
        (Plan(device="sycl", arguments=("--pieces", "many")), "--: argument --pieces"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(plan: Plan, words: str) -> None:
    with pytest.raises(BadInput) as error:
        Overlap().of(plan)
    assert str(error.value).startswith(words)


def test_no_device_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    """Neither does this machine have an Intel GPU, nor torch a build for one."""
    with pytest.raises(BadInput, match=r"^timing off: _overlap_torch.py ended with 1: "):
        carry_out(Overlap(), Plan(blocks=1, iterations=1, device="xpu", out=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_what_no_numbers_can_be_made_of_is_told() -> None:
    shared: dict[str, Any] = {"kernels_per_piece": 2, "cycles": 1}
    trials = [[name, 0, 5] for name in overlap._TRIALS]
    sound = {"treatment": OFF, "trials": trials, "output_sha256": "ab", "engine": {}}
    assert Overlap().unsound(shared) is None and Overlap().unsound(shared, sound) is None
    assert "not numbers from 1" in str(Overlap().unsound({**shared, "kernels_per_piece": 0}))
    assert "trials are not 1 cycles" in str(Overlap().unsound(shared, {**sound, "trials": trials[1:]}))
    none = [[name, 0, 0] for name in overlap._TRIALS]
    assert "took no time" in str(Overlap().unsound(shared, {**sound, "trials": none}))
