"""What the runtime calls cost on the host, and what is associated with them on the device."""

from __future__ import annotations

import numpy as np

from akvsite import estimators
from akvsite.charts import bands
from akvsite.estimate import Estimate, written
from akvsite.pages import Record
from akvsite.pages._html import Cell, code, counted, estimated, linked, number_of, table, text
from akvsite.pages._listed import named
from akvsite.pages._run import Run

TITLE = "Runtime calls"

TOP = 12
LISTED = 40
LONGEST = 15

#: How the rows of a source came about, and how its calls and device records are associated.
_ABOUT = {
    "vendor": "As the vendor's tracer recorded them. Calls and device records are associated by correlation id",
    "shim": "As our own recorder saw them, around the call. Calls and device records are associated by the handle of the call's "
    "event, or by way of the same call in the vendor's trace",
}


def write(run: Run) -> str:
    listed = run.desk.ask("call_cost", run_id=run.id, order="-host_ns,name")
    if not listed:
        return ""
    sources = sorted({r["source"] for r in listed}, key=lambda s: (s != "vendor", s))
    parts = []
    if len(sources) > 1:
        parts.append(
            "\n" + text("Two tools recorded calls of this run. Their rows may be the same calls, so they are never added up.") + "\n"
        )  # fmt: skip
    for number, source in enumerate(sources):
        if len(sources) > 1:
            parts.append(f"\n### {text(source.capitalize())}\n")
        own = [r for r in listed if r["source"] == source]
        parts.append(_source(run, source, own, f"-{source}" if number else ""))
    parts += [_kernels(run), _longest(run), _never_returned(run)]
    return "\n".join(part for part in parts if part)


def _source(run: Run, source: str, every: list[Record], suffix: str) -> str:
    listed = every[:LISTED]
    # What is called once at the start takes a thousand times as long as what is called in each step, and has no band:
    # it is in the table, and not on an axis that it would flatten.
    often = [row for row in listed if row["calls"] >= estimators.FEWEST_SAMPLES]
    drawn = (often or listed)[:TOP]
    numbers = _numbers(run, source, {row["name"] for row in (*drawn, *listed[:TOP])})
    rows = [
        bands.Row(row["name"], number, label)
        for row in drawn
        for label, number in numbers[row["name"]].items()
    ]
    nested = sum(r["nested_calls"] for r in every)
    notes = [f"calls by the {source}; largest sums first"]
    if often and len(often) < len(listed):
        notes.append(f"names with fewer than {estimators.FEWEST_SAMPLES} calls are in the table alone")
    if nested:
        notes.append(
            f"{number_of(nested, 'call lies', 'calls lie')} inside another one, which holds the time of both"
        )
    chart = bands.draw(
        "How long do the runtime calls take that cost the host most?", rows, run.footer(notes=tuple(notes)),
        axis="time inside a call",
    )  # fmt: skip
    whole = table(
        ["call", "kind", "calls", "never returned", "host time, sum", "p50", "p99", "longest", "calls with device records", "device records", "their durations, sum"],
        [
            [
                _called(run, r, source=r["source"]), r["kind"], counted(r["calls"]), counted(r["open_calls"]), _total(r["host_ns"]),
                *_written(numbers.get(r["name"])), _total(r["longest_ns"]),
                Cell(text(f"{r['calls_linked']:,} of {r['calls']:,}"), r["calls_linked"]), counted(r["intervals"]),
                _total(r["device_ns"]),
            ]
            for r in listed
        ],
        caption=f"Up to {LISTED} of {number_of(len(every), 'name')}, largest sums first; each call counts once, however many device records belong to it",
    )  # fmt: skip
    about = f"{_ABOUT.get(source, 'As the capture has them')}. That two records belong together does not say that one waited for the other."
    return f"\n{text(about)}\n\n" + run.desk.figure(run.page, f"calls{suffix}", chart, "call_time") + whole


def _called(run: Run, row: Record, **chosen: object) -> Cell:
    """The name of a call, which leads to its rows."""
    return Cell(
        linked(code(row["name"], 60), named(run.name, "calls", "../", "name", row["name"], **chosen)),
        row["name"],
    )


def _ran(run: Run, kernel: str) -> Cell:
    address = named(run.name, "calls", "../", "ran", kernel)
    return Cell(linked(code(kernel, 90), address), kernel[:200])


def _numbers(run: Run, source: str, names: set[str]) -> dict[str, dict[str, Estimate]]:
    """Of each of these names: one look at all calls is shorter than one for each name."""
    calls = run.desk.columns(
        "call_time", run_id=run.id, source=source, order="start_ns,call_id", only=("name", "duration_ns")
    )
    called, durations = calls["name"].astype(object), calls["duration_ns"].astype(np.int64)
    found = {}
    for name in names:
        own = durations[called == name]
        found[name] = {
            f"p{round(100 * p)}": run.marked(estimators.quantile(own, p, unit="ns")) for p in (0.5, 0.99)
        }
    return found


def _written(numbers: dict[str, Estimate] | None) -> list[Cell]:
    if numbers is None:
        return [Cell("not among the largest sums")] * 2
    return [estimated(number) for number in numbers.values()]


def _total(ns: int | None) -> Cell:
    return Cell("none") if ns is None else Cell(text(written(ns, "ns")), ns)


def _kernels(run: Run) -> str:
    rows = run.desk.ask("kernel_launch", run_id=run.id, order="-calls,kernel")
    if not rows:
        return ""
    return "\n### Kernels launched\n" + table(
        ["kernel", "launches", "host time inside them, sum", "with device records"],
        [
            [
                _ran(run, r["kernel"]), counted(r["calls"]), _total(r["host_ns"]),
                Cell(text(f"{r['linked']:,} of {r['calls']:,}"), r["linked"]),
            ]
            for r in rows[:LISTED]
        ],
        caption=f"Up to {LISTED} of {number_of(len(rows), 'name')} that the recorder saw, most launches first",
    )  # fmt: skip


def _longest(run: Run) -> str:
    rows = run.desk.ask("call_time", run_id=run.id, order="-duration_ns,call_id", limit=LONGEST)
    if not rows:
        return ""
    several = len({r["source"] for r in rows}) > 1
    return "\n### The longest calls\n" + table(
        ["call", "kind", "thread", "time inside it", *(["recorded by"] if several else [])],
        [
            [
                _called(run, r, duration_ns=r["duration_ns"]), r["kind"], r["thread"] or "unknown", _total(r["duration_ns"]),
                *([r["source"]] if several else []),
            ]
            for r in rows
        ],
        caption=f"The {len(rows)} longest, each as it was recorded: one call, no estimate",
    )  # fmt: skip


def _never_returned(run: Run) -> str:
    rows = run.desk.ask("open_call", run_id=run.id, order="start_ns,name", limit=LISTED)
    if not rows:
        return ""
    about = (
        "These calls were entered, and no return of them is on record: the process hung or ended inside them, or its recorder "
        "stopped. How long they were open is known to the last record of their process."
    )
    return f"\n### Entered and never returned\n\n{text(about)}\n" + table(
        ["call", "kind", "process", "thread", "queue", "open for at least"],
        [
            [
                _called(run, r, open=1), r["kind"], f"pid {r['pid']}", r["thread"] or "unknown",
                r["queue"] or "none named", _total(r["open_ns"]),
            ]
            for r in rows
        ],
        caption=f"Up to {LISTED}, in the order in which they were entered",
    )  # fmt: skip
