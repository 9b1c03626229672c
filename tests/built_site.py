"""A project of its own in a temporary folder, with the committed captures and made-up ones with every oddity.

The site that comes out is what tests look at, through files or through a browser.
"""

from __future__ import annotations

import fcntl
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import claims
import looked_at
import pytest
from bundles import steps, write_capture

ROOT = Path(__file__).parents[1]

#: Pages that are written by hand.
PAGES = (
    "bring.md",
    "device.md",
    "discipline.md",
    "edge.md",
    "export.md",
    "instrument.md",
    "publish.md",
    "runner.md",
)

HOSTILE = 'void </script><img src=x onerror="document.title=\'hit\'">_*`|[a](javascript:alert(1)) & \u202eleft<T, "x">'

#: Captures that a site has not which is built more than once, with those of the reference engine. Comparisons of those that
#: are left out are left out with them.
LARGE = (
    "h200-edge-decode", "h200-edge-graph", "sycl-cpu-edge", "overlap-h200-small-copies", "overlap-trace-h200-small-copies",
    "overlap-sycl-cpu", "overlap-trace-sycl-cpu", "aa-sycl-cpu", "probe-sycl-cpu",
)  # fmt: skip

#: A claim that has been withdrawn: what it stands on must carry the stamp.
RETRACTED_RUN = "h200-decode-off-a0"


def run(folder: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """One akvsite command in ``folder``, as a person would give it."""
    done = subprocess.run(
        [sys.executable, "-c", "from akvsite.cli import main; main()", *words],
        cwd=folder,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert not check or done.returncode == 0, f"akvsite {' '.join(words)}: {done.stderr}"
    return done


def event(
    cat: str, name: str, ts: float, dur: float, pid: int = 1, tid: int = 1, **args: Any
) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def kernel(name: str, ts: float, dur: float, device: int = 0, stream: int = 7, **args: Any) -> dict[str, Any]:
    return event("kernel", name, ts, dur, pid=device, tid=stream, device=device, stream=stream, **args)


def copy_record(ts: float, dur: float, device: int = 0, stream: int = 13, **args: Any) -> dict[str, Any]:
    return event(
        "gpu_memcpy",
        "Memcpy HtoD (Pinned -> Device)",
        ts,
        dur,
        pid=device,
        tid=stream,
        device=device,
        stream=stream,
        **args,
    )


def traces() -> dict[str, list[dict[str, Any]]]:
    """Made-up traces, by run name; each is one case."""
    steps = [
        e
        for n in range(6)
        for e in (
            event("user_annotation", f"decode.step.{n}", 1000.0 * n, 900.0),
            event("user_annotation", "layer.0", 1000.0 * n + 10, 400.0),
            event("cpu_op", HOSTILE, 1000.0 * n + 450, 100.0, **{"External id": 100 + n}),
            event(
                "cuda_runtime",
                "cudaLaunchKernel",
                1000.0 * n + 20,
                5.0,
                correlation=10 * n + 1,
                **{"External id": 100 + n},
            ),
            event("cuda_runtime", "cudaMemcpyAsync", 1000.0 * n + 30, 5.0, correlation=10 * n + 2),
            kernel(HOSTILE, 1000.0 * n + 60, 300.0, correlation=10 * n + 1, **{"External id": 100 + n}),
            copy_record(1000.0 * n + 100, 300.0, correlation=10 * n + 2, bytes=4096),
        )
    ]
    copies = [
        e
        for n in range(12)
        for e in (
            event("cuda_runtime", "cudaMemcpyAsync", 100.0 * n, 5.0, correlation=n),
            copy_record(100.0 * n + 10, 20.0, correlation=n, bytes=64),
        )
    ]
    return {
        "hostile-names": steps,
        "metadata-only": [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}}] * 5,
        "launches-unseen": copies + [event("cuda_runtime", "cudaLaunchKernel", 5000.0 + n, 0.5, correlation=1000 + n) for n in range(200)],
        "two-devices": [kernel("a", 0, 100, 0, 7), kernel("b", 50, 100, 0, 8), kernel("a", 0, 150, 1, 7)],
        "kernel-before-launch": [
            event("cuda_runtime", "cudaLaunchKernel", 1000.0, 4.0, correlation=1), kernel("early", 999.4, 2.5, correlation=1),
            event("cuda_runtime", "cudaLaunchKernel", 1010.0, 4.0, correlation=2), kernel("normal", 1012.0, 2.0, correlation=2),
        ],
    }  # fmt: skip


def vllm_result() -> dict[str, Any]:
    """A made-up result of ``vllm bench serve`` with 260 requests, one of which failed."""
    n = 260
    return {
        "date": "20261129-120000", "backend": "vllm", "model_id": "made-up", "tokenizer_id": "made-up", "num_prompts": n,
        "request_rate": "inf", "max_concurrency": 4, "duration": 20.0, "completed": n - 1, "total_input_tokens": 128 * n,
        "total_output_tokens": 3 * (n - 1), "input_lens": [128] * n, "output_lens": [3] * (n - 1) + [0],
        "ttfts": [0.05 + 0.001 * (i % 17) for i in range(n - 1)] + [0.0], "itls": [[0.02, 0.021]] * (n - 1) + [[]],
        "generated_texts": [""] * n, "errors": [""] * (n - 1) + ["Traceback: gone"],
    }  # fmt: skip


def shared(folders: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """What ``make`` makes in a folder, once for all processes of a test run. Who wants to change it takes a copy."""
    base = folders.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared-{name}"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            shutil.rmtree(folder / "checkout", ignore_errors=True)
            make(folder / "checkout")
            (folder / "made").touch()
    return folder / "checkout"


def small(folder: Path) -> Path:
    """A project of two runs with a comparison: what is built again and again."""
    _bare(folder)
    for number in (0, 1):
        for side in "ab":
            name = f"h200-decode-off-{side}{number}"
            shutil.copytree(ROOT / "captures" / name, folder / "captures" / name)
    (folder / "captures" / "comparisons").mkdir()
    (folder / "captures" / "comparisons" / "pairs.toml").write_text(
        'name = "pairs"\ntitle = "What differs?"\ndesign = "ABBA pairs"\n'
        '[a]\nlabel = "x"\nruns = ["h200-decode-off-a0", "h200-decode-off-a1"]\n'
        '[b]\nlabel = "y"\nruns = ["h200-decode-off-b0", "h200-decode-off-b1"]\n'
    )
    run(folder, "ingest", "captures")
    run(folder, "build")
    return folder


def _bare(folder: Path) -> None:
    """A project without a capture."""
    (folder / "captures").mkdir(parents=True)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    source = folder / "site_src"
    source.mkdir()
    for page in PAGES:
        shutil.copy(ROOT / "site_src" / page, source)
    shutil.copytree(ROOT / "site_src" / "assets", source / "assets")


def made(folder: Path, *, light: bool = False) -> Path:
    """The project, its store and its site; ``folder/site`` holds the HTML. ``light``: without the larger captures."""
    _bare(folder)
    shutil.copytree(
        ROOT / "captures", folder / "captures", ignore=_left_out if light else None, dirs_exist_ok=True
    )
    _notes(folder / "captures")
    looked_at.experiment(folder / "captures/probe-made-up")
    looked_at.twice(folder / "captures/aa-made-up")
    looked_at.run(folder / "captures/looked-at", "edge")
    for name, number in (("same-load-a", 1), ("same-load-b", 2)):
        _under_load(folder / "captures" / name, number)
    loose = folder / "loose"
    loose.mkdir()
    for name, events in traces().items():
        (loose / f"{name}.json.gz").write_bytes(
            gzip.compress(json.dumps({"schemaVersion": 1, "traceEvents": events}).encode())
        )
    (loose / "serving.json").write_text(json.dumps(vllm_result()))
    whole = json.dumps({"traceEvents": traces()["hostile-names"]})
    (loose / "cut-short.json").write_text(whole[: len(whole) // 2])
    run(folder, "ingest", "captures", "loose")
    run(folder, "exclude", "two-devices", "--because", "a second job ran")
    run(folder, "build")
    return folder


def _under_load(folder: Path, number: int) -> None:
    """A run at level off on a busy host whose load it states; those of other numbers were made under the same load."""
    lengths = [1_000_000 + 1000 * number + 100 * (n * 37 % 101) for n in range(400)]
    rows = steps(len(lengths))
    for row, end, length in zip(rows, itertools.accumulate(lengths), lengths, strict=True):
        row |= {"start_ns": end - length, "end_ns": end}
    load = f"[host.facts]\ncpus = 4\n[load.before]\nload_1_min = 1.{number}\n[load.before.device]\nother_processes = 0\n"
    top = f'engine = "made up"\nstarted = "2026-11-29T12:0{number}:00+00:00"'
    contract = f'[contract]\nworkload = "decode"\ncandidate = {number}\n'
    write_capture(folder, {"step": rows}, host="busy-made-up", top=top, more=load + contract)


def _left_out(folder: str, names: list[str]) -> set[str]:
    if Path(folder).name not in ("captures", "comparisons"):
        return set()
    return {name for name in names if name.startswith("runner-") or name in LARGE}


def _notes(captures: Path) -> None:
    claims.write_claim(
        captures, "withdrawn", claims.cited("run", RETRACTED_RUN), claims.cited("comparison", "h200-prefetch"),
        on="2026-11-29", scope="application", about=["time"],
        statement="Prefetching is faster, a clear win.",
        predicts="A regression of <b>nothing</b>, and better times.",
        body="What an engineer wrote: it was a **significant** improvement. <script>document.title = 'hit'</script>",
    )  # fmt: skip
    claims.withdraw(
        captures, "withdrawn", on="2026-11-30", named="withdrawn-1",
        reason="The outputs of the two sides differ, so they did not do the same work.", body="No more was learned.",
    )  # fmt: skip
    (captures / "inquiries").mkdir(exist_ok=True)
    (captures / "inquiries" / "stalls.md").write_text(
        "---\nid: stalls\ndate: 2026-11-30\ntitle: Why does a step stall?\nsymptom: Now and then a step is slower, the worst <b>by far</b>.\n"
        "uses: {claims: [withdrawn], retractions: [withdrawn-1]}\nrungs:\n"
        "- scope: application\n  question: Do both ways stall?\n  found: On demand it looks better.\n  runs: [h200-decode-off-a0]\n"
        '  comparisons: [h200-prefetch]\n  charts: ["comparisons/h200-prefetch#runs-p50", "runs/h200-decode-off-a0#step-series"]\n'
        "- scope: timeline\n  question: What runs beside it?\n  claims: [h200-copies-overlap-compute]\n"
        '  charts: ["runs/h200-kv-prefetch-device#step-series"]\n---\nWritten by **hand**, a clear win.\n'
    )
    (captures / "comparisons" / "mixed-levels.toml").write_text(
        'name = "mixed-levels"\ntitle = "Two levels side by side"\ndesign = "two runs"\n'
        '[a]\nlabel = "off"\nruns = ["h200-decode-off-a0"]\n[b]\nlabel = "device"\nruns = ["h200-kv-prefetch-device"]\n'
    )
    (captures / "comparisons" / "loads-unknown.toml").write_text(
        'name = "loads-unknown"\ntitle = "Two runs whose loads are not known to be the same"\ndesign = "two runs"\n'
        '[a]\nlabel = "prefetch"\nruns = ["h200-decode-off-a1"]\n[b]\nlabel = "on demand"\nruns = ["h200-decode-off-b1"]\n'
    )
    (captures / "comparisons" / "one-run-a-side.toml").write_text(
        'name = "one-run-a-side"\ntitle = "One run a side"\ndesign = "two runs"\n'
        '[a]\nlabel = "prefetch"\nruns = ["same-load-a"]\n[b]\nlabel = "on demand"\nruns = ["same-load-b"]\n'
    )
