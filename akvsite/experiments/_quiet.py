"""A host that is called a proof host has to be quiet: before the first run, by itself before each, and after the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from akvsite.record import quiet

PROOF = "proof"


def found(
    role: str | None, environment: Mapping[str, str], progress: Callable[[str], None]
) -> dict[str, str]:
    """The thresholds of a proof host with what is found, where it is to be one. Raises ``BadInput`` where it is busy."""
    if role != PROOF:
        return {}
    held = quiet.hold(environment, "nothing was run")
    for check in held:
        progress(f"quiet: {check}")
    return {check.what: str(check) for check in held}


def still(role: str | None, environment: Mapping[str, str], which: str) -> dict[str, str]:
    """What others took of a proof host just before a run. Raises ``BadInput`` where that is too much.

    By the processors themselves: the load over a minute still tells of the run before.
    """
    if role != PROOF:
        return {}
    ending = f"{which} was not made, and those before it are kept: the same command goes on"
    load = quiet.hold(environment, ending, seconds=quiet.BETWEEN_RUNS_S)[0]
    return {load.what: load.found}


def after(role: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The thresholds of a proof host with what is found after the last run.

    Raises ``BadInput`` where the host is busy: that run is then not kept, so that no later moment of quiet speaks for it.
    """
    if role != PROOF:
        return {}
    ending = "this is after the last run, which is not kept, and nothing is published; the same command makes that run again"
    held = quiet.hold(environment, ending, seconds=quiet.BETWEEN_RUNS_S)
    return {f"after the last run, {check.what}": str(check) for check in held}
