"""What people wrote down: claims, retractions, exclusions (Markdown with front matter), comparisons and histories (TOML).

They live beside the captures, so that a fresh clone has them. The store holds a copy that is replaced whole.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from akvsite.errors import BadInput

SCOPES = ("application", "timeline", "kernel", "source", "instruction")
STATES = ("open", "supported")
DESIGNS = ("ABBA pairs", "unpaired", "two runs")

#: A run is set beside all others of its history, of which two at least are needed.
FEWEST_IN_HISTORY, MOST_IN_HISTORY = 3, 24

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Claim:
    id: str
    date: str
    state: str
    scope: str
    statement: str
    runs: tuple[str, ...]
    control: str | None
    comparisons: tuple[str, ...]
    body: str


@dataclass(frozen=True)
class Retraction:
    id: str
    date: str
    claim: str
    control: str | None
    reason: str
    body: str


@dataclass(frozen=True)
class Exclusion:
    run: str
    date: str
    because: str


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


@dataclass(frozen=True)
class Ledger:
    claims: tuple[Claim, ...] = ()
    retractions: tuple[Retraction, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    histories: tuple[History, ...] = ()


def load(folder: Path) -> Ledger:
    """Read ``claims/``, ``retractions/``, ``exclusions/``, ``comparisons/`` and ``histories/`` under ``folder``.

    Any may be missing.

    Raises ``BadInput`` with the file and the key that is wrong.
    """
    claims = {path: _claim(_Note(path)) for path in _files(folder / "claims", "*.md")}
    retractions = {path: _retraction(_Note(path)) for path in _files(folder / "retractions", "*.md")}
    exclusions = {path: _exclusion(_Note(path)) for path in _files(folder / "exclusions", "*.md")}
    comparisons = {path: _comparison(path) for path in _files(folder / "comparisons", "*.toml")}
    histories = {path: _history(path) for path in _files(folder / "histories", "*.toml")}
    _no_twins("id", {path: c.id for path, c in claims.items()})
    _no_twins("id", {path: r.id for path, r in retractions.items()})
    _no_twins("claim", {path: r.claim for path, r in retractions.items()})
    _no_twins("run", {path: e.run for path, e in exclusions.items()})
    _no_twins("name", {path: c.name for path, c in comparisons.items()})
    _no_twins("name", {path: h.name for path, h in histories.items()})
    _one_history_a_run(histories)
    known = {c.id for c in claims.values()}
    for path, retraction in retractions.items():
        if retraction.claim not in known:
            raise BadInput(path, f"withdraws {retraction.claim!r}, and there is no such claim", place="claim")
    return Ledger(
        tuple(claims.values()),
        tuple(retractions.values()),
        tuple(exclusions.values()),
        tuple(comparisons.values()),
        tuple(histories.values()),
    )


def rows(ledger: Ledger) -> Iterator[tuple[str, dict[str, Any]]]:
    """The ledger as rows of the store's tables, parents first."""
    retracted = {r.claim for r in ledger.retractions}
    for claim in ledger.claims:
        state = "retracted" if claim.id in retracted else claim.state
        yield "claim", {
            "claim": claim.id, "date": claim.date, "state": state, "scope": claim.scope,
            "statement": claim.statement, "body": claim.body,
        }  # fmt: skip
        cited = [("run", name) for name in claim.runs] + [("comparison", name) for name in claim.comparisons]
        for kind, name in cited + ([("control", claim.control)] if claim.control else []):
            yield "claim_run", {"claim": claim.id, "kind": kind, "name": name}
    for retraction in ledger.retractions:
        yield "retraction", {
            "retraction": retraction.id, "date": retraction.date, "claim": retraction.claim,
            "control": retraction.control, "reason": retraction.reason, "body": retraction.body,
        }  # fmt: skip
    for exclusion in ledger.exclusions:
        yield "exclusion", {"run_name": exclusion.run, "date": exclusion.date, "because": exclusion.because}
    for comparison in ledger.comparisons:
        yield "comparison", {
            "name": comparison.name, "title": comparison.title, "design": comparison.design, "note": comparison.note,
        }  # fmt: skip
        for letter, side in (("A", comparison.a), ("B", comparison.b)):
            for place, run in enumerate(side.runs):
                yield "comparison_run", {
                    "comparison": comparison.name, "side": letter, "label": side.label, "place": place, "run_name": run,
                }  # fmt: skip

    for history in ledger.histories:
        yield "history", {"name": history.name, "note": history.note}
        for place, run in enumerate(history.runs):
            yield "history_run", {"run_name": run, "history": history.name, "place": place}


#: Tables that ``rows`` fills, in the order in which they can be emptied.
TABLES = (
    "history_run",
    "history",
    "comparison_run",
    "comparison",
    "claim_run",
    "retraction",
    "claim",
    "exclusion",
)


def write_exclusion(folder: Path, run: str, because: str, today: date) -> Path:
    """Write the dated note that excludes a run. Raises ``BadInput`` where one is there already."""
    path = folder / "exclusions" / f"{run}.md"
    if path.exists():
        raise BadInput(path, "excludes the run already; edit the note, or remove it to take the run back in")
    path.parent.mkdir(parents=True, exist_ok=True)
    front = yaml.safe_dump(
        {"run": run, "date": today.isoformat(), "because": because}, sort_keys=False, allow_unicode=True
    )
    path.write_text(f"---\n{front}---\n", encoding="utf-8")
    return path


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(p for p in folder.glob(pattern) if p.is_file())


def _no_twins(key: str, names: dict[Path, str]) -> None:
    first: dict[str, Path] = {}
    for path, name in names.items():
        if name in first:
            raise BadInput(path, f"{name!r} is in {first[name].name} already", place=key)
        first[name] = path


class _Note:
    """A Markdown file with YAML front matter, and checked access to its keys."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(path, f"is not UTF-8: {error}") from error
        match = re.match(r"---\n(.*?)\n---\n?(.*)\Z", text.replace("\r\n", "\n"), re.S)
        if match is None:
            raise BadInput(path, "has no front matter between two lines of ---")
        try:
            data = yaml.safe_load(match[1])
        except Exception as error:  # the loader lets KeyError, AttributeError and others out for odd tags
            why = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise BadInput(path, f"front matter is not YAML that can be used: {why}") from error
        if not isinstance(data, dict):
            raise BadInput(path, "front matter must be keys and values")
        for key, value in data.items():
            for text in value if isinstance(value, list) else [value]:
                # Escapes in YAML may spell half of a character, which no file and no database can hold.
                if isinstance(text, str) and any("\ud800" <= char <= "\udfff" for char in text):
                    raise BadInput(path, "holds half of a character", place=str(key))
        self.data: dict[str, Any] = data
        self.body = match[2].strip()

    def only(self, *known: str) -> None:
        for key in self.data:
            if key not in known:
                raise BadInput(self.path, f"is not a key here; known: {', '.join(known)}", place=str(key))

    def text(self, key: str) -> str:
        value = self.maybe(key)
        if not value:
            raise BadInput(self.path, "is missing", place=key)
        return value

    def maybe(self, key: str) -> str | None:
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, date):
            return value.isoformat()
        if not isinstance(value, str):
            raise BadInput(self.path, f"must be text, not {type(value).__name__}", place=key)
        return value.strip()

    def name(self, key: str) -> str:
        value = self.text(key)
        if not _NAME.fullmatch(value):
            raise BadInput(self.path, f"{value!r}: lower-case letters, digits, '.', '_' and '-'", place=key)
        return value

    def maybe_name(self, key: str) -> str | None:
        return None if self.data.get(key) is None else self.name(key)

    def day(self, key: str) -> str:
        value = self.text(key)
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            raise BadInput(self.path, f"{value!r} is not a date of ISO 8601", place=key) from None

    def names(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key)
        if value is None:
            return ()
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(v, str) and _NAME.fullmatch(v) for v in value):
            raise BadInput(self.path, "must be a list of names", place=key)
        return tuple(dict.fromkeys(value))

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in choices:
            raise BadInput(self.path, f"{value!r}; one of {', '.join(choices)}", place=key)
        return value


def _claim(note: _Note) -> Claim:
    note.only("id", "date", "state", "scope", "statement", "runs", "control", "comparisons")
    claim = Claim(
        id=note.name("id"),
        date=note.day("date"),
        state=note.choice("state", STATES),
        scope=note.choice("scope", SCOPES),
        statement=note.text("statement"),
        runs=note.names("runs"),
        control=note.maybe_name("control"),
        comparisons=note.names("comparisons"),
        body=note.body,
    )
    if claim.state != "open" and claim.control is None:
        raise BadInput(note.path, "a claim without a control stays open", place="state")
    if claim.control in claim.runs:
        raise BadInput(note.path, "is one of the runs that the claim stands on", place="control")
    return claim


def _retraction(note: _Note) -> Retraction:
    note.only("id", "date", "claim", "control", "reason")
    return Retraction(
        id=note.name("id"),
        date=note.day("date"),
        claim=note.name("claim"),
        control=note.maybe_name("control"),
        reason=note.text("reason"),
        body=note.body,
    )


def _exclusion(note: _Note) -> Exclusion:
    note.only("run", "date", "because")
    return Exclusion(note.name("run"), note.day("date"), note.text("because"))


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
    if not _NAME.fullmatch(name):
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
        or not all(isinstance(r, str) and _NAME.fullmatch(r) for r in runs)
    ):
        raise BadInput(path, "must be a list of run names", place=place)
    if len(set(runs)) != len(runs):
        raise BadInput(path, "names a run twice", place=place)
    return tuple(runs)


def _comparison(path: Path) -> Comparison:
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


def _history(path: Path) -> History:
    data = _toml(path, "a history", "name", "note", "runs")
    runs = _run_names(path, data.get("runs"), "runs")
    if not FEWEST_IN_HISTORY <= len(runs) <= MOST_IN_HISTORY:
        why = f"{len(runs)} runs; a history is of {FEWEST_IN_HISTORY} to {MOST_IN_HISTORY}"
        raise BadInput(path, f"{why}: each run of it is set beside the others", place="runs")
    return History(_named(path, data), _note(path, data), runs)


def _one_history_a_run(histories: dict[Path, History]) -> None:
    first: dict[str, Path] = {}
    for path, history in histories.items():
        for run in history.runs:
            if run in first:
                raise BadInput(path, f"run {run!r} is in {first[run].name} already", place="runs")
            first[run] = path
