"""The experiments: designed sets of runs, each with its page."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page, Record, aa, overlap, probe, tracer
from akvsite.pages._html import captured, table, text
from akvsite.pages._stamps import run_cell, stamped_runs

#: Experiments with a page of their own, by their name among a run's facts: its title.
TITLES = {page.EXPERIMENT: page.TITLE for page in (overlap, probe, tracer, aa)}
#: Uses of a run whose capture was off: see ``run_use``.
_CAPTURE_OFF = ("speed", "comparison under the same load")


def write(desk: Desk) -> Iterator[Page]:
    stamped = stamped_runs(desk)
    rows = []
    for run in desk.ask("run_list", order="name"):
        facts = {f["key"]: f["value"] for f in desk.ask("fact_list", run_id=run["run_id"], part="capture")}
        if not run["trials"] or "experiment" not in facts:
            continue
        folder = "experiments" if facts["experiment"] in TITLES else "runs"
        rows.append(
            [
                run_cell(run["name"], stamped, folder=folder),
                captured(facts["experiment"]), run["level"],
                "off: may serve as a control" if run["use"] in _CAPTURE_OFF else _no_control(desk, run),
                run["host"] or "not stated", run["role"], run["started"] or "not stated",
                captured(facts.get("blocks", "not stated")), captured(facts.get("seed", "not stated")),
                captured(facts.get("design", "not stated")),
            ]
        )  # fmt: skip
    words = text(
        "An experiment is a designed set of runs: treatments in blocks, the order drawn from a seed that is kept, a fresh process for "
        "each run. It is what a number about an instrument stands on, and one with capture off may serve as the control of a claim."
    )
    head = ["experiment", "what", "level", "capture", "host", "role", "made on", "blocks", "seed", "design"]
    body = table(head, rows, sortable=True) if rows else "\nNo experiment is in the store.\n"
    yield Page("experiments", f"# Experiments\n\n{words}\n{body}")


def _no_control(desk: Desk, run: Record) -> str:
    return f"no control: {desk.ask('run_use', run_id=run['run_id'])[0]['because']}"
