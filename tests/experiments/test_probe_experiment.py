"""The probe experiment: the reference engine at every level, what is refused of it, and the numbers that come out."""

from __future__ import annotations

import doctest
import json
import math
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from bundles import ask, read_in
from capturing import environment, words
from ur_captures import build_shim

from akvsite.errors import BadInput
from akvsite.experiments import Done, Plan, _engine, carry_out
from akvsite.experiments._engine import DEVICE, EDGE, OFF, Engine
from akvsite.experiments.probe import Probe
from akvsite.manifest import load
from akvsite.record import reference
from akvsite.runner import options
from akvsite.tables import LEVELS

TESTS = Path(__file__).parents[1]
#: A python that runs no engine: what it leaves is asked for by the environment.
STAND_IN = (
    f"""#!{sys.executable}
import hashlib, json, os, sys
sys.path.insert(0, {str(TESTS)!r})
from akvlogs import AkvLog
asked = json.loads(os.environ.get("STAND_IN", "{{}}"))
level, steps = os.environ["AKV_LEVEL"], asked.get("steps", 40)
folder = os.environ.get("AKV_DIR")
assert (folder is None) == (level == "off")
assert ("libakv_ur" in os.environ.get("LD_PRELOAD", "")) == (level == "edge")
assert ("events" in sys.argv) == (level == "device")
if folder and not asked.get("blind"):
    log = AkvLog(names=["decode", "copy", "urQueueFinish"])
    for n in range(steps):
        log.mark(16, 0, 100 * n, 100 * n + 90, n, value=4)
        if level == "device":
            log.mark(23, 1, 10, 20, 0, n + 1, 7)
        if level == "edge" and not asked.get("no calls"):
            log.call(2, enter=100 * n, exit=100 * n + 1)
    from pathlib import Path
    log.write(Path(folder) / "standin-1.akvlog")
tries = Path(os.environ["TRIES"]) if "TRIES" in os.environ else None
""".replace("import hashlib, json, os, sys", "import hashlib, json, os, sys\nfrom pathlib import Path")
    + """
if tries:
    with tries.open("a") as file:
        file.write("x")
    if len(tries.read_text()) < 3:
        print("engine: the device could not be created", file=sys.stderr)
        sys.exit(2)
if "exit" in asked:
    print("engine: too hot", file=sys.stderr)
    sys.exit(asked["exit"])
long = {"off": 100, "runner": 101, "host": 103, "device": 110, "edge": 133}[level]
made = {
    "pid": os.getpid(), "preempted": 0, "facts": {"backend": "stand-in", "level": level},
    "tokens_sha256": hashlib.sha256(level.encode() if asked.get("other tokens") else b"").hexdigest(),
    "steps": [[n, "prefill" if n < 2 else "decode", 4, 1000 * n, 1000 * n + long + n] for n in range(steps)],
}
text = asked["text"] if "text" in asked else json.dumps(made)
if text:
    Path(sys.argv[sys.argv.index("--result") + 1]).write_text(text)
"""
)


def probe(arguments: Sequence[str] = ()) -> Probe:
    return Probe(Engine(arguments))


SYCL = ("--backend", "sycl", "--model", "tiny")


@pytest.fixture(scope="module")
def shim() -> None:
    build_shim()


@pytest.fixture
def stand_in(shim: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment whose python with SYCL is the stand-in; five decode steps are cut."""
    python = tmp_path / "env/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(STAND_IN)
    python.chmod(0o755)
    monkeypatch.setattr(_engine, "WARM_UP", 5)
    return environment(AKVSITE_SYCL_PYTHON=str(python))


def run(treatment: str, where: Path, env: Mapping[str, str], **asked: Any) -> dict[str, Any]:
    plan = Plan(iterations=20, arguments=SYCL)
    work = where / "run"
    work.mkdir()
    return probe().of(plan).run(treatment, plan, work, {}, {**env, "STAND_IN": json.dumps(asked)})


def test_a_bundle_of_every_level(tmp_path: Path, stand_in: dict[str, str]) -> None:
    plan = Plan(blocks=2, iterations=20, seed=5, out=tmp_path / "captures", arguments=SYCL)
    done = carry_out(probe(), plan, stand_in)
    assert sorted(done.blocks[0]) == sorted(LEVELS) and done.blocks[1] == done.blocks[0][::-1]
    bundle = tmp_path / "captures/probe"
    declared = load(bundle)
    facts = {f"{f.part}.{f.key}": f.value for f in declared.facts}
    assert (declared.level, facts["contract.engine.backend"], facts["contract.engine.model"]) == (
        "edge", "sycl", "tiny",
    )  # fmt: skip
    assert facts["capture.outputs"] == "the same tokens in all 10 runs"
    assert facts["capture.schedule"] == "the same batches in all 10 runs"
    # Whole: nothing of it was taken for a secret.
    assert (
        facts["capture.tokens_sha256"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    assert facts["capture.engine.backend"] == "stand-in" and "capture.engine.level" not in facts
    assert facts["capture.shared.warm_up_steps"] == "5"
    lines = {facts[f"capture.runs.{n:03}"].partition(",")[0]: facts[f"capture.runs.{n:03}"] for n in range(5)}
    assert "recorded" not in lines[OFF]
    assert "steps recorded by the probe 40" in lines["host"]
    assert "stretches between device events 40" in lines[DEVICE]
    assert "calls recorded 40" in lines[EDGE]
    store = tmp_path / "akvsite.db"
    read_in(store, bundle)
    rows = ask(
        store,
        "SELECT min(duration_ns) AS least, count(*) AS n, arm FROM trial WHERE treatment = 'edge' GROUP BY arm",
    )
    whole = rows.pop(0)
    assert (whole["arm"], whole["n"]) == ("command", 2) and whole["least"] > 10_000_000
    # Two prefill steps, then five decode steps are cut; each step is one ns longer than the one before.
    assert rows == [{"least": 133 + 7, "n": 2 * 20, "arm": "decode step"}]


def test_other_arguments_are_not_held_up_by_what_failed(tmp_path: Path, stand_in: dict[str, str]) -> None:
    broken = {**stand_in, "STAND_IN": json.dumps({"exit": 3})}
    plan = Plan(blocks=1, iterations=20, out=tmp_path / "out", arguments=SYCL)
    with pytest.raises(BadInput, match="the engine ended with 3: engine: too hot"):
        carry_out(probe(), plan, broken)
    assert list((tmp_path / "out").iterdir()) == []


def test_tokens_that_differ_are_told(tmp_path: Path, stand_in: dict[str, str]) -> None:
    plan = Plan(blocks=1, iterations=20, out=tmp_path / "out", arguments=SYCL)
    carry_out(probe(), plan, {**stand_in, "STAND_IN": json.dumps({"other tokens": True})})
    facts = {f.key: f.value for f in load(tmp_path / "out/probe").facts if f.part == "capture"}
    assert facts["outputs"] == "DIFFER: 5 different sequences of tokens in 5 runs"
    assert "tokens_sha256" not in facts


@pytest.mark.parametrize(
    ("treatment", "asked", "said"),
    [
        ("runner", {"blind": True}, "runner: is not in effect: steps recorded by the probe: 0, of 40"),
        (DEVICE, {"blind": True}, "device: is not in effect: steps recorded"),
        (EDGE, {"no calls": True}, "edge: is not in effect: calls recorded: 0"),
        (OFF, {"steps": 26}, "off: the engine made 24 decode steps, and 5 to be cut and 20 to be measured"),
        (OFF, {"text": ""}, "akvsite.runner: wrote no result, and yet ended with 0"),
        (OFF, {"text": "{}"}, "akvsite.runner: wrote no sound result: the result has no pid"),
        (OFF, {"text": '{"pid": 1, "tokens_sha256": "", "steps": [[1, "decode", 1, 2]]}'}, "row of 5"),
        (OFF, {"exit": 7}, "off: the engine ended with 7: engine: too hot"),
    ],
)  # fmt: skip
def test_what_is_no_run_of_its_level_stops_the_experiment(
    tmp_path: Path, stand_in: dict[str, str], treatment: str, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        run(treatment, tmp_path, stand_in, **asked)


def test_a_device_that_cannot_be_made_is_tried_again(tmp_path: Path, stand_in: dict[str, str]) -> None:
    made = run(OFF, tmp_path, {**stand_in, "TRIES": str(tmp_path / "tries")})
    assert made["facts"]["device made again"] == 2


def test_what_cannot_be_asked_for() -> None:
    for arguments, said in (
        (("--backend", "torch", "--result", "x"), "--result: is given by the experiment"),
        (("--backend", "torch", "--profile-steps=1:2"), "is given by the experiment"),
    ):
        with pytest.raises(BadInput, match=said):
            probe().of(Plan(arguments=arguments))
    with pytest.raises(BadInput, match="make shim"):
        probe(SYCL).prepare(Plan(), {"AKVSITE_SHIM": "/", "AKVSITE_SYCL_PYTHON": sys.executable})


@pytest.mark.parametrize(
    ("arguments", "runtime", "records", "closest"),
    [
        ("--backend torch --device cuda:1", "cudart", "profiler", EDGE),
        ("--backend torch --device=xpu", "ur", "profiler", EDGE),
        ("--backend torch --device cpu", None, "profiler", DEVICE),
        ("--backend sycl", "ur", "events", EDGE),
    ],
)
def test_levels_are_those_that_the_backend_has(
    arguments: str, runtime: str | None, records: str, closest: str
) -> None:
    made = probe().of(Plan(arguments=tuple(arguments.split())))
    engine = made.workload
    assert isinstance(engine, Engine)
    assert (engine.runtime, engine.records, made.LEVEL) == (runtime, records, closest)
    treatments = made.TREATMENTS
    assert treatments == LEVELS[: LEVELS.index(closest) + 1]


def test_a_capture_and_an_experiment_say_the_workload_alike() -> None:
    asked = ["--backend", "torch", "--int8", "--no-prefetch", "--result=/tmp/x", "--max-batch", "8"]
    said = {
        "backend": "torch",
        "device": "cpu",
        "model": "tiny",
        "int8": "yes",
        "no_prefetch": "yes",
        "max_batch": "8",
    }
    contract = probe(asked).CONTRACT
    assert contract == {"engine": said}
    command = ["/opt/python3", "-X", "dev", "-m", "akvsite.runner", *asked]
    assert reference.workload(reference.arguments_of(command) or []) == said
    assert reference.arguments_of(["python3", "-m", "other", "-m", "akvsite.runner"]) is None
    assert reference.arguments_of(["akvsite.runner"]) is None
    given = vars(options.parser().parse_args([]))
    assert {name: given[name] for name in reference.DEFAULTS} == reference.DEFAULTS
    assert doctest.testmod(reference).failed == 0


def test_a_capture_of_the_engine_states_its_workload(tmp_path: Path) -> None:
    engine = ["--layers", "1", "--requests", "1", "--no-client"]
    command: list[str | Path] = [sys.executable, "-m", "akvsite.runner", *engine]
    given = words(tmp_path, "a", "--level", "runner", "--contract", "batch=4", command=command)
    done = subprocess.run(given, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    declared = load(tmp_path / "a")
    said = {f.key: f.value for f in declared.facts if f.part == "contract"}
    assert re.fullmatch(r"sha256 [0-9a-f]{64}", said.pop("output_hash"))
    assert said == {
        "batch": "4", "engine.backend": "torch", "engine.device": "cpu", "engine.model": "tiny", "engine.layers": "1", "engine.requests": "1", "engine.no_client": "yes",
    }  # fmt: skip
    assert declared.engine == Engine.ENGINE


def experiment(blocks: int, steps: int, **long: float) -> Done:
    """At each level steps of these ns, alike, a little more in each block."""
    order = list(long)
    drawn = [order[:: 1 if n % 2 == 0 else -1] for n in range(blocks)]
    results = [
        {"treatment": t, "trials": [["decode step", n, round(long[t] * (1 + 0.001 * b))] for n in range(steps)]}
        for b, block in enumerate(drawn)
        for t in block
    ]  # fmt: skip
    shared = {"measured_steps": steps}
    made = probe(("--backend", "torch"))
    made.TREATMENTS = tuple(order)
    return Done(made, Plan(blocks=blocks), shared, 1, drawn, results, Path())


def test_numbers_are_those_of_the_pairs() -> None:
    done = experiment(8, 200, off=1_000_000, edge=1_330_000)
    numbers = done.experiment.numbers(done)
    effect = numbers["effect on the median decode step, edge"]
    assert effect.value == pytest.approx(33, abs=1e-6) and effect.n == 8 and effect.unit == "%"
    assert effect.low is not None and effect.high is not None
    assert effect.low <= 33 <= effect.high and effect.high - effect.low < 0.01
    assert effect.dots == pytest.approx([33] * 8, abs=1e-3)
    assert effect.assumes == "pairs independent, interleaved as ABBAABBAABBAABBA"
    over = numbers["median decode step, off"]
    assert over.value == pytest.approx(1_003_500) and over.low is not None


def test_an_effect_is_the_geometric_mean_of_the_pairs_ratios() -> None:
    done = experiment(8, 200, off=1000, host=1100)
    for n, (result, factor) in enumerate(zip(done.results, [1, 1, 2, 1] * 4, strict=True)):
        result["trials"] = [[a, k, ns * (factor if n % 2 else 1)] for a, k, ns in result["trials"]]
    ratios = []
    for block in range(8):
        of = {r["treatment"]: r["trials"][0][2] for r in done.results[2 * block : 2 * block + 2]}
        ratios.append(of["host"] / of["off"])
    effect = done.experiment.numbers(done)["effect on the median decode step, host"]
    assert effect.value == pytest.approx(100 * (math.exp(sum(map(math.log, ratios)) / 8) - 1))


@pytest.mark.parametrize(("blocks", "steps", "why"), [(7, 200, "7 pairs < 8"), (1, 200, "1 pair < 8"), (8, 199, "199 steps a run < 200")])  # fmt: skip
def test_too_little_has_no_band(blocks: int, steps: int, why: str) -> None:
    done = experiment(blocks, steps, off=1000, edge=1330)
    effect = done.experiment.numbers(done)["effect on the mean decode step, edge"]
    assert (effect.low, effect.high, effect.refusal) == (None, None, why)
    assert effect.value == pytest.approx(33, abs=0.1)


def test_results_that_no_numbers_can_be_made_of_are_told() -> None:
    shared = {"measured_steps": 2}
    good = {
        "trials": [["command", 0, 99], ["decode step", 0, 5], ["decode step", 1, 6]],
        "tokens_sha256": "x",
        "engine": {},
        "facts": {},
    }
    unsound = probe(SYCL).unsound
    assert unsound(shared) is None and unsound(shared, good) is None
    for key, value in (
        ("trials", good["trials"][:2]), ("trials", good["trials"][1:]),
        ("trials", [["command", 0, 99], ["decode step", 0, 5], ["decode step", 1, 0]]),
        ("tokens_sha256", None), ("engine", []),
    ):  # fmt: skip
        assert unsound(shared, {**good, key: value})
    for wanted in (None, 0, True, "2"):
        assert "measured_steps" in str(unsound({"measured_steps": wanted}))


def test_preloads_from_outside_do_not_reach_the_engine(tmp_path: Path) -> None:
    outside = {"LD_PRELOAD": "x.so", "AKV_DIR": "z", "OMP_NUM_THREADS": "1"}
    plan = Plan(arguments=("--backend", "torch"))
    made = Engine.of(plan)._environment(OFF, Path(sys.executable), tmp_path, outside)
    assert made == {
        "AKV_LEVEL": "off", "AKV_FILES": str(tmp_path / "files"), "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(TESTS.parent),
    }  # fmt: skip


def test_it_is_carried_out_where_few_packages_are(tmp_path: Path, stand_in: dict[str, str]) -> None:
    """On a machine with a device, typer, pyarrow and numpy are all there is, and the checkout is not installed."""
    blocked = (
        "sqlite_utils",
        "altair",
        "msgspec",
        "mkdocs",
        "material",
        "yaml",
        "vl_convert",
        "torch",
        "akvscan",
    )
    asked = [
        "akvsite",
        "experiment",
        "probe",
        "--pairs",
        "1",
        "--iterations",
        "1",
        "--out",
        str(tmp_path / "o"),
    ]
    program = (
        f"import sys, runpy\nfor m in {blocked!r}: sys.modules[m] = None\n"
        "import akvsite.experiments._engine as p\np.WARM_UP = 5\n"
        f"sys.argv = {[*asked, '--', *SYCL]!r}\nrunpy.run_module('akvsite', run_name='__main__', alter_sys=True)"
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program], env=stand_in, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "effect on the median decode step, edge" in done.stdout and "no band: 1 pair < 8" in done.stdout


def test_the_reference_engine_on_a_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine itself, at each level that torch has on a CPU."""
    monkeypatch.setattr(_engine, "WARM_UP", 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    engine = (
        "--backend torch --device cpu --layers 1 --requests 4 --output-tokens 8 --schedule fixed --no-client"
    )
    plan = Plan(blocks=1, iterations=5, out=tmp_path, arguments=tuple(engine.split()))
    done = carry_out(probe(), plan, environment(OMP_NUM_THREADS="1"))
    facts = {f.key: f.value for f in load(tmp_path / "probe").facts if f.part == "capture"}
    assert facts["outputs"] == "the same tokens in all 4 runs"
    assert facts["schedule"] == "the same batches in all 4 runs"
    assert facts["engine.backend"] == "torch cpu"
    assert {r["treatment"]: "steps profiled" in r["facts"] for r in done.results} == {
        "off": False, "runner": False, "host": False, "device": True,
    }  # fmt: skip
    assert done.numbers["effect on the median decode step, device"].refusal == "1 pair < 8"


@pytest.mark.slow
@pytest.mark.parametrize("level", [DEVICE, EDGE])
def test_the_reference_engine_on_a_sycl_device(
    shim: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    monkeypatch.setattr(_engine, "WARM_UP", 1)
    engine = "--backend sycl --layers 1 --requests 2 --output-tokens 6 --schedule fixed --no-client"
    plan = Plan(iterations=3, arguments=tuple(engine.split()))
    made = probe().of(plan).run(level, plan, tmp_path, {}, environment())
    key = "calls recorded" if level == EDGE else "stretches between device events"
    assert made["facts"][key] > 0 and made["facts"]["steps recorded by the probe"] >= 4
