"""How much memory the processes of the run held on the host, sampled while they ran."""

from __future__ import annotations

from typing import Any

import numpy as np

from akvsite.charts import series
from akvsite.estimate import written
from akvsite.pages._html import Cell, counted, number_of, table, text
from akvsite.pages._run import Run

TITLE = "Host memory"

#: Processes that are drawn, those that held most.
DRAWN = 2
LISTED = 40

_KINDS = (("resident", "resident_bytes"), ("anonymous", "anonymous_bytes"))


def write(run: Run) -> str:
    columns = run.desk.columns("memory_time", run_id=run.id, order="process_id,at_ns")
    if not len(columns["at_ns"]):
        return ""
    masks = [columns["process_id"] == process for process in np.unique(columns["process_id"])]
    masks.sort(key=lambda mask: -max(_known(columns["resident_bytes"][mask]), default=0))
    parts = [
        "\n"
        + text("Samples of what the kernel says of each process. Anonymous memory is what no file stands behind: a recorder that keeps "
               "its records there grows with the calls; our own maps a file, which counts as resident while it is written.")
        + "\n",
        table(
            ["process", "samples", "resident at first", "at last", "most", "anonymous at first", "at last", "most"],
            [_line(columns, mask) for mask in masks[:LISTED]],
            caption=f"Processes by what they held at most, as sampled; up to {LISTED} of {len(masks)}",
        ),
    ]  # fmt: skip
    for number, mask in enumerate(masks[:DRAWN]):
        for kind, key in _KINDS:
            values = [None if v is None or v != v else int(v) for v in columns[key][mask].tolist()]
            if all(v is None for v in values):
                continue
            chart = series.draw(
                f"How much {kind} memory did {_name(columns, mask)} hold, sample by sample?", values,
                run.footer(method="every sample, as read", notes=(_spread(columns["at_ns"][mask]),)), unit="bytes", order="sample", axis=f"{kind} memory",
            )  # fmt: skip
            parts.append(run.desk.figure(run.page, f"memory-{kind}-{number}", chart, "memory_time"))
    return "\n".join(parts)


def _known(values: np.ndarray[Any, Any]) -> list[int]:
    return [int(v) for v in values.tolist() if v is not None and v == v]


def _name(columns: dict[str, np.ndarray[Any, Any]], mask: np.ndarray[Any, Any]) -> str:
    name = columns["process"][mask][0]
    pid = f"process {columns['pid'][mask][0]}"
    return f"{pid} ({name})" if isinstance(name, str) and name else pid


def _line(columns: dict[str, np.ndarray[Any, Any]], mask: np.ndarray[Any, Any]) -> list[Any]:
    cells = [_name(columns, mask), counted(int(np.count_nonzero(mask)))]
    for _, key in _KINDS:
        known = _known(columns[key][mask])
        cells += [_bytes(known[0]), _bytes(known[-1]), _bytes(max(known))] if known else [Cell("unknown")] * 3
    return cells


def _bytes(size: int) -> Cell:
    return Cell(text(written(size, "B")), size)


def _spread(times: np.ndarray[Any, Any]) -> str:
    """How the samples lie in time: they are drawn by number, and may grow farther apart."""
    known = np.array(_known(times), dtype=np.int64)
    if len(known) < 2:
        return "one sample"
    gaps = np.diff(known)
    return f"{number_of(len(known), 'sample')} over {written(int(known[-1] - known[0]), 'ns')}, {written(int(gaps.min()), 'ns')} to {written(int(gaps.max()), 'ns')} apart"
