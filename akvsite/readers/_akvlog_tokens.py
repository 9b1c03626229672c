"""Milestones of tokens and what happened to requests, gathered over a file: one row a token, one a client's request.

Some fifty bytes are kept of each milestone; nothing is looked at row by row.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from akvsite.milestones import TOKEN
from akvsite.readers._akvlog_rows import Names, Objects, Words

Ints = npt.NDArray[np.int64]

#: What no number of a record is: it stands for NULL in whole columns.
NONE = -(2**63)
CLIENT_SEEN = TOKEN.index("client")


class Tokens:
    """Milestones as they come: of a token by request and place in its output, of a step by its number."""

    def __init__(self) -> None:
        self._of_token: list[Ints] = []
        self._of_step: list[Ints] = []

    @staticmethod
    def codes(names: Names, ids: Words) -> Ints:
        """The place of each milestone (n,) among ``milestones.TOKEN``; -1 for another word."""
        codes = np.full(1 << 16, -1, np.int64)
        for code, word in enumerate(TOKEN):
            codes[names.those(word.__eq__)] = code
        return codes[ids]

    def of_token(
        self, requests: Ints, places: Ints, codes: Ints, at: Ints, steps: Ints, tokens: Ints
    ) -> None:
        self._of_token.append(np.stack([requests, places, codes, at, steps, tokens]))

    def of_step(self, steps: Ints, codes: Ints, at: Ints) -> None:
        self._of_step.append(np.stack([steps, codes, at]))

    def made(self, arrivals: tuple[Ints, Ints]) -> Made:
        """One row a token. ``arrivals``: requests (r,) in order and when each reached the engine (r,)."""
        counts: Counter[tuple[str, str]] = Counter()
        requests, places, codes, at, steps, tokens = _joined(self._of_token, 6)
        # A chunk without a token (the role alone) may stand at the place of the first token: it is not that token.
        empty = (tokens == 0).astype(np.int64)
        order = np.lexsort((np.arange(len(requests)), empty, places, requests))
        requests, places, codes, at, steps, tokens, empty = (
            values[order] for values in (requests, places, codes, at, steps, tokens, empty)
        )
        begins = np.flatnonzero(_changes(requests, places, empty))
        row = np.cumsum(_changes(requests, places, empty)) - 1
        times = np.full((len(begins), len(TOKEN)), NONE, np.int64)
        cells, first = np.unique(row * len(TOKEN) + codes, return_index=True)
        times.reshape(-1)[cells] = at[first]
        kept = len(cells)
        counts["milestone of a token", "a column of its token"] = kept
        counts["milestone of a token", "left out: the first of its name stands"] = len(at) - kept
        found = Made(
            requests[begins],
            places[begins],
            _first_known(steps, row, len(begins)),
            _most(tokens, begins),
            times,
            counts,
        )
        found.fill_from_steps(*_joined(self._of_step, 3))
        found.fill_arrivals(*arrivals)
        counts["token", "token"] = len(begins)
        return found


@dataclass
class Made:
    """Tokens (n,), their times (n, milestones), and the account of what they were made from."""

    requests: Ints
    places: Ints
    steps: Ints
    tokens: Ints
    times: Ints
    counts: Counter[tuple[str, str]]

    def fill_from_steps(self, steps: Ints, codes: Ints, at: Ints) -> None:
        """Give each token what its step says, where it does not say it itself."""
        counts = self.counts
        for code in np.unique(codes).tolist():
            own = codes == code
            numbers, first = np.unique(steps[own], return_index=True)
            counts["milestone of a step", "left out: the first of its name stands"] += int(
                np.count_nonzero(own) - len(numbers)
            )
            used = np.isin(numbers, self.steps[self.steps != NONE])
            counts["milestone of a step", "a column of its tokens"] += int(np.count_nonzero(used))
            counts["milestone of a step", "no token of its step is in the file"] += int(
                np.count_nonzero(~used)
            )
            self._fill(code, self.steps, numbers, at[own][first])

    def fill_arrivals(self, requests: Ints, at: Ints) -> None:
        """A token of the engine has its request's arrival; one that only a client saw has not."""
        of_engine = (self.times[:, :CLIENT_SEEN] != NONE).any(axis=1)
        self._fill(TOKEN.index("arrived"), np.where(of_engine, self.requests, NONE), requests, at)

    def _fill(self, code: int, keys: Ints, known: Ints, at: Ints) -> None:
        if not len(known):
            return
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        rows = (keys != NONE) & (known[place] == keys) & (self.times[:, code] == NONE)
        self.times[rows, code] = at[place[rows]]

    def first_seen(self) -> tuple[Ints, Ints]:
        """Requests in order, and when the client saw the first token of each: a chunk without one does not count.

        A later token came later: where the first one's time is not on record, that of another stands in for it nowhere.
        """
        seen = (self.times[:, CLIENT_SEEN] != NONE) & (self.tokens != 0) & (self.places == 0)
        return _first(self.requests[seen], self.times[seen, CLIENT_SEEN])

    def table(self, names: Objects) -> pa.Table:
        columns = {
            "process": pa.array(np.zeros(len(self.places), np.int64)),
            "request": pa.array(names[self.requests] if len(names) else [], pa.string()),
            "number": pa.array(self.places),
            "tokens": pa.array(self.tokens, mask=self.tokens == NONE),
            "step": pa.array(self.steps, mask=self.steps == NONE),
        }
        for code, word in enumerate(TOKEN):
            columns[f"{word}_ns"] = pa.array(self.times[:, code], mask=self.times[:, code] == NONE)
        return pa.table(columns)


@dataclass
class Events:
    """What happened to requests, in the order of the records: ids, words, times and numbers of tokens."""

    _requests: list[Ints] = field(default_factory=list)
    _words: list[Objects] = field(default_factory=list)
    _at: list[Ints] = field(default_factory=list)
    _tokens: list[Ints] = field(default_factory=list)

    def add(self, requests: Ints, words: Objects, at: Ints, tokens: Ints) -> None:
        own = np.isin(words, ("arrived", "client sent", "client done", "client failed"))
        self._requests.append(requests[own])
        self._words.append(words[own])
        self._at.append(at[own])
        self._tokens.append(tokens[own])

    def arrivals(self) -> tuple[Ints, Ints]:
        """Requests in order, and when each reached the engine."""
        requests, at, _ = self._of("arrived")
        return _first(requests, at)

    def _of(self, *words: str) -> tuple[Ints, Ints, Ints]:
        if not self._requests:
            none = np.empty(0, np.int64)
            return none, none, none
        own = np.isin(np.concatenate(self._words), words)
        requests, at, tokens = (np.concatenate(p)[own] for p in (self._requests, self._at, self._tokens))
        return requests, at, tokens

    def requests(
        self, names: Objects, first_seen: tuple[Ints, Ints], counts: Counter[tuple[str, str]]
    ) -> pa.Table:
        """Rows of ``request``, as the client saw them: sent, done or failed; the first of each stands."""
        sent, done, failed = (self._of(f"client {word}") for word in ("sent", "done", "failed"))
        every = np.unique(np.concatenate([sent[0], done[0], failed[0]]))
        start, prompt = (_at(every, sent[0], values) for values in sent[1:])
        ended, output = (_at(every, done[0], values) for values in done[1:])
        broke, got = (_at(every, failed[0], values) for values in failed[1:])
        seen = _at(every, *first_seen)
        end, tokens = np.where(ended == NONE, broke, ended), np.where(ended == NONE, got, output)
        ttft = np.where((seen == NONE) | (start == NONE), NONE, seen - start)
        ok = np.where(ended != NONE, 1, np.where(broke != NONE, 0, NONE))
        if len(every):
            counts["request of a client", "request"] += len(every)

        def whole(values: Ints) -> pa.Array:
            # Tokens that are not known are -1 in the file.
            return pa.array(values, mask=values < 0)

        return pa.table(
            {
                "process": pa.array(np.zeros(len(every), np.int64)),
                "name": pa.array(names[every] if len(every) else [], pa.string()),
                "start_ns": whole(start),
                "end_ns": whole(end),
                "zero": pa.array(["capture"] * len(every), pa.string()),
                "prompt_tokens": whole(prompt),
                "output_tokens": whole(tokens),
                "ttft_ns": pa.array(ttft, mask=ttft == NONE),
                "ok": whole(ok),
            }
        )


def _joined(parts: list[Ints], rows: int) -> Ints:
    return np.concatenate(parts, axis=1) if parts else np.empty((rows, 0), np.int64)


def _changes(*columns: Ints) -> npt.NDArray[np.bool_]:
    """Where one of the columns (n,) is not what it was in the row before; the first row is a change."""
    changed = np.zeros(len(columns[0]), bool)
    changed[:1] = True
    for values in columns:
        changed[1:] |= values[1:] != values[:-1]
    return changed


def _most(values: Ints, begins: Ints) -> Ints:
    """The largest of each stretch; ``NONE`` is below every number."""
    return np.maximum.reduceat(values, begins) if len(begins) else values[:0]


def _first_known(values: Ints, row: Ints, rows: int) -> Ints:
    """For each row the first of its values (n,) that is not ``NONE``; ``row`` (n,) is sorted."""
    known = values != NONE
    found = np.full(rows, NONE, np.int64)
    which, first = np.unique(row[known], return_index=True)
    found[which] = values[known][first]
    return found


def _first(keys: Ints, at: Ints) -> tuple[Ints, Ints]:
    """The keys in order and the least time of each."""
    order = np.lexsort((at, keys))
    unique, first = np.unique(keys[order], return_index=True)
    return unique, at[order][first]


def _at(every: Ints, keys: Ints, values: Ints) -> Ints:
    """For each of ``every`` (n,), in order, the value of its first key; ``NONE`` where it has none."""
    unique, first = np.unique(keys, return_index=True)
    known = np.isin(unique, every)
    found = np.full(len(every), NONE, np.int64)
    found[np.searchsorted(every, unique[known])] = values[first[known]]
    return found
