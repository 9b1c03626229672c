"""All runs in one table that can be sorted and searched."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page
from akvsite.pages._html import counted, number_of, recorded, table
from akvsite.pages._stamps import run_cell, stamped_runs


def write(desk: Desk) -> Iterator[Page]:
    rows = desk.ask("run_list", order="name")
    stamped = stamped_runs(desk)
    body = table(
        ["run", "level", "host", "role", "use of its numbers", "steps", "requests", "host rows", "device records", "calls", "trials", "captured", "engine", "quarantined"],
        [
            [
                run_cell(r["name"], stamped), r["level"], r["host"] or "not stated", r["role"], r["use"],
                *(recorded(r[k]) for k in ("steps", "requests", "host_rows", "intervals", "calls", "trials")),
                r["started"] or "not stated", r["engine"] or "not stated", counted(r["quarantined"]),
            ]
            for r in rows
        ],
        sortable=True,
    )  # fmt: skip
    yield Page(
        "runs",
        f"---\nhide:\n  - toc\n---\n\n# Runs\n\n{number_of(len(rows), 'run')}. A click on a column's head sorts; the field above the table filters by any word.\n{body}"
        "\nCounts are records in the store, warm-up included. What a level does not capture is not recorded, which is not the same as none.\n",
    )
