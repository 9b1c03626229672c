"""``capture.toml``: what the maker of a capture declares about it.

The manifest is the only place where a run's level, host role, warm-up and contract come from; a number is never
allowed to choose them from the data. Everything that is not understood is refused with its key, since a misspelt
``warm_up_steps`` would otherwise change every number of the run in silence.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput
from akvsite.reading import Fact, Process
from akvsite.tables import CAPTURED, LEVELS

FILE_NAME = "capture.toml"
FORMAT = 1
#: No two dots in a row: names become parts of addresses, and ".." leads out of a folder.
RUN_NAME = re.compile(r"(?!.*\.\.)[a-z0-9][a-z0-9._-]{0,99}")

_TIMING = ("on", "off", "asis", "unknown")
_ROLES = ("dev", "proof", "unknown")
#: Device times that are on the device's own clock, which no host time may be compared with.
DEVICE_CLOCK = "device clock, not converted"
_CLOCKS = ("host only", "vendor, unproven", DEVICE_CLOCK, "unknown")
#: Tables of free facts, each one part of the run's facts.
_FACT_PARTS = ("contract", "load", "capture", "software", "device")
_TOP = {
    "format", "name", "level", "started", "engine", "timing_events", "warm_up_steps", "clock", "note",
    "host", "file", "process", *_FACT_PARTS,
}  # fmt: skip


@dataclass(frozen=True)
class LevelFile:
    """One file of the capture: ``table`` for a level file of ours, None for another tool's file, which is sniffed."""

    path: Path
    table: str | None
    rank: int | None = None


@dataclass(frozen=True)
class Manifest:
    name: str
    level: str
    folder: Path
    files: tuple[LevelFile, ...]
    processes: tuple[Process, ...]
    host: str | None = None
    role: str = "unknown"
    engine: str | None = None
    timing: str = "unknown"
    warm_up_steps: int | None = None
    started: str | None = None
    clock: str = "unknown"
    note: str | None = None
    facts: tuple[Fact, ...] = field(default=())


def load(folder: Path) -> Manifest:
    """Read ``folder/capture.toml``. Raises ``BadInput`` with the key that is wrong."""
    path = folder / FILE_NAME
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise BadInput(path, "points outside the capture's folder")
        # Some editors begin a file with a mark that says that it is UTF-8.
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
        return _Checker(path).manifest(data)
    except FileNotFoundError:
        raise BadInput(folder, f"has no {FILE_NAME}") from None
    except RecursionError:
        raise BadInput(path, "is nested too deeply") from None
    except (ValueError, RuntimeError) as error:
        # Broken TOML, bytes that are not UTF-8, numbers of thousands of digits, links that lead in a circle.
        raise BadInput(path, f"is not TOML that can be used: {error}") from error


class _Checker:
    """Reads values out of the parsed TOML and names the key when one is not as it should be."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, key: str, why: str) -> BadInput:
        return BadInput(self.path, why, place=key)

    def only(self, table: dict[str, Any], known: set[str], where: str) -> None:
        for key in table:
            if key not in known:
                raise self.fail(
                    f"{where}{key}" or "''",
                    f"is not a key of a capture; known here: {', '.join(sorted(known))}",
                )

    def text(self, data: dict[str, Any], key: str, *, required: bool = False, where: str = "") -> str | None:
        value = data.get(key)
        if value is None:
            if required:
                raise self.fail(where + key, "is missing")
            return None
        if not isinstance(value, str):
            raise self.fail(where + key, f"must be text, not {type(value).__name__}")
        if not value.strip() or "\0" in value:
            raise self.fail(where + key, "is empty" if not value.strip() else "holds a NUL")
        return value

    def choice(
        self, data: dict[str, Any], key: str, choices: tuple[str, ...], default: str | None, where: str = ""
    ) -> str:
        value = self.text(data, key, required=default is None, where=where)
        if value is None:
            assert default is not None
            return default
        if value not in choices:
            raise self.fail(where + key, f"is {value!r}; one of {', '.join(choices)}")
        return value

    def whole(self, data: dict[str, Any], key: str, where: str = "") -> int | None:
        value = data.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
            raise self.fail(where + key, f"must be a whole number from 0, not {value!r}")
        return value

    def table(self, data: dict[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        if not isinstance(value, dict):
            raise self.fail(key, "must be a table")
        return value

    def tables(self, data: dict[str, Any], key: str) -> list[dict[str, Any]]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.fail(key, f"must be a list of tables, [[{key}]]")
        return value

    def manifest(self, data: dict[str, Any]) -> Manifest:
        if data.get("format") != FORMAT or isinstance(data["format"], bool):
            raise self.fail("format", f"is {data.get('format')!r}; this version reads format {FORMAT}")
        self.only(data, _TOP, "")
        name = self.text(data, "name", required=True)
        assert name is not None
        if not RUN_NAME.fullmatch(name):
            raise self.fail(
                "name",
                f"is {name!r}; lower-case letters, digits, '.', '_' and '-', 100 at most, no two dots in a row",
            )
        host = self.table(data, "host")
        self.only(host, {"name", "role", "facts"}, "host.")
        files = tuple(
            self.level_file(entry, number) for number, entry in enumerate(self.tables(data, "file"))
        )
        if not files:
            raise self.fail("file", "is missing: a capture has at least one [[file]]")
        if len({f.path for f in files}) != len(files):
            raise self.fail("file", "names the same file twice")
        if "process" in data and not any(f.table for f in files):
            raise self.fail(
                "process", "is for level files, and there is none: other files name their processes"
            )
        if "role" in host and "name" not in host:
            raise self.fail("host.name", "is missing: a role belongs to a host")
        level = self.choice(data, "level", LEVELS, None)
        host_facts = host.get("facts", {})
        if not isinstance(host_facts, dict):
            raise self.fail("host.facts", "must be a table")
        facts = [*self.facts("host", host_facts)]
        for part in _FACT_PARTS:
            facts += self.facts(part, self.table(data, part))
        for fact in facts:
            if sum((fact.part, fact.key) == (other.part, other.key) for other in facts) > 1:
                raise self.fail(f"{fact.part}.{fact.key}", "is there twice")
        return Manifest(
            name=name,
            level=level,
            folder=self.path.parent,
            files=files,
            processes=self.processes(data),
            host=self.text(host, "name", where="host."),
            role=self.choice(host, "role", _ROLES, "unknown", where="host."),
            engine=self.text(data, "engine"),
            timing=self.choice(data, "timing_events", _TIMING, "unknown"),
            warm_up_steps=self.whole(data, "warm_up_steps"),
            started=self.date(data),
            clock=self.choice(data, "clock", _CLOCKS, "unknown"),
            note=self.text(data, "note"),
            facts=tuple(facts),
        )

    def date(self, data: dict[str, Any]) -> str | None:
        value = data.get("started")
        if value is None:
            return None
        if isinstance(value, (date, datetime)):
            return value.isoformat()
        try:
            if isinstance(value, str) and datetime.fromisoformat(value):
                return value
        except ValueError:
            pass
        raise self.fail("started", f"is {value!r}, not a date of ISO 8601")

    def level_file(self, entry: dict[str, Any], number: int) -> LevelFile:
        where = f"file[{number}]."
        self.only(entry, {"path", "table", "rank"}, where)
        name = self.text(entry, "path", required=True, where=where)
        assert name is not None
        table = self.text(entry, "table", where=where)
        if table is not None and table not in CAPTURED:
            raise self.fail(where + "table", f"is {table!r}; one of {', '.join(CAPTURED)}")
        folder = self.path.parent.resolve()
        try:
            path = (folder / name).resolve()
            there = path.is_file()
        except (OSError, RuntimeError) as error:
            # Names that are too long, and links that lead in a circle.
            raise self.fail(where + "path", f"{name!r} cannot be a file here: {error}") from None
        # A capture may come from anywhere: nothing in it may point outside its own folder, by dots or by links.
        if not path.is_relative_to(folder) or path == folder:
            raise self.fail(where + "path", f"{name!r} points outside the capture's folder")
        if not there:
            raise self.fail(where + "path", f"{name!r} is not a file in the capture's folder")
        return LevelFile(path, table, self.whole(entry, "rank", where))

    def processes(self, data: dict[str, Any]) -> tuple[Process, ...]:
        processes = []
        for number, entry in enumerate(self.tables(data, "process")):
            where = f"process[{number}]."
            self.only(entry, {"pid", "rank", "name"}, where)
            pid = entry.get("pid")
            if not isinstance(pid, (str, int)) or isinstance(pid, bool):
                raise self.fail(where + "pid", "must be text or a whole number")
            name = self.text(entry, "name", where=where)
            processes.append(Process(number, str(pid), self.whole(entry, "rank", where), name))
        return tuple(processes) or (Process(0, "unknown"),)

    def facts(self, part: str, table: dict[str, Any], prefix: str = "") -> list[Fact]:
        facts = []
        for key, value in table.items():
            name = f"{prefix}{key}"
            if isinstance(value, dict):
                facts += self.facts(part, value, f"{name}.")
            elif isinstance(value, list):
                facts.append(Fact(part, name, ", ".join(map(str, value))))
            elif isinstance(value, bool):
                facts.append(Fact(part, name, "yes" if value else "no"))
            else:
                facts.append(Fact(part, name, str(value)))
        return facts
