"""The command line of the reference engine. By ``argparse``: it runs where little else is installed."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from akvsite.errors import BadInput, visible
from akvsite.runner import backends
from akvsite.runner.config import SHAPES, Cache, Levers, Shape
from akvsite.runner.workload import SCHEDULES, Workload

COMPILE = ("none", "default", "reduce-overhead")
DEVICE_RECORDS = ("none", "profiler", "events")

#: Beyond these a number is a slip of the hand: weights are a hash of the seed in 64 bits, and memory has its end.
_MOST, _MOST_LAYERS, _SEEDS = 10**9, 10_000, 1 << 40

_ABOUT = """\
The reference decode engine: a Llama with random weights, its KV cache in pages on the host, and requests batched
continuously. It prints counts and the hash of all tokens, and no speed: what it does in time is for a capture.

  python -m akvsite.runner --model tiny --requests 32
  akvsite capture --level host --name tiny-host -- python -m akvsite.runner --model tiny --requests 32
"""


@dataclass(frozen=True)
class Options:
    """One run, checked."""

    backend: str
    device: str
    model: str
    shape: Shape
    cache: Cache
    levers: Levers
    work: Workload
    client: bool
    port: int
    warm_up_steps: int
    device_records: str
    profile_steps: tuple[int, int] | None
    profile_file: bool
    memory_snapshot: bool
    result: Path | None
    json: bool


class _Parser(argparse.ArgumentParser):
    """Refuses in one line; what there is stands in ``--help``."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"akvsite.runner: {visible(message)}\n")


def parser() -> argparse.ArgumentParser:
    made = _Parser(
        allow_abbrev=False,  # a capture states its workload by these words
        prog="python -m akvsite.runner",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    switch = argparse.BooleanOptionalAction
    where = made.add_argument_group("where it computes")
    where.add_argument("--backend", default="torch", help=f"one of {', '.join(backends.names())} (torch)")
    where.add_argument(
        "--device", default="cpu", help="a device of the backend, such as cpu, cuda, xpu or cuda:1 (cpu)"
    )
    model = made.add_argument_group("the model")
    model.add_argument(
        "--model", default="tiny", choices=list(SHAPES), help="the shape of its weights (tiny)"
    )
    model.add_argument(
        "--layers", type=_layers, metavar="N", help="so many layers instead of the shape's own"
    )
    model.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"], help="(float32)")
    model.add_argument("--seed", type=_seed, default=0, help="of weights and requests (0)")
    work = made.add_argument_group("the workload")
    work.add_argument("--requests", type=_count, default=32, metavar="N", help="in all (32)")
    work.add_argument("--concurrency", type=_count, default=4, metavar="N", help="in flight at once (4)")
    work.add_argument(
        "--prompt-tokens", type=_count, default=32, metavar="N",
        help="of a request: drawn from half as many to half as many again (32)",
    )  # fmt: skip
    work.add_argument("--output-tokens", type=_count, default=32, metavar="N", help="as well (32)")
    work.add_argument("--exact", action="store_true", help="every request has just these lengths")
    work.add_argument(
        "--schedule", default=SCHEDULES[0], choices=SCHEDULES,
        help="closed: a request follows when one is done; fixed: each arrives before a step of its own (closed)",
    )  # fmt: skip
    work.add_argument(
        "--client",
        action=switch,
        default=True,
        help="a client process over loopback; without one, a fixed schedule",
    )
    work.add_argument("--port", type=int, default=0, help="for the client (0: the system chooses)")
    batch = made.add_argument_group("batch and cache")
    batch.add_argument(
        "--max-batch", type=_count, default=8, metavar="N", help="requests in a step at most (8)"
    )
    batch.add_argument("--block-tokens", type=_count, default=16, metavar="N", help="tokens of a block (16)")
    batch.add_argument(
        "--blocks", type=_count, metavar="N", help="of the pool on the host (enough for a full batch)"
    )
    levers = made.add_argument_group("levers")
    levers.add_argument(
        "--prefetch",
        action=switch,
        default=True,
        help="copy the blocks of a layer while the one before computes",
    )
    levers.add_argument("--compile", default="none", choices=COMPILE, help="torch.compile, by mode (none)")
    levers.add_argument(
        "--graphs", action=switch, default=False, help="record each layer's work once and replay it"
    )
    levers.add_argument("--int8", action="store_true", help="weights in int8 with one scale a row")
    levers.add_argument("--ipex", action=switch, default=False, help="IPEX's operators")
    seen = made.add_argument_group("what is kept")
    seen.add_argument(
        "--warm-up-steps", type=_number, default=3, metavar="N",
        help="made-up steps before the first request, which are no steps of the run (3)",
    )  # fmt: skip
    seen.add_argument(
        "--device-records",
        default="none",
        choices=DEVICE_RECORDS,
        help="by torch's profiler or timing events (none)",
    )
    seen.add_argument("--profile-steps", metavar="A:B", help="steps that torch's profiler sees, B included")
    seen.add_argument(
        "--profile-file",
        action=switch,
        default=True,
        help="write what the profiler saw; without, it works all the same",
    )
    seen.add_argument("--memory-snapshot", action="store_true", help="of torch's allocator, into $AKV_FILES")
    seen.add_argument("--result", type=Path, metavar="PATH", help="steps and counts as JSON")
    seen.add_argument("--json", action="store_true", help="print counts as JSON")
    return made


def parsed(arguments: Sequence[str] | None = None) -> Options:
    """Raises ``BadInput`` where options do not go together; what ``argparse`` refuses ends the program with 2."""
    given = parser().parse_args(arguments)
    shape = SHAPES[given.model]
    if given.layers:
        shape = dataclasses.replace(shape, layers=given.layers)
    schedule = given.schedule if given.client else "fixed"
    work = Workload(
        given.requests, given.concurrency, given.prompt_tokens, given.output_tokens, shape.vocabulary, given.exact,
        given.seed, schedule,
    )  # fmt: skip
    cache = Cache(0, given.block_tokens, given.max_batch, work.max_context)
    cache = dataclasses.replace(cache, blocks=given.blocks or cache.max_batch * cache.max_blocks)
    if cache.blocks < cache.max_blocks:
        raise BadInput(
            "--blocks",
            f"is {cache.blocks}, and one request may need {cache.max_blocks} of {cache.block_tokens} tokens",
        )
    levers = Levers(
        given.dtype, given.prefetch, given.compile, given.graphs, given.int8, given.ipex,
        timing_events=given.device_records == "events",
    )  # fmt: skip
    return Options(
        given.backend, given.device, given.model, shape, cache, levers, work, given.client, given.port,
        given.warm_up_steps, given.device_records, _steps(given.profile_steps, given.device_records),
        given.profile_file, given.memory_snapshot, given.result, given.json,
    )  # fmt: skip


def _steps(text: str | None, records: str) -> tuple[int, int] | None:
    if (text is None) == (records == "profiler"):
        raise BadInput("--profile-steps", "and --device-records profiler go together")
    if text is None:
        return None
    first, _, last = text.partition(":")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise BadInput(
            "--profile-steps", f"is {text!r}, and not A:B with two numbers of steps, the first not above B"
        )
    return int(first), int(last)


def _number(text: str) -> int:
    return _within(text, 0, _MOST)


def _count(text: str) -> int:
    return _within(text, 1, _MOST)


def _layers(text: str) -> int:
    return _within(text, 1, _MOST_LAYERS)


def _seed(text: str) -> int:
    return _within(text, -_SEEDS, _SEEDS)


def _within(text: str, least: int, most: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text} is not from {least} to {most}")
    return number
