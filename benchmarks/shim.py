"""What looking costs: the shim beside the vendor's tracing, in one run.

    python benchmarks/shim.py [--rounds N] [--python PYTHON] [--quick]

Three programs on the 2025.3 runtime and its CPU device, each arm a fresh process, arms in turn within a round:

- a C loop over one cheap call (`ur_loop.c`): added time per call beside two clock reads of the same process, the
  calls a second from 1, 2 and 4 threads, and memory over 20 million calls;
- a dpctl loop of copies, small kernels and waits: added time per call of the shim, of the vendor's tracing
  (UR_LAYER_TRACING, XPTI and the collector of the wheel, which prints to /dev/null), of the same without printing
  (it then records nothing), and of SYCL_UR_TRACE=2, each against the loop with nothing; growth of memory per call,
  resident and anonymous, read from smaps_rollup alike for every arm.

Only ratios within the run say something. Each is the median over the rounds, with the smallest and the largest.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from akvsite.experiments.tracer import PRINTING, TRY_AGAIN, VENDOR_TRACING
from akvsite.scan import open_log

HERE = Path(__file__).resolve().parent
SHIM = HERE.parent / "shim/build/libakv_ur.so"
LOOP = HERE.parent / "akvsite/experiments/_tracer_loop.py"
PYTHON = HERE.parent / ".venv/sycl-2025.3/bin/python"
SEGMENTS = 20

ARMS: dict[str, dict[str, str]] = {
    "nothing": {},
    "shim": {"LD_PRELOAD": str(SHIM)},
    "vendor": VENDOR_TRACING | PRINTING,
    "vendor, silent": VENDOR_TRACING,
    "SYCL_UR_TRACE=2": {"SYCL_UR_TRACE": "2"},
}


class Bench:
    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder
        #: Added time per call of the C loop, ns, by arm; what the dpctl loop's is set beside.
        self.cheap: dict[str, list[float]] = {}
        self.base = {
            k: v for k, v in os.environ.items() if not k.startswith(("UR_", "SYCL_", "XPTI_", "AKV_"))
        }
        self.base |= {
            "LD_LIBRARY_PATH": str(python.parents[1] / "lib"),
            "OCL_ICD_FILENAMES": "libintelocl.so",
        }

    def environment(self, arm: str) -> dict[str, str]:
        records = self.folder / "records"
        shutil.rmtree(records, ignore_errors=True)
        records.mkdir()
        return self.base | ARMS[arm] | ({"AKV_DIR": str(records)} if arm == "shim" else {})

    def recorded(self) -> int:
        """Calls in the files that the last process left."""
        total = 0
        for path in (self.folder / "records").glob("*.akvlog"):
            with open_log(path) as log:
                tally = log.tally()
                assert not tally.lost, f"{tally.lost} records were lost"
                total += tally.present.get(2, 0)
        return total

    def compile(self) -> Path:
        root, program = self.python.parents[1], self.folder / "ur_loop"
        subprocess.run(
            ["cc", "-O2", f"-I{root}/include", HERE / "ur_loop.c", "-o", program, f"-L{root}/lib", "-lur_loader",
             "-lpthread"],
            check=True,
        )  # fmt: skip
        return program

    def c_loop(self, program: Path, arm: str, calls: int, threads: int = 1) -> dict[str, Any]:
        done = subprocess.run(
            [program, str(calls), str(threads)], env=self.environment(arm), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        return json.loads(done.stderr.splitlines()[-1])

    def dpctl_loop(self, arm: str, iterations: int) -> dict[str, Any]:
        result = self.folder / "result.json"
        command = [self.python, "-W", "ignore", LOOP, str(iterations), str(SEGMENTS), result]
        for _ in range(8):
            done = subprocess.run(
                command, env=self.environment(arm), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            if done.returncode != TRY_AGAIN:
                break
        done.check_returncode()
        return json.loads(result.read_text())


def spread(values: Sequence[float], unit: str = "") -> str:
    return f"{statistics.median(values):10.3g}{unit} [{min(values):.3g}, {max(values):.3g}]"


def report(label: str, values: Sequence[float], unit: str = "") -> None:
    print(f"  {label:<58}{spread(values, unit)}", flush=True)


def cheap_call(bench: Bench, rounds: int, calls: int) -> None:
    program = bench.compile()
    added: dict[str, list[float]] = {arm: [] for arm in ARMS if arm != "nothing"}
    clock_reads = []
    del added["SYCL_UR_TRACE=2"]  # it is libsycl that prints, and this program has none
    for _ in range(rounds):
        bare = bench.c_loop(program, "nothing", calls)
        clock_reads.append(bare["two_clock_reads_ns"])
        for arm, values in added.items():
            seen = bench.c_loop(program, arm, calls if arm == "shim" else calls // 10)
            values.append(seen["ns"] / seen["calls"] - bare["ns"] / bare["calls"])
    print(f"One cheap call, {calls:,} times (a tenth of that with the vendor's), one thread, {rounds} rounds")
    for arm, values in added.items():
        report(f"added time per call: {arm}", values, " ns")
    report(
        "shim: added time / two clock reads (goal: at most 3)",
        [a / b for a, b in zip(added["shim"], clock_reads, strict=True)],
    )
    report("vendor / shim", [a / b for a, b in zip(added["vendor"], added["shim"], strict=True)])
    bench.cheap = added
    print(f"Calls a second, {calls:,} in each thread, {os.cpu_count()} processors")
    for threads in (1, 2, 4):
        rates = {
            arm: [
                (lambda made: made["calls"] / made["ns"] * 1e3)(bench.c_loop(program, arm, calls, threads))
                for _ in range(rounds)
            ]
            for arm in ("nothing", "shim")
        }
        for arm, values in rates.items():
            report(f"{threads} thread{'s' * (threads > 1)}, {arm}", values, " M/s")


def memory_over(bench: Bench, calls: int) -> None:
    program = bench.compile()
    bare = bench.c_loop(program, "nothing", calls // 10)
    made = bench.c_loop(program, "shim", calls)
    (resident, resident_after), (anonymous, anonymous_after) = made["resident_kib"], made["anonymous_kib"]
    print(
        f"Memory over {calls:,} recorded calls (one process), {bench.recorded():,} records read back as calls"
    )
    print(f"  anonymous grew by {anonymous_after - anonymous} KiB (goal: 0)")
    print(
        f"  resident grew by {resident_after - resident} KiB, and is {resident_after - bare['resident_kib'][1]} KiB above"
        " the same program with nothing (goal: under 131,072)"
    )


def real_calls(bench: Bench, rounds: int, iterations: int) -> None:
    per_call: dict[str, list[float]] = {arm: [] for arm in ARMS if arm != "nothing"}
    growth: dict[str, list[tuple[float, float]]] = {arm: [] for arm in ARMS}
    calls_each = 0.0
    for number in range(rounds):
        order = list(ARMS) if number % 2 else list(reversed(ARMS))
        took: dict[str, float] = {}
        for arm in order:
            made = bench.dpctl_loop(arm, iterations)
            own = [ns for what, _, ns in made["trials"] if what == "calling thread"]
            took[arm] = statistics.median(own) / (iterations // SEGMENTS)
            if arm == "shim":
                calls_each = bench.recorded() / (iterations + 200)
            first, last = made["memory"][0], made["memory"][-1]
            growth[arm].append(((last[1] - first[1]) / iterations, (last[2] - first[2]) / iterations))
        for arm in per_call:
            per_call[arm].append((took[arm] - took["nothing"]) / calls_each)
    cheap = statistics.median(bench.cheap["shim"])
    print(
        f"dpctl loop, {iterations:,} iterations of {calls_each:.2f} calls (set-up calls shared out), {rounds} rounds"
    )
    for arm, values in per_call.items():
        report(f"added processor time per call: {arm}", values, " ns")
    ours = statistics.median(per_call["shim"])
    for arm in ("vendor", "vendor, silent", "SYCL_UR_TRACE=2"):
        label = f"{arm} / shim, of the medians" + " (goal: at least 15)" * (arm == "vendor")
        print(f"  {label:<58}{statistics.median(per_call[arm]) / ours:10.3g}")
    report("vendor here / shim on the cheap call", [v / cheap for v in per_call["vendor"]])
    print(
        "  The loop itself varies by more than the shim adds: the first part tells its cost, this one the vendor's."
    )
    for arm, values in growth.items():
        report(f"resident growth per call: {arm}", [r / calls_each for r, _ in values], " B")
        report(f"anonymous growth per call: {arm}", [a / calls_each for _, a in values], " B")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--python", type=Path, default=PYTHON, help="of an environment with the 2025.3 runtime"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    options = parser.parse_args()
    for needed in (SHIM, options.python):
        if not needed.exists():
            sys.exit(f"benchmarks/shim.py: {needed.name} is not there: run make test first")
    scale = 20 if options.quick else 1
    parts: list[Callable[[Bench], None]] = [
        lambda bench: cheap_call(bench, options.rounds, 2_000_000 // scale),
        lambda bench: memory_over(bench, 20_000_000 // scale),
        lambda bench: real_calls(bench, options.rounds, 20_000 // scale),
    ]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.python.absolute(), Path(folder))
        for part in parts:
            part(bench)


if __name__ == "__main__":
    main()
