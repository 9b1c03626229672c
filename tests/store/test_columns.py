"""Answers as columns: their types do not depend on the pieces in which they came."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from akvsite import store as module
from akvsite.store import Store


@pytest.mark.parametrize("piece", [1, 2, 1_000])
def test_columns_are_the_same_whatever_the_pieces(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PIECE", piece)
    rows = [(2**53 + 1, 1, 1, "a", None), (-(2**63), None, 2.5, "b", None), (2**63 - 1, 3, 3, None, None)]
    with Store.open(tmp_path / "s.db") as store:
        store.connection.execute("CREATE TEMP TABLE t (whole, some, mixed, text, none)")
        store.connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
        found = store.columns("SELECT * FROM t ORDER BY rowid")
        empty = store.columns("SELECT * FROM t WHERE whole = 0")
    assert found["whole"].dtype == np.int64
    assert found["whole"].tolist() == [row[0] for row in rows]
    for name, expected in (("some", [1.0, np.nan, 3.0]), ("mixed", [1.0, 2.5, 3.0]), ("none", [np.nan] * 3)):
        assert found[name].dtype == np.float64
        np.testing.assert_array_equal(found[name], expected)
    assert found["text"].tolist() == ["a", "b", None]
    assert [column.dtype for column in empty.values()] == [np.int64] * 5
