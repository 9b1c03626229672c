"""``akvsite scan``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import akvlogs
import pytest
from akvlogs import AkvLog


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    log = AkvLog(names=["urQueueCreate", "urEnqueueKernelLaunch"], counts={0: 5}, closed=False)
    log.call(1, enter=100, exit=200)
    log.call(1, enter=250, open=True)
    log.call(7, enter=300, exit=350)
    log.hole()
    log.more(akvlogs.WAITS, [1])
    folder = tmp_path / "run"
    folder.mkdir()
    log.write(folder / "ur-1.akvlog")
    AkvLog().write(folder / "ur-2.akvlog.gz")
    (folder / "trace.txt").write_text(
        "hello\n   ---> urA\n   <--- urA(.x = 1) -> UR_RESULT_SUCCESS;\n   ---> urB\n"
    )
    (folder / "notes.txt").write_text("nothing of ours\n")
    return folder


def test_a_folder_as_json(akvsite: Any, folder: Path, engine: str) -> None:
    done = akvsite("scan", folder, "--engine", engine, "--json")
    assert done.code == 0, done
    trace, log, packed = json.loads(done.out)
    assert [Path(found["path"]).name for found in (trace, log, packed)] == [
        "trace.txt",
        "ur-1.akvlog",
        "ur-2.akvlog.gz",
    ]
    assert {found["engine"] for found in (trace, log, packed)} == {engine}
    assert {found["speed_of"] for found in (trace, log, packed)} == {"one scan on this machine, no band"}
    assert log["present"] == {"open": 1, "call": 2, "continuation": 1}
    assert (log["reserved"], log["holes"], log["lost"], log["missing"], log["open_calls"]) == (5, 1, 0, 0, 1)
    assert (log["span_ns"], log["stray_continuations"], log["device_times_unread"]) == (250, 1, None)
    assert log["calls"] == [
        {"name": "urQueueCreate", "calls": 0, "only_counted": 5},
        {"name": "urEnqueueKernelLaunch", "calls": 2, "only_counted": 0},
        {"name": "(no name: id 7)", "calls": 1, "only_counted": 0},
    ]
    assert (packed["reserved"], packed["span_ns"], packed["calls"]) == (0, None, [])
    assert (trace["lines"], trace["other_lines"], trace["open_calls"]) == (4, 1, 1)
    assert trace["calls"] == [
        {"name": "urA", "calls": 1, "not_returned": 0},
        {"name": "urB", "calls": 1, "not_returned": 1},
    ]


def test_files_as_text(akvsite: Any, folder: Path) -> None:
    done = akvsite("scan", folder / "ur-1.akvlog", folder / "trace.txt")
    assert done.code == 0, done
    assert "5 records reserved = 4 present + 1 holes + 0 written over + 0 lost + 0 missing" in done.out
    assert "time span: 250 ns; open calls: 1" in done.out
    assert "device times never read: unknown" in done.out
    assert "4 lines, of them 1 of the application" in done.out
    assert done.out.count("MB/s (one scan on this machine, no band)") == 2
    assert "urEnqueueKernelLaunch" in done.out


def test_what_cannot_be_scanned(akvsite: Any, folder: Path, tmp_path: Path) -> None:
    akvsite("scan", folder / "notes.txt").refused("notes.txt", "no akvlog file")
    akvsite("scan", folder / "none.akvlog").refused("none.akvlog", "No such file")
    (tmp_path / "empty").mkdir()
    akvsite("scan", tmp_path / "empty").refused("empty", "holds no akvlog file")
    (folder / "ur-3.akvlog").write_bytes(AkvLog().build()[:100])
    done = akvsite("scan", folder, "--json")
    done.refused("ur-3.akvlog", "header is cut")
    assert done.out == ""
    akvsite("scan", folder / "ur-1.akvlog", "--engine", "numpy").refused("--engine", "'numpy'")
