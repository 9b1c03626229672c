"""What is declared and known about the run: contract, host, load, software, device."""

from __future__ import annotations

from akvsite.pages._html import captured, table
from akvsite.pages._run import Run

TITLE = "Contract and facts"


def write(run: Run) -> str:
    facts = run.desk.ask("fact_list", run_id=run.id, order="part,key")
    if not facts:
        return "\nNo facts: the files name none, and no capture.toml declares any.\n"
    order = ("contract", "host", "load", "software", "device", "capture")
    facts.sort(key=lambda f: (order.index(f["part"]) if f["part"] in order else len(order), f["key"]))
    return table(["part", "fact", "value"], [[f["part"], f["key"], captured(f["value"])] for f in facts])
