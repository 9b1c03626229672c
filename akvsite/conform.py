"""Rows as a reader hands them over, held to the table they are meant for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from akvsite.columns import Column, Table
from akvsite.tables import TABLES


def conform(table: str, rows: pa.Table) -> pa.Table:
    """``rows`` with exactly the captured columns of ``table``, typed; missing columns become NULL.

    Raises ``ValueError`` that names the column where one is unknown or there twice, where a required one is missing
    or holds NULL, or where a type does not fit.
    """
    described = TABLES[table]
    present = rows.column_names
    for name in present:
        if name not in {"process", *(c.name for c in captured_columns(described))}:
            raise ValueError(f"column {name!r} is not a column of {table} that a capture fills")
        if present.count(name) > 1:
            raise ValueError(f"column {name!r} of {table} is there twice")
    arrays: list[pa.ChunkedArray | pa.Array] = []
    names: list[str] = []
    for column in captured_columns(described):
        if column.name in present:
            array = rows.column(column.name)
            try:
                array = _cast(array, column)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
                raise ValueError(f"column {column.name!r} of {table}: {_first_line(error)}") from error
        elif column.nullable:
            array = pa.nulls(rows.num_rows, column.arrow_type)
        else:
            raise ValueError(f"column {column.name!r} of {table} is missing")
        if not column.nullable and array.null_count:
            raise ValueError(
                f"column {column.name!r} of {table} may not be empty; it is in {array.null_count} rows"
            )
        arrays.append(array)
        names.append(column.name)
    return pa.table(arrays, names=names)


def _cast(array: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if column.unsigned and pa.types.is_uint64(kind):
        # The same 64 bits, read as signed: SQLite has no unsigned integers.
        plain = array.cast(pa.uint64())
        return pa.chunked_array([chunk.view(pa.int64()) for chunk in plain.chunks], type=pa.int64())
    # Arrow would turn a timestamp of milliseconds into a count of them, and "12" into 12: units are never guessed.
    if not _FITS[column.kind](kind) and not pa.types.is_null(kind):
        raise pa.ArrowTypeError(f"must hold {_WORDS[column.kind]}, not {kind}")
    cast = array.cast(column.arrow_type)
    if column.kind is str:
        cast.validate(full=True)
    return cast


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _is_text(kind: pa.DataType) -> bool:
    # Pids, threads and queues are text here and numbers in many files.
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind))


_FITS: dict[type, Callable[[pa.DataType], bool]] = {int: _is_number, float: _is_number, str: _is_text}
_WORDS: dict[type, str] = {int: "whole numbers", float: "numbers", str: "text"}


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def captured_columns(table: Table) -> Iterable[Column]:
    """The columns that a reader fills: all but the ids that the store gives, and what it tells from all rows."""
    given = {"id", "run_id", "process_id", "step_id"} | ({"nested"} if table.name == "step" else set())
    return (c for c in table.columns if c.name not in given)
