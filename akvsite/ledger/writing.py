"""Writing into the ledger: a claim is made once and then appended to, a retraction is written with its claim's entry.

Each change is checked as a whole before anything is written, and written to temporary names first.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

from akvsite.errors import BadInput
from akvsite.ledger import Ledger, _seals, _text, claims, files, load, notes
from akvsite.ledger._front import read
from akvsite.ledger._names import NAME
from akvsite.ledger.claims import Claim, Entry
from akvsite.ledger.notes import Retraction

#: Looks at the ledger as it is going to be, and raises ``BadInput`` where that must not be written.
Check = Callable[[Ledger], None]


def find(folder: Path, name: str) -> tuple[Path, Claim]:
    """The file of a claim, and the claim. Raises ``BadInput`` where there is none of this name."""
    for path in files(folder, "claims"):
        found = claims.claim(path)
        if found.id == name:
            return path, found
    raise BadInput(name, f"no such claim in {folder / 'claims'}; `akvsite claim status` lists them")


def new_claim(folder: Path, claim: Claim, check: Check) -> Path:
    """Write a claim whose history is not sealed yet. Raises ``BadInput`` where one of its name is there already."""
    path = folder / "claims" / f"{claim.id}.md"
    if not NAME.fullmatch(claim.id):
        raise BadInput("ID", f"{claim.id!r}: lower-case letters, digits, '.', '_' and '-'")
    with _one_writer(folder):
        ledger = load(folder)
        if path.exists() or claim.id in {c.id for c in ledger.claims}:
            raise BadInput(path, "is there already; `akvsite claim link` adds to a claim")
        wanted = claim.sealed()
        text = _text.whole(wanted)
        if claims.claim(path, text) != wanted:
            raise BadInput(path, "its words cannot be written so that the same words are read again")
        check(replace(ledger, claims=(*ledger.claims, wanted)))
        _put([(path, text.encode("utf-8"))])
    return path


def append(folder: Path, name: str, entries: Sequence[Entry], check: Check) -> tuple[Path, Claim]:
    """Append entries, which are sealed here, to the history of a claim."""
    with _one_writer(folder):
        ledger = load(folder)
        path, _ = find(folder, name)
        text, claim = _text.appended(path, read(path), entries)
        check(_with(ledger, claim))
        _put([(path, _as_before(path, text))])
    return path, claim


def exclude(folder: Path, run: str, because: str, today: date, check: Check) -> Path:
    """Write the dated note that excludes a run. Raises ``BadInput`` where one is there already."""
    path = folder / "exclusions" / f"{run}.md"
    with _one_writer(folder):
        ledger = load(folder)
        for there in files(folder, "exclusions"):
            if there == path or notes.exclusion(there).run == run:
                why = "excludes the run already; edit the note, or remove it to take the run back in"
                raise BadInput(there, why)
        data = (
            f"---\n{_text.front({'run': run, 'date': today.isoformat(), 'because': because})}---\n".encode()
        )
        wanted = notes.exclusion(path, data)
        check(replace(ledger, exclusions=(*ledger.exclusions, wanted)))
        _put([(path, data)])
    return path


def seal(path: Path) -> int:
    """Seal the entries at the end of a claim's history that have no seal; how many there were."""
    with _one_writer(path.parent.parent):
        text, _, count = _text.sealed(path, read(path))
        if count:
            _put([(path, _as_before(path, text))])
    return count


def retract(
    folder: Path,
    name: str,
    check: Check,
    today: date,
    *,
    because: str | None,
    control: str | None = None,
    named: str | None = None,
    body: str = "",
) -> tuple[Path, Retraction]:
    """Withdraw a claim: its retraction, named ``named``, and the entry that names it by hash.

    Without ``because`` a retraction that is there already, and that no history names yet, is entered.
    """
    with _one_writer(folder):
        ledger = load(folder, unnamed=True)
        path, claim = find(folder, name)
        if claim.retracted_by is not None:
            raise BadInput(path, f"{claim.retracted_by.name!r} withdrew it on {claim.retracted_by.date}")
        waiting = [p for p in files(folder, "retractions") if notes.retraction(p).claim == name]
        if waiting:
            if because is not None:
                why = (
                    f"withdraws it, and its history does not name it yet: `akvsite retract {name}` alone does"
                )
                raise BadInput(waiting[0], why)
            note, data = waiting[0], waiting[0].read_bytes()
        elif because is None:
            raise BadInput("--because", "is missing: say why")
        else:
            named = named or f"{name}-withdrawn"
            note = folder / "retractions" / f"{named}.md"
            if note.exists() or named in {r.id for r in ledger.retractions}:
                raise BadInput(note, "is there already; name another with --id")
            words = {
                "id": named,
                "date": today.isoformat(),
                "claim": name,
                "control": control,
                "reason": because,
            }
            text = f"---\n{_text.front(words)}---\n" + (f"\n{body}\n" if body else "")
            data = text.encode("utf-8")
        retraction = notes.retraction(note, data)
        if len(waiting) > 1:
            raise BadInput(
                waiting[1],
                f"withdraws {name!r} too, beside {note.name}: one of them is to stand",
                place="claim",
            )
        entry = Entry(retraction.date, "retracted", "retraction", retraction.id, sha256=_seals.sha256(data))
        text, withdrawn = _text.appended(path, read(path), [entry])
        others = tuple(r for r in ledger.retractions if r.id != retraction.id)
        check(replace(_with(ledger, withdrawn), retractions=(*others, retraction)))
        # The note comes first: broken off between the two, the next `load` names the note, and how to go on.
        changed = [(path, _as_before(path, text))]
        _put(changed if waiting else [(note, data), *changed])
    return note, retraction


def _with(ledger: Ledger, claim: Claim) -> Ledger:
    return replace(ledger, claims=tuple(claim if c.id == claim.id else c for c in ledger.claims))


def _as_before(path: Path, text: str) -> bytes:
    """With the line ends that the file has."""
    return (text.replace("\n", "\r\n") if b"\r\n" in path.read_bytes() else text).encode("utf-8")


def _put(wanted: Sequence[tuple[Path, bytes]]) -> None:
    """Write files, all of them or none: under temporary names, then each renamed in its turn.

    What an interrupt or an error leaves half done is taken back; after a kill, files that were renamed stay.
    """
    made: list[Path] = []
    halves = [(path.with_name(f".{path.name}.half"), path, data) for path, data in wanted]
    try:
        for half, path, data in halves:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with half.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                # What the system says of a write names no file.
                error.filename = error.filename or str(path)
                raise
        for half, path, _ in halves:
            if not path.exists():
                made.append(path)
            half.replace(path)
    except BaseException:
        last, data = wanted[-1]
        # Told to stop after the last rename, everything is written.
        if not (last.is_file() and last.read_bytes() == data):
            for path in made:
                path.unlink(missing_ok=True)
        for half, _, _ in halves:
            half.unlink(missing_ok=True)
        raise


@contextmanager
def _one_writer(folder: Path) -> Iterator[None]:
    """A history that two append to at once would lose an entry: the second waits for the first."""
    if not folder.is_dir():
        raise BadInput(folder, "does not exist: claims are kept there; name a folder with --captures")
    place = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks has one writer by agreement
            fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)
