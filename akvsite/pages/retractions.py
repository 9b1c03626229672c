"""The retractions: which claim, when, why, the control that showed it, and all that it stamps. And their feed."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page, Record, _feed
from akvsite.pages._cited import Cited
from akvsite.pages._html import code, items, link, number_of, quote, text
from akvsite.pages._quoted import quoted
from akvsite.pages._stamps import stamp_of_retraction

#: What a retraction stamps, in this order: kind, its words.
_STAMPED = (
    ("run", "run or experiment", "runs and experiments"), ("control", "control", "controls"),
    ("comparison", "comparison", "comparisons"), ("chart", "chart", "charts"), ("inquiry", "inquiry", "inquiries"),
)  # fmt: skip


def write(desk: Desk) -> Iterator[Page]:
    rows = desk.ask("retraction_list", order="-date,retraction")
    parts = [
        "# Retractions\n\nA claim that turns out to be wrong is withdrawn here, in writing. Nothing is deleted: the claim stays readable under its stamp, "
        f"and all that stood on it carries the stamp too.\n\n{_feed.link()}.\n"
    ]
    if not rows:
        parts.append("\nNo claim has been withdrawn.\n")
    cited = Cited(desk, "")
    parts += [_one(desk, row, cited) for row in rows]
    yield Page("retractions", "\n".join(parts))
    yield Page(_feed.PATH, _feed.text(rows, desk.site_url), _feed.ENDING)


def _one(desk: Desk, row: Record, cited: Cited) -> str:
    control = cited.named("control", row["control"]) if row["control"] else "none stated"
    lines = [
        f"withdrawn on: {text(row['date'])}",
        f"claim: {link(row['claim'], 'claims/' + row['claim'] + '.html')}, made on {text(row['made'])}",
        f"control: {control}",
        f"reason: {quote(row['reason'])}",
        *(
            [f"hash of its file, {text('SHA-256')}: {code(row['sha256'][:16] + '…')}"]
            if row["sha256"]
            else []
        ),
    ]
    return "\n".join(
        [
            f"\n## {text(row['retraction'])} {{ #{row['retraction']} }}\n",
            stamp_of_retraction(row),
            items(lines),
            quoted(row["body"]),
            "\nIt stamps:\n",
            items(_stamped(desk, row, cited)),
            "\nThe claim, as it was made:\n",
            f'\n<blockquote class="akv-quoted akv-statement"><p>{text(row["statement"])}</p></blockquote>\n',
            quoted(row["said"]),
        ]
    )


def _stamped(desk: Desk, row: Record, cited: Cited) -> list[str]:
    """A line for each kind of what stood on the claim."""
    stood = desk.ask("stamp", retraction=row["retraction"], order="kind,name")
    lines = []
    for kind, one, several in _STAMPED:
        links = [cited.bare(kind, s["name"]) for s in stood if s["kind"] == kind]
        if links:
            lines.append(f"{number_of(len(links), one, several)}: {', '.join(links)}")
    return lines or ["nothing: the claim cited nothing, and nothing used it"]
