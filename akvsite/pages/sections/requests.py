"""How the requests went, as their client saw them."""

from __future__ import annotations

import numpy as np

from akvsite import estimators
from akvsite.charts import bands, distribution
from akvsite.estimate import unknown
from akvsite.pages import Desk
from akvsite.pages._html import counted, number_of, table, text
from akvsite.pages._listed import KNOWN
from akvsite.pages._run import Run

TITLE = "Requests"

_CHUNKS = (
    "A stream chunk may hold several tokens, or none: the first chunk is a first token only where it holds one, and times between chunks "
    "are not times per token."
)


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
    concurrency = concurrency_of(run)
    rows = []
    left_out: list[str] = []
    if unseen := int(np.count_nonzero(columns["first_unseen"] == 1)):
        left_out.append(
            f"{number_of(unseen, 'request has', 'requests have')} no time of its first token on record, but one of a later token: no TTFT"
        )
    for name, key in (("TTFT", "ttft_ns"), ("TPOT", "tpot_ns")):
        has = np.array([v is not None and v == v for v in columns[key].tolist()], dtype=bool)
        values = columns[key][has & (ok == 1)].astype(np.int64)
        if np.any(has & (ok != 1)):
            left_out.append(
                f"{number_of(int(np.count_nonzero(has & (ok != 1))), 'request that did not complete has', 'requests that did not complete have')} a {name}: not in these numbers"
            )
        for p in (0.5, 0.95, 0.99):
            if not len(values):
                number = unknown("no completed request has it", "ns")
            else:
                number = estimators.request_quantile(values, p, unit="ns", concurrency=concurrency)
            rows.append(bands.Row(f"{name} p{round(100 * p)}", run.marked(number)))
        if len(values) > 1:
            chart = distribution.draw(
                f"How is {name} distributed over the requests that completed?", {name: values.tolist()},
                run.footer(method="empirical distribution, completion order not shown"), unit="ns", axis=name,
            )  # fmt: skip
            parts.append(run.desk.figure(run.page, name.lower(), chart, "request_time", ok=1, **{key: KNOWN}))
    chart = bands.draw(
        "How long do requests wait for their first and for each further token?",
        rows,
        run.footer(notes=tuple(left_out)),
        axis="time",
    )
    parts.insert(1, run.desk.figure(run.page, "request-waits", chart, "request_time", ok=1))
    # Where chunks are on record, the section on tokens says what one is.
    parts.insert(1, "\n\n" if run.listed["tokens"] else f"\n{text(_CHUNKS)}\n\n")
    return "\n".join(parts)


def concurrency_of(run: Run) -> float | None:
    """The number of requests in flight that the capture declares, if it does."""
    return in_flight(run.desk, run.id)


def in_flight(desk: Desk, run_id: int) -> float | None:
    """The same, where no more of the run is needed."""
    for row in desk.ask("fact_list", run_id=run_id, order="part,key"):
        if row["key"] in ("concurrency", "max_concurrency"):
            try:
                value = float(row["value"])
            except ValueError:
                return None
            return value if value > 0 else None
    return None
