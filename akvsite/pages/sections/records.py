"""What the files held, and what became of every record in them."""

from __future__ import annotations

from akvsite.pages._html import Cell, code, counted, number_of, table, text
from akvsite.pages._run import Run
from akvsite.pages.sections.recorder import no_rows

TITLE = "Records"


def write(run: Run) -> str:
    files = run.desk.ask("file_list", run_id=run.id, order="path")
    account = run.desk.ask("record_account", run_id=run.id, order="path,fate,what")
    refused = run.desk.ask("quarantine_list", run_id=run.id, order="path,reason")
    cut = [f for f in files if f["truncated"]]
    parts = []
    if cut:
        ends = ", ".join(
            f["path"]
            + (
                f" (last time {f['last_ns']:,} ns)"
                if f["last_ns"] is not None
                else " (nothing whole before the cut)"
            )
            for f in cut
        )
        parts.append(f"\n{text(f'Cut short: {ends}. What came before the cut is shown.')}\n")
    if not any(r["fate"].startswith("level") or r["fate"] in ("step", "request", "trial") for r in account):
        read = number_of(sum(r["count"] for r in account), "record was", "records were")
        parts.append(f"\n{text(read)} read, and 0 events among them: there is nothing to draw.\n")
    parts.append(
        table(
            ["file", "read as", "bytes", "sha256", "whole"],
            [
                [
                    Cell(code(f["path"])),
                    f["format"],
                    counted(f["bytes"]),
                    Cell(code(f["sha256"][:16])),
                    "cut short" if f["truncated"] else "yes",
                ]
                for f in files
            ],
        )
    )
    above = {(r["path"], r["what"], r["fate"]) for r in no_rows(run)}
    parts.append(
        table(
            ["file", "kind of record", "what became of it", "records"],
            [
                [Cell(code(r["path"])), r["what"], r["fate"], counted(r["count"])]
                for r in account
                if (r["path"], r["what"], r["fate"]) not in above
            ],
            caption=f"Every record of every file{', but for those above that are no rows' if above else ''}",
        )
    )
    if refused:
        parts.append(
            table(
                ["file", "why it was not used", "records", "place of the first", "the first"],
                [
                    [
                        Cell(code(r["path"])),
                        r["reason"],
                        counted(r["records"]),
                        r["place"],
                        Cell(code(r["raw"], 160)),
                    ]
                    for r in refused
                ],
                caption="Quarantine: kept, not used",
            )
        )
    return "\n".join(parts)
