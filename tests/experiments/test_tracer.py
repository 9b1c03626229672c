"""The tracer experiment on a real runtime, small: every treatment is in effect, and a tracer that grows shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bundles import ask, read_in
from capturing import compile
from ur_captures import build_shim

from akvsite.errors import BadInput
from akvsite.experiments import Done, Plan, carry_out, tracer
from akvsite.experiments.tracer import NOTHING, SEGMENTS, SHIM, SILENT, TEXT, VENDOR, Tracer
from akvsite.manifest import load

ITERATIONS = 4000
KIB = 1024


@pytest.fixture(scope="module")
def shim() -> None:
    build_shim()


def test_one_loop_five_ways(akvsite: Any, shim: None, tmp_path: Path) -> None:
    done = akvsite(
        "experiment", "tracer", "--pairs", "1", "--iterations", str(ITERATIONS), "--seed", "1", "--json"
    )
    assert (done.code, done.err) == (0, "")
    made = json.loads(done.out)
    calls = made["shared"]["calls_per_iteration"]
    assert 5 <= calls <= 15
    numbers = {number["statistic"]: number for number in made["numbers"]}
    # Two times of a loop on its own and of four pairs with it, and two halves of two measures of five treatments.
    assert len(numbers) == 2 * (1 + 4) + 2 * 2 * 5
    assert all(number["n"] == 1 and number["refusal"] for number in numbers.values())

    bundle = tmp_path / "captures/tracer"
    facts = {f"{f.part}.{f.key}": f.value for f in load(bundle).facts}
    assert facts["software.intel-sycl-rt"].startswith("2025.3")
    assert facts["capture.shared.traces_printed_to"] == "the null device"
    recorded = [line for line in (facts[f"capture.runs.{n:03}"] for n in range(5)) if line.startswith(SHIM)]
    assert len(recorded) == 1
    assert int(recorded[0].rpartition("calls recorded ")[2]) >= calls * ITERATIONS

    store = tmp_path / "akvsite.db"
    read_in(store, bundle)
    rows = ask(
        store,
        "SELECT t.treatment, max(m.anonymous_bytes) - min(m.anonymous_bytes) AS grown FROM memory_sample m"
        " JOIN (SELECT DISTINCT process_id, treatment FROM trial) t ON t.process_id = m.process_id"
        " GROUP BY m.process_id",
    )
    grown = {row["treatment"]: row["grown"] for row in rows}
    assert len(rows) == len(grown) == 5
    # About 950 bytes an iteration stay with the vendor's tracer; the first 2,000 find room that the heap has already.
    assert min(grown[VENDOR], grown[SILENT]) > 1000 * KIB
    assert max(grown[SHIM], grown[NOTHING], grown[TEXT]) < 100 * KIB


def test_numbers_are_those_of_the_runs() -> None:
    """Two blocks of a loop of 10 calls an iteration, whose vendor tracer adds 7 and 9 ns and keeps 5 bytes a call."""
    iterations, calls = 10 * SEGMENTS, 10
    per_segment = iterations // SEGMENTS * calls

    def run(treatment: str, time: int, growth: int) -> dict[str, Any]:
        trials = [[arm, n, time * per_segment] for n in range(SEGMENTS) for arm in ("calling thread", "loop")]
        return {
            "treatment": treatment,
            "trials": trials,
            "memory": [[n, growth * per_segment * n, 0] for n in range(SEGMENTS + 1)],
        }

    blocks = [[NOTHING, SHIM, VENDOR, SILENT, TEXT], [TEXT, SILENT, VENDOR, SHIM, NOTHING]]
    times = {NOTHING: 100, SHIM: 101, VENDOR: 107, SILENT: 103, TEXT: 900}
    results = [
        run(t, times[t] + 2 * (i and t == VENDOR), 5 * (t == VENDOR))
        for i, block in enumerate(blocks)
        for t in block
    ]
    plan = Plan(blocks=2, iterations=iterations)
    done = Done(Tracer(), plan, {"calls_per_iteration": calls}, 1, blocks, results, Path())
    numbers = Tracer().numbers(done)
    vendor = numbers[f"added time a call of looking, {VENDOR}"]
    assert (vendor.value, vendor.dots, vendor.n) == (8, (7, 9), 2)
    assert vendor.low is not None and vendor.low < 0 < 8  # two pairs: a wide band
    assert vendor.assumes == "pairs independent, interleaved as ABBA"
    growth = numbers[f"growth of resident memory a call, second half, {VENDOR}"]
    assert (growth.value, growth.unit) == (5, "bytes") and "pages" in growth.assumes
    assert numbers[f"growth of anonymous memory a call, first half, {VENDOR}"].value == 0


def test_a_treatment_that_is_not_in_effect_stops_the_experiment(tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    compile(tmp_path / "libakv_ur.so", "-shared", "-fPIC", source)
    plan, work = Plan(iterations=20), tmp_path / "run"
    work.mkdir()
    with pytest.raises(BadInput, match="recorded no call"):
        Tracer().run(SHIM, plan, work, {}, {"AKVSITE_SHIM": str(tmp_path)})


def test_tracers_from_outside_do_not_reach_the_loop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    outside = {
        "SYCL_UR_TRACE": "2", "XPTI_TRACE_ENABLE": "1", "UR_ENABLE_LAYERS": "UR_LAYER_TRACING", "LD_PRELOAD": "x.so",
        "ZE_ENABLE_TRACING_LAYER": "1", "OMP_NUM_THREADS": "1", "AKV_DIR": "x",
    }  # fmt: skip
    made = Tracer()._environment(NOTHING, tmp_path / "env/bin/python", tmp_path, outside)
    assert made == {
        "AKV_LEVEL": "off", "OMP_NUM_THREADS": "1", "OCL_ICD_FILENAMES": "libintelocl.so",
        "LD_LIBRARY_PATH": str(tmp_path / "env/lib"),
    }  # fmt: skip


def test_a_device_that_cannot_be_made_is_tried_again(tmp_path: Path) -> None:
    """The loop ends with 75 twice, then runs."""
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\necho x >> {tmp_path}/tries\n[ $(wc -l < {tmp_path}/tries) -gt 2 ] || exit 75\n"
        'echo \'{"pid": 1, "trials": [], "memory": [], "mapped": ["libur_loader.so.0"]}\' > "$4"\n'
    )
    python.chmod(0o755)
    result = Tracer().run(NOTHING, Plan(), tmp_path, {}, {"AKVSITE_SYCL_PYTHON": str(python)})
    assert result["facts"] == {"device made again": 2}
    python.write_text("#!/bin/sh\necho 'no such device' >&2; exit 75\n")
    with pytest.raises(BadInput, match="ended with 75: no such device"):
        Tracer().run(NOTHING, Plan(), tmp_path, {}, {"AKVSITE_SYCL_PYTHON": str(python)})


def test_a_python_that_does_nothing_is_named(shim: None, tmp_path: Path) -> None:
    python = tmp_path / "idle"
    for text, said in (
        ("#!/bin/sh\n", "wrote no result"),
        ('#!/bin/sh\necho "{}" > "$4"\n', "wrote no sound result"),
        ("no program", "cannot be run"),
    ):
        python.write_text(text)
        python.chmod(0o755)
        with pytest.raises(BadInput, match=f"{python}: {said}"):
            carry_out(Tracer(), Plan(out=tmp_path / "out"), {"AKVSITE_SYCL_PYTHON": str(python)})
    assert list((tmp_path / "out").iterdir()) == []


def test_a_result_that_no_numbers_can_be_made_of_is_told() -> None:
    shared = {"calls_per_iteration": 10.0}
    trials = [[arm, n, 1] for arm in tracer.ARMS for n in range(SEGMENTS)]
    memory = [[n, 1, 1] for n in range(SEGMENTS + 1)]
    unsound = Tracer().unsound
    assert unsound(shared) is None
    assert unsound(shared, {"trials": trials, "memory": memory}) is None
    assert "trials" in str(unsound(shared, {"trials": trials[1:], "memory": memory}))
    assert "memory" in str(unsound(shared, {"trials": trials, "memory": memory[1:]}))
    assert "memory" in str(unsound(shared, {"trials": trials}))
    for calls in (None, 0, -1, True, "10", float("inf"), float("nan")):
        assert "calls_per_iteration" in str(unsound({"calls_per_iteration": calls}))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    missing = {"AKVSITE_SYCL_PYTHON": str(tmp_path / "python")}
    with pytest.raises(BadInput, match="AKVSITE_SYCL_PYTHON"):
        Tracer().python(missing)
    with pytest.raises(BadInput, match="--iterations"):
        Tracer().prepare(Plan(iterations=tracer.SEGMENTS - 1), {})
    with pytest.raises(BadInput, match="make shim"):
        Tracer().prepare(Plan(iterations=tracer.SEGMENTS), {"AKVSITE_SHIM": str(tmp_path)})
