"""The claims: a list, and a page each with what it stands on, how it stands and how it came to."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page, Record
from akvsite.pages._cited import RETRACTED, SUPPORTED, Cited, cited_by_inquiries
from akvsite.pages._html import Cell, code, items, link, quote, stamp, table, text
from akvsite.pages._quoted import quoted
from akvsite.pages._stamps import retraction_link

#: Subjects on which records made while something looked cannot decide.
NEEDS_DESIGN = ("overlap", "serialisation", "waiting", "idleness")
#: A claim may cite a chart that no page has, which its page says.
AFTER_ALL_CHARTS = True
FORM = "That it is a control is a matter of form: whether it shows what is claimed is for the reader to see."
#: Digits of a seal and of a hash that are shown.
SHORT = 8


def write(desk: Desk) -> Iterator[Page]:
    claims = desk.ask("claim_list", order="-date,claim")
    yield Page("claims", _list(claims, Cited(desk, "")))
    cited = Cited(desk, "../", charts_known=True)
    for claim in claims:
        yield Page(f"claims/{claim['claim']}", _page(desk, claim, cited))


def _list(claims: list[Record], cited: Cited) -> str:
    words = (
        "A claim is what an engineer says the captures show, quoted here as written. It stays open without a control with "
        "capture off, and none is deleted: one that turned out wrong stays readable under its retraction."
    )
    rows = [
        [
            Cell(link(c["claim"], f"claims/{c['claim']}.html"), c["claim"]),
            Cell(quote(c["statement"]), c["statement"]),
            Cell(
                f"{cited.state(c)}; made on {text(c['date'])}; {_control(c, cited)}",
                f"{c['state']} {c['date']}",
            ),
        ]
        for c in claims
    ]
    head = ["claim", "statement", "how it stands"]
    body = table(head, rows, sortable=True, prose=True) if rows else "\nNo claim was made.\n"
    return f"# Claims\n\n{text(words)}\n{body}"


def _control(claim: Record, cited: Cited) -> str:
    if claim["retraction"]:
        return f"withdrawn by control: {_withdrawn_by(claim, cited)}"
    return f"control: {cited.controls(claim)}"


def _withdrawn_by(claim: Record, cited: Cited) -> str:
    return cited.named("control", claim["withdrawn_by"]) if claim["withdrawn_by"] else "none stated"


def _page(desk: Desk, claim: Record, cited: Cited) -> str:
    cites = desk.ask("citation", by="claim", id=claim["claim"], order="kind,name")
    parts = [
        f"# Claim: {text(claim['claim'])}\n",
        _withdrawn(claim),
        f'\n<blockquote class="akv-quoted akv-statement"><p>{text(claim["statement"])}</p></blockquote>\n',
        table(
            ["about", "this claim"],
            [
                ["state", Cell(cited.state(claim))],
                ["predicts", Cell(quote(claim["predicts"])) if claim["predicts"] else "not stated"],
                ["is about", claim["about"] or "not stated"],
                ["evidence scope", claim["scope"]],
                ["made on", claim["date"]],
                *(
                    [["control that it was withdrawn by", Cell(_withdrawn_by(claim, cited))]]
                    if claim["retraction"]
                    else []
                ),
            ],
        ),
        _open(desk, claim),
        "\n## What it cites\n",
        _cites(cites, cited),
        cited_by_inquiries(desk, cited, claim["claim"]),
        "\n## In its maker's words\n",
        quoted(claim["body"]) or "\nNothing beyond the statement was written.\n",
        "\n## History\n",
        _history(desk, claim, cited),
    ]
    return "\n".join(part for part in parts if part)


def _withdrawn(claim: Record) -> str:
    if not claim["retraction"]:
        return ""
    return stamp(
        [
            f"Retracted on {text(claim['withdrawn'])} ({retraction_link(claim['retraction'], '../')}). Reason: {quote(claim['reason'])} "
            "What stands below is the claim as it was made."
        ]
    )


def _open(desk: Desk, claim: Record) -> str:
    """Why an open claim is open, and what its control does not say of one that is supported."""
    if claim["state"] == SUPPORTED:
        return f"\n{text(FORM)}\n"
    if claim["state"] == RETRACTED:
        return ""
    if claim["unknown"]:
        words = f"Its control {claim['unknown']} is not in this store, so that whether it counts is unknown: the claim is shown as open."
        return f"\n{text(words)}\n"
    why = ["It names no control with capture off, and without one it stays open."]
    subjects = [one for one in NEEDS_DESIGN if one in (claim["about"] or "").split(", ")]
    if subjects:
        why.append(
            f"It is about {' and '.join(subjects)}, which records that were made while something looked cannot decide: "
            "it needs a designed experiment with capture off."
        )
    lines = [text(line) for line in why]
    taken_back = desk.ask("claim_history", claim=claim["claim"], event="opened", order="-place", limit=1)
    lines += [f"Its support was taken back on {text(r['date'])}: {quote(r['because'])}" for r in taken_back]
    return "\nWhy it is open:\n" + items(lines)


def _cites(cites: list[Record], cited: Cited) -> str:
    headings = {"run": "runs", "comparison": "comparisons", "chart": "charts", "control": "control"}
    lines = [
        f"{words}: {', '.join(cited.link(c) for c in cites if c['kind'] == kind) or 'none'}"
        for kind, words in headings.items()
    ]
    return items(lines)


def _history(desk: Desk, claim: Record, cited: Cited) -> str:
    """All that happened to it, oldest first."""
    made = []
    for row in desk.ask("claim_history", claim=claim["claim"], order="place"):
        what = [
            f"{text(row['kind'])} {cited.named(row['kind'], row['name'])}" if row["name"] else "",
            f"{text('SHA-256')} {code(row['sha256'][:SHORT] + '…')}" if row["sha256"] else "",
            quote(row["because"]) if row["because"] else "",
        ]
        made.append(
            [
                Cell(f"{text(row['date'])} {text(row['event'])}"),
                Cell(", ".join(part for part in what if part)),
                Cell(code(row["seal"][:SHORT]), row["seal"]),
            ]
        )
    words = (
        "Entries are only ever added. Each has a seal over itself and over the seal before it, so that one altered after the "
        "fact is named when the site is built."
    )
    if not made:
        return "\nNo history is kept of it.\n"
    return f"\n{text(words)}\n" + table(["when and what", "of", "seal"], made, prose=True)
