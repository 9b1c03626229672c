"""A folder of Parquet files, one for each kind of rows: times and ids are int64, and what the run is stands in each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from akvsite.exports._folder import write_about
from akvsite.exports._rows import ROWS, TEXT, Source, columns, described
from akvsite.wording import number_of

ENDING = "-parquet"
ABOUT = "a folder of Parquet files, one for each kind of rows"
NEXT = "its about.json says what each column holds; any reader of Parquet opens the rest"


def write(source: Source, out: Path, progress: Callable[[str], None]) -> dict[str, int]:
    """Fill the folder ``out``, which does not exist yet; rows by file. Each file's schema has ``akvsite`` in its metadata."""
    from pyarrow.parquet import ParquetWriter

    out.mkdir()
    written = {}
    for kind in ROWS:
        told = described([kind])[kind.name]
        schema = pa.schema(
            [
                pa.field(name, pa.string() if name in TEXT else pa.int64(), metadata={"about": told[name]})
                for name in columns(kind)
            ],
            metadata={"akvsite": json.dumps(source.about)},
        )
        count = 0
        with ParquetWriter(out / f"{kind.name}.parquet", schema, compression="zstd") as writer:
            for batch in source.rows(kind):
                arrays = [
                    pa.array(values, field.type)
                    for values, field in zip(zip(*batch, strict=True), schema, strict=True)
                ]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
                count += len(batch)
                progress(f"{kind.name}: {number_of(count, 'row')}")
        written[kind.name] = count
    write_about(source, out, written)
    return written
