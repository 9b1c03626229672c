"""A Chrome trace, from its bytes to its parts: what the formats that are such traces share.

Everything in the file is read once, and the rows wait in the builder: what they need may stand after them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from akvsite.errors import BadInput
from akvsite.escape import escape
from akvsite.readers._chrome_events import Decoder
from akvsite.readers._chrome_json import CUT_SHORT, NO_JSON, Beside, Broken, Stream, Stretch
from akvsite.readers._chrome_rows import Builder
from akvsite.readers._chrome_values import LEAST, MOST
from akvsite.readers._head import Blocks
from akvsite.reading import BATCH_ROWS, Counted, Ending, Part, Rejected, Rows


class Reading:
    """One file; a format says what is beside the events, and what rows still need once all were seen."""

    #: Whether the process of each row is stated by the file.
    owned = False

    def __init__(self, path: Path, block: int, chunk: int, builder: Builder) -> None:
        self._path = path
        self._blocks = Blocks(path, block)
        self._stream = Stream(iter(self._blocks), chunk)
        self._decoder = Decoder()
        self._builder = builder

    def remember(self, part: Beside) -> bool:
        """Take what stands beside the events; whether it can be used."""
        return False

    def settle(self, table: str, rows: pa.Table) -> tuple[list[Rejected], pa.Table]:
        """``rows`` as they go out, and what of them cannot."""
        return [], rows

    def events(self) -> Iterator[Part]:
        """Everything in the file, once; rows wait in the builder."""
        anything = False
        for part in self._stream.parts(self._decoder.is_whole):
            if isinstance(part, Stretch):
                anything = True
                yield from self._builder.add(self._decoder.chunk(part))
            elif isinstance(part, Broken):
                if part.why == NO_JSON:
                    raise BadInput(self._path.name, f"not JSON: {part.why}")
                self._builder.count("no event", "quarantine")
                # What is broken may be one event or many; only one that is cut short has a number.
                number = f"event {self._decoder.events + 1}, " if part.why == CUT_SHORT else ""
                place = f"{number}byte {part.at}"
                yield Rejected(part.why, place, escape(part.raw))
            else:
                anything |= self.remember(part)
        self._builder.finish()
        if not anything and self._blocks.cut is not None and "damaged" in self._blocks.cut:
            raise BadInput(self._path.name, self._blocks.cut)

    def rows(self) -> Iterator[Part]:
        table = ""
        waiting: list[pa.Table] = []
        for name, rows in self._builder.held.replay():
            if name != table or sum(w.num_rows for w in waiting) + rows.num_rows > BATCH_ROWS:
                if waiting:
                    yield self._part(table, waiting)
                table, waiting = name, []
            rejected, rows = self.settle(name, rows)
            yield from rejected
            if rows.num_rows:
                waiting.append(rows)
        if waiting:
            yield self._part(table, waiting)

    def _part(self, table: str, waiting: list[pa.Table]) -> Rows:
        return Rows(table, pa.concat_tables(waiting), owned=self.owned)

    def counts(self) -> Iterator[Part]:
        for (what, fate), count in sorted(self._builder.counts.items()):
            if count:
                yield Counted(what, fate, count)

    def ending(self, later: int = 0) -> Ending:
        """``later`` is added to the last time, in ns."""
        last = self._builder.last
        if last is not None:
            last += later
        repaired = dict(self._decoder.mended + self._builder.mended)
        return Ending(
            truncated=self._stream.cut is not None or self._blocks.cut is not None,
            last_ns=last if last is not None and LEAST <= last <= MOST else None,
            repaired=repaired,
        )
