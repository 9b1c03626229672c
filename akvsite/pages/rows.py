"""The rows themselves: one page a run, whose listings the other pages of the run load too."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.listings import Ids
from akvsite.pages import Desk, Page
from akvsite.pages._html import Cell, counted, items, link, table, text
from akvsite.pages._listed import BY_NAME, LISTINGS, READERS, Listed, address, closer, columns, rows_link
from akvsite.pages._overlap_said import SEEN
from akvsite.pages._reader import reader
from akvsite.pages._run import ADDS, Run, load
from akvsite.pages._stamps import stamps

#: Its pages may be written in a second process: no other page needs what they leave.
BESIDE = True


def write(desk: Desk) -> Iterator[Page]:
    for listed in desk.ask("run_list", order="name"):
        yield Page(f"rows/{listed['name']}", _page(load(desk, listed)))


def _page(run: Run) -> str:
    rows = _listings(run)
    absent = {listed.name: _none(run, listed) for listed in LISTINGS if not _told(run, listed, rows)}
    kinds = [listed for listed in LISTINGS if listed.name not in absent and not listed.pairs]
    besides = [text(why) for name, why in absent.items() if not BY_NAME[name].pairs]
    besides += [text(f"{listed.title}: {rows[listed.name]:,}, counted; told with each of the rows that are one thing.") for listed in LISTINGS
                if listed.pairs and rows[listed.name]]  # fmt: skip
    return "\n".join(
        part
        for part in (
            f"# Rows of {text(run.name)}\n",
            stamps(run.desk, "../", run=run.name),
            closer(run, "../", "rows"),
            reader(
                run,
                "browse",
                "Which rows does the run have?",
                listings=tuple(listed.name for listed in kinds),
                seen=run.seen(),
                axis="both",
                until=_counts(run, kinds, rows),
                level=run.level,
                use=run.use,
                stamps=run.withdrawn,
                kinds=_kinds(run, kinds, rows),
                same=_same(rows),
                absent=absent,
            ),
            items(besides) if besides else "",
        )
        if part
    )


def _counts(run: Run, kinds: list[Listed], rows: dict[str, int]) -> str:
    """How many rows of each kind, as the script's own links say too."""
    return table(
        ["rows", "how many"],
        [[Cell(link(of.title, rows_link(run.name, of.name, "../"))), counted(rows[of.name])] for of in kinds],
    )


def _told(run: Run, listed: Listed, rows: dict[str, int]) -> bool:
    """Whether rows of a listing are shown: what lies between records is not known to be a gap below full sight."""
    return bool(rows[listed.name]) and (listed.name != "gaps" or run.full_sight)


def _kinds(run: Run, kinds: list[Listed], rows: dict[str, int]) -> list[dict[str, object]]:
    """What the script is told of each listing with rows: what it is chosen by and refers to, and where its page is."""
    pages = {folder: f"../{folder}/{run.name}.html" for folder, _, count in READERS if run.listed[count]}
    keys = {"tokens": ("tokens", "token", "The life of this token"), "steps": ("steps", "step", "The profile of this step"),
            "calls": ("calls", "call", "What is associated with this call")}  # fmt: skip
    told = []
    for listed in kinds:
        refers = {column: to for column, to in listed.refers if rows[to]}
        if "request" in run.desk.described(listed.question) and rows["requests"]:
            refers["request"] = "requests"
        about = {
            "name": listed.name,
            "title": listed.title,
            "rows": rows[listed.name],
            "pick": listed.pick,
            "refers": refers,
            "said": _said(run, listed),
        }
        folder, key, what = keys.get(listed.name, ("", "", ""))
        if folder in pages:
            about |= {"page": pages[folder], "key": key, "about": what}
        told.append(about)
    return told


def _same(rows: dict[str, int]) -> list[dict[str, object]]:
    """The listings that tell which rows of another are one thing on record twice."""
    return [
        {"name": listed.name, "of": listed.refers[0][1], "columns": [name for name, _ in listed.refers], "title": listed.title}
        for listed in LISTINGS
        if listed.pairs and rows[listed.name]
    ]  # fmt: skip


def _said(run: Run, listed: Listed) -> str:
    """What stands under rows that are read wrongly without it; plain text, most have none."""
    if listed.name == "gaps":
        return (
            "Each is a gap of one queue, told by the record that ends it; another queue may be at work meanwhile. One of "
            f"{run.least_gap_ns:,} ns or less is not known to be one: {run.ticks}."
        )
    if listed.name == "device_time":
        return f"That kernels and copies share time was {SEEN}."
    return ""


def _none(run: Run, listed: Listed) -> str:
    """Why there are no such rows, as plain text."""
    if listed.name == "gaps" and run.blind:
        return f"{listed.title}: where no record lies on a queue is not known to be idle, and no gap is told: {run.blind}."
    adds = f"; level {listed.level} adds {ADDS[listed.level]}" if listed.level else ""
    return f"{listed.title}: none on record{adds}."


def _listings(run: Run) -> dict[str, int]:
    """Write every listing of the run, each after those that it refers to; rows of each."""
    origin = run.desk.ask("row_origin", run_id=run.id)[0]
    host_ns, device_ns = origin["host_ns"] or 0, origin["device_ns"] or 0
    ids: dict[str, Ids] = {}
    rows = {}
    for listed in LISTINGS:
        made = run.desk.listing(
            address(run.name, listed.name), listed.question, columns(run.desk, listed, ids, host_ns, device_ns),
            order=listed.order, run_id=run.id,
        )  # fmt: skip
        ids[listed.name] = made.ids
        rows[listed.name] = made.rows
    return rows
