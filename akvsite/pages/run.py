"""One page a run: what it can and cannot establish, then whichever levels it has."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from akvsite.pages import Desk, Page, sections
from akvsite.pages._html import captured, items, link, stamp, table, text
from akvsite.pages._quoted import quoted
from akvsite.pages._run import ADDS, LEVELS, Run, load
from akvsite.pages._stamps import stamps


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        yield Page(f"runs/{listed['name']}", _page(load(desk, listed)))


def _page(run: Run) -> str:
    parts = [
        f"# {text(run.name)}\n",
        stamps(run.desk, "../", run=run.name),
        stamp([f"Excluded: {text(run.use_because)}. The run stays in the store and on this page."])
        if run.listed["excluded"]
        else "",
        _about(run),
        "\n## What this capture can and cannot establish\n",
        items(_establishes(run)),
    ]
    for name in sections.ORDER:
        section = importlib.import_module(f"{sections.__name__}.{name}")
        body = section.write(run)
        if body:
            parts.append(f"\n## {section.TITLE}\n{body}")
    return "\n".join(part for part in parts if part)


def _about(run: Run) -> str:
    listed = run.listed
    host = f"{listed['host']} ({listed['role']})" if listed["host"] else "not stated"
    rows = [
        ["level", listed["level"]],
        ["host and role", host],
        ["use of its numbers", f"{run.use}: {run.use_because}"],
        ["engine", captured(listed["engine"]) if listed["engine"] else "not stated"],
        ["captured", listed["started"] or "not stated"],
        ["timing events on device queues", run.timing],
        [
            "warm-up",
            f"{run.warm_up_steps} steps, declared" if run.warm_up_steps is not None else "none declared",
        ],
        ["device clock", run.clock_line],
    ]
    note = quoted(run.note or "")
    cites = [
        c
        for c in run.desk.ask("claim_cites", name=run.name, order="claim,kind")
        if c["kind"] in ("run", "control")
    ]
    cited = (
        f"\nCited by: {', '.join(link(c['claim'], '../claims.html#' + c['claim']) for c in cites)}.\n"
        if cites
        else ""
    )
    return table(["about", "this run"], rows) + note + cited


def _establishes(run: Run) -> Iterator[str]:
    listed = run.listed
    if listed["use"] == "speed":
        yield "It can state speed: nothing but the wall clock was recorded, on a proof host."
    else:
        yield f"It cannot state speed: {text(run.use_because)}."
    if listed["steps"]:
        yield f"It has {listed['steps']:,} steps by their start and end on the host."
    elif not (listed["requests"] or listed["trials"]):
        yield "It draws no step boundaries: no time of a step can be told from it."
    if listed["intervals"]:
        seen = run.seen()
        if not seen:
            yield "It has device records and no runtime calls: how many launches left no record is unknown, and so is idle time."
        elif run.full_sight:
            yield f"Every call has its device records and every device record its call ({text(seen)})."
        else:
            yield f"Not every record was seen ({text(seen)}): what is missing is no fact about the device, and idle time is unknown."
        yield "That records share time on a timeline was seen while instruments ran: overlap, serialisation and waiting stay open until a control with capture off."
        yield f"Device times on the host's axis: {text(run.clock_line)}. No gap below the tick of its source is stated."
    elif listed["calls"]:
        yield "It has runtime calls and no device records: what the device did is unknown, not idle."
    here = LEVELS.index(run.level)
    for level in LEVELS[here + 1 :]:
        yield f"It does not have {text(ADDS[level])}: level {level} would add that."
    if listed["quarantined"]:
        yield f"{listed['quarantined']:,} records could not be used; they are listed under Records."
    yield "One run says nothing about the next: between runs is unknown unless a comparison has several."
