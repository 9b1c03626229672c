"""The arms of the overlap experiment and their order, for the programs that run them beside a device.

A cycle is every arm once. Six cycles have every order of the three that count, so that a drift weighs on all alike.
Nothing is imported but what every python has.
"""

import hashlib
import itertools
import json
import os
import sys
import time

#: The three that an overlap is told from, and one in which nothing is submitted: what every arm costs by itself.
ARMS = ("copy", "compute", "both")
EMPTY = "empty"
WARM_UP = 12
#: Exit code: the device could not be made, which happens on a busy host; try again.
TRY_AGAIN = 75
_MOST_KERNELS = 1_000


def measure(submit, wait, cycles: int) -> list[list[object]]:  # type: ignore[no-untyped-def]
    """Rows [arm, number, ns] over so many cycles: from the first call until the device is done, and until all is submitted.

    ``submit(copy, compute)`` submits the pieces of either or both, in turn; ``wait()`` returns when all is done.
    """
    orders = list(itertools.permutations(ARMS))
    trials: list[list[object]] = []
    for cycle in range(-WARM_UP, cycles):
        for arm in (*orders[cycle % len(orders)], EMPTY):
            wait()
            began = time.monotonic_ns()
            submit(arm in ("copy", "both"), arm in ("compute", "both"))
            submitted = time.monotonic_ns()
            wait()
            ended = time.monotonic_ns()
            if cycle >= 0:
                trials.append([arm, cycle, ended - began])
                trials.append([f"{arm}, submitted", cycle, submitted - began])
    return trials


def kernels_for(submit, wait, most: int) -> float:  # type: ignore[no-untyped-def]
    """How many kernels take as long as one piece's copy: both alone, the medians of some repeats."""

    def alone(copy: bool) -> float:
        taken = []
        for _ in range(15):
            wait()
            began = time.monotonic_ns()
            submit(copy, not copy)
            wait()
            taken.append(time.monotonic_ns() - began)
        return sorted(taken[3:])[6]

    return max(1.0, min(float(most), alone(True) / alone(False)))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def carry_out(make, about) -> None:  # type: ignore[no-untyped-def]
    """What a program does with its words: DEVICE TIMING CYCLES PIECES COPY_BYTES KERNELS SIZE RESULT.

    ``make(device, timing, pieces, copy_bytes, kernels, size)`` is its work, ``about(work)`` facts of it. KERNELS 0: says
    how many of them take as long as the copy of a piece. Writes one line of JSON to RESULT.
    """
    device, timing, *sizes, result = sys.argv[1:]
    count, pieces, copy_bytes, kernels, size = map(int, sizes)
    work = make(device, timing == "on", pieces, copy_bytes, kernels or 1, size)
    made = {"pid": os.getpid(), "facts": {**about(work), "timing": timing}}
    if kernels:
        made["trials"] = measure(work.submit, work.wait, count)
        made["output_sha256"] = work.output_sha256()
    else:
        made["kernels"] = kernels_for(work.submit, work.wait, _MOST_KERNELS)
    with open(result, "w", encoding="utf-8") as file:  # noqa: PTH123 (what runs beside the device loads little)
        json.dump(made, file)
