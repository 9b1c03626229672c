"""What a command's own probe and counters leave in a capture, level by level."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any

import pytest
from akvlogs import AkvLog
from capturing import Capture

from akvsite import scan
from akvsite.manifest import load
from akvsite.record import files

PYTHON = sys.executable

ENGINE = """
import sys
from akvsite import record
for number in range(3):
    with record.step(number, batch=2), record.region("qkv"):
        pass
"""

COUNTED = """
from akvsite import record
counters = record.counters.Counters()
counters.step(0, "prefill", 1, 100, 200)
counters.step(1, "decode", None, 300, 400)
counters.stamp("launched", 1, at_ns=310)
request = counters.request("r7")
request.arrived(12, at_ns=50)
counters.token("r7", 0, step=1).mark("sampled", at_ns=390)
counters.token(3, 5).mark("client", at_ns=500, tokens=None)
request.finished(1, at_ns=450)
request.client_done(1, at_ns=600)
"""


def marks(path: Path) -> list[tuple[Any, ...]]:
    """Kind, name, start, end, value, a, b, c of each record of a probe, in the order of the file."""
    with scan.open_log(path) as log:
        names = {n["id"]: n["text"] for n in log.names.to_pylist() if n["what"] == 1}
        columns = ("start_ns", "end_ns", "value", "a", "b", "c")
        return [
            (row["kind"], names[row["name"]], *(row[c] for c in columns))
            for row in log.table("marks").to_pylist()
        ]


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize(("level", "kinds"), [("runner", [16] * 3), ("host", [16, 18] * 3)])
def test_the_probe_writes_into_the_capture(
    capture: Capture, engine: str, level: str, kinds: list[int]
) -> None:
    done = capture(level, [PYTHON, "-c", ENGINE], AKV_PROBE=engine)
    (log,) = (done.bundle / "probe").iterdir()
    assert [f.path.name for f in load(done.bundle).files if f.path.parent.name == "probe"] == [log.name]
    assert [row[0] for row in marks(log)] == kinds
    assert done.facts["capture"]["probe"]["files"] == done.facts["capture"]["probe"]["processes_closed"] == 1
    with scan.open_log(log) as read:
        assert "/" not in read.header.executable
        assert read.header.producer.startswith("akv_probe ")
        assert log.stat().st_size == read.header.records_at + 64 * read.header.reserved


def test_a_probe_is_packed_as_other_records_are(capture: Capture) -> None:
    done = capture("runner", [PYTHON, "-c", ENGINE], "--compress")
    (log,) = (done.bundle / "probe").iterdir()
    assert gzip.decompress(log.read_bytes()).startswith(b"\x89AKVLOG\n")
    assert len(marks(log)) == 3


def test_counters_are_packed_as_other_records_are(capture: Capture) -> None:
    done = capture("off", [PYTHON, "-c", COUNTED], "--compress")
    (log,) = (done.bundle / "files").iterdir()
    assert log.name.endswith(".akvlog.gz") and [
        f.path.name for f in load(done.bundle).files if not f.table
    ] == [log.name]
    assert gzip.decompress(log.read_bytes()).startswith(b"\x89AKVLOG\n")
    assert len(marks(log)) == 8


def test_records_of_a_probe_are_no_calls(capture: Capture, toys: Path) -> None:
    done = capture("edge", [PYTHON, "-c", ENGINE], "--json", AKVSITE_SHIM=str(toys / "shim"))
    assert done.code == 3 and done.summary["calls"] == 0
    assert len(list((done.bundle / "probe").iterdir())) == 1
    assert (done.facts["capture"]["edge"]["files"], done.facts["capture"]["probe"]["files"]) == (0, 1)


def test_level_off_loads_no_probe_and_keeps_the_counters(capture: Capture) -> None:
    done = capture("off", [PYTHON, "-c", ENGINE + COUNTED])
    assert done.code == 0, done.err
    assert {p.name for p in done.bundle.iterdir()} == {"capture.toml", "trials.parquet", "files"}
    (log,) = (done.bundle / "files").iterdir()
    assert log.name.startswith("counters-") and log.suffix == ".akvlog"
    text = 1 << 63
    assert marks(log) == [
        (16, "prefill", 100, 200, 1, 0, 0, 0),
        (16, "decode", 300, 400, -1, 1, 0, 0),
        (22, "launched", 310, 0, 0, 1, 0, 0),
        (20, "arrived", 50, 0, 12, text, 0, 0),
        (21, "sampled", 390, 0, 0, text, 2, 2),
        (21, "client", 500, 0, 5, 3, 0, 0),
        (20, "finished", 450, 0, 1, text, 0, 0),
        (20, "client done", 600, 0, 1, text, 0, 0),
    ]
    with scan.open_log(log) as read:
        assert read.header.producer == "akv_counters 0.1.0" and read.header.closed
        assert "/" not in read.header.executable
        (named,) = read.table("objects").to_pylist()
        texts = {n["offset"]: n["text"] for n in read.names.to_pylist()}
        assert (named["what"], named["handle"], texts[named["name_offset"]]) == (3, text, "r7")


@pytest.mark.parametrize("level", ["runner", "device"])
def test_above_off_the_counters_keep_nothing(capture: Capture, level: str) -> None:
    done = capture(level, [PYTHON, "-c", COUNTED])
    assert done.code == 0 and not (done.bundle / "files").exists()


def test_a_forked_child_does_not_write_what_its_parent_counted(capture: Capture) -> None:
    script = COUNTED + "import os, sys\nif os.fork() == 0: sys.exit()\nos.wait()"
    done = capture("off", [PYTHON, "-c", script])
    assert done.code == 0
    assert len(list((done.bundle / "files").iterdir())) == 1


def test_without_a_capture_counters_write_nothing(capture: Capture, tmp_path: Path) -> None:
    script = COUNTED + "assert not counters.kept and counters.write() is None"
    done = capture("off", ["env", "-u", "AKV_FILES", PYTHON, "-c", script])
    assert done.code == 0 and not (done.bundle / "files").exists()


def test_an_akvlog_that_still_tells_on_somebody_stays_outside(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    shut = AkvLog(names=["decode"], header={"executable": b"/home/ada/venv/bin/python3"})
    shut.write(own / "counters-1.akvlog")
    told = AkvLog(names=["region of /home/ada/engine.py"])
    told.write(own / "counters-2.akvlog")
    (own / "counters-3.akvlog").write_bytes(b"no records at all")
    made = files.collect(own, tmp_path / "files", tmp_path / "beside")
    assert made.kept == ["files/counters-1.akvlog", "files/counters-3.akvlog"]
    assert made.left_out == ["counters-2.akvlog: names a home folder; it is beside the bundle, in beside"]
    assert [p.name for p in (tmp_path / "beside").iterdir()] == ["counters-2.akvlog"]
