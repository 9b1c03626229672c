"""What people wrote down: claims, retractions, inquiries, exclusions (Markdown with front matter), comparisons and
histories (TOML).

They live beside the captures, so that a fresh clone has them. The store holds a copy that is replaced whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput
from akvsite.ledger import claims, declared, inquiries, notes
from akvsite.ledger._front import read
from akvsite.ledger._names import SCOPES, wrong_name
from akvsite.ledger.claims import ABOUT, Claim, Entry
from akvsite.ledger.declared import Comparison, History, Side
from akvsite.ledger.inquiries import Inquiry, Rung
from akvsite.ledger.notes import Exclusion, Retraction

__all__ = [
    "ABOUT",
    "SCOPES",
    "TABLES",
    "Claim",
    "Comparison",
    "Entry",
    "Exclusion",
    "History",
    "Inquiry",
    "Ledger",
    "Retraction",
    "Rung",
    "Side",
    "files",
    "load",
    "read",
    "rows",
    "unread",
    "wrong_name",
]


#: The folders of the notes, and how the names of their files end.
KINDS = {
    "claims": ".md", "retractions": ".md", "inquiries": ".md", "exclusions": ".md",
    "comparisons": ".toml", "histories": ".toml",
}  # fmt: skip


@dataclass(frozen=True)
class Ledger:
    claims: tuple[Claim, ...] = ()
    retractions: tuple[Retraction, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    histories: tuple[History, ...] = ()
    inquiries: tuple[Inquiry, ...] = ()


def load(folder: Path, *, unnamed: bool = False) -> Ledger:
    """Read ``claims/``, ``retractions/``, ``inquiries/``, ``exclusions/``, ``comparisons/`` and ``histories/`` there.

    Any may be missing. ``unnamed``: retractions may be there that the histories of their claims do not name yet.

    Raises ``BadInput`` with the file and the key that is wrong.
    """
    claimed = {path: claims.claim(path) for path in files(folder, "claims")}
    retractions = {path: notes.retraction(path) for path in files(folder, "retractions")}
    asked = {path: inquiries.inquiry(path) for path in files(folder, "inquiries")}
    exclusions = {path: notes.exclusion(path) for path in files(folder, "exclusions")}
    comparisons = {path: declared.comparison(path) for path in files(folder, "comparisons")}
    histories = {path: declared.history(path) for path in files(folder, "histories")}
    _no_twins("id", {path: c.id for path, c in claimed.items()})
    _no_twins("id", {path: r.id for path, r in retractions.items()})
    _no_twins("id", {path: i.id for path, i in asked.items()})
    _no_twins("run", {path: e.run for path, e in exclusions.items()})
    _no_twins("name", {path: c.name for path, c in comparisons.items()})
    _no_twins("name", {path: h.name for path, h in histories.items()})
    _one_history_a_run(histories)
    _retractions_are_named(claimed, retractions, unnamed)
    _inquiries_name_what_is_there(asked, claimed, retractions)
    return Ledger(
        tuple(claimed.values()),
        tuple(retractions.values()),
        tuple(exclusions.values()),
        tuple(comparisons.values()),
        tuple(histories.values()),
        tuple(asked.values()),
    )


def _retractions_are_named(
    claimed: dict[Path, Claim], retractions: dict[Path, Retraction], unnamed: bool
) -> None:
    """A claim's history and the retraction's file name each other, the file by its hash: neither can go, or change, alone."""
    there = {r.id: (path, r) for path, r in retractions.items()}
    named: set[str] = set()
    for path, claim in claimed.items():
        last = claim.retracted_by
        if last is None or last.name is None:
            continue
        place = f"history[{claim.history.index(last)}]"
        if last.name not in there:
            why = f"names retraction {last.name!r}, and no file of retractions/ holds it: bring the file back"
            raise BadInput(path, f"{why} (SHA-256 {last.sha256}); nothing is deleted", place=place)
        note, retraction = there[last.name]
        if retraction.claim != claim.id:
            raise BadInput(
                note, f"withdraws {retraction.claim!r}, and {path.name} names it as its own", place="claim"
            )
        if retraction.sha256 != last.sha256:
            why = (
                f"has SHA-256 {retraction.sha256}, and {path.name} names it by {last.sha256}: it was altered"
            )
            raise BadInput(note, f"{why} after it was written; bring back the file as it was")
        if retraction.date != last.date:
            raise BadInput(note, f"{retraction.date}, and {path.name} says {last.date}", place="date")
        named.add(last.name)
    by_id = {c.id: c for c in claimed.values()}
    for note, retraction in retractions.items():
        of = by_id.get(retraction.claim)
        if retraction.id not in named and not (unnamed and of is not None and of.retracted_by is None):
            raise BadInput(note, _unnamed(retraction, of), place="claim")


def _unnamed(retraction: Retraction, claim: Claim | None) -> str:
    if claim is None:
        return f"withdraws {retraction.claim!r}, and there is no such claim"
    if claim.retracted_by is not None:
        return f"withdraws {claim.id!r}, which {claim.retracted_by.name!r} withdrew before"
    return (
        f"no history names it: `akvsite retract {claim.id}` enters it into that of the claim;"
        " where it is not to stand, remove the file"
    )


def _inquiries_name_what_is_there(
    asked: dict[Path, Inquiry], claimed: dict[Path, Claim], retractions: dict[Path, Retraction]
) -> None:
    """Runs may be of another store; claims and retractions are written beside the inquiry."""
    there = {("claim", c.id) for c in claimed.values()} | {("retraction", r.id) for r in retractions.values()}
    for path, inquiry in asked.items():
        whole = (("uses", inquiry.uses), *((f"rungs[{n}]", r.uses) for n, r in enumerate(inquiry.rungs)))
        for place, uses in whole:
            for kind, name in uses:
                if kind in ("claim", "retraction") and (kind, name) not in there:
                    raise BadInput(path, f"{name!r}: there is no such {kind}", place=f"{place}.{kind}s")


def rows(ledger: Ledger) -> Iterator[tuple[str, dict[str, Any]]]:
    """The ledger as rows of the store's tables, parents first."""
    for claim in ledger.claims:
        yield from _claim_rows(claim)
    for retraction in ledger.retractions:
        yield "retraction", {
            "retraction": retraction.id, "date": retraction.date, "claim": retraction.claim,
            "control": retraction.control, "reason": retraction.reason, "body": retraction.body,
            "sha256": retraction.sha256,
        }  # fmt: skip
    for inquiry in ledger.inquiries:
        yield from _inquiry_rows(inquiry)
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


def _claim_rows(claim: Claim) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "claim", {
        "claim": claim.id, "date": claim.date, "state": claim.state, "scope": claim.scope, "statement": claim.statement,
        "body": claim.body, "predicts": claim.predicts, "about": ", ".join(claim.about),
    }  # fmt: skip
    for kind in claims.CITED:
        for name in claim.cited(kind):
            yield "claim_run", {"claim": claim.id, "kind": kind, "name": name}
    for name in claim.controls:
        yield "claim_run", {"claim": claim.id, "kind": "control", "name": name}
    for place, entry in enumerate(claim.history):
        words = {"date": entry.date, "event": entry.event, "kind": entry.kind, "name": entry.name}
        more = {"because": entry.because, "sha256": entry.sha256, "seal": entry.seal}
        yield "claim_event", {"claim": claim.id, "place": place, **words, **more}


def _inquiry_rows(inquiry: Inquiry) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "inquiry", {
        "inquiry": inquiry.id, "date": inquiry.date, "title": inquiry.title, "symptom": inquiry.symptom,
        "change": inquiry.change, "validation": inquiry.validation, "body": inquiry.body,
    }  # fmt: skip
    for place, rung in enumerate(inquiry.rungs, 1):
        yield "inquiry_rung", {
            "inquiry": inquiry.id, "place": place, "scope": rung.scope, "question": rung.question, "found": rung.found,
        }  # fmt: skip
    for place, uses in enumerate((inquiry.uses, *(rung.uses for rung in inquiry.rungs))):
        for kind, name in uses:
            yield "inquiry_use", {"inquiry": inquiry.id, "place": place, "kind": kind, "name": name}


#: Tables that ``rows`` fills, in the order in which they can be emptied.
TABLES = (
    "history_run",
    "history",
    "comparison_run",
    "comparison",
    "claim_run",
    "claim_event",
    "retraction",
    "claim",
    "inquiry_use",
    "inquiry_rung",
    "inquiry",
    "exclusion",
)


def files(folder: Path, kind: str) -> list[Path]:
    """The files of one kind of note, by name. What begins with a dot is half written, or an editor's.

    Raises ``BadInput`` for what looks like a note and cannot be read as one: passed over, its words would be gone.
    """
    ending = KINDS[kind]
    place = folder / kind
    if not place.is_dir():
        if os.path.lexists(place):
            raise BadInput(
                place, "is no folder that can be read; the files of this kind are kept in one of this name"
            )
        return []
    found = []
    for path in sorted(place.iterdir()):
        if path.name.startswith(".") or path.suffix.lower() != ending:
            continue
        if path.suffix != ending:
            raise BadInput(path, f"would not be read: its ending is {path.suffix}, and has to be {ending}")
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "is no file, or a link that leads to none"
            raise BadInput(path, f"{what}: a file of notes was expected here")
        found.append(path)
    return found


def unread(folder: Path) -> list[str]:
    """What lies among the notes and is not read, a line each."""
    return [
        f"{path}: is not read: only files that end in {ending} are, and no folders"
        for kind, ending in KINDS.items()
        if (folder / kind).is_dir()
        for path in sorted((folder / kind).iterdir())
        if not path.name.startswith(".") and path.suffix.lower() != ending
    ]


def _no_twins(key: str, names: dict[Path, str]) -> None:
    first: dict[str, Path] = {}
    for path, name in names.items():
        if name in first:
            raise BadInput(path, f"{name!r} is in {first[name].name} already", place=key)
        first[name] = path


def _one_history_a_run(histories: dict[Path, History]) -> None:
    first: dict[str, Path] = {}
    for path, history in histories.items():
        for run in history.runs:
            if run in first:
                raise BadInput(path, f"run {run!r} is in {first[run].name} already", place="runs")
            first[run] = path
