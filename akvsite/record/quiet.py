"""What "quiet" means, in numbers: a host that is over one of them is not called proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from akvsite.record import device, host, software

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


def checks(environment: Mapping[str, str]) -> list[Check]:
    """Every threshold of a proof host. What a host cannot show is said and does not count against it, with one
    exception: a device whose users cannot be counted."""
    load = host.load_per_core()
    governor = host.governor()
    looking = software.looking(environment)
    users = device.users() if device.present() else None
    count = None if users is None else users.count
    return [
        Check("load a core over 1 min", f"{load:.2f}", f"at most {LOAD_PER_CORE:.2f}", load <= LOAD_PER_CORE),
        Check(
            "governor", governor or "not shown by this kernel", f"{GOVERNOR} on every core, where shown",
            governor in (GOVERNOR, None),
        ),
        Check(
            "other processes on the device", "no device that can be asked" if users is None else "unknown" if count is None else str(count),
            f"at most {OTHER_USERS}", users is None or (count is not None and count <= OTHER_USERS),
        ),
        Check("tracers switched on", ", ".join(looking) or "none", "none", not looking),
    ]  # fmt: skip
