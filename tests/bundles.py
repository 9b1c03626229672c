"""Small capture folders for tests, and the whole of a store as text that can be compared."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from akvsite import ingest
from akvsite.conform import captured_columns
from akvsite.store import Store
from akvsite.tables import TABLES

#: What a statement of speed takes beside level off and a proof host, as TOML: the head of a capture.toml, and its tables.
COMPLETE_TOP = 'engine = "toy"\ntiming_events = "off"\nwarm_up_steps = 0'
COMPLETE = """
[host.facts]
cpus = 8
[contract]
workload = "decode"
output_hash = "sha256 aa"
[software]
torch = "2.11.0"
[device.gpu_0]
name = "Card"
[load.before]
load_1_min = 0.1
governor = "performance"
[load.before.device]
other_processes = 0
"""

Rows = Iterable[Mapping[str, Any]] | pa.Table


def arrow(table: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows with the types of their columns; a column that no row has is left out, and none where there is no row."""
    rows = list(rows)
    names = {name for row in rows for name in row}
    if not rows:
        names = {c.name for c in captured_columns(TABLES[table])}
    fields = [
        pa.field(c.name, pa.uint64() if c.unsigned else c.arrow_type)
        for c in captured_columns(TABLES[table])
        if c.name in names
    ]
    if "process" in names:
        fields.append(pa.field("process", pa.int64()))
    assert {f.name for f in fields} == names
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


def write_rows(path: Path, rows: pa.Table) -> None:
    if path.suffix == ".arrow":
        with pa.ipc.new_file(str(path), rows.schema) as writer:
            writer.write_table(rows)
    else:
        pq.write_table(rows, path)


def write_capture(
    folder: Path,
    tables: Mapping[str, Rows],
    *,
    level: str = "off",
    host: str | None = "bench",
    role: str = "dev",
    top: str = "",
    more: str = "",
    ending: str = ".parquet",
) -> Path:
    """A capture folder named like its run, one level file a table. ``top`` and ``more`` are TOML for both ends."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["format = 1", f'name = "{folder.name}"', f'level = "{level}"']
    lines += [top, *([f'[host]\nname = "{host}"\nrole = "{role}"'] if host else [])]
    for table, rows in tables.items():
        path = folder / f"{table}{ending}"
        write_rows(path, rows if isinstance(rows, pa.Table) else arrow(table, rows))
        lines.append(f'[[file]]\npath = "{path.name}"\ntable = "{table}"')
    (folder / "capture.toml").write_text("\n".join([*lines, more]) + "\n", encoding="utf-8")
    return folder


def steps(count: int = 3, length: int = 10, zero: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Decode steps of ``length`` ns, one after the other, the first at ``zero``."""
    return [
        {
            "name": f"step.{i}",
            "start_ns": zero + i * length,
            "end_ns": zero + (i + 1) * length,
            "number": i,
            "kind": "decode",
            "source": "engine counter",
            "warm_up": 0,
            **more,
        }
        for i in range(count)
    ]


def call(
    start: int, end: int, correlation: int | None, name: str = "cudaLaunchKernel", **more: Any
) -> dict[str, Any]:
    kind = "copy" if "Memcpy" in name else "launch"
    row = {"name": name, "start_ns": start, "end_ns": end, "thread": "1", "source": "vendor", "kind": kind}
    return {**row, "correlation": correlation, **more}


def interval(
    start: int, end: int, correlation: int | None, name: str = "gemm", **more: Any
) -> dict[str, Any]:
    row = {"name": name, "start_ns": start, "end_ns": end, "kind": "kernel", "device": "0", "queue": "7"}
    return {**row, "correlation": correlation, **more}


@cache
def _empty_store() -> bytes:
    """A store with no run in it: it is made once, since its tables and views take longer than most captures here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "empty.db")
        with Store.open(path) as opened:
            ingest.install_views(opened)
        return path.read_bytes()


def read_in(store: Path, *paths: Path, run: str | None = None, replace: bool = False) -> list[ingest.Outcome]:
    """Ingest, as the command does."""
    if not store.exists():
        store.write_bytes(_empty_store())
    with Store.open(store) as opened:
        ingest.install_views(opened)
        return list(ingest.ingest(opened, ingest.plan(paths, run), replace=replace))


def dump(store: Path) -> str:
    """Every row of every table, in a fixed order; what a clock or the planner wrote is left out."""
    with Store.read(store) as opened:
        return "\n".join(
            f"{name} {json.dumps(row)}"
            for name, table in TABLES.items()
            for row in opened.rows(f"SELECT * FROM {name} ORDER BY {table.key}")
        )


def ask(store: Path, sql: str, *parameters: Any) -> list[dict[str, Any]]:
    with Store.read(store) as opened:
        return opened.rows(sql, parameters)
