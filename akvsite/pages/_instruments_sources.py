"""Where two sources of one run do not say the same: steps, calls, device records, and the client against the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.estimate import Estimate, outward, written
from akvsite.pages import Desk, Record
from akvsite.pages._html import Cell, captured, code, counted, estimated, number_of, table, text
from akvsite.pages._stamps import Stamped, run_cell, stamped_runs
from akvsite.pages.sections.requests import in_flight

#: Pairs of a run that are listed, of each quantity.
LISTED = 5
#: The step in which our recorders and the vendors' tracers write the host's times, ns.
WRITTEN_NS = 1
USE = "structure, not speed"

_ABOUT = (
    "Two records that are taken for the same thing are set beside each other: each pair is an association. Of each quantity this tells how "
    "many pairs there were, the median and the widest difference, and how many differ by more than what the clocks of both leave open: "
    "the bound of the axis, where two tools were brought to one, and the step or tick in which the times are written. Nothing is judged: two sources may "
    "mean different moments by the same word. Pairs within the bound are counted and not listed."
)

Ints = np.ndarray[Any, Any]
#: What a listed pair is called, and what each of the two says of it; from its place in the columns.
Told = Callable[[int], tuple[Cell, str, str]]


@dataclass(frozen=True)
class Compared:
    """One quantity of one run by two sources: ``apart_ns`` (n,), the second less the first.

    ``bound_ns`` (n,) is how far a difference may come from the clocks alone, None where that is not known.
    """

    run: Record
    what: str
    first: str
    second: str
    apart_ns: Ints
    bound_ns: Ints | None
    told: Told
    #: Where the pairs are requests, in the order in which they were done: how many were in flight together, if declared.
    of_requests: bool = False
    in_flight: float | None = None

    @property
    def median(self) -> Estimate:
        """Its band rests on the pairs; requests in flight together share their waiting."""
        if self.of_requests:
            made = estimators.request_quantile(self.apart_ns, 0.5, unit="ns", concurrency=self.in_flight)
        else:
            made = estimators.quantile(self.apart_ns, 0.5, unit="ns")
        bounds = None if self.bound_ns is None else self.bound_ns.astype(np.float64)
        return estimators.with_clock(
            replace(made, use=USE), bounds, "unproven" if bounds is None else "bounded"
        )

    @property
    def beyond(self) -> Ints | None:
        """Which pairs differ by more than their bound, (n,) bool."""
        return None if self.bound_ns is None else np.abs(self.apart_ns) > self.bound_ns


def write(desk: Desk) -> str:
    runs = desk.ask("run_list", order="name")
    stamped = stamped_runs(desk)
    parts = [f"\n{text(_ABOUT)}\n", _counts(desk, runs, stamped)]
    numbers: list[list[object]] = []
    tokens: list[list[object]] = []
    lists: dict[str, list[list[object]]] = {}
    for run in runs:
        # One run at a time: its pairs are gone before those of the next one come.
        requests = _request_pairs(desk, run)
        tokens += _tokens(run, requests, stamped)
        for compared in _of_run(desk, run, requests):
            numbers.append(_numbers(compared, stamped))
            lists.setdefault(compared.what, []).extend(_listed(compared, stamped))
    head = [
        "run", "what", "first, second source", "pairs", "beyond the clocks", "within them", "second before first",
        "widest, and what the clocks leave open", "median, second less first",
    ]  # fmt: skip
    parts.append(table(head, numbers, caption="The same thing by two sources", sortable=True))
    head = ["run", "requests with both", "as many tokens", "another number of tokens", "which"]
    caption = "Tokens of a request by its client and by the engine, counted"
    parts.append(table(head, tokens, caption=caption, sortable=True))
    for what, rows in lists.items():
        if rows:
            head = ["run", "which", "first says", "second says", "apart, and what the clocks leave open"]
            caption = f"Beyond what the clocks leave open: {what}; the widest of each run, up to {LISTED}"
            parts.append(table(head, rows, caption=caption))
    return "\n".join(parts)


def _of_run(desk: Desk, run: Record, requests: Sequence[Record]) -> Iterator[Compared]:
    about = desk.ask("run_about", run_id=run["run_id"])[0]
    # A time of each of the two, each known to the axis and written to a whole step.
    once = (about["axis_bound_ns"] or 0) + 2 * WRITTEN_NS
    if run["steps"]:
        yield from _steps(desk, run, once)
    if run["calls"]:
        yield from _calls(desk, run, once)
    if run["calls"] and run["intervals"]:
        yield from _kernels(desk, run)
    yield from _requests(desk, run, requests, once)


def _steps(desk: Desk, run: Record, once: int) -> Iterator[Compared]:
    columns = desk.columns("step_pair", run_id=run["run_id"], at_once=1, order="number,step_id,other_id")
    pairs = list(zip(columns["source"].tolist(), columns["other"].tolist(), strict=True))
    for first, second in dict.fromkeys(pairs):
        own = np.array([pair == (first, second) for pair in pairs])
        rows = {name: values[own] for name, values in columns.items() if name not in ("source", "other")}
        numbers = rows["number"].tolist()
        yield Compared(
            run, "length of a step", first, second, rows["apart_ns"], np.full(len(numbers), 2 * once),
            _lengths([Cell(f"step {n}", n) for n in numbers], rows["duration_ns"], rows["other_ns"]),
        )  # fmt: skip
        yield Compared(
            run, "start of a step", first, second, rows["start_apart_ns"], np.full(len(numbers), once),
            _moments([Cell(f"step {n}", n) for n in numbers]),
        )  # fmt: skip


def _calls(desk: Desk, run: Record, once: int) -> Iterator[Compared]:
    columns = desk.columns("call_pair", run_id=run["run_id"], order="call_id")
    if not len(columns["call_id"]):
        return
    # Names are read for the listed ones alone.
    of = columns["call_id"]

    def named(place: int) -> Cell:
        name = desk.ask("runtime_call", call_id=int(of[place]), run_id=run["run_id"])[0]["name"]
        return Cell(code(name, 60), name)

    for what, apart, ends in (("length of a call", "apart_ns", 2), ("start of a call", "start_apart_ns", 1)):
        said = _lengths(named, columns["duration_ns"], columns["vendor_ns"]) if ends == 2 else _moments(named)
        yield Compared(
            run, what, "recorder", "vendor's tracer", columns[apart], np.full(len(of), ends * once), said
        )


def _kernels(desk: Desk, run: Record) -> Iterator[Compared]:
    columns = desk.columns("kernel_pair", run_id=run["run_id"], order="interval_id")
    if not len(columns["interval_id"]):
        return
    of = columns["interval_id"]

    def named(place: int) -> Cell:
        name = desk.ask("interval", interval_id=int(of[place]), run_id=run["run_id"])[0]["name"]
        return Cell(code(name, 60), name)

    bound = columns["bound_ns"]
    yield Compared(
        run, "length of work on the device", "recorder", "vendor's tracer", columns["apart_ns"],
        bound + 2 * WRITTEN_NS if bound.dtype == np.int64 else None,
        _lengths(named, columns["duration_ns"], columns["vendor_ns"]),
    )  # fmt: skip


def _requests(desk: Desk, run: Record, rows: Sequence[Record], once: int) -> Iterator[Compared]:
    if not rows:
        return
    together = in_flight(desk, run["run_id"])
    first = [row for row in rows if row["first_apart_ns"] is not None]
    last = [row for row in rows if row["last_apart_ns"] is not None]
    if first:
        names = [_request(row) for row in first]
        yield Compared(
            run, "time to first token", "engine", "client", _whole(row["first_apart_ns"] for row in first),
            np.full(len(first), 2 * once),
            _lengths(names, _whole(row["first_ns"] for row in first), _whole(row["ttft_ns"] for row in first)),
            True, together,
        )  # fmt: skip
    if last:
        yield Compared(
            run, "last token: sent, and seen by the client", "engine", "client", _whole(row["last_apart_ns"] for row in last),
            np.full(len(last), once), _moments([_request(row) for row in last]), True, together,
        )  # fmt: skip


def _request(row: Record) -> Cell:
    return Cell(f"request {captured(row['request']).html}", row["request"])


def _whole(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int64)


def _lengths(names: Sequence[Cell] | Callable[[int], Cell], first: Ints, second: Ints) -> Told:
    def told(place: int) -> tuple[Cell, str, str]:
        return _name(names, place), written(int(first[place]), "ns"), written(int(second[place]), "ns")

    return told


def _moments(names: Sequence[Cell] | Callable[[int], Cell]) -> Told:
    """Of two moments only the difference is told: on the capture's own axis they mean nothing to a reader."""
    return lambda place: (_name(names, place), "–", "–")


def _name(names: Sequence[Cell] | Callable[[int], Cell], place: int) -> Cell:
    return names(place) if callable(names) else names[place]


def _numbers(of: Compared, stamped: Stamped) -> list[object]:
    """The row of a quantity: counts, the widest with what the clocks leave open, the median with its band."""
    apart, beyond = of.apart_ns, of.beyond
    median = of.median
    widest = int(np.argmax(np.abs(apart)))
    over = None if beyond is None else int(np.count_nonzero(beyond))
    return [
        run_cell(of.run["name"], stamped), of.what, f"{of.first}, {of.second}", len(apart),
        counted(over), counted(None if over is None else len(apart) - over), int(np.count_nonzero(apart < 0)),
        _apart(of, widest), estimated(median),
    ]  # fmt: skip


def _apart(of: Compared, place: int) -> Cell:
    value = int(of.apart_ns[place])
    bound = "bound unknown" if of.bound_ns is None else f"±{outward(int(of.bound_ns[place]), 'ns')}"
    return Cell(text(f"{written(value, 'ns')}, {bound}"), abs(value))


def _listed(of: Compared, stamped: Stamped) -> Iterator[list[object]]:
    beyond = of.beyond
    if beyond is None or not beyond.any():
        return
    places = np.flatnonzero(beyond)
    size = np.abs(of.apart_ns[places])
    # The widest few, without putting the others in order.
    few = places[np.argpartition(-size, min(LISTED, len(size)) - 1)[:LISTED]]
    for place in sorted(few.tolist(), key=lambda n: (-abs(int(of.apart_ns[n])), n)):
        name, first, second = of.told(place)
        yield [
            run_cell(of.run["name"], stamped), name, first, second, _apart(of, place),
        ]  # fmt: skip
    if len(places) > LISTED:
        more = number_of(len(places) - LISTED, "more pair")
        yield [run_cell(of.run["name"], stamped), Cell(text(f"and {more}")), *["not listed"] * 3]


def _counts(desk: Desk, runs: Sequence[Record], stamped: Stamped) -> str:
    """How many steps each source drew in a process that several drew steps of, and how many have the same number."""
    names = {run["run_id"]: run["name"] for run in runs}
    of: dict[tuple[int, str, int | None], list[Record]] = {}
    for row in desk.ask("step_source", order="run_id,pid,rank,source"):
        of.setdefault((row["run_id"], row["pid"], row["rank"]), []).append(row)
    lines: list[list[object]] = []
    for (run_id, pid, _), rows in sorted(of.items(), key=lambda item: names.get(item[0][0], "")):
        if len(rows) < 2 or run_id not in names:
            continue
        pairs = desk.ask("step_pair", run_id=run_id)
        lines.append(
            [
                run_cell(names[run_id], stamped), captured(pid), "; ".join(f"{r['source']} {r['steps']:,}" for r in rows),
                counted(len(pairs)), counted(sum(not pair["at_once"] for pair in pairs)),
            ]
        )  # fmt: skip
    head = [
        "run",
        "process",
        "steps by source",
        "numbers of two",
        "not at the same time",
    ]
    return table(head, lines, caption="How many steps each source drew, counted")


def _request_pairs(desk: Desk, run: Record) -> list[Record]:
    if not run["requests"] or not run["tokens"]:
        return []
    return desk.ask("request_pair", run_id=run["run_id"], order="end_ns,request")


def _tokens(run: Record, rows: Sequence[Record], stamped: Stamped) -> Iterator[list[object]]:
    """Tokens of each request as the client and the engine counted them: a row, where both did."""
    both = [row for row in rows if row["client_tokens"] is not None]
    if not both:
        return
    differ = [row for row in both if row["client_tokens"] != row["engine_tokens"]]
    differ.sort(key=lambda row: (-abs(row["client_tokens"] - row["engine_tokens"]), row["request"]))
    said = "; ".join(
        f"{row['request']}: client {row['client_tokens']:,}, engine {row['engine_tokens']:,}"
        for row in differ[:LISTED]
    )
    more = f"; and {len(differ) - LISTED:,} more" if len(differ) > LISTED else ""
    yield [
        run_cell(run["name"], stamped), *map(counted, (len(both), len(both) - len(differ), len(differ))),
        captured(said + more) if differ else "none",
    ]  # fmt: skip
