"""One small process as our recorder and the vendor's tracer saw it, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from akvlogs import NESTED, AkvLog

EPOCH = 1_700_000_000_000_000_000
LAUNCH, DRIVER, COPY = range(3)
NAMES = ["__cudaLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync"]


def shim(path: Path, **header: Any) -> Path:
    """Two launches, the second with a driver call inside, and a copy that the vendor's tracer does not see."""
    clocks = {"start": (1_000, EPOCH + 1_050, 1_100, 0), "close": (9_000, EPOCH + 9_060, 9_100, 0), "pid": 41}
    log = AkvLog(NAMES, header=clocks | header)
    log.call(LAUNCH, enter=5_000, exit=5_400, thread=7)
    log.call(LAUNCH, enter=6_000, exit=6_900, thread=7)
    log.call(DRIVER, enter=6_100, exit=6_800, thread=7, flags=NESTED)
    log.call(COPY, enter=7_000, exit=7_100, thread=7)
    log.call(LAUNCH, enter=8_500, exit=8_600, thread=7)
    return log.write(path)


def vendor(path: Path, pid: int = 41) -> Path:
    """The same launches as Kineto writes them: microseconds since a base, and the device records of both."""

    def event(cat: str, name: str, at_ns: int, length_ns: int, **args: Any) -> dict[str, Any]:
        return {
            "ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 7, "ts": at_ns / 1000, "dur": length_ns / 1000,
            "args": args,
        }  # fmt: skip

    events = [
        event("user_annotation", "decode.step.0", 4_000, 4_200),
        event("cuda_runtime", "cudaLaunchKernel", 5_020, 300, correlation=1),
        event("cuda_runtime", "cudaLaunchKernel", 6_020, 800, correlation=2),
        event("cuda_runtime", "cudaFree", 8_000, 100, correlation=3),
        event("kernel", "gemm", 5_500, 100, correlation=1, device=0, stream=7),
        event("kernel", "gemm", 7_000, 100, correlation=2, device=0, stream=7),
    ]
    path.write_text(
        json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": EPOCH, "traceEvents": events}),
        encoding="utf-8",
    )
    return path


def both(folder: Path) -> tuple[Path, Path]:
    """The file of each, with launches that agree."""
    return shim(folder / "a.akvlog"), vendor(folder / "b.json")
