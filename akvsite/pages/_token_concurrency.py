"""TTFT and TPOT by how many requests were in flight: inside a run, and beside runs that differ in nothing else."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.charts import bands
from akvsite.estimate import Estimate, unknown
from akvsite.pages import Record
from akvsite.pages._flight import Flight
from akvsite.pages._html import Cell, counted, estimated, number_of, table, text
from akvsite.pages._reader import absent
from akvsite.pages._run import USES, Run
from akvsite.pages._stamps import run_cell, stamped_runs
from akvsite.pages._step_batches import spans
from akvsite.pages.sections.requests import concurrency_of, in_flight

NAMES = (("TTFT", "ttft_ns"), ("TPOT", "tpot_ns"))
PERCENTILES = (0.5, 0.95)
#: What may differ between runs of one work at several concurrencies, after the last dot of a contract's key.
MAY_DIFFER = ("concurrency", "max_concurrency", "requests", "output_hash")

Columns = dict[str, np.ndarray[Any, Any]]


def of_warm_up(names: Collection[str]) -> tuple[str, ...]:
    """For the printed line: how many requests of a number are of warm-up."""
    return (f"{number_of(len(names), 'request')} of warm-up among them",) if names else ()


def write(run: Run, flight: Flight, page: str, warming: frozenset[str] = frozenset()) -> str:
    """Groups of this run's requests, and the runs of the same work at other concurrencies; never pooled.

    ``warming``: names of the requests that are of warm-up.
    """
    columns = run.desk.columns("request_time", run_id=run.id, order="end_ns,request_id")
    if not len(columns["name"]):
        return absent(run, "How long requests waited for their first and each further token", "runner")
    whole = f'The numbers of all its requests together are on <a href="../runs/{text(run.name)}.html#requests">the page of the run</a>.'
    return f"\n{whole}\n{_inside(run, columns, flight, page, warming)}{_beside(run)}"


def _inside(run: Run, columns: Columns, flight: Flight, page: str, warming: frozenset[str]) -> str:
    names = columns["name"].tolist()
    done = columns["ok"] == 1
    at = np.array([flight.on_arrival.get(str(name), 0) for name in names], dtype=np.int64)
    found = spans(np.unique(at[done & (at > 0)]).tolist())
    if not found:
        return absent(run, "How many other requests were in flight as each arrived", "runner")
    concurrency = concurrency_of(run)
    rows, lines = [], []
    for least, most in found:
        own = done & (at >= least) & (at <= most)
        size = f"{least}" if least == most else f"{least} to {most}"
        numbers = [
            (name, p, _number(columns[key][own], p, concurrency)) for p in PERCENTILES for name, key in NAMES
        ]
        rows += [
            bands.Row(f"{name}, {size} in flight", run.marked(number), f"p{round(100 * p)}")
            for name, p, number in numbers
        ]
        lines.append([Cell(text(size), least), counted(int(np.count_nonzero(own))), *(estimated(run.marked(n)) for _, _, n in numbers)])  # fmt: skip
    rows.sort(key=lambda row: row.label.partition(",")[0] != "TTFT")
    notes: tuple[str, ...] = (
        "in flight as the request arrived, itself counted, each until the scheduler's own end of it",
        "one sample a request that completed, in the order in which they were done",
    )
    counted_in = {str(name) for name, has in zip(names, done & (at > 0), strict=True) if has}
    notes += of_warm_up(counted_in & warming)
    left = int(np.count_nonzero(done & (at == 0)))
    if left:
        notes += (f"{number_of(left, 'request has', 'requests have')} no arrival on record: in no number",)
    chart = bands.draw(
        "How long do requests wait for their first and each further token, by how many were in flight?",
        rows, run.footer(notes=notes), axis="time",
    )  # fmt: skip
    # Whose arrival is not on record no column tells.
    chosen = {} if left else {"ok": 1}
    return run.desk.figure(page, "in-flight-waits", chart, "request_time", **chosen) + table(
        ["in flight as it arrived", "requests", *_heads()], lines, caption=f"By requests in flight; {run.use}"
    )


def _heads() -> list[str]:
    return [f"{name} p{round(100 * p)}" for p in PERCENTILES for name, _ in NAMES]


def _number(values: np.ndarray[Any, Any], p: float, concurrency: float | None) -> Estimate:
    known = np.array([v for v in values.tolist() if v is not None and v == v], dtype=np.int64)
    if not len(known):
        return unknown("no completed request has it", "ns")
    return estimators.request_quantile(known, p, unit="ns", concurrency=concurrency)


def _beside(run: Run) -> str:
    """Runs of the same work, host and level that declare another concurrency, each with its own numbers."""
    desk = run.desk
    own = _work(run, run.id)
    if not own or concurrency_of(run) is None:
        return ""
    alike = [
        (declared, other)
        for other in desk.ask("run_list", order="name")
        if other["requests"] and other["use"] != "nothing" and all(other[key] == run.listed[key] for key in ("host", "level", "role", "engine"))
        for declared in (in_flight(desk, other["run_id"]),)
        if declared is not None and _work(run, other["run_id"]) == own
    ]  # fmt: skip
    if len({declared for declared, _ in alike}) < 2:
        return ""
    stamped = stamped_runs(desk)
    lines = [
        [Cell(text(f"{declared:g} (declared)"), declared), run_cell(other["name"], stamped, "../", folder="tokens"), *_numbers(run, other, declared)]
        for declared, other in sorted(alike, key=lambda one: (one[0], one[1]["name"]))
    ]  # fmt: skip
    words = (
        f"Runs on {run.listed['host']} at level {run.level} whose contracts differ in nothing but the concurrency, the number of requests and the outputs' hash. "
        "Each number is of one run and its band speaks of that run alone; what lies between two runs is not known from this."
    )
    return f"\n### Runs at several concurrencies\n\n{text(words)}\n" + table(
        ["concurrency", "run", "requests that completed", *_heads()],
        lines,
        caption=f"One line a run; {run.use}",
    )


def _numbers(run: Run, other: Record, concurrency: float) -> list[Cell]:
    columns = run.desk.columns("request_time", run_id=other["run_id"], order="end_ns,request_id")
    done = columns["ok"] == 1
    numbers = [_number(columns[key][done], p, concurrency) for p in PERCENTILES for _, key in NAMES]
    use = USES[other["use"]]
    return [
        counted(int(np.count_nonzero(done))),
        *(estimated(replace(number, use=use)) for number in numbers),
    ]


def _work(run: Run, run_id: int) -> dict[str, str]:
    """What the contract says of the work, but for what may differ."""
    rows = run.desk.ask("fact_list", run_id=run_id, part="contract")
    return {r["key"]: r["value"] for r in rows if r["key"].rpartition(".")[2] not in MAY_DIFFER}
