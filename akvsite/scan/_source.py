"""Files as the scanner reads them: by position, and never through a mapping.

A file may still be written, grow, or be cut while it is read. A mapping of a file that is cut ends the process with
SIGBUS; a read of it comes back short.
"""

from __future__ import annotations

import os
import stat
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from akvsite.errors import BadInput

PIECE = 1 << 20
#: Bytes that a compressed file may hold: far above the recorder's cap, and below what a crafted one could ask for.
MOST_UNPACKED = 64 << 30


def open_plain(path: Path) -> IO[bytes]:
    """The file, unbuffered; one that is compressed is unpacked into a nameless temporary file first.

    Raises ``BadInput`` where it is no regular file, cannot be read, or is no sound gzip stream.
    """
    try:
        # Before it is opened: to open a pipe would wait for its writer.
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(path, "is no regular file")
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise BadInput(path, error.strerror or str(error)) from error
    if os.pread(file.fileno(), 2, 0) != b"\x1f\x8b":
        return file
    with file:
        return _unpack(path, file)


def _unpack(path: Path, packed: IO[bytes]) -> IO[bytes]:
    plain = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (the caller closes it)
    size = 0
    try:
        for piece in _unpacked(path, packed):
            size += len(piece)
            if size > MOST_UNPACKED:
                raise BadInput(path, f"holds more than {MOST_UNPACKED:,} bytes once unpacked")
            # What the recorder set aside and never used is zeros: it is stepped over and takes no room on the disk.
            if piece.count(0) == len(piece):
                plain.seek(len(piece), os.SEEK_CUR)
            else:
                plain.write(piece)
        plain.truncate(size)
    except BaseException:
        plain.close()
        raise
    return plain


def _unpacked(path: Path, packed: IO[bytes]) -> Iterator[bytes]:
    """Pieces of bounded size; members that follow one another are read as one, and an end that is cut off is an end."""
    inflate = zlib.decompressobj(wbits=31)
    fed = b""
    while fed := fed or packed.read(PIECE):
        try:
            piece = inflate.decompress(fed, PIECE)
        except zlib.error as error:
            raise BadInput(path, f"no sound gzip stream: {error}") from error
        if piece:
            yield piece
        if inflate.eof:
            fed = inflate.unused_data.lstrip(b"\0")
            inflate = zlib.decompressobj(wbits=31)
        else:
            fed = inflate.unconsumed_tail
