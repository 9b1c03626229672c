"""Turn the files measured on a lent NVIDIA H200 into captures. Usage: make_h200.py FOLDER

FOLDER holds what was brought back from the machine on 2026-11-29: `off_runs.json.gz` (wall clock of 12
uninstrumented runs), `kv_prefetch_timing_off.pt.trace.json.gz` (torch profiler), `overlap_control.json`
(wall-clock lists), `truth.json` (what the maker of the workload states) and `host.txt` (nvidia-smi,
collect_env, lscpu). Serial numbers and UUIDs of `host.txt` are not taken over. What these files do not say is
left out of the declarations. That the profiled decode fetches one layer ahead was read from the trace: the
copies of a step are issued two before its first layer, and two in each layer but the last.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from bundle import CAPTURES, write_declaration, write_table

STARTED = "2026-11-29"
VARIANTS = {"A": "prefetch one layer ahead", "B": "fetch when needed"}

#: Facts of the machine, and the line of host.txt that states each.
HOST_LINES = {
    "gpu": r"Product Name +: (.+)",
    "gpu_memory": r"FB Memory Usage\n +Total +: (.+)",
    "gpu_virtualization": r"Virtualization Mode +: (Pass-Through)",
    "gpu_power_limit": r"Current Power Limit +: ([\d.]+ W)",
    "ecc": r"ECC Mode\n +Current +: (.+)",
    "pcie_generation": r"PCIe Generation\n(?:.*\n)? +Current +: (\d)",
    "pcie_width": r"Link Width\n(?:.*\n)? +Current +: (.+)",
    "cpu": r"Model name: +(.+)",
    "cpus": r"CPU\(s\): +(\d+)",
    "hypervisor": r"Hypervisor vendor: +(.+)",
    "os": r"OS: (.+) \(x86_64\)",
    "kernel": r"Python platform: Linux-([\d.]+)",
}
VERSION_LINES = {
    "torch": r"PyTorch version: (.+)",
    "driver": r"Driver Version +: (.+)",
    "cuda": r"CUDA Version +: (.+)",
    "cuda_runtime": r"CUDA runtime version: (.+)",
    "python": r"Python version: (\S+)",
}
LENT = "A lent virtual machine whose neighbours are unknown: its role is dev, not proof."


def main(source: Path) -> None:
    host_text = (source / "host.txt").read_text(encoding="utf-8")
    host = {"name": "h200-lent", "role": "dev", "facts": quoted(host_text, HOST_LINES)}
    versions = quoted(host_text, VERSION_LINES)
    truth = json.loads((source / "truth.json").read_text(encoding="utf-8"))
    with gzip.open(source / "off_runs.json.gz", "rt", encoding="utf-8") as file:
        off = json.load(file)
    for run in off["runs"]:
        make_off_run(run, len(off["runs"]), off["warm_up_steps_declared"], host, versions)
    make_device_run(source / "kv_prefetch_timing_off.pt.trace.json.gz", truth, host, versions)
    make_overlap_control(source / "overlap_control.json", truth, host, versions)


def quoted(text: str, lines: dict[str, str]) -> dict[str, str]:
    found = {}
    for key, pattern in lines.items():
        match = re.search(pattern, text)
        if match is None:
            raise SystemExit(f"host.txt: no line for {key}")
        found[key] = match[1].strip()
    return found


def make_off_run(
    run: dict[str, Any], of: int, warm_up: int, host: dict[str, Any], versions: dict[str, str]
) -> None:
    name = f"h200-decode-off-{run['variant'].lower()}{run['pair']}"
    folder = fresh(name)
    steps = range(run["steps"])
    write_table(
        folder / "steps.parquet",
        {
            "name": pa.array([f"step.{n}" for n in steps]),
            "number": pa.array(steps, pa.int64()),
            "kind": pa.array(["decode"] * len(steps)),
            "start_ns": pa.array(run["step_start_ns"], pa.int64()),
            "end_ns": pa.array(run["step_end_ns"], pa.int64()),
            "source": pa.array(["engine counter"] * len(steps)),
            "warm_up": pa.array([int(n < warm_up) for n in steps], pa.int64()),
        },
    )
    load = dict(
        zip(("load_1_min", "load_5_min", "load_15_min"), map(float, run["loadavg_before"]), strict=True)
    )
    write_declaration(
        folder,
        {
            "name": name,
            "level": "off",
            "started": STARTED,
            "engine": "decode loop in torch, KV blocks kept on the host",
            "timing_events": "off",
            "warm_up_steps": warm_up,
            "clock": "host only",
            "note": f"Variant {run['variant']}: {VARIANTS[run['variant']]}. Wall clock of every step, "
            "nothing else recorded; times count from the start of the first step. Step times come in bursts, "
            f"and the medians of the {of} runs of this design spread from 4.2 to 7.1 ms. {LENT}",
        },
        {
            "host": host,
            # As the file has it: two clocks, a number (probably degrees) and power, none of them labelled.
            "load": {"before": {**load, "gpu": run["gpu_before"]}},
            "contract": {
                "workload": "decode, KV blocks brought from host memory",
                "prefetch": VARIANTS[run["variant"]],
                "steps": run["steps"],
                "weight_bytes": run["weight_bytes"],
                "kv_bytes_per_step": run["kv_bytes_per_step"],
                "output_hash": str(run["tokens_hash"]),
                "versions": {**versions, "torch": run["torch"]},
            },
            "capture": {
                "variant": run["variant"],
                "design": "ABBA",
                "pair": run["pair"],
                "order": run["order"],
                "runs_in_design": of,
                "process": "fresh for every run",
            },
        },
        {"file": [{"path": "steps.parquet", "table": "step"}]},
    )


def make_device_run(
    trace: Path, truth: dict[str, Any], host: dict[str, Any], versions: dict[str, str]
) -> None:
    folder = fresh("h200-kv-prefetch-device")
    shutil.copyfile(trace, folder / "kv_prefetch.pt.trace.json.gz")
    layers, steps = 32, 6
    write_declaration(
        folder,
        {
            "name": folder.name,
            "level": "device",
            "started": STARTED,
            "engine": "decode loop in torch, KV blocks kept on the host",
            "timing_events": "off",
            "clock": "vendor, unproven",
            "note": f"{steps} decode steps of {layers} layers under the torch profiler; no warm-up is "
            f"declared. Instrumented: nothing in it is a statement about speed. {LENT}",
        },
        {
            "host": host,
            "contract": {
                "workload": "decode, KV blocks brought from host memory",
                "prefetch": VARIANTS["A"],
                "steps": steps,
                "layers": layers,
                "weight_bytes": truth["weight_bytes"],
                "kv_bytes_per_step": truth["kv_bytes_per_layer"] * layers,
                "versions": {**versions, "torch": truth["torch"]},
            },
            "capture": {"tool": "torch profiler (Kineto)"},
        },
        {"file": [{"path": "kv_prefetch.pt.trace.json.gz"}]},
    )


def make_overlap_control(
    lists: Path, truth: dict[str, Any], host: dict[str, Any], versions: dict[str, str]
) -> None:
    folder = fresh("h200-overlap-control")
    parts = json.loads(lists.read_text(encoding="utf-8"))
    treatment = {True: "timing on", False: "timing off"}
    rows = [
        (arm, treatment[part["timing_events"]], part["rep"], number, round(seconds * 1e9))
        for part in parts
        for arm in ("copy", "compute", "both")
        for number, seconds in enumerate(part[f"{arm}_s"])
    ]
    arm, treated, repeat, number, duration_ns = zip(*rows, strict=True)
    write_table(
        folder / "trials.parquet",
        {
            "arm": pa.array(arm),
            "treatment": pa.array(treated),
            "repeat": pa.array(repeat, pa.int64()),
            "number": pa.array(number, pa.int64()),
            "duration_ns": pa.array(duration_ns, pa.int64()),
        },
    )
    write_declaration(
        folder,
        {
            "name": folder.name,
            "level": "off",
            "started": STARTED,
            "engine": "decode loop in torch, KV blocks kept on the host",
            "timing_events": "asis",
            "clock": "host only",
            "note": "Wall clock of copy alone, compute alone and both, with and without timing events. "
            "Noisy: the overlap estimates of the repeats run from -2.8 to 1.0, the decode loop was bound by "
            f"Python, and the machine was not quiet. Shown as it is; it supports nothing. {LENT}",
        },
        {
            "host": host,
            "contract": {
                "workload": "copy alone, compute alone, and both",
                "weight_bytes": truth["weight_bytes"],
                "versions": {**versions, "torch": truth["torch"]},
            },
            "capture": {
                "design": "treatments alternate from repeat to repeat",
                "treatment_order": ", ".join(treatment[part["timing_events"]] for part in parts),
            },
        },
        {"file": [{"path": "trials.parquet", "table": "trial"}]},
    )


def fresh(name: str) -> Path:
    folder = CAPTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: make_h200.py FOLDER")
    main(Path(sys.argv[1]))
