"""What the captures of a comparison state: what is not the same, what one side alone states, and what is no such fact.

What a run measured of itself (how long it took, its processor time, its peak of memory, when it began), what a reading
gave after it, and the names of its own files are of that run alone. They differ between any two runs, and are no
difference of what was run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from akvsite.wording import number_of

#: Facts that say what came out; where they differ, the two sides did not do the same work.
OUTPUTS = ("output_hash", "quality", "errors")

#: Of what a capture says of itself, by key: what that run measured or read, and what its own files are called.
_OWN = re.compile(
    r"arguments|(duration|user|system|started_monotonic)_ns|peak_resident_bytes|declared\..*|runs\.\d+"
    r"|memory_sampling\.(reading_ns|reads|rounds|rows|processes)|(edge|probe)\.(calls_seen|files)"
    r"|host axis( is known to, in ns)?|baseTimeNanoseconds|profiler window (start|end)_ns"
    r"|edge\.notes\.\d+|engine\.(profiler\.file|timing events\.stretches)"
)


class Stating(Protocol):
    """A run of a comparison, as far as its facts go."""

    @property
    def side(self) -> str: ...

    @property
    def facts(self) -> Mapping[tuple[str, str], str]: ...


@dataclass(frozen=True)
class Difference:
    """A fact that is not the same everywhere: the value of every run, side by side; None where a run does not state it."""

    part: str
    key: str
    a: tuple[str | None, ...]
    b: tuple[str | None, ...]

    @property
    def under(self) -> str:
        """Which table it belongs to: what came out, what must match before a comparison means anything, or the load.

        A governor is a setting that a capture states with the load, and what a capture says of its engine is no load.
        ``capture`` is how a run was captured and its place in the design; ``own`` is what is of a run alone.
        """
        if self.part == "contract" and self.key in OUTPUTS:
            return "outputs"
        if self.part == "load":
            if self.key.endswith(".governor"):
                return "contract"
            return "load" if self.key.startswith("before.") else "own"
        if self.part != "capture":
            return "contract"
        if _OWN.fullmatch(self.key):
            return "own"
        return "contract" if self.key.startswith("engine.") else "capture"

    @property
    def known(self) -> bool:
        """Whether two runs state two things: where the others are silent, that it differs is not known."""
        return len({*self.a, *self.b} - {None}) > 1

    def stated(self, side: str) -> bool:
        return any(value is not None for value in (self.a if side == "A" else self.b))

    def written(self, side: str) -> str:
        """Every value of a side: each once, with how many runs state it; where all differ, in the order of the runs."""
        if not self.stated(side):
            return f"not stated on {side}"
        values = ["not stated" if v is None else v for v in (self.a if side == "A" else self.b)]
        distinct = list(dict.fromkeys(values))
        if len(distinct) == 1:
            return distinct[0]
        if len(distinct) == len(values):
            return f"{'; '.join(values)} (a value each run, in their order)"
        return "; ".join(
            f"{value} ({values.count(value)} of {number_of(len(values), 'run')})" for value in distinct
        )


def differences(runs: Sequence[Stating]) -> list[Difference]:
    """Every fact that is not the same in all runs, each once; what the runs are first, then their contract."""
    keys = dict.fromkeys(key for run in runs for key in run.facts)
    found = []
    for part, key in sorted(keys, key=lambda k: (k[0] != "run", k[0] != "contract", k)):
        a, b = (tuple(r.facts.get((part, key)) for r in runs if r.side == side) for side in ("A", "B"))
        if len({*a, *b}) > 1:
            found.append(Difference(part, key, a, b))
    return [one for one in found if not any(_said_by(one, other) for other in found)]


def _said_by(one: Difference, other: Difference) -> bool:
    """Whether an engine's option is told by what the engine says that it did: ``engine.graphs`` yes by ``graphs`` on."""
    if (
        one.part not in ("contract", "capture")
        or not one.key.startswith("engine.")
        or other.part != "contract"
    ):
        return False
    option = one.key.removeprefix("engine.")
    if other.key not in (option, option.removeprefix("no_")):
        return False
    return all(
        value in ("yes", None, said)
        for values, told in ((one.a, other.a), (one.b, other.b))
        for value, said in zip(values, told, strict=True)
    )
