"""TOML: comparisons and histories."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput
from akvsite.ledger._names import NAME

DESIGNS = ("ABBA pairs", "unpaired", "two runs")

#: A run is set beside all others of its history, of which two at least are needed.
FEWEST_IN_HISTORY, MOST_IN_HISTORY = 3, 24


@dataclass(frozen=True)
class Side:
    label: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    name: str
    title: str
    design: str
    note: str | None
    a: Side
    b: Side


@dataclass(frozen=True)
class History:
    """Runs of one host and contract, whose spread stands for that between runs."""

    name: str
    note: str | None
    runs: tuple[str, ...]


def _toml(path: Path, what: str, *known: str) -> dict[str, Any]:
    """A TOML file that has no key but those known; ``what`` it is, with its article."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(path, f"is not TOML that can be used: {error}") from error
    for key in data:
        if key not in known:
            raise BadInput(path, f"is not a key of {what}; known: {', '.join(known)}", place=key)
    return data


def _text(path: Path, data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(path, "must be text, and not empty", place=key)
    return value


def _named(path: Path, data: dict[str, Any]) -> str:
    name = _text(path, data, "name")
    if not NAME.fullmatch(name):
        raise BadInput(path, f"{name!r}: lower-case letters, digits, '.', '_' and '-'", place="name")
    return name


def _note(path: Path, data: dict[str, Any]) -> str | None:
    note = data.get("note")
    if note is not None and not isinstance(note, str):
        raise BadInput(path, "must be text", place="note")
    return note


def _run_names(path: Path, runs: Any, place: str) -> tuple[str, ...]:
    if (
        not isinstance(runs, list)
        or not runs
        or not all(isinstance(r, str) and NAME.fullmatch(r) for r in runs)
    ):
        raise BadInput(path, "must be a list of run names", place=place)
    if len(set(runs)) != len(runs):
        raise BadInput(path, "names a run twice", place=place)
    return tuple(runs)


def comparison(path: Path) -> Comparison:
    data = _toml(path, "a comparison", "name", "title", "design", "note", "a", "b")
    name, title, design = _named(path, data), _text(path, data, "title"), _text(path, data, "design")
    if design not in DESIGNS:
        raise BadInput(path, f"{design!r}; one of {', '.join(DESIGNS)}", place="design")
    a, b = (_side(path, data, key) for key in ("a", "b"))
    both = set(a.runs) & set(b.runs)
    if both:
        raise BadInput(path, f"run {min(both)!r} is on both sides")
    if design == "ABBA pairs" and len(a.runs) != len(b.runs):
        raise BadInput(path, "ABBA pairs need as many runs on side a as on side b", place="design")
    if design == "two runs" and (len(a.runs), len(b.runs)) != (1, 1):
        raise BadInput(path, "two runs are one a side", place="design")
    return Comparison(name, title, design, _note(path, data), a, b)


def _side(path: Path, data: dict[str, Any], key: str) -> Side:
    side = data.get(key)
    if not isinstance(side, dict) or not isinstance(side.get("label"), str):
        raise BadInput(path, "must be a table with label and runs", place=key)
    for name in side:
        if name not in ("label", "runs"):
            raise BadInput(path, "is not a key of a side; known: label, runs", place=f"{key}.{name}")
    return Side(side["label"], _run_names(path, side.get("runs"), f"{key}.runs"))


def history(path: Path) -> History:
    data = _toml(path, "a history", "name", "note", "runs")
    runs = _run_names(path, data.get("runs"), "runs")
    if not FEWEST_IN_HISTORY <= len(runs) <= MOST_IN_HISTORY:
        why = f"{len(runs)} runs; a history is of {FEWEST_IN_HISTORY} to {MOST_IN_HISTORY}"
        raise BadInput(path, f"{why}: each run of it is set beside the others", place="runs")
    return History(_named(path, data), _note(path, data), runs)
