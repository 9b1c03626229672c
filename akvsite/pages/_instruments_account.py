"""What each capture saw and lost: a row for each run, counts alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from akvsite.milestones import TOKEN as MILESTONES
from akvsite.pages import Desk, Record
from akvsite.pages._html import Cell, counted, link, number_of, recorded, table, text
from akvsite.pages._stamps import run_cell, stamped_runs
from akvsite.tables import TABLES

#: The reader of our own recorders' files, which alone say what they lost.
OWN = "akvlog"
#: How the reasons of records begin that a recorder made and that are not there.
LOST = ("lost:", "hole:", "missing:", "never read:", "written over")
QUARANTINE = "quarantine"
_SORTS = ("stored", "reason", QUARANTINE)
CALLS, RECORDS = "calls with device records", "device records with a call"

_ABOUT = (
    "All numbers here are counts of records, warm-up included: nothing is estimated, and so nothing has a band. What a level does not "
    "capture is not recorded, which is not the same as none. What was lost is known of files of our own recorders alone, since only they "
    "say it of themselves; of every other tool it is unknown. A record is in tables, is counted with a reason, or is in the "
    "quarantine: the three together are all that the files hold, and their number leads to the "
    "account of every file."
)
_HEAD = (
    "run", "level", "files", "records in files", "in tables", "counted with a reason", "in quarantine",
    "lost by a recorder", "calls that never returned", "launches with device records", "device records with a launch",
    "tokens and their milestones", "readings of memory", "allocator's history and blocks",
)  # fmt: skip


def write(desk: Desk) -> str:
    runs = desk.ask("run_list", order="name")
    fates = _by_run(desk.ask("capture_account"))
    kept = {row["run_id"]: row for row in desk.ask("capture_kept")}
    tokens = {row["run_id"]: row for row in desk.ask("token_account")}
    seen = _by_run(desk.ask("coverage", order="kind"))
    stamped = stamped_runs(desk)
    rows = [
        _row(run, fates[run["run_id"]], kept[run["run_id"]], tokens.get(run["run_id"]), seen[run["run_id"]], run_cell(run["name"], stamped))
        for run in runs
    ]  # fmt: skip
    return f"\n{text(_ABOUT)}\n" + table(
        _HEAD, rows, caption=f"Records of {number_of(len(rows), 'run')}, counted", sortable=True
    )


def _row(
    run: Record,
    fates: Sequence[Record],
    kept: Record,
    tokens: Record | None,
    seen: Sequence[Record],
    name: Cell,
) -> list[object]:
    stored, reasons, refused = (
        sum(row["records"] for row in fates if sort == _sort(row["fate"])) for sort in _SORTS
    )
    held = stored + reasons + refused
    cut = f", {kept['cut_short']:,} cut short" if kept["cut_short"] else ""
    return [
        name, run["level"], Cell(text(f"{kept['files']:,}{cut}"), kept["files"]),
        Cell(link(f"{held:,}", f"runs/{run['name']}.html#records"), held), *map(counted, (stored, reasons, refused)),
        _lost(fates), _open(run, kept),
        _seen(seen, CALLS), _seen(seen, RECORDS), _milestones(tokens),
        recorded(kept["samples"]), recorded(kept["entries"] + kept["blocks"]),
    ]  # fmt: skip


def _sort(fate: str) -> str:
    """Which of ``_SORTS`` it is, or ``lost``: what a recorder lost is in no file."""
    if fate.startswith(LOST):
        return "lost"
    return QUARANTINE if fate == QUARANTINE else "stored" if fate in TABLES else "reason"


def _lost(fates: Sequence[Record]) -> Cell:
    """What our own recorders say that they lost; None where no file says anything of it."""
    if not any(row["format"] == OWN for row in fates):
        return Cell("unknown: no file tells it", None)
    lost = sum(row["records"] for row in fates if row["fate"].startswith(LOST))
    others = {row["format"] for row in fates} - {OWN}
    return Cell(
        text(f"{lost:,}") + (f"; of {text(', '.join(sorted(others)))} unknown" if others else ""), lost
    )


def _open(run: Record, kept: Record) -> Cell:
    if not run["calls"]:
        return recorded(0)
    return (
        Cell("unknown: no recorder tells it", None)
        if kept["open_calls"] is None
        else counted(kept["open_calls"])
    )


def _seen(rows: Iterable[Record], direction: str) -> Cell:
    """n of m by kind; sorted by how many are missing."""
    own = [row for row in rows if row["direction"] == direction]
    if not own:
        return recorded(0)
    words = ", ".join(f"{row['kind']} {row['seen']:,} of {row['expected']:,}" for row in own)
    return Cell(text(words), sum(row["expected"] - row["seen"] for row in own))


def _milestones(row: Mapping[str, int] | None) -> Cell:
    """How many tokens, and of how many of them each milestone is known; those that all have are told together."""
    if row is None:
        return recorded(0)
    of = row["tokens"]
    whole = [m for m in MILESTONES if row[m] == of]
    short = [f"{m.replace('_', ' ')} {row[m]:,} of {of:,}" for m in MILESTONES if row[m] < of]
    words = f"{number_of(of, 'token')}: {len(whole)} of {len(MILESTONES)} milestones of all of them"
    return Cell(text("; ".join([words, *short])), sum(of - row[m] for m in MILESTONES))


def _by_run(rows: Iterable[Record]) -> defaultdict[int, list[Record]]:
    found: defaultdict[int, list[Record]] = defaultdict(list)
    for row in rows:
        found[row["run_id"]].append(row)
    return found
