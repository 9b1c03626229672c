"""A run from its first request to its last: with a client process, or with a fixed schedule in this one."""

from __future__ import annotations

import heapq
import json
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from akvsite.runner.engine import Engine, Piece
from akvsite.runner.server import Arrived, Gone, Refused, Server
from akvsite.runner.workload import Workload, drawn

_LOOK_S = 0.2  # how often an idle engine looks whether its client still runs
_GRACE_S = 10.0


class Sink:
    """Where pieces go when there is no client."""

    def send(self, piece: Piece) -> None: ...

    def fail(self, request: str, why: str) -> None: ...


@dataclass
class Schedule:
    """Requests that arrive before a step of their own; earlier where the engine has nothing to do."""

    _held: list[tuple[int, int, Any]] = field(default_factory=list)  # a heap: step, order, what arrives
    _order: Any = field(default_factory=count)

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, step: int, what: Any) -> None:
        heapq.heappush(self._held, (step, next(self._order), what))

    def due(self, step: int, idle: bool) -> list[Any]:
        """What arrives before ``step``; where the engine is idle, at least those that are next."""
        if idle and self._held:
            step = max(step, self._held[0][0])
        out = []
        while self._held and self._held[0][0] <= step:
            out.append(heapq.heappop(self._held)[2])
        return out


@dataclass(frozen=True)
class ClientReport:
    """What the client said at its end. None: it said nothing."""

    code: int
    counts: dict[str, Any] | None


def alone(engine: Engine, work: Workload) -> None:
    """All requests of a fixed schedule, without a client."""
    schedule = Schedule()
    for asked in drawn(work):
        schedule.hold(asked.at_step or 0, asked)
    while True:
        for asked in schedule.due(engine.number, engine.idle):
            engine.accept(asked)
        if not engine.step() and not schedule:
            return


class Serving:
    """An engine behind its server. ``wait_for``: a fixed schedule begins when so many requests are there."""

    def __init__(self, engine: Engine, server: Server, wait_for: int = 0) -> None:
        self.engine, self.server = engine, server
        self._schedule: Schedule | None = Schedule() if wait_for else None
        self._wait_for = wait_for

    def until_ended(self, client: subprocess.Popen[bytes]) -> None:
        """Until the client has ended, and what it left is cleared away."""
        while True:
            # Asked before looking at events: what it did before its end is then among them.
            ended = client.poll() is not None
            worked = self.turn(0 if ended else _LOOK_S)
            if ended and not worked:
                return

    def turn(self, patience_s: float) -> bool:
        """Take in what came, and run a step; without work, wait for something to come. False where nothing was done."""
        waited = patience_s if not self._can_step() and patience_s else 0
        came = False
        while (event := self.server.next(waited)) is not None:
            came, waited = True, 0
            self._take(event)
        self.server.flush()
        return self._step() or came

    def _can_step(self) -> bool:
        return not self.engine.idle or (bool(self._schedule) and not self._wait_for)

    def _step(self) -> bool:
        if self._schedule is not None:
            if self._wait_for:
                return False
            for event in self._schedule.due(self.engine.number, self.engine.idle):
                self._accept(event, None)
        return self.engine.step()

    def _take(self, event: Arrived | Gone | Refused) -> None:
        if isinstance(event, Refused):
            self.server.refuse(event.connection, None, event.why)
        elif isinstance(event, Gone):
            for name in self.server.requests_of(event.connection):
                self.server.forget(name)
                self.engine.abandon(name)
            self.server.end(event.connection)
            if self._schedule is not None:
                # Nobody will send the rest of what the schedule waits for.
                self._wait_for = 0
        elif self._schedule is None:
            self._accept(event, event.at_ns)
        else:
            self._schedule.hold(event.asked.at_step or 0, event)
            self._wait_for = max(0, self._wait_for - 1)

    def _accept(self, event: Arrived, at_ns: int | None) -> None:
        if event.connection.broken:
            return
        why = self.engine.accept(event.asked, at_ns)
        if why is None:
            self.server.own(event.asked.name, event.connection)
        else:
            self.server.refuse(event.connection, event.asked.name, why)


def with_client(engine: Engine, server: Server, work: Workload) -> ClientReport:
    """All requests of a client process that is started here; ends when it has ended."""
    command = [sys.executable, "-m", "akvsite.runner.client", "--port", str(server.port)]
    for name in (
        "requests",
        "concurrency",
        "prompt_tokens",
        "output_tokens",
        "vocabulary",
        "seed",
        "schedule",
    ):
        command += [f"--{name.replace('_', '-')}", str(getattr(work, name))]
    if work.exact:
        command.append("--exact")
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as client:
        try:
            Serving(engine, server, work.requests if work.schedule == "fixed" else 0).until_ended(client)
        finally:
            # Of an engine that ends early: its client sees the end of the connection, and gets time to say so.
            server.close()
            try:
                text, _ = client.communicate(timeout=_GRACE_S)
            except subprocess.TimeoutExpired:
                client.kill()
                text, _ = client.communicate()
    return ClientReport(client.returncode, _counts(text))


def _counts(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
