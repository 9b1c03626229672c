"""Continuous batching: which requests a step runs. Requests are admitted, preempted and finished between steps.

No clock and no device here: what is decided depends on the calls alone.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from akvsite.runner.backends import Batch, Row
from akvsite.runner.cache import Blocks
from akvsite.runner.config import Cache
from akvsite.runner.workload import Asked


@dataclass
class Request:
    """A request in the engine: what was asked, and the tokens generated so far."""

    asked: Asked
    generated: list[int] = field(default_factory=list)
    preempted: int = 0

    @property
    def name(self) -> str:
        return self.asked.name

    @property
    def known(self) -> int:
        """Tokens of prompt and output so far."""
        return len(self.asked.prompt) + len(self.generated)

    @property
    def done(self) -> bool:
        return len(self.generated) >= self.asked.output_tokens


@dataclass(frozen=True)
class Decision:
    """What a step does: one prefill, or a decode of all that run. ``admitted`` is the prefill's where it is a first one."""

    batch: Batch
    requests: tuple[Request, ...]
    preempted: tuple[Request, ...] = ()
    admitted: Request | None = None
    resumed: Request | None = None


class Scheduler:
    """First come, first served. The last admitted is the first preempted; it is the next to be resumed."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self.blocks = Blocks(cache.blocks)
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []  # in the order of admission
        self.preemptions = 0

    def refusal(self, asked: Asked) -> str | None:
        """Why a request can never run here, or None."""
        if not asked.prompt or asked.output_tokens < 1:
            return "a prompt and an output of one token or more are needed"
        context = len(asked.prompt) + asked.output_tokens
        if context > self.cache.max_context:
            return f"{context} tokens of prompt and output, where {self.cache.max_context} are the most"
        if self._blocks_for(context) > self.cache.blocks:
            return f"{context} tokens of prompt and output do not fit in {self.cache.blocks} blocks"
        return None

    def add(self, request: Request) -> None:
        self.waiting.append(request)

    def drop(self, request: Request) -> None:
        """Forget a request: it is finished, or its client is gone."""
        self.blocks.release(request.name)
        if request in self.running:
            self.running.remove(request)
        elif request in self.waiting:
            self.waiting.remove(request)

    def coming(self) -> tuple[str, int] | None:
        """Kind and batch of the next step, or None where there is nothing to do: what ``decide`` will say, not yet done.

        A step is announced with both before its scheduling begins.
        """
        if self._admits():
            return "prefill", 1
        if not self.running:
            return None
        free, batch = self.blocks.free, len(self.running)
        place = 0
        while place < batch:
            missing = self._missing(self.running[place])
            if missing <= free:
                free -= missing
                place += 1
            else:
                batch -= 1
                free += self.blocks.held(self.running[batch].name)
        return "decode", batch

    def decide(self) -> Decision | None:
        """The next step, or None where there is nothing to do."""
        if self._admits():
            first = self.waiting.popleft()
            self.blocks.take(first.name, self._blocks_for(first.known))
            self.running.append(first)
            return self._prefill(first)
        if not self.running:
            return None
        preempted = self._make_room()
        rows = tuple(Row((r.generated[-1],), r.known - 1, self.blocks.of(r.name)) for r in self.running)
        return Decision(Batch("decode", rows), tuple(self.running), preempted)

    def took(self, request: Request, token: int) -> None:
        """The step gave ``request`` its next token."""
        request.generated.append(token)

    def _admits(self) -> bool:
        if not self.waiting or len(self.running) >= self.cache.max_batch:
            return False
        return self._blocks_for(self.waiting[0].known) <= self.blocks.free

    def _prefill(self, request: Request) -> Decision:
        tokens = (*request.asked.prompt, *request.generated)
        batch = Batch("prefill", (Row(tokens, 0, self.blocks.of(request.name)),))
        if request.preempted:
            return Decision(batch, (request,), resumed=request)
        return Decision(batch, (request,), admitted=request)

    def _make_room(self) -> tuple[Request, ...]:
        """A place in the cache for the newest token of each that runs; those for whom there is none make way.

        The first admitted never does: it fits in the pool alone (``refusal``), so every decode step moves it on.
        """
        preempted = []
        place = 0
        while place < len(self.running):
            request = self.running[place]
            if self.blocks.take(request.name, self._missing(request)):
                place += 1
                continue
            last = self.running.pop()
            self.blocks.release(last.name)
            last.preempted += 1
            self.preemptions += 1
            self.waiting.appendleft(last)
            preempted.append(last)
        return tuple(preempted)

    def _missing(self, request: Request) -> int:
        return self._blocks_for(request.known) - self.blocks.held(request.name)

    def _blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.cache.block_tokens)
