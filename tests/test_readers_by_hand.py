"""What the pages of tokens, steps and calls load, against the raw files of committed captures, read by hand.

For each capture five tokens, five steps and, where calls and device records are on record, the links of twenty calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from bundles import ask, read_in
from by_hand import (
    CAPTURES,
    MILESTONES,
    OF_TOKEN,
    PHASE,
    STEP,
    Loaded,
    Pair,
    Raw,
    Record,
    budget,
    declared,
    milestones,
    pairs_of_recorder,
    pairs_of_trace,
    roles,
)

from akvsite import ingest
from akvsite.pages import rows
from akvsite.site import SiteDesk
from akvsite.store import Store

ON_DEVICE = ("device_first", "device_last")
#: A SYCL device with the recorder, an H200 with torch's profiler, IPEX on a processor: of the last, no calls are on record.
CAPTURES_READ = {"runner-sycl-edge": True, "runner-h200-device": True, "runner-ipex-on": False}


@dataclass(frozen=True)
class Read:
    """A capture, read both ways: by hand, and as its pages load it."""

    engine: Raw
    client: Raw
    #: What is added to CLOCK_MONOTONIC to come to the axis of the capture.
    moved: int
    pairs: list[Pair]
    #: Whether the pairs are of the recorder, whose device times are of the device's own clock.
    own_clock: bool
    listings: dict[str, Loaded]

    def moved_call(self, pair: Pair) -> int:
        return pair.call_start + (self.moved if self.own_clock else 0)

    def steps(self) -> list[Record]:
        return self.engine.of_kind(STEP)

    def launched_in(self, step: Record) -> list[Pair]:
        """Pairs whose call was entered in a launch phase of the step."""
        own = [
            p
            for p in self.engine.of_kind(PHASE)
            if p.name == "launch" and step.start <= p.start and p.end <= step.end
        ]
        return [
            pair
            for pair in self.pairs
            if any(p.start + self.moved <= self.moved_call(pair) < p.end + self.moved for p in own)
        ]


@pytest.fixture(scope="module", params=CAPTURES_READ)
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Read:
    folder = CAPTURES / request.param
    tmp = tmp_path_factory.mktemp(request.param)
    store = tmp / "akvsite.db"
    read_in(store, folder)
    files = [Raw(path) for path in declared(folder)]
    found = roles(files)
    assert found is not None
    edges = [pair for file in files if file.producer.startswith("akv_ur") for pair in pairs_of_recorder(file)]
    traces = (
        []
        if edges
        else [pair for path in sorted(folder.glob("files/*.json.gz")) for pair in pairs_of_trace(path)]
    )
    (axis,) = {r["value"][:14] for r in ask(store, "SELECT value FROM run_fact WHERE key = 'host axis'")}
    written: dict[str, str] = {}
    with Store.open(store) as opened:
        ingest.install_views(opened)
        desk = SiteDesk(opened, written.__setitem__)
        list(rows.write(desk))
    for name, text in written.items():
        (tmp / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp / name).write_text(text)
    listings = {p.name: Loaded(p) for p in (tmp / "data/rows" / request.param).iterdir()}
    return Read(
        *found,
        moved=files[0].ahead if axis == "CLOCK_REALTIME" else 0,
        pairs=edges or traces,
        own_clock=bool(edges),
        listings=listings,
    )


def spread(found: list[Any], count: int) -> list[Any]:
    """So many of them, from the first to the last."""
    assert len(found) >= count
    return [found[round(n * (len(found) - 1) / (count - 1))] for n in range(count)]


def test_the_milestones_of_five_tokens(read: Read) -> None:
    launched = {s.words[0]: read.launched_in(s) for s in read.steps()} if read.pairs else {}
    with_device = {number for number, pairs in launched.items() if pairs}
    tokens = sorted(
        {
            (read.engine.request(r.words[0]), r.value)
            for r in read.engine.of_kind(OF_TOKEN)
            if not with_device or r.words[1] - 1 in with_device
        }
    )
    for request, place in spread(tokens, 5):
        step, marks = milestones(read.engine, read.client, request, place)
        (row,) = [
            r
            for r in read.listings["tokens"].rows
            if r["request"] == request and r["number"] == place and r["tokens"] != 0
        ]
        assert row["step"] == step
        assert read.listings["steps"].rows[row["step_id"]]["number"] == step
        shown = {
            m: at for m in MILESTONES if (at := read.listings["tokens"].time(row, f"{m}_ns")) is not None
        }
        device = {m: shown.pop(m) for m in ON_DEVICE if m in shown and m not in marks}
        assert shown == {m: at + read.moved for m, at in marks.items()}
        own = launched.get(step, []) if step is not None else []
        assert bool(device) == bool(own)
        if own:
            _device_of(read, own, device, row["device_bound_ns"])


def _device_of(read: Read, pairs: list[Pair], device: dict[str, int], bound: int | None) -> None:
    """The first and the last device record of a token's step, by the calls in the step's launch phase."""
    first = min(p.record_start for p in pairs)
    last = max(p.record_start + p.record_length for p in pairs)
    if not read.own_clock:
        assert (device["device_first"], device["device_last"]) == (first, last)
        return
    # No conversion of clocks is made by hand: what is between the two needs none, but for the bound of each.
    assert bound is not None
    assert abs((device["device_last"] - device["device_first"]) - (last - first)) <= 2 * bound
    assert device["device_first"] + bound >= min(read.moved_call(p) for p in pairs)


def test_the_budget_of_five_steps(read: Read) -> None:
    steps = spread([s for s in read.steps() if s.end], 12)
    with_regions = [(step, own) for step in steps if (own := budget(read.engine, step))]
    assert len({tuple(sorted(own.items())) for _, own in with_regions}) > 4, (
        "what is the same throughout shows nothing"
    )
    for step, expected in spread(with_regions, 5):
        (place,) = [
            n
            for n, r in enumerate(read.listings["steps"].rows)
            if r["number"] == step.words[0] and r["source"] == "probe"
        ]
        row = read.listings["steps"].rows[place]
        shown = {b["region"]: b["ns"] for b in read.listings["budget"].rows if b["step_id"] == place}
        assert shown == expected
        assert read.listings["steps"].time(row, "start_ns") == step.start + read.moved
        assert row["duration_ns"] == step.end - step.start >= sum(expected.values())


def test_the_links_of_twenty_calls(read: Read, request: pytest.FixtureRequest) -> None:
    calls, intervals = read.listings["calls"], read.listings["intervals"]
    assert bool(read.pairs) == CAPTURES_READ[request.node.callspec.params["read"]]
    if not read.pairs:
        assert not calls.rows and not intervals.rows
        return
    start = "own_start_ns" if read.own_clock else "start_ns"
    shown: dict[tuple[int | None, int], list[dict[str, Any]]] = {}
    for row in intervals.rows:
        shown.setdefault((intervals.time(row, start), row["duration_ns"]), []).append(row)
    for pair in spread(sorted(read.pairs, key=lambda p: p.record_start), 20):
        rows_of = shown[pair.record_start, pair.record_length]
        of = [calls.rows[row["call_id"]] for row in rows_of if row["call_id"] is not None]
        assert (pair.call, read.moved_call(pair), pair.call_length) in [
            (call["name"], calls.time(call, "start_ns"), call["duration_ns"]) for call in of
        ]
        assert {row["made_by"] for row in rows_of} == {"event handle" if read.own_clock else "correlation id"}
