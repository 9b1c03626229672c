"""The tables of a page of runtime calls: how calls and device records were associated, which stand alone, what held the host.

What the calls cost the host, and which waits were longest, is on the page of the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

import numpy as np

from akvsite import estimators
from akvsite.calls import EXPECTS
from akvsite.estimate import Estimate
from akvsite.pages import Record
from akvsite.pages._html import Cell, code, counted, estimated, items, link, number_of, recorded, table, text
from akvsite.pages._listed import named, rows_link
from akvsite.pages._run import Run, finished

#: Names whose percentiles are told, and names listed.
TOP = 12
LISTED = 40
_PERCENTILES = (0.5, 0.95)
_TOLD = tuple(f"p{100 * p:.0f}" for p in _PERCENTILES)

_BECAUSE = {
    "never returned": "never returned",
    "did not succeed": "did not succeed",
    "inside another recorded call": "inside another recorded call, which stands for both",
    "not in the vendor's trace": "the device records are those of the vendor's tracer, which has no such call",
    "not known": "nothing is known of it",
}
_NO_CALL = {
    "span": "a stretch between two timing events, which belongs to no call",
    "wait": "what orders other work, and is none itself",
}

#: Delays of one name on one clock: delays (n,) in ns, and their bounds.
_Delays = dict[tuple[str, bool], tuple[Any, list[float | None]]]


def associated(run: Run) -> str:
    """For each call name: how many have device records, how the association was made, and the delay between the two."""
    # The same question as on the page of the run, which is asked once.
    listed = run.desk.ask("call_cost", run_id=run.id, order="-host_ns,name")
    works = sorted(
        (r for r in listed if r["kind"] in EXPECTS or r["intervals"]),
        key=lambda r: (-r["intervals"], -r["calls"], r["name"], r["source"]),
    )
    rest = [r for r in listed if r["kind"] not in EXPECTS and not r["intervals"]]
    several = len({r["source"] for r in listed}) > 1
    ways: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for row in run.desk.ask("call_link", run_id=run.id, order="source,name,made_by,by_twin"):
        ways[row["source"], row["name"]].append(row)
    delays = _delays(run) if ways else {}
    about = (
        f"The delay is from the start of a call to the start of the first of its device records, which are times of two clocks: {run.clock_line}. "
        "A delay below 0 is kept as it is."
        if delays
        else "",
        f"{number_of(sum(r['calls'] for r in rest), 'call')} of {number_of(len(rest), 'other name')} are expected to have no device "
        "record, and have none."
        if rest
        else "",
        "A call that two tools recorded is two rows with the same device records: one call."
        if several
        else "",
    )
    rows = [
        [
            _name(r["name"]), r["kind"], *([r["source"]] if several else []),
            Cell(text(f"{r['calls_linked']:,} of {r['calls']:,}"), r["calls_linked"]),
            *(_delay_cells(run, delays, r["name"], ways[r["source"], r["name"]]) if at < TOP else ["not among the first"] * 2),
            recorded(r["intervals"]), _how(ways[r["source"], r["name"]]),
        ]
        for at, r in enumerate(works[:LISTED])
    ]  # fmt: skip
    return f"\n{text(' '.join(part for part in about if part))}\n" + table(
        ["call", "kind", *(["recorded by"] if several else []), "calls with device records",
         *(f"delay, {p}" for p in _TOLD), "device records", "associated by"],
        rows,
        caption=f"Up to {LISTED} of {number_of(len(works), 'name')}, most device records first, percentiles of {TOP}; numbers of delays: {run.use}",
    )  # fmt: skip


def _name(name: str) -> Cell:
    """A name that chooses its calls in the reader of this page."""
    return Cell(f'<a href="#{escape(urlencode({"name": name}))}">{code(name or "(empty)", 60)}</a>', name)


def _how(ways: Sequence[Record]) -> str:
    """How the associations of a name were made, with the calls of each way where there are several."""
    if not ways:
        return "none associated"
    parts = []
    for way in ways:
        by = way["made_by"] + (", of the same call in the vendor's trace" if way["by_twin"] else "")
        many = (
            f", {number_of(way['records'], 'record')} of {number_of(way['calls'], 'call')}"
            if way["records"] > way["calls"]
            else ""
        )
        parts.append(by + (many or (f", {number_of(way['calls'], 'call')}" if len(ways) > 1 else "")))
    return "; ".join(parts)


def _delays(run: Run) -> _Delays:
    columns = run.desk.columns("launch_delay", run_id=run.id, order="called_ns,call_id,delay_ns")
    # A graph replay has many records, one after the other: the delay of a call is that to its first.
    _, first = np.unique(columns["call_id"], return_index=True)
    first.sort()
    kept = {name: values[first] for name, values in columns.items()}
    own_clock = kept["clock"].astype(object) == "device"
    found: _Delays = {}
    for name in dict.fromkeys(kept["name"].tolist()):
        for own in (False, True):
            of = (kept["name"] == name) & (own_clock == own)
            if of.any():
                found[name, own] = kept["delay_ns"][of].astype(np.int64), kept["bound_ns"][of].tolist()
    return found


def _delay_cells(run: Run, delays: _Delays, name: str, ways: Sequence[Record]) -> list[Cell | str]:
    """Percentiles of the delays of a name, with the clock's bound; those of records on two clocks one after the other."""
    if not ways:
        return ["no device record"] * 2
    if all(way["by_twin"] for way in ways):
        return ["with the vendor's row"] * 2
    numbers: list[list[Estimate]] = [[] for _ in _PERCENTILES]
    for own in (False, True):
        if (name, own) not in delays:
            continue
        values, bounds = delays[name, own]
        state = "unproven" if bounds[0] is None or bounds[0] != bounds[0] else "bounded"
        for told, p in zip(numbers, _PERCENTILES, strict=True):
            told.append(
                run.marked(estimators.with_clock(estimators.quantile(values, p, unit="ns"), bounds, state))
            )
    if not numbers[0]:
        return ["unknown: no time on the host's axis"] * 2
    return [
        estimated(told[0]) if len(told) == 1 else Cell("; ".join(text(n.text()) for n in told), told[0].value)
        for told in numbers
    ]


def alone(run: Run) -> str:
    """Calls that should have a device record and have none, and device records without a call."""
    return _calls_alone(run) + _records_alone(run)


def _calls_alone(run: Run) -> str:
    rows = run.desk.ask("call_alone", run_id=run.id, order="-calls,kind,name,source,because")
    seen = [r for r in run.coverage if r["direction"] == "calls with device records"]
    told = ", ".join(f"{r['kind']}: {r['seen']:,} of {r['expected']:,}" for r in seen)
    lines = [
        f"Calls that are expected to have a device record, and have one: {told}." if told else "No call on record asks for work on a device.",
        *(["That a call has no device record does not say that nothing ran for it: nothing was recorded."] if rows else []),
    ]  # fmt: skip
    if not rows:
        return items(map(text, lines))
    several = len({r["source"] for r in rows}) > 1
    return items(map(text, lines)) + table(
        ["call", "kind", *(["recorded by"] if several else []), "calls without a device record", "what is on record of them"],
        [
            [
                _name(r["name"]), r["kind"], *([r["source"]] if several else []),
                Cell(
                    link(f"{r['calls']:,}", _calls_of(run, r)),
                    r["calls"],
                ),
                _BECAUSE[r["because"]],
            ]
            for r in rows[:LISTED]
        ],
        caption=f"Calls with no device record, up to {LISTED} of {number_of(len(rows), 'row')}; what is counted as expected above leaves out "
        "failed calls, calls inside another, and calls from before or after the vendor's tracer was on",
    )  # fmt: skip


def _calls_of(run: Run, row: Record) -> str:
    """The calls of a name without a device record, for this reason: as many rows as are counted."""
    chosen: dict[str, object] = {"source": row["source"], "kind": row["kind"], "no_record": row["because"]}
    return named(run.name, "calls", "../", "name", row["name"], **chosen)


def _records_alone(run: Run) -> str:
    rows = run.desk.ask("interval_link", run_id=run.id, order="kind,clock")
    if not rows:
        return ""
    without = [r for r in rows if r["linked"] < r["records"]]
    said = "Device records without a call: their calls were made where no recorder looked, or carry an id that no call on record has."
    if not without:
        said = "Every device record has a call."
    return items([text(said)]) + table(
        ["device records", "times", "with a call", "without a call", "not on the host's axis"],
        [
            [
                r["kind"], "by its own clock" if r["clock"] else "as the vendor converted them",
                Cell(text(f"{r['linked']:,} of {r['records']:,}"), r["linked"]),
                _without(run, r), counted(r["off_axis"]),
            ]
            for r in rows
        ],
    )  # fmt: skip


def _records_of(run: Run, row: Record) -> str:
    """The device records of a kind, on one clock, that no call is known of."""
    return rows_link(run.name, "intervals", "../", kind=row["kind"], clock=row["clock"] or None, call_id=None)


def _without(run: Run, row: Record) -> Cell:
    count = row["records"] - row["linked"]
    if not count:
        return Cell("none", 0)
    of = link(f"{count:,}", _records_of(run, row))
    why = _NO_CALL.get(row["kind"])
    return Cell(of + (text(f" ({why})") if why else ""), count)


def held(run: Run) -> str:
    """For how long calls held the host, by name; the sums are on the page of the run."""
    cost = run.desk.ask("wait_cost", run_id=run.id, order="source,-total_ns,name")
    if not cost:
        return items(["No call on record waits by its name, and none was asked to block."])
    columns = run.desk.columns("host_wait", run_id=run.id, order="start_ns,call_id")
    known = finished(columns["duration_ns"])
    several = len({r["source"] for r in cost}) > 1
    rows = []
    for place, r in enumerate(sorted(cost, key=lambda r: (-(r["total_ns"] or 0), r["name"]))[:LISTED]):
        numbers: list[Cell | str] = ["not among the first"] * 2
        if place < TOP:
            of = known & (columns["source"] == r["source"]) & (columns["name"] == r["name"])
            values = columns["duration_ns"][of].astype(np.int64)
            numbers = [estimated(run.marked(estimators.quantile(values, p, unit="ns"))) for p in _PERCENTILES]
        rows.append(
            [
                _name(r["name"]), *([r["source"]] if several else []), counted(r["waits"]), counted(r["open_waits"]), *numbers,
                Cell(text(f"{r['makers_known']:,} of {r['events']:,}"), r["makers_known"]),
            ]
        )  # fmt: skip
    about = (
        "Calls that wait by their name, and calls that their caller asked to block, with the time inside them. What such a call waited for "
        "is associated with it by the lifetime of an event's handle: that the time went there for that reason is not said."
    )
    to_run = link("sums, the longest, and what was waited for", f"../runs/{run.name}.html#host-waits")
    return f"\n{text(about)} On the page of the run: {to_run}.\n" + table(
        ["call", *(["recorded by"] if several else []), "calls", "never returned", *(f"time inside, {p}" for p in _TOLD),
         "events named whose call is known"],
        rows,
        caption=f"Up to {LISTED} names, largest sums first, percentiles of {TOP}; {run.use}",
    )  # fmt: skip
