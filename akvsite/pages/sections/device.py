"""For how long the devices were seen to work, with what, and how much of it was seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.charts import bands, distribution
from akvsite.estimate import written
from akvsite.pages import Record
from akvsite.pages._html import Cell, code, counted, linked, number_of, table, text
from akvsite.pages._listed import KNOWN, named, rows_link
from akvsite.pages._run import Run, counter_of, grouped, process_names

TITLE = "Device"

TOP = 12
LISTED = 40


def write(run: Run) -> str:
    lanes = run.desk.ask("device_time", run_id=run.id, order="process_id,device,lane")
    if not lanes:
        return _nothing_seen(run)
    return "\n".join(
        [
            _sight(run),
            _time(run, lanes),
            _gaps(run, lanes),
            _kernels(run),
            _delay(run),
            _device_delay(run),
            _operators(run),
        ]
    )


def _nothing_seen(run: Run) -> str:
    calls = [r for r in run.coverage if r["direction"] == "calls with device records" and r["expected"]]
    if calls:
        return f"\nNo device records: {text(run.seen())}. What the device did is unknown; it is not idle because nothing was recorded.\n"
    return ""


def _sight(run: Run) -> str:
    rows = [
        [
            r["direction"],
            r["kind"],
            Cell(text(f"{r['seen']:,} of {r['expected']:,}"), r["seen"]),
            counted(r["expected"] - r["seen"]),
        ]
        for r in run.coverage
    ]
    if not rows:
        return ""
    return "\n### What was seen\n" + table(["direction", "kind", "seen", "missing"], rows)


def _by_device(lanes: list[Record]) -> dict[tuple[int, str, str], dict[str, Record]]:
    found: dict[tuple[int, str, str], dict[str, Record]] = {}
    for lane in lanes:
        found.setdefault((lane["process_id"], lane["device"], _clock(lane)), {})[lane["lane"]] = lane
    return found


def _clock(row: Record) -> str:
    """What is said beside times that are on the device's own clock."""
    return " (its own clock)" if row["clock"] else ""


def _time(run: Run, lanes: list[Record]) -> str:
    queues = run.desk.ask("device_queues", run_id=run.id, order="process_id,device,queue,kind")
    processes = process_names(run.desk, run.id, {row["process_id"] for row in (*lanes, *queues)})
    rows = []
    for (process, device, clock), by_lane in _by_device(lanes).items():
        whole = by_lane["all"]
        span = whole["last_ns"] - whole["first_ns"]
        kernel, copy = by_lane.get("kernel"), by_lane.get("copy")
        shared = None
        if kernel and copy:
            # What lies in several kinds at once; where there are more than two kinds it is counted once for each.
            shared = max(
                0,
                sum(lane["union_ns"] for kind, lane in by_lane.items() if kind != "all") - whole["union_ns"],
            )
        rows.append(
            [
                f"{processes[process]} · device {device}{clock}",
                _total(span), _total(whole["union_ns"]), _covered(run, kernel, "kernel"), _covered(run, copy, "copy"),
                _total(shared) if shared is not None else Cell("unknown" if not (kernel or copy) else "one kind only"),
                Cell(text(f"{written(whole['sum_ns'], 'ns')} (a sum over queues)"), whole["sum_ns"]),
                _idle(run, span - whole["union_ns"]),
            ]
        )  # fmt: skip
    note = (
        "Times covered by device records, counted from the records: the union counts each moment once, whatever the number of queues. "
        "What kinds share is open, as for any overlap that instruments saw."
    )
    queue_rows = [
        [processes[q["process_id"]], q["device"] + _clock(q), q["queue"], q["kind"], counted(q["intervals"]), _total(q["sum_ns"]),
         _bytes(q)]
        for q in queues[:200]
    ]  # fmt: skip
    return (
        f"\n### Device time\n\n{text(note)}\n"
        + table(
            [
                "device",
                "span of its records",
                "covered",
                "covered by kernels",
                "covered by copies",
                "shared by kinds, open",
                "sum",
                "no record",
            ],
            rows,
        )
        + table(
            ["process", "device", "queue", "kind", "records", "sum of durations", "bytes"],
            queue_rows,
            caption="Queues, a stream listed once a device",
        )
    )


def _total(ns: int | None) -> Cell:
    return Cell("none", 0) if ns is None else Cell(text(written(ns, "ns")), ns)


def _covered(run: Run, lane: Record | None, kind: str) -> Cell:
    """Time covered by one kind; where its calls were made and none of its records seen, that is unknown, not none."""
    if lane is not None:
        return _total(lane["union_ns"])
    asked = sum(
        r["expected"]
        for r in run.coverage
        if r["kind"] in (kind, "graph replay") and r["direction"].startswith("calls")
    )
    return (
        Cell(text(f"unknown: 0 records of {number_of(asked, 'call')} seen"))
        if asked
        else Cell("none recorded")
    )


def _bytes(row: Record) -> Cell:
    if row["bytes"] is not None:
        return Cell(text(written(row["bytes"], "B")), row["bytes"])
    return Cell("" if row["kind"] == "kernel" else "unknown")


def _idle(run: Run, uncovered: int) -> Cell:
    if run.full_sight:
        return Cell(text(f"{written(uncovered, 'ns')}: a question about the hardware"), uncovered)
    return Cell(text(f"unknown: {run.blind}"), None)


def _gaps(run: Run, lanes: list[Record]) -> str:
    if not run.full_sight:
        return f"\n### Gaps\n\nWhere no record lies is not known to be idle: {text(run.blind)}.\n"
    least = run.least_gap_ns
    # Both ends are rounded to a tick: what is not longer than that may be no gap at all.
    gaps = [
        g
        for g in run.desk.ask("device_gap", run_id=run.id, order="-gap_ns,from_ns", limit=10)
        if g["gap_ns"] > least
    ]
    origin: dict[Any, int] = {}
    for lane in lanes:
        origin[counter_of(lane)] = min(lane["first_ns"], origin.get(counter_of(lane), lane["first_ns"]))
    rows = [
        [
            Cell(linked(text(written(g["gap_ns"], "ns")), _next_record(run, g)), g["gap_ns"]),
            g["device"] + _clock(g),
            _total(g["from_ns"] - origin[counter_of(g)]),
        ]
        for g in gaps
    ]
    steps = (
        f'The longest gaps of one queue, while another may be at work, and what was on the host then: <a href="../steps/{text(run.name)}.html#device-queues">the steps of the run</a>. '
        if run.listed["steps"]
        else ""
    )
    return (
        f"\n### Gaps\n\nThe longest stretches without a record on any queue of a device, at most ten, none of {written(least, 'ns')} or less. "
        "Both ends are read on one device clock, which needs no conversion but the assumption that one counter stamps them; "
        "why nothing was recorded there is a question about the hardware and the host, not an answer. "
        + steps
        + "A length leads to the record that ends it.\n"
        + table(["length", "device", "begins after the first record"], rows)
    )


def _next_record(run: Run, gap: Record) -> str:
    """The address of the record that ends a gap, by its start as the listing counts it."""
    origin = run.desk.ask("row_origin", run_id=run.id)[0]
    own = gap["clock"] == "device"
    start = gap["to_ns"] - origin["device_ns" if own else "host_ns"]
    return rows_link(
        run.name, "intervals", "../", device=gap["device"], **{"own_start_ns" if own else "start_ns": start}
    )


def _kernels(run: Run) -> str:
    every = run.desk.ask("kernel_time", run_id=run.id, order="-sum_ns,kind,name")
    # Waits and marks lie on the queues too; they are no work of the device.
    listed = [r for r in every if r["kind"] in ("kernel", "copy", "fill")][:LISTED]
    if not listed:
        return ""
    top = listed[:TOP]
    rows = []
    for kind, name, clock in [(r["kind"], r["name"], r["clock"]) for r in top]:
        durations = run.desk.columns(
            "interval", run_id=run.id, kind=kind, name=name, clock=clock, order="start_ns,interval_id"
        )["duration_ns"]
        kept = np.array([d for d in durations.tolist() if d is not None and d == d], dtype=np.int64)
        rows.append(bands.Row(name, run.marked(estimators.quantile(kept, 0.5, unit="ns"))))
    chart = bands.draw(
        "How long does each of the kernels and copies that took most device time run?",
        rows, run.footer(seen=run.seen("kernel", "copy", "fill"), axis="device", notes=("largest sums first; durations in order of start",)), axis="p50 of a record",
    )  # fmt: skip
    full = table(
        ["kind", "name", "records", "sum of durations", "with a call", "bytes"],
        [
            [r["kind"] + _clock(r), _records_of(run, r), counted(r["intervals"]), _total(r["sum_ns"]),
             Cell(text(f"{r['linked']:,} of {r['intervals']:,}"), r["linked"]),
             _bytes(r)]
            for r in listed
        ],
        caption=f"Up to {LISTED} names, largest sums first; totals are counted from the records",
    )  # fmt: skip
    return (
        "\n### Kernels, copies and fills\n" + run.desk.figure(run.page, "kernels", chart, "interval") + full
    )


def _records_of(run: Run, row: Record) -> Cell:
    """The name of a kernel or a copy, which leads to its rows."""
    address = named(run.name, "intervals", "../", "name", row["name"], kind=row["kind"])
    return Cell(linked(code(row["name"], 90), address), row["name"][:200])


def _delay(run: Run) -> str:
    columns = run.desk.columns("launch_delay", run_id=run.id, order="kind,called_ns")
    if not len(columns["kind"]):
        return ""
    delays: dict[str, list[int]] = {}
    bounds: dict[str, float | None] = {}
    rows = []
    for label, own in _kinds_by_clock(columns):
        delay, own_bounds = columns["delay_ns"][own].astype(np.int64), columns["bound_ns"][own].tolist()
        delays[label] = delay.tolist()
        state = "unproven" if own_bounds[0] is None else "bounded"
        for p in (0.5, 0.95):
            number = estimators.with_clock(estimators.quantile(delay, p, unit="ns"), own_bounds, state)
            bounds[label] = number.systematic
            rows.append(bands.Row(f"p{100 * p:.0f}, {label}", run.marked(number)))
    early = int(np.count_nonzero(columns["delay_ns"] < 0))
    note = f"begin before their call on this axis: {early:,} of {number_of(len(columns['kind']), 'record')}, kept as recorded"
    question = "How long after its call does a device record begin?"
    axis = "start of record minus start of call"
    footer = run.footer(
        method="empirical distribution of linked pairs", seen=run.seen(), axis="both", notes=(note,)
    )
    return (
        "\n### From call to device\n\n"
        + text(
            "The two times come from two clocks, of which what is known is printed under each chart. A pair is associated by its id or its "
            f"event. Of them {note}."
        )
        + "\n\n"
        + run.desk.figure(
            run.page, "delay", distribution.draw(question, delays, footer, unit="ns", axis=axis, bounds=bounds), "launch_delay", **_linked(run)
        )
        + run.desk.figure(
            run.page, "delay-percentiles",
            bands.draw(
                "How long after its call does a device record begin, and how much of it do the clocks leave open?", rows,
                run.footer(seen=run.seen(), axis="both", notes=("records in the order of their calls",)), axis=axis,
            ),
            "launch_delay", **_linked(run),
        )
    )  # fmt: skip


def _linked(run: Run) -> dict[str, object]:
    """What the rows of linked pairs have; nothing where some have no time on the host's axis, which no address can ask."""
    off_axis = any(row["off_axis"] and row["linked"] for row in run.desk.ask("interval_link", run_id=run.id))
    return {} if off_axis else {"call_id": KNOWN}


def _kinds_by_clock(columns: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Records of one kind on one clock: their label, and which they are, (n,) bool."""
    own_clock = columns["clock"].astype(object) == "device"
    both = bool(own_clock.any()) and not bool(own_clock.all())
    for kind in dict.fromkeys(columns["kind"].tolist()):
        for own in (False, True):
            rows = (columns["kind"] == kind) & (own_clock == own)
            if rows.any():
                by = (", converted here" if own else ", by the vendor") if both else ""
                yield f"{kind} records{by}", rows


def _device_delay(run: Run) -> str:
    columns = run.desk.columns("device_delay", run_id=run.id, order="kind,submitted_ns")
    samples = {}
    for kind, values in grouped(columns, "kind", "submitted_ns").items():
        known = [int(v) for v in values.tolist() if v is not None and v == v]
        if known:
            samples[f"{kind} records"] = known
    if not samples:
        return ""
    chart = distribution.draw(
        "How long after it was submitted does a device record begin, by the device's own clock?", samples,
        run.footer(method="empirical distribution of device records", seen=run.seen(), axis="device"),
        unit="ns", axis="start minus submitted, one clock",
    )  # fmt: skip
    return (
        "\n### From submission to start\n\n"
        + text(
            "Both times are as the runtime gives them for the event of the call, on the device's own clock. How long the way from the "
            "call to the submission is cannot be told from it."
        )
        + "\n\n"
        + run.desk.figure(run.page, "device-delay", chart, "device_delay")
    )


def _operators(run: Run) -> str:
    rows = run.desk.ask("operator_device_time", run_id=run.id, order="-device_ns,name", limit=15)
    if not rows:
        return ""
    return (
        "\n### Operators\n\nDevice records associated with operators by external id; records without one are not in this table.\n"
        + table(
            ["operator", "operators with records", "records", "sum of durations"],
            [
                [
                    Cell(code(r["name"], 90), r["name"][:200]),
                    counted(r["operators"]),
                    counted(r["intervals"]),
                    _total(r["device_ns"]),
                ]
                for r in rows
            ],
        )
    )
