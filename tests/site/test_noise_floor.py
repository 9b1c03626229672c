"""The noise floor of a host: which experiments tell it, and that its numbers are those of the raw file."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import looked_at
import pyarrow.parquet as pq
import pytest
from bundles import read_in
from words import verdicts

from akvsite import site
from akvsite.estimate import Estimate
from akvsite.estimators import one_pair
from akvsite.pages import _noise
from akvsite.pages._noise import NoiseFloor
from akvsite.store import Store

Floors = Callable[..., tuple[NoiseFloor, ...]]


@pytest.fixture
def floors(tmp_path: Path) -> Floors:
    """The noise floors of a host, of the captures and notes in ``tmp_path``."""

    def made(host: str = "bench") -> tuple[NoiseFloor, ...]:
        store = tmp_path / "akvsite.db"
        store.unlink(missing_ok=True)
        read_in(store, tmp_path)
        with Store.open(store) as opened:
            site.take_notes(opened, tmp_path)
            return _noise.of_host(site.SiteDesk(opened, lambda path, text: None), host)

    return made


def ratios(bundle: Path, arm: str) -> list[float]:
    """By hand: in per cent, the second time over the first, block by block."""
    of: dict[tuple[str, int], list[int]] = {}
    for trial in pq.read_table(bundle / "trial.parquet").to_pylist():
        if trial["arm"] == arm:
            of.setdefault((trial["treatment"], trial["repeat"]), []).append(trial["duration_ns"])
    blocks = max(block for _, block in of) + 1
    median = {key: statistics.median(times) for key, times in of.items()}
    return [100 * (median["A again", b] / median["A", b] - 1) for b in range(blocks)]


@pytest.mark.parametrize(("steps", "arm"), [(210, "decode step"), (0, "command")])
def test_its_numbers_are_those_of_the_raw_file(tmp_path: Path, floors: Floors, steps: int, arm: str) -> None:
    bundle = looked_at.twice(tmp_path / "aa-x", count=steps)
    (floor,) = floors()
    of = ratios(bundle, arm)
    assert (floor.experiment, floor.host, floor.pairs, floor.started) == (
        "aa-x", "bench", 8, "2026-11-30T10:00:00+00:00",
    )  # fmt: skip
    together = 100 * (statistics.geometric_mean([1 + x / 100 for x in of]) - 1)
    assert floor.between.value == pytest.approx(together) and floor.between.unit == "%"
    assert floor.between.low is not None and floor.between.high is not None
    assert floor.between.low < together < floor.between.high
    assert (floor.one_pair.low, floor.one_pair.high) == pytest.approx((min(of), max(of)))
    assert floor.one_pair.confidence == pytest.approx(7 / 9)
    assert ("decode step" in floor.what) == bool(steps) and "an engine" in floor.what
    said = _noise.line([floor])
    assert said.startswith("noise floor (aa-x): the same thing against itself") and "8 ABBA pairs" in said
    assert said.count("[") == 2 and verdicts(said) == []


def test_a_host_without_one_has_an_unknown_floor(tmp_path: Path, floors: Floors) -> None:
    looked_at.twice(tmp_path / "aa-elsewhere", host="another")
    looked_at.experiment(tmp_path / "probe-x")
    looked_at.twice(tmp_path / "aa-looked-at", level="host")
    looked_at.twice(tmp_path / "aa-differs", outputs="DIFFER: 2 different outputs in 16 runs")
    assert (
        floors() == ()
        and _noise.line(())
        == "noise floor unknown: no A/A experiment of this host counts (one that is excluded, under a retraction or of differing outputs does not)"
    )


def test_the_newest_speaks_and_what_is_excluded_does_not(tmp_path: Path, floors: Floors) -> None:
    looked_at.twice(tmp_path / "aa-old", started="2026-11-29T10:00:00+00:00")
    looked_at.twice(tmp_path / "aa-new")
    found = floors()
    assert [floor.experiment for floor in found] == ["aa-new", "aa-old"]
    assert _noise.line(found).startswith("noise floor (aa-new, the newest of 2): ")
    (tmp_path / "exclusions").mkdir()
    (tmp_path / "exclusions/new.md").write_text(
        "---\nrun: aa-new\ndate: 2026-11-30\nbecause: a second job ran\n---\n"
    )
    assert [floor.experiment for floor in floors()] == ["aa-old"]


@pytest.mark.parametrize(
    ("blocks", "steps", "why"), [(4, 210, "4 pairs < 8"), (8, 199, "199 steps a run < 200"), (4, 0, "4 pairs < 8")]
)  # fmt: skip
def test_too_little_has_no_band_and_says_why(
    tmp_path: Path, floors: Floors, blocks: int, steps: int, why: str
) -> None:
    looked_at.twice(tmp_path / "aa-x", blocks=blocks, count=steps)
    (floor,) = floors()
    assert floor.between.low is None and floor.between.refusal == why
    assert _noise.line([floor]) == f"noise floor (aa-x): no band: {why}"


def test_one_pair_alone_has_no_range() -> None:
    effect = Estimate(0.5, None, None, 1, "%", "m", refusal="1 pair < 8", dots=(0.5,))
    assert one_pair(effect).low is None and one_pair(effect).refusal == "1 pair has no range"
