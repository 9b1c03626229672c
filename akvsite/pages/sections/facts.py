"""What is declared and known about the run: contract, host, load, software, device."""

from __future__ import annotations

from akvsite.pages import Record
from akvsite.pages._html import Cell, captured, table
from akvsite.pages._run import Run

TITLE = "Contract and facts"


def write(run: Run) -> str:
    facts = run.desk.ask("fact_list", run_id=run.id, order="part,key")
    if not facts:
        return "\nNo facts: the files name none, and no capture.toml declares any.\n"
    order = ("contract", "host", "load", "software", "device", "capture")
    facts.sort(key=lambda f: (order.index(f["part"]) if f["part"] in order else len(order), f["key"]))
    return table(["part", "fact", "value"], [[f["part"], f["key"], _value(f)] for f in facts])


def _value(fact: Record) -> Cell:
    """The fact as stated; what a tool summed up by itself says that it has no band here and is no speed."""
    cell = captured(fact["value"])
    if fact["part"] == "capture" and fact["key"].startswith("declared."):
        return Cell(f"{cell.html} (stated by the tool: no band, not measured here, not a speed)", cell.sort)
    return cell
