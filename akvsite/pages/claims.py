"""The claims: what each says, what it stands on, and how it stands."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page
from akvsite.pages._html import items, link, quote, stamp, text
from akvsite.pages._quoted import quoted


def write(desk: Desk) -> Iterator[Page]:
    claims = desk.ask("claim_list", order="-date,claim")
    parts = [
        "# Claims\n\nA claim is what an engineer says the captures show. It is quoted here as written; without a control with capture off it stays open.\n"
    ]
    if not claims:
        parts.append("\nNo claim was made.\n")
    for claim in claims:
        cites = desk.ask("claim_cites", claim=claim["claim"], order="kind,name")
        parts.append(f"\n## {text(claim['claim'])} {{ #{claim['claim']} }}\n")
        if claim["retraction"]:
            address = f"retractions.html#{claim['retraction']}"
            parts.append(
                stamp(
                    [
                        f"Retracted on {text(claim['withdrawn'])} ({link(claim['retraction'], address)}). Reason: {quote(claim['reason'])}"
                    ]
                )
            )
        controls = [c for c in cites if c["kind"] == "control"]
        parts.append(f"\n> {text(claim['statement'])}\n")
        lines = [
            f"state: {text(claim['state'])}",
            f"made on: {text(claim['date'])}",
            f"evidence scope: {text(claim['scope'])}",
        ]
        if not controls and not claim["retraction"]:
            lines.append("control: none, so it stays open")
        for cite in cites:
            folder = "comparisons" if cite["kind"] == "comparison" else "runs"
            name = (
                link(cite["name"], f"{folder}/{cite['name']}.html")
                if cite["known"]
                else f"{text(cite['name'])} (not in the store)"
            )
            lines.append(f"{text(cite['kind'])}: {name}")
        parts.append(items(lines))
        parts.append(quoted(claim["body"]))
    yield Page("claims", "\n".join(parts))
