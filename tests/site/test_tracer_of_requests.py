"""Requests in flight, what they waited for, and TTFT and TPOT by concurrency, on the page of a run's tokens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import words
from bundles import read_in, steps, write_capture

from akvsite import site
from akvsite.charts import Footer, occupancy
from akvsite.pages import _token_tracer
from akvsite.pages._flight import Change, Flight, Preempted, Wait
from akvsite.pages._run import load
from akvsite.store import Store


def event(at: int, request: str, what: str) -> dict[str, Any]:
    return {"at_ns": at, "request": request, "event": what}


def test_in_flight_by_hand() -> None:
    """a is preempted at 40 and resumed at 60; b was there before anything was recorded; c never ends."""
    flight = Flight.of(
        [
            event(0, "a", "client sent"), event(10, "a", "arrived"), event(20, "b", "admitted"), event(25, "a", "admitted"),
            event(30, "c", "arrived"), event(40, "a", "preempted"), event(50, "b", "finished"), event(60, "a", "resumed"),
            event(60, "c", "admitted"), event(90, "a", "finished"), event(95, "a", "client done"),
        ]
    )  # fmt: skip
    assert flight.changes == [
        Change(10, 1, 0), Change(20, 1, 1), Change(25, 0, 2), Change(30, 1, 2), Change(40, 2, 1), Change(50, 2, 0), Change(60, 0, 2),
        Change(90, 0, 1),
    ]  # fmt: skip
    assert flight.preempted == [Preempted("a", 40, 60)]
    assert flight.waits == [Wait("a", 15, 1), Wait("c", 30, 3)]
    assert (flight.requests, flight.unannounced, flight.unfinished) == (3, 1, 1)


def test_counts_over_time_keep_their_peaks_when_they_are_thinned() -> None:
    times = np.arange(0, 50_000, 10, dtype=np.int64)
    values = np.ones(len(times), dtype=np.int64)
    values[3_001] = 99
    drawing = occupancy.draw(
        "?", [occupancy.Count("waiting", times, values)], Footer("off"), origin="start", last_ns=50_000
    )
    assert len(drawing.rows) <= occupancy.POINTS and ("waiting", 30_010, 99) in [
        row[:3] for row in drawing.rows
    ]
    assert any("thinned" in line for line in drawing.footer) and "Thinned" in drawing.caption


def served(
    folder: Path,
    name: str,
    concurrency: int,
    *,
    preempted: bool = False,
    events: bool = True,
    model: str = "small",
) -> Path:
    """40 requests, each sent as one before it is done; TTFT is 10 ms times the concurrency."""
    rows, happened = [], []
    for n in range(40):
        sent = 1_000_000 * n
        ttft = 10_000_000 * concurrency
        end = sent + ttft + 9 * 2_000_000
        rows.append({"name": f"r{n}", "start_ns": sent, "end_ns": end, "zero": "client", "ok": 1, "prompt_tokens": 4, "output_tokens": 10, "ttft_ns": ttft})  # fmt: skip
        happened += [
            event(sent, f"r{n}", "arrived"),
            event(sent + 500_000 * (n % 3 + 1), f"r{n}", "admitted"),
            event(end, f"r{n}", "finished"),
        ]
    if preempted:
        happened += [event(2_900_000, "r2", "preempted"), event(3_100_000, "r2", "resumed")]
    facts = (
        f'[contract]\nworkload = "decode"\nmodel = "{model}"\nconcurrency = {concurrency}\nrequests = 40\n'
    )
    tables: dict[str, Any] = {"step": [row | {"batch": 2} for row in steps(3)], "request": rows}
    if events:
        tables["request_event"] = happened
    return write_capture(folder / name, tables, level="runner", top='engine = "toy"', more=facts)


def tracer(folder: Path, run: str, *captures: Path) -> str:
    read_in(folder / "akvsite.db", *captures)
    with Store.open(folder / "akvsite.db") as opened:
        site.take_notes(opened, folder)
        desk = site.SiteDesk(opened)
        (listed,) = desk.ask("run_list", name=run)
        return _token_tracer.write(load(desk, listed))


def test_queueing_preemptions_and_waits_by_requests_in_flight(tmp_path: Path) -> None:
    page = words.of_page(tracer(tmp_path, "a", served(tmp_path, "a", 2, preempted=True)))
    assert "p50 1.00 ms no band: requests 40 < 200" in page
    assert "Preempted: 1 time, 1 of 40 requests (counted)." in page and "r2 2.900 ms 200.0 us" in page
    assert "TTFT p50 TPOT p50 TTFT p95 TPOT p95" in page
    # TPOT: (end - start - TTFT) / 9 tokens.
    assert re.search(r"\b1 1 20\.0 ms no band[^;]*?; [^;]*? 2\.00 ms no band.*? 20\.0 ms ", page)
    assert words.verdicts(page) == []


def test_requests_of_warm_up_are_said_to_be_in_the_numbers(tmp_path: Path) -> None:
    """In words, in the list of the longest waits and in the printed lines: lives leave warm-up out."""
    read_in(tmp_path / "akvsite.db", served(tmp_path, "a", 2))
    left: dict[str, str] = {}
    with Store.open(tmp_path / "akvsite.db") as opened:
        desk = site.SiteDesk(opened, left.__setitem__)
        run = load(desk, desk.ask("run_list")[0])
        plain = words.of_page(_token_tracer.write(run))
        page = words.of_page(_token_tracer.write(run, frozenset({"r2", "r5", "gone"})))
    assert "of 3 requests the first token is of a step that is declared as warm-up (r2, r5, gone)" in page
    assert re.search(r"r2 1\.500 ms \d+ yes", page) and re.search(r"r11 1\.500 ms \d+ no", page)
    for chart in ("queueing", "in-flight-waits"):
        assert "2 requests of warm-up among them" in left[f"data/tokens/a/{chart}.js"]
    assert "warm-up" not in plain.partition("Requests in flight")[2]


def test_runs_at_several_concurrencies_stand_beside_each_other_and_are_not_pooled(tmp_path: Path) -> None:
    page = tracer(
        tmp_path, "a", served(tmp_path, "a", 1), served(tmp_path, "b", 4), served(tmp_path, "other-work", 8, model="large"),
    )  # fmt: skip
    beside = words.of_page(page.partition("### Runs at several concurrencies")[2])
    assert "1 (declared) a 40" in beside and "4 (declared) b 40" in beside and "other-work" not in beside
    assert "10.0 ms" in beside and "40.0 ms" in beside
    alone = tmp_path / "alone"
    alone.mkdir()
    assert "several concurrencies" not in tracer(alone, "a", tmp_path / "a")


def test_without_events_it_says_what_is_not_known(tmp_path: Path) -> None:
    page = words.of_page(tracer(tmp_path, "a", served(tmp_path, "a", 2, events=False)))
    assert "How long requests waited to be admitted, and how many were in flight, is not known" in page
    assert "How many other requests were in flight as each arrived is not known" in page
    assert "Level runner records it" in page and "0 events" not in page


def test_a_request_that_was_never_admitted_has_no_wait(tmp_path: Path) -> None:
    flight = Flight.of([event(5, "a", "arrived"), event(9, "a", "failed")])
    assert flight.waits == [] and flight.changes[-1] == Change(9, 0, 0) and flight.unfinished == 0
