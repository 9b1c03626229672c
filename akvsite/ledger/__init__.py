"""What people wrote down: claims, retractions, exclusions (Markdown with front matter), comparisons and histories (TOML).

They live beside the captures, so that a fresh clone has them. The store holds a copy that is replaced whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from akvsite.errors import BadInput
from akvsite.ledger import declared, notes
from akvsite.ledger.declared import Comparison, History, Side
from akvsite.ledger.notes import Claim, Exclusion, Retraction

__all__ = [
    "TABLES",
    "Claim",
    "Comparison",
    "Exclusion",
    "History",
    "Ledger",
    "Retraction",
    "Side",
    "load",
    "rows",
    "write_exclusion",
]


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
    claims = {path: notes.claim(path) for path in _files(folder / "claims", "*.md")}
    retractions = {path: notes.retraction(path) for path in _files(folder / "retractions", "*.md")}
    exclusions = {path: notes.exclusion(path) for path in _files(folder / "exclusions", "*.md")}
    comparisons = {path: declared.comparison(path) for path in _files(folder / "comparisons", "*.toml")}
    histories = {path: declared.history(path) for path in _files(folder / "histories", "*.toml")}
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


def _one_history_a_run(histories: dict[Path, History]) -> None:
    first: dict[str, Path] = {}
    for path, history in histories.items():
        for run in history.runs:
            if run in first:
                raise BadInput(path, f"run {run!r} is in {first[run].name} already", place="runs")
            first[run] = path
