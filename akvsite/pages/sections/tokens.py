"""The life of the tokens: which milestones are there, how long it was between them, and what their client saw."""

from __future__ import annotations

import numpy as np

from akvsite import estimators
from akvsite.charts import bands
from akvsite.estimate import Estimate, unknown, written
from akvsite.pages import Record
from akvsite.pages._html import Cell, counted, estimated, number_of, table, text
from akvsite.pages._listed import OF_LIVES
from akvsite.pages._run import Run
from akvsite.pages.sections.requests import concurrency_of

TITLE = "Tokens"

PERCENTILES = (0.5, 0.95)
ON_DEVICE = ("device_first", "device_last")
#: Kinds of steps that have a chart of their own, at most.
DRAWN = 3

_ABOUT = (
    "Each token has milestones, from its request's arrival to the client. One that was not captured is missing, not 0, and the "
    "next one that is there takes its place in a pair. Tokens of one step share most of their times, so that the sample is the "
    "step and not the token: the mean over its tokens. Numbers of a pair do not add up to those of another."
)
_STREAM = (
    "A client sees chunks. Time per token is from the first chunk with a token to the last one, over the tokens that came after that "
    "first chunk; the gap between chunks is told apart, and is no time per token. A chunk without a token is no first token."
)
_BY_CAUSALITY = (
    "Device times that were brought to the host's axis by constraints lie after their launch by how that was made: that such a pair is "
    "in order is no observation."
)
_EVENTS = "What happened to requests, counted"


def write(run: Run) -> str:
    seen = run.desk.ask("token_seen", run_id=run.id, order="place")
    events = run.desk.ask("request_events", run_id=run.id, order="-events,event")
    of_engine = any(row["seen"] for row in seen[:-1])
    parts = []
    if of_engine:
        parts += [f"\n{text(_ABOUT)}\n", _seen(seen), *_pairs(run, seen), _order(run)]
    if events:
        parts.append(
            table(
                ["what happened", "times", "requests"],
                [[row["event"], counted(row["events"]), counted(row["requests"])] for row in events],
                caption=_EVENTS,
            )
        )
    parts.append(_streams(run))
    return "\n".join(part for part in parts if part)


def word(milestone: str) -> str:
    return {
        "device_first": "first device record",
        "device_last": "last device record",
        "client": "seen by the client",
    }.get(milestone, milestone)


def _seen(rows: list[Record]) -> str:
    return table(
        ["milestone", "tokens that have it", "missing"],
        [
            [
                word(row["milestone"]),
                Cell(text(f"{row['seen']:,} of {row['expected']:,} (counted)"), row["seen"]),
                counted(row["expected"] - row["seen"]),
            ]
            for row in rows
        ],
        caption="Milestones seen",
    )


def _pairs(run: Run, seen: list[Record]) -> list[str]:
    """A chart and a table for each kind of step, those with most steps first."""
    columns = run.desk.columns("token_step", run_id=run.id, warm_up=0, order="process_id,step,place")
    if not len(columns["step"]):
        return []
    kinds = np.array(["" if kind is None else str(kind) for kind in columns["kind"].tolist()])
    names, first = np.unique(kinds, return_index=True)
    steps = {
        name: len(
            set(zip(*(columns[c][kinds == name].tolist() for c in ("process_id", "step")), strict=True))
        )
        for name in names[np.argsort(first)].tolist()
    }
    largest = sorted(steps, key=lambda name: -steps[name])
    device = [row for row in seen if row["milestone"] in ON_DEVICE]
    least = min(device, key=lambda row: row["seen"])
    records = (
        f"device milestones of {least['seen']:,} of {number_of(least['expected'], 'token')}"
        if least["seen"]
        else ""
    )
    out = [
        _kind(run, columns, kinds == name, name, steps[name], records, n)
        for n, name in enumerate(largest[:DRAWN])
    ]
    if len(largest) > DRAWN:
        out.append(
            f"\n{text(f'{len(largest) - DRAWN} further kinds of steps are in the data, not in a chart.')}\n"
        )
    return out


def _kind(
    run: Run, columns: dict[str, np.ndarray], mask: np.ndarray, kind: str, steps: int, seen: str, number: int
) -> str:
    what = f"{kind} steps" if kind else "steps whose kind is not known"
    rows, lines = [], []
    converted = False
    place, after = columns["milestone"].astype(str), columns["next"].astype(str)
    pairs = dict.fromkeys(
        zip(columns["place"][mask].tolist(), place[mask].tolist(), after[mask].tolist(), strict=True)
    )
    for at, milestone, following in sorted(pairs, key=lambda pair: pair[0]):
        own = mask & (columns["place"] == at) & (after == following)
        label = f"{word(milestone)} to {word(following)}"
        on_two_clocks = (milestone in ON_DEVICE) != (following in ON_DEVICE)
        converted |= on_two_clocks
        made = []
        for p in PERCENTILES:
            number_of_pair = run.marked(
                estimators.quantile(columns["mean_ns"][own].astype(np.int64), p, unit="ns")
            )
            if on_two_clocks:
                bounds = [
                    None if b is None or b != b else float(b) for b in columns["bound_ns"][own].tolist()
                ]
                state = "bounded" if None not in bounds else "unproven"
                number_of_pair = estimators.with_clock(number_of_pair, bounds, state)
            made.append(number_of_pair)
            if milestone != "arrived" or len(pairs) == 1:
                rows.append(bands.Row(label, number_of_pair, f"p{round(100 * p)}"))
        counts = (int(np.count_nonzero(own)), int(columns["tokens"][own].sum()))
        lines.append([label, *map(estimated, made), *(counted(n) for n in counts)])
    notes: tuple[str, ...] = (f"one sample a step, the mean over its tokens: {steps:,} {what}",)
    if len(rows) < len(PERCENTILES) * len(pairs):
        # A request may wait for longer than all the rest takes: on one axis the rest could not be told apart.
        notes += ("how long requests waited from their arrival stands in the table alone",)
    footer = run.footer(seen=seen, axis="both" if converted else "host", notes=notes)
    chart = bands.draw(
        f"How long is it from each milestone of a token to its next, in {what}?", rows, footer, axis="time"
    )
    return run.desk.figure(
        run.page,
        f"token-pairs{f'-{number}' if number else ''}",
        chart,
        "token_step",
        **OF_LIVES,
        kind=kind or None,
    ) + table(["from and to", "p50", "p95", "steps", "tokens"], lines, caption=f"Between milestones, {what}")


def _order(run: Run) -> str:
    rows = run.desk.ask("token_order", run_id=run.id, order="place,next")
    early = [row for row in rows if row["early"]]
    if not rows:
        return ""
    on_two_clocks = any((row["milestone"] in ON_DEVICE) != (row["next"] in ON_DEVICE) for row in rows)
    if on_two_clocks and any(clock["made_by"] == "constraints" for clock in run.clocks):
        return f"{_in_order(rows, early)}\n{text(_BY_CAUSALITY)}\n"
    return _in_order(rows, early)


def _in_order(rows: list[Record], early: list[Record]) -> str:
    if not early:
        pairs = number_of(sum(row["pairs"] for row in rows), "pair")
        return f"\n{text(f'In order: {pairs} of neighbouring milestones, all of them (counted).')}\n"
    return table(
        ["from and to", "out of order", "by more than the clock's bound", "bound unknown", "by at most", "widest bound"],
        [
            [
                f"{word(row['milestone'])} to {word(row['next'])}",
                Cell(text(f"{row['early']:,} of {row['pairs']:,} (counted)"), row["early"]),
                counted(row["beyond"]),
                counted(row["unproven"]),
                Cell(text(written(row["most_ns"], "ns")), row["most_ns"]),
                "unknown" if row["bound_ns"] is None else Cell(text(written(row["bound_ns"], "ns")), row["bound_ns"]),
            ]
            for row in early
        ],
        caption="Milestones out of order; every other pair is in order",
    )  # fmt: skip


def _streams(run: Run) -> str:
    columns = run.desk.columns("token_stream", run_id=run.id, order="last_ns,request")
    count = len(columns["request"])
    if not count:
        return ""
    concurrency = concurrency_of(run)
    rows: list[bands.Row] = []
    left_out: list[str] = []
    for label, key in (("time per token", "token_ns"), ("gap between chunks (mean of a request)", "gap_ns")):
        has = np.array([v is not None and v == v for v in columns[key].tolist()], dtype=bool)
        if not has.all():
            left_out.append(
                f"no {label.partition(' (')[0]} is known of {np.count_nonzero(~has):,} of {number_of(count, 'request')}"
            )
        values = columns[key][has].astype(np.int64)
        rows += [
            bands.Row(label, _of_requests(run, values, p, concurrency), f"p{round(100 * p)}")
            for p in PERCENTILES
        ]
    tokens = [v for v in columns["tokens"].tolist() if v is not None and v == v]
    chunks = int(columns["chunks"].sum())
    held = number_of(int(sum(tokens)), "token") if len(tokens) == count else "an unknown number of tokens"
    chart = bands.draw(
        "How long is it from token to token, and from chunk to chunk, at the client?",
        rows,
        run.footer(notes=(f"{chunks:,} chunks with {held} (counted)", *left_out)),
        axis="time",
    )
    return f"\n### At the client\n\n{text(_STREAM)}\n\n" + run.desk.figure(
        run.page, "token-stream", chart, "token_stream"
    )


def _of_requests(run: Run, values: np.ndarray, p: float, concurrency: float | None) -> Estimate:
    if not len(values):
        return unknown("no request has it", "ns")
    return run.marked(estimators.request_quantile(values, p, unit="ns", concurrency=concurrency))
