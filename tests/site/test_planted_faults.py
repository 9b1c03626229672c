"""Faults planted in made-up captures: each shows in what was seen, or in words, on every page of its run, and no number is wrong by it.

The numbers that are expected were counted by hand from what is planted here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import listing_files
import pytest
import words
from akvlogs import AkvLog
from bundles import ask, call, interval, read_in, write_capture
from probe_logs import ProbeLog

from akvsite import site
from akvsite.pages import calls, rows, run, steps, tokens
from akvsite.store import Store

#: The pages of a run that are not of charts alone, by their folders.
FOLDERS = {"runs": run, "tokens": tokens, "steps": steps, "calls": calls, "rows": rows}


@dataclass(frozen=True)
class Written:
    """The pages of one run, as text that is seen, and its listings."""

    pages: dict[str, str]
    files: dict[str, str]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a listing, as a page loads them."""
        own = {
            f"x/{path.rpartition('/')[2]}": text
            for path, text in self.files.items()
            if path.split("/")[-2] == name and path.startswith("data/rows/")
        }
        columns = listing_files.read(own)
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


Pages = Callable[[Path], Written]


@pytest.fixture
def written(tmp_path: Path) -> Pages:
    def made(capture: Path) -> Written:
        store = tmp_path / "akvsite.db"
        read_in(store, capture)
        files: dict[str, str] = {}
        pages = {}
        with Store.open(store) as opened:
            site.take_notes(opened, tmp_path)
            desk = site.SiteDesk(opened, files.__setitem__)
            for folder, module in FOLDERS.items():
                for page in module.write(desk):
                    if page.path.startswith(f"{folder}/"):
                        text = " ".join(words.of_page(page.text).split())
                        assert words.VERDICT.search(words.RULE.sub("", text)) is None
                        pages[folder] = text
        return Written(pages, files)

    return made


def decoding(count: int = 3, **more: Any) -> list[dict[str, Any]]:
    """Steps of 10 us each, one after the other."""
    return [
        {
            "name": f"decode.step.{n}", "number": n, "start_ns": 10_000 * n, "end_ns": 10_000 * (n + 1), "kind": "decode",
            "source": "engine annotation", "warm_up": 0, **more,
        }
        for n in range(count)
    ]  # fmt: skip


def launches(*keep: int) -> dict[str, list[dict[str, Any]]]:
    """Three steps with two launches each, 0.5 us long, and of these the kernels ``keep``: each begins 1 us after its call."""
    starts = [10_000 * n + at for n in range(3) for at in (1_000, 4_000)]
    return {
        "step": decoding(),
        "level4_edge": [call(at, at + 500, n) for n, at in enumerate(starts)],
        "level3_device": [interval(starts[n] + 1_000, starts[n] + 3_000, n) for n in keep],
    }


def test_lost_device_records(written: Pages, tmp_path: Path) -> None:
    """Of six kernels two were lost, and one record has an id that no call has."""
    tables = launches(0, 1, 3, 5)
    tables["level3_device"].append(interval(12_000, 13_000, 99))
    of = written(write_capture(tmp_path / "lost", tables, level="edge"))
    seen = "kernels 4 of 6 launched, kernels 4 of 5 have a call"
    assert f"not every record was seen ({seen}" in of.pages["runs"]
    assert "9.000 us (a sum over queues) unknown: not every record was seen" in of.pages["runs"]
    # Four of four kernels of 2 us in three steps, and nothing of the two that were lost: no gap is told.
    assert seen in of.pages["steps"] and "0 7 kernel 4 1.33 records" in of.pages["steps"]
    assert "no gap is told: not every record was seen" in of.pages["steps"]
    assert "1 device record belongs to no step" in of.pages["steps"]
    assert "launch 4 of 6 1.00 us" in of.pages["calls"]
    assert "kernel: 4 of 6" in of.pages["calls"] and "launch 2 nothing is known of it" in of.pages["calls"]
    assert "as the vendor converted them 4 of 5 1 0" in of.pages["calls"]
    assert [row["intervals"] for row in of.rows("calls")] == [1, 1, 0, 1, 0, 1]
    assert [row["call_id"] for row in of.rows("intervals")] == [0, 1, None, 3, 5]
    assert "Device records 5" in of.pages["rows"]


def test_an_event_handle_that_was_handed_out_again(written: Pages, tmp_path: Path) -> None:
    """Two launches in turn had one handle; a third wait names it after its release."""
    log = AkvLog(["urEnqueueKernelLaunch", "urEventWait", "urEventRelease"])
    for at, delay in ((2_000, 20), (4_000, 50)):
        made = log.call(0, enter=at, exit=at + 100, queue=0x10, event=0xE0)
        log.device(made, 0xE0, queued=at, submitted=at + 5, start=at + delay, end=at + 190)
        log.call(1, enter=at + 200, exit=at + 700, waits=[0xE0])
        log.call(2, enter=at + 800, exit=at + 810, object=0xE0)
    log.call(1, enter=5_000, exit=5_010, waits=[0xE0], result=-5)
    for at in (900, 6_900):
        log.clock(at, at + 10, device=0xD0, device_time=at + 5, resolution=1)
    of = written(log.write(tmp_path / "reused.akvlog"))
    # By place: launch, wait, release, launch, wait, release, wait. Each wait is for the launch before it; the last for none.
    assert [(row["call_id"], row["maker_id"]) for row in of.rows("waits")] == [(1, 0), (4, 3), (6, None)]
    records = of.rows("intervals")
    assert [(row["call_id"], row["made_by"], row["start_ns"]) for row in records] == [
        (0, "event handle", 20),
        (3, "event handle", 2_050),
    ]
    assert [row["duration_ns"] for row in records] == [170, 140]
    assert "launch 2 of 2 20 ns" in of.pages["calls"] and "50 ns no band" in of.pages["calls"]
    assert of.pages["calls"].endswith("2 of 3") and "clock ±8.0 ns" in of.pages["calls"]
    assert "unknown: not handed out on record" in of.pages["runs"]


def test_a_graph_replay_whose_records_share_one_id(written: Pages, tmp_path: Path) -> None:
    """A replay of 5 us with three kernels of 1 us, and a launch of 0.5 us with one of 0.4 us."""
    tables = {
        "step": decoding(1),
        "level4_edge": [call(1_000, 6_000, 5, "cudaGraphLaunch", kind="graph replay"), call(7_000, 7_500, 6)],
        "level3_device": [
            *(interval(at, at + 1_000, 5) for at in (3_000, 5_000, 7_000)),
            interval(9_500, 9_900, 6),
        ],
    }
    of = written(write_capture(tmp_path / "replay", tables, level="edge"))
    # The time of the call is counted once: added up by record it would be 15 us.
    assert "graph replay 1 0 5.000 us 5.00 us" in of.pages["runs"] and "15.00 us" not in of.pages["runs"]
    assert "replays 1 of 1 launched" in of.pages["runs"]
    assert "unknown: how many records a graph replay leaves is not in the capture" in of.pages["runs"]
    # Its delay is that to the first of its records, and not a mixture of all three.
    assert "graph replay 1 of 1 2.00 us" in of.pages["calls"]
    assert "3 correlation id, 3 records of 1 call" in of.pages["calls"]
    assert "launch 1 of 1 2.50 us" in of.pages["calls"]
    assert "0 7 kernel 4 4.00 records no band: n 1 < 200 3.40 us" in of.pages["steps"]
    assert [(row["duration_ns"], row["intervals"]) for row in of.rows("calls")] == [(5_000, 3), (500, 1)]
    assert [row["call_id"] for row in of.rows("intervals")] == [0, 0, 0, 1]


def test_a_kernel_before_its_launch(written: Pages, tmp_path: Path) -> None:
    """Two of three kernels begin 0.6 us before their call by the vendor's conversion, one 2 us after it."""
    tables = {
        "step": decoding(),
        "level4_edge": [call(10_000 * n + 1_000, 10_000 * n + 1_500, n) for n in range(3)],
        "level3_device": [
            interval(10_000 * n + at, 10_000 * n + 5_000, n) for n, at in enumerate((400, 400, 3_000))
        ],
    }
    of = written(write_capture(tmp_path / "early", tables, level="edge"))
    assert "begin before their call on this axis: 2 of 3 records, kept as recorded" in of.pages["runs"]
    before = "records that begin before their call: 2, by 600.0 ns at most"
    assert before in of.pages["runs"] and before in of.pages["calls"]
    assert "launch 3 of 3 -600 ns no band" in of.pages["calls"]
    assert "clock, unproven: bound unknown 2.00 us no band" in of.pages["calls"]
    begun, records = of.rows("calls"), of.rows("intervals")
    assert [r["call_id"] for r in records] == [0, 1, 2]
    assert [r["start_ns"] - c["start_ns"] for c, r in zip(begun, records, strict=True)] == [-600, -600, 2_000]
    assert {(r["start_bound_ns"], r["end_bound_ns"]) for r in records} == {(None, None)}
    # 4.6, 4.6 and 2 us of kernels, whatever their calls: nothing was cut off at the call.
    assert "0 7 kernel 3 1.00 records no band: n 3 < 200 3.73 us" in of.pages["steps"]


def test_a_step_without_an_end(written: Pages, tmp_path: Path) -> None:
    """The third of three steps has no end: the two calls that followed its start are of no step."""
    tables = launches(*range(6))
    tables["step"][2]["end_ns"] = None
    of = written(write_capture(tmp_path / "endless", tables, level="edge"))
    said = "1 step has a beginning and no end (the last is decode.step.2)"
    assert f"{said}: no duration, and in no number" in of.pages["runs"]
    assert "samples: 2 kept, from 10.00 us to 10.00 us, none cut, 1 missing" in of.pages["runs"]
    assert "steps 2 of 3 have device records" in of.pages["runs"]
    assert "1 step has no end on record ( decode.step.2 ): no duration, and in no number" in of.pages["steps"]
    assert "2 device records belong to no step" in of.pages["steps"]
    assert "0 7 kernel 4 2.00 records no band: n 2 < 200 4.00 us" in of.pages["steps"]
    assert [row["duration_ns"] for row in of.rows("steps")] == [10_000, 10_000, None]
    assert [row["step_id"] for row in of.rows("calls")] == [0, 0, 1, 1, None, None]
    assert "Steps 3" in of.pages["rows"] and "launch 6 of 6 1.00 us" in of.pages["calls"]


def test_a_token_whose_milestones_are_out_of_order(written: Pages, tmp_path: Path) -> None:
    """The second of three tokens was detokenised 0.3 us before it was sampled; of the others it was 0.2 us after."""
    log = ProbeLog(pid=41)
    for n, sampled in enumerate((9_000, 9_500, 9_000)):
        at = 10_000 * (n + 1)
        log.step(n, at, at + 10_000, batch=1)
        for milestone, after in (
            ("scheduled", 50),
            ("sampled", sampled),
            ("detokenised", 9_200),
            ("sent", 9_700),
        ):
            log.token("a", n, milestone, at + after, step=n)
    of = written(log.log.write(tmp_path / "order.akvlog"))
    # 0.2 - 0.3 + 0.2 us: as recorded, neither dropped nor made positive; one of the three is counted as out of order.
    assert (
        "unknown: sampled to detokenised 33.3 ns no band: n 3 < 200 0.35 % 3 of 3 100.0 ns (total) 1"
        in of.pages["tokens"]
    )
    assert "the life 9.65 us no band: n 3 < 200 100.00 % 3 of 3 28.95 us (total) 0" in of.pages["tokens"]
    assert "out of order" in of.pages["runs"]
    apart = [row["detokenised_ns"] - row["sampled_ns"] for row in of.rows("tokens")]
    assert apart == [200, -300, 200]


def test_a_call_that_never_returned(written: Pages, tmp_path: Path) -> None:
    """A launch and a wait were entered last and have no end; another of each came back."""
    log = AkvLog(["urEnqueueKernelLaunch", "urQueueFinish"], closed=False)
    made = log.call(0, enter=2_000, exit=2_100, queue=0x10, event=0xE0)
    log.device(made, 0xE0, queued=2_000, submitted=2_005, start=2_020, end=2_190)
    log.call(1, enter=3_000, exit=3_500, queue=0x10)
    log.call(0, enter=4_000, open=True, queue=0x10)
    log.call(1, enter=5_000, open=True, queue=0x10, thread=2)
    of = written(log.write(tmp_path / "hung.akvlog"))
    assert "A process of it never reached its normal exit" in of.pages["runs"]
    assert "## Runtime calls" in of.pages["runs"] and "Entered and never returned" in of.pages["runs"]
    assert "kernels 1 of 2 launched" in of.pages["runs"]
    assert "launch 1 never returned" in of.pages["calls"] and "launch 1 of 2 " in of.pages["calls"]
    # Two waits, one of which never returned: the percentile is of the other alone.
    assert "percentiles of 12; structure, not speed" in of.pages["calls"]
    assert " 2 1 500 ns no band: n 1 < 200" in of.pages["calls"]
    assert [row["duration_ns"] for row in of.rows("calls")] == [100, 500, None, None]
    assert [row["open"] for row in of.rows("calls")] == [0, 0, 1, 1]


def test_two_steps_with_one_number(written: Pages, tmp_path: Path) -> None:
    """Of three steps the last two say that they are step 1; a token of step 1 may be of either."""
    tables = launches(*range(6))
    tables["step"] = [{**row, "source": "probe", "number": min(n, 1)} for n, row in enumerate(tables["step"])]
    tables["token"] = [
        {"request": "a", "number": n, "tokens": 1, "step": n, "sampled_ns": at, "sent_ns": at + 500}
        for n, at in enumerate((9_000, 29_000))
    ]
    of = written(write_capture(tmp_path / "twice", tables, level="edge"))
    # The step is told of the first alone: of the other it would be a guess, and here a wrong one.
    assert [(row["step"], row["step_id"]) for row in of.rows("tokens")] == [(0, 0), (1, None)]
    assert [row["number"] for row in of.rows("steps")] == [0, 1, 1]
    said = "1 number was given to more than one step (1: decode.step.1 , decode.step.2 )"
    assert f"{said}: a token with such a number is of no one step" in of.pages["steps"]
    # Each call began in a step of its own time, whatever its number.
    assert [row["step_id"] for row in of.rows("calls")] == [0, 0, 1, 1, 2, 2]
    # Each token counts once: 0.5 us each.
    assert "the life 500 ns no band: n 2 < 200 100.00 % 2 of 2 1.000 us (total) 0" in of.pages["tokens"]
    asked = ask(tmp_path / "akvsite.db", "SELECT step, tokens, mean_ns FROM token_step ORDER BY step")
    assert [tuple(row.values()) for row in asked] == [(0, 1, 500), (1, 1, 500)]
    assert "0 7 kernel 6 2.00 records no band: n 3 < 200 4.00 us" in of.pages["steps"]
