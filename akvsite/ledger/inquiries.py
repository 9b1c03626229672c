"""Inquiries: from a symptom up a ladder of evidence to a change and its validation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from akvsite.ledger._front import Keys, Note
from akvsite.ledger._names import SCOPES

#: The lists of what is used, and what each holds.
USES = {
    "runs": "run",
    "comparisons": "comparison",
    "charts": "chart",
    "claims": "claim",
    "retractions": "retraction",
}
#: (kind, name) of each thing that is used.
Uses = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Rung:
    scope: str
    question: str
    found: str | None
    uses: Uses


@dataclass(frozen=True)
class Inquiry:
    id: str
    date: str
    title: str
    symptom: str
    change: str | None
    validation: str | None
    uses: Uses
    rungs: tuple[Rung, ...]
    body: str


def inquiry(path: Path) -> Inquiry:
    """Raises ``BadInput`` with the key that is wrong."""
    note = Note(path)
    note.only("id", "date", "title", "symptom", "change", "validation", "uses", "rungs")
    whole = note.table("uses")
    if whole is not None:
        whole.only(*USES)
    return Inquiry(
        id=note.name("id"),
        date=note.day("date"),
        title=note.text("title"),
        symptom=note.text("symptom"),
        change=note.maybe_text("change"),
        validation=note.maybe_text("validation"),
        uses=_uses(whole) if whole is not None else (),
        rungs=tuple(_rung(keys) for keys in note.tables("rungs")),
        body=note.body,
    )


def _rung(keys: Keys) -> Rung:
    keys.only("scope", "question", "found", *USES)
    return Rung(keys.choice("scope", SCOPES), keys.text("question"), keys.maybe_text("found"), _uses(keys))


def _uses(keys: Keys) -> Uses:
    return tuple((kind, name) for key, kind in USES.items() for name in keys.names(key, kind))
