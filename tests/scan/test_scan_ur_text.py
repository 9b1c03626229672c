"""Text logs of the Unified Runtime, with both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from akvsite import scan
from akvsite.scan import TextCounts
from akvsite.scan._ur_text import MOST_LINE, MOST_OPEN


@pytest.fixture
def read(engine: str, tmp_path: Path) -> Any:
    def read(text: bytes | str, rows: int = 1000) -> tuple[list[dict[str, Any]], TextCounts]:
        path = tmp_path / "trace.txt"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with scan.read_ur_text(path, engine) as log:
            assert log.engine == engine
            return [row for batch in log.batches(rows) for row in batch.to_pylist()], log.counts

    return read


def short(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["line"], row["name"], row["depth"], row["result"], row["returned"]) for row in rows]


TRACE = """\
Loading the model
   ---> urAdapterGet
   <--- urAdapterGet(.NumEntries = 0, .phAdapters = nullptr, .pNumAdapters = 0x7ffc (1)) -> UR_RESULT_SUCCESS;
   ---> urEventWait
   ---> urUSMFree
   <--- urUSMFree(.hContext = 0x55, .pMem = 0x56) -> UR_RESULT_SUCCESS;
tokens:    ---> urKernelCreate
   <--- urKernelCreate(.pKernelName = 0x1 (f() -> int)) -> UR_RESULT_ERROR_INVALID_KERNEL_NAME;

   <--- urQueueFinish(.hQueue = 0x77) -> UR_RESULT_SUCCESS;
"""


def test_the_tracing_layer(read: Any) -> None:
    rows, counts = read(TRACE)
    assert short(rows) == [
        (3, "urAdapterGet", 0, "UR_RESULT_SUCCESS", True),
        (6, "urUSMFree", 1, "UR_RESULT_SUCCESS", True),
        (8, "urKernelCreate", 1, "UR_RESULT_ERROR_INVALID_KERNEL_NAME", True),
        (10, "urQueueFinish", 1, "UR_RESULT_SUCCESS", True),
        (4, "urEventWait", 0, None, False),
    ]
    assert rows[0]["params"] == ".NumEntries = 0, .phAdapters = nullptr, .pNumAdapters = 0x7ffc (1)"
    assert rows[2]["params"] == ".pKernelName = 0x1 (f() -> int)"
    assert {row["duration_ns"] for row in rows} == {None}
    assert counts == TextCounts(lines=10, other=2, too_long=0, mixed=1)


def test_urtrace_with_begins_and_durations(read: Any) -> None:
    rows, counts = read(
        "begin(1) - urA(.x = 1);\nbegin(2) - urA(.x = 2);\n"
        "end(1) - urA(.x = 1) -> UR_RESULT_SUCCESS; (123ns)\n"
        "urB() -> UR_RESULT_SUCCESS; (1.5us)\nurB() -> UR_RESULT_SUCCESS; (1.23457e+06ms)\n"
        "urB() -> UR_RESULT_SUCCESS; (2s)\nurB() -> UR_RESULT_SUCCESS; (1h)\nurB() -> UR_RESULT_SUCCESS;\n"
    )
    # By their ids, not by which began last.
    assert [(row["line"], row["params"], row["returned"]) for row in rows if row["name"] == "urA"] == [
        (3, ".x = 1", True),
        (2, ".x = 2", False),
    ]
    assert [row["duration_ns"] for row in rows if row["returned"]] == [
        123, 1_500, 1_234_570_000_000, 2_000_000_000, None, None,
    ]  # fmt: skip
    assert counts == TextCounts(lines=8)


@pytest.mark.parametrize(
    "line",
    [
        "urgent(1) -> 2;", "urA(1)", "the ---> urA came", "x---> urA", "<--- urA", "---> urA and more", "<--- ura()",
        "begin(x) - urA();", "begin(123456789012345678901) - urA();", "end(1) urA();", "", "\tbegin(1) - urA();",
    ],
)  # fmt: skip
def test_lines_of_the_application(read: Any, line: str) -> None:
    rows, counts = read(line + "\n")
    assert rows == []
    assert counts == TextCounts(lines=1, other=1)


def test_a_return_that_is_cut(read: Any) -> None:
    rows, counts = read("   ---> urA\n   <--- urA(.log = two\nlines) -> UR_RESULT_SUCCESS;\n   ---> urB")
    assert short(rows) == [(2, "urA", 0, None, True), (4, "urB", 0, None, False)]
    assert rows[0]["params"] == ".log = two"
    assert counts.other == 1


def test_text_that_is_no_utf8(read: Any) -> None:
    rows, _ = read(b"urA(\xff \\x41 \xc3\xa9 \xe2\x82) -> R\xfe;\n")
    assert rows[0]["params"] == "\\xff \\x5cx41 é \\xe2\\x82"
    assert rows[0]["result"] == "R\\xfe"


def test_lines_have_a_longest(read: Any) -> None:
    fits = b"urA(" + b"x" * (MOST_LINE - 10) + b") -> R"
    rows, counts = read(b"\n".join([fits, fits + b"x", b"y" * (3 << 20), b"urB() -> R", b"z" * (2 << 20)]))
    assert [(row["line"], len(row["params"])) for row in rows] == [(1, MOST_LINE - 10), (4, 0)]
    assert counts == TextCounts(lines=5, too_long=3)


def test_calls_that_never_return_are_given_up_when_there_are_many(read: Any) -> None:
    rows, _ = read("   ---> urA\n" * (MOST_OPEN + 2) + "   <--- urA() -> R;\n", rows=1)
    assert len(rows) == MOST_OPEN + 2
    assert [row["line"] for row in rows[:3]] == [1, 2, MOST_OPEN + 3]
    assert [row["depth"] for row in rows[:3]] == [0, 0, MOST_OPEN - 1]


def test_batches_end_where_they_are_full(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("urA() -> R;\n" * 7)
    with scan.read_ur_text(path, engine) as log:
        assert [batch.num_rows for batch in log.batches(3)] == [3, 3, 1]
        assert log.table().num_rows == 7
        with pytest.raises(ValueError, match="rows, not 0"):
            log.batches(0)
    path.write_text("")
    with scan.read_ur_text(path, engine) as log:
        assert (log.table().num_rows, log.counts) == (0, TextCounts())
