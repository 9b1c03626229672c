"""The engine's loop: one step after another, each in its phases, with the probe around everything that it does."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any, Protocol

from akvsite import record
from akvsite.runner.backends import Backend, Batch, Row
from akvsite.runner.config import Cache
from akvsite.runner.looking import Looking
from akvsite.runner.scheduler import Decision, Request, Scheduler
from akvsite.runner.workload import Asked

Step = tuple[int, str, int, int, int]


@dataclass
class Piece:
    """What goes to a client at once: ``tokens`` of a request, the first at place ``first`` of its output, and their text."""

    request: str
    first: int
    tokens: list[int]
    text: str
    done: bool
    marks: list[Any]

    def mark(self, milestone: str, at_ns: int | None = None) -> None:
        """All of its tokens came to a milestone, together; now, if no time is given."""
        at_ns = monotonic_ns() if at_ns is None else at_ns
        for one in self.marks:
            one.mark(milestone, at_ns=at_ns)


class Outlet(Protocol):
    def send(self, piece: Piece) -> None:
        """Hand a piece to its client, and mark it ``sent``."""

    def fail(self, request: str, why: str) -> None: ...


@dataclass
class _Stream:
    """The output of one request: bytes that do not yet make a character wait for the next token."""

    request: Request
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )
    held: list[tuple[int, Any]] = field(default_factory=list)  # tokens without text so far, and their marks


@dataclass
class Outcome:
    """Counts and times of a run."""

    steps: list[Step] = field(default_factory=list)
    tokens: dict[str, list[int]] = field(default_factory=dict)  # of requests that finished
    finished: int = 0
    failed: int = 0


class Engine:
    """``marks``: where requests and tokens are told of (``marks.py``); ``looking``: what looks at the device."""

    def __init__(
        self,
        backend: Backend,
        layers: int,
        cache: Cache,
        outlet: Outlet,
        marks: Any,
        *,
        prefetch: bool = True,
        looking: Looking | None = None,
    ) -> None:
        self.backend, self.layers, self.prefetch = backend, layers, prefetch
        self.scheduler = Scheduler(cache)
        self.outcome = Outcome()
        self.number = 0  # of the next step
        self._outlet, self._marks, self._looking = outlet, marks, looking or Looking()
        self._streams: dict[str, _Stream] = {}
        # The probe has its own steps; counters are told of each.
        self._count: Callable[..., None] | None = None if marks is record else marks.step

    # --- requests ---

    def accept(self, asked: Asked, at_ns: int | None = None) -> str | None:
        """A request has arrived, at ``at_ns``; returns why it cannot be run, or None."""
        told = self._marks.request(asked.name)
        told.arrived(len(asked.prompt), at_ns=at_ns or monotonic_ns())
        why = (
            "there is a request of this name"
            if asked.name in self._streams
            else self.scheduler.refusal(asked)
        )
        if why is not None:
            self.outcome.failed += 1
            told.failed(0)
            return why
        request = Request(asked)
        self._streams[asked.name] = _Stream(request)
        self.scheduler.add(request)
        return None

    def abandon(self, name: str) -> None:
        """Its client is gone."""
        stream = self._streams.pop(name, None)
        if stream is not None:
            self.scheduler.drop(stream.request)
            self.outcome.failed += 1
            self._marks.request(name).failed(len(stream.request.generated))

    @property
    def idle(self) -> bool:
        """There is no request in the engine."""
        return not self._streams

    # --- steps ---

    def step(self) -> bool:
        """Run one; False where there is nothing to do."""
        coming = self.scheduler.coming()
        if coming is None:
            return False
        kind, batch = coming
        number = self.number
        with self._looking.step(number, kind):
            # Inside: what looks may need long to begin and to end, and that is no part of the step.
            start = monotonic_ns()
            self._run(number, kind, batch)
            end = monotonic_ns()
        self.outcome.steps.append((number, kind, batch, start, end))
        if self._count is not None:
            self._count(number, kind, batch, start, end)
        self.number += 1
        self._looking.between()
        return True

    def _run(self, number: int, kind: str, batch: int) -> None:
        with record.step(number, kind=kind, batch=batch):
            with record.phase("schedule"):
                decision = self.scheduler.decide()
                assert decision is not None
                self._marks.stamp("scheduled", step=number)
                self._tell(decision, number)
            with record.phase("prepare"):
                self.backend.begin(decision.batch)
            with record.phase("launch"):
                self._marks.stamp("launched", step=number)
                self._looking.first(number)
                launch(self.backend, self.layers, self.prefetch)
                self._looking.last()
            with record.phase("wait"):
                self.backend.wait()
            with record.phase("sample"):
                self.backend.sample()
                self._marks.stamp("sampled", step=number)
                tokens = self.backend.read()
                self._marks.stamp("copied", step=number)
            with record.phase("detokenise"):
                pieces = self._detokenise(decision, tokens, number)
            with record.phase("send"):
                for piece in pieces:
                    self._outlet.send(piece)
                self._finish(decision)

    def _tell(self, decision: Decision, number: int) -> None:
        for request in decision.preempted:
            self._marks.request(request.name).preempted(step=number)
        if decision.admitted is not None:
            self._marks.request(decision.admitted.name).admitted(step=number)
        if decision.resumed is not None:
            self._marks.request(decision.resumed.name).resumed(step=number)

    def _detokenise(self, decision: Decision, tokens: list[int], number: int) -> list[Piece]:
        """A toy vocabulary: a token is the byte of its lowest eight bits, and text is UTF-8."""
        pieces = []
        for request, token in zip(decision.requests, tokens, strict=True):
            stream = self._streams[request.name]
            self.scheduler.took(request, token)
            stream.held.append(
                (token, self._marks.token(request.name, len(request.generated) - 1, step=number))
            )
            text = stream.decoder.decode(bytes((token & 0xFF,)), final=request.done)
            if not text and not request.done:
                continue
            held, stream.held = stream.held, []
            piece = Piece(
                request.name,
                len(request.generated) - len(held),
                [token for token, _ in held],
                text,
                request.done,
                [mark for _, mark in held],
            )
            piece.mark("detokenised")
            pieces.append(piece)
        return pieces

    def _finish(self, decision: Decision) -> None:
        for request in decision.requests:
            if request.done and self._streams.pop(request.name, None) is not None:
                self.scheduler.drop(request)
                self.outcome.finished += 1
                self.outcome.tokens[request.name] = request.generated
                self._marks.request(request.name).finished(len(request.generated))


def launch(backend: Backend, layers: int, prefetch: bool) -> None:
    """Put a step's work on the queues. With ``prefetch`` the blocks of a layer are on their way while the one before runs."""
    with record.region("embed"):
        backend.embed()
    if prefetch:
        with record.region("kv fetch"):
            backend.fetch(0)
    for number in range(layers):
        with record.layer(number):
            ahead = number + 1 if prefetch else number
            if ahead < layers:
                with record.region("kv fetch"):
                    backend.fetch(ahead)
            with record.region("attention"):
                backend.attention(number)
            with record.region("kv write"):
                backend.write_back(number)
            with record.region("mlp"):
                backend.mlp(number)
    with record.region("head"):
        backend.head()


def warm_up(backend: Backend, layers: int, cache: Cache, prefetch: bool, steps: int) -> None:
    """One prefill and then decode steps of made-up tokens, before the first request: compilers and libraries get ready.

    They are no steps of the run, and what they leave in the pool is written over before it is read.
    """
    if not steps:
        return
    blocks = tuple(range(min(cache.blocks, cache.max_blocks)))
    tokens = min(len(blocks) * cache.block_tokens, cache.max_context) - 1
    prompt = Batch("prefill", (Row((1,) * max(1, tokens), 0, blocks),))
    decode = Batch("decode", tuple(Row((1,), max(1, tokens), blocks) for _ in range(cache.max_batch)))
    for batch in (prompt, *(decode for _ in range(steps))):
        backend.begin(batch)
        launch(backend, layers, prefetch)
        backend.wait()
        backend.sample()
        backend.read()
