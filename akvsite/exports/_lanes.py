"""Slices on tracks: what overlaps without nesting goes to a further track, so that both are kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from akvsite.exports._packets import Packets, Value

Arguments = dict[str, Value | None]


@dataclass
class Lanes:
    """The tracks of one thread, queue or request. Slices come in the order of their starts, the longer of two first.

    A viewer draws the slices of a track inside each other, by time, and a slice that outlasts the one around it is lost or
    cut there. ``rank`` is the first track's place in its group.
    """

    packets: Packets
    name: str
    parent: int
    rank: int = 0
    #: Of each track the ends of its open slices, the innermost last.
    _open: list[list[int]] = field(default_factory=list)
    _tracks: list[int] = field(default_factory=list)
    #: What has no end on record has no length either: a track of marks.
    _endless: int = 0

    def slice(
        self,
        start_ns: int,
        end_ns: int | None,
        name: str,
        arguments: Arguments,
        flows: tuple[int, ...] = (),
        category: str = "",
    ) -> None:
        if end_ns is None or end_ns < start_ns:
            self._mark(start_ns, end_ns, name, arguments)
            return
        for ends, track in zip(self._open, self._tracks, strict=True):
            while ends and ends[-1] <= start_ns:
                self.packets.end(ends.pop(), track)
            if not ends or end_ns <= ends[-1]:
                break
        else:
            ends, track = [], self._track()
            self._open.append(ends)
            self._tracks.append(track)
        self.packets.begin(start_ns, track, name, arguments, flows, category)
        ends.append(end_ns)

    def instant(self, at_ns: int, name: str, arguments: Arguments) -> None:
        if not self._tracks:
            self._open.append([])
            self._tracks.append(self._track())
        self.packets.instant(at_ns, self._tracks[0], name, arguments)

    def close(self) -> None:
        for ends, track in zip(self._open, self._tracks, strict=True):
            while ends:
                self.packets.end(ends.pop(), track)

    def _track(self) -> int:
        number = len(self._tracks) + 1
        return self.packets.track(
            self.name if number == 1 else f"{self.name} ({number})", self.parent, self.rank + number - 1
        )

    def _mark(self, start_ns: int, end_ns: int | None, name: str, arguments: Arguments) -> None:
        if not self._endless:
            self._endless = self.packets.track(f"{self.name} (no end on record)", self.parent, self.rank)
        told: Arguments = {"end": "not on record"}
        if end_ns is not None:
            told = {"end": "before its start, as recorded", "end_ns": end_ns}
        self.packets.instant(start_ns, self._endless, name, {**arguments, **told})
