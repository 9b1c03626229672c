"""What our own recorder did not keep in full: lost, cut, only counted; and how closely it read the clocks."""

from __future__ import annotations

from akvsite.estimate import written
from akvsite.pages import Record
from akvsite.pages._html import Cell, code, counted, table, text
from akvsite.pages._run import Run

TITLE = "What the recorder says of itself"

LISTED = 200


def write(run: Run) -> str:
    lost = no_rows(run)
    clocks = run.desk.ask("clock_reading", run_id=run.id, order="process_id,device,source")
    parts = []
    if lost:
        parts.append(
            table(
                ["file", "kind of record", "what became of it", "records"],
                [[Cell(code(r["path"])), r["what"], r["fate"], counted(r["count"])] for r in lost],
                caption=f"Records that are no rows, counted; up to {LISTED}",
            )
        )
    if clocks:
        about = (
            "The clocks of the host and of a device, read together. Device times of this recorder are on the device's own clock; how far they are "
            "known on the host's axis is told under Two clocks."
        )
        parts.append(f"\n{text(about)}\n")
        parts.append(
            table(
                ["device", "read by", "readings", "from first to last", "closest", "tick, as the runtime gives it"],
                [
                    [r["device"], r["source"], counted(r["readings"]), _ns(r["span_ns"]), _ns(r["narrowest_ns"]), _ns(r["resolution_ns"])]
                    for r in clocks
                ],
                caption="Readings of two clocks",
            )
        )  # fmt: skip
    return "\n".join(parts)


def no_rows(run: Run) -> list[Record]:
    """What a recorder's files hold and no table does: the records of a run are listed without them."""
    return run.desk.ask("call_lost", run_id=run.id, order="path,fate,what", limit=LISTED)


def _ns(value: int | None) -> Cell:
    return Cell("unknown") if value is None else Cell(text(written(value, "ns")), value)
