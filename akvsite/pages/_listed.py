"""The listings of a run: which rows a page can load, and how another page leads to them.

A listing's files lie under ``data/rows/RUN/NAME/``; its page is ``rows/RUN.html``, whose address after ``#`` says what is
chosen: ``#of=calls&step=12&name=urEnqueueKernelLaunch``. Times in a listing count from the run's origin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from akvsite.errors import visible
from akvsite.listings import Column, Ids
from akvsite.pages import Desk
from akvsite.pages._run import Run


@dataclass(frozen=True)
class Listed:
    """One kind of rows. ``refers`` says of which listing a column's ids are rows; ``pick`` what a reader chooses by."""

    name: str
    title: str
    question: str
    order: str
    #: The level that adds such rows; empty where each level may have them.
    level: str
    pick: tuple[str, ...] = ()
    refers: tuple[tuple[str, str], ...] = ()
    #: Whether its rows have no id of their own: their first column is shown, which says of which row each is.
    of_rows: bool = False
    #: Whether it says which rows of another are one thing on record twice, and is no kind of its own to look at.
    pairs: bool = False


_STEP = ("step_id", "steps")

#: In this order, since a listing can refer to those before it alone.
LISTINGS: tuple[Listed, ...] = (
    Listed("steps", "Steps", "row_step", "process_id,start_ns,step_id", "", ("process", "kind", "source", "batch")),
    Listed("pairs", "Steps that two sources drew", "row_step_pair", "step_id,other_id", "", refers=(_STEP, ("other_id", "steps")), of_rows=True, pairs=True),
    Listed("requests", "Requests", "row_request", "start_ns,request_id", "", ("ok",)),
    Listed("events", "What happened to requests", "row_event", "at_ns,event_id", "runner", ("event", "request")),
    Listed("tokens", "Tokens", "row_token", "process_id,step,request,number,token_id", "", ("request",), (_STEP,)),
    Listed("phases", "Runner phases", "row_phase", "process_id,start_ns,phase_id", "runner", ("name", "thread"), (_STEP,)),
    Listed("regions", "Regions and layer windows", "row_region", "process_id,start_ns,region_id", "host", ("category", "name", "layer", "thread"), (_STEP,)),
    Listed("calls", "Runtime calls", "row_call", "process_id,start_ns,call_id", "edge", ("name", "kind", "source", "thread", "queue", "ran"), (_STEP,)),
    Listed("twins", "Calls on record twice", "row_same_call", "shim_id", "edge", refers=(("shim_id", "calls"), ("vendor_id", "calls")), of_rows=True, pairs=True),
    Listed("waits", "Events that calls waited for", "row_wait", "call_id,wait_id", "edge", refers=(("call_id", "calls"), ("maker_id", "calls"))),
    Listed("intervals", "Device records", "row_interval", "process_id,start_ns,own_start_ns,interval_id", "device",
           ("kind", "queue", "device", "name", "made_by"), (("call_id", "calls"), _STEP)),
    Listed("trials", "Timed trials", "row_trial", "trial_id", "", ("arm", "treatment", "repeat")),
    Listed("memory", "Memory samples", "row_memory", "process_id,at_ns,sample_id", "", ("process_id",)),
    Listed("allocations", "What an allocator reported", "row_allocation", "process_id,at_ns,allocation_id", "", ("action", "device", "stream")),
    Listed("gaps", "Gaps between the device records of a queue", "row_gap", "process_id,start_ns,own_start_ns,interval_id", "device",
           ("queue", "device"), (("interval_id", "intervals"), _STEP), of_rows=True),
    Listed("budget", "Where the host's time in a step went", "step_budget", "step_id,region", "host", ("region",), (_STEP,), of_rows=True),
    Listed("device_time", "Time that kernels and copies of a step cover", "step_device", "step_id,process_id,device,clock", "device",
           ("device",), (_STEP,), of_rows=True),
)  # fmt: skip

#: Of which rows the numbers of a question are made, where they are of one run: the listing, and what its rows must have.
_BEHIND: dict[str, tuple[str, dict[str, str]]] = {
    **dict.fromkeys(("step_time", "step_pair", "step_source"), ("steps", {})),
    **dict.fromkeys(("step_budget", "host_interval", "operator_device_time"), ("regions", {})),
    **dict.fromkeys(("request_time", "token_stream"), ("requests", {})),
    **dict.fromkeys(("call_time", "call_cost", "runtime_call", "handle_call", "open_call"), ("calls", {})),
    **dict.fromkeys(("host_wait", "wait_cost"), ("calls", {"kind": "wait"})),
    **dict.fromkeys(("interval", "device_time", "kernel_time", "launch_delay", "device_delay", "device_gap", "clock_band"), ("intervals", {})),
    **dict.fromkeys(("trial_time", "overlap_run", "looking_run", "loop_segment"), ("trials", {})),
    **dict.fromkeys(("memory_time", "loop_memory"), ("memory", {})),
    **dict.fromkeys(("memory_held", "memory_history"), ("allocations", {})),
    "layer_time": ("regions", {"category": "layer"}),
    "phase_time": ("phases", {}),
    **dict.fromkeys(("request_events", "row_event"), ("events", {})),
}  # fmt: skip

BY_NAME = {listed.name: listed for listed in LISTINGS}
#: Times of the device's own clock, which have an origin of their own.
_OWN_CLOCK = "own_start_ns"


def address(run: str, listing: str) -> str:
    """Where the files of a listing lie, under ``data/``."""
    return f"rows/{run}/{listing}"


def columns(desk: Desk, listed: Listed, ids: dict[str, Ids], host_ns: int, device_ns: int) -> list[Column]:
    """The columns of a listing as a page shows them; ``ids`` are those of the listings before it."""
    # The run is the page's, and the row's own id is its place.
    names = list(desk.described(listed.question).items())[1 if listed.of_rows else 2 :]
    refers = dict(listed.refers)
    return [
        Column(
            name,
            what,
            origin=device_ns if name == _OWN_CLOCK else host_ns if _is_time(name) else None,
            of=ids.get(refers[name]) if name in refers else None,
            pick=name in listed.pick,
        )
        for name, what in names
    ]


def _is_time(name: str) -> bool:
    """Whether a column holds a time and not a length of time."""
    lengths = ("duration_ns", "ttft_ns", "tpot_ns", "bound_ns")
    return name.endswith("_ns") and not name.endswith(lengths)


class Asked(str):
    """What an address asks of a column, in the signs of ``akv-filter.js``: a range, a part of a text, or "not known".

    Any other value that :func:`rows_link` is given is asked for as it is, whatever signs it holds.
    """


#: Rows in which a number is known: no length of time is less than this.
KNOWN = Asked("0..")


def part(name: str) -> Asked:
    """Rows whose text holds this."""
    return Asked(f"~{visible(name)}")


def between(low: int, high: int) -> Asked:
    return Asked(f"{low}..{high}")


def rows_link(run: str, listing: str, root: str, **chosen: object) -> str:
    """The address of rows of a run, as seen from a page whose way to the site's root is ``root``.

    ``chosen``: by column, the value that the rows have, None where it is not known; or :class:`Asked`.
    """
    asked = {name: value if isinstance(value, Asked) else _exactly(value) for name, value in chosen.items()}
    return f"{root}rows/{quote(run)}.html#{urlencode({'of': listing, **asked})}"


def _exactly(value: object) -> str:
    """What an address says of a column whose rows must have this value."""
    if value is None:
        return "!"
    said = visible(value)
    return f"={said}" if _SIGN.match(said) else said


#: Such a value would be read as what stands before an address's own signs: a part of a text, a range.
_SIGN = re.compile(r"[=~!]|(-?\d+)?\.\.(-?\d+)?$|$")


def named(run: str, listing: str, root: str, column: str, name: str, /, **chosen: object) -> str:
    """The address of rows that have this name in a column. Of a very long one, a part is enough to find it."""
    asked = part(visible(name)[:300]) if len(name) > 400 else name
    return rows_link(run, listing, root, **{column: asked, **chosen})


#: Steps that a number of a group can be made from: no second drawing of an iteration, no warm-up, and with an end.
OF_NUMBERS: dict[str, object] = {"nested": 0, "warm_up": 0, "duration_ns": KNOWN}


#: Tokens that a number of lives can be made from.
OF_LIVES: dict[str, object] = {"counted": 1}
#: Tokens after the first of their request.
LATER = Asked("1..")

#: Listings whose rows ``run_list`` counts, in a column of the same name.
_COUNTED = frozenset({"steps", "tokens", "requests", "phases", "intervals"})


def behind(
    run: Mapping[str, Any], question: str, root: str, of: str = "", **chosen: object
) -> tuple[str, str]:
    """The address of the rows that numbers of a question are made from, and what a link to it says.

    ``run``: its row of ``run_list``. ``of``: another listing than that of the question. ``chosen`` as for
    :func:`rows_link`: without it these are all rows of their kind, more than a number may be made from, and the link says so.
    """
    listing, always = _BEHIND.get(question, ("tokens" if question.startswith("token_") else "", {}))
    listing, always = (of, {}) if of else (listing, always)
    if not listing:
        return f"{root}rows/{quote(run['name'])}.html", "all rows of the run"
    address = rows_link(run["name"], listing, root, **always, **chosen)
    if chosen:
        return address, "rows"
    count = run[listing] if listing in _COUNTED else None
    kind = f"{', '.join(always.values())} of " if always else ""
    many = f", {count:,}" if count and not always else ""
    return (
        address,
        f"rows: all of the run ({kind}{BY_NAME[listing].title[0].lower()}{BY_NAME[listing].title[1:]}{many})",
    )


#: The pages of a run that follow its tokens, steps and calls: folder, title, and the count without which there is none.
READERS = (("tokens", "Tokens", "tokens"), ("steps", "Steps", "steps"), ("calls", "Runtime calls", "calls"))


def closer(run: Run, root: str, besides: str = "runs") -> str:
    """One line of links to the other pages of a run, but for the one in the folder ``besides``."""
    name = quote(run.name)
    pages = [
        ("runs", "The run"),
        *((f, title) for f, title, count in READERS if run.listed[count]),
        ("rows", "All rows"),
    ]
    links = [
        f'<a href="{root}{folder}/{name}.html">{title}</a>' for folder, title in pages if folder != besides
    ]
    return f'\n<p class="akv-closer">Of this run: {" · ".join(links)}</p>\n'
