"""The hosts, their roles, and what their captures say about them."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page
from akvsite.pages._html import Cell, captured, link, number_of, table, text

ROLES = {
    "dev": "busy on purpose: a candidate may be compared with a run under the same load, nothing more",
    "proof": "quiet, capture off: the only place where speed is stated",
    "unknown": "nobody declared its role: its runs carry structure only",
}


def write(desk: Desk) -> Iterator[Page]:
    parts = ["# Hosts\n", "\n".join(f"- `{role}`: {text(words)}" for role, words in ROLES.items()) + "\n"]
    for host in desk.ask("host_list", order="host"):
        facts = desk.ask("host_facts", host=host["host"], order="part,key,value")
        fixed = [f for f in facts if f["part"] == "host"]
        load = [f for f in facts if f["part"] == "load"]
        parts.append(
            f"\n## {text(host['host'])}\n\nRole: `{text(host['role'])}`, {text(ROLES.get(host['role'], ''))}. Runs: {host['runs']}.\n"
        )
        parts.append(
            "\nNoise floor: unknown: no A/A experiment, the same thing measured twice on purpose, was made on it.\n"
        )
        parts.append(
            table(
                ["fact", "value", "stated by"],
                [[f["key"], captured(f["value"]), number_of(f["runs"], "run")] for f in fixed],
                caption="Facts",
            )
        )
        if load:
            parts.append(
                table(
                    ["when and what", "value", "stated by", "first of them"],
                    [
                        [
                            f["key"],
                            captured(f["value"]),
                            number_of(f["runs"], "run"),
                            Cell(link(f["run"], f"runs/{f['run']}.html"), f["run"]),
                        ]
                        for f in load
                    ],
                    caption="Load when its runs were captured",
                    sortable=True,
                )
            )
    undeclared = [r for r in desk.ask("run_list", order="name") if r["host"] is None]
    if undeclared:
        names = ", ".join(link(r["name"], f"runs/{r['name']}.html") for r in undeclared[:50])
        more = f" and {len(undeclared) - 50} more" if len(undeclared) > 50 else ""
        parts.append(f"\n## No host stated\n\n{len(undeclared)} runs name no host: {names}{more}.\n")
    yield Page("hosts", "\n".join(parts))
