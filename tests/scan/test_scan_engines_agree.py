"""Both engines give the same bytes: Arrow IPC streams are compared, of made files, damaged ones and kept findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import akvlogs
import pyarrow as pa
import pytest
from akvlogs import AkvLog
from hypothesis import given, settings
from hypothesis import strategies as st

from akvsite import scan
from akvsite.errors import BadInput
from akvsite.scan._engines import installed

pytestmark = pytest.mark.skipif("rust" not in installed(), reason="the rust engine is not installed")
KEPT = Path(__file__).parent / "kept"


def ipc(batches: Any, schema: pa.Schema) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        for batch in batches:
            batch.validate(full=True)
            stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def akvlog_by(engine: str, path: Path, rows: int) -> list[Any]:
    """Everything that an engine gives of a file; of one that is refused, why."""
    try:
        with scan.open_log(path, engine) as log:
            assert log.engine == engine
            pieces = list(log.pieces(rows=rows))
            tables = {
                table: ipc([piece[table] for piece in pieces if table in piece], scan.TABLES[table])
                for table in scan.TABLES
            }
            tally = log.tally()
            assert tally.reserved == (
                sum(tally.present.values()) + tally.holes + tally.overwritten + tally.lost + tally.missing
            )
            return [log.header, log.names.to_pydict(), log.counts.to_pydict(), tally, tables]
    except BadInput as refused:
        return [str(refused)]


def text_by(engine: str, path: Path, rows: int) -> list[Any]:
    try:
        with scan.read_ur_text(path, engine) as log:
            assert log.engine == engine
            stream = ipc(log.batches(rows), log.table().schema)
            return [stream, log.counts]
    except BadInput as refused:
        return [str(refused)]


def same(by: Any, path: Path, rows: int) -> list[Any]:
    python, rust = by("python", path, rows), by("rust", path, rows)
    assert python == rust
    return list(rust)


RECORDS = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 5, 6, 7, 16, 63, 64, 255]),
        st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5) | st.just(1 | 6 << 16), max_size=7),
        st.integers(0, 255),
        st.integers(0, 65535),
    ),
    max_size=30,
)


@settings(max_examples=60)
@given(
    records=RECORDS, wraps=st.booleans(), first=st.sampled_from([0, 5, 2**32 - 7]), rows=st.sampled_from([5, 4096]),
    cut=st.integers(0, 400), reserved=st.integers(-5, 5), closed=st.booleans(),
)  # fmt: skip
def test_made_files(
    tmp_path_factory: pytest.TempPathFactory,
    records: Any,
    wraps: bool,
    first: int,
    rows: int,
    cut: int,
    reserved: int,
    closed: bool,
) -> None:
    log = AkvLog(
        names=["a", b"b\xff"], wraps=wraps, capacity=16 if wraps else 4096, first_index=first if wraps else 0
    )
    for kind, words, flags, name in records:
        log.add(kind, words, flags=flags, name=name)
    log.header["reserved"] = max(0, log.first_index + len(records) + reserved)
    path = tmp_path_factory.getbasetemp() / "made.akvlog"
    log.write(path, cut=len(log.build()) - cut)
    same(akvlog_by, path, rows)


def test_blocks_and_batches_of_a_longer_file(tmp_path: Path) -> None:
    """Continuations lie across every border inside the engines, of 256, 4,096 and 65,536 records."""
    log = AkvLog(capacity=1 << 18)
    for number in range(14_000):
        log.call(number % 3, enter=number, exit=number + 1, open=number % 50 == 0, waits=range(number % 40))
        if number % 9 == 0:
            log.device(number, 1)
        if number % 31 == 0:
            log.hole()
    path = log.write(tmp_path / "long.akvlog")
    _, _, _, tally, _ = same(akvlog_by, path, scan.ROWS)
    assert tally.strays == 0
    assert tally.reserved > scan.ROWS
    same(akvlog_by, path, 1000)


def test_columns_of_the_rust_engine_are_not_copied(tmp_path: Path) -> None:
    """Its batches have the schema already, so that they are taken as they are."""
    import akvscan

    log = AkvLog()
    log.call(0, enter=1, exit=2, waits=[3])
    log.device(0, 1)
    log.object(1, 2)
    log.clock(1, 2, device=3, device_time=4)
    log.mark(16, 0, 1, 2)
    with log.write(tmp_path / "x.akvlog").open("rb") as file:
        at = len(log.build()) - 64 * len(log.records)
        named = [(name, schema.names) for name, schema in scan.TABLES.items()]
        found = akvscan.batches(file.fileno(), (at, log.capacity, None), (0, len(log.records), 0), named)
    for columns, schema in zip(found, scan.TABLES.values(), strict=True):
        assert pa.record_batch(columns).schema.equals(schema)


@settings(max_examples=80)
@given(
    lines=st.lists(
        st.sampled_from(
            [
                b"   ---> urA", b"   <--- urA(.x = 1) -> UR_RESULT_SUCCESS;", b"   ---> urB", b"<--- urB(\xff \\x41) -> ",
                b"out:   ---> urA", b"urC(a) -> b) -> UR_RESULT_SUCCESS; (12.5us)", b"begin(7) - urD(x);",
                b"end(7) - urD(x) -> R; (1e+30ns)", b"urgent (1) -> 2", b"", b"\r", b"<--- urA", b"---> ---> urZ",
            ]
        )
        | st.binary(max_size=40),
        max_size=30,
    ),
    rows=st.sampled_from([1, 3, 1000]),
)  # fmt: skip
def test_made_texts(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], rows: int) -> None:
    path = tmp_path_factory.getbasetemp() / "made.txt"
    path.write_bytes(b"\n".join(lines))
    same(text_by, path, rows)


@settings(max_examples=100)
@given(
    text=st.from_regex(rb"\([0-9]{1,19}(\.[0-9]{1,19})?(e[+-]?[0-9]{1,4})?(ns|us|ms|s|m)\)", fullmatch=True)
)
def test_durations(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "durations.txt"
    path.write_bytes(b"urA() -> R; " + text)
    same(text_by, path, 10)


@pytest.mark.parametrize("path", sorted(KEPT.glob("*")), ids=lambda path: path.name)
def test_kept_inputs(path: Path) -> None:
    """Inputs that a fuzzer found, or that were made to be as bad: see tests/fuzz/README.md."""
    same(text_by, path, 7)
    same(akvlog_by, path, 7)


def test_kept_inputs_are_there() -> None:
    assert any(KEPT.glob("*.akvlog"))
    assert any(KEPT.glob("*.txt"))
    assert akvlogs.MAGIC in {path.read_bytes()[:8] for path in KEPT.glob("*.akvlog")}
