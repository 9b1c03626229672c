"""A bundle on disk: made beside its place, and there at once when it is whole."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from akvsite.errors import BadInput
from akvsite.manifest import FILE_NAME, FORMAT, RUN_NAME
from akvsite.record.clean import Facts, Value

if TYPE_CHECKING:
    import pyarrow as pa


class Bundle:
    """A folder of a name that nobody else has, filled in ``folder`` and moved to its place by ``publish``.

    Raises ``BadInput`` where the name is no name of a run or is taken, or where nothing can be written.
    """

    def __init__(self, out: Path, name: str) -> None:
        if not RUN_NAME.fullmatch(name):
            raise BadInput(
                "--name",
                f"{name!r}: lower-case letters, digits, '.', '_' and '-', 100 at most, no two dots in a row",
            )
        self.place = out / name
        #: Set once there is something that was recorded: from then on a failure leaves the folder as it is.
        self.keep = False
        self.folder = out / f".{name}.partial"
        if os.path.lexists(self.place):
            raise BadInput(self.place, "is there already; give another --name")
        try:
            out.mkdir(parents=True, exist_ok=True)
            self._lock = self._made()
        except OSError as error:
            raise BadInput(error.filename or out, f"cannot be written: {error.strerror}") from error

    def _made(self) -> int:
        try:
            self.folder.mkdir()
        except FileExistsError:
            if _is_locked(self.folder):
                raise BadInput(self.place, "is being made by another capture") from None
            raise BadInput(
                self.folder, "is what a capture that was killed left; move it away or give another --name"
            ) from None
        lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock

    def __enter__(self) -> Bundle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Without ``publish`` nothing stays, unless something was recorded."""
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)
        if self.keep and isinstance(error, OSError):
            why = f"the bundle could not be finished: {error.strerror}; what was recorded is in {self.folder}"
            raise BadInput(self.place, why) from error

    def publish(self) -> None:
        """Move the folder to its place. Raises ``BadInput`` where something came to be there meanwhile."""
        try:
            self.folder.rename(self.place)
            self.keep = True
        except OSError as error:
            raise BadInput(self.place, f"cannot be put in its place: {error.strerror}") from error


def _is_locked(folder: Path) -> bool:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def write_table(path: Path, columns: Mapping[str, pa.Array]) -> None:
    """A small, repeatable Parquet file: times are kept as differences, texts by number."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(dict(columns))
    integers = [f.name for f in table.schema if pa.types.is_integer(f.type)]
    texts = [f.name for f in table.schema if pa.types.is_string(f.type)]
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=texts,
        column_encoding=dict.fromkeys(integers, "DELTA_BINARY_PACKED"),
        write_statistics=False,
    )


def write_declaration(
    folder: Path, head: Facts, tables: Mapping[str, Facts], arrays: Mapping[str, Sequence[Facts]]
) -> None:
    """Write ``capture.toml``: first the plain keys, then ``[tables]``, then ``[[arrays]]``. What is None is left out."""
    lines = _plain({"format": FORMAT, **head})
    for name, facts in tables.items():
        lines += _section(name, facts)
    for name, rows in arrays.items():
        for row in rows:
            lines += ["", f"[[{name}]]", *_plain(row)]
    (folder / FILE_NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _section(name: str, facts: Facts) -> list[str]:
    plain = _plain(facts)
    lines = ["", f"[{name}]", *plain] if plain else []
    for key, value in facts.items():
        if isinstance(value, Mapping):
            lines += _section(f"{name}.{_key(key)}", value)
    return lines


def _plain(facts: Facts) -> list[str]:
    return [
        f"{_key(key)} = {_toml(value)}"
        for key, value in facts.items()
        if value is not None and not isinstance(value, Mapping)
    ]


def _key(key: str) -> str:
    return key if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key) else _toml(key)


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    # A TOML basic string is a JSON string, but for one control character that JSON lets through.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
