"""A second process: it reads what the first one reads, writes what the first one would, and ends with it."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bundles import read_in, steps, write_capture

from akvsite import site
from akvsite.beside import Beside
from akvsite.errors import BadInput
from akvsite.store import Store

Tell = Callable[[str, str], None]


def _runs(store: Store, tell: Tell, written: str) -> list[int]:
    """How many runs there are, before and after another process wrote one."""
    counts = [store.one("SELECT count(*) FROM run")]
    tell("counted", "once")
    while not Path(written).exists():
        time.sleep(0.01)
    return [*counts, store.one("SELECT count(*) FROM run")]


def _refused(store: Store, tell: Tell) -> None:
    raise BadInput("trace.json", "not a capture", place="byte 12")


def _wrong(store: Store, tell: Tell) -> None:
    raise KeyError("a fault of the work itself")


def _long(store: Store, tell: Tell) -> None:
    tell("process", str(os.getpid()))
    while True:
        time.sleep(0.01)
        tell("still", "here")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write_capture(tmp_path / "a", {"step": steps()})
    read_in(tmp_path / "akvsite.db", tmp_path / "a")
    return tmp_path / "akvsite.db"


def _there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_both_see_the_same_whoever_writes_in_between(store: Path, tmp_path: Path) -> None:
    write_capture(tmp_path / "b", {"step": steps()})
    heard: list[Any] = []
    written = tmp_path / "written"
    with (
        Store.open(store) as opened,
        Beside(opened, _runs, str(written), hear=lambda *said: heard.append(said)) as second,
    ):
        read_in(store, tmp_path / "b")
        written.touch()
        assert opened.one("SELECT count(*) FROM run") == 1
        assert second.result() == [1, 1]
    assert heard == [("counted", "once")]
    with Store.open(store) as opened:
        assert opened.one("SELECT count(*) FROM run") == 2


def test_what_the_second_process_raises_is_raised_in_the_first(store: Path) -> None:
    with Store.open(store) as opened:
        with pytest.raises(BadInput) as refused, Beside(opened, _refused, hear=lambda *_: None) as second:
            second.result()
        assert (refused.value.source, refused.value.place, refused.value.why) == (
            "trace.json", "byte 12", "not a capture",
        )  # fmt: skip
        with pytest.raises(KeyError) as wrong, Beside(opened, _wrong, hear=lambda *_: None) as second:
            second.result()
        assert "_wrong" in "".join(wrong.value.__notes__)  # where it was raised
        # The store can be read and written again.
        with opened.transaction():
            assert opened.one("SELECT count(*) FROM run") == 1


def test_the_second_process_ends_with_the_block(store: Path) -> None:
    heard: dict[str, str] = {}
    with Store.open(store) as opened:
        with pytest.raises(ZeroDivisionError), Beside(opened, _long, hear=heard.__setitem__) as second:
            while "process" not in heard:
                second.listen()
            assert _there(int(heard["process"]))
            raise ZeroDivisionError
        assert not _there(int(heard["process"]))


def test_a_second_process_that_is_killed_is_told_in_one_line(store: Path) -> None:
    heard: dict[str, str] = {}
    with (
        Store.open(store) as opened,
        pytest.raises(BadInput, match="ended from outside, with code -9"),
        Beside(opened, _long, hear=heard.__setitem__) as second,
    ):
        while "process" not in heard:
            second.listen()
        os.kill(int(heard["process"]), signal.SIGKILL)
        second.result()


def test_two_processes_write_what_one_writes(small_project: Path, tmp_path: Path) -> None:
    made = {}
    for beside in (False, True):
        project = tmp_path / str(beside)
        shutil.copytree(
            small_project, project, ignore=shutil.ignore_patterns("site", "captures", "*-wal", "*-shm")
        )
        shutil.rmtree(project / "site_src" / "data")
        pages: list[str] = []
        with Store.open(project / "akvsite.db") as opened:
            built = site.write_pages(opened, project, pages.append, beside=beside)
        source = project / "site_src"
        files = {p.relative_to(source).as_posix(): p.read_bytes() for p in source.rglob("*") if p.is_file()}
        made[beside] = files, built, sorted(pages)
    assert made[True] == made[False]
    assert any(name.startswith("data/rows/") for name in made[True][1].written)
