"""The Arrow schemas of what the scanner gives. Both engines fill these; the names of columns stand nowhere else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def _schema(**columns: Any) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()])


_U64, _U32, _U16, _U8, _I32 = pa.uint64(), pa.uint32(), pa.uint16(), pa.uint8(), pa.int32()
_WORDS = pa.list_(_U64)

#: ``what``: 1 name of a call, 2 of an object, 3 a library, 4 a note; ``offset`` counts from the start of the names.
NAMES = _schema(offset=_U64, what=_U16, id=_U16, cut=pa.bool_(), text=pa.string(), complete=pa.bool_())
COUNTS = _schema(id=_U16, count=_U64)

#: Tables of records. ``index`` is the absolute index; times are nanoseconds of CLOCK_MONOTONIC, those of a device in
#: nanoseconds of its own clock; 0 in a handle or a size means none.
TABLES: dict[str, pa.Schema] = {
    "calls": _schema(
        index=_U64, name=_U16, flags=_U8, open=pa.bool_(), thread=_U32, enter_ns=_U64, exit_ns=_U64, result=_I32,
        queue=_U64, event=_U64, object=_U64, bytes=_U64,
        waits=_WORDS, work=_WORDS, addresses=_WORDS, handles=_WORDS,
    ),
    "devices": _schema(
        index=_U64, call=_U64, event=_U64, thread=_U32, result=_I32, queued=_U64, submitted=_U64, start=_U64,
        end=_U64,
    ),
    "objects": _schema(index=_U64, at_ns=_U64, thread=_U32, what=_I32, handle=_U64, name_offset=_U64),
    "clocks": _schema(
        index=_U64, before_ns=_U64, after_ns=_U64, thread=_U32, result=_I32, device=_U64, device_time=_U64,
        host_time=_U64, resolution=_U64,
    ),
    "marks": _schema(
        index=_U64, kind=_U8, flags=_U8, name=_U16, thread=_U32, start_ns=_U64, end_ns=_U64, value=_I32,
        a=_U64, b=_U64, c=_U64, d=_U64,
    ),
}  # fmt: skip

#: One call of a Unified Runtime text log; ``line`` is the line that it was read from, counted from 1.
UR_TEXT = _schema(
    line=pa.int64(), name=pa.string(), depth=_I32, result=pa.string(), duration_ns=pa.int64(), params=pa.string(),
    returned=pa.bool_(),
)  # fmt: skip
