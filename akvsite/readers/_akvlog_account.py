"""What an akvlog file says besides its rows: its clocks, its facts, and what became of every record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from akvsite import scan
from akvsite.readers._akvlog_rows import Names
from akvsite.readers._redact import base_name, without_secrets
from akvsite.reading import Fact, HostClock

LIBRARY, NOTE = 3, 4
#: A record that has another fate already, and something more that is to be known of it.
ALSO = "its row says the rest"
COUNTED_ONLY = "counted only: neither its time nor what it did"

#: More records than any file has: a million a second for two hundred years are fewer.
MOST_RECORDS = 2**53

_STOPPED = {0: "no", 1: "its capacity was reached", 2: "the disk was full"}
#: More than this is no difference of two clocks: the sum with any time still fits in 64 bits.
_FARTHEST = 2**62


def host_clock(header: scan.Header) -> HostClock | None:
    """How CLOCK_MONOTONIC becomes CLOCK_REALTIME, from the header; None where it holds no reading of both."""
    start, close = header.start, header.close
    if start.realtime_ns <= 0 or abs(_offset(start)) > _FARTHEST:
        return None
    bound = _half_width(start)
    if close is None or close.realtime_ns <= 0 or abs(_offset(close)) > _FARTHEST:
        because = f"+- {bound} ns, the width of the reading at the start; drift unknown, since it has none of the end"
        return HostClock(_offset(start), bound, because)
    drift = abs(_offset(close) - _offset(start))
    bound += _half_width(close) + drift
    because = f"+- {bound} ns: the widths of the readings at both ends, and {drift} ns of drift between them"
    return HostClock(_offset(start), bound, because)


def _offset(clocks: scan.Clocks) -> int:
    return clocks.realtime_ns - (clocks.monotonic_before_ns + clocks.monotonic_after_ns) // 2


def _half_width(clocks: scan.Clocks) -> int:
    return (abs(clocks.monotonic_after_ns - clocks.monotonic_before_ns) + 1) // 2


def facts(header: scan.Header, entries: pa.Table) -> Iterator[Fact]:
    if header.producer:
        yield Fact("software", "recorder", without_secrets(header.producer))
    if header.executable:
        yield Fact("capture", "akvlog.program", without_secrets(base_name(header.executable)))
    ended = "yes" if header.closed else "no: a signal or _exit ended it, or it still ran"
    yield Fact("capture", "akvlog.process ended by its normal exit", ended)
    stopped = _STOPPED.get(header.stopped, f"an error stopped it (errno {header.errno})")
    yield Fact("capture", "akvlog.stopped recording", stopped)
    yield Fact("capture", "akvlog.when full", "wraps: the oldest records go" if header.wraps else "stops")
    notes: dict[str, list[str]] = {}
    libraries = []
    for entry in entries.to_pylist():
        if not entry["complete"]:
            continue
        if entry["what"] == LIBRARY:
            libraries.append(base_name(entry["text"]))
        elif entry["what"] == NOTE:
            key, _, value = entry["text"].partition("=")
            said = notes.setdefault(without_secrets(key)[:100] or "note", [])
            said.append(without_secrets(value))
    for key, values in sorted(notes.items()):
        yield Fact("capture", f"akvlog.note.{key}", ", ".join(dict.fromkeys(values))[:1000])
    if libraries:
        yield Fact("software", "libraries of the recorder", ", ".join(dict.fromkeys(libraries))[:1000])


def counts(log: scan.Log, tally: scan.Tally, names: Names, entries: pa.Table) -> Counter[tuple[str, str]]:
    """The fates of what became no row. What becomes rows is counted as they are made."""
    header = log.header
    found: Counter[tuple[str, str]] = Counter()
    continuations = tally.present.get(3, 0)
    found["continuation", "what its call waited for, moved or made"] = continuations - tally.strays
    found["continuation", "stray: no call stands before it"] = tally.strays
    found["words of a continuation", "of no known sort"] = tally.unknown_words
    for kind, n in tally.unknown.items():
        found[f"record of kind {kind}", "not known to this version"] = n
    found["record", "hole: reserved and never written"] = tally.holes
    found["record", "written over by a later one"] = tally.overwritten
    found["record", "lost: there was no room"] = tally.lost
    found["record", "missing: the file ends before it"] = tally.missing
    found["name", "lost: there was no room"] = header.names_lost
    found["name", "cut, or never finished"] = sum(e["cut"] or not e["complete"] for e in entries.to_pylist())
    found["device times", "lost: too many events waited to be read"] = header.device_times_lost
    found["device times", "never read: the process ended first"] = header.device_times_unread or 0
    found["event", "asked for by the recorder, where the caller asked for none"] = header.events_asked
    for id, n in zip(*(log.counts.column(c).to_pylist() for c in ("id", "count")), strict=True):
        found[f"call {names[id]}", COUNTED_ONLY] += n
    return found
