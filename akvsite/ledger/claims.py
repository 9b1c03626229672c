"""A claim: a falsifiable statement, and a history that is only ever appended to.

What a claim stands on and how it stands is what its history says; there is no other key for it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

from akvsite.ledger import _seals
from akvsite.ledger._front import Keys, Note
from akvsite.ledger._names import CHART_KIND, COMPARISON, CONTROL, RETRACTION, RUN, SCOPES, wrong_name

ABOUT = ("overlap", "serialisation", "waiting", "idleness", "time", "memory", "other")
OPEN, SUPPORTED, RETRACTED = "open", "supported", "retracted"

#: Kinds of things that a claim stands on.
CITED = (RUN, COMPARISON, CHART_KIND)

#: What may happen to a claim, the kinds of things each can name, and the keys that each has beside them.
EVENTS = {
    "made": ((), ()),
    "cited": (CITED, ()),
    "supported": ((CONTROL,), ()),
    "opened": ((), ("because",)),
    "retracted": ((RETRACTION,), ("sha256",)),
    "dropped": (CITED, ("because",)),
}
#: Keys of claims before they had a history.
_OLD = ("state", "runs", "comparisons", "charts", "control", "controls")


@dataclass(frozen=True)
class Entry:
    """One entry of a history. ``seal`` is None only before it is sealed; a ledger that was loaded has no such entry."""

    date: str
    event: str
    kind: str | None = None
    name: str | None = None
    because: str | None = None
    sha256: str | None = None
    seal: str | None = None

    def words(self) -> dict[str, str]:
        """Its keys and values as they are written, without the seal."""
        pairs = ((f.name, getattr(self, f.name)) for f in fields(self) if f.name != "seal")
        return {key: value for key, value in pairs if value is not None}


@dataclass(frozen=True)
class Claim:
    id: str
    date: str
    scope: str
    about: tuple[str, ...]
    statement: str
    predicts: str
    body: str
    history: tuple[Entry, ...]

    def words(self) -> dict[str, object]:
        """What the first seal is over: all that the claim says, but for its history."""
        return {
            "id": self.id, "date": self.date, "scope": self.scope, "about": list(self.about),
            "statement": self.statement, "predicts": self.predicts, "body": self.body,
        }  # fmt: skip

    @property
    def state(self) -> str:
        states = {"made": OPEN, "opened": OPEN, "supported": SUPPORTED, "retracted": RETRACTED}
        return next(states[e.event] for e in reversed(self.history) if e.event in states)

    def cited(self, kind: str) -> tuple[str, ...]:
        """What it stands on. A citation that is dropped after the retraction stays: it is part of what was withdrawn."""
        found: dict[str, None] = {}
        for entry in self.history:
            if entry.event == "retracted":
                break
            if entry.kind == kind and entry.name:
                if entry.event == "cited":
                    found[entry.name] = None
                elif entry.event == "dropped":
                    found.pop(entry.name, None)
        return tuple(found)

    @property
    def controls(self) -> tuple[str, ...]:
        """What supports it now: nothing from before its support was taken back."""
        found: list[str] = []
        for entry in self.history:
            if entry.event == "opened":
                found.clear()
            elif entry.event == "supported" and entry.name:
                found.append(entry.name)
        return tuple(found)

    @property
    def retracted_by(self) -> Entry | None:
        return next((e for e in self.history if e.event == "retracted"), None)

    def sealed(self) -> Claim:
        """The same with a seal on each entry at the end that has none."""
        history: list[Entry] = []
        before = _seals.canonical(self.words())
        for entry in self.history:
            before = entry.seal or _seals.seal(before, entry.words())
            history.append(replace(entry, seal=before))
        return replace(self, history=tuple(history))


def claim(path: Path, text: str | None = None, *, unsealed: bool = False) -> Claim:
    """The claim in a file, or in ``text`` that is to become its text.

    ``unsealed``: entries at the end may be without a seal. Raises ``BadInput`` with the key, or the entry, that is wrong.
    """
    note = Note(path, text)
    if "history" not in note.data and (old := next((key for key in _OLD if key in note.data), None)):
        why = (
            "was a key before claims had a history: make the claim anew with `akvsite claim new`, bring over what it cites "
            "with `akvsite claim link` (its retraction with `akvsite retract`), and remove this file"
        )
        raise note.wrong(old, why)
    note.only("id", "date", "scope", "about", "statement", "predicts", "history")
    found = Claim(
        id=note.name("id"),
        date=note.day("date"),
        scope=note.choice("scope", SCOPES),
        about=tuple(note.one_of("about", word, ABOUT) for word in _words(note, "about")),
        statement=note.text("statement"),
        predicts=note.text("predicts"),
        body=note.body,
        history=tuple(_entry(keys) for keys in note.tables("history")),
    )
    if not found.history:
        why = "is missing: write its first entry (date and event: made), then `akvsite claim seal FILE`"
        raise note.wrong("history", why)
    _in_order(note, found)
    _seals_hold(note, found, unsealed)
    return found


def _words(note: Note, key: str) -> tuple[str, ...]:
    found = note.names(key)
    if not found:
        raise note.wrong(key, f"is missing: one or more of {', '.join(ABOUT)}")
    return found


def _entry(keys: Keys) -> Entry:
    event = keys.choice("event", tuple(EVENTS))
    kinds, more = EVENTS[event]
    keys.only("date", "event", *(("kind", "name") if kinds else ()), *more, "seal")
    kind = keys.choice("kind", kinds) if kinds else None
    name = keys.text("name") if kinds else None
    if kind and name and (why := wrong_name(kind, name)):
        raise keys.wrong("name", why)
    entry = Entry(
        keys.day("date"), event, kind, name,
        because=keys.text("because") if "because" in more else None,
        sha256=keys.text("sha256") if "sha256" in more else None,
        seal=keys.maybe_text("seal"),
    )  # fmt: skip
    if entry.sha256 and not _seals.SHA256.fullmatch(entry.sha256):
        raise keys.wrong("sha256", "is not a SHA-256: 64 hexadecimal digits")
    return entry


def _in_order(note: Note, claim: Claim) -> None:
    """What can follow what, that no entry is older than the one before it, and that nothing is said twice."""
    history = claim.history
    if history[0].event != "made" or history[0].date != claim.date:
        raise note.wrong("history[0]", f"must be `made`, on the claim's own date {claim.date}")
    cited: set[tuple[str | None, str | None]] = set()
    #: Of these no control is made by dropping them.
    once_cited: set[str | None] = set()
    withdrawn = False
    controls: set[str | None] = set()
    for place, (before, entry) in enumerate(pairwise(history), 1):
        at = f"history[{place}]"
        if entry.date < before.date:
            raise note.wrong(f"{at}.date", f"{entry.date} is before {before.date}, the entry above it")
        withdrawn = withdrawn or before.event == "retracted"
        if withdrawn and entry.event != "dropped":
            raise note.wrong(at, "nothing follows the retraction of a claim, but that a citation is dropped")
        match entry.event:
            case "made":
                raise note.wrong(at, "a claim is made once")
            case "cited":
                if (entry.kind, entry.name) in cited:
                    raise note.wrong(at, f"{entry.kind} {entry.name!r} is cited already")
                cited.add((entry.kind, entry.name))
                if entry.kind == RUN:
                    once_cited.add(entry.name)
            case "dropped":
                if (entry.kind, entry.name) not in cited:
                    raise note.wrong(
                        at, f"{entry.kind} {entry.name!r} is not cited, so that it cannot be dropped"
                    )
                cited.discard((entry.kind, entry.name))
            case "supported":
                if entry.name in controls:
                    raise note.wrong(at, f"control {entry.name!r} supports it already")
                controls.add(entry.name)
            case "opened":
                if not controls:
                    raise note.wrong(at, "the claim is open as it is")
                controls.clear()
        for name in controls:
            if name in once_cited:
                stood = "stands on" if (RUN, name) in cited else "stood on"
                raise note.wrong(at, f"control {name!r} is one of the runs that the claim {stood}")


def _seals_hold(note: Note, claim: Claim, unsealed: bool) -> None:
    before = _seals.canonical(claim.words())
    for place, entry in enumerate(claim.history):
        at = f"history[{place}]"
        if entry.seal is None:
            if all(e.seal is None for e in claim.history[place:]):
                if unsealed:
                    return
                raise note.wrong(
                    f"{at}.seal", f"is missing: `akvsite claim seal {note.path}` seals new entries"
                )
            raise note.wrong(
                f"{at}.seal", "is missing, and entries behind it are sealed: it was put in, or altered"
            )
        if entry.seal != _seals.seal(before, entry.words()):
            words = "the claim's words or " if place == 0 else ""
            why = f"does not hold: {words}this entry ({entry.event}, {entry.date}) was altered after it was sealed"
            raise note.wrong(f"{at}.seal", f"{why}; a history is only appended to")
        before = entry.seal
