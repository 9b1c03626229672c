"""The page of a run's steps: where the mean step's time went, what is not known, and overlap that is said right."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
import words
from bundles import call, interval, read_in, steps, write_capture

from akvsite import site
from akvsite.pages import _overlap_said
from akvsite.pages import steps as step_pages
from akvsite.pages._html import text
from akvsite.store import Store

SIZES = {"device": "cuda", "pieces": "4", "copy_bytes": "64", "kernel_size": "8"}


def pages(folder: Path, *captures: Path) -> dict[str, str]:
    """The pages of the steps, as HTML in Markdown."""
    read_in(folder / "akvsite.db", *captures)
    with Store.open(folder / "akvsite.db") as opened:
        site.take_notes(opened, folder)
        return {page.path: page.text for page in step_pages.write(site.SiteDesk(opened, lambda *_: None))}


def lines(page: str, caption: str) -> list[list[str]]:
    """The cells of the table with this caption, as text, row by row."""
    (body,) = re.findall(rf"<caption>{re.escape(text(caption))}.*?<tbody>(.*?)</tbody>", page, re.DOTALL)
    return [
        [words.of_page(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    ]


def traced(folder: Path, *, host: str | None = "bench", more: str = "", **left_out: bool) -> Path:
    """Two steps of 1,000 ns: kernels cover 500 of each, copies 250, both 150, in a capture in which all was seen."""
    calls, records, regions = [], [], []
    for step in range(2):
        at = 1000 * step
        regions += [
            {"name": "layer 0", "start_ns": at + 100, "end_ns": at + 700, "thread": "1", "category": "layer", "layer": 0},
            {"name": "attention", "start_ns": at + 100, "end_ns": at + 400, "thread": "1", "category": "region"},
            {"name": "mlp", "start_ns": at + 400, "end_ns": at + 600 + 40 * step, "thread": "1", "category": "region"},
        ]  # fmt: skip
        calls += [call(at + 10, at + 20, 10 * step + 1), call(at + 30, at + 40, 10 * step + 2), call(at + 50, at + 60, 10 * step + 3, "cudaMemcpyAsync")]  # fmt: skip
        records += [
            interval(at + 20, at + 420, 10 * step + 1), interval(at + 520, at + 620, 10 * step + 2),
            interval(at + 320, at + 570, 10 * step + 3, name="HtoD", kind="copy", queue="9"),
        ]  # fmt: skip
    tables: dict[str, Any] = {"step": steps(2, 1000, source="engine annotation")}
    if not left_out.get("host_rows"):
        tables["level2_host"] = regions
    if not left_out.get("records"):
        tables |= {"level4_edge": calls, "level3_device": records}
    return write_capture(folder / "traced", tables, level="device", host=host, more=more)


def experiment(folder: Path, name: str = "control", *, level: str = "off", host: str = "bench") -> Path:
    """Three triples in which a fifth, more or less, of the shorter hides."""
    trials = [
        {"process": run, "arm": arm, "treatment": "timing off", "repeat": run, "number": 0, "duration_ns": ns}
        for run in range(3)
        for arm, ns in (("copy", 1_000_000), ("compute", 2_000_000), ("both", 2_790_000 + 5_000 * run))
    ]
    sizes = "".join(f'{key} = "{value}"\n' for key, value in SIZES.items())
    facts = f'[contract]\nworkload = "copies and kernels alone and together"\n{sizes}[capture]\nexperiment = "overlap"\ndesign = "blocks"\n[capture.shared]\nkernels_per_piece = 1\n'
    return write_capture(folder / name, {"trial": trials}, level=level, host=host, more=facts)


def by_trace(page: str) -> str:
    return words.of_page(page.partition("### By the trace")[2].partition("### By the wall clock")[0])


def by_control(page: str) -> str:
    return words.of_page(page.partition("### By the wall clock")[2])


def test_the_budget_of_the_mean_step_and_its_remainder(tmp_path: Path) -> None:
    page = pages(tmp_path, traced(tmp_path))["steps/traced"]
    found = {line[0]: line[1:] for line in lines(page, "decode steps: 2 steps after the cut")}
    assert found["attention"][0].startswith("300 ns no band: n 2 < 200")
    assert found["mlp"][0].startswith("220 ns") and found["mlp"][1].startswith("22.0 %")
    # The window is left out of the budget, since regions lie in it: 1000 - 300 - 220.
    assert found["remainder: not attributed"][0].startswith("480 ns")
    assert found["the step"][0].startswith("1.00 us") and "layer windows" not in found
    (layer,) = lines(page, "decode steps: layer windows, a step")
    assert [cell.partition(" no band")[0] for cell in layer] == [
        "0",
        "600 ns",
        "300 ns",
        "220 ns",
        "80.0 ns",
        "2",
    ]
    assert words.verdicts(words.of_page(page)) == []


def test_queues_and_gaps_of_the_mean_step(tmp_path: Path) -> None:
    page = pages(tmp_path, traced(tmp_path))["steps/traced"]
    found = {line[1]: line for line in lines(page, "decode steps: device records of 2 steps of 2")}
    assert found["7"][3:5] == ["4", "2.00 records no band: n 2 < 200"] and found["9"][5].startswith("250 ns")
    gaps = lines(page, "The longest gaps between records of one queue")
    # Its times are whole numbers of 50 ns: two gaps of 100 ns may be none.
    # On queue 9 nothing lies from 570 to 1320; kernels of queue 7 lie from 570 to 620, and from 1020. That of queue 7 is
    # from 620 to 1020: nothing lies on any queue of the device.
    assert [line[:3] for line in gaps] == [["750.0 ns", "400.0 ns", "9"], ["400.0 ns", "400.0 ns", "7"]]
    # As many rows as are counted, and no others of the queue.
    alike = 'of=intervals&amp;queue={}&amp;process_id=1&amp;device=0&amp;kind={}&amp;clock=%21&amp;step_id=0..1">{}</a>'
    assert alike.format(9, "copy", 2) in page and alike.format(7, "kernel", 4) in page
    assert "of=gaps&amp;duration_ns=750" in page and "Each is a gap of one queue" in page
    assert 'href="../runs/traced.html#gaps"' in page
    assert "None of 100.0 ns or less" in words.of_page(page)


def test_gaps_are_told_only_where_everything_was_seen(tmp_path: Path) -> None:
    folder = traced(tmp_path)
    unseen = [call(10, 20, 1), call(1900, 1910, 99)]
    write_capture(tmp_path / "unseen", {"step": steps(2, 1000), "level4_edge": unseen, "level3_device": [interval(20, 30, 1), interval(500, 600, 98)]}, level="device")  # fmt: skip
    made = pages(tmp_path, folder, tmp_path / "unseen")
    assert "The longest gaps" in made["steps/traced"]
    assert "The longest gaps" not in made["steps/unseen"]
    assert "no gap is told: not every record was seen" in words.of_page(made["steps/unseen"])


def test_what_a_trace_shows_stays_open_and_a_control_stands_apart(tmp_path: Path) -> None:
    page = pages(tmp_path, traced(tmp_path), experiment(tmp_path))["steps/traced"]
    trace, control = by_trace(page), by_control(page)
    # Both at once, of the shorter: 150 of 250 ns. By the wall clock (1 + 2 - 2.795) / 1.
    assert "60.0 %" in trace and "150 ns" in trace and "0.205" not in trace
    assert "0.205 fraction of the shorter [" in control and "60.0" not in control and "150 ns" not in control
    assert _overlap_said.SEEN in page.partition("### By the trace")[2].partition("\n")[0]
    assert f"Copies against kernels: {_overlap_said.SEEN}" in trace
    assert "another workload: this capture is of one that is not stated" in control
    assert "nothing in this table closes what the trace shows" in control


@pytest.mark.parametrize(
    ("host", "captures"),
    [("bench", ()), ("bench", ({"host": "elsewhere"},)), ("bench", ({"level": "device"},)), (None, ({},))],
)
def test_without_a_control_of_its_host_it_says_that_there_is_none(
    tmp_path: Path, host: str | None, captures: tuple[dict[str, str], ...]
) -> None:
    made = [experiment(tmp_path, **about) for about in captures]
    page = pages(tmp_path, traced(tmp_path, host=host), *made)["steps/traced"]
    assert "No control: open." in by_control(page)
    assert "fraction" not in by_control(page) and "60.0 %" in by_trace(page)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "of the same sizes, in other processes in which nothing looked on"),
        ({"pieces": "5"}, "other sizes: pieces 5 here and 4 there"),
    ],
)
def test_whether_a_control_is_of_the_same_sizes(tmp_path: Path, changed: dict[str, str], said: str) -> None:
    sizes = {**SIZES, "kernels_per_piece": "1", **changed}
    more = "[contract]\n" + "".join(f'{key} = "{value}"\n' for key, value in sizes.items())
    page = pages(tmp_path, traced(tmp_path, more=more), experiment(tmp_path))["steps/traced"]
    assert said in by_control(page) and "open until a control" in by_trace(page)


def test_each_level_that_is_missing_is_named(tmp_path: Path) -> None:
    page = pages(tmp_path, traced(tmp_path, host_rows=True, records=True))["steps/traced"]
    seen = words.of_page(page)
    for what, level in (
        ("Where the time inside a step went on the host", "host"),
        ("What lies in the window of each layer", "host"),
        ("How a step is spread over the runner's phases", "runner"),
        ("What ran on a device queue in a step", "device"),
    ):
        # Its level, device, adds all of it: a level that it has would tell nothing more.
        assert (
            f"{what} is not known: this run has none of it on record. Level {level} records it: this run, at level device, has that,"
            in seen
        )
    assert "nothing of it was seen." in by_trace(page) and "would tell" not in by_trace(page)
    off = tmp_path / "off"
    off.mkdir()
    (bare,) = [
        p
        for path, p in pages(off, write_capture(tmp_path / "none", {"step": steps(2, 1000)})).items()
        if path != "steps"
    ]
    for level in ("host", "runner", "device"):
        assert f"this run has none of it on record. Level {level} would tell." in words.of_page(bare)
    assert "How long a step takes by its batch is not known" in seen
    assert [line[0] for line in lines(page, "decode steps, the longest, as recorded: no estimate")] == [
        "step.0",
        "step.1",
    ]


def test_records_that_no_call_is_known_for_are_not_missing(tmp_path: Path) -> None:
    records = [
        interval(100, 300, None),
        interval(200, 500, None, queue="8"),
        interval(0, 900, None, device="1"),
    ]
    page = pages(
        tmp_path,
        write_capture(tmp_path / "lone", {"step": steps(2, 1000), "level3_device": records}, level="device"),
    )["steps/lone"]
    seen = words.of_page(page)
    assert "3 device records belong to no step" in seen and "There are no others: there is no mean." in seen
    # Of device 0 two queues overlap: 200 and 300 ns cover 400; nothing of it is in any step.
    told = lines(page, "Device records that are in no step, counted: in no mean below")
    assert [line[-4:] for line in told] == [
        ["kernel", "2", "400.0 ns", "500.0 ns"],
        ["kernel", "1", "900.0 ns", "900.0 ns"],
    ]
    assert "step_id=%21" in page and "device=1&amp;kind=kernel" in page
    assert seen.count("Level edge has the calls") == 2 and "All the others" not in seen
    assert "Device records are there, but by no call of a step are they known to be of it." in by_trace(page)


def test_the_longest_step_opens_and_its_source_stands_beside_its_name(tmp_path: Path) -> None:
    drawn = steps(3, 1000, source="probe")
    drawn[1]["end_ns"] += 500
    drawn += [{**row, "source": "engine annotation", "start_ns": row["start_ns"] + 10} for row in drawn[:2]]
    page = pages(tmp_path, write_capture(tmp_path / "two", {"step": drawn}))["steps/two"]
    about = json.loads(html.unescape(re.findall('about="(.*?)"', page)[0]))
    # By start: probe 0, annotation 0, probe 1, which lasts 1,500 ns; the annotation of it starts 10 later and is shorter.
    assert (about["first"], about["unasked"]) == (2, step_pages.UNASKED)
    (longest, *_) = lines(page, "decode steps (probe), the longest")
    assert longest == ["step.1", "1.500 us", "probe", "2"]
    assert "2 iterations were drawn by two sources" in words.of_page(page)


def test_a_name_of_any_length_is_shortened(tmp_path: Path) -> None:
    name = "k" * 100_000
    region = {"name": name, "start_ns": 100, "end_ns": 400, "thread": "1", "category": "region"}
    layer = {"name": "layer 0", "start_ns": 50, "end_ns": 700, "thread": "1", "category": "layer", "layer": 0}
    drawn = [{**row, "name": name} for row in steps(2, 1000)]
    page = pages(
        tmp_path,
        write_capture(tmp_path / "long", {"step": drawn, "level2_host": [region, layer]}, level="host"),
    )["steps/long"]
    assert "k" * 65 not in re.sub(r'(title|data-sort)="[^"]*"', "", page)


def test_steps_by_their_batch_never_pool_kinds_or_sources(tmp_path: Path) -> None:
    drawn = [
        row | {"batch": 1 + n % 2, "kind": "prefill" if n == 5 else "decode"}
        for n, row in enumerate(steps(6, 100))
    ]
    folder = write_capture(tmp_path / "off", {"step": drawn})
    page = pages(tmp_path, folder)["steps/off"]
    # The rows of the chart are those of the table: a step that does not tell its batch is in neither.
    assert '#of=steps&amp;nested=0&amp;warm_up=0&amp;duration_ns=0..&amp;batch=0.."' in page
    found = [[*line[:2], line[4]] for line in lines(page, "Steps by their batch")]
    assert found == [["decode steps", "1", "3"], ["decode steps", "2", "2"], ["prefill steps", "2", "1"]]
