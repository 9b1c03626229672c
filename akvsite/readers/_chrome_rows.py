"""Events of a Chrome trace as rows of the level tables, column by column.

Times are relative to the base of the file until the end, since the base may stand after the events; so are
the processes of device rows, since in a trace the pid of a device row is the device's number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from akvsite.calls import kind_of_call
from akvsite.conform import captured_columns
from akvsite.readers import _chrome_words as words
from akvsite.readers._chrome_events import NO_ARGS, NOT_WHOLE, Args, Chunk, Event, clean
from akvsite.readers._chrome_values import FAR, LEAST, MOST, Open, Processes, Texts, nanoseconds, shape, whole
from akvsite.readers._held import Held
from akvsite.readers._redact import home_folders_hidden, program, without_secrets
from akvsite.readers._step_names import layer_of, step_of
from akvsite.reading import Rejected
from akvsite.tables import TABLES

#: The process of a device row, until the file's profiled process is known.
DEVICE = -1
#: Kinds of record that are counted one by one; a file with more has the rest counted together.
_KINDS = 1000

NO_TIME = "no time"
BAD_TIME = "a time that does not fit in 64 bits of nanoseconds"
NEGATIVE = "a negative duration"

Reject = Callable[[Event, str], None]


@dataclass
class _Timed:
    events: list[Event]
    starts: list[int]
    ends: list[int | None]


class Builder:
    """Takes chunks, holds rows, counts what became of each event."""

    def __init__(self) -> None:
        self.held = Held()
        self.processes = Processes()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.mended: Counter[str] = Counter()
        self.names: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.last: int | None = None
        self.window: tuple[int, int | None] | None = None
        self._texts = Texts()
        self._open: dict[tuple[str, str | None], Open] = {}
        self._sentinel: str | None = None
        #: Names of begins that wait, by identity, where they were not UTF-8.
        self._cleaned: dict[int, str] = {}

    # One chunk.

    def add(self, chunk: Chunk) -> Iterator[Rejected]:
        rejected: list[Rejected] = []
        self._sentinel = self._texts.sentinel = self.processes.sentinel = chunk.sentinel
        for item, why in chunk.unusable.items():
            place, raw = chunk.raw(item)
            rejected.append(Rejected(why, place, raw))
            self.count("no event", "quarantine")

        def reject(event: Event, why: str) -> None:
            place, raw = chunk.raw(chunk.item_of(event))
            rejected.append(Rejected(why, place, raw))
            self.count(self._what(event.ph, event.cat), "quarantine")

        groups: dict[tuple[str, str | None], list[Event]] = {}
        for event in chunk.events:
            key = (event.ph, event.cat)
            if key in groups:
                groups[key].append(event)
            else:
                groups[key] = [event]
        for (ph, cat), events in groups.items():
            if ph not in ("B", "E"):
                self._group(ph, cat, events, reject)
        # Begins and ends of one thread belong to one stack whatever their categories, so they keep the file's
        # order.
        if any(ph in ("B", "E") for ph, _ in groups):
            self._begins_and_ends([e for e in chunk.events if e.ph in ("B", "E")], reject)
        yield from rejected

    def count(self, what: str, fate: str, count: int = 1) -> None:
        if count:
            if (what, fate) not in self.counts and len(self.counts) >= _KINDS:
                what = "other kinds"
            self.counts[what, fate] += count

    def recount(self, table: str, fate: str) -> None:
        """Moves one record that was counted as a row of ``table`` to another fate."""
        what = next((w for (w, f), count in self.counts.items() if f == table and count), None)
        if what is not None:  # a step is counted as the annotation that it is
            self.counts[what, table] -= 1
            self.counts[what, fate] += 1

    def _what(self, ph: str, cat: str | None) -> str:
        return clean(f"{ph or 'no phase'} {cat or ''}".strip(), self._sentinel)[:120]

    def _group(self, ph: str, cat: str | None, events: list[Event], reject: Reject) -> None:
        what = self._what(ph, cat)
        if ph == "X":
            self._complete(what, cat, events, reject)
        elif ph == "i" and cat == "cpu_instant_event":
            memory = [e for e in events if e.name == "[memory]"]
            self._memory(what, memory, reject)
            self._no_row(what, words.NO_ROW_PHASE["i"], [e for e in events if e.name != "[memory]"])
        elif ph in words.NO_ROW_PHASE:
            if ph == "M":
                self._metadata(events)
                self.count(what, words.NO_ROW_PHASE[ph], len(events))
            else:
                self._no_row(what, words.NO_ROW_PHASE[ph], events)
        else:
            for event in events:
                reject(event, "no known phase" if ph else "no phase")

    def _complete(self, what: str, cat: str | None, events: list[Event], reject: Reject) -> None:
        if cat in words.NO_ROW_CATEGORY:
            self._no_row(what, words.NO_ROW_CATEGORY[cat], events)
            if cat == "Trace":
                self._windows(events)
        elif cat in words.DEVICE:
            samples = [e for e in events if e.name is not None and e.name.startswith("metrics: ")]
            if samples:
                self._no_row(what, words.METRIC_SAMPLE, samples)
                events = [e for e in events if not (e.name is not None and e.name.startswith("metrics: "))]
            self._device(what, words.DEVICE[cat], events, reject)
        elif cat in words.CALLS:
            # MTIA draws the device's side of a synchronization as a call whose pid is the device.
            mine = [
                e
                for e in events
                if e.args is None or e.args.device is None or str(e.args.device) != str(e.pid)
            ]
            if len(mine) != len(events):
                device = [e for e in events if not (e.args is None or str(e.args.device) != str(e.pid))]
                self._device(what, "wait", device, reject)
            self._calls(what, mine, reject)
        else:
            self._host(what, cat, events, reject)

    # Rows.

    def _host(self, what: str, cat: str | None, events: list[Event], reject: Reject) -> None:
        timed = self._times(events, reject)
        events = timed.events
        if not events:
            return
        word = words.HOST.get(cat, cat) if cat is not None else None
        # A python function has the path of its file in its name.
        names = [home_folders_hidden(n) if "/" in n or "\\" in n else n for n in self._names(events)]
        processes = self.processes.of([e.pid for e in events])
        categories: list[str] | pa.Array = pa.repeat(
            clean(word or "no category", self._sentinel), len(events)
        )
        layers: list[int | None] | None = None
        if cat == "user_annotation":
            layers = [layer_of(n) if n.startswith("layer.") else None for n in names]
            categories = ["annotation" if layer is None else "layer" for layer in layers]
        if cat in ("user_annotation", "Operator"):
            self._steps(names, processes, timed)
        external = None
        if word != "overhead":
            # Overhead may carry an operator's id, and must not be taken for its work.
            external = self._whole(_external([e.args or NO_ARGS for e in events]))
        self._hold(
            "level2_host",
            len(events),
            process=processes,
            name=names,
            start_ns=timed.starts,
            end_ns=timed.ends,
            thread=self._text_of([e.tid for e in events]),
            category=categories,
            layer=layers,
            external_id=external,
        )
        self._count_rows(processes, calls=False)
        self.count(what, "level2_host", len(events))

    def _steps(self, names: list[str], processes: list[int], timed: _Timed) -> None:
        steps = [(i, step) for i, name in enumerate(names) if (step := step_of(name)) is not None]
        if steps:
            self._hold(
                "step",
                len(steps),
                process=[processes[i] for i, _ in steps],
                name=[names[i] for i, _ in steps],
                start_ns=[timed.starts[i] for i, _ in steps],
                end_ns=[timed.ends[i] for i, _ in steps],
                number=[step.number for _, step in steps],
                kind=[step.kind for _, step in steps],
                batch=[step.batch for _, step in steps],
                source=[step.source for _, step in steps],
                warm_up=pa.repeat(pa.scalar(0, pa.int64()), len(steps)),
            )

    def _device(self, what: str, kind: str | None, events: list[Event], reject: Reject) -> None:
        timed = self._times(events, reject)
        events = timed.events
        if not events:
            return
        names = self._names(events)
        args = [e.args or NO_ARGS for e in events]
        kinds: list[str] | pa.Array
        if kind is None:
            kinds = [words.kind_on_device(name, kind_of_call(name)) for name in names]
        else:
            kinds = pa.repeat(kind, len(events))
        moved = kind in ("copy", "fill", None)
        self._hold(
            "level3_device",
            len(events),
            process=pa.repeat(pa.scalar(DEVICE, pa.int64()), len(events)),
            name=names,
            start_ns=timed.starts,
            end_ns=timed.ends,
            kind=kinds,
            device=self._text_of(
                [_device_of(e) if a.device is None else a.device for a, e in zip(args, events, strict=True)],
                "unknown",
            ),
            queue=self._text_of(
                [_queue(a, e) if a.stream is None else a.stream for a, e in zip(args, events, strict=True)],
                "unknown",
            ),
            correlation=self._whole([a.correlation for a in args]),
            external_id=self._whole(_external(args)),
            bytes=self._bytes([a.size if a.bytes is None else a.bytes for a in args]) if moved else None,
            direction=[
                words.direction_of(name, a.kind, a.direction) for name, a in zip(names, args, strict=True)
            ]
            if kind in ("copy", None)
            else None,
            graph=self._whole([a.graph for a in args]),
            graph_node=self._whole([a.graph_node for a in args]),
            grid=[shape(a.grid) for a in args],
            block=[shape(a.block) for a in args],
            registers=self._whole([a.registers for a in args]),
            shared_bytes=self._whole([a.shared for a in args]),
            appended_ns=self._whole([a.appended for a in args]),
            submitted_ns=self._whole([a.submitted for a in args]),
        )
        self.count(what, "level3_device", len(events))

    def _calls(self, what: str, events: list[Event], reject: Reject) -> None:
        timed = self._times(events, reject)
        events = timed.events
        if not events:
            return
        names = self._names(events)
        args = [e.args or NO_ARGS for e in events]
        processes = self.processes.of([e.pid for e in events])
        correlations = self._whole([a.correlation for a in args])
        self._hold(
            "level4_edge",
            len(events),
            process=processes,
            name=names,
            start_ns=timed.starts,
            end_ns=timed.ends,
            thread=self._text_of([e.tid for e in events]),
            source=pa.repeat("vendor", len(events)),
            kind=_kinds(names),
            correlation=correlations,
            external_id=self._whole(_external(args)),
            queue=self._text_of([_first(a.stream, a.stream_id, a.l0_queue, a.sycl_queue) for a in args]),
            bytes=self._bytes([_first(a.bytes, a.size, a.mem_size) for a in args]),
        )
        self._count_rows(processes, calls=True)
        known = correlations.drop_null().to_numpy()
        if len(self.processes.found) == 1 or len(set(processes)) == 1:
            self.processes.found[processes[0]].correlations.append(known)
        else:
            owners = np.asarray(processes)[correlations.is_valid().to_numpy(zero_copy_only=False)]
            for owner in set(processes):
                self.processes.found[owner].correlations.append(known[owners == owner])
        self.count(what, "level4_edge", len(events))

    def _memory(self, what: str, events: list[Event], reject: Reject) -> None:
        timed = self._times(events, reject)
        events = timed.events
        if not events:
            return
        args = [e.args or NO_ARGS for e in events]
        processes = self.processes.of([e.pid for e in events])
        self._hold(
            "memory_event",
            len(events),
            process=processes,
            at_ns=timed.starts,
            device_type=self._whole([a.device_type for a in args]),
            device=self._whole([a.device_id for a in args]),
            address=self._whole([a.address for a in args]),
            bytes=self._whole([a.block_bytes for a in args]),
            allocated=self._whole([a.allocated for a in args]),
            reserved=self._whole([a.reserved for a in args]),
        )
        self._count_rows(processes, calls=False)
        self.count(what, "memory_event", len(events))

    def _hold(self, table: str, count: int, **columns: Any) -> None:
        schema = SCHEMAS[table]
        arrays = []
        for name, kind in zip(schema.names, schema.types, strict=True):
            values = columns.get(name)
            if values is None:
                values = pa.nulls(count, kind)
            arrays.append(values if isinstance(values, pa.Array) else pa.array(values, kind))
        self.held.add(table, pa.table(arrays, schema=schema))

    def _count_rows(self, processes: list[int], *, calls: bool) -> None:
        for index, count in Counter(processes).items():
            process = self.processes.found[index]
            process.host_rows += count
            if calls:
                process.calls += count

    # What is no row.

    def _no_row(self, what: str, why: str, events: list[Event]) -> None:
        if not events:
            return
        self.count(what, why, len(events))
        try:
            ends = [e.ts if e.dur is None else e.ts + e.dur for e in events if e.ts is not None]
            last = nanoseconds(max(ends)) if ends else None
        except ArithmeticError:
            last = None
        if last is None:
            # Some have a time that is no number, or one that is out of range: the others still say how far the file goes.
            known = (nanoseconds(e.ts) for e in events if e.ts is not None)
            last = max((time for time in known if time is not None), default=None)
        if last is not None:
            self._seen(last)

    def _seen(self, time: int) -> None:
        if (self.last is None or time > self.last) and time <= MOST:
            self.last = time

    def _windows(self, events: list[Event]) -> None:
        for event in events:
            start = None if event.ts is None else nanoseconds(event.ts)
            if start is not None:
                length = None if event.dur is None else nanoseconds(event.dur)
                self.window = (start, None if length is None else start + length)

    def _metadata(self, events: list[Event]) -> None:
        for event in events:
            if event.args is not None and event.name in ("process_name", "process_labels"):
                value = event.args.name if event.name == "process_name" else event.args.labels
                if isinstance(value, str) and value:
                    known = self.names if event.name == "process_name" else self.labels
                    hidden = program if event.name == "process_name" else without_secrets
                    known[self.processes.text(event.pid)] = hidden(clean(value, self._sentinel))

    # Begins and ends.

    def _begins_and_ends(self, events: list[Event], reject: Reject) -> None:
        finished: dict[str | None, list[Event]] = {}
        for event in events:
            thread = (self.processes.text(event.pid), None if event.tid is None else str(event.tid))
            stack = self._open.get(thread)
            if stack is None:
                stack = self._open[thread] = Open()
            if event.ph == "B":
                if event.ts is None or nanoseconds(event.ts) is None:
                    reject(event, NO_TIME if event.ts is None else BAD_TIME)
                else:
                    if self._sentinel is not None and event.name is not None:
                        # Its row is made in another chunk, which has another sentinel or none.
                        self._cleaned[id(event)] = clean(event.name, self._sentinel)
                    stack.begin(event)
                continue
            begin = None
            why = NO_TIME if event.ts is None else BAD_TIME
            if event.ts is not None and nanoseconds(event.ts) is not None:
                begin = stack.last(event.name)
                why = "an end without its begin"
                if begin is not None and begin.ts is not None and event.ts < begin.ts:
                    why, begin = "an end before its begin", None
            if begin is None or begin.ts is None or event.ts is None:
                reject(event, why)
                continue
            stack.end(begin)
            begin.dur = event.ts - begin.ts
            self.count(self._what("E", event.cat), words.NO_ROW_PHASE["E"])
            finished.setdefault(begin.cat, []).append(begin)
        self._intervals(finished)

    def finish(self) -> None:
        """The begins whose end the file does not have: kept, with an end that is unknown."""
        unfinished: dict[str | None, list[Event]] = {}
        for stack in self._open.values():
            for begin in stack.rest():
                unfinished.setdefault(begin.cat, []).append(begin)
        self._intervals(unfinished)
        self._open.clear()

    def _intervals(self, groups: dict[str | None, list[Event]]) -> None:
        def reject(event: Event, why: str) -> None:
            # Begin and end were checked as they came; only their sum can be too large, and the begin's bytes
            # are gone.
            event.dur = None
            again.append(event)

        for cat, events in groups.items():
            again: list[Event] = []
            self._complete(self._what("B", cat), cat, events, reject)
            if again:
                self._complete(self._what("B", cat), cat, again, reject)

    # Columns.

    def _times(self, events: list[Event], reject: Reject) -> _Timed:
        try:
            # None among them raises TypeError, a time that is no number an ArithmeticError: then one by one.
            starts: list[Any] = [e.ts for e in events]
            lengths: list[Any] = [e.dur for e in events]
            if starts and min(starts) > -FAR and max(starts) < FAR:
                if lengths.count(None) == len(lengths):
                    begins = [round(t * 1000) for t in starts]
                    self._check(begins)
                    return _Timed(events, begins, [None] * len(begins))
                if min(lengths) >= 0 and max(lengths) < FAR:
                    begins = [round(t * 1000) for t in starts]
                    ends = [b + round(d * 1000) for b, d in zip(begins, lengths, strict=True)]
                    self._check(begins)
                    self._check(ends)
                    return _Timed(events, begins, ends)
        except (TypeError, ArithmeticError):
            pass
        return self._times_one_by_one(events, reject)

    def _check(self, times: Sequence[int]) -> None:
        if min(times) < LEAST or max(times) > MOST:
            raise OverflowError
        self._seen(max(times))

    def _times_one_by_one(self, events: list[Event], reject: Reject) -> _Timed:
        timed = _Timed([], [], [])
        for event in events:
            if event.ts is None:
                reject(event, NO_TIME)
                continue
            start = nanoseconds(event.ts)
            length = None if event.dur is None else nanoseconds(event.dur)
            if start is None or (event.dur is not None and length is None):
                reject(event, BAD_TIME)
            elif length is not None and length < 0:
                reject(event, NEGATIVE)
            elif length is not None and start + length > MOST:
                reject(event, BAD_TIME)
            else:
                timed.events.append(event)
                timed.starts.append(start)
                timed.ends.append(None if length is None else start + length)
                self._seen(start if length is None else start + length)
        return timed

    def _names(self, events: list[Event]) -> list[str]:
        sentinel = self._sentinel
        names = [
            n if n is not None and "\\" not in n and n.isascii() else clean(n or "", sentinel)
            for n in [e.name for e in events]
        ]
        if self._cleaned:
            names = [self._cleaned.pop(id(e), n) for e, n in zip(events, names, strict=True)]
        return names

    def _text_of(self, values: list[Any], unknown: str | None = None) -> list[str | None]:
        texts = self._texts
        try:
            found = [texts[v] for v in values]
        except TypeError:  # a list or an object
            found = [texts[v if v.__hash__ else str(v)] for v in values]
        return found if unknown is None else [unknown if text is None else text for text in found]

    def _whole(self, values: list[Any]) -> pa.Array:
        """Whole numbers as int64; ids above 2^63 as two's complement, whatever their spelling."""
        kinds = set(map(type, values))
        if kinds <= {int, type(None)}:
            try:
                return pa.array(values, pa.int64())
            except (OverflowError, pa.ArrowInvalid):
                pass
        return pa.array([None if v is None else self._one_whole(v) for v in values], pa.int64())

    def _one_whole(self, value: Any) -> int | None:
        number = whole(value)
        if number is None:
            self.mended[NOT_WHOLE] += 1
        return number

    def _bytes(self, values: list[Any]) -> pa.Array:
        """Sizes; some files write ``14139908 bytes``."""
        return self._whole([v.removesuffix(" bytes") if isinstance(v, str) else v for v in values])


def _arrow_schema(table: str) -> pa.Schema:
    columns = [pa.field(c.name, c.arrow_type) for c in captured_columns(TABLES[table])]
    return pa.schema([pa.field("process", pa.int64()), *columns])


SCHEMAS = {
    table: _arrow_schema(table)
    for table in ("step", "level2_host", "level3_device", "level4_edge", "memory_event")
}


def _first(*values: Any) -> Any:
    return next((v for v in values if v is not None), None)


def _external(args: list[Args]) -> list[Any]:
    return [a.external_id if a.external_id is not None else a.old_external_id for a in args]


def _device_of(event: Event) -> Any:
    """In a trace the pid of a device row is its device; -1 is none."""
    return None if event.pid == -1 else event.pid


def _queue(args: Args, event: Event) -> Any:
    return _first(args.stream_id, args.l0_queue, args.sycl_queue, event.tid)


def _kinds(names: list[str]) -> list[str]:
    known: dict[str, str] = {name: kind_of_call(name) for name in set(names)}
    return [known[name] for name in names]
