"""The requests of a run, drawn from a seed: the engine and its client make the same ones, each for itself."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SCHEDULES = ("closed", "fixed")


@dataclass(frozen=True)
class Workload:
    """``requests`` of about ``prompt_tokens`` and ``output_tokens``, half as many to half as many again; or ``exact``."""

    requests: int
    concurrency: int
    prompt_tokens: int
    output_tokens: int
    vocabulary: int
    exact: bool = False
    seed: int = 0
    schedule: str = "closed"

    @property
    def max_context(self) -> int:
        """Tokens of prompt and output of one request at most."""
        if self.exact:
            return self.prompt_tokens + self.output_tokens
        return _most(self.prompt_tokens) + _most(self.output_tokens)


@dataclass(frozen=True)
class Asked:
    """One request as its client sends it. ``at_step``: the step before which it arrives, in a fixed schedule."""

    name: str
    prompt: tuple[int, ...]
    output_tokens: int
    at_step: int | None = None


def drawn(work: Workload) -> list[Asked]:
    """All requests, in their order. The n-th does not depend on how many there are."""
    made = []
    for n in range(work.requests):
        draw = random.Random(f"{work.seed}/{n}")
        prompt, output = work.prompt_tokens, work.output_tokens
        if not work.exact:
            prompt, output = (
                draw.randint(_least(prompt), _most(prompt)),
                draw.randint(_least(output), _most(output)),
            )
        tokens = tuple(draw.randrange(work.vocabulary) for _ in range(prompt))
        made.append(Asked(f"r{n}", tokens, output, _arrival(work, n) if work.schedule == "fixed" else None))
    return made


def tokens_sha256(tokens: Mapping[str, Sequence[int]]) -> str:
    """One hash of what every request got: (name, tokens) in the order of the names."""
    text = json.dumps(sorted((name, list(got)) for name, got in tokens.items()), separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _arrival(work: Workload, n: int) -> int:
    """As many as may be in flight at once, then one whenever one of them would be through."""
    return max(0, n - work.concurrency + 1) * max(1, work.output_tokens // work.concurrency)


def _least(tokens: int) -> int:
    return max(1, tokens // 2)


def _most(tokens: int) -> int:
    return tokens + tokens // 2
