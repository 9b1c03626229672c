"""A file's bytes, decompressed block by block, and what its first bytes look like."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from akvsite.errors import BadInput

GZIP = b"\x1f\x8b"
BLOCK = 1 << 20
HEAD = 1 << 16


class Blocks:
    """The decompressed bytes of a file, in blocks of at most ``size``; ``cut`` tells afterwards what was
    wrong.

    Compression is told by the magic number, never by the name. Members of a gzip file follow each other; what
    follows the last member and is no member is ignored, as gzip does. No block is larger than ``size``,
    whatever the ratio.
    """

    def __init__(self, path: Path, size: int = BLOCK) -> None:
        self.path = path
        self.size = size
        #: Why the bytes stop before their end: None where they do not.
        self.cut: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                block = file.read(self.size)
                if not block.startswith(GZIP):
                    while block:
                        yield block
                        block = file.read(self.size)
                    return
                yield from self._inflate(iter(lambda: file.read(self.size), b""), block)
        except OSError as error:
            raise BadInput(self.path.name, error.strerror or str(error)) from error

    def _inflate(self, blocks: Iterator[bytes], block: bytes) -> Iterator[bytes]:
        member = zlib.decompressobj(wbits=31)
        while block or (block := next(blocks, b"")):
            before = member.copy()
            try:
                data = member.decompress(block, self.size)
            except zlib.error as error:
                yield from self._salvage(before, block)
                self.cut = f"gzip stream is damaged: {str(error).splitlines()[0]}"
                return
            if data:
                yield data
            block = member.unconsumed_tail
            if member.eof:
                block = member.unused_data.lstrip(b"\0")
                while len(block) < len(GZIP):
                    following = next(blocks, b"")
                    if not following:
                        return
                    block = (block + following).lstrip(b"\0")
                if not block.startswith(GZIP):
                    return
                member = zlib.decompressobj(wbits=31)
        # What the last bytes hold, however few, comes out before the end is called a cut.
        if rest := member.flush():
            yield rest
        self.cut = "gzip stream ends before its end mark"

    def _salvage(self, member: zlib._Decompress, block: bytes) -> Iterator[bytes]:
        """What can be had of a block that holds a fault: everything before the fault, byte by byte."""
        had = bytearray()
        for at in range(len(block)):
            try:
                had += member.decompress(block[at : at + 1])
            except zlib.error:
                break
            if len(had) >= self.size:
                yield bytes(had)
                had.clear()
        if had:
            yield bytes(had)


@dataclass(frozen=True)
class Head:
    """The first bytes of a file, decompressed; ``said`` describes them for an error message."""

    data: bytes
    size: int
    compressed: bool

    @property
    def said(self) -> str:
        kind = "gzip" if self.compressed else "not compressed"
        first = self.data[:16].decode("latin-1").encode("unicode_escape").decode("ascii")
        keys = re.findall(rb'"((?:[^"\\\x00-\x1f]|\\.){1,40})"\s*:', self.data[:4096])[:5]
        looks = ""
        if self.data.lstrip()[:1] in (b"{", b"["):
            names = ", ".join(k.decode("utf-8", "backslashreplace") for k in keys)
            looks = f", looks like JSON with keys {names}" if keys else ", looks like JSON"
        return f'{self.size} bytes, {kind}, begins with "{first}"{looks}'


def read_head(path: Path, size: int = HEAD) -> Head:
    """The first ``size`` bytes of ``path``, decompressed, and the size of the file as it lies there."""
    try:
        on_disk = path.stat().st_size
        with path.open("rb") as file:
            compressed = file.read(2) == GZIP
    except OSError as error:
        raise BadInput(path.name, error.strerror or str(error)) from error
    data = bytearray()
    for block in Blocks(path, size):
        data += block
        if len(data) >= size:
            break
    return Head(bytes(data[:size]), on_disk, compressed)
