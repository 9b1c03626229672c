"""Files of the command's own: into the bundle as they are, unless they say whose machine it is."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from bundles import ask, read_in
from capturing import Capture

from akvsite.record import files

TRACE = '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1.0, "dur": 2.0}]}'


def test_a_trace_that_the_command_leaves_is_read_as_part_of_the_capture(
    capture: Capture, tmp_path: Path
) -> None:
    done = capture("device", ["sh", "-c", f"echo '{TRACE}' > $AKV_FILES/t.pt.trace.json"])
    assert done.code == 0
    assert {"path": "files/t.pt.trace.json"} in done.facts["file"]
    read_in(store := tmp_path / "store.db", done.bundle)
    assert ask(store, "SELECT name FROM level2_host") == [{"name": "aten::mm"}]


def test_level_off_has_a_folder_for_files_and_none_for_records(capture: Capture) -> None:
    done = capture("off", ["sh", "-c", 'test -z "$AKV_DIR" && echo counted > "$AKV_FILES/steps.txt"'])
    assert done.code == 0
    assert (done.bundle / "files/steps.txt").read_text() == "counted\n"


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_names_a_home_folder_stays_outside(capture: Capture, packed: bool) -> None:
    text = "padding " * 600_000 + "/home/ada/engine.py"
    program = "print('padding ' * 600000 + '/home/ada/engine.py', end='')"
    pack, name = ("| gzip", "trace.gz") if packed else ("", "trace")
    script = f'{sys.executable} -c "{program}" {pack} > "$AKV_FILES/{name}"'
    done = capture("device", ["sh", "-c", script])
    assert done.code == 0 and "left out: trace" in done.err and "a home folder" in done.err
    beside = done.bundle.with_name("run.left-out")
    kept = next(beside.iterdir()).read_bytes()
    assert (gzip.decompress(kept) if packed else kept).decode() == text
    assert not (done.bundle / "files").exists()
    assert b"ada" not in (done.bundle / "capture.toml").read_bytes()


def test_what_is_no_plain_file_is_left_out(tmp_path: Path) -> None:
    source, target = tmp_path / "own", tmp_path / "bundle/files"
    source.mkdir()
    target.parent.mkdir()
    (source / "folder").mkdir()
    (source / "link").symlink_to("/etc/hostname")
    (source / "cut.gz").write_bytes(gzip.compress(b"x" * 1000)[:20])
    (source / "fine.bin").write_bytes(bytes(range(256)))
    made = files.collect(source, target, tmp_path / "beside")
    assert made.kept == ["files/fine.bin"]
    assert [line.partition(":")[0] for line in made.left_out] == ["cut.gz", "folder", "link"]
