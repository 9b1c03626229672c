"""What the triples of an overlap experiment say together: copy alone, compute alone and both, a run each.

For the experiment where it runs, and for its page: both say the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from akvsite import estimators
from akvsite.estimate import Estimate, unknown
from akvsite.estimators.looking import order_in_pairs

UNIT = "fraction of the shorter"


@dataclass(frozen=True)
class Triple:
    """One run in a fresh process: the mean wall clock of each arm over its cycles, ns above 0."""

    treatment: str
    block: int
    copy: float
    compute: float
    both: float


def overlap(runs: Sequence[Triple], treatment: str) -> Estimate:
    """Overlap over the runs of a treatment. Assumes what ``overlap_triples`` does."""
    own = [run for run in runs if run.treatment == treatment]
    return estimators.overlap_triples(
        [run.copy for run in own], [run.compute for run in own], [run.both for run in own]
    )


def difference(runs: Sequence[Triple], first: str, second: str) -> Estimate:
    """Overlap under ``second`` minus that under ``first``, over pairs of one block. ``runs`` in the order they were run."""
    pairs = _pairs(runs, first, second)
    if isinstance(pairs, Estimate):
        return replace(pairs, unit=UNIT)
    a, b = ([overlap([run], run.treatment).value for run in side] for side in pairs)
    order = order_in_pairs((run.treatment for run in runs), first, second)
    return estimators.difference_of_paired_runs(a, b, unit=UNIT, order=order)  # type: ignore[arg-type]


def effect(runs: Sequence[Triple], first: str, second: str, arm: str) -> Estimate:
    """What ``second`` adds to the wall clock of an arm, in per cent of that under ``first``: t on logs of pairs."""
    pairs = _pairs(runs, first, second)
    if isinstance(pairs, Estimate):
        return pairs
    a, b = ([getattr(run, arm) for run in side] for side in pairs)
    order = order_in_pairs((run.treatment for run in runs), first, second)
    made = estimators.ratio_of_paired_runs(a, b, order=order)
    return replace(
        made,
        value=_per_cent(made.value),
        low=_per_cent(made.low),
        high=_per_cent(made.high),
        unit="%",
        method=f"{made.method}, in per cent",
        dots=tuple(100 * (dot - 1) for dot in made.dots),
    )


def _pairs(runs: Sequence[Triple], first: str, second: str) -> tuple[list[Triple], list[Triple]] | Estimate:
    sides = [{run.block: run for run in runs if run.treatment == name} for name in (first, second)]
    if not sides[0] or sides[0].keys() != sides[1].keys():
        return unknown(f"not every block has a run with {first} and one with {second}", "%")
    blocks = sorted(sides[0])
    return [sides[0][b] for b in blocks], [sides[1][b] for b in blocks]


def _per_cent(ratio: float | None) -> float | None:
    return None if ratio is None else 100 * (ratio - 1)
