"""Fuzz both engines of the scanner at once: any input, no crash, no hang, and the same answer from both.

    python tests/fuzz/scan.py akvlog|text [CORPUS...] [-max_total_time=600] [any other flag of libFuzzer]

See README.md for what it needs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# The crate, built with coverage, takes libFuzzer's symbols from atheris.
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import atheris  # noqa: E402

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "scan"), str(TESTS.parent)]
with atheris.instrument_imports(include=["akvsite.scan", "akvscan"]):
    from test_scan_engines_agree import akvlog_by, same, text_by

#: Inputs are written over one file in memory.
SCRATCH = Path(tempfile.mkdtemp(dir="/dev/shm"), "input")


def akvlog(data: bytes) -> None:
    """The first byte says how the rest becomes a file: as it is, or as header fields and records of a sound one."""
    if not data:
        return
    how, data = data[0], data[1:]
    SCRATCH.write_bytes(data if how % 4 == 0 else around(how, data))
    # A few records a piece, so that calls continue across them; or all at once.
    same(akvlog_by, SCRATCH, (5, 4096)[how // 4 % 2])


def around(how: int, data: bytes) -> bytes:
    """A file whose records are the input, each with the commit word of its index unless the input forbids it.

    A fuzzer does not find the low half of index + 1 by chance, and nothing behind it is reached without.
    """
    from akvlogs import AkvLog

    capacity = 8 if how & 1 else 1 << 16
    reserved = int.from_bytes(data[:2], "little")
    log = AkvLog(names_bytes=64, wraps=bool(how & 1), capacity=capacity, header={"reserved": reserved})
    log.add_raw_name(data[2:66])
    body = data[66:]
    slots = [bytearray(body[at : at + 64].ljust(64, b"\0")) for at in range(0, len(body), 64)]
    oldest = max(0, reserved - capacity) if how & 1 else 0
    for slot, record in enumerate(slots):
        index = oldest + (slot - oldest) % capacity if how & 1 else slot
        if record[4] != 0xFF:
            record[4:8] = ((index + 1) & 0xFFFFFFFF).to_bytes(4, "little")
    return log.build() + b"".join(slots)


def text(data: bytes) -> None:
    if data:
        SCRATCH.write_bytes(data[1:])
        same(text_by, SCRATCH, 1 + data[0])


WAYS: dict[str, Callable[[bytes], None]] = {"akvlog": akvlog, "text": text}


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in WAYS:
        sys.exit(__doc__)
    way = WAYS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, way)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
