"""The account of an akvlog file: every reserved record is one of what is listed here."""

from __future__ import annotations

from dataclasses import dataclass, field

from akvsite.scan._header import Header
from akvsite.scan._slots import Slots

KINDS = {1: "open", 2: "call", 3: "continuation", 4: "object", 5: "device times", 6: "clock bracket"}
_PROBE = range(16, 64)


@dataclass
class Found:
    """What an engine counted in the slots: records by kind (0: holes that were read), calls by name id (open ones too)."""

    kinds: dict[int, int] = field(default_factory=dict)
    names: dict[int, int] = field(default_factory=dict)
    #: Continuations that follow a call, and those of them whose words are of no known sort.
    attached: int = 0
    unknown_words: int = 0
    #: Earliest and latest time of the host's clock in any record; None where there is none.
    first_ns: int | None = None
    last_ns: int | None = None

    def add(self, more: Found) -> None:
        """Counts of further records."""
        for counts, others in ((self.kinds, more.kinds), (self.names, more.names)):
            for key, count in others.items():
                counts[key] = counts.get(key, 0) + count
        self.attached += more.attached
        self.unknown_words += more.unknown_words
        self.first_ns = min((t for t in (self.first_ns, more.first_ns) if t is not None), default=None)
        self.last_ns = max((t for t in (self.last_ns, more.last_ns) if t is not None), default=None)


@dataclass(frozen=True)
class Tally:
    """Counts of records. ``reserved == sum(present.values()) + holes + overwritten + lost + missing``."""

    reserved: int
    #: Records by kind.
    present: dict[int, int]
    #: Records by kind that this version does not name; they are in ``present`` too.
    unknown: dict[int, int]
    #: Reserved and never written (also where the file was not made that long yet), or of an older lap.
    holes: int
    #: Of a file that wraps: an older lap, written over.
    overwritten: int
    #: There was no room for these.
    lost: int
    #: The header promises these, and the file ends before them.
    missing: int
    open_calls: int
    #: Continuations without a call before them; their words are not used.
    strays: int
    unknown_words: int
    calls_by_name: dict[int, int]
    first_ns: int | None
    last_ns: int | None
    #: Of the holes: those in large holes of the file itself, which were not read. It depends on the engine's pieces.
    unread: int = field(default=0, compare=False)

    @property
    def truncated(self) -> bool:
        """Whether the file is shorter than its header says."""
        return self.missing > 0


def account(header: Header, slots: Slots, found: Found) -> Tally:
    """The tally of a file from what was found in its slots."""
    overwritten = max(0, header.reserved - header.capacity) if header.wraps else 0
    outside = header.reserved - overwritten - slots.count
    beyond = 0 if header.wraps else max(0, header.reserved - header.capacity)
    # A recorder that could not let the file grow has counted what it lost; only what it did not count is missing.
    lost = min(outside, max(beyond, header.records_lost))
    # A process that ended while the file was to grow had reserved what was never made, and never written.
    promised = outside + slots.count - lost
    unmade = 0 if header.made is None else min(outside - lost, max(0, promised - header.made))
    present = {kind: count for kind, count in sorted(found.kinds.items()) if kind}
    return Tally(
        reserved=header.reserved,
        present=present,
        unknown={k: n for k, n in present.items() if k not in KINDS and k not in _PROBE},
        holes=slots.count - sum(present.values()) + unmade,
        unread=slots.count - sum(found.kinds.values()),
        overwritten=overwritten,
        lost=lost,
        missing=outside - lost - unmade,
        open_calls=found.kinds.get(1, 0),
        strays=found.kinds.get(3, 0) - found.attached,
        unknown_words=found.unknown_words,
        calls_by_name=dict(sorted(found.names.items())),
        first_ns=found.first_ns,
        last_ns=found.last_ns,
    )
