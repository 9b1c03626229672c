"""The retractions: which claim, when, why, and the control that showed it."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page
from akvsite.pages._html import items, link, quote, text
from akvsite.pages._quoted import quoted


def write(desk: Desk) -> Iterator[Page]:
    rows = desk.ask("retraction_list", order="-date,retraction")
    parts = [
        "# Retractions\n\nA claim that turns out to be wrong is withdrawn here, in writing. Nothing is deleted: the claim stays readable under its stamp.\n"
    ]
    if not rows:
        parts.append("\nNo claim has been withdrawn.\n")
    for row in rows:
        known = row["control"] and desk.ask("run_list", name=row["control"])
        control = (
            link(row["control"], f"runs/{row['control']}.html")
            if known
            else f"{text(row['control'])} (not in the store)"
            if row["control"]
            else "none stated"
        )
        parts.append(f"\n## {text(row['retraction'])} {{ #{row['retraction']} }}\n")
        parts.append(
            items(
                [
                    f"withdrawn on: {text(row['date'])}",
                    f"claim: {link(row['claim'], 'claims.html#' + row['claim'])}",
                    f"control: {control}",
                    f"reason: {quote(row['reason'])}",
                ]
            )
        )
        parts.append(f"\nIt said:\n\n> {text(row['statement'])}\n")
        parts.append(quoted(row["body"]))
    yield Page("retractions", "\n".join(parts))
