"""The page of an overlap experiment says what the raw files of its capture say."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from bundles import read_in, write_capture
from words import verdicts

from akvsite import site
from akvsite.pages import overlap
from akvsite.store import Store

CAPTURE = Path(__file__).parents[2] / "captures/overlap-h200"


def pages(store: Path) -> dict[str, str]:
    with Store.open(store) as opened:
        return {page.path: page.text for page in overlap.write(site.SiteDesk(opened, lambda *_: None))}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = tmp_path_factory.mktemp("overlap") / "akvsite.db"
    read_in(store, CAPTURE)
    (found,) = pages(store).values()
    yield found


def by_hand(treatment: str) -> float:
    """Means of each arm over each process, then over processes: (copy + compute - both) / the shorter."""
    arms: dict[str, list[float]] = {}
    trials = pq.read_table(CAPTURE / "trials.parquet").to_pylist()
    for arm in ("copy", "compute", "both"):
        of: dict[int, list[int]] = {}
        for trial in trials:
            if trial["treatment"] == treatment and trial["arm"] == arm:
                of.setdefault(trial["process"], []).append(trial["duration_ns"])
        assert len(of) == 10 and all(len(times) == 60 for times in of.values())
        arms[arm] = [statistics.fmean(times) for times in of.values()]
    copy, compute, both = (statistics.fmean(arms[arm]) for arm in ("copy", "compute", "both"))
    return (copy + compute - both) / min(copy, compute)


@pytest.mark.parametrize("treatment", ["timing off", "timing on"])
def test_the_overlap_is_that_of_the_raw_file(page: str, treatment: str) -> None:
    row = re.search(
        rf"<tr><td>{treatment}</td><td[^>]*>(-?[\d.]+) fraction of the shorter &#91;([\d.]+), ([\d.]+)&#93;",
        page,
    )
    assert row
    value, low, high = map(float, row.groups())
    assert value == pytest.approx(by_hand(treatment), abs=0.0001)
    assert low < value < high and high - low < 0.02


def test_the_page_says_what_it_stands_on_and_judges_nothing(page: str) -> None:
    assert page.startswith(f"# {overlap.TITLE}") and page.count("<figure") == 3
    for words in (
        "until all was submitted", "nothing submitted", "may be the control of a claim", "mirror", "timing off, block 0",
        "the same in all 20 runs", "kernels of a piece",
    ):  # fmt: skip
        assert words in page
    assert verdicts(re.sub("<[^>]+>", " ", page)) == []


def test_runs_whose_outputs_differ_are_stamped_and_what_was_not_timed_is_unknown(tmp_path: Path) -> None:
    trials = [
        {"process": 0, "arm": arm, "treatment": "timing off", "repeat": block, "number": 0, "duration_ns": ns}
        for block in range(3)
        for arm, ns in (("copy", 10), ("compute", 20), ("both", 25 + block))
    ]
    facts = '[capture]\nexperiment = "overlap"\noutputs = "DIFFER: 2 in 3 runs"\n'
    write_capture(tmp_path / "odd", {"trial": trials}, more=facts)
    write_capture(tmp_path / "empty", {"trial": trials[:1]}, more=facts)
    read_in(tmp_path / "akvsite.db", tmp_path)
    made = pages(tmp_path / "akvsite.db")
    assert list(made) == ["experiments/odd"]
    assert "DIFFER: 2 in 3 runs" in made["experiments/odd"]
    assert "whether the device waited for the host is unknown" in made["experiments/odd"]
    assert "timing on minus timing off" not in made["experiments/odd"]
