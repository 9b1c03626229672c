"""What the ledger needs of the store: a claim leaves open only with a control. The rules are questions, not here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from akvsite import ledger, questions
from akvsite.errors import BadInput
from akvsite.ledger import Claim, Ledger, notes, writing
from akvsite.store import Store

#: So many runs that could be a control are named.
SHOWN = 5


def suppose(store: Store, supposed: Ledger) -> None:
    """Let ``store``, which is open for reading, answer as if it held this ledger. Nothing is written into it."""
    for table in ledger.TABLES:
        store.connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
        store.connection.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM main.{table} WHERE 0")
    for table, row in ledger.rows(supposed):
        store.insert(table, row)
    # The store's own views see its own tables alone.
    for question in questions.questions().values():
        store.connection.execute(f"DROP VIEW IF EXISTS temp.{question.name}")
        store.connection.execute(f"CREATE TEMP VIEW {question.name} AS\n{question.sql}")


@dataclass(frozen=True)
class Refusal:
    """A control that is none: of a claim, or of a retraction where one is named."""

    claim: str
    retraction: str | None
    control: str
    why: str
    #: Whether the store has it. One that it has not may count in a store that holds it.
    known: bool = True


def refusals(store: Store, claim: str | None = None) -> Iterator[Refusal]:
    """Of all claims, or of one. A claim that is open, or was retracted, rests on no control."""
    of_one, one = ("AND claim = ?", [claim]) if claim else ("", [])
    for row in store.rows(
        f"SELECT * FROM control_use WHERE counts = 0 AND state = 'supported' {of_one} ORDER BY claim, control",
        one,
    ):
        why = f"{row['claim']!r} cannot leave open: its control {row['control']!r} {row['because']}"
        yield Refusal(row["claim"], None, row["control"], why, bool(row["known"]))
    for row in store.rows(
        f"SELECT * FROM retraction_control WHERE counts = 0 {of_one} ORDER BY retraction", one
    ):
        why = f"{row['control']!r} {row['because']}"
        yield Refusal(row["claim"], row["retraction"], row["control"], why, bool(row["known"]))


def hold(store: Store, folder: Path) -> None:
    """Raises ``BadInput``, with the file, for the first control that is none.

    A control that the store does not have stops nothing: part of the captures may be read on purpose, and the claim is
    shown as open there (``claim_list.sql``).
    """
    for refusal in (found for found in refusals(store) if found.known):
        if refusal.retraction is not None:
            raise BadInput(_retraction_file(folder, refusal.retraction), refusal.why, place="control")
        path, _ = writing.find(folder, refusal.claim)
        back = f"where it is to support nothing any more, `akvsite claim open {refusal.claim} --because …` says so"
        raise BadInput(path, f"{refusal.why}; {back}", place="history")


def hold_exclusion(store: Store, folder: Path, run: str) -> None:
    """Raises ``BadInput`` where the supposed ledger, in which ``run`` is excluded, could not be built from."""
    for refusal in refusals(store):
        if refusal.control == run and refusal.retraction is None:
            raise BadInput(
                run,
                f"supports claim {refusal.claim!r}, so that it is not excluded: {refusal.why}. First"
                f" `akvsite claim open {refusal.claim} --because …` takes the support back",
            )
    hold(store, folder)


def unknown(store: Store, kind: str | None, name: str) -> str | None:
    """Why nothing of this name can be cited; None where the store has it. Of a chart its page is looked for, not its key."""
    if kind == "chart":
        folder, _, page = name.partition("#")[0].partition("/")
        return _no_page(store, folder, page, name)
    where = "comparison" if kind == "comparison" else "run"
    return None if _has(store, where, "name", name) else f"{name!r} is not in the store"


def _no_page(store: Store, folder: str, page: str, name: str) -> str | None:
    run, compared = _has(store, "run", "name", page), _has(store, "comparison", "name", page)
    match folder:
        case "comparisons" if compared:
            return None
        case "experiments" if _has(store, "experiment_list", "experiment", page):
            return None
        case "runs" if run:
            return None
        case "experiments" if run:
            return f"{name!r}: {page!r} is no experiment with trials, so that it has no page there; its charts are runs/{page}#KEY"
        case "experiments" | "runs" if compared:
            return f"{name!r}: {page!r} is a comparison; its charts are comparisons/{page}#KEY"
        case "comparisons" if run:
            return f"{name!r}: {page!r} is a run; its charts are runs/{page}#KEY"
    return f"{name!r} is not in the store"


def _has(store: Store, where: str, column: str, name: str) -> bool:
    return bool(store.one(f"SELECT count(*) FROM {where} WHERE {column} = ?", [name]))


def under_retraction(store: Store, claim: Claim) -> list[str]:
    """A line for each control of a claim that stands under the retraction of another claim itself."""
    return [
        f"Its control {name!r} stands under retraction {row['retraction']!r} itself: claim {row['claim']!r} was withdrawn."
        for name in claim.controls
        for row in store.rows(
            "SELECT DISTINCT claim, retraction FROM stamp WHERE name = ? AND claim <> ? AND kind IN ('run', 'control')"
            " ORDER BY date, retraction",
            [name, claim.id],
        )
    ]


@dataclass(frozen=True)
class Missing:
    """What an open claim needs before it can leave open."""

    #: Why its control has to be a designed experiment, in words; None where any run with capture off can be one.
    designed_because: str | None
    #: Runs of the store that the rule admits. Whether one of them shows what is claimed is for a person to see.
    admitted: tuple[str, ...]


def missing(store: Store, claim: str) -> Missing | None:
    """None for a claim that is not open."""
    if store.one("SELECT state FROM claim WHERE claim = ?", [claim]) != "open":
        return None
    because = store.one("SELECT because FROM _claim_design WHERE claim = ?", [claim])
    designed = "AND designed AND timing_off" if because else ""
    admitted = store.rows(
        f"SELECT run FROM control_list WHERE counts {designed}"
        " AND run NOT IN (SELECT run FROM _claim_stands WHERE claim = ?) ORDER BY run",
        [claim],
    )
    return Missing(because, tuple(row["run"] for row in admitted))


def wanted(claim: Claim, missing: Missing | None) -> list[str]:
    """What an open claim lacks, in words; ``missing`` is None where there is no store."""
    if claim.state != "open":
        return []
    what = "a control: a run with capture off, none of those that it stands on"
    if missing is not None and missing.designed_because:
        what += f"; {missing.designed_because} needs a designed experiment in which timing events were off"
    line = f"Missing before it can leave open: {what}. `akvsite claim link {claim.id} --control RUN` adds it."
    if missing is None:
        return [line, "Which runs can be its control is not known: there is no store."]
    more = f" and {len(missing.admitted) - SHOWN} more" if len(missing.admitted) > SHOWN else ""
    names = ", ".join(missing.admitted[:SHOWN]) + more if missing.admitted else "none"
    return [line, f"Runs of the store that the rule admits: {names}. Whether one shows it is for you to see."]


def _retraction_file(folder: Path, name: str) -> Path:
    for path in ledger.files(folder, "retractions"):
        if notes.retraction(path).id == name:
            return path
    return folder / "retractions" / f"{name}.md"
