"""A made-up capture of any size, shaped like one of the reference engine on a SYCL device at level edge.

Each step has the same plan: its runner phases, its layers' regions, its runtime calls one after the other, and the
kernels and copies that some of those calls enqueue, on a device with a clock of its own. Lengths vary a little from
step to step, from a seed. Tables are made column by column.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

Ids = npt.NDArray[np.int64]

STEP_NS = 10_000_000
IN_FLIGHT = 16
TOKENS_A_REQUEST = 64
LAYERS = 8
#: The two processes, in the order in which the capture declares them.
ENGINE, CLIENT, THREAD = 0, 1, "4711"
DEVICE, COMPUTE, COPIES = "0x5500000000d0", "0x5500000000c0", "0x5500000000c8"
#: The device's clock: how far behind the host's, and how many parts in a million it loses.
BEHIND_NS, LOSES_PPM = 5_000_000_000, 12
#: Which calls stand between two that enqueue, in the order in which libsycl makes them.
BETWEEN = (
    "urKernelSetArgPointer", "urKernelSetArgValue", "urEventGetInfo", "urUSMGetMemAllocInfo",
    "urKernelGetGroupInfo", "urEventRelease", "urDeviceGetInfo",
)  # fmt: skip
#: Start of each phase, region and the next, ns after the step's; the launch holds the calls.
PHASES = {
    "schedule": (10_000, 90_000), "prepare": (100_000, 300_000), "launch": (400_000, 7_000_000),
    "wait": (7_400_000, 1_900_000), "sample": (9_310_000, 200_000), "detokenise": (9_520_000, 100_000),
    "send": (9_630_000, 100_000),
}  # fmt: skip
REGIONS = ("kv fetch", "attention", "mlp", "kv write")


@dataclass(frozen=True)
class Shape:
    """How much of everything: calls and device records are those of one step."""

    steps: int
    calls: int = 1_000
    records: int = 120


def write(folder: Path, shape: Shape, seed: int = 1) -> Path:
    """Write the bundle ``folder``; its name is the run's. Returns the folder."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    starts = np.arange(shape.steps, dtype=np.int64) * (STEP_NS + 100_000) + 10**12
    calls = _calls(shape, starts, random)
    tables = {
        "step": _steps(starts),
        "level1_runner": _phases(starts, random),
        "level2_host": _regions(starts),
        "level4_edge": calls,
        "level3_device": _device(calls),
        "edge_wait": _waits(calls),
        "clock_sample": _readings(starts),
        **_requests(starts),
    }
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    (folder / "capture.toml").write_text(_about(folder.name, tables), encoding="utf-8")
    return folder


def _about(name: str, tables: dict[str, pa.Table]) -> str:
    files = "".join(f'[[file]]\npath = "{table}.parquet"\ntable = "{table}"\n' for table in tables)
    processes = "".join(
        f'[[process]]\npid = "{pid}"\nname = "{what}"\n' for pid, what in ((4711, "engine"), (4712, "client"))
    )
    return (
        f'format = 1\nname = "{name}"\nlevel = "edge"\nengine = "made up"\nwarm_up_steps = 10\ntiming_events = "on"\n'
        f'clock = "device clock, not converted"\n[host]\nname = "bench"\nrole = "dev"\n'
        f'[contract]\nworkload = "made up"\n{processes}{files}'
    )


def _same(value: Any, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [value]).cast(pa.string())


def _among(values: list[str], places: Ids) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(places), values).cast(pa.string())


def _steps(starts: Ids) -> pa.Table:
    count = len(starts)
    return pa.table(
        {
            "process": np.full(count, ENGINE), "name": [f"decode.step.{n}" for n in range(count)],
            "number": np.arange(count), "kind": _same("decode", count), "batch": np.full(count, IN_FLIGHT),
            "source": _same("probe", count), "start_ns": starts, "end_ns": starts + STEP_NS,
            "warm_up": (np.arange(count) < 10).astype(np.int64),
        }
    )  # fmt: skip


def _spans(
    starts: Ids, names: list[str], at: Ids, took: npt.NDArray[np.int64], more: dict[str, Any]
) -> pa.Table:
    """Spans of every step: ``at`` (k,) after its start, ``took`` (steps, k) long."""
    begun = (starts[:, None] + at).ravel()
    return pa.table(
        {
            "process": np.full(len(begun), ENGINE), "name": _among(names, np.tile(np.arange(len(at)), len(starts))),
            "thread": _same(THREAD, len(begun)), "start_ns": begun, "end_ns": begun + took.ravel(), **more,
        }
    )  # fmt: skip


def _phases(starts: Ids, random: np.random.Generator) -> pa.Table:
    at, took = (np.array(values, np.int64) for values in zip(*PHASES.values(), strict=True))
    varied = (took * random.uniform(0.9, 1.0, (len(starts), len(took)))).astype(np.int64)
    return _spans(starts, list(PHASES), at, varied, {})


def _regions(starts: Ids) -> pa.Table:
    """In each layer's window, regions one after the other."""
    first, length = PHASES["launch"]
    window = (length - 200_000) // LAYERS
    part = (window - 10_000) // len(REGIONS)
    rows = [
        row
        for layer in range(LAYERS)
        for row in (
            ("layer", first + 100_000 + layer * window, window - 2_000, "layer", layer),
            *(
                (name, first + 100_000 + layer * window + 3_000 + n * part, part - 500, "region", None)
                for n, name in enumerate(REGIONS)
            ),
        )
    ]
    names, at, took, categories, layers = (list(column) for column in zip(*rows, strict=True))
    more = {"category": categories * len(starts), "layer": pa.array(layers * len(starts), pa.int64())}
    return _spans(starts, names, np.array(at), np.tile(np.array(took), (len(starts), 1)), more)


def _calls(shape: Shape, starts: Ids, random: np.random.Generator) -> pa.Table:
    """The plan of one step's calls, repeated: every few of them one enqueues, and the last waits."""
    each = shape.calls
    enqueues = np.linspace(5, each - 3, shape.records).astype(np.int64)
    names = ["urEnqueueKernelLaunch", "urEnqueueUSMMemcpy", "urEventWait", *BETWEEN]
    kinds = ["launch", "copy", "wait", *("other" for _ in BETWEEN)]
    plan = 3 + np.arange(each) % len(BETWEEN)
    plan[enqueues] = 0
    plan[enqueues[::6]] = 1
    plan[-1] = 2
    first, length = PHASES["launch"]
    apart = (length - 100_000) // each
    at = first + 50_000 + np.arange(each) * apart
    took = (random.uniform(0.2, 0.9, (len(starts), each)) * apart).astype(np.int64)
    at[-1], took[:, -1] = PHASES["wait"][0] + 10_000, 1_600_000
    count = each * len(starts)
    places = np.tile(plan, len(starts))
    index = np.arange(count, dtype=np.uint64)
    works = places <= 1
    begun = (starts[:, None] + at).ravel()
    return pa.table(
        {
            "process": np.full(count, ENGINE), "name": _among(names, places), "kind": _among(kinds, places),
            "source": _same("shim", count), "thread": _same(THREAD, count),
            "start_ns": begun, "end_ns": begun + took.ravel(), "call_index": index,
            "queue": pa.array(np.where(places == 0, COMPUTE, COPIES), mask=~works),
            "event": pa.array(index + 2**46, mask=~works), "result": np.zeros(count, np.int64),
            "bytes": pa.array(np.full(count, 65_536), mask=places != 1),
            "object_name": pa.array(np.array(KERNELS)[index % len(KERNELS)], mask=places != 0),
            "blocking": (places == 2).astype(np.int64), "nested": np.zeros(count, np.int64),
            "open": np.zeros(count, np.int64), "event_asked": np.zeros(count, np.int64),
        }
    )  # fmt: skip


KERNELS = [f"_ZTSN5dpctl6tensor7kernels{n}gemm_batch_nm_vecm_krnIfffEE" for n in range(40)]


def _device(calls: pa.Table) -> pa.Table:
    """A record for each call that enqueues: no queue begins one before the call returned or the last one ended."""
    kinds = np.array(calls["kind"].to_pylist())
    chosen = np.flatnonzero((kinds == "launch") | (kinds == "copy"))
    copies = kinds[chosen] == "copy"
    ended = calls["end_ns"].to_numpy()[chosen]
    own = np.empty((2, len(chosen)), np.int64)
    for queue, took in ((~copies, 30_000), (copies, 120_000)):
        # The end of record n is the latest of (when record m could begin) + (records from m on) * took.
        so_far = np.arange(queue.sum()) * took
        begins = np.maximum.accumulate(ended[queue] + 15_000 - so_far) + so_far
        own[:, queue] = begins, begins + took - 2_000
    own = own - BEHIND_NS - own * LOSES_PPM // 1_000_000
    return pa.table(
        {
            "process": np.full(len(chosen), ENGINE), "start_ns": own[0], "end_ns": own[1], "clock": _same("device", len(chosen)),
            "name": pa.array(np.where(copies, "urEnqueueUSMMemcpy", np.array(KERNELS)[chosen % len(KERNELS)])),
            "kind": pa.array(np.where(copies, "copy", "kernel")), "device": _same(DEVICE, len(chosen)),
            "queue": pa.array(np.where(copies, COPIES, COMPUTE)), "call_index": chosen.astype(np.uint64),
            "bytes": pa.array(np.full(len(chosen), 65_536), mask=~copies),
        }
    )  # fmt: skip


def _waits(calls: pa.Table) -> pa.Table:
    """Each call that enqueues waits for the event of the one before it, and the last call of a step for the last."""
    kinds = np.array(calls["kind"].to_pylist())
    waiting = np.flatnonzero(kinds != "other")[1:]
    makers = np.flatnonzero((kinds == "launch") | (kinds == "copy"))
    made = makers[np.searchsorted(makers, waiting, side="left") - 1]
    return pa.table(
        {
            "process": np.full(len(waiting), ENGINE), "call_id": waiting.astype(np.uint64),
            "event": made.astype(np.uint64) + 2**46, "maker_id": made.astype(np.uint64),
        }
    )  # fmt: skip


def _readings(starts: Ids) -> pa.Table:
    """A reading of both clocks every 50 steps, and one at each end."""
    host = np.unique(np.append(starts[::50] - 50_000, [starts[-1] + STEP_NS + 50_000]))
    count = len(host)
    return pa.table(
        {
            "process": np.full(count, ENGINE), "device": _same(DEVICE, count), "host_before_ns": host - 5_000,
            "host_after_ns": host + 5_000, "device_ns": host - BEHIND_NS - host * LOSES_PPM // 1_000_000,
            "resolution_ns": np.full(count, 83), "source": _same("shim", count),
        }
    )  # fmt: skip


def _requests(starts: Ids) -> dict[str, pa.Table]:
    """As many in flight as there are slots: in each, one request after the other, a token a step."""
    tokens, requests, events = [], [], []
    for slot in range(IN_FLIGHT):
        # Slots begin their requests at different steps, as they would in continuous batching.
        bounds = [0, *range(1 + 4 * slot % TOKENS_A_REQUEST, len(starts), TOKENS_A_REQUEST), len(starts)]
        for nth, (first, after) in enumerate(pairwise(bounds)):
            name, steps = f"r{slot}-{nth}", np.arange(first, after)
            arrived, done = int(starts[first]) - 50_000, int(starts[after - 1]) + 9_900_000
            requests.append((name, arrived - 40_000, done + 30_000, len(steps)))
            events += [
                (name, "arrived", arrived, None, 512), (name, "admitted", arrived + 40_000, first, None),
                (name, "finished", done, after - 1, len(steps)),
            ]  # fmt: skip
            tokens.append(_lives(name, steps, arrived, starts[steps]))
    names, begun, ended, counts = (list(column) for column in zip(*requests, strict=True))
    of, event, at, step, held = (list(column) for column in zip(*events, strict=True))
    return {
        "token": pa.concat_tables(tokens),
        "request": pa.table(
            {
                "process": np.full(len(names), CLIENT), "name": names, "start_ns": begun, "end_ns": ended,
                "zero": _same("capture", len(names)), "prompt_tokens": [512] * len(names), "output_tokens": counts,
                "ttft_ns": [STEP_NS] * len(names), "ok": [1] * len(names),
            }
        ),
        "request_event": pa.table(
            {
                "process": np.full(len(of), ENGINE), "request": of, "event": event, "at_ns": at,
                "step": pa.array(step, pa.int64()), "tokens": pa.array(held, pa.int64()),
            }
        ),
    }  # fmt: skip


def _lives(name: str, steps: Ids, arrived: int, begun: Ids) -> pa.Table:
    """Every milestone but those of the device, which the store tells from the step's own records."""
    milestones = {
        "scheduled_ns": 50_000, "launched_ns": 400_000, "sampled_ns": 9_510_000, "copied_ns": 9_515_000,
        "detokenised_ns": 9_620_000, "sent_ns": 9_730_000, "client_ns": 9_900_000,
    }  # fmt: skip
    return pa.table(
        {
            "process": np.full(len(steps), ENGINE), "request": _same(name, len(steps)), "number": np.arange(len(steps)),
            "tokens": np.ones(len(steps), np.int64), "step": steps, "arrived_ns": np.full(len(steps), arrived),
            **{milestone: begun + after for milestone, after in milestones.items()},
        }
    )  # fmt: skip
