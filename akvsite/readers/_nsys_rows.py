"""Rows of an Nsight Systems export as rows of the level tables, column by column.

Processes and threads are told from the file's global ids, in which a pid is 24 bits wide and a tid as well; what
stands above them (the virtual machine, the host) keeps equal pids apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from akvsite.calls import kind_of_call
from akvsite.conform import captured_columns
from akvsite.escape import escape
from akvsite.readers._nsys_file import TEXT_BYTES, SqliteFile
from akvsite.readers._redact import home_folders_hidden
from akvsite.readers._step_names import layer_of, step_of
from akvsite.tables import TABLES

NOT_UTF8 = "bytes that are not UTF-8 escaped as \\xNN"
NOT_WHOLE = "values that are no whole number left out"
CUT = f"texts cut after {TEXT_BYTES} bytes"
NO_STRING = "names that are not among the file's strings"

#: Bytes of the strings that are kept at hand.
_KEPT_STRINGS = 64 << 20
_BITS = 24
_MASK = (1 << _BITS) - 1
NO_PROCESS = -(2**63)


class Strings:
    """Texts of ``StringIds`` by their ids, read as they are needed."""

    def __init__(self, file: SqliteFile, mended: Counter[str]) -> None:
        self._file = file
        self._mended = mended
        self._known: dict[int, str] = {}
        self._bytes = 0

    def of(self, ids: pa.Array) -> pa.Array:
        """The texts of ``ids`` (n,), int64; NULL stays NULL, and a string that is not there says so."""
        encoded = ids.dictionary_encode()
        wanted: list[int] = encoded.dictionary.to_pylist()
        if self._bytes > _KEPT_STRINGS:
            self._known, self._bytes = {}, 0
        new = [i for i in wanted if i not in self._known]
        if new and "StringIds" in self._file.tables:
            for key, raw in self._file.numbered("StringIds", new).items():
                self._known[key] = text = self.clean(raw)
                self._bytes += len(text)
        for i in new:
            if i not in self._known:
                self._mended[NO_STRING] += 1
                self._known[i] = f"string {i}"
        return pa.array([self._known[i] for i in wanted], pa.string()).take(encoded.indices)

    def clean(self, raw: bytes) -> str:
        if len(raw) < TEXT_BYTES and raw.isascii() and b"\\" not in raw:
            return raw.decode("ascii")
        text = escape(raw)
        if not raw.isascii() and text.encode("utf-8") != raw:
            self._mended[NOT_UTF8] += 1
        if len(raw) == TEXT_BYTES:
            self._mended[CUT] += 1
        return text

    def texts(self, raws: list[bytes | None]) -> pa.Array:
        """Texts of the rows themselves (n,), cleaned once each."""
        encoded = pa.array(raws, pa.binary()).dictionary_encode()
        clean = [self.clean(raw) for raw in encoded.dictionary.to_pylist()]
        return pa.array(clean, pa.string()).take(encoded.indices)


class Processes:
    """Global ids -> the reader's own numbers of the processes."""

    def __init__(self) -> None:
        self.keys: list[int] = []
        self._numbers: dict[int, int] = {}

    def of(self, ids: pa.Array) -> pa.Array:
        """The number of the process of each global id (n,), int64."""
        known = np.asarray(pc.is_valid(ids).to_numpy(zero_copy_only=False), bool)
        keys = pc.fill_null(ids, 0).to_numpy() >> _BITS
        keys = np.where(known, keys, NO_PROCESS)
        unique, places = np.unique(keys, return_inverse=True)
        numbers = np.empty(len(unique), np.int64)
        for at, key in enumerate(unique.tolist()):
            if key not in self._numbers:
                self._numbers[key] = len(self.keys)
                self.keys.append(key)
            numbers[at] = self._numbers[key]
        return pa.array(numbers[places])

    @staticmethod
    def pid(key: int) -> str:
        return "unknown" if key == NO_PROCESS else str(key & _MASK)


@dataclass
class Columns:
    """One batch: whole numbers as int64 (n,) with NULL for what is none, and texts as they are."""

    whole: dict[str, pa.Array]
    texts: dict[str, list[bytes | None]]
    length: int

    def __getitem__(self, name: str) -> pa.Array:
        return self.whole[name]


@dataclass
class Making:
    """What the makers of rows share over one file."""

    strings: Strings
    processes: Processes
    words: dict[str, dict[int, str]] = field(default_factory=dict)

    def word(self, table: str, numbers: pa.Array, unknown: str) -> pa.Array:
        """The label of each number (n,) in one of the file's ``ENUM_`` tables, or ``unknown`` and the number."""
        labels = self.words.get(table, {})
        return each(numbers, lambda n: labels.get(n, f"{unknown} {n}"))


def each(values: pa.Array, word: Callable[[Any], Any], kind: pa.DataType | None = None) -> pa.Array:
    """``word`` of each value (n,), called once for each that differs; NULL stays NULL."""
    encoded = values.dictionary_encode()
    found = [word(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(found, kind or pa.string()).take(encoded.indices)


def or_else(values: pa.Array, text: str) -> pa.Array:
    return pc.fill_null(values, text)


def _texts(values: pa.Array, unknown: str = "unknown") -> pa.Array:
    return or_else(each(values, str), unknown)


def _threads(ids: pa.Array) -> pa.Array:
    return each(ids, lambda x: str(x & _MASK))


def _joined(batch: Columns, *names: str) -> pa.Array:
    """``132x1x1``; NULL where one of them is."""
    return pc.binary_join_element_wise(*(batch[name].cast(pa.string()) for name in names), "x")


def _not_zero(values: pa.Array) -> pa.Array:
    # CUPTI writes 0 where no graph launched it.
    return pc.if_else(pc.equal(values, 0), pa.scalar(None, pa.int64()), values)


#: Which way a copy goes, by CUpti's numbers; an array lies on the device.
_WAY = {1: "HtoD", 2: "DtoH", 3: "HtoD", 4: "DtoH", 5: "DtoD", 6: "DtoD", 7: "DtoD", 8: "DtoD", 9: "HtoH", 10: "PtoP",
        11: "HtoD", 12: "DtoH", 13: "DtoD"}  # fmt: skip
_MEMORY = {
    0: "Pageable",
    1: "Pinned",
    2: "Device",
    3: "Array",
    4: "Managed",
    5: "Device Static",
    6: "Managed Static",
}
#: Streams that CUPTI writes where a synchronization is of no one stream.
_NO_STREAM = (2**32 - 1, 2**64 - 1, -1)


def kernels(making: Making, batch: Columns) -> dict[str, pa.Array]:
    strings = making.strings
    named = pc.coalesce(strings.of(batch["demangledName"]), strings.of(batch["shortName"]))
    shared = pc.add(batch["staticSharedMemory"], batch["dynamicSharedMemory"])
    return {
        **_on_device(batch, "kernel"),
        "name": or_else(named, "no name"),
        "grid": _joined(batch, "gridX", "gridY", "gridZ"),
        "block": _joined(batch, "blockX", "blockY", "blockZ"),
        "registers": batch["registersPerThread"],
        "shared_bytes": shared,
        "graph": _not_zero(batch["graphId"]),
        "graph_node": _not_zero(batch["graphNodeId"]),
    }


def copies(making: Making, batch: Columns) -> dict[str, pa.Array]:
    ways = each(batch["copyKind"], lambda n: _WAY.get(n))
    source, target = (
        or_else(each(batch[name], lambda n: _MEMORY.get(n)), "unknown") for name in ("srcKind", "dstKind")
    )
    name = pc.binary_join_element_wise(
        "Memcpy ", or_else(ways, "of unknown direction"), " (", source, " -> ", target, ")", ""
    )
    return {
        **_on_device(batch, "copy"),
        "name": name,
        "direction": ways,
        "bytes": batch["bytes"],
        "graph_node": _not_zero(batch["graphNodeId"]),
    }


def fills(making: Making, batch: Columns) -> dict[str, pa.Array]:
    target = or_else(each(batch["memKind"], lambda n: _MEMORY.get(n)), "unknown")
    return {
        **_on_device(batch, "fill"),
        "name": pc.binary_join_element_wise("Memset (", target, ")", ""),
        "bytes": batch["bytes"],
        "graph_node": _not_zero(batch["graphNodeId"]),
    }


def waits(making: Making, batch: Columns) -> dict[str, pa.Array]:
    named = making.word("ENUM_CUPTI_SYNC_TYPE", batch["syncType"], "type")
    streams = each(batch["streamId"], lambda n: "no one stream" if n in _NO_STREAM else str(n))
    return {
        **_on_device(batch, "wait"),
        "queue": or_else(streams, "unknown"),
        "name": pc.binary_join_element_wise("Synchronization: ", or_else(named, "type unknown"), ""),
    }


def replays(making: Making, batch: Columns) -> dict[str, pa.Array]:
    named = pc.binary_join_element_wise("graph ", _texts(batch["graphId"]), ", whole replay", "")
    return {**_on_device(batch, "graph replay"), "name": named, "graph": batch["graphId"]}


def _on_device(batch: Columns, kind: str) -> dict[str, pa.Array]:
    return {
        "kind": pa.repeat(kind, batch.length),
        "device": _texts(batch["deviceId"]),
        "queue": _texts(batch["streamId"]),
        "correlation": batch["correlationId"],
    }


def calls(making: Making, batch: Columns) -> dict[str, pa.Array]:
    names = or_else(making.strings.of(batch["nameId"]), "no name")
    return {
        "name": names,
        "thread": _threads(batch["globalTid"]),
        "source": pa.repeat("vendor", batch.length),
        "kind": each(names, kind_of_call),
        "correlation": batch["correlationId"],
        "result": batch["returnValue"],
    }


def overheads(making: Making, batch: Columns) -> dict[str, pa.Array]:
    kinds = making.word("ENUM_CUPTI_OVERHEAD_TYPE", batch["overheadType"], "overhead of type")
    return {
        "name": or_else(pc.coalesce(making.strings.of(batch["nameId"]), kinds), "overhead"),
        "thread": _threads(batch["globalTid"]),
        "category": pa.repeat("overhead", batch.length),
    }


def ranges(making: Making, batch: Columns) -> dict[str, pa.Array]:
    given = making.strings.texts(batch.texts["text"])
    named = pc.coalesce(given, making.strings.of(batch["textId"]))
    # A range may have the path of a file in its name.
    names = or_else(each(named, lambda n: home_folders_hidden(n) if "/" in n or "\\" in n else n), "no name")
    layers = each(names, layer_of, pa.int64())
    categories = pc.if_else(pc.is_valid(layers), "layer", "annotation")
    return {"name": names, "thread": _threads(batch["globalTid"]), "category": categories, "layer": layers}


def steps_of(rows: pa.Table) -> pa.Table | None:
    """The rows of ``step`` that the names of these annotations (rows of ``level2_host``) make; None for none."""
    names = rows.column("name").combine_chunks()
    encoded = names.dictionary_encode()
    found = [step_of(name) for name in encoded.dictionary.to_pylist()]
    if not any(found):
        return None
    known = pa.array([step is not None for step in found]).take(encoded.indices)
    steps = [found[i] for i in encoded.indices.filter(known).to_pylist()]
    own = rows.select(["process", "name", "start_ns", "end_ns"]).filter(known)
    more = {
        "number": [step.number for step in steps if step],
        "kind": [step.kind for step in steps if step],
        "batch": [step.batch for step in steps if step],
        "source": [step.source for step in steps if step],
        "warm_up": [0] * len(steps),
    }
    return shaped("step", {**{name: own.column(name) for name in own.column_names}, **more}, own.num_rows)


def shaped(table: str, columns: dict[str, Any], length: int) -> pa.Table:
    """``columns`` with all columns of ``table`` that a capture fills, and ``process``."""
    fields = [("process", pa.int64()), *((c.name, c.arrow_type) for c in captured_columns(TABLES[table]))]
    arrays = []
    for name, kind in fields:
        values = columns.get(name)
        if values is None:
            values = pa.nulls(length, kind)
        arrays.append(values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind))
    return pa.table(arrays, schema=pa.schema(fields))


def batches(
    found: Iterator[list[tuple[Any, ...]]],
    whole: tuple[str, ...],
    texts: tuple[str, ...],
    mended: Counter[str],
) -> Iterator[tuple[Columns, dict[str, dict[int, bytes]]]]:
    """Each batch as columns, and by column and place what stood there and is no whole number."""
    for rows in found:
        columns = list(zip(*rows, strict=True))
        arrays: dict[str, pa.Array] = {}
        wrong: dict[str, dict[int, bytes]] = {}
        for name, values in zip(whole, columns, strict=False):
            # Arrow would take 1.5 for 1.
            if set(map(type, values)) <= {int, type(None)}:
                arrays[name] = pa.array(values, pa.int64())
            else:
                numbers = [_number(value) for value in values]
                wrong[name] = {
                    at: value if isinstance(value, bytes) else repr(value).encode()
                    for at, (value, number) in enumerate(zip(values, numbers, strict=True))
                    if value is not None and number is None
                }
                mended[NOT_WHOLE] += len(wrong[name])
                arrays[name] = pa.array(numbers, pa.int64())
        raw = {name: list(columns[len(whole) + at]) for at, name in enumerate(texts)}
        yield Columns(arrays, raw, len(rows)), wrong


def _number(value: Any) -> int | None:
    """A whole number that an int or a float says exactly.

    >>> _number(7), _number(7.0), _number(9.25e18), _number(b"text x")
    (7, 7, None, None)
    """
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= 2**53 else None
    return value if isinstance(value, int) else None
