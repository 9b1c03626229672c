"""The hosts: what each may be used for, what its captures say about it over time, and how quiet it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from akvsite.pages import Desk, Page, Record, _noise
from akvsite.pages._html import Cell, captured, counted, estimated, items, number_of, table, text
from akvsite.pages._stamps import Stamped, run_cell, run_link, stamped_runs
from akvsite.pages.experiments import TITLES

#: Of each role: what it is, what its runs may be used for, and what not.
ROLES = {
    "dev": (
        "busy on purpose",
        "structure, and the comparison of a candidate with a run under the same load",
        "a statement of speed, and a difference of runs at level off whose loads were not the same or are unknown",
    ),
    "proof": (
        "quiet, capture off",
        "a statement of speed: level off, timing events off, a complete contract, and no sign that the run was looked at",
        "a statement of speed from a run that lacks any of these, or that was over a threshold below",
    ),
    "unknown": (
        "nobody declared its role",
        "structure",
        "a statement of speed, and a comparison under the same load",
    ),
}  # fmt: skip
#: Runs of one use that are named; the rest are counted.
NAMED = 20


def write(desk: Desk) -> Iterator[Page]:
    under = stamped_runs(desk)
    runs = desk.ask("run_list", order="name")
    roles = [f"`{role}`: {text(what)}" for role, (what, _, _) in ROLES.items()]
    parts = ["# Hosts\n", "What may be said from a run depends on the host it ran on.\n", items(roles)]
    for host in desk.ask("host_list", order="host"):
        of_host = [run for run in runs if run["host"] == host["host"]]
        parts.append(f"\n## {text(host['host'])}\n")
        parts += [_uses(desk, host), _runs(of_host, under), _noise_floor(desk, host["host"], under)]
        parts += [_experiments(desk, host["host"], under), _facts(desk, host["host"], under)]
        parts.append(_load(desk, host["host"], of_host, under))
    undeclared = [run["name"] for run in runs if run["host"] is None]
    if undeclared:
        parts.append(f"\n## No host stated\n\n{_named(undeclared, under)} Their runs carry structure only.\n")
    yield Page("hosts", "\n".join(parts))


def _uses(desk: Desk, host: Record) -> str:
    what, may, may_not = ROLES[host["role"]]
    said = [
        f"Role `{host['role']}`: {text(what)}.",
        f"It may be used for: {text(may)}.",
        f"It may not be used for: {text(may_not)}.",
    ]
    threshold = desk.ask("threshold")[0]
    if host["role"] == "proof":
        said.append(
            f"Thresholds before a run: load a core over 1 min at most {threshold['proof_load_a_core']:.2f}, governor"
            f" `{text(threshold['proof_governor'])}` on every core where the kernel shows one, other processes on its devices"
            f" at most {threshold['proof_other_processes']}, no tracer switched on."
        )
    else:
        said.append(f"The same load: {text(threshold['tolerance'])}.")
    return items(said)


def _named(names: Sequence[str], under: Stamped) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    shown = ", ".join(run_link(name, under) for name in names[:NAMED])
    return f"{number_of(len(names), 'run')}: {shown}{more}."


def _runs(runs: Sequence[Record], under: Stamped) -> str:
    uses = dict.fromkeys(sorted(run["use"] for run in runs))
    rows = [
        [use, counted(len(names)), Cell(_named(names, under))]
        for use in uses
        for names in [[run["name"] for run in runs if run["use"] == use]]
    ]
    return table(["its numbers may be used for", "runs", "which"], rows, caption="Runs by use")


def _noise_floor(desk: Desk, host: str, under: Stamped) -> str:
    floors = _noise.of_host(desk, host)
    if not floors:
        return "\nNoise floor: unknown: no A/A experiment, the same thing measured twice on purpose, counts for it. One that is excluded, under a retraction or of differing outputs does not.\n"
    rows = [
        [
            run_cell(floor.experiment, under, folder="experiments"), estimated(number), of,
            floor.started or "not stated", floor.what,
        ]
        for floor in floors
        for number, of in (
            (floor.between, f"over {number_of(floor.pairs, 'pair')}"),
            (floor.one_pair, "a single pair, least to most"),
        )
    ]  # fmt: skip
    # Two numbers beside each other would stand beyond the edge of the page, and so would one behind captured words.
    head = ["experiment", "by how much", "of", "made on", "what"]
    return table(head, rows, caption="Noise floor: by how much the same thing differed from itself")


def _experiments(desk: Desk, host: str, under: Stamped) -> str:
    rows = [
        [
            run_cell(row["experiment"], under, folder="experiments" if row["what"] in TITLES else "runs"),
            captured(row["what"]), row["engine"] or "not stated", row["started"] or "not stated",
        ]
        for row in desk.ask("experiment_list", host=host, order="what,place")
    ]  # fmt: skip
    if not rows:
        return "\nNo experiment was made on it.\n"
    return table(["experiment", "kind", "what ran", "made on"], rows, caption="Experiments made on it")


def _facts(desk: Desk, host: str, under: Stamped) -> str:
    """What never changed once, and each change with the capture that first showed it."""
    stretches: dict[tuple[str, str], list[Record]] = {}
    for row in desk.ask("host_fact_time", host=host, order="part,key,place"):
        stretches.setdefault((row["part"], row["key"]), []).append(row)
    fixed = [rows[0] for rows in stretches.values() if len(rows) == 1]
    changed = [row for rows in stretches.values() if len(rows) > 1 for row in rows]
    parts = [
        table(
            ["part", "fact", "value", "stated by", "since"],
            [[f["part"], f["key"], captured(f["value"]), number_of(f["runs"], "run"), f["since"] or "not stated"] for f in fixed],
            caption="Facts that are the same in all captures that state them",
        )
    ]  # fmt: skip
    if changed:
        parts.append(
            table(
                ["part", "fact", "value", "from", "until", "stated by", "first shown by"],
                [
                    [f["part"], f["key"], captured(f["value"]), f["since"] or "not stated", f["until"] or "not stated",
                     number_of(f["runs"], "run"), run_cell(f["run"], under)]
                    for f in changed
                ],
                caption="Facts that changed, by the dates of the captures", sortable=True,
            )
        )  # fmt: skip
    return "\n".join(parts)


def _load(desk: Desk, host: str, runs: Sequence[Record], under: Stamped) -> str:
    loads = {row["run_id"]: row for row in desk.ask("load_of_run", host=host)}
    rows = []
    for run in runs:
        load = loads[run["run_id"]]
        a_core, users = load["load_a_core"], load["other_processes"]
        device = [f"{load['device_clock']} MHz"] if load["device_clock"] else []
        device += [f"{load['device_temperature_c']} °C"] if load["device_temperature_c"] else []
        device += [f"{load['device_memory_mib']} MiB in use"] if load["device_memory_mib"] else []
        rows.append(
            [
                run_cell(run["name"], under), Cell("not stated") if a_core is None else Cell(text(f"{a_core:.3f}"), a_core),
                load["governor"] or "not stated",
                "no device" if users is None and load["no_device"] else "not stated" if users is None else counted(users),
                ", ".join(device) or "not stated", run["level"], run["started"] or "not stated",
            ]
        )  # fmt: skip
    head = [
        "run",
        "load a core",
        "governor",
        "other processes on the device",
        "device, a moment before",
        "level",
        "captured",
    ]
    return table(head, rows, caption="Load before each capture", sortable=True)
