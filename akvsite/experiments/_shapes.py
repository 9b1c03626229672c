"""Shapes of what JSON holds, checked by hand: where experiments run on a device, no package for it is there.

A check takes a value and its place in words, and raises ``ValueError`` with both where the value is of another shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any, str], None]


def _refuse(value: Any, place: str, wanted: str) -> ValueError:
    said = repr(value)
    return ValueError(f"{place} is {said if len(said) <= 40 else said[:40] + '…'}, not {wanted}")


def natural(value: Any, place: str) -> None:
    """What a column of int64 holds, from 0."""
    if type(value) is not int or not 0 <= value < 2**63:
        raise _refuse(value, place, "a whole number from 0 below 2**63")


def whole(value: Any, place: str) -> None:
    if type(value) is not int:
        raise _refuse(value, place, "a whole number")


def words(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise _refuse(value, place, "text")


def facts(value: Any, place: str, depth: int = 3) -> None:
    """Plain values by name, in up to ``depth`` tables inside each other."""
    if not isinstance(value, dict):
        raise _refuse(value, place, "a table of facts")
    for key, fact in value.items():
        if isinstance(fact, dict) and depth > 1:
            facts(fact, f"{place}.{key}", depth - 1)
        elif not isinstance(fact, (str, int, float, bool, type(None))):
            raise _refuse(fact, f"{place}.{key}", "a plain value")


def maybe(check: Check) -> Check:
    """Nothing at all too."""
    return lambda value, place: None if value is None else check(value, place)


def list_of(each: Check) -> Check:
    def check(value: Any, place: str) -> None:
        if not isinstance(value, list):
            raise _refuse(value, place, "a list")
        for number, inner in enumerate(value):
            each(inner, f"{place}[{number}]")

    return check


def row_of(*columns: Check) -> Check:
    def check(value: Any, place: str) -> None:
        if not isinstance(value, list) or len(value) != len(columns):
            raise _refuse(value, place, f"a row of {len(columns)}")
        for number, (column, inner) in enumerate(zip(columns, value, strict=True)):
            column(inner, f"{place}[{number}]")

    return check


def table_of(needed: Mapping[str, Check], may: Mapping[str, Check] | None = None) -> Check:
    """A table with these keys, and perhaps those of ``may``; other keys are left as they are."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise _refuse(value, place, "a table")
        for key, inner in {**needed, **(may or {})}.items():
            if key in value:
                inner(value[key], f"{place}.{key}")
            elif key in needed:
                raise ValueError(f"{place} has no {key}")

    return check


def fault(check: Check, value: Any, place: str) -> str | None:
    """What is wrong with the value, in words; None where it has its shape."""
    try:
        check(value, place)
    except ValueError as error:
        return str(error)
    return None
