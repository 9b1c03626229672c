"""One page a run: what it can and cannot establish, then whichever levels it has."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from akvsite.pages import Desk, Page, sections
from akvsite.pages._cited import cited_by
from akvsite.pages._html import captured, items, link, number_of, stamp, table, text
from akvsite.pages._listed import closer
from akvsite.pages._load import fingerprint
from akvsite.pages._quoted import quoted
from akvsite.pages._run import ADDS, Run, load, stamped_history
from akvsite.pages._stamps import comparison_link, stamped_comparisons, stamps, stamps_of_runs
from akvsite.tables import LEVELS


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        yield Page(f"runs/{listed['name']}", _page(load(desk, listed)))


def _page(run: Run) -> str:
    parts = [
        f"# {text(run.name)}\n",
        stamps(run.desk, "../", run=run.name),
        stamps_of_runs(
            run.desk,
            "../",
            stamped_history(run.desk, run.id),
            why="whose spread is in the band by history",
            besides=run.name,
        ),
        stamp([f"{text(run.use_because.capitalize())}. The run stays in the store and on this page."])
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
    missing = run.desk.ask("contract_of_run", run_id=run.id)[0]["missing"]
    rows = [
        ["level", listed["level"]],
        ["host and role", host],
        ["use of its numbers", run.use],
        ["because", run.use_because],
        ["engine", captured(listed["engine"]) if listed["engine"] else "not stated"],
        ["captured", listed["started"] or "not stated"],
        ["timing events on device queues", _timing(run)],
        [
            "warm-up",
            f"{number_of(run.warm_up_steps, 'step')}, declared"
            if run.warm_up_steps is not None
            else "none declared",
        ],
        ["device clock", run.clock_line],
        ["contract", f"not stated: {missing}" if missing else "complete"],
        ["load before it", captured(fingerprint(run.desk, run.id))],
    ]
    note = quoted(run.note or "")
    return (
        table(["about", "this run"], rows)
        + closer(run, "../")
        + f"\n{link('For other tools', '../export.html')}: `akvsite export {run.name} --format perfetto`, parquet or csv.\n"
        + note
        + cited_by(run.desk, "../", "runs", run.name)
    )


def _timing(run: Run) -> str:
    """What the capture declares, and what its records show of it."""
    seen = run.desk.ask("timing_seen", run_id=run.id)
    if not seen or run.timing == "on":
        return run.timing
    stretches = number_of(seen[0]["stretches"], "stretch", "stretches")
    return f"on: {stretches} between timing events are in the records, although {run.timing} is declared"


def _establishes(run: Run) -> Iterator[str]:
    listed = run.listed
    if listed["use"] == "speed":
        yield "It may state speed: nothing but the wall clock was recorded, on a proof host. Only a number with a band states it."
    else:
        yield f"It cannot state speed: {text(run.use_because)}."
    yield f"It has {text(_holds(run))}."
    yield from _cut_off(run)
    if not (listed["steps"] or listed["trials"]):
        yield "It draws no step boundaries: no time of a step can be told from it."
    if listed["intervals"]:
        seen = f" ({text(run.seen())})" if run.coverage else ""
        if run.full_sight:
            yield f"Every call has its device records and every device record its call{seen}."
        else:
            yield f"Not everything that ran is known to be in the records: {text(run.blind)}{seen}. What is missing is no fact about the device, and idle time is unknown."
        yield "That records share time on a timeline was seen while instruments ran: overlap, serialisation and waiting stay open until a control with capture off."
        ticks = f" {text(run.ticks.capitalize())}: no gap below that is stated." if run.ticks else ""
        yield f"Device times lie on the host's axis as “device clock” above says.{ticks}"
    elif listed["calls"]:
        launches = f" ({run.seen()})" if run.coverage else ""
        yield f"It has runtime calls and no device records{text(launches)}: what the device did is unknown, not idle."
    for level, count, question in _ABSENT:
        if not listed[count]:
            if LEVELS.index(listed["level"]) < LEVELS.index(level):
                yield f"{question} is not known: level {level} would add {text(ADDS[level])}."
            else:
                yield f"{question} is not known: level {level} adds {text(ADDS[level])}, and its files hold none."
    if listed["quarantined"]:
        yield f"{text(number_of(listed['quarantined'], 'record'))} could not be used; see Records."
    several = run.desk.ask("comparison_list", run=run.name, order="comparison")
    stamped = stamped_comparisons(run.desk) if several else {}
    links = ", ".join(comparison_link(c["comparison"], c["title"], stamped, "../") for c in several)
    yield "One run says nothing about the next" + (
        f"; it is one of several in: {links}." if links else ": between runs is unknown."
    )


def _cut_off(run: Run) -> Iterator[str]:
    """Whether a process of the run was ended before its time, and which steps that left open."""
    facts = {r["key"]: r["value"] for r in run.desk.ask("fact_list", run_id=run.id, part="capture")}
    if signal := facts.get("ended_by_signal"):
        yield f"It was ended by a signal, {text(signal)}: what was recorded before it is here."
    elif "no:" in facts.get(NORMAL_EXIT, ""):
        yield "A process of it never reached its normal exit: a signal or _exit ended it, or it still ran. What was recorded before is here."
    opened = [
        step
        for step in run.desk.ask("step_time", run_id=run.id, nested=0, end_ns=None, order="start_ns,step_id")
        if step["start_ns"] is not None
    ]
    if opened:
        yield f"{text(number_of(len(opened), 'step has', 'steps have'))} a beginning and no end (the last is {text(opened[-1]['name'])}): no duration, and in no number."


#: The fact of a recorder's file that says how its process ended.
NORMAL_EXIT = "akvlog.process ended by its normal exit"

#: What a run without such rows cannot say: the level that would add them, their count, and the question.
_ABSENT = (
    ("runner", "tokens", "What happened to a token"),
    ("runner", "phases", "What the runner did in and between steps"),
    ("host", "host_rows", "Where the time inside a step went on the host"),
    ("device", "intervals", "What ran on a device"),
    ("edge", "calls", "Which runtime calls were made"),
)

_HOLDINGS = (
    ("steps", "step"), ("requests", "request"), ("tokens", "token or stream chunk"), ("trials", "timed trial"), ("phases", "runner phase"),
    ("host_rows", "host row"), ("intervals", "device record"), ("calls", "runtime call"),
)  # fmt: skip


def _holds(run: Run) -> str:
    listed = run.listed
    found = [
        number_of(listed[key], what, "tokens or stream chunks" if key == "tokens" else "")
        for key, what in _HOLDINGS
        if listed[key]
    ]
    if run.desk.ask("memory_reserved", run_id=run.id, limit=1):
        found.append("what torch's allocator held at one moment")
    return ", ".join(found) or "no event: 0 events were found in its files"
