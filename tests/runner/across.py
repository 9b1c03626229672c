"""One workload on any backend, for comparisons between them; a program too, since each has a Python of its own.

    python across.py '[{"of": "tokens", "backend": "sycl"}, {"of": "logits", "backend": "torch", "dtype": "bfloat16"}]'

prints a line of JSON for each: ``sha256``, ``preempted`` and ``facts`` of the tokens of ``WORK``, or ``logits`` (steps, rows,
vocabulary) on tokens that are given and not chosen, so that a small difference stays one; and whether IPEX is imported
by then. ``level`` looks on meanwhile and leaves its files in ``folder``. With ``late``, blocks on SYCL's copy queue come
late: ``ordered`` or ``unordered``, see ``sycl_orders``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from engines import TINY, WORK, cache

from akvsite import record
from akvsite.runner import backends, run
from akvsite.runner.backends import Backend, Batch, Row
from akvsite.runner.config import Cache, Levers
from akvsite.runner.engine import Engine, launch
from akvsite.runner.workload import drawn, tokens_sha256

ROOT = Path(__file__).resolve().parents[2]
SYCL = ROOT / ".venv/sycl-2025.3/bin/python"
PROMPT, FORCED, ROWS = 6, 12, 3
_WANTED = {
    "of": "tokens", "level": "off", "folder": None, "blocks": None, "backend": "torch", "theta": TINY.rope_theta,
    "late": None,
}  # fmt: skip


def made(python: str | Path, *wanted: dict[str, Any], **variables: str) -> list[dict[str, Any]]:
    """What this program prints in another Python, a dictionary for each of ``wanted``."""
    plain = {n: v for n, v in os.environ.items() if not n.startswith(("AKV", "LD_", "OCL_"))}
    done = subprocess.run(
        [python, __file__, json.dumps(wanted)],
        env={**plain, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(wanted)
    return found


def forced(backend: Backend, sizes: Cache, prefetch: bool = True) -> list[list[list[float]]]:
    """Logits (steps, rows, vocabulary) after a prompt of ``PROMPT`` tokens each, and while ``FORCED`` more are given."""
    asked = drawn(WORK)
    rows = [[*a.prompt, *b.prompt, *c.prompt] for a, b, c in zip(asked, asked[1:], asked[2:], strict=False)]
    rows = rows[:ROWS]

    def blocks(number: int) -> tuple[int, ...]:
        # Of the requests by turns, so that neighbours in a table are none in the pool.
        return tuple(number + ROWS * place for place in range(sizes.max_blocks))

    def step(batch: Batch) -> list[list[float]]:
        backend.begin(batch)
        launch(backend, TINY.layers, prefetch)
        backend.wait()
        return backend.logits()

    first = [
        step(Batch("prefill", (Row(tuple(row[:PROMPT]), 0, blocks(n)),)))[0] for n, row in enumerate(rows)
    ]
    rest = [
        step(Batch("decode", tuple(Row((row[at],), at, blocks(n)) for n, row in enumerate(rows))))
        for at in range(PROMPT, PROMPT + FORCED)
    ]
    return [first, *rest]


def rms(numbers: Any) -> float:
    """Root of the mean square of an array or nested lists."""
    import numpy as np

    return float(np.sqrt(np.square(np.asarray(numbers)).mean()))


def tolerance(bits: int, terms: int = 1) -> float:
    """How far logits of two computations may lie apart, as a root mean square, in units of the logits' own.

    A number rounded to ``bits`` of significand is off by at most 2**-bits of itself, and by 0.43 of that as a root mean
    square (errors are uniform, and the logarithms of mantissas too). On its way to a logit of the tiny model a value is
    rounded about 46 times: 14 results and 7 matrices in each of 2 layers, and the embedding, the last norm and the head.
    Errors that know nothing of each other add by squares, as do ``terms`` of them inside each sum. What one layer is off
    by, the next multiplies: twice is allowed for that. Seen in bfloat16 against float32: 1.1 times.
    """
    return float(2 * (46 * terms) ** 0.5 * 0.43 * 2.0**-bits)


BFLOAT16 = tolerance(8)  # sums are kept in float32
FLOAT32 = tolerance(
    24, terms=128
)  # sums of 64 or 128 terms, rounded at each, by every library in its own order


def one(
    of: str,
    backend: str,
    level: str = "off",
    folder: str | None = None,
    blocks: int | None = None,
    theta: float = TINY.rope_theta,
    late: str | None = None,
    **levers: Any,
) -> dict[str, Any]:
    sizes = cache(blocks=blocks)
    asked = Levers(**levers)
    computes = backends.make(backend, "cpu", replace(TINY, rope_theta=theta), sizes, asked, 0)
    if late is not None:
        import sycl_orders

        sycl_orders.hold_fetches(computes, ordered=late == "ordered")
    imported = "intel_extension_for_pytorch" in sys.modules
    if of == "logits":
        return {"logits": forced(computes, sizes, asked.prefetch), "ipex imported": imported}
    record.set_level(level, folder)
    engine = Engine(computes, TINY.layers, sizes, run.Sink(), record, prefetch=asked.prefetch)
    run.alone(engine, WORK)
    record.set_level("off")
    computes.close()
    return {
        "sha256": tokens_sha256(engine.outcome.tokens),
        "preempted": engine.scheduler.preemptions,
        "finished": engine.outcome.finished,
        "facts": dict(computes.facts),
    }


if __name__ == "__main__":
    for wanted in json.loads(sys.argv[1]):
        print(json.dumps(one(**{**_WANTED, **wanted})), flush=True)
