"""Rows of a run in files that a page loads on demand: an index, and pieces of a few thousand rows each.

From ``file://`` a browser loads scripts alone, so that each file is a script that calls one function: ``akvListing(index)``
and ``akvPiece(number, columns)``. The index is small however many rows there are: it says for each piece which steps,
times and names lie in it, so that a page loads those pieces alone.

A row is named by its place in its listing, from 0. Rows of other listings are referred to by their places too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from akvsite.errors import visible

Ids = npt.NDArray[np.int64]
Leave = Callable[[str, str], None]

#: Rows of a piece, at most, and the bytes that a file is kept below.
PIECE_ROWS: Final = 4_000
PIECE_BYTES: Final = 600_000
#: A text that is longer is cut: no piece could hold a few of them.
LONGEST: Final = 4_000
#: Values of a column that the index names, at most, and the places that it tells of them in pieces.
NAMED: Final = 4_000
PLACES: Final = 60_000
#: The index is kept below: it is loaded before any row.
INDEX_BYTES: Final = 900_000
#: Whole numbers up to here are exact in a browser.
EXACT: Final = 2**53


@dataclass(frozen=True)
class Column:
    """A column as a page shows it.

    ``origin``: for a time, what it counts from in a browser, ns on its own axis: no number is as large as a time since a
    machine was started. ``of``: for a row id, the ids (n,) of the listing that it refers to, in its order. ``pick``:
    whether a reader can choose among its values.
    """

    name: str
    what: str
    origin: int | None = None
    of: Ids | None = None
    pick: bool = False


@dataclass(frozen=True)
class Listing:
    """What was written: ``ids`` (n,) int64 are the rows' own ids, in order."""

    rows: int
    pieces: int
    bytes: int
    ids: Ids


@dataclass
class _Values:
    """The values of a column: how many rows each has (None: the value is not known), and in which pieces they are.

    ``pieces``: piece, rows, piece, rows, ...; None where that would be too much to tell.
    """

    rows: dict[str | None, int] = field(default_factory=dict)
    pieces: dict[str | None, list[int]] | None = field(default_factory=dict)
    places: int = 0


@dataclass
class _Index:
    """What is known of the pieces."""

    rows: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    #: By column: least and greatest number of each piece, None where it has none.
    ranges: dict[str, list[tuple[int, int] | None]] = field(default_factory=dict)
    values: dict[str, _Values] = field(default_factory=dict)


def write(
    address: str,
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[tuple[Any, ...]]],
    leave: Leave,
) -> Listing:
    """Write ``rows``, which come in batches of at most ``PIECE_ROWS``: the row's own id, then a value for each column.

    ``leave(name, text)`` keeps a file; all of them lie under ``address``. Memory is that of a batch and of the index.
    """
    index = _Index(values={c.name: _Values() for c in columns if c.pick})
    sorters = {c.name: np.argsort(c.of, kind="stable") for c in columns if c.of is not None}
    ids: list[Ids] = []
    for batch in rows:
        own, *values = zip(*batch, strict=True)
        ids.append(np.array(own, np.int64))
        made = [
            _places(_array(of_column), column.of, sorters[column.name])
            if column.of is not None
            else _array(of_column)
            for of_column, column in zip(values, columns, strict=True)
        ]
        _piece(index, address, columns, made, leave)
    leave(f"{address}/index.js", _fitted(_told(index, title, columns)))
    whole = np.concatenate(ids) if ids else np.empty(0, np.int64)
    return Listing(len(whole), len(index.rows), sum(index.bytes), whole)


def _array(values: Sequence[Any]) -> pa.Array:
    """Whole numbers, or numbers, or texts; where a column has several of them, or bytes, all are texts."""
    try:
        made = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return _texts(values)
    if pa.types.is_null(made.type):
        return made.cast(pa.int64())
    return _texts(values) if pa.types.is_binary(made.type) else made


def _texts(values: Sequence[Any]) -> pa.Array:
    said = [None if v is None else repr(v) if isinstance(v, bytes) else visible(v) for v in values]
    return pa.array(said, pa.string())


def _piece(
    index: _Index, address: str, columns: Sequence[Column], values: list[pa.Array], leave: Leave
) -> None:
    """Write a piece; in halves where its text would be too long."""
    count = len(values[0])
    made = {c.name: _encoded(own, c.origin or 0) for c, own in zip(columns, values, strict=True)}
    number = len(index.rows)
    script = _script("akvPiece", number, made)
    if len(script) > PIECE_BYTES and count > 1:
        half = count // 2
        _piece(index, address, columns, [own[:half] for own in values], leave)
        _piece(index, address, columns, [own[half:] for own in values], leave)
        return
    leave(f"{address}/{number}.js", script)
    index.rows.append(count)
    index.bytes.append(len(script))
    for column, own in zip(columns, values, strict=True):
        index.ranges.setdefault(column.name, []).append(_reach(own, column.origin or 0))
        if column.name in index.values:
            _count(index.values, column.name, number, own)


def _reach(values: pa.Array, origin: int) -> tuple[int, int] | None:
    if values.null_count == len(values):
        return None
    if not pa.types.is_integer(values.type):
        # Not whole numbers: they may be anything.
        return -EXACT, EXACT
    reach = pc.min_max(values).as_py()
    return reach["min"] - origin, reach["max"] - origin


def _count(of: dict[str, _Values], name: str, piece: int, values: pa.Array) -> None:
    found = of[name]
    counts = pc.value_counts(values)
    for value, count in zip(*(part.to_pylist() for part in counts.flatten()), strict=True):
        # A browser writes 1.0 as 1.
        plain = int(value) if isinstance(value, float) and value.is_integer() else value
        told = None if plain is None else _short(str(plain))
        found.rows[told] = found.rows.get(told, 0) + count
        if found.pieces is not None:
            found.pieces.setdefault(told, []).extend((piece, count))
    found.places += len(counts)
    if found.places > PLACES:
        found.pieces = None
    if len(found.rows) > NAMED:
        # Too many to choose from: a reader searches for a part of the text.
        del of[name]


def _told(index: _Index, title: str, columns: Sequence[Column]) -> dict[str, Any]:
    whole = {c.name for c in columns if any(r and r != (-EXACT, EXACT) for r in index.ranges.get(c.name, []))}
    return {
        "title": title,
        "rows": sum(index.rows),
        "columns": [
            {
                "name": c.name, "what": c.what,
                **({"origin": str(c.origin)} if c.origin is not None else {}),
                **({"refers": True} if c.of is not None else {}),
            }
            for c in columns
        ],
        "pieces": index.rows,
        "bytes": index.bytes,
        "ranges": {
            name: [None if r is None else [_safe(r[0]), _safe(r[1])] for r in own]
            for name, own in index.ranges.items()
            if name in whole
        },
        "values": {
            name: {
                "of": list(found.rows),
                "rows": list(found.rows.values()),
                "pieces": None if found.pieces is None else list(found.pieces.values()),
            }
            for name, found in index.values.items()
        },
    }  # fmt: skip


def _fitted(told: dict[str, Any]) -> str:
    """The index as a script. Where it would be too long, hints of where rows are go first, the longest before others.

    A page then looks through more pieces than it had to; it finds the same rows.
    """
    script = _script("akvListing", told)
    hints = sorted(
        [
            *((len(json.dumps(v["pieces"])), 0, name) for name, v in told["values"].items() if v["pieces"]),
            *((len(json.dumps(r)), 1, name) for name, r in told["ranges"].items()),
        ],
        reverse=True,
    )
    # Names to choose from go last of all.
    named = sorted(((len(json.dumps(v["of"])), 2, n) for n, v in told["values"].items()), reverse=True)
    for _, kind, name in [*hints, *named]:
        if len(script) <= INDEX_BYTES:
            break
        if kind == 0:
            told["values"][name]["pieces"] = None
        else:
            del told["ranges" if kind == 1 else "values"][name]
        script = _script("akvListing", told)
    return script


def _safe(value: int) -> int:
    """A bound that a browser holds exactly: beyond, it only gets wider."""
    return max(-EXACT, min(EXACT, value))


def _short(value: str) -> str:
    text = visible(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def _places(values: pa.Array, of: Ids, order: Ids) -> pa.Array:
    """For each id its place in ``of``; null where it is not there."""
    wanted = values.fill_null(-(2**63)).to_numpy()
    if not len(of):
        return pa.nulls(len(values), pa.int64())
    at = np.searchsorted(of, wanted, sorter=order)
    at[at == len(of)] = 0
    place = order[at]
    return pa.array(place, mask=of[place] != wanted)


def _encoded(values: pa.Array, origin: int) -> dict[str, Any]:
    """One column of a piece: ``c`` one value for all, ``v`` values, ``d`` whole numbers by their differences, ``t`` texts
    with ``i`` their places. ``raw`` has what no number in a browser holds, as text, by row; it too counts from the origin."""
    if pa.types.is_integer(values.type):
        return _whole(values, origin)
    if pa.types.is_string(values.type):
        coded = values.dictionary_encode()
        texts = [_short(text) for text in coded.dictionary.to_pylist()]
        if len(texts) == 1 and not values.null_count:
            return {"c": texts[0]}
        if len(texts) * 2 > len(values):
            return {"v": [None if text is None else _short(text) for text in values.to_pylist()]}
        return {"t": texts, "i": coded.indices.to_pylist()}
    # A number that no JSON can hold is unknown.
    return {"v": [None if v is None or v != v or abs(v) == float("inf") else v for v in values.to_pylist()]}


def _whole(values: pa.Array, origin: int) -> dict[str, Any]:
    known = values.is_valid().to_numpy(zero_copy_only=False)
    if not known.any():
        return {"c": None}
    exact = values.fill_null(origin).to_numpy()
    # Compared as floats, since the difference of two whole numbers of 64 bits may not fit in 64 bits.
    far = np.flatnonzero(np.abs(exact.astype(np.float64) - origin) >= EXACT)
    raw = {"raw": {str(at): str(int(exact[at]) - origin) for at in far.tolist()}} if len(far) else {}
    known[far] = False
    own = np.where(known, exact, origin) - origin
    of_known = own[known]
    if known.all() and (own == own[0]).all():
        return {"c": int(own[0]), **raw}
    steps = np.diff(of_known, prepend=0)
    less = np.abs(steps[1:]).astype(np.float64).sum() * 4 < np.abs(of_known).astype(np.float64).sum()
    # A difference of two exact numbers may be none itself.
    if less and np.abs(steps).max() < EXACT:
        own = own.copy()
        own[known] = steps
        return {"d": _nullable(own, known), **raw}
    return {"v": _nullable(own, known), **raw}


def _nullable(values: Ids, known: npt.NDArray[np.bool_]) -> list[int | None]:
    if known.all():
        return list(values.tolist())
    held = values.astype(object)
    held[~known] = None
    return list(held.tolist())


def _script(function: str, *arguments: Any) -> str:
    """One call. All but ASCII is escaped (line separators end a statement in old engines), and no tag can begin in it."""
    said = ",".join(json.dumps(a, allow_nan=False, separators=(",", ":")) for a in arguments)
    return f"{function}({said});\n".replace("<", "\\u003c")
