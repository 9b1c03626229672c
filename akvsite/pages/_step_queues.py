"""What ran on each device queue in the steps of a run, what ran in no step, and the longest gaps."""

from __future__ import annotations

import numpy as np

from akvsite.estimate import written
from akvsite.pages import Record
from akvsite.pages._html import Cell, counted, estimated, link, linked, number_of, table, text
from akvsite.pages._listed import between, named, rows_link
from akvsite.pages._reader import absent
from akvsite.pages._run import Run, finished, process_names
from akvsite.pages._step_profile import Places, mean_of, name_cell, own_clock, step_told
from akvsite.pages._step_sums import Columns, Steps, per_step

#: Queues that a table names; that more are left out is said.
QUEUES = 40
#: The longest gaps of a run that are listed.
GAPS = 10


def queues(run: Run, steps: list[Steps], at: Places) -> str:
    """What ran on each device queue in the mean step, and the longest gaps of the run."""
    if not run.listed["intervals"]:
        return absent(run, "What ran on a device queue in a step", "device")
    columns = run.desk.columns("step_queue", run_id=run.id, order="process_id,device,queue,kind,step_id")
    if not len(columns["kind"]):
        return "\nOnly stretches between timing events are on record: work and waiting lie in them alike, and what ran is unknown.\n"
    known = np.array([s is not None and s == s for s in columns["step_id"].tolist()])
    nowhere = int(columns["intervals"][~known].sum())
    of = np.where(known, columns["step_id"], -1).astype(np.int64)
    made = "".join(_by_queue(run, group, columns, of, at) for group in steps)
    words = f"Records of the steps that have some on record ({run.seen()}): what was not seen is in no number here. Times are by the device's own clock."
    lost = (
        f" {number_of(nowhere, 'device record belongs', 'device records belong')} to no step: the call is not known, or began outside every step."
        if nowhere
        else ""
    )
    cut = ""
    if not known.any():
        cut = " There are no others: there is no mean." + (
            ""
            if run.listed["calls"]
            else " Level edge has the calls by which records are known to be of a step."
        )
    elif not made:
        cut = " All the others belong to steps that are cut as warm-up, or have no end: there is no mean."
    return f"\n{text(words + lost + cut)}\n{_in_no_step(run) if nowhere else ''}{made}{_gaps(run, at)}"


def _in_no_step(run: Run) -> str:
    """Per device and kind, the time that records of no step cover: it is in no mean here, and none of it may be lost."""
    columns = run.desk.columns(
        "interval", run_id=run.id, step_id=None, order="process_id,device,start_ns,end_ns,interval_id",
        only=("process_id", "device", "clock", "kind", "start_ns", "end_ns"),
    )  # fmt: skip
    processes = process_names(run.desk, run.id, set(columns["process_id"].tolist()))
    own, ended = own_clock(columns), finished(columns["end_ns"])
    of = (columns["process_id"].tolist(), columns["device"].tolist(), own.tolist(), columns["kind"].tolist())
    found: dict[tuple[int, str, bool], dict[str, np.ndarray]] = {}
    for process, device, clock, kind in sorted(set(zip(*of, strict=True))):
        at = (columns["process_id"] == process) & (columns["device"] == device) & (own == clock)
        found.setdefault((process, device, clock), {"": at})[kind] = at & (columns["kind"] == kind)
    lines = []
    for (process, device, clock), by_kind in found.items():
        label = f"{processes[process]} · device {device}{' (its own clock)' if clock else ''}"
        for kind, at in by_kind.items():
            if not kind and len(by_kind) == 2:
                continue
            starts, ends = (columns[name][at & ended].astype(np.int64) for name in ("start_ns", "end_ns"))
            total, covered, count = (
                int((ends - starts).sum()),
                _covered(starts, ends),
                int(np.count_nonzero(at)),
            )
            asked = rows_link(
                run.name,
                "intervals",
                "../",
                process_id=process,
                device=device,
                kind=kind,
                step_id=None,
                clock="device" if clock else None,
            )
            lines.append(
                [
                    name_cell(label),
                    kind or "all kinds together",
                    Cell(link(f"{count:,}", asked), count) if kind else counted(count),
                    Cell(text(written(covered, "ns")), covered),
                    Cell(text(written(total, "ns")), total),
                ]
            )  # fmt: skip
    return table(
        ["device", "kind", "records in no step", "time that they cover", "their durations added up"],
        lines,
        caption="Device records that are in no step, counted: in no mean below",
    )


def _covered(starts: np.ndarray, ends: np.ndarray) -> int:
    """Time covered by at least one of these records, sorted by their starts, (n,) each in ns."""
    if not len(starts):
        return 0
    before = np.concatenate([starts[:1], np.maximum.accumulate(ends)[:-1]])
    return int(np.maximum(0, ends - np.maximum(starts, before)).sum())


def _by_queue(run: Run, group: Steps, columns: Columns, of: np.ndarray, places: Places) -> str:
    here = np.isin(of, group.ids)
    if not here.any():
        return ""
    having = np.unique(of[here])
    row = np.array([places[step][0] if step in places else -1 for step in of.tolist()])
    # From the first to the last of these steps, by their rows: others may lie between.
    first, last = int(row[here].min()), int(row[here].max())
    among = (row >= first) & (row <= last)
    own = own_clock(columns)
    keys = list(
        dict.fromkeys(
            zip(
                *(columns[c][here].tolist() for c in ("process_id", "device", "queue", "kind")),
                own[here].tolist(),
                strict=True,
            )
        )
    )
    lines = []
    for process, device, queue, kind, clock in keys[:QUEUES]:
        alike = (columns["process_id"] == process) & (columns["device"] == device) & (own == clock)
        alike &= (columns["queue"] == queue) & (columns["kind"] == kind)
        at = here & alike
        chosen = {"process_id": process, "device": device, "kind": kind, "clock": "device" if clock else None}
        count = int(columns["intervals"][at].sum())
        every = named(run.name, "intervals", "../", "queue", str(queue), **chosen)
        these = named(
            run.name, "intervals", "../", "queue", str(queue), **chosen, step_id=between(first, last)
        )
        records, ns = (
            per_step(having, of[at], _whole(columns[name][at])) for name in ("intervals", "sum_ns")
        )
        lines.append(
            [
                name_cell(f"{device}{' (its own clock)' if clock else ''}"),
                Cell(
                    linked(name_cell(queue).html, every),
                    str(queue),
                ),
                kind,
                Cell(link(f"{count:,}", these), count)
                if count == int(columns["intervals"][among & alike].sum())
                else counted(count),
                estimated(mean_of(run, records, "records")),
                estimated(mean_of(run, ns, "ns")),
            ]
        )
    left = (
        f"; {number_of(len(keys) - QUEUES, 'further queue is', 'further queues are')} in the rows"
        if len(keys) > QUEUES
        else ""
    )
    return table(
        ["device", "queue", "kind", "records", "mean records a step", "mean sum of durations a step"],
        lines,
        caption=f"{group.label}: device records of {number_of(len(having), 'step')} of {len(group.ids):,}{left}; {run.use}",
    )


def _whole(values: np.ndarray) -> np.ndarray:
    """Sums as int64; a record without an end adds nothing to a sum."""
    return np.array([0 if v is None or v != v else int(v) for v in values.tolist()], dtype=np.int64)


def _gaps(run: Run, at: Places) -> str:
    if not run.full_sight:
        return f"\nWhere no record lies on a queue is not known to be idle, and no gap is told: {text(run.blind)}.\n"
    found = run.desk.ask("row_gap", run_id=run.id, order="-duration_ns,interval_id", limit=GAPS)
    told = [gap for gap in found if gap["duration_ns"] > run.least_gap_ns]
    lines = [
        [
            Cell(link(written(ns, "ns"), rows_link(run.name, "gaps", "../", duration_ns=ns)), ns),
            alone,
            name_cell(gap["queue"]),
            name_cell(gap["device"]),
            step_told(at[gap["step_id"]]) if gap["step_id"] in at else "no step",
        ]
        for gap, alone in zip(told, _of_all_queues(run, told), strict=True)
        for ns in (gap["duration_ns"],)
    ]
    whole = f'Stretches without a record on the whole device: <a href="../runs/{text(run.name)}.html#gaps">the gaps of the run</a>.'
    words = (
        f"Each is a gap of one queue. None of {written(run.least_gap_ns, 'ns')} or less ({run.ticks}). Both ends are of one device clock. What the host did meanwhile is "
        "listed with the step, once it is chosen at the top of this page: what happened at that time, which does not say why."
    )
    return (
        table(
            ["gap", "of it, no record on any queue of the device", "queue", "device", "ends at a record of"],
            lines,
            caption=f"The longest gaps between records of one queue, at most {GAPS}, as recorded",
        )
        + f"\n{text(words)} {whole}\n"
    )


def _of_all_queues(run: Run, gaps: list[Record]) -> list[Cell]:
    """For how long in each gap of a queue no record lay on its device at all: in the rest another queue was at work."""
    if not gaps:
        return []
    columns = run.desk.columns("device_gap", run_id=run.id, order="process_id,device,from_ns")
    own = own_clock(columns)
    cells = []
    for gap in gaps:
        at = (columns["process_id"] == gap["process_id"]) & (columns["device"] == gap["device"])
        at &= own == (gap["clock"] == "device")
        first = gap["own_start_ns"] if gap["clock"] == "device" else gap["start_ns"]
        last = first + gap["duration_ns"]
        starts, ends = (np.clip(columns[c][at].astype(np.int64), first, last) for c in ("from_ns", "to_ns"))
        ns = int((ends - starts).sum())
        cells.append(Cell(text(written(ns, "ns")) if ns else "none", ns))
    return cells
