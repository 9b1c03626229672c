"""The work of the overlap experiment while something looks on: rounds in which copies and kernels run together.

    akvsite capture --level device ... -- python3 overlap_trace.py cuda TIMING ROUNDS PIECES COPY_BYTES KERNELS SIZE
    akvsite capture --level edge --timing on ... -- python3 overlap_trace.py cpu TIMING ROUNDS PIECES COPY_BYTES KERNELS SIZE

With the sizes of an experiment; each round is a step of the probe. A GPU's work is looked at by torch's profiler, which
leaves its trace in $AKV_FILES; that of a SYCL device by the recorder at level edge.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "akvsite/experiments")]

from akvsite import record  # noqa: E402 (found by the line above)

WARM_UP = 5


def main(
    device: str, timing: str, rounds: int, pieces: int, copy_bytes: int, kernels: int, size: int
) -> None:
    gpu = device in ("cuda", "xpu")
    work = import_module("_overlap_torch" if gpu else "_overlap_sycl").Work(
        device, timing == "on", pieces, copy_bytes, kernels, size
    )
    for _ in range(WARM_UP if gpu else 1):
        work.submit(True, True)
        work.wait()
    with looking(device) if gpu else nullcontext() as profiler:
        for number in range(rounds):
            with record.step(number), named(number) if gpu else nullcontext():
                work.submit(True, True)
                work.wait()
    work.output_sha256()
    if gpu:
        leave(profiler, Path(os.environ["AKV_FILES"]) / "overlap.pt.trace.json.gz")


def leave(profiler, path: Path) -> None:
    """The trace, without the name of the file that torch wrote it to first."""
    profiler.export_chrome_trace(str(path))
    text = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(re.sub(rb',\s*"traceName": "[^"]*"', b"", text), mtime=0))


def looking(device: str):
    from torch.profiler import ProfilerActivity, profile

    return profile(activities=[ProfilerActivity.CPU, getattr(ProfilerActivity, device.upper())])


def named(number: int):
    from torch.profiler import record_function

    return record_function(f"decode.step.{number}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(word) for word in sys.argv[3:8]))
