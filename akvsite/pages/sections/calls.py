"""What the runtime calls cost on the host, and what is associated with them on the device."""

from __future__ import annotations

import numpy as np

from akvsite import estimators
from akvsite.charts import bands
from akvsite.estimate import written
from akvsite.pages._html import Cell, code, counted, table, text
from akvsite.pages._run import Run

TITLE = "Runtime calls"

TOP = 12
LISTED = 40


def write(run: Run) -> str:
    listed = run.desk.ask("call_cost", run_id=run.id, order="-host_ns,name", limit=LISTED)
    if not listed:
        return ""
    rows = []
    for row in listed[:TOP]:
        durations = run.desk.columns(
            "call_time", run_id=run.id, source=row["source"], name=row["name"], order="start_ns"
        )["duration_ns"]
        for p in (0.5, 0.99):
            number = estimators.quantile(durations.astype(np.int64), p, unit="ns")
            rows.append(bands.Row(row["name"], run.marked(number), f"p{round(100 * p)}"))
    chart = bands.draw(
        "How long do the runtime calls take that cost the host most?", rows,
        run.footer(notes=(f"calls by the {' and the '.join(sorted({r['source'] for r in listed}))}; largest sums first",)),
        axis="time inside a call",
    )  # fmt: skip
    whole = table(
        ["call", "kind", "source", "calls", "host time, sum", "calls with device records", "device records", "their durations, sum"],
        [
            [
                Cell(code(r["name"], 60), r["name"]), r["kind"], r["source"], counted(r["calls"]), Cell(text(written(r["host_ns"], "ns")), r["host_ns"]) if r["host_ns"] is not None else None,
                Cell(text(f"{r['calls_linked']:,} of {r['calls']:,}"), r["calls_linked"]), counted(r["intervals"]),
                Cell(text(written(r["device_ns"], "ns")), r["device_ns"]) if r["device_ns"] is not None else Cell("none"),
            ]
            for r in listed
        ],
        caption=f"Up to {LISTED} names, largest sums first; each call counts once, however many device records carry its id",
    )  # fmt: skip
    return (
        "\n" + text("Calls and device records are associated by correlation id. That two records carry one id does not say that one waited for the other.") + "\n\n"
        + run.desk.figure(run.page, "calls", chart, "call_time") + whole
    )  # fmt: skip
