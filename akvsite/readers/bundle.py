"""Level files of our own bundle: Parquet or Arrow IPC with the columns of one table of ``akvsite.tables``.

Anyone may write them. A bundle is a folder with a ``capture.toml`` (see ``akvsite.manifest``), which names each
level file and its table, so a level file on its own is not a capture.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from akvsite.errors import BadInput
from akvsite.reading import BATCH_ROWS, Counted, Ending, Part, Rows

_PARQUET = b"PAR1"
_ARROW = b"ARROW1"


class LevelFile:
    NAME = "level file"
    VERSION = 1
    ABOUT = "one level of our own bundle, Parquet or Arrow IPC; ingest its folder, which has a capture.toml"
    LEVEL = "off"
    EPOCH = False

    def sniff(self, head: bytes, path: Path) -> bool:
        return head.startswith((_PARQUET, _ARROW))

    def read(self, path: Path) -> Iterator[Part]:
        raise BadInput(
            path, "is a level file: ingest its folder, whose capture.toml names the table it belongs to"
        )


READER = LevelFile()


def read_level_file(path: Path, table: str) -> Iterator[Part]:
    """Rows of ``table`` from a Parquet or Arrow IPC file, in batches of bounded size.

    Raises ``BadInput`` where the file is neither, or damaged.
    """
    with path.open("rb") as file:
        head = file.read(8)
    count = 0
    last: int | None = None
    try:
        for batch in _batches(path, head):
            rows = pa.Table.from_batches([batch])
            last = max((t for t in (last, _latest(rows)) if t is not None), default=None)
            count += rows.num_rows
            yield Rows(table, rows)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise BadInput(path, f"cannot be read as a level file: {why}") from error
    yield Counted("row", table, count)
    yield Ending(last_ns=last)


def _latest(rows: pa.Table) -> int | None:
    """The last time that can be one: what lies beyond 2^63 - 1 goes to the quarantine."""
    latest = []
    for name in ("end_ns", "start_ns", "at_ns"):
        if rows.column_names.count(name) == 1 and pa.types.is_integer(rows.schema.field(name).type):
            times = rows.column(name)
            if pa.types.is_uint64(times.type):
                times = times.filter(pc.less(times, pa.scalar(2**63, pa.uint64())))
            latest.append(pc.max(times).as_py())
    return max((t for t in latest if t is not None), default=None)


def _batches(path: Path, head: bytes) -> Iterator[pa.RecordBatch]:
    """Batches of the file; at least one, without rows, so that its columns are looked at."""
    if head.startswith(_PARQUET):
        # Loaded here: it brings every file system that Arrow knows, which other formats need not wait for.
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as parquet:
            yield pa.RecordBatch.from_pylist([], schema=parquet.schema_arrow)
            yield from parquet.iter_batches(batch_size=BATCH_ROWS)
    elif head.startswith(_ARROW):
        with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                # Offsets and buffers come from the file: nothing may be read that they do not bound.
                batch.validate(full=True)
                yield batch
    else:
        raise BadInput(path, "is neither Parquet nor an Arrow IPC file")
