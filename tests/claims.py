"""Claims and retractions for tests, written as a person would and sealed by the code that is tested."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import yaml

from akvsite import ledger
from akvsite.ledger import writing

MADE = "2026-01-02"


def write_claim(
    folder: Path,
    name: str,
    *history: dict[str, str],
    on: str = MADE,
    body: str = "",
    file: str | None = None,
    **words: Any,
) -> Path:
    """A claim in ``folder/claims``; ``history`` is what follows ``made``, dates and seals are put in."""
    keys = {
        "id": name, "date": date.fromisoformat(on), "scope": "timeline", "about": ["other"],
        "statement": "It is so.", "predicts": "That it is seen.", **words,
    }  # fmt: skip
    entries = [{"date": date.fromisoformat(on), "event": "made"}]
    entries += [
        {"date": date.fromisoformat(e.get("date", on)), **{k: v for k, v in e.items() if k != "date"}}
        for e in history
    ]
    path = folder / "claims" / (file or f"{name}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    front = yaml.safe_dump({**keys, "history": entries}, sort_keys=False, allow_unicode=True)
    path.write_text(f"---\n{front}---\n{body}\n", encoding="utf-8")
    writing.seal(path)
    return path


def cited(kind: str, name: str, **more: str) -> dict[str, str]:
    return {"event": "cited", "kind": kind, "name": name, **more}


def supported(name: str, **more: str) -> dict[str, str]:
    return {"event": "supported", "kind": "control", "name": name, **more}


def enter(folder: Path, claim: str) -> None:
    """Name a retraction that lies there in the history of its claim."""
    writing.retract(folder, claim, lambda _: None, date.fromisoformat(MADE), because=None)


def withdraw(
    folder: Path, claim: str, *, on: str, reason: str, named: str, body: str = "", control: str | None = None
) -> None:
    writing.retract(
        folder, claim, lambda _: None, date.fromisoformat(on),
        because=reason, control=control, named=named, body=body,
    )  # fmt: skip


def sealed(folder: Path) -> None:
    """What a case has by hand: entries are sealed, and retractions entered."""
    for path in ledger.files(folder, "claims"):
        writing.seal(path)
    for path in ledger.files(folder, "retractions"):
        enter(folder, ledger.notes.retraction(path).claim)
