"""How the requests went, as their client saw them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from akvsite import estimators
from akvsite.charts import bands, distribution
from akvsite.estimate import Estimate, unknown
from akvsite.pages._html import counted, table, text
from akvsite.pages._run import Run

TITLE = "Requests"


def write(run: Run) -> str:
    columns = run.desk.columns("request_time", run_id=run.id, order="end_ns,request_id")
    count = len(columns["name"])
    if not count:
        return ""
    ok = columns["ok"]
    done = int(np.count_nonzero(ok == 1))
    failed = int(np.count_nonzero(ok == 0))
    parts = [
        table(
            ["requests", "completed", "failed", "unknown"],
            [[counted(count), counted(done), counted(failed), counted(count - done - failed)]],
        )
    ]
    concurrency = _concurrency(run)
    rows = []
    for name, key in (("TTFT", "ttft_ns"), ("TPOT", "tpot_ns")):
        values = np.array([v for v in columns[key].tolist() if v is not None and v == v], dtype=np.int64)
        for p in (0.5, 0.95, 0.99):
            if not len(values):
                number = unknown("no request has it", "ns")
            elif concurrency is None:
                number = _without_band(values, p)
            else:
                number = estimators.request_quantile(values, p, unit="ns", concurrency=concurrency)
            rows.append(bands.Row(f"{name} p{round(100 * p)}", run.marked(number)))
        if len(values) > 1:
            chart = distribution.draw(
                f"How is {name} distributed over the requests that completed?", {name: values.tolist()},
                run.footer(method="empirical distribution, completion order not shown"), unit="ns", axis=name,
            )  # fmt: skip
            parts.append(run.desk.figure(run.page, name.lower(), chart, "request_time"))
    chart = bands.draw(
        "How long do requests wait for their first and for each further token?",
        rows,
        run.footer(),
        axis="time",
    )
    parts.insert(1, run.desk.figure(run.page, "requests", chart, "request_time"))
    parts.insert(
        1,
        "\n"
        + text("A stream chunk may hold several tokens: times between chunks are not times per token.")
        + "\n\n",
    )
    return "\n".join(parts)


def _concurrency(run: Run) -> float | None:
    """The number of requests in flight that the capture declares, if it does."""
    for row in run.desk.ask("fact_list", run_id=run.id, order="part,key"):
        if row["key"] in ("concurrency", "max_concurrency"):
            try:
                value = float(row["value"])
            except ValueError:
                return None
            return value if value > 0 else None
    return None


def _without_band(values: np.ndarray, p: float) -> Estimate:
    made = estimators.request_quantile(values, p, unit="ns", concurrency=1e300)
    return replace(made, refusal="the capture declares no concurrency, so requests / concurrency is unknown")
