"""How busy the host was: a run's load fingerprint in words, and whether runs were made under the same load.

The rule and its tolerance are ``same_load.sql``; nothing is decided here but which pairs are asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from akvsite.pages import Desk


@dataclass(frozen=True)
class Loads:
    """What is known of the loads of several runs. ``same``: 1, 0, or None where it is unknown."""

    same: int | None
    because: str
    tolerance: str
    #: The fingerprint of each run, in words, by its name.
    fingerprints: dict[str, str]
    #: The order of interleaved runs of one host, such as ABBA, as every capture states it; empty where no design stands for
    #: the load.
    order: str = ""

    @property
    def words(self) -> str:
        """One sentence for a page or a printed line."""
        if self.order:
            return (
                f"the design stands for it, not the fingerprint: runs of A and B alternate as {self.order},"
                " so that both sides saw the same changes of load"
            )
        said = {
            1: "the same within the tolerance",
            0: "not the same",
            None: "unknown whether it was the same",
        }
        return f"{said[self.same]}: {self.because} (tolerance: {self.tolerance})"

    @property
    def refusal(self) -> str:
        """Why no difference may be formed where the same load is what a difference takes; or nothing."""
        if self.order or self.same == 1:
            return ""
        why = (
            "the loads were not the same"
            if self.same == 0
            else "it is unknown whether the loads were the same"
        )
        return f"{why}: {self.because} (tolerance: {self.tolerance})"


def of_runs(desk: Desk, runs: Sequence[tuple[str, int]], order: str = "") -> Loads:
    """The loads of runs (name and id each). Every pair of them counts, since a tolerance does not add up along a chain."""
    names = dict(runs)
    fingerprints = {name: fingerprint(desk, run_id) for name, run_id in runs}
    tolerance = desk.ask("threshold")[0]["tolerance"]
    pairs = [
        row
        for name, run_id in runs
        for row in desk.ask("same_load", run_id=run_id, order="other_id")
        if row["other"] in names and row["other_id"] > run_id
    ]
    if len(pairs) < len(names) * (len(names) - 1) // 2:
        # Runs that alternate between two hosts saw no load together.
        return Loads(None, "the runs are not all of one host that is stated", tolerance, fingerprints)
    for same in (0, None, 1):
        found = [pair for pair in pairs if pair["same"] == same]
        if found:
            more = f"; and {len(found) - 1} more of {len(pairs)} pairs of runs" if len(found) > 1 else ""
            of = f"{found[0]['run']} and {found[0]['other']}: " if len(names) > 2 else ""
            return Loads(same, f"{of}{found[0]['because']}{more}", tolerance, fingerprints, order)
    return Loads(None, "there is one run alone", tolerance, fingerprints, order)


def fingerprint(desk: Desk, run_id: int) -> str:
    """What a capture states of the load before its run, in words."""
    load = desk.ask("load_of_run", run_id=run_id)[0]
    if load["load_a_core"] is None:
        a_core = "load a core not stated"
    else:
        a_core = f"load a core {load['load_a_core']:.3f} ({load['load_1_min']:g} over {load['cores']} cores)"
    if load["other_processes"] is None:
        users = "no device" if load["no_device"] else "other processes on the device not stated"
    else:
        users = f"{load['other_processes']} other processes on the device"
        if load["other_memory_mib"] is not None:
            users += f" with {load['other_memory_mib']:,} MiB"
    said = [a_core, f"governor {load['governor'] or 'not stated'}", users]
    for key, what in (
        ("clock", "core clocks in MHz {}"),
        ("device_clock", "device clock {} MHz"),
        ("device_temperature_c", "device at {} °C"),
        ("device_memory_mib", "{} MiB of device memory in use"),
    ):
        if load[key] is not None:
            said.append(what.format(load[key]))
    return ", ".join(said)
