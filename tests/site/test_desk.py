"""What several pages of one build ask is asked of the store once, and each is handed an answer of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from bundles import read_in, steps, write_capture

from akvsite.desk import SnapshotDesk
from akvsite.store import Store


def test_an_answer_is_kept_for_the_same_question_alone(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_capture(tmp_path / name, {"step": steps()})
    read_in(tmp_path / "akvsite.db", tmp_path)
    with Store.open(tmp_path / "akvsite.db") as store:
        said: list[str] = []
        store.connection.set_trace_callback(lambda sql: said.append(sql) if "FROM run_list" in sql else None)
        desk = SnapshotDesk(store, lambda *_: None)
        first = desk.ask("run_list", order="name")
        first.clear()
        assert [row["name"] for row in desk.ask("run_list", order="name")] == ["a", "b"]
        assert len(said) == 1
        assert [row["name"] for row in desk.ask("run_list", order="-name")] == ["b", "a"]
        assert [row["name"] for row in desk.ask("run_list", name="b")] == ["b"]
        assert [row["name"] for row in desk.ask("run_list", order="name", limit=1)] == ["a"]
        assert len(said) == 4


def test_columns_are_kept_and_nobody_changes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_capture(tmp_path / "a", {"step": steps()})
    read_in(tmp_path / "akvsite.db", tmp_path)
    with Store.open(tmp_path / "akvsite.db") as store:
        said: list[str] = []
        store.connection.set_trace_callback(lambda sql: said.append(sql) if "FROM step_time" in sql else None)
        desk = SnapshotDesk(store, lambda *_: None)
        first = desk.columns("step_time", run_id=1)
        count = len(first["step_id"])
        with pytest.raises(ValueError, match="read-only"):
            first["step_id"][0] = 7
        first.clear()
        assert len(desk.columns("step_time", run_id=1)["step_id"]) == count > 0
        assert len(said) == 1
        # Another order, other columns, another run: another answer.
        for other in ({"order": "-start_ns"}, {"only": ("step_id",)}, {"warm_up": 0}):
            desk.columns("step_time", run_id=1, **other)
        assert len(said) == 4
        # What is kept stays below a number of values; the longest unasked go first.
        monkeypatch.setattr(SnapshotDesk, "_VALUES", 3 * count)
        desk = SnapshotDesk(store, lambda *_: None)
        for name in ("step_id", "start_ns", "step_id", "kind", "duration_ns", "step_id", "start_ns"):
            desk.columns("step_time", run_id=1, only=(name,))
        assert len(said) == 4 + 5
