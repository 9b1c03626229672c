"""The same capture again, a changed one, a better reader, a failure half way: nothing is lost or counted twice."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bundles import COMPLETE, COMPLETE_TOP, arrow, ask, dump, read_in, steps, write_capture

from akvsite import ingest, readers
from akvsite.errors import BadInput
from akvsite.readers import bundle
from akvsite.reading import Ending, Part, Process, Rows
from akvsite.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "akvsite.db"


def trace(path: Path, pid: int = 1, events: int = 3) -> Path:
    rows = ", ".join(
        f'{{"ph": "X", "cat": "cpu_op", "name": "op{i}", "pid": {pid}, "tid": 1, "ts": {i}, "dur": 1}}'
        for i in range(events)
    )
    path.write_text(f'{{"traceEvents": [{rows}]}}')
    return path


def actions(store: Path, *paths: Path, **options: object) -> list[str]:
    return [outcome.action for outcome in read_in(store, *paths, **options)]  # type: ignore[arg-type]


def test_the_same_capture_is_not_read_twice(store: Path, tmp_path: Path) -> None:
    paths = [
        write_capture(tmp_path / "off", {"step": steps()}),
        trace(tmp_path / "trace.json"),
    ]
    assert actions(store, *paths) == ["stored", "stored"]
    before = dump(store)
    assert actions(store, *paths) == ["unchanged", "unchanged"]
    assert dump(store) == before


def test_a_changed_file_is_refused_and_the_old_rows_stay(store: Path, tmp_path: Path) -> None:
    folder = write_capture(tmp_path / "off", {"step": steps(3)})
    loose = trace(tmp_path / "trace.json")
    read_in(store, folder, loose)
    before = dump(store)
    write_capture(tmp_path / "off", {"step": steps(5)})
    trace(loose, events=5)
    for path, name in ((folder, "step.parquet"), (loose, "trace.json")):
        with pytest.raises(BadInput, match=f"{name}.* is in the store with other content"):
            read_in(store, path)
        assert dump(store) == before
    assert actions(store, folder, loose, replace=True) == ["read again", "read again"]
    assert ask(store, "SELECT steps, host_rows FROM run_list ORDER BY name") == [
        {"steps": 5, "host_rows": 0},
        {"steps": 0, "host_rows": 5},
    ]
    assert actions(store, folder, loose) == ["unchanged", "unchanged"]


def test_an_edit_of_the_manifest_alone_is_read(store: Path, tmp_path: Path) -> None:
    folder = write_capture(tmp_path / "off", {"step": steps()})
    read_in(store, folder)
    write_capture(tmp_path / "off", {"step": steps()}, top='warm_up_steps = 1\nnote = "the fan was on"')
    assert actions(store, folder) == ["read again"]
    assert ask(store, "SELECT note, warm_up_steps FROM run") == [
        {"note": "the fan was on", "warm_up_steps": 1}
    ]
    assert ask(store, "SELECT sum(warm_up) AS n, count(*) AS all_steps FROM step") == [
        {"n": 1, "all_steps": 3}
    ]


def test_a_file_that_is_no_longer_named_stays_until_asked(store: Path, tmp_path: Path) -> None:
    trial = {"arm": "copy", "treatment": "t", "repeat": 0, "number": 0, "duration_ns": 5}
    folder = write_capture(tmp_path / "off", {"step": steps(), "trial": [trial]})
    read_in(store, folder)
    before = dump(store)
    write_capture(tmp_path / "off", {"step": steps()})
    with pytest.raises(BadInput, match=r"'trial.parquet' that is not here; --replace"):
        read_in(store, folder)
    assert dump(store) == before
    assert actions(store, folder, replace=True) == ["read again"]
    assert ask(store, "SELECT trials FROM run_list") == [{"trials": 0}]


def test_another_capture_of_the_same_name_does_not_take_its_place(store: Path, tmp_path: Path) -> None:
    read_in(store, write_capture(tmp_path / "x" / "off", {"step": steps()}))
    before = dump(store)
    trial = {"arm": "copy", "treatment": "t", "repeat": 0, "number": 0, "duration_ns": 5}
    with pytest.raises(BadInput, match=r"run 'off' is in the store"):
        read_in(store, write_capture(tmp_path / "y" / "off", {"trial": [trial]}))
    loose = trace(tmp_path / "off.json")
    with pytest.raises(BadInput, match=r"is declared by a capture.toml"):
        read_in(store, loose)
    with pytest.raises(BadInput, match=r"is declared by a capture.toml"):
        read_in(store, loose, replace=True)
    assert dump(store) == before


def test_a_file_may_be_renamed(store: Path, tmp_path: Path) -> None:
    folder = write_capture(tmp_path / "off", {"step": steps()})
    read_in(store, folder)
    (folder / "step.parquet").rename(folder / "wall-clock.parquet")
    manifest = folder / "capture.toml"
    manifest.write_text(manifest.read_text().replace("step.parquet", "wall-clock.parquet"))
    assert actions(store, folder) == ["read again"]
    assert ask(store, "SELECT path FROM ingest ORDER BY path") == [
        {"path": "capture.toml"},
        {"path": "wall-clock.parquet"},
    ]


def test_a_better_reader_reads_again(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write_capture(tmp_path / "off", {"step": steps()}), trace(tmp_path / "trace.json")]
    read_in(store, *paths)
    monkeypatch.setattr(type(readers.find(paths[1])), "VERSION", 900)
    assert actions(store, *paths) == ["unchanged", "read again"]
    monkeypatch.setattr(bundle.LevelFile, "VERSION", 900)
    assert actions(store, *paths) == ["read again", "unchanged"]
    monkeypatch.setattr("akvsite.ingest._captures.VERSION", ingest.VERSION + 1)
    assert actions(store, *paths) == ["read again", "read again"]
    assert ask(store, "SELECT name, steps, host_rows FROM run_list ORDER BY name") == [
        {"name": "off", "steps": 3, "host_rows": 0},
        {"name": "trace", "steps": 0, "host_rows": 3},
    ]


def test_ranks_are_one_run_and_may_come_one_by_one(store: Path, tmp_path: Path) -> None:
    ranks = [trace(tmp_path / f"rank{i}.json", pid=7, events=i + 1) for i in range(3)]
    assert actions(store, *ranks[:2], run="job") == ["stored"]
    assert actions(store, *ranks[:2], run="job") == ["unchanged"]
    assert actions(store, ranks[2], run="job") == ["read again"]
    assert actions(store, *ranks, run="job") == ["unchanged"]
    assert ask(store, "SELECT path, pid FROM process_list ORDER BY path") == [
        {"path": f"rank{i}.json", "pid": "7"} for i in range(3)
    ]
    assert ask(store, "SELECT host_rows, files FROM run_list") == [{"host_rows": 6, "files": 3}]
    together = tmp_path / "together.db"
    read_in(together, *ranks, run="job")
    assert ask(together, "SELECT host_rows, files FROM run_list") == [{"host_rows": 6, "files": 3}]


def test_the_same_process_id_in_two_files_is_two_processes(store: Path, tmp_path: Path) -> None:
    ranks = [trace(tmp_path / f"rank{i}.json", pid=7) for i in range(2)]
    read_in(store, *ranks, run="job")
    assert ask(store, "SELECT count(DISTINCT process_id) AS n FROM level2_host") == [{"n": 2}]


def test_two_names_for_one_run_are_refused(store: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    same = [trace(tmp_path / "trace.json"), trace(tmp_path / "a" / "trace.json")]
    with pytest.raises(BadInput, match=r"would both be run 'trace'; give one --run NAME"):
        read_in(store, *same)
    with pytest.raises(BadInput, match=r"two files of run 'job' have the same name"):
        read_in(store, *same, run="job")
    folders = [write_capture(tmp_path / x / "off", {"step": steps()}) for x in "bc"]
    with pytest.raises(BadInput, match=r"would both be run 'off'"):
        read_in(store, *folders)
    with pytest.raises(BadInput, match=r"names the run; --run is for files"):
        read_in(store, folders[0], run="job")
    assert not store.exists() or ask(store, "SELECT * FROM run") == []


# Hosts.


def test_a_host_has_one_role(store: Path, tmp_path: Path) -> None:
    read_in(store, *(write_capture(tmp_path / name, {"step": steps()}, role="dev") for name in "ab"))
    before = dump(store)
    proof = write_capture(tmp_path / "c", {"step": steps()}, role="proof")
    with pytest.raises(BadInput, match=r"host.role: host 'bench' is 'proof' here and 'dev' in run 'a'"):
        read_in(store, proof)
    assert dump(store) == before


def test_a_role_is_corrected_in_all_captures_together(store: Path, tmp_path: Path) -> None:
    folders = [write_capture(tmp_path / name, {"step": steps()}, role="dev") for name in "ab"]
    read_in(store, *folders)
    for name in "ab":
        write_capture(tmp_path / name, {"step": steps()}, role="proof", top=COMPLETE_TOP, more=COMPLETE)
    with pytest.raises(BadInput, match=r"host.role"):
        read_in(store, folders[0])
    read_in(store, *folders)
    assert ask(store, "SELECT DISTINCT use FROM run_list") == [{"use": "speed"}]
    write_capture(tmp_path / "a", {"step": steps()}, role="dev")
    with pytest.raises(BadInput, match=r"host.role: host 'bench' is .* in another capture"):
        read_in(store, *folders)


# Failures half way.


class OddError(Exception):
    pass


def test_a_reader_that_fails_half_way_leaves_nothing(store: Path, tmp_path: Path) -> None:
    read_in(store, write_capture(tmp_path / "off", {"step": steps()}))
    before = dump(store)
    rows = arrow("step", steps(3))

    def fails() -> Iterator[Part]:
        yield Process(0, "1")
        yield Rows("step", rows)
        raise OddError

    def ends() -> Iterator[Part]:
        yield Process(0, "1")
        yield Rows("step", rows)
        yield Ending()

    path = trace(tmp_path / "a.json")
    good = ingest.Source(path, "good", "made up", 1, ends)
    bad = dataclasses.replace(good, name="bad", read=fails)
    with Store.open(store) as opened:
        captures = [ingest.Capture("first", 0, (good,)), ingest.Capture("second", 0, (good, bad))]
        outcomes = ingest.ingest(opened, captures)
        assert next(outcomes).run == "first"
        after = dump(store)
        assert after != before
        with pytest.raises(OddError):
            next(outcomes)
        assert not opened.connection.in_transaction
    assert dump(store) == after


def test_a_capture_can_be_read_anew_after_its_run_was_deleted(store: Path, tmp_path: Path) -> None:
    folder = write_capture(tmp_path / "off", {"step": steps()})
    read_in(store, folder)
    with Store.open(store) as opened:
        opened.connection.execute("DELETE FROM run")
        for table in ("ingest", "process", "step", "run_fact", "ingest_count"):
            assert opened.one(f"SELECT count(*) FROM {table}") == 0, table
    assert actions(store, folder) == ["stored"]


# What a path may hold.


def test_a_folder_of_captures_is_all_of_them(store: Path, tmp_path: Path) -> None:
    for name in "cab":
        write_capture(tmp_path / "captures" / "deep" / name, {"step": steps()})
    outcomes = read_in(store, tmp_path / "captures")
    assert [o.run for o in outcomes] == ["a", "b", "c"]
    assert actions(store, tmp_path / "captures" / "deep" / "a" / "capture.toml") == ["unchanged"]


def test_a_folder_of_traces_is_a_run_each(store: Path, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    for name in ("Rank 0.json", "rank1.pt.trace.json"):
        trace(tmp_path / "traces" / name)
    assert [o.run for o in read_in(store, tmp_path / "traces")] == ["rank-0", "rank1"]


def test_nothing_of_the_machine_gets_into_the_store(store: Path, tmp_path: Path) -> None:
    folder = write_capture(tmp_path / "off", {"step": steps()})
    read_in(store, folder, trace(tmp_path / "trace.json"))
    assert str(tmp_path) not in dump(store)
    shutil.rmtree(folder)
    assert ask(store, "SELECT count(*) AS n FROM run") == [{"n": 2}]
