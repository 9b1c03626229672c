"""Entries put into the text of a claim's file: what a person wrote stays as it is, to the letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from akvsite.errors import BadInput
from akvsite.ledger._front import PARTS
from akvsite.ledger.claims import Claim, Entry, claim


def front(keys: dict[str, Any]) -> str:
    """Keys as YAML, in their order; what is None is left out."""
    said = _dates({key: value for key, value in keys.items() if value is not None})
    text = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=110)
    # Line ends of other alphabets are read again as plain ones unless they are spelled out.
    if any(end in text for end in "\x85\u2028\u2029"):
        text = yaml.safe_dump(said, sort_keys=False, width=110)
    return text


def whole(claim: Claim) -> str:
    """The text of a new claim's file."""
    words = claim.words()
    body = words.pop("body")
    history = [{**e.words(), "seal": e.seal} for e in claim.history]
    # A short list of words is easier to read, and to write, in one line.
    about = yaml.safe_dump({"about": words.pop("about")}, default_flow_style=True).strip()[1:-1]
    head = front({key: words[key] for key in ("id", "date", "scope")})
    text = f"---\n{head}{about}\n{front({k: words[k] for k in ('statement', 'predicts')})}{front({'history': history})}---\n"
    return f"{text}\n{body}\n" if body else text


def appended(path: Path, text: str, entries: Sequence[Entry]) -> tuple[str, Claim]:
    """``text`` with sealed entries behind those that are there, and the claim that it then is.

    Raises ``BadInput`` where the entries cannot follow, or the history is written in a way that cannot be gone on with.
    """
    before = claim(path, text)
    wanted = replace(before, history=(*before.history, *entries)).sealed()
    history = _history(text)
    if history is None or history.flow_style or not history.value:
        raise _cannot(path)
    dump = front({"h": [{**e.words(), "seal": e.seal} for e in wanted.history[len(before.history) :]]})
    column = history.start_mark.column
    lines = [" " * column + line if line else line for line in dump.splitlines()[1:]]
    return _verified(path, _after(text, history.value[-1], lines), wanted)


def sealed(path: Path, text: str) -> tuple[str, Claim, int]:
    """``text`` with a seal on each entry at the end that has none, the claim, and how many entries were sealed."""
    before = claim(path, text, unsealed=True)
    wanted = before.sealed()
    history = _history(text)
    if history is None or len(history.value) != len(before.history):
        raise _cannot(path)
    new = 0
    # From the end, so that the places of those before stay what they were.
    for node, old, entry in reversed(list(zip(history.value, before.history, wanted.history, strict=True))):
        if old.seal is not None:
            break
        new += 1
        seal = front({"seal": entry.seal}).strip()
        if node.flow_style:
            end = _offset(text) + node.end_mark.index - 1
            text = f"{text[:end]}, {seal}{text[end:]}"
        else:
            text = _after(text, node, [" " * node.start_mark.column + seal])
    return (*_verified(path, text, wanted), new)


def _verified(path: Path, text: str, wanted: Claim) -> tuple[str, Claim]:
    try:
        found = claim(path, text)
    except BadInput as error:
        # Entries that cannot follow are wrong in themselves; a text that has become another one was written oddly.
        if error.place and error.place.startswith("history["):
            raise
        raise _cannot(path) from error
    if found != wanted:
        raise _cannot(path)
    return text, found


def _cannot(path: Path) -> BadInput:
    why = "is written in a way that cannot be appended to; write it as a list, an entry a `-`, a key a line"
    return BadInput(path, why, place="history")


def _offset(text: str) -> int:
    match = PARTS.match(text)
    return match.start(1) if match else 0


def _history(text: str) -> yaml.SequenceNode | None:
    match = PARTS.match(text)
    root = yaml.compose(match[1], yaml.SafeLoader) if match else None
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value == "history" and isinstance(value, yaml.SequenceNode):
                return value
    return None


def _after(text: str, node: yaml.Node, lines: Sequence[str]) -> str:
    """``text`` with lines behind the one on which ``node`` ends."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    place = _offset(text) + node.end_mark.index
    # A text over several lines ends where the next line begins; anything else ends in its line.
    if text[place - 1] != "\n":
        place = text.index("\n", place) + 1
    return text[:place] + "".join(f"{line}\n" for line in lines) + text[place:]


def _dates(value: Any) -> Any:
    """Dates as YAML's own, which need no quotes: under a key ``date``, here and in lists of tables."""
    if isinstance(value, dict):
        return {k: date.fromisoformat(v) if k == "date" else _dates(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_dates(v) for v in value]
    return value
