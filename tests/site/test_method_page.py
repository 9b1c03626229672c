"""The Method page: examples are computed, every estimator and mark is told, and old results say that they are old."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
import words

from akvsite import ingest
from akvsite.charts import _marks
from akvsite.pages import _calibration, method
from akvsite.pages._worked import WORKED, steps
from akvsite.pages._worked_clock import READINGS, worked
from akvsite.site import SiteDesk
from akvsite.store import Store


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    with Store.open(tmp_path_factory.mktemp("method") / "akvsite.db") as store:
        ingest.install_views(store)
        (made,) = method.write(SiteDesk(store))
    return made.text


def plain(markdown: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", markdown))


def test_each_example_stands_there_as_it_would_be_printed(page: str) -> None:
    shown = plain(page)
    for example in WORKED:
        for name, made in example.lines():
            assert made.text(name) in shown and made.footer() in shown, example.title
            assert made.refusal in shown
    assert "no band: p99 needs n >= 5000, n is 71; upper bound of p99 is unbounded (n < 299)" in shown


def test_examples_are_made_from_data_and_not_typed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [made.text(name) for name, made in WORKED[0].lines()]
    monkeypatch.setattr("akvsite.pages._worked.steps", lambda n, seed, middle=0: steps(n, seed, 5_000_000))
    assert all(a != b for a, b in zip(before, (m.text(n) for n, m in WORKED[0].lines()), strict=True))
    shown = plain(worked())
    monkeypatch.setattr("akvsite.pages._worked_clock.READINGS", READINGS[:2])
    assert plain(worked()) != shown


def test_every_estimator_is_told_where_links_look_for_it(page: str) -> None:
    documented = SiteDesk(None).documents()["estimators"]  # type: ignore[arg-type]
    named = {name for example in WORKED for name in example.of}
    assert named <= set(documented)
    for name in documented:
        assert (f"{{ #estimate-{name.replace('_', '-')} }}" in page) == (not name.endswith("_rows")), name
    assert "{ #two-clocks }" in page and "`feasible`" in page


def test_every_mark_of_the_legends_has_its_words() -> None:
    entries = {*_marks.STATES, *(entry for entry, _ in _marks.ENDS.values())}
    assert set(method.MARKS) == entries


def test_clock_example_converts_three_readings_and_refuses_the_fourth(page: str) -> None:
    shown = plain(worked())
    assert "some clock meets all three" in shown and "they are inconsistent at 2 ppm" in shown
    assert shown.count("±") == 6 and shown.split()[0] in plain(page)


def kept(folder: Path, sources: str) -> Path:
    cell: dict[str, Any] = {"grid": "runs", "case": "k 3", "got": 95.25, "low": 93.5, "high": 96.5, "unit": "%", "of": 8000}  # fmt: skip
    beyond = cell | {"case": "k 5", "got": 91.0}
    limit = cell | {"grid": method.OPENED[0][0], "case": "phi 0.98", "got": 92.5, "low": None, "high": None}
    grid = {"date": "2026-11-30", "numpy": "2.4.6", "rests_on": "estimators", "sources": sources}
    path = folder / "calibration.json"
    path.write_text(json.dumps({"grids": {"runs": grid | {"cells": [cell, beyond, limit]}}}))
    return path


def test_calibration_is_shown_with_its_date_its_trials_and_what_lies_outside(tmp_path: Path) -> None:
    path = kept(tmp_path, _calibration.sources_digest("estimators"))
    shown = plain("".join(method._calibration(_calibration.tables(path))))
    assert "before the last change" not in shown
    for told in ("2026-11-30", "95.25 %", "8,000", "93.5 to 96.5 %", "91 %, outside", "92.5 %"):
        assert told in shown, told


def test_results_of_other_sources_say_so(tmp_path: Path) -> None:
    shown = plain("".join(method._calibration(_calibration.tables(kept(tmp_path, "0" * 64)))))
    assert "The results of 2026-11-30 were made before the last change of the estimators." in shown
    assert "was not run" in plain("".join(method._calibration([])))


def test_no_verdict_is_on_the_page(page: str) -> None:
    assert not words.verdicts(plain(page))
