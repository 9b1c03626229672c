"""Markdown with front matter: claims, retractions, exclusions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from akvsite.errors import BadInput
from akvsite.ledger._names import NAME

SCOPES = ("application", "timeline", "kernel", "source", "instruction")
STATES = ("open", "supported")


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
        if not NAME.fullmatch(value):
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
        if not isinstance(value, list) or not all(isinstance(v, str) and NAME.fullmatch(v) for v in value):
            raise BadInput(self.path, "must be a list of names", place=key)
        return tuple(dict.fromkeys(value))

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in choices:
            raise BadInput(self.path, f"{value!r}; one of {', '.join(choices)}", place=key)
        return value


def claim(path: Path) -> Claim:
    note = _Note(path)
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


def retraction(path: Path) -> Retraction:
    note = _Note(path)
    note.only("id", "date", "claim", "control", "reason")
    return Retraction(
        id=note.name("id"),
        date=note.day("date"),
        claim=note.name("claim"),
        control=note.maybe_name("control"),
        reason=note.text("reason"),
        body=note.body,
    )


def exclusion(path: Path) -> Exclusion:
    note = _Note(path)
    note.only("run", "date", "because")
    return Exclusion(note.name("run"), note.day("date"), note.text("because"))
