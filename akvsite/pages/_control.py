"""What looking on cost: read off a probe experiment of the same engine and workload, for the printed line of a level."""

from __future__ import annotations

from akvsite import estimators
from akvsite.charts import NO_CONTROL
from akvsite.estimate import Estimate
from akvsite.estimators import LevelRun
from akvsite.pages import Desk

OFF, DEVICE = "off", "device"
#: What is timed of a run: each of its decode steps, or the whole process by the wall clock.
STEP, COMMAND = "decode step", "command"
#: The experiment's own words for what looked at the device at that level.
_DEVICE_FACT = "shared.device_looked_at_by"


def level_runs(desk: Desk, experiment_id: int, arm: str = STEP) -> list[LevelRun]:
    """The runs of an experiment in the order in which they were run: their steps, or the command as a whole."""
    return [
        LevelRun(row["treatment"], row["block"], row["steps"], row["median_ns"], row["mean_ns"])
        for row in desk.ask("looking_run", run_id=experiment_id, arm=arm, order="process_id")
    ]


def line(desk: Desk, run_id: int, level: str) -> str:
    """What is printed of the cost of looking under a chart of a run at this level; nothing at level off."""
    if level == OFF:
        return ""
    found = desk.ask("looking_control", run_id=run_id, order="place", limit=1)
    if not found:
        return f"{NO_CONTROL}: not a speed"
    newest = found[0]
    runs = level_runs(desk, newest["experiment_id"])
    effect = estimators.effect_of_looking(runs, OFF, level, "median")
    if effect.low is None:
        why = f"{newest['experiment']}: {effect.refusal}"
        return f"{NO_CONTROL} with a band ({why}): not a speed"
    several = f", the newest of {newest['of']}" if newest["of"] > 1 else ""
    return (
        f"capture on, {signed(effect)} on the median decode step against its control"
        f" ({newest['experiment']}{several}){_looked_at_by(desk, newest['experiment_id'], level)},"
        f" {effect.n} ABBA pairs: not a speed"
    )


def _looked_at_by(desk: Desk, experiment_id: int, level: str) -> str:
    """At level device: what looked at the device there, which may have been on in other steps than here."""
    if level != DEVICE:
        return ""
    facts = {row["key"]: row["value"] for row in desk.ask("fact_list", run_id=experiment_id)}
    said = facts.get(_DEVICE_FACT, "")
    return f" with {said.partition(', its ')[0]}" if said else ""


def signed(effect: Estimate) -> str:
    """Value and band alone, a value from 0 with its sign: ``+33 % [29, 37]``."""
    written = effect.text().partition("]")[0] + "]"
    return written if written.startswith("-") else f"+{written}"
