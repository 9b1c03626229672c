"""Where the time of tokens goes: by segment of their lives, by place in the output, by tokens of the step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from akvsite import estimators
from akvsite.estimate import Estimate
from akvsite.milestones import TOKEN
from akvsite.pages._listed import BY_NAME
from akvsite.pages._run import Run
from akvsite.pages.sections.tokens import ON_DEVICE, word

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What the time from each milestone to the one after it is called: no more than that.
SEGMENTS = (
    "waiting for its first step",
    "until launched",
    "until its first device record",
    "from its first to its last device record",
    "until sampled",
    "until copied to the host",
    "until detokenised",
    "until sent",
    "until seen by the client",
)
#: Places of the first and the last device record.
DEVICE = (TOKEN.index(ON_DEVICE[0]), TOKEN.index(ON_DEVICE[1]))
_ALIKE = "from the first to the last device record work and waiting lie alike"
_TIMING = "the records of this run are timing events, and none of them is of work"
#: Place of the milestone that a token shares with a later one, where its text was held back.
DETOKENISED = TOKEN.index("detokenised")


def segment_name(place: int, to_place: int) -> str:
    """What a stretch is called; what happened in one that steps over a milestone is not known."""
    if to_place == place + 1:
        return SEGMENTS[place]
    return f"unknown: {word(TOKEN[place])} to {word(TOKEN[to_place])}"


def between_records(run: Run) -> str:
    """What lies between the two device milestones of a token, as far as this run's records tell."""
    # What `sight` says first where the run has records, and all of them are spans between timing events.
    timing = run.listed["intervals"] and run.blind == "no device records"
    return f"{_ALIKE}: {_TIMING}" if timing else _ALIKE


@dataclass(frozen=True)
class Lives:
    """Tokens of a run (n,) in the order of their listing, so that an index is a row of it, and their segments (m,).

    ``life``, ``unknown``: ns, 0 where a token has no life. ``steps``: index of a token's step, -1 where it has none;
    steps are in the order of their numbers within each process. ``held``: index of the later token that a token's text came
    out with, -1 where it was not held back.
    """

    request: npt.NDArray[np.object_]
    number: Ints
    step: npt.NDArray[np.object_]
    kind: npt.NDArray[np.object_]
    warm_up: Mask
    has: Mask
    #: Whether the one end of its life is a time of the device and the other one of the host.
    on_two_clocks: Mask
    life: Ints
    steps: Ints
    held: Ints
    #: Of the first token of a chunk, what its client waited since the chunk before, ns; -1 where that is not known.
    gap: Ints
    owner: Ints
    place: Ints
    to_place: Ints
    ns: Ints
    #: Half-width of the clock's bound, ns; NaN where it is not known.
    bound: npt.NDArray[np.float64]

    @cached_property
    def unknown(self) -> Ints:
        inside = self.to_place > self.place + 1
        return _sums(self.owner[inside], self.ns[inside], len(self.life))

    @cached_property
    def counted(self) -> Mask:
        """Tokens that may stand in a number: with a life, in a step that is not declared as warm-up."""
        return self.has & ~self.warm_up & (self.steps >= 0)

    @cached_property
    def warming(self) -> frozenset[str]:
        """Requests whose first token is of a step that is declared as warm-up."""
        return frozenset(map(str, self.request[self.warm_up & (self.number == 0)].tolist()))

    @cached_property
    def in_step(self) -> Ints:
        """Tokens that the token's step made, itself among them; 0 where its step is not known."""
        made = np.bincount(self.steps[self.steps >= 0], minlength=1)
        return np.where(self.steps >= 0, made[np.maximum(self.steps, 0)], 0).astype(np.int64)

    def stretches(self, mask: Mask) -> list[tuple[int, int]]:
        """From and to, by place, of the stretches that these tokens (n,) have; those that are unknown come last."""
        own = mask[self.owner]
        found = np.unique(self.place[own] * len(TOKEN) + self.to_place[own]).tolist()
        return sorted(
            (divmod(code, len(TOKEN)) for code in found), key=lambda pair: (pair[1] > pair[0] + 1, pair)
        )

    def having(self, stretch: tuple[int, int]) -> Mask:
        """Which tokens (n,) have this stretch."""
        found = np.zeros(len(self.life), dtype=bool)
        found[self.owner[self.of(stretch)]] = True
        return found

    def of(self, stretch: tuple[int, int]) -> Mask:
        """Which segments (m,) are this stretch."""
        own: Mask = (self.place == stretch[0]) & (self.to_place == stretch[1])
        return own


def lives_of(run: Run) -> Lives:
    tokens = run.desk.columns("token_life", run_id=run.id, order=BY_NAME["tokens"].order)
    parts = run.desk.columns("token_life_segment", run_id=run.id)
    held = run.desk.columns("token_held", run_id=run.id)
    gaps = run.desk.columns("token_gap", run_id=run.id)
    ids = tokens["token_id"]
    by_id = np.argsort(ids, kind="stable")

    def rows(of: Ints) -> Ints:
        return by_id[np.searchsorted(ids, of, sorter=by_id)] if len(of) else of

    later, gap = (np.full(len(ids), -1, dtype=np.int64) for _ in range(2))
    later[rows(held["token_id"])] = rows(held["with_id"])
    gap[rows(gaps["token_id"])] = gaps["gap_ns"]
    owner = rows(parts["token_id"])
    return Lives(
        request=tokens["request"],
        number=tokens["number"],
        step=tokens["step"].astype(object),
        kind=tokens["kind"].astype(object),
        warm_up=tokens["warm_up"] == 1,
        has=_known(tokens["ends"]),
        on_two_clocks=np.isin(tokens["begins"], ON_DEVICE) != np.isin(tokens["ends"], ON_DEVICE),
        # What the segments add up to is the life: each ends where the next begins.
        life=_sums(owner, parts["duration_ns"], len(ids)),
        steps=_numbered(tokens["process_id"], tokens["step"]),
        held=later,
        gap=gap,
        owner=owner.astype(np.int64),
        place=parts["place"],
        to_place=parts["to_place"],
        ns=parts["duration_ns"],
        bound=np.array([np.nan if b is None else b for b in parts["bound_ns"].tolist()], dtype=np.float64),
    )


def _known(values: npt.NDArray[np.generic]) -> Mask:
    """Which of them are not NULL: what is unknown is None among texts, and NaN among numbers."""
    return np.array([v is not None and v == v for v in values.tolist()], dtype=bool)


def _numbered(process: Ints, step: npt.NDArray[np.generic]) -> Ints:
    known = _known(step)
    made = np.full(len(process), -1, dtype=np.int64)
    if known.any():
        keys = np.stack([process[known], step[known].astype(np.int64)])
        made[known] = np.unique(keys, axis=1, return_inverse=True)[1].ravel()
    return made


def _sums(at: Ints, values: Ints, count: int) -> Ints:
    """Sums in whole nanoseconds: a float would lose some of them."""
    made = np.zeros(count, dtype=np.int64)
    np.add.at(made, at, values)
    return made


@dataclass(frozen=True)
class Sampled:
    """Tokens of some steps, one sample a step (s,): the mean over those tokens."""

    run: Run
    lives: Lives
    mask: Mask

    @cached_property
    def _at(self) -> Ints:
        """For each token (n,) the sample that it is in."""
        found = np.unique(self.lives.steps[self.mask])
        return np.searchsorted(found, self.lives.steps)

    @cached_property
    def tokens(self) -> Ints:
        """Tokens of each step, (s,)."""
        return np.bincount(self._at[self.mask]).astype(np.int64)

    def life(self, *, without_wait: bool = False) -> Estimate:
        lives = self.lives
        own = self.mask[lives.owner] & ((lives.place > 0) | (not without_wait))
        # A life from a host time to a host time is of one clock, whatever lies between.
        return self._mean(own, np.where(lives.on_two_clocks[lives.owner], lives.bound, 0.0))

    def stretch(self, stretch: tuple[int, int]) -> Estimate:
        """Mean of a stretch over the tokens that have it: for any other token it is not known, and no 0."""
        lives = self.lives
        having = Sampled(self.run, lives, self.mask & lives.having(stretch))
        return having._mean(having.mask[lives.owner] & lives.of(stretch), lives.bound)

    def nothing(self) -> Estimate:
        """Mean time unknown inside, of tokens each milestone of which is on record: 0 for all of them."""
        return self._mean(np.zeros(len(self.lives.owner), dtype=bool), self.lives.bound)

    def _mean(self, own: Mask, bounds: npt.NDArray[np.float64]) -> Estimate:
        at = self._at[self.lives.owner[own]]
        sums = _sums(at, self.lives.ns[own], len(self.tokens))
        made = self.run.marked(estimators.mean(sums / self.tokens, unit="ns"))
        widest = np.zeros(len(self.tokens))
        np.maximum.at(widest, at, np.nan_to_num(bounds[own], nan=np.inf))
        if not widest.any():
            return made
        return estimators.with_clock(made, widest, "bounded" if np.isfinite(widest).all() else "unproven")
