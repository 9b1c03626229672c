"""The Python that the page about instrumenting an engine shows is run, with both probes, at each level."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from capturing import ROOT
from probes import LAYER, LEVELS, PHASE, REGION, REQUEST, STAMP, STEP, TOKEN, Probe, read

from akvsite import milestones

PAGE = (ROOT / "site_src/instrument.md").read_text(encoding="utf-8")
ENGINE, REQUESTS, COUNTERS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize(("level", "kinds"), LEVELS)
def test_the_engine_of_the_page(run: Probe, level: str, kinds: set[int]) -> None:
    done = run(ENGINE, level)
    assert done.err == ""
    found = Counter(m.kind for log in done.logs() for m in log.marks)
    whole = {STEP: 1, PHASE: 1, LAYER: 2, REGION: 2, STAMP: 1, TOKEN: 2}
    assert found == {kind: n for kind, n in whole.items() if kind in kinds}


def test_the_request_of_the_page(run: Probe) -> None:
    marks = run(REQUESTS, "runner").log.marks
    events = [m.name for m in marks if m.kind == REQUEST]
    assert events == ["arrived", "admitted", "preempted", "resumed", "finished"]
    assert [m.name for m in marks if m.kind == TOKEN] == ["detokenised", "sent"]


def test_the_counters_of_the_page(run: Probe, tmp_path: Path) -> None:
    done = run(COUNTERS, "off", AKV_FILES=str(tmp_path))
    assert done.logs() == []
    (path,) = tmp_path.glob("counters-*.akvlog")
    assert Counter(m.kind for m in read(path).marks) == {STEP: 3, TOKEN: 1}


def test_the_milestones_of_the_page_are_all_there_are() -> None:
    told = PAGE[PAGE.index("Milestones are, in this order,") :].partition(". One that")[0]
    assert tuple(re.findall(r"`(\w+)`", told)) == milestones.TOKEN
