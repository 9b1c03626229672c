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
#: Records that are looked at together, at most about so many.
TOGETHER = 1 << 20


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
        makers, known = np.zeros(len(handles), np.uint64), np.zeros(len(handles), bool)
        if not len(handles) or not self._handles:
            return makers, known
        # Handles have nothing to do with each other: some at a time, so that the work needs little memory beside them.
        several = 1 + (len(handles) + sum(map(len, self._handles))) // TOGETHER
        for one in range(several):
            asked = np.flatnonzero(_share(handles, several) == one)
            own = [_share(part, several) == one for part in self._handles]

            def of(column: list[Words], own: list[Mask] = own) -> Words:
                return np.concatenate([part[mask] for part, mask in zip(column, own, strict=True)])

            what = np.concatenate([part[mask] for part, mask in zip(self._what, own, strict=True)])
            happened = of(self._handles), of(self._times), of(self._makers), what
            makers[asked], known[asked] = _answers(*happened, handles[asked], times[asked])
        return makers, known


def _share(handles: Words, several: int) -> npt.NDArray[np.uint64]:
    """Which of ``several`` parts each handle falls into. Handles are addresses: their low bits are alike."""
    return (handles * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) % np.uint64(several)


def _answers(
    happened: Words, when: Words, makers: Words, what: npt.NDArray[np.uint8], handles: Words, times: Words
) -> tuple[Words, Mask]:
    """``Lifetimes.makers_of``, from all that happened to these handles."""
    asked = len(handles)
    # The questions stand among what happened, each behind everything of its handle that came before it.
    every = np.concatenate([happened, handles])
    what = np.concatenate([what, np.full(asked, _ASKED, np.uint8)])
    order = np.lexsort((what, np.concatenate([when, times]), every))
    every, what = every[order], what[order]
    first, begins = _stretches(every, what)
    dead = _deaths(what, first, begins)
    questions = np.flatnonzero(what == _ASKED)
    begin = first[questions]
    found = (what[begin] == _MADE) & (dead[questions] == dead[begin])
    place = order[questions] - len(happened)
    answers, known = np.zeros(asked, np.uint64), np.zeros(asked, bool)
    answers[place[found]] = makers[order[begin[found]]]
    known[place] = found
    return answers, known


def _stretches(handles: Words, what: npt.NDArray[np.uint8]) -> tuple[Places, Mask]:
    """Where the stretch of each record begins: with the handle, and anew whenever it is handed out."""
    begins = np.isin(what, _HANDED_OUT)
    begins[:1] = True
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
