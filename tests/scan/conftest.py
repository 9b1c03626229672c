"""Both engines run the same tests; where the one in Rust is not installed, its cases are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from akvlogs import AkvLog

from akvsite import scan
from akvsite.scan._engines import installed


@pytest.fixture(params=["python", "rust"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine; that it is this one which runs is checked where a file is opened."""
    name: str = request.param
    if name not in installed():
        pytest.skip("the rust engine is not installed: `pip install ./scanner`, or `make test`")
    return name


@pytest.fixture
def opened(engine: str, tmp_path: Path) -> Iterator[Any]:
    """Writes a log and opens it with the engine of this case."""
    logs: list[scan.Log] = []

    def opened(log: AkvLog, name: str = "ur-1.akvlog", **how: int) -> scan.Log:
        logs.append(scan.open_log(log.write(tmp_path / name, **how), engine))
        assert logs[-1].engine == engine
        return logs[-1]

    yield opened
    for log in logs:
        log.close()


@pytest.fixture
def accounted() -> Callable[[scan.Log], scan.Tally]:
    """The tally of a log, in which every reserved record is one of what there is."""

    def accounted(log: scan.Log) -> scan.Tally:
        tally = log.tally()
        there = sum(tally.present.values())
        assert tally.reserved == there + tally.holes + tally.overwritten + tally.lost + tally.missing
        return tally

    return accounted
