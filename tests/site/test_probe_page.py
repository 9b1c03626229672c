"""The page of the probe experiment, and what looking cost under every chart of a run at a level."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import looked_at
import pyarrow.parquet as pq
import pytest
from bundles import read_in
from words import verdicts

from akvsite import site
from akvsite.charts import missing_parts
from akvsite.pages import comparison, experiments, probe, run
from akvsite.store import Store

Build = Callable[..., tuple[dict[str, str], dict[str, list[str]]]]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Pages by path, and printed lines by chart, of the captures and notes in ``tmp_path``."""

    def made(*modules: Any) -> tuple[dict[str, str], dict[str, list[str]]]:
        store = tmp_path / "akvsite.db"
        store.unlink(missing_ok=True)
        read_in(store, tmp_path)
        left: dict[str, str] = {}
        with Store.open(store) as opened:
            site.take_notes(opened, tmp_path)
            desk = site.SiteDesk(opened, left.__setitem__)
            pages = {page.path: page.text for module in modules for page in module.write(desk)}
        return pages, dict(footers(left))

    return made


def footers(left: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    for path, script in left.items():
        if call := re.fullmatch(r'akvChart\("[^"]*",(.*)\);\n', script):
            yield path, json.loads(call[1])["usermeta"]["akv"]["footer"]


def level_lines(printed: dict[str, list[str]], name: str) -> set[str]:
    found = {
        line for path, lines in printed.items() if f"/{name}/" in path for line in lines if line.startswith("level ")
    }  # fmt: skip
    assert found
    return found


def medians(bundle: Path) -> dict[tuple[str, int], float]:
    """By hand: the median trial of each run, by level and block."""
    of: dict[tuple[str, int], list[int]] = {}
    for trial in pq.read_table(bundle / "trial.parquet").to_pylist():
        of.setdefault((trial["treatment"], trial["repeat"]), []).append(trial["duration_ns"])
    return {key: statistics.median(times) for key, times in of.items()}


def test_the_table_says_what_the_raw_file_says(tmp_path: Path, build: Build) -> None:
    bundle = looked_at.experiment(tmp_path / "probe-x")
    pages, printed = build(probe)
    page = pages["experiments/probe-x"]
    assert page.startswith(f"# {probe.TITLE}")
    of = medians(bundle)
    for level in ("runner", "host", "device", "edge"):
        ratios = [of[level, block] / of["off", block] for block in range(8)]
        effect = 100 * (statistics.geometric_mean(ratios) - 1)
        row = re.search(rf"<tr><td>{level}</td>.*?</tr>", page)
        assert row
        said = re.findall(r"(-?[\d.]+) &#37;|(-?[\d.]+) % &#91;(-?[\d.]+), (-?[\d.]+)&#93;", row[0])
        value, low, high = map(float, said[0][1:])
        assert low <= effect <= high and value == pytest.approx(effect, abs=high - low)
    assert "<td>off</td><td>the control</td>" in page and page.count("<figure") == 3
    for words in (
        "mirror",
        "block 0",
        "210 decode steps measured",
        "the 100 before them cut",
        "a profiler",
        "ab" * 32,
    ):
        assert words in page  # fmt: skip
    assert verdicts(page) == []
    assert [path for path, lines in printed.items() if missing_parts(lines)] == []
    assert all(
        any(line.startswith("level off to edge") and "capture on" in line for line in lines) for lines in printed.values()
    )  # fmt: skip


@pytest.mark.parametrize("steps", [210, 20, 0])
def test_of_a_command_the_wall_clock_is_told_and_its_steps_where_there_are_some(
    tmp_path: Path, build: Build, steps: int
) -> None:
    bundle = looked_at.experiment(tmp_path / "probe-x", command=True, count=steps)
    pages, printed = build(probe)
    page = pages["experiments/probe-x"]
    whole = {
        (t["treatment"], t["repeat"]): t["duration_ns"]
        for t in pq.read_table(bundle / "trial.parquet").to_pylist()
        if t["arm"] == "command"
    }
    effect = 100 * (statistics.geometric_mean([whole["edge", b] / whole["off", b] for b in range(8)]) - 1)
    table = page[page.index("what it adds to the wall clock of the command") :]
    said = re.search(r"<td>edge</td>.*?>(-?[\d.]+) % &#91;(-?[\d.]+), (-?[\d.]+)&#93;", table)
    assert said
    value, low, high = map(float, said.groups())
    assert low <= effect <= high and value == pytest.approx(effect, abs=high - low)
    assert ("what it adds to the median decode step" in page) == bool(steps)
    assert page.count("<figure") == (3 if steps else 2)
    assert ("20 steps a run &#60; 200" in page) == (steps == 20)
    assert "2, which are not told" in page and "a command that does nothing then" in page
    assert verdicts(page) == [] and not any(missing_parts(lines) for lines in printed.values())


def test_outputs_that_differ_are_over_everything(tmp_path: Path, build: Build) -> None:
    looked_at.experiment(tmp_path / "probe-x", outputs="DIFFER: 2 different sequences of tokens in 40 runs")
    looked_at.run(tmp_path / "edge-run", "edge")
    pages, printed = build(probe, run)
    page = pages["experiments/probe-x"]
    assert "DIFFER&#58; 2 different" in page[: page.index("Level by level")]
    charts = [lines for path, lines in printed.items() if "experiments/" in path]
    assert charts and all("THE OUTPUTS OF THE RUNS DIFFER" in lines for lines in charts)
    assert "no control" in level_lines(printed, "edge-run").pop()


def test_too_few_pairs_have_no_band_and_say_why(tmp_path: Path, build: Build) -> None:
    looked_at.experiment(tmp_path / "probe-x", blocks=4)
    looked_at.run(tmp_path / "edge-run", "edge")
    pages, printed = build(probe, run)
    assert "4 pairs &#60; 8" in pages["experiments/probe-x"]
    assert level_lines(printed, "edge-run") == {
        "level edge, dev host: cost of looking unknown, no control with a band (probe-x: 4 pairs < 8): not a speed"
        " · structure, not speed"
    }


def test_it_is_found_from_its_run_and_from_the_list(tmp_path: Path, build: Build) -> None:
    looked_at.experiment(tmp_path / "probe-x")
    pages, _ = build(run, experiments)
    assert "../experiments/probe-x.html" in pages["runs/probe-x"]
    row = re.search(r'<tr><td[^>]*><a href="experiments/probe-x.html">.*?</tr>', pages["experiments"])
    assert row and "<td>edge</td><td>no control&#58; captured while it ran" in row[0]


@pytest.mark.parametrize(("level", "near"), [("runner", 1.0), ("host", 5.0), ("edge", 33.0)])
def test_what_looking_cost_is_printed_under_the_charts_of_a_run(
    tmp_path: Path, build: Build, level: str, near: float
) -> None:
    bundle = looked_at.experiment(tmp_path / "probe-x")
    looked_at.run(tmp_path / "a-run", level)
    line = level_lines(build(run)[1], "a-run").pop()
    said = re.fullmatch(
        rf"level {level}, dev host: capture on, \+([\d.]+) % \[(-?[\d.]+), ([\d.]+)\] on the median decode step against its control"
        r" \(probe-x\), 8 ABBA pairs: not a speed · structure, not speed",
        line,
    )
    assert said, line
    number, low, high = map(float, said.groups())
    of = medians(bundle)
    effect = 100 * (statistics.geometric_mean([of[level, b] / of["off", b] for b in range(8)]) - 1)
    assert low <= effect <= high and number == pytest.approx(effect, abs=(high - low) / 10)
    assert effect == pytest.approx(near, abs=0.2)


def test_at_level_device_the_line_says_what_looked_there(tmp_path: Path, build: Build) -> None:
    """It may have been on in all steps of the experiment, and in ten of this run."""
    looked_at.experiment(tmp_path / "probe-x")
    some = f'{looked_at.CONTRACT}device_records = "profiler"\nprofile_steps = "50:59"\n'
    looked_at.run(tmp_path / "a-run", "device", contract=some)
    line = level_lines(build(run)[1], "a-run").pop()
    assert (
        "against its control (probe-x) with a profiler, on in every step, 8 ABBA pairs: not a speed" in line
    )


def test_a_run_at_level_off_and_one_of_another_workload_have_none(tmp_path: Path, build: Build) -> None:
    looked_at.experiment(tmp_path / "probe-x")
    looked_at.run(tmp_path / "off-run", "off")
    looked_at.run(tmp_path / "other", "edge", contract='[contract.engine]\nbackend = "torch"\n')
    looked_at.run(tmp_path / "elsewhere", "edge", host="another")
    printed = build(run)[1]
    assert {line.partition(" · ")[0] for line in level_lines(printed, "off-run")} == {"level off, dev host"}
    for name in ("other", "elsewhere"):
        said = level_lines(printed, name).pop()
        assert said.startswith("level edge, dev host: cost of looking unknown, no control: not a speed")


def test_the_newest_of_several_counts_and_an_excluded_one_does_not(tmp_path: Path, build: Build) -> None:
    looked_at.experiment(tmp_path / "probe-old", started="2026-11-29T10:00:00+00:00")
    looked_at.experiment(tmp_path / "probe-new")
    looked_at.run(tmp_path / "a-run", "edge")
    assert "(probe-new, the newest of 2), 8 ABBA pairs" in level_lines(build(run)[1], "a-run").pop()
    (tmp_path / "exclusions").mkdir()
    (tmp_path / "exclusions/new.md").write_text(
        "---\nrun: probe-new\ndate: 2026-11-30\nbecause: a second job ran\n---\n"
    )
    assert "(probe-old), 8 ABBA pairs" in level_lines(build(run)[1], "a-run").pop()


def test_a_comparison_of_runs_that_were_looked_at_says_it_too(tmp_path: Path, build: Build) -> None:
    looked_at.experiment(tmp_path / "probe-x")
    for name, level in (("a", "edge"), ("b", "edge"), ("c", "host")):
        looked_at.run(tmp_path / name, level)
    (tmp_path / "comparisons").mkdir()
    for name, other in (("same", "b"), ("mixed", "c")):
        (tmp_path / f"comparisons/{name}.toml").write_text(
            f'name = "{name}"\ntitle = "{name}"\ndesign = "two runs"\n[a]\nlabel = "a"\nruns = ["a"]\n'
            f'[b]\nlabel = "b"\nruns = ["{other}"]\n'
        )
    printed = build(comparison)[1]
    assert level_lines(printed, "same").pop().startswith("level edge, dev host: capture on, +3")
    mixed = level_lines(printed, "mixed").pop()
    assert re.search(r"edge: capture on, \+3\S+ % .*host: capture on, \+[45]\.", mixed)
