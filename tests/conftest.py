"""What all tests share: the one bless switch, small captures, and the command line in this process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest

# Machines that run tests are slow now and then: no test depends on time, and every run tries the same examples.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("steady")

# Two processes share the tests and two cores: threads of torch that wait for each other in a loop take what the other needs.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write expected values anew from what comes out")


#: Files of minutes: where two processes share the tests file by file, they begin first, or one would be left waiting.
LONG = ("test_readme.py", "test_real_site.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected values are written anew: ``pytest --bless``; the difference belongs into the review."""
    return bool(request.config.getoption("--bless"))


@pytest.fixture
def agrees(bless: bool) -> Callable[[Path, Any], None]:
    """Compares with a file of expected values, or writes it: ``pytest --bless``."""

    def check(expected: Path, found: Any) -> None:
        if bless:
            expected.write_text(json.dumps(found, indent=1) + "\n")
        assert json.loads(json.dumps(found)) == json.loads(expected.read_text())

    return check


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str

    def refused(self, *words: str) -> str:
        """The one line of an input that cannot be used."""
        lines = self.err.splitlines()
        assert self.code == 2, self
        assert len(lines) == 1, self
        for word in words:
            assert word in lines[0], self
        return lines[0]


Command = Callable[..., Done]


@pytest.fixture
def akvsite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process, run in a folder of its own."""
    from akvsite import cli

    monkeypatch.chdir(tmp_path)

    def run(*words: str | os.PathLike[str]) -> Done:
        monkeypatch.setattr(sys, "argv", ["akvsite", *map(os.fspath, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main()
        out, err = capsys.readouterr()
        return Done(left.value.code if isinstance(left.value.code, int) else 0, out, err)

    return run
