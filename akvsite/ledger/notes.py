"""Retractions and exclusions: dated notes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from akvsite.ledger import _seals
from akvsite.ledger._front import Note, decoded


@dataclass(frozen=True)
class Retraction:
    id: str
    date: str
    claim: str
    control: str | None
    reason: str
    body: str
    #: Of the file's bytes: the claim's history names the note by it.
    sha256: str


@dataclass(frozen=True)
class Exclusion:
    run: str
    date: str
    because: str


def retraction(path: Path, data: bytes | None = None) -> Retraction:
    """The retraction in a file, or in ``data`` that is to become its bytes."""
    data = path.read_bytes() if data is None else data
    note = Note(path, decoded(path, data))
    note.only("id", "date", "claim", "control", "reason")
    return Retraction(
        id=note.name("id"),
        date=note.day("date"),
        claim=note.name("claim"),
        control=note.maybe_name("control"),
        reason=note.text("reason"),
        body=note.body,
        sha256=_seals.sha256(data),
    )


def exclusion(path: Path, data: bytes | None = None) -> Exclusion:
    """The exclusion in a file, or in ``data`` that is to become its bytes."""
    note = Note(path, None if data is None else decoded(path, data))
    note.only("run", "date", "because")
    return Exclusion(note.name("run"), note.day("date"), note.text("because"))
