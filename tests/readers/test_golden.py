"""Small files with the oddities of real ones, and every row that they give. A ``.sql`` file stands for its SQLite file.

``pytest --bless`` writes the expected rows anew; the difference belongs into the review.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlite_files import made

from akvsite.readers import find

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(p.name for p in GOLDEN.iterdir() if not p.name.endswith(".expected.json"))


@pytest.mark.parametrize("name", FILES)
def test_every_row_of_a_small_file(name, gather, agrees, tmp_path):
    path = kept = GOLDEN / name
    if path.suffix == ".sql":
        path = made(tmp_path / f"{path.stem}.sqlite", path.read_text())
    agrees(kept.with_suffix(".expected.json"), gather(find(path), path).plain())


def test_no_expected_rows_without_their_file():
    expected = {p.name.removesuffix(".expected.json") for p in GOLDEN.glob("*.expected.json")}
    assert expected == {name.rpartition(".")[0] for name in FILES}
