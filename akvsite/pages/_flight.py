"""Requests in flight, from the events of their scheduler: waiting to be admitted, or in the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from akvsite.pages import Record

#: Where an event of the scheduler brings a request: those of a client say nothing of it.
_BRINGS = {
    "arrived": "waiting", "admitted": "running", "preempted": "waiting", "resumed": "running", "finished": "", "failed": "",
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """How many requests wait, and how many are in the batch, from ``at_ns`` on (host clock)."""

    at_ns: int
    waiting: int
    running: int


@dataclass(frozen=True)
class Wait:
    """From a request's arrival to its admission, ns; how many were in flight as it arrived, itself among them."""

    request: str
    ns: int
    in_flight: int


@dataclass(frozen=True)
class Preempted:
    """When a request lost its place in the batch, and when it got one again; None where that is not on record."""

    request: str
    at_ns: int
    back_ns: int | None


@dataclass
class Flight:
    """What the events of a run say: everything in the order of time."""

    changes: list[Change] = field(default_factory=list)
    #: In the order in which requests were done; those that are not done come last.
    waits: list[Wait] = field(default_factory=list)
    preempted: list[Preempted] = field(default_factory=list)
    #: How many were in flight as a request arrived, itself among them, by its name.
    on_arrival: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    #: Requests whose arrival is not on record, and those whose end is not: counted.
    unannounced: int = 0
    unfinished: int = 0

    @classmethod
    def of(cls, events: Sequence[Record]) -> Flight:
        """From rows of ``row_event`` in the order of time. A second arrival of a request in flight changes nothing."""
        made = cls()
        state: dict[str, str] = {}
        arrived: dict[str, int] = {}
        admitted: dict[str, int] = {}
        lost: dict[str, int] = {}
        done: dict[str, int] = {}
        for event in events:
            name, what, at = event["request"], event["event"], event["at_ns"]
            if what not in _BRINGS or at is None:
                continue
            if name not in state and what != "arrived":
                made.unannounced += 1
            made._move(name, _BRINGS[what], state, at)
            if what == "arrived" and name not in arrived:
                arrived[name] = at
                made.on_arrival[name] = made.changes[-1].waiting + made.changes[-1].running
            elif what == "admitted":
                admitted.setdefault(name, at)
            elif what == "preempted":
                lost[name] = len(made.preempted)
                made.preempted.append(Preempted(name, at, None))
            elif what in ("finished", "failed"):
                done[name] = len(done)
            if what in ("resumed", "admitted") and name in lost:
                place = lost.pop(name)
                made.preempted[place] = Preempted(name, made.preempted[place].at_ns, at)
        made.requests = len(state)
        made.unfinished = sum(map(bool, state.values()))
        both = sorted(
            arrived.keys() & admitted.keys(),
            key=lambda name: (done.get(name, len(done)), admitted[name], name),
        )
        made.waits = [Wait(name, admitted[name] - arrived[name], made.on_arrival[name]) for name in both]
        return made

    def _move(self, name: str, to: str, state: dict[str, str], at: int) -> None:
        waiting, running = (self.changes[-1].waiting, self.changes[-1].running) if self.changes else (0, 0)
        before = state.get(name, "")
        state[name] = to
        waiting += (to == "waiting") - (before == "waiting")
        running += (to == "running") - (before == "running")
        change = Change(at, waiting, running)
        if self.changes and self.changes[-1].at_ns == at:
            self.changes[-1] = change
        else:
            self.changes.append(change)
