"""The page of the tracer experiment says what the raw files of the capture say."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import pyarrow.parquet as pq
import pytest

CAPTURE = Path(__file__).parents[2] / "captures/tracer-sycl-cpu"


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "site_src/experiments/tracer-sycl-cpu.md").read_text(encoding="utf-8")


def growth_per_call(treatment: str, column: str, calls: float) -> float:
    """By hand: last sample less first, of each process of the treatment, by its calls; the mean over processes."""
    trials = pq.read_table(CAPTURE / "trials.parquet").to_pylist()
    memory = pq.read_table(CAPTURE / "memory.parquet").to_pylist()
    grown = []
    for process in sorted({t["process"] for t in trials if t["treatment"] == treatment}):
        held = [m[column] for m in sorted(memory, key=lambda m: m["at_ns"]) if m["process"] == process]
        grown.append((held[-1] - held[0]) / calls)
    return statistics.mean(grown)


def number(page: str, what: str, treatment: str) -> tuple[float, str]:
    """Value and unit of a row of the page's table of all numbers."""
    row = re.search(
        rf"<td>{re.escape(what)}</td><td>{re.escape(treatment)}</td><td[^>]*>(-?[\d.]+) (\w+) &#91;", page
    )
    assert row, (what, treatment)
    return float(row[1]), row[2]


@pytest.mark.parametrize("treatment", ["vendor tracing", "vendor tracing, silent"])
def test_growth_is_that_of_the_raw_files(page: str, treatment: str) -> None:
    calls = 9 * 20_000
    for kind in ("anonymous", "resident"):
        value, unit = number(page, f"{kind} memory that stays with a call, over the whole run", treatment)
        assert unit == "B"
        assert value == pytest.approx(growth_per_call(treatment, f"{kind}_bytes", calls), rel=0.01)


def test_the_page_says_how_it_was_made_and_what_it_does_not_establish(page: str) -> None:
    assert page.startswith("# A shim when the vendor tracer leaked")
    for words in (
        "mirror",
        "20261130",
        "fresh processes",
        "counted",
        "does not establish",
        "nothing in it is a speed",
    ):
        assert words in page
    # Five treatments, two times and two kinds of memory: every chart is there.
    assert page.count("<figure") == 2 + 2 + 5


def test_it_is_found_from_the_run_and_from_the_list(project: Path) -> None:
    run = (project / "site_src/runs/tracer-sycl-cpu.md").read_text(encoding="utf-8")
    assert "../experiments/tracer-sycl-cpu.html" in run
    assert "experiments/tracer-sycl-cpu.html" in (project / "site_src/experiments.md").read_text(
        encoding="utf-8"
    )
