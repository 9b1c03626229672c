"""What every command prints with, and the options that many have."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from akvsite.errors import BadInput, visible

if TYPE_CHECKING:
    from akvsite.store import Store

StoreFile = Annotated[Path, typer.Option("--store", help="The SQLite file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
STORE = Path("akvsite.db")


def say(line: str = "") -> None:
    print(visible(line))


def tell(line: str) -> None:
    """A line beside the command's own output, which has standard output for itself."""
    print(f"akvsite: {visible(line)}", file=sys.stderr)


def progress(line: str) -> None:
    """One line that is written over, and only where a person looks on."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{visible(line)[:100]}", end="", file=sys.stderr, flush=True)


def clear() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def reading(path: Path) -> Store:
    """The store, open for reading, with the questions of this version whatever the store's own views are."""
    from akvsite import questions
    from akvsite.store import Store

    opened = Store.read(path)
    for statement in questions.statements(opened.connection):
        if statement.startswith("CREATE VIEW"):
            opened.connection.execute(statement.replace("CREATE VIEW", "CREATE TEMP VIEW", 1))
    return opened


def as_json(value: object) -> None:
    import json

    # Plain ASCII: what a capture put into a name stays an escape.
    print(json.dumps(_strict(value), indent=1, allow_nan=False, default=str))


def _strict(value: object) -> object:
    """What JSON has no word for: a number without a value is null, bytes are hexadecimal."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case bytes():
            return value.hex()
        case dict():
            return {str(k): _strict(v) for k, v in value.items()}
        case list() | tuple():
            return [_strict(v) for v in value]
    return value


def table(rows: list[dict[str, Any]]) -> None:
    """Rows as aligned columns; what a capture put into them cannot move the cursor."""
    if not rows:
        print("none")
        return
    names = list(rows[0])
    cells = [[visible("" if row[n] is None else row[n]) for n in names] for row in rows]
    widths = [min(60, max(len(n), *(len(line[i]) for line in cells))) for i, n in enumerate(names)]
    for line in [names, *cells]:
        print("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip())


def run_named(desk: Any, name: str) -> dict[str, Any]:
    """The row of ``run_list`` of a run that somebody named; raises ``BadInput`` where the store has none of that name."""
    rows = desk.ask("run_list", name=name)
    if not rows:
        raise BadInput(name, "no such run in the store; `akvsite runs` lists them")
    found: dict[str, Any] = rows[0]
    return found
