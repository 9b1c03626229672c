"""What several pages of one build ask is asked of the store once, and each is handed an answer of its own."""

from __future__ import annotations

from pathlib import Path

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
