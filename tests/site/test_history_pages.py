"""A second band by named archived runs: where it is, what it says, and that one unlike run takes it away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import words
from bundles import read_in, write_capture

from akvsite import site
from akvsite.pages import run
from akvsite.store import Store

RUNS = ("a", "b", "c", "d")


def steps_of(seed: int, count: int = 400) -> list[dict[str, Any]]:
    """Steps of about 1 ms, in runs that differ by tens of microseconds."""
    rng = np.random.default_rng(seed)
    lengths = (1_000_000 + 20_000 * seed + 1_000 * rng.standard_normal(count)).astype(np.int64).tolist()
    ends = np.cumsum(lengths).tolist()
    return [
        {
            "name": f"step.{n}",
            "start_ns": end - length,
            "end_ns": end,
            "number": n,
            "kind": "decode",
            "source": "engine counter",
            "warm_up": 0,
        }
        for n, (length, end) in enumerate(zip(lengths, ends, strict=True))
    ]


def pages(folder: Path, batches: dict[str, int], named: tuple[str, ...] = RUNS) -> dict[str, str]:
    """The text of each run's page; ``named`` are a history."""
    notes = folder / "captures"
    captures = [
        write_capture(
            notes / name, {"step": steps_of(seed)}, more=f"[contract]\nbatch = {batches.get(name, 4)}"
        )
        for seed, name in enumerate(RUNS)
    ]
    (notes / "histories").mkdir()
    (notes / "histories" / "day.toml").write_text(f'name = "day"\nruns = {list(named)!r}'.replace("'", '"'))
    store = folder / "akvsite.db"
    read_in(store, *captures)
    with Store.open(store) as opened:
        site.take_notes(opened, notes)
        return {
            page.path.removeprefix("runs/"): " ".join(words.of_page(page.text).split())
            for page in run.write(site.SiteDesk(opened, lambda name, content: None))
        }


def test_the_spread_of_named_runs_is_a_second_band(tmp_path: Path) -> None:
    text = pages(tmp_path, {})["a"]
    assert "band by history day: 3 other runs of the same host, level and contract (b, c, d)" in text.lower()
    # b, c and d lie at 1.02, 1.04 and 1.06 ms: 20 us apart, times t of 2 degrees, 4.303, is 86 us either way.
    assert "1.00 ms [0.91, 1.09] 95 %, configuration, by history" in text
    # The band of the run stands first and stays what it was.
    assert "95 %, this run only" in text


@pytest.mark.parametrize(
    ("batches", "named", "said"),
    [
        ({"c": 8}, RUNS, "no band by history day: c is unlike this run, or absent: its batch"),
        (
            {},
            ("a", "b", "gone"),
            "no band by history day: gone is unlike this run, or absent: it is not in the store",
        ),
    ],
)
def test_one_unlike_run_takes_the_band_away_and_is_named(
    tmp_path: Path, batches: dict[str, int], named: tuple[str, ...], said: str
) -> None:
    text = pages(tmp_path, batches, named)["a"]
    assert said in text.lower()
    assert "configuration, by history" not in text


def test_a_run_that_no_history_names_has_one_band(tmp_path: Path) -> None:
    found = pages(tmp_path, {}, ("a", "b", "c"))
    assert "history" not in found["d"]
    assert "contract (b, c)" in found["a"]
