"""Steps and requests as the scheduler met them: batch sizes, what a request waits for, how many are in flight."""

from __future__ import annotations

from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.charts import bands, occupancy
from akvsite.estimate import Estimate, unknown, written
from akvsite.pages import _step_batches, _token_concurrency
from akvsite.pages._flight import Flight
from akvsite.pages._html import Cell, counted, estimated, link, number_of, table, text
from akvsite.pages._listed import rows_link
from akvsite.pages._reader import absent
from akvsite.pages._run import Run
from akvsite.pages.sections.requests import concurrency_of

PERCENTILES = (0.5, 0.95, 0.99)
#: Requests that a list names.
LISTED = 20


_WARMING = (
    "Warm-up is in every number from here on, which those of lives leave out: of {count} the first token is of a step that is declared "
    "as warm-up ({names})."
)


def write(run: Run, warming: frozenset[str] = frozenset()) -> str:
    """The part of a run's token page over all its steps and requests; empty where nothing of it is on record.

    ``warming``: names of the requests that are of warm-up. They are in the numbers, and it is said.
    """
    if not (run.listed["steps"] or run.listed["requests"]):
        return ""
    events = run.desk.ask("row_event", run_id=run.id, order="at_ns,event_id")
    flight = Flight.of(events)
    parts = [
        "\n## Steps by their batch\n",
        _step_batches.write(run, _page(run)),
        "\n## Requests in flight\n",
        _warming(warming),
        _over_time(run, flight) + _queueing(run, flight, warming) + _preempted(run, flight)
        if flight.changes
        else absent(run, "How long requests waited to be admitted, and how many were in flight,", "runner"),
        "\n## TTFT and TPOT by concurrency\n",
        _token_concurrency.write(run, flight, _page(run), warming),
    ]
    return "\n".join(part for part in parts if part)


def _warming(warming: frozenset[str]) -> str:
    if not warming:
        return ""
    names = sorted(warming, key=lambda name: (len(name), name))
    shown = ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
    return f"\n{text(_WARMING.format(count=number_of(len(names), 'request'), names=shown))}\n"


def _page(run: Run) -> str:
    return f"tokens/{run.name}"


def _over_time(run: Run, flight: Flight) -> str:
    first = flight.changes[0].at_ns
    times = np.array([change.at_ns - first for change in flight.changes], dtype=np.int64)
    lines = []
    for label, name in (("waiting", "waiting"), ("in the batch", "running")):
        values = np.array([getattr(change, name) for change in flight.changes], dtype=np.int64)
        changed = np.diff(values, prepend=-1) != 0
        lines.append(occupancy.Count(label, times[changed], values[changed]))
    notes = tuple(
        f"{number_of(count, 'request has', 'requests have')} {what}"
        for count, what in (
            (flight.unannounced, "no arrival on record: they count from their first event"),
            (flight.unfinished, "no end on record: they are in flight to the last event"),
        )
        if count
    )
    chart = occupancy.draw(
        "How many requests wait to be admitted, and how many are in the batch?",
        lines,
        run.footer(method="every event of the scheduler, as recorded", notes=notes),
        origin="the first event of the scheduler",
        last_ns=int(times[-1]),
        axis="requests",
    )
    return run.desk.figure(_page(run), "in-flight", chart, "row_event")


def _queueing(run: Run, flight: Flight, warming: frozenset[str]) -> str:
    waits = flight.waits
    if not waits:
        return f"\n{text('No request has both its arrival and its admission on record: how long they waited is not known.')}\n"
    concurrency = concurrency_of(run)
    values = np.array([wait.ns for wait in waits], dtype=np.int64)
    own = {wait.request for wait in waits}
    numbers = [(f"p{round(100 * p)}", _request(run, values, p, concurrency)) for p in PERCENTILES]
    chart = bands.draw(
        "How long do requests wait from their arrival until they are admitted?",
        [bands.Row(name, number) for name, number in numbers],
        run.footer(
            notes=(
                "one sample a request, in the order in which they were done",
                *_token_concurrency.of_warm_up(own & warming),
            )
        ),
        axis="arrived to admitted",
    )
    longest = sorted(waits, key=lambda wait: (-wait.ns, wait.request))[:5]
    lines = [
        [_request_link(run, wait.request), Cell(text(written(wait.ns, "ns")), wait.ns), counted(wait.in_flight), *(["yes" if wait.request in warming else "no"] if warming else [])]
        for wait in longest
    ]  # fmt: skip
    heads = ["request", "arrived to admitted", "in flight as it arrived, itself counted", *(["of warm-up"] if warming else [])]  # fmt: skip
    return (
        run.desk.figure(_page(run), "queueing", chart, "row_event")
        + table(["arrived to admitted", "value and band"], [[name, estimated(number)] for name, number in numbers])
        + table(
            heads, lines,
            caption="The longest waits, as recorded: no estimate",
        )
    )  # fmt: skip


def _request_link(run: Run, name: str) -> Cell:
    return Cell(link(name, rows_link(run.name, "events", "../", request=name)), name)


def _request(run: Run, values: np.ndarray[Any, Any], p: float, concurrency: float | None) -> Estimate:
    if not len(values):
        return unknown("no request has it", "ns")
    return run.marked(estimators.request_quantile(values, p, unit="ns", concurrency=concurrency))


def _preempted(run: Run, flight: Flight) -> str:
    """How often requests lost their place in the batch, and which."""
    found = flight.preempted
    requests = dict.fromkeys(each.request for each in found)
    said = (
        f"Preempted: {number_of(len(found), 'time')}, {len(requests):,} of {number_of(flight.requests, 'request')} (counted)."
        if found
        else f"No preemption is on record (0 events of {number_of(flight.requests, 'request')}, counted)."
    )
    if not found:
        return f"\n{text(said)}\n"
    lines = [
        [
            _request_link(run, each.request),
            Cell(text(written(each.at_ns - flight.changes[0].at_ns, "ns")), each.at_ns),
            Cell("not resumed on record") if each.back_ns is None else Cell(text(written(each.back_ns - each.at_ns, "ns")), each.back_ns - each.at_ns),
        ]
        for each in found[:LISTED]
    ]  # fmt: skip
    left = (
        f"; {number_of(len(found) - LISTED, 'more is', 'more are')} in the rows"
        if len(found) > LISTED
        else ""
    )
    return f"\n{text(said)}\n" + table(
        ["request", "after the first event", "until it was resumed"],
        lines,
        caption=f"Preemptions, as recorded: no estimate{left}",
    )
