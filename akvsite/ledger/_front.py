"""A Markdown file with YAML front matter, and checked access to its keys."""

from __future__ import annotations

import re
from collections.abc import Hashable
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from akvsite.errors import BadInput
from akvsite.ledger._names import NAME, wrong_name

#: The front matter, and the body behind it.
PARTS = re.compile(r"---\n(.*?)\n---(?:\n(.*))?\Z", re.S)


class _Loader(yaml.SafeLoader):
    """YAML as it is, but for a key that stands there twice: the first would be passed over in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.YAMLError(f"the key {key.value!r} stands there twice")
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def read(path: Path) -> str:
    """The text of a file, line ends as ``\\n``. Raises ``BadInput`` where it is not UTF-8."""
    return decoded(path, path.read_bytes())


def decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadInput(path, f"is not UTF-8: {error}") from error


class Keys:
    """The keys of a table of the front matter. ``place`` is where it stands, such as ``history[2].``."""

    def __init__(self, path: Path, data: dict[Any, Any], place: str = "") -> None:
        self.path = path
        self.data = data
        self.place = place
        for key, value in data.items():
            for text in value if isinstance(value, list) else [value]:
                # Escapes in YAML may spell half of a character, which no file and no database can hold.
                if isinstance(text, str) and any("\ud800" <= char <= "\udfff" for char in text):
                    raise self.wrong(str(key), "holds half of a character")

    def wrong(self, key: str, why: str) -> BadInput:
        return BadInput(self.path, why, place=f"{self.place}{key}")

    def only(self, *known: str) -> None:
        for key in self.data:
            if key not in known:
                raise self.wrong(str(key), f"is not a key here; known: {', '.join(known)}")

    def text(self, key: str) -> str:
        value = self.maybe(key)
        if not value:
            raise self.wrong(key, "is missing")
        return value

    def maybe(self, key: str) -> str | None:
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, date):
            return value.isoformat()
        if not isinstance(value, str):
            raise self.wrong(key, f"must be text, not {type(value).__name__}")
        return value.strip()

    def maybe_text(self, key: str) -> str | None:
        """Text that may be left out, but not left empty."""
        return None if self.data.get(key) is None else self.text(key)

    def name(self, key: str) -> str:
        value = self.text(key)
        if not NAME.fullmatch(value):
            raise self.wrong(key, f"{value!r}: lower-case letters, digits, '.', '_' and '-'")
        return value

    def maybe_name(self, key: str) -> str | None:
        return None if self.data.get(key) is None else self.name(key)

    def day(self, key: str) -> str:
        value = self.text(key)
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            raise self.wrong(key, f"{value!r} is not a date of ISO 8601") from None

    def names(self, key: str, kind: str = "run") -> tuple[str, ...]:
        value = self.data.get(key)
        if value is None:
            return ()
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.wrong(key, "must be a list of names")
        for name in value:
            if why := wrong_name(kind, name):
                raise self.wrong(key, f"must be a list of names; {why}")
        return tuple(dict.fromkeys(value))

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        return self.one_of(key, self.text(key), choices)

    def one_of(self, key: str, value: str, choices: tuple[str, ...]) -> str:
        if value not in choices:
            raise self.wrong(key, f"{value!r}; one of {', '.join(choices)}")
        return value

    def tables(self, key: str) -> list[Keys]:
        """A list of tables, each with its place."""
        value = self.data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(key, "must be a list of tables")
        for place, each in enumerate(value):
            if not isinstance(each, dict):
                raise self.wrong(f"{key}[{place}]", "must be a table of keys and values")
        return [Keys(self.path, each, f"{self.place}{key}[{place}].") for place, each in enumerate(value)]

    def table(self, key: str) -> Keys | None:
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(key, "must be a table of keys and values")
        return Keys(self.path, value, f"{self.place}{key}.")


class Note(Keys):
    """The front matter of ``text``, which is or will be that of the file ``path``."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        match = PARTS.match(read(path) if text is None else text)
        if match is None:
            raise BadInput(path, "has no front matter between two lines of ---")
        try:
            data = yaml.load(match[1], _Loader)
        except Exception as error:  # the loader lets KeyError, AttributeError and others out for odd tags
            why = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise BadInput(path, f"front matter is not YAML that can be used: {why}") from error
        if not isinstance(data, dict):
            raise BadInput(path, "front matter must be keys and values")
        super().__init__(path, data)
        self.body = (match[2] or "").strip()
