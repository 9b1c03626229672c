"""What "quiet" means, in numbers: a host that is over one of them is not called proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from akvsite.errors import BadInput
from akvsite.record import device, host, software

#: How long the processors are looked at before each run of an experiment.
BETWEEN_RUNS_S = 1.0
LOAD_PER_CORE = 0.10
OTHER_USERS = 0
GOVERNOR = "performance"


@dataclass(frozen=True)
class Check:
    """One threshold: what it is about, what is there now, what may be, and whether it is held."""

    what: str
    found: str
    wanted: str
    held: bool

    def __str__(self) -> str:
        return f"{self.what} {self.found} (threshold: {self.wanted})"


def checks(environment: Mapping[str, str], *, seconds: float | None = None) -> list[Check]:
    """Every threshold of a proof host, the load first. What a host cannot show is said and does not count against it, with
    one exception: a device whose users cannot be counted.

    ``seconds``: the load is what the processors do for so long, not the average of the last minute.
    """
    load = host.load_per_core() if seconds is None else host.busy_per_core(seconds)
    over = "1 min" if seconds is None else f"{seconds:g} s"
    governor = host.governor()
    looking = software.looking(environment)
    users = device.users() if device.present() else None
    count = None if users is None else users.count
    return [
        Check(f"load a core over {over}", f"{load:.2f}", f"at most {LOAD_PER_CORE:.2f}", load <= LOAD_PER_CORE),
        Check(
            "governor", governor or "not shown by this kernel", f"{GOVERNOR} on every core, where shown",
            governor in (GOVERNOR, None),
        ),
        Check(
            "other processes on the device", device.NO_DEVICE if users is None else "unknown" if count is None else str(count),
            f"at most {OTHER_USERS}", users is None or (count is not None and count <= OTHER_USERS),
        ),
        Check("tracers switched on", ", ".join(looking) or "none", "none", not looking),
    ]  # fmt: skip


def hold(environment: Mapping[str, str], ending: str, *, seconds: float | None = None) -> list[Check]:
    """The checks of a host that is to be quiet: a busy one does not become a proof host by its name.

    Raises ``BadInput`` where one is not held; ``ending`` says what that means for the command.
    """
    made = checks(environment, seconds=seconds)
    over = [str(check) for check in made if not check.held]
    if over:
        raise BadInput("--host-role proof", f"this host is not quiet: {'; '.join(over)}; {ending}")
    return made
