"""How results are kept, and what the kept ones say: every grid is in them, and no cell lies outside its range."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from akvsite.pages import _calibration
from akvsite.pages._calibration import Row

from .__main__ import grids, rests_on, written
from .cell import Cell

DIGESTS = {"estimators": "e" * 64, "clock": "c" * 64}


def test_a_cell_is_inside_its_range_with_both_ends() -> None:
    assert [Cell("g", "c", got, (93.0, 98.5)).inside for got in (92.99, 93.0, 98.5, 98.51)] == [
        False, True, True, False,
    ]  # fmt: skip
    assert Cell("g", "c", 12.0, None).inside and str(Cell("g", "c", 12.0, None)).endswith("no range stated")
    assert str(Cell("g", "c", 12.0, (93.0, 98.5))).endswith("93 to 98.5 %   OUTSIDE")


def test_every_grid_is_kept_and_no_kept_cell_lies_outside() -> None:
    kept = json.loads(_calibration.RESULTS.read_text(encoding="utf-8"))["grids"]
    assert sorted(kept) == sorted(grids()), "make calibration"
    tables = _calibration.tables()
    outside = [(t.title, row.case) for t in tables for row in t.rows if not row.inside]
    assert not outside
    assert sum(len(t.rows) for t in tables) == sum(len(grid["cells"]) for grid in kept.values()) > 200


def test_no_kept_case_speaks_a_verdict() -> None:
    """They are shown on a page: pages have no such words."""
    kept = _calibration.RESULTS.read_text(encoding="utf-8")
    assert not re.search(
        r"\b(worst|worse|best|better|good|bad|fails?|pass(es)?|fastest|faster|slower)\b", kept, re.I
    )


def test_results_of_grids_that_were_not_run_stay(tmp_path: Path) -> None:
    first = written({"runs": [Cell("runs", "one", 95.0, (94, 96), of=100)]}, DIGESTS, None)
    both = written({"clock": [Cell("clock", "two", 0.4, (0, 1), "s")]}, DIGESTS, first)
    (tmp_path / "results.json").write_text(both)
    runs, clock = sorted(_calibration.tables(tmp_path / "results.json"), key=lambda t: t.title != "runs")
    assert runs.rows == (Row("one", 95.0, "%", 100, (94, 96)),)
    assert clock.rows == (Row("two", 0.4, "s", 0, (0, 1)),)
    assert (runs.rests_on, clock.rests_on) == ("estimators", "clock")


@pytest.mark.parametrize("package", ["estimators", "clock"])
def test_results_are_of_these_sources_only_while_no_file_changes(package: str, tmp_path: Path) -> None:
    name = next(grid for grid in grids() if rests_on(grid) == package)
    cells = [Cell("g", "c", 95.0, None)]
    now = {package: _calibration.sources_digest(package)}
    for digests, same in ((now, True), (DIGESTS, False)):
        (tmp_path / "results.json").write_text(written({name: cells}, digests, None))
        assert [t.of_these_sources for t in _calibration.tables(tmp_path / "results.json")] == [same]


def test_the_digest_knows_names_and_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_calibration.akvsite, "__file__", str(tmp_path / "__init__.py"))
    part = tmp_path / "estimators"
    part.mkdir()
    (part / "a.py").write_text("x = 1\n")
    seen = {_calibration.sources_digest("estimators")}
    (part / "a.py").write_text("x = 2\n")
    seen.add(_calibration.sources_digest("estimators"))
    (part / "a.py").rename(part / "b.py")
    seen.add(_calibration.sources_digest("estimators"))
    assert len(seen) == 3
    (part / "notes.txt").write_text("not a source")
    assert _calibration.sources_digest("estimators") in seen


def test_without_results_there_are_no_tables(tmp_path: Path) -> None:
    assert _calibration.tables(tmp_path / "none.json") == []
