"""What a region of the probe costs, beside an empty `with` and torch.profiler.record_function, in one run.

    python benchmarks/probe.py [--rounds N] [--iterations N] [--without-torch]

One process and one thread. In each round every arm runs once, in an order drawn anew: a loop around
`with ...: pass`. Processor time of the thread, since the host may do something else; that of the empty loop of the same
round is taken off. Ratios are made within a round, so that what
else the host does falls on both sides; of a ratio or a time stands the median over the rounds, with the smallest and the
largest. "Empty with" enters an object that is there already, of a class whose two methods do nothing: the least that a
`with` written in Python can cost.

Goals: a region at level off costs at most 1.2 times an empty with, one at level host less than a tenth of
record_function. Both probes are measured: the extension that `make shim` builds, and plain Python.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from akvsite.record import _engine, _python_probe

LEVELS = {"off": 0, "runner": 1, "host": 2}
EMPTY = "empty with"

Loop = Callable[[int], None]
Around = Callable[[], contextlib.AbstractContextManager[Any]]


class Empty:
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        pass


def nothing(n: int) -> None:
    for _ in range(n):
        pass


def entering(ready: Any) -> Loop:
    """A loop that enters an object which is there already."""

    def loop(n: int) -> None:
        for _ in range(n):
            with ready:
                pass

    return loop


def making(make: Callable[[], Any]) -> Loop:
    """A loop that makes an object and enters it."""

    def loop(n: int) -> None:
        for _ in range(n):
            with make():
                pass

    return loop


def naming(make: Callable[[str], Any]) -> Loop:
    """A loop that makes an object with a name and enters it, as regions are."""

    def loop(n: int) -> None:
        for _ in range(n):
            with make("qkv"):
                pass

    return loop


def stepping(make: Callable[..., Any]) -> Loop:
    def loop(n: int) -> None:
        for number in range(n):
            with make(number, batch=8):
                pass

    return loop


def arms(folder: str, with_torch: bool) -> dict[str, tuple[Loop, Around]]:
    """Each arm's loop, and what stands around it outside of the time taken."""
    free: Around = contextlib.nullcontext
    made: dict[str, tuple[Loop, Around]] = {
        "loop": (nothing, free),
        EMPTY: (entering(Empty()), free),
        "empty with, made each time": (making(Empty), free),
        "contextlib.nullcontext, there already": (entering(contextlib.nullcontext()), free),
        "contextlib.nullcontext, made each time": (making(contextlib.nullcontext), free),
    }
    for engine in (_engine._native(), _python_probe):
        if engine is None:
            print("The extension is not built: `make shim`. Plain Python alone is measured.")
            continue
        for level in LEVELS:
            made[f"{engine.NAME}: region at {level}"] = naming(engine.region), at(engine, level, folder)
        made[f"{engine.NAME}: step at runner"] = stepping(engine.step), at(engine, "runner", folder)
    if with_torch:
        import torch

        torch.set_num_threads(1)
        function = naming(torch.profiler.record_function)
        made["record_function, profiler off"] = function, free
        made["record_function, profiler on"] = (
            function,
            lambda: torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]),
        )
    return made


def at(engine: Any, level: str, folder: str) -> Around:
    @contextlib.contextmanager
    def around() -> Iterator[None]:
        engine.configure(LEVELS[level], folder)
        yield
        engine.configure(0, folder)

    return around


def measure(all_arms: dict[str, tuple[Loop, Around]], rounds: int, iterations: int) -> dict[str, list[float]]:
    """ns of one iteration by arm, a value for each round, without the loop itself."""
    times: dict[str, list[float]] = {name: [] for name in all_arms}
    order = list(all_arms)
    for round in range(-1, rounds):
        random.shuffle(order)
        for name in order:
            loop, around = all_arms[name]
            # A profiler keeps what it recorded in memory.
            n = iterations // 4 if "profiler on" in name else iterations
            with around():
                loop(n // 20)
                gc.collect()
                gc.disable()
                began = time.thread_time_ns()
                loop(n)
                took = time.thread_time_ns() - began
                gc.enable()
            if round >= 0:  # the first is warm-up
                times[name].append(took / n)
    loops = times.pop("loop")
    return {name: [a - b for a, b in zip(v, loops, strict=True)] for name, v in times.items()}


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):10.3g} [{min(values):.3g}, {max(values):.3g}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--iterations", type=int, default=20_000)
    parser.add_argument("--without-torch", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = measure(arms(folder, not given.without_torch), given.rounds, given.iterations)
    print(
        f"{given.rounds} rounds of {given.iterations:,} iterations; median [least, most]; the loop's own time taken off"
    )
    print(f"{'':44}{'ns':>10}{'':24}over an empty with")
    for name, values in times.items():
        ratios = [a / b for a, b in zip(values, times[EMPTY], strict=True)]
        print(f"  {name:<42}{spread(values):<34}{spread(ratios)}")
    for off_or_on in ("off", "on"):
        against = times.get(f"record_function, profiler {off_or_on}")
        if against:
            print(f"Over record_function with the profiler {off_or_on}")
            for name in (n for n in times if ": " in n):
                print(f"  {name:<42}{spread([a / b for a, b in zip(times[name], against, strict=True)])}")


if __name__ == "__main__":
    main()
