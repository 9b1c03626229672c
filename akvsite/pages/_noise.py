"""The noise floor of a host: by how much the same thing differs from itself there, from its A/A experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from akvsite import estimators
from akvsite.estimate import Estimate, unknown
from akvsite.estimators import FEWEST_SAMPLES, LevelRun
from akvsite.pages import Desk
from akvsite.pages._control import COMMAND, STEP, level_runs, signed

A, AGAIN = "A", "A again"
#: Steps that a run must have before the effect on them has a band, by what is timed.
FEWEST = {STEP: FEWEST_SAMPLES, COMMAND: 1}
_WORDS = {STEP: "median decode step", COMMAND: "wall clock of the whole command"}


@dataclass(frozen=True)
class NoiseFloor:
    """What one A/A experiment says of its host.

    ``between``: in per cent, the same thing against itself over its pairs. ``one_pair``: in per cent, what a single pair
    differed by, least to most.
    """

    experiment: str
    run_id: int
    host: str
    #: The engine or command and what of it was timed, in words.
    what: str
    started: str | None
    pairs: int
    between: Estimate
    one_pair: Estimate


def of_host(desk: Desk, host: str) -> tuple[NoiseFloor, ...]:
    """Its A/A experiments, the newest first; those that are excluded or stamped, or whose outputs differ, are left out."""
    found = desk.ask("noise_experiment", host=host, order="place")
    floors = []
    for row in found:
        arm, runs = timed(desk, row["run_id"])
        between = against_itself(runs, arm)
        what = f"{_WORDS[arm]}, {row['engine'] or 'engine not stated'}"
        pairs = len({run.block for run in runs})
        floors.append(
            NoiseFloor(
                row["experiment"], row["run_id"], host, what, row["started"], pairs, between,
                estimators.one_pair(between),
            )
        )  # fmt: skip
    return tuple(floors)


def timed(desk: Desk, run_id: int) -> tuple[str, list[LevelRun]]:
    """What a number of this experiment is made of, and its runs in their order: the steps where every run has some."""
    steps, whole = (level_runs(desk, run_id, arm) for arm in (STEP, COMMAND))
    return (STEP, steps) if steps and len(steps) >= len(whole) else (COMMAND, whole)


def against_itself(runs: Sequence[LevelRun], arm: str) -> Estimate:
    """In per cent: the second time over the first, over the pairs."""
    if not runs:
        return unknown("no decode steps and no wall clock", "%")
    return estimators.effect_of_looking(runs, A, AGAIN, "median", fewest=FEWEST[arm])


def line(floors: Sequence[NoiseFloor]) -> str:
    """One line for a page or a printed line; several experiments of a host: the newest speaks.

    ``noise floor (aa-x): the same thing against itself +0.1 % [-0.2, 0.3] over 8 ABBA pairs, ...``
    """
    if not floors:
        return "noise floor unknown: no A/A experiment of this host counts (one that is excluded, under a retraction or of differing outputs does not)"
    newest = floors[0]
    several = f", the newest of {len(floors)}" if len(floors) > 1 else ""
    head = f"noise floor ({newest.experiment}{several})"
    if newest.between.low is None:
        return f"{head}: no band: {newest.between.refusal}"
    alone = newest.one_pair
    return (
        f"{head}: the same thing against itself {signed(newest.between)} over {newest.pairs} ABBA pairs"
        f", a single pair {signed(alone)}, least to most ({newest.what})"
    )
