"""Records of the probe (kinds 16 to 23) as rows: steps, phases, regions, requests, tokens, spans of device events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from akvsite.milestones import CLIENT, REQUEST
from akvsite.readers._akvlog_lifetimes import Lifetimes, Words
from akvsite.readers._akvlog_rows import MOST, Mask, Names, Values, column, handle_text, texts_of
from akvsite.readers._akvlog_tokens import NONE, Events, Ints, Tokens
from akvsite.reading import Rejected
from akvsite.tables import DEVICE_CLOCK, NO_DEVICE

STEP, PHASE, REGION, LAYER, OF_REQUEST, OF_TOKEN, OF_STEP, SPAN = range(16, 24)
BY_EXCEPTION, NOT_LEFT = 1, 2
#: What a named object is (``shim/AKVLOG.md``, records of kind 4).
REQUEST_NAMED = 3

_MOST_TOKENS = 2**31 - 1

COUNTERS, PROBE = "akv_counters", "akv_probe"
_KINDS = ("decode", "prefill", "mixed")
_WHAT = {STEP: "step", PHASE: "phase", REGION: "region", LAYER: "layer window", SPAN: "span of device events"}


class Marks:
    """The records of a probe in one file, batch by batch: steps first, then the rest, then what needs all of them."""

    def __init__(self, names: Names, texts: dict[int, str], producer: str, values: Values) -> None:
        self._names = names
        #: Names of requests by their place among the names.
        self._texts = texts
        self._source = "engine counter" if producer.startswith(COUNTERS) else "probe"
        self._values = values
        self._named = Lifetimes()
        self._requests: dict[str, int] = {}
        self._tokens = Tokens()
        self._events = Events()
        self.counts: Counter[tuple[str, str]] = Counter()
        #: Whether there is a record of a probe at all.
        self.any = False

    def name_requests(self, objects: pa.RecordBatch) -> None:
        """Objects of which ``what`` is 3: each number stands for the text until another one is given to it."""
        # A request is named before it is used, so the order of records is the order of its names.
        index = column(objects, "index")
        self._named.made(column(objects, "handle"), index, column(objects, "name_offset"))
        self.counts["request named", "names what happened to it"] += len(index)

    def steps(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Table]]:
        """Rows of ``step``."""
        self.any = True
        batch = _of_kind(batch, STEP)
        if not batch.num_rows:
            return
        index, number = column(batch, "index"), column(batch, "a")
        ids, batched = column(batch, "name"), column(batch, "value").astype(np.int64)
        kinds = self._texts_of(ids)
        yield (
            "step",
            pa.table(
                {
                    **self._times(batch, STEP),
                    "name": pa.array(
                        [f"{k}.step.{n}" for k, n in zip(kinds.to_pylist(), number.tolist(), strict=True)],
                        pa.string(),
                    ),
                    "number": self._values.numbers(index, number, "number of a step"),
                    "kind": self._texts_of(ids, lambda kind: kind if kind in _KINDS else "other"),
                    "batch": pa.array(batched, mask=batched < 0),
                    "source": pa.array([self._source] * len(index)),
                    "warm_up": pa.array(np.zeros(len(index), np.int64)),
                }
            ),
        )

    def others(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Table]]:
        """Rows of the other tables; requests of clients and tokens are kept until ``ending``."""
        yield from self._windows(batch)
        yield from self._spans(batch)
        yield from self._happened(batch)
        self._keep(batch)
        kinds = column(batch, "kind")
        self.counts["mark of a probe", "of a kind not known to this version"] += int(
            np.count_nonzero(kinds > SPAN)
        )

    def ending(self, rows: int) -> Iterator[tuple[str, pa.Table]]:
        """Requests of clients and tokens, in tables of ``rows`` at most."""
        names = np.array(list(self._requests), object)
        made = self._tokens.made(self._events.arrivals())
        self.counts.update(made.counts)
        for table in (self._events.requests(names, made.first_seen(), self.counts), made.table(names)):
            what = "request" if "prompt_tokens" in table.column_names else "token"
            for first in range(0, table.num_rows, rows):
                yield what, table.slice(first, rows)
        self._tokens, self._events = Tokens(), Events()

    def _windows(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Table]]:
        phases = _of_kind(batch, PHASE)
        if phases.num_rows:
            rows = self._times(phases, PHASE) | {"name": self._texts_of(column(phases, "name"))}
            yield "level1_runner", pa.table(rows | {"thread": texts_of(column(phases, "thread"), str)})
        for kind, category in ((REGION, "region"), (LAYER, "layer")):
            part = _of_kind(batch, kind)
            if not part.num_rows:
                continue
            rows = self._times(part, kind) | {
                "name": self._texts_of(column(part, "name")),
                "thread": texts_of(column(part, "thread"), str),
                "category": pa.array([category] * part.num_rows),
            }
            if kind == LAYER:
                rows["layer"] = pa.array(column(part, "value").astype(np.int64))
            yield "level2_host", pa.table(rows)

    def _spans(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Table]]:
        part = _of_kind(batch, SPAN)
        if not part.num_rows:
            return
        names = self._texts_of(column(part, "name"))
        rows = self._times(part, SPAN) | {
            "name": names,
            "kind": pa.array(["span"] * part.num_rows),
            "device": texts_of(column(part, "a"), lambda d: handle_text(d) or NO_DEVICE),
            "queue": names,
            "clock": pa.array([DEVICE_CLOCK] * part.num_rows),
            "step": _array(_less_one(column(part, "b"))),
        }
        yield "level3_device", pa.table(rows)

    def _happened(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Table]]:
        part = self._timed(_of_kind(batch, OF_REQUEST), "time of a request")
        ids = column(part, "name")
        known = self._those(ids, (*REQUEST, *CLIENT))
        self.counts["mark of a request", "of nothing known to this version"] += int(np.count_nonzero(~known))
        part = part.filter(pa.array(known))
        if not part.num_rows:
            return
        self.counts["mark of a request", "request_event"] += part.num_rows
        at, tokens = column(part, "start_ns").astype(np.int64), column(part, "value").astype(np.int64)
        requests = self._ids_of(column(part, "a"), column(part, "index"))
        events = self._texts_of(column(part, "name"))
        self._events.add(requests, np.asarray(events.to_numpy(zero_copy_only=False)), at, tokens)
        names = np.array(list(self._requests), object)
        yield (
            "request_event",
            pa.table(
                {
                    "process": pa.array(np.zeros(part.num_rows, np.int64)),
                    "request": pa.array(names[requests], pa.string()),
                    "event": events,
                    "at_ns": pa.array(at),
                    "step": _array(_less_one(column(part, "b"))),
                    "tokens": pa.array(tokens, mask=tokens < 0),
                }
            ),
        )

    def _keep(self, batch: pa.RecordBatch) -> None:
        """Milestones of tokens and of steps."""
        for kind, what in ((OF_TOKEN, "milestone of a token"), (OF_STEP, "milestone of a step")):
            part = self._timed(_of_kind(batch, kind), f"time of a {what}")
            if kind == OF_TOKEN:
                part = self._placed(part)
            codes = Tokens.codes(self._names, column(part, "name"))
            known = codes >= 0
            self.counts[what, "not known to this version"] += int(np.count_nonzero(~known))
            part, codes = part.filter(pa.array(known)), codes[known]
            if not part.num_rows:
                continue
            at = column(part, "start_ns").astype(np.int64)
            if kind == OF_STEP:
                self._tokens.of_step(_small(column(part, "a")), codes, at)
                continue
            requests = self._ids_of(column(part, "a"), column(part, "index"))
            place = column(part, "value").astype(np.int64)
            tokens = self._sums_up(_less_one(column(part, "c")), column(part, "index"))
            self._tokens.of_token(requests, place, codes, at, _less_one(column(part, "b")), tokens)

    def _placed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The milestones whose token has a place in an output; the others are rejected."""
        places = column(batch, "value")
        good = places >= 0
        for row in np.flatnonzero(~good).tolist():
            self._values.rejected.append(
                Rejected(
                    "place of a token below 0", f"record {column(batch, 'index')[row]}", str(places[row])
                )
            )
        self.counts["milestone of a token", "quarantine: its place cannot be"] += int(np.count_nonzero(~good))
        return batch.filter(pa.array(good))

    def _sums_up(self, tokens: Ints, index: Words) -> Ints:
        """Numbers of tokens (n,) that may be added up; what no piece holds is unknown, and rejected."""
        beyond = tokens > _MOST_TOKENS
        for row in np.flatnonzero(beyond).tolist():
            self._values.rejected.append(
                Rejected("tokens of a piece beyond 2^31 - 1", f"record {index[row]}", str(tokens[row]))
            )
        return np.where(beyond, NONE, tokens)

    def _times(self, batch: pa.RecordBatch, kind: int) -> dict[str, pa.Array]:
        """Process, start and end of rows, and their account."""
        index, flags = column(batch, "index"), column(batch, "flags")
        opened = flags & NOT_LEFT != 0
        what = _WHAT[kind]
        table = {STEP: "step", PHASE: "level1_runner", SPAN: "level3_device"}.get(kind, "level2_host")
        self.counts[what, table] += int(np.count_nonzero(~opened))
        self.counts[f"{what} that was entered and not left", table] += int(np.count_nonzero(opened))
        self.counts[f"{what} left by an exception", "its row says the rest"] += int(
            np.count_nonzero(flags & BY_EXCEPTION)
        )
        end = column(batch, "end_ns")
        return {
            "process": pa.array(np.zeros(len(index), np.int64)),
            "start_ns": self._values.numbers(index, column(batch, "start_ns"), f"start of a {what}"),
            "end_ns": self._values.numbers(index, end, f"end of a {what}", ~opened),
        }

    def _timed(self, batch: pa.RecordBatch, what: str) -> pa.RecordBatch:
        """The records whose time a column can hold; the others are rejected."""
        at = column(batch, "start_ns")
        fits = at <= np.uint64(MOST)
        if fits.all():
            return batch
        self._values.numbers(column(batch, "index"), at, what)
        self.counts[what.removeprefix("time of a "), "quarantine: its time cannot be"] += int(
            np.count_nonzero(~fits)
        )
        return batch.filter(pa.array(fits))

    def _texts_of(self, ids: Words, said: Callable[[str], str] = str) -> pa.Array:
        unique, places = np.unique(ids, return_inverse=True)
        texts = [
            said(self._names[id]) if self._names.known[id] else said(f"unknown name {id}")
            for id in unique.tolist()
        ]
        return pa.array(texts, pa.string()).take(pa.array(places))

    def _those(self, ids: Words, words: tuple[str, ...]) -> Mask:
        return self._names.those(lambda name: name in words)[ids]

    def _ids_of(self, numbers: Words, index: Words) -> Ints:
        """For each request (n,) named at a record (n,) its place among the texts."""
        offsets, known = self._named.makers_of(numbers, index)
        known &= np.isin(offsets, np.array(list(self._texts), np.uint64))
        keys = np.stack([np.where(known, offsets, numbers), known.astype(np.uint64)])
        unique, places = np.unique(keys, axis=1, return_inverse=True)
        found = [
            self._requests.setdefault(self._texts[key] if named else str(key), len(self._requests))
            for key, named in zip(*unique.tolist(), strict=True)
        ]
        return np.array(found, np.int64)[places.reshape(-1)]


def _of_kind(batch: pa.RecordBatch, kind: int) -> pa.RecordBatch:
    return batch.filter(pa.array(column(batch, "kind") == kind))


def _small(values: Words) -> Ints:
    """int64 (n,); ``NONE`` for what does not fit."""
    return np.where(values <= np.uint64(MOST), values, np.uint64(0)).astype(np.int64) + np.where(
        values <= np.uint64(MOST), 0, NONE
    )


def _less_one(values: Words) -> Ints:
    """What was written plus one, 0 for none, int64 (n,)."""
    return np.where(values == 0, NONE, _small(values - np.uint64(1)))


def _array(values: Ints) -> pa.Array:
    return pa.array(values, mask=values == NONE)
