"""What the makers of captures share: a capture.toml and small, repeatable Parquet files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "captures"

Facts = Mapping[str, Any]


def write_table(path: Path, columns: Mapping[str, pa.Array]) -> None:
    """Times grow by about the same amount from row to row: kept as differences, 1,700 steps are a few KB."""
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
    folder: Path, head: Facts, tables: Facts, arrays: Mapping[str, Sequence[Facts]]
) -> None:
    """Write ``capture.toml``: first the plain keys, then ``[tables]``, then ``[[arrays]]``."""
    lines = [f"{key} = {_toml(value)}" for key, value in {"format": 1, **head}.items()]
    for name, facts in tables.items():
        lines += _section(name, facts)
    for name, rows in arrays.items():
        for row in rows:
            lines += ["", f"[[{name}]]", *(f"{key} = {_toml(value)}" for key, value in row.items())]
    (folder / "capture.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _section(name: str, facts: Facts) -> list[str]:
    plain = {k: v for k, v in facts.items() if not isinstance(v, Mapping)}
    lines = ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in plain.items())] if plain else []
    for key, value in facts.items():
        if isinstance(value, Mapping):
            lines += _section(f"{name}.{key}", value)
    return lines


def _toml(value: str | int | float) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    # A TOML basic string is a JSON string, for text without control characters.
    return json.dumps(value, ensure_ascii=False)
