"""What runs and files are called in the store: never by a host, and in names that can be addresses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bundles import ask, read_in, steps, write_capture

from akvsite import ingest
from akvsite.errors import BadInput
from akvsite.manifest import RUN_NAME

TRACE = (
    '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 1, "tid": 1, "ts": 1, "dur": %d}]}'
)
TIME = 1764460000000000000


def trace(folder: Path, name: str, length: int = 1) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(TRACE % length)
    return folder / name


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (f"gpu7.lab_41.{TIME}.pt.trace.json", "trace-41"),
        (f"gpu7.lab_41.{TIME}.pt.trace.json.gz", "trace-41"),
        (f"GPU_7_lab_41.{TIME}.trace.json", "trace-41"),
        ("decode_41.trace.json", "decode_41"),
        ("a..b.json", "a.b"),
        ("..a....b...json", "a.b"),
        ("....", "run"),
    ],
)
def test_a_run_is_named_after_its_file_and_no_host(file: str, name: str) -> None:
    assert ingest.name_from_file(Path(file)) == name
    assert RUN_NAME.fullmatch(name)


def test_the_store_keeps_no_host_of_a_file(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    read_in(store, trace(tmp_path, f"gpu7.lab_41.{TIME}.pt.trace.json"))
    assert ask(store, "SELECT r.name, i.path FROM run r JOIN ingest i ON i.run_id = r.id") == [
        {"name": "trace-41", "path": "trace-41.pt.trace.json"}
    ]
    (again,) = read_in(store, tmp_path / f"gpu7.lab_41.{TIME}.pt.trace.json")
    assert again.action == "unchanged"
    store.with_suffix(".db-wal").unlink(missing_ok=True)
    assert b"gpu7" not in store.read_bytes()


def test_ranks_of_two_hosts_may_have_one_pid(tmp_path: Path) -> None:
    store = tmp_path / "akvsite.db"
    names = [f"gpu{n}_41.{TIME + n}.pt.trace.json" for n in (7, 8)]
    read_in(store, *(trace(tmp_path, name, n + 1) for n, name in enumerate(names)), run="two")
    assert [r["path"] for r in ask(store, "SELECT path FROM ingest ORDER BY path")] == [
        f"trace-41.{TIME + n}.pt.trace.json" for n in (7, 8)
    ]


def test_a_bundle_keeps_no_host_of_its_files_either(tmp_path: Path) -> None:
    name = f"traces/gpu7_41.{TIME}.pt.trace.json"
    folder = write_capture(
        tmp_path / "a", {"step": steps()}, level="device", more=f'[[file]]\npath = "{name}"'
    )
    (folder / "traces").mkdir()
    (folder / name).write_text(TRACE % 1)
    read_in(tmp_path / "akvsite.db", folder)
    paths = [r["path"] for r in ask(tmp_path / "akvsite.db", "SELECT path FROM ingest")]
    assert "traces/trace-41.pt.trace.json" in paths and not [p for p in paths if "gpu7" in p]


def test_two_dots_in_a_row_name_no_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"--run: 'a..b': .*no two dots in a row"):
        ingest.plan([trace(tmp_path, "a.json")], "a..b")


@pytest.mark.parametrize("name", ["pipe.json", "capture.toml"])
def test_what_is_no_regular_file_is_refused_and_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(BadInput, match=r"is not a regular file"):
        ingest.plan([tmp_path / name])
