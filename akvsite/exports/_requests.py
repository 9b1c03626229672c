"""Requests in a trace: a track each, with what happened to it, and the lives of its tokens made of their segments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

from akvsite.exports._lanes import Arguments, Lanes
from akvsite.exports._packets import Packets
from akvsite.exports._rows import ROWS, Source, columns
from akvsite.milestones import TOKEN

Record = dict[str, Any]

_BY_NAME = {kind.name: kind for kind in ROWS}


@dataclass
class _Slice:
    start_ns: int
    end_ns: int | None
    name: str
    arguments: Arguments
    within: list[_Slice] = field(default_factory=list)


def write(source: Source, packets: Packets, group: int, later_ns: int, written: dict[str, int]) -> None:
    """Every request, its events and its tokens; ``written`` is told how many rows had a time."""
    requests = _by_request(source, "requests", "name")
    events = _by_request(source, "events", "request")
    written |= {"requests": 0, "events": 0, "tokens": 0}
    rank = 0
    for name, tokens in _tokens(source):
        _one(
            packets,
            group,
            later_ns,
            written,
            name,
            rank,
            requests.pop(name, []),
            events.pop(name, []),
            tokens,
        )
        rank += 100
    for name in sorted({*requests, *events}):
        _one(packets, group, later_ns, written, name, rank, requests.pop(name, []), events.pop(name, []), [])
        rank += 100


def _one(
    packets: Packets, group: int, later_ns: int, written: dict[str, int], name: str, rank: int,
    requests: list[Record], events: list[Record], tokens: list[Record],
) -> None:  # fmt: skip
    """One request's track. Each request of a file without starts counts from its own: it is on no common axis."""
    common = [row for row in requests if row["zero"] == "capture"]
    apart = [row for row in requests if row["zero"] != "capture"]
    lives = [life for row in tokens if (life := _life(row)) is not None]
    lanes = Lanes(packets, f"request {name}", group, rank)
    _draw(lanes, later_ns, [*(s for row in common if (s := _request(row)) is not None), *lives])
    for row in events:
        lanes.instant(
            row["at_ns"] + later_ns,
            row["event"],
            {k: v for k, v in row.items() if k not in ("event", "at_ns")},
        )
    lanes.close()
    if apart:
        own = Lanes(packets, f"request {name} (times count from its own start)", group, rank + 50)
        _draw(own, later_ns, [s for row in apart if (s := _request(row)) is not None])
        own.close()
    written["requests"] += sum(row["start_ns"] is not None for row in requests)
    written["events"] += len(events)
    written["tokens"] += len(lives)


def _draw(lanes: Lanes, later_ns: int, slices: list[_Slice]) -> None:
    flat = [one for each in slices for one in (each, *each.within)]
    flat.sort(key=lambda s: (s.start_ns, -(s.start_ns if s.end_ns is None else s.end_ns)))
    for s in flat:
        lanes.slice(
            s.start_ns + later_ns, None if s.end_ns is None else s.end_ns + later_ns, s.name, s.arguments
        )


def _request(row: Record) -> _Slice | None:
    start, took = row["start_ns"], row["duration_ns"]
    if start is None:
        return None
    told = {k: v for k, v in row.items() if k not in ("name", "start_ns", "duration_ns")}
    return _Slice(start, None if took is None else start + took, f"request {row['name']}", told)


def _life(row: Record) -> _Slice | None:
    """A token from its first milestone to its last; the arrival is of the request, and stands with the first token alone.

    Where milestones are out of order there are no segments: the slice says it, and has all of them as arguments.
    """
    known = [
        (place, row[f"{word}_ns"])
        for place, word in enumerate(TOKEN)
        if row[f"{word}_ns"] is not None and (place or row["number"] == 0)
    ]
    if not known:
        # Its request's arrival is all that is on record.
        known = [(0, row["arrived_ns"])] if row["arrived_ns"] is not None else []
    if not known:
        return None
    times = [at for _, at in known]
    name = f"token {row['number']}"
    if len(known) == 1:
        return _Slice(times[0], None, name, {**row, "milestones": 1})
    if any(b < a for a, b in pairwise(times)):
        return _Slice(min(times), max(times), name, {**row, "milestones": "out of order, as recorded"})
    bound = row["device_bound_ns"]
    within = [_segment(a, b, bound) for a, b in pairwise(known)]
    return _Slice(times[0], times[-1], name, dict(row), within)


def _segment(before: tuple[int, int], after: tuple[int, int], bound: int | None) -> _Slice:
    """A stretch that steps over a milestone that is not on record is known as a whole alone."""
    words = f"{_word(before[0])} to {_word(after[0])}"
    whole = after[0] == before[0] + 1
    device = [place for place, _ in (before, after) if TOKEN[place].startswith("device")]
    told: Arguments = {} if whole else {"inside": "not on record"}
    if device:
        told["bound_ns" if bound is not None else "bound"] = bound if bound is not None else "not known"
    return _Slice(before[1], after[1], words if whole else f"unknown: {words}", told)


def _word(place: int) -> str:
    return TOKEN[place].replace("_", " ")


def _by_request(source: Source, name: str, key: str) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for row in _records(source, name):
        found.setdefault(row[key], []).append(row)
    return found


def _tokens(source: Source) -> Iterator[tuple[str, list[Record]]]:
    """The tokens of one request after the other: they are in memory one request at a time."""
    for name, rows in groupby(_records(source, "tokens"), key=lambda row: row["request"]):
        yield name, list(rows)


def _records(source: Source, name: str) -> Iterator[Record]:
    kind = _BY_NAME[name]
    names = columns(kind)
    for batch in source.rows(kind):
        for row in batch:
            yield dict(zip(names, row, strict=True))
