"""Which record handed a handle out: handles are reused, so each is looked for in its lifetime.

A handle lives from the moment it was handed out until it was released as often as it was retained, or was handed out
again. Arrays grow by some 25 bytes a record; nothing is looked at row by row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: In this order where times are equal: what was released can be handed out again, and what was handed out waited for.
_RELEASED, _RETAINED, _HIDDEN, _MADE, _ASKED = range(5)
_HANDED_OUT = (_HIDDEN, _MADE)


@dataclass
class Lifetimes:
    """What happened to handles of one sort. Times (n,) and handles (n,) are unsigned, in any order."""

    _handles: list[Words] = field(default_factory=list)
    _times: list[Words] = field(default_factory=list)
    _makers: list[Words] = field(default_factory=list)
    _what: list[npt.NDArray[np.uint8]] = field(default_factory=list)

    def made(self, handles: Words, times: Words, makers: Words) -> None:
        """Handed out at ``times``, by the records ``makers``."""
        self._add(_MADE, handles, times, makers)

    def hidden(self, handles: Words, times: Words) -> None:
        """Made, and handed out to nobody: whoever names such a handle means another one."""
        self._add(_HIDDEN, handles, times)

    def retained(self, handles: Words, times: Words) -> None:
        self._add(_RETAINED, handles, times)

    def released(self, handles: Words, times: Words) -> None:
        self._add(_RELEASED, handles, times)

    def _add(self, what: int, handles: Words, times: Words, makers: Words | None = None) -> None:
        if not len(handles):
            return
        self._handles.append(handles.astype(np.uint64))
        self._times.append(times.astype(np.uint64))
        self._makers.append(np.zeros(len(handles), np.uint64) if makers is None else makers.astype(np.uint64))
        self._what.append(np.full(len(handles), what, np.uint8))

    def makers_of(self, handles: Words, times: Words) -> tuple[Words, Mask]:
        """For each handle (n,) named at its time (n,): the record that had handed it out, and whether one is known."""
        asked = len(handles)
        if not asked or not self._handles:
            return np.zeros(asked, np.uint64), np.zeros(asked, bool)
        # The questions stand among what happened, each behind everything of its handle that came before it.
        every = np.concatenate([*self._handles, handles])
        when = np.concatenate([*self._times, times])
        what = np.concatenate([*self._what, np.full(asked, _ASKED, np.uint8)])
        order = np.lexsort((what, when, every))
        every, what = every[order], what[order]
        first, begins = _stretches(every, what)
        dead = _deaths(what, first, begins)
        alive = dead - dead[first] == 0
        questions = np.flatnonzero(what == _ASKED)
        begin = first[questions]
        found = (what[begin] == _MADE) & alive[questions]
        made = np.concatenate([*self._makers, np.zeros(asked, np.uint64)])[order]
        makers, known = np.zeros(asked, np.uint64), np.zeros(asked, bool)
        place = order[questions] - (len(order) - asked)
        makers[place[found]] = made[begin[found]]
        known[place] = found
        return makers, known


def _stretches(handles: Words, what: npt.NDArray[np.uint8]) -> tuple[Places, Mask]:
    """Where the stretch of each record begins: with the handle, and anew whenever it is handed out."""
    begins = np.isin(what, _HANDED_OUT)
    begins[0] = True
    begins[1:] |= handles[1:] != handles[:-1]
    place = np.arange(len(handles), dtype=np.int64)
    return np.maximum.accumulate(np.where(begins, place, 0)), begins


def _deaths(what: npt.NDArray[np.uint8], first: Places, begins: Mask) -> Places:
    """How many times, up to each record, a handle was released for the last time."""
    change = np.zeros(len(what), np.int64)
    change[what == _RETAINED] = 1
    change[what == _RELEASED] = -1
    # What stands at the beginning of a stretch is its one reference, whatever it was.
    change[begins] = 0
    total = np.cumsum(change)
    references = 1 + total - total[first]
    return np.cumsum((what == _RELEASED) & (references <= 0) & ~begins)
