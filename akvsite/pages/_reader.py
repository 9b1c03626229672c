"""The place in a page where a script draws what its reader chooses, out of the run's listings.

What the script says under its drawing is made here, as for every chart: no drawing is without its printed line.
"""

from __future__ import annotations

import json
from typing import Literal

from akvsite.pages._html import items, text
from akvsite.pages._listed import BY_NAME
from akvsite.pages._run import Run, process_names

#: What is read until the script has drawn, and where it never runs.
WAITING = "A script draws this part, out of files beside the page. Where scripts do not run, the tables of this page have what they can, and the commands akvsite export and akvsite sql have every row."


def reader(
    run: Run,
    kind: str,
    question: str,
    *,
    listings: tuple[str, ...],
    seen: str = "",
    axis: Literal["host", "device", "vendor", "constraints", "both"] = "host",
    notes: tuple[str, ...] = (),
    until: str = "",
    **more: object,
) -> str:
    """An HTML block for the script ``assets/akv-KIND.js``, on a page in a folder of the site.

    ``question`` stands over its drawing until something is chosen; ``listings`` are those that it loads; ``until``: HTML that is
    there until the script has drawn, since it says the same. ``more`` is handed to the script as it is, JSON. The script finds all of it in ``data-akv-reader-about``.
    """
    footer = run.footer(method="rows as recorded, no estimate", seen=seen, axis=axis, notes=notes)
    about = {
        "run": run.name,
        "question": question,
        "rows": f"../data/rows/{run.name}/",
        "page": f"../rows/{run.name}.html",
        # What its processes are called elsewhere; rows have their ids, which tell them apart.
        "processes": process_names(run.desk, run.id, files=False),
        "footer": footer.paragraphs([]),
        **more,
    }
    links = " · ".join(
        f'<a href="../method.html#{BY_NAME[name].question}">{text(BY_NAME[name].title.lower())} (SQL)</a>'
        for name in listings
    )
    held = text(json.dumps(about, ensure_ascii=True))
    return (
        f'\n<div class="akv-reader" data-akv-reader="{kind}" data-akv-reader-about="{held}" data-search-exclude>\n'
        f'<p class="akv-waiting"><strong>{text(question)}</strong> {text(WAITING)}</p>\n{until.strip()}\n</div>\n'
        f'\n<p class="akv-links">{links}</p>\n'
    )


def absent(run: Run, what: str, level: str) -> str:
    """The line for a question that this run cannot answer: ``what`` is not known, and which level records it."""
    would = (
        f"Level {level} records it: this run, at level {run.level}, has that, and nothing was recorded."
        if run.at_level(level)
        else f"Level {level} would tell."
    )
    return items([f"{text(what)} is not known: this run has none of it on record. {would}"])
