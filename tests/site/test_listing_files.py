"""What is written of a run's rows is what a browser reads back, whatever the rows hold."""

from __future__ import annotations

from typing import Any

import listing_files
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akvsite import listings
from akvsite.errors import visible
from akvsite.listings import Column

WHOLE = st.integers(-(2**63), 2**63 - 1)
NEAR = st.integers(-(2**53) + 1, 2**53 - 1)
TEXT = st.text(st.characters(codec=None, categories=None), max_size=12)
ANY = st.none() | WHOLE | st.floats() | TEXT | st.binary(max_size=4)


def _expected(value: Any, origin: int = 0) -> Any:
    """A value as a browser has it: an exact number, else text."""
    if value is None or isinstance(value, str):
        return None if value is None else visible(value)
    return value - origin if abs(value - origin) < 2**53 else str(value - origin)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.none() | WHOLE, st.none() | NEAR, st.none() | TEXT), max_size=30),
    st.integers(-(2**60), 2**60),
    st.integers(1, 30),
)
def test_what_is_written_is_what_is_read_back(
    rows: list[tuple[int | None, int | None, str | None]], origin: int, batch: int
) -> None:
    columns = [
        Column("at_ns", "when", origin=origin),
        Column("n", "how many"),
        Column("name", "its name", pick=True),
    ]
    made, files = listing_files.written(columns, [(100 + at, *row) for at, row in enumerate(rows)], batch)
    assert made.rows == len(rows)
    assert made.ids.tolist() == list(range(100, 100 + len(rows)))
    found = listing_files.read(files)
    # The first is compared as a float by the writer, so at the edge of what is exact it may be text.
    assert [None if v is None else int(v) for v in found["at_ns"]] == [
        None if row[0] is None else row[0] - origin for row in rows
    ]
    assert found["n"] == [row[1] for row in rows]
    assert found["name"] == [_expected(row[2]) for row in rows]
    told = listing_files.index(files)
    chosen = dict(zip(told["values"]["name"]["of"], told["values"]["name"]["rows"], strict=True))
    assert chosen == {name: found["name"].count(name) for name in set(found["name"])}


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY, max_size=20))
def test_a_column_of_any_values_is_written_and_none_is_taken_for_another(values: list[Any]) -> None:
    _, files = listing_files.written([Column("any", "anything", pick=True)], list(enumerate(values)))
    found = listing_files.read(files)["any"]
    assert len(found) == len(values)
    for value, read in zip(values, found, strict=True):
        if value is None:
            assert read is None
        elif isinstance(value, float) and not np.isfinite(value):
            assert read is None or read == str(value)
        elif isinstance(value, bytes):
            assert read == repr(value)
        elif isinstance(read, str):
            assert read == visible(value)
        else:
            assert read == value
    assert all(script.isascii() and "<" not in script for script in files.values())


def test_hints_of_where_rows_are_never_miss_a_piece() -> None:
    """A piece that has a value lies within its range and among the places of its values."""
    rows = [(n, n * 7 % 50, f"name {n % 3}", "text" if n % 11 == 0 else n) for n in range(60)]
    _, files = listing_files.written(
        [Column("n", "a number"), Column("name", "a name", pick=True), Column("mixed", "both")],
        rows,
        batch=10,
    )
    told = listing_files.index(files)
    for number in range(6):
        of_piece = rows[number * 10 : number * 10 + 10]
        low, high = told["ranges"]["n"][number]
        assert (low, high) == (min(r[1] for r in of_piece), max(r[1] for r in of_piece))
    # What is a text in a piece is no number there, and the range of that piece leaves nothing out.
    assert all(low <= -(2**53) and high >= 2**53 for low, high in told["ranges"].get("mixed", []))
    places = dict(zip(told["values"]["name"]["of"], told["values"]["name"]["pieces"], strict=True))
    assert sum(places["name 0"][1::2]) == 20
    assert places["name 0"][::2] == list(range(6))


def test_a_reference_is_a_place_and_one_to_nowhere_is_unknown() -> None:
    of = np.array([30, 10, 20], np.int64)
    rows = [(n, wanted) for n, wanted in enumerate([10, None, 30, 99, 20])]
    _, files = listing_files.written([Column("step_id", "its step", of=of)], rows)
    assert listing_files.read(files)["step_id"] == [1, None, 0, None, 2]
    _, files = listing_files.written([Column("step_id", "its step", of=np.empty(0, np.int64))], rows)
    assert listing_files.read(files)["step_id"] == [None] * 5


@pytest.mark.parametrize("rows", [[], [(7, None, None)]])
def test_no_row_and_a_row_of_nothing(rows: list[tuple[Any, ...]]) -> None:
    columns = [Column("at_ns", "when", origin=5), Column("name", "its name", pick=True)]
    made, files = listing_files.written(columns, rows)
    told = listing_files.index(files)
    assert (made.rows, told["rows"], len(told["pieces"])) == (len(rows), len(rows), len(rows))
    assert listing_files.read(files) == {"at_ns": [None] * len(rows), "name": [None] * len(rows)}


def test_a_long_name_is_cut_and_its_length_said() -> None:
    name = "kernel</script>" + "x" * 100_000
    _, files = listing_files.written([Column("name", "its name", pick=True)], [(n, name) for n in range(400)])
    assert len(files) == 2
    assert all(len(script) < 10_000 for script in files.values())
    (read,) = set(listing_files.read(files)["name"])
    assert read == f"{name[: listings.LONGEST]}… (100,015 characters)"


def test_long_rows_make_more_pieces_and_none_is_too_long() -> None:
    rows = [(n, f"{n} " + "y" * 3_000) for n in range(1_000)]
    made, files = listing_files.written([Column("name", "its name")], rows)
    assert made.pieces > 4
    assert max(map(len, files.values())) <= listings.PIECE_BYTES
    assert listing_files.read(files)["name"] == [row[1] for row in rows]


def test_an_index_stays_small_whatever_the_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of everything, so that it is quick: 200 pieces, in one column 1,000 names, in another 300 in every piece."""
    for name in ("NAMED", "PLACES", "INDEX_BYTES"):
        monkeypatch.setattr(listings, name, getattr(listings, name) // 10)
    columns = [
        *(Column(f"number_{n}_ns", "a number") for n in range(24)),
        Column("many", "many names", pick=True), Column("some", "some names", pick=True), Column("few", "a few", pick=True),
    ]  # fmt: skip
    rows = [
        (n, *(n * 1_000_000_007 + k for k in range(24)), f"many {n % 1_000}", f"some name of a kernel {n % 300:040}", f"few {n % 5}")
        for n in range(1_200)
    ]  # fmt: skip
    made, files = listing_files.written(columns, rows, batch=6)
    assert made.pieces == 200
    assert len(files["x/index.js"]) <= 90_000
    told = listing_files.index(files)
    assert "many" not in told["values"], "too many names to choose from"
    assert sum(told["values"]["some"]["rows"]) == 1_200
    assert len(told["values"]["few"]["of"]) == 5
    assert 0 < len(told["ranges"]) < 24
    assert listing_files.read(files)["number_3_ns"] == [row[4] for row in rows]
