"""Method: how each number is made, out of the docstrings of the estimators and the headers of the questions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from akvsite.pages import Desk, Page
from akvsite.pages._html import Cell, prose, table, text

RULES = (
    "A number never travels without its band. Counts and configuration say that they are counts and configuration; unknown is drawn hollow and is never 0.",
    "Missing records are not facts. Beside every number from device records stands what was seen of what should be there; below full sight, idle is unknown.",
    "Instrumented runs never count as speed. Speed is stated only from level off, on a quiet proof host, with capture off.",
    "No verdicts. The pages collect; the engineer judges.",
    "Association is not causation. A link says how it was made, and how many were left unlinked.",
    "A claim of overlap or serialisation needs an uninstrumented control before it is anything but open.",
    "Conclusions are corrected in writing. A retraction stamps every page that used the claim; nothing is deleted.",
    "Clocks are intervals. A conversion that is not proven says so; no gap is stated below the tick of its source.",
    "Raw captures are never changed. What a reader could not use is counted and kept.",
)


def write(desk: Desk) -> Iterator[Page]:
    documents = desk.documents()
    parts = [
        "# Method\n",
        "## Rules\n",
        "\n".join(f"{n}. {text(rule)}" for n, rule in enumerate(RULES, 1)) + "\n",
    ]
    parts.append("\n## Levels\n" + table(["level", "table", "what it adds"], documents["levels"]))
    parts.append(
        "\n## Estimates\n\nEvery band is of 95 % confidence and says what it speaks of: one run says nothing about the next.\n"
    )
    for name, function in documents["estimators"].items():
        parts.append(_estimator(name, function))
    parts.append(
        "\n## Questions\n\nEach number on a page is the answer to one of these questions; each is a view of the store, so `akvsite sql` can ask it too.\n"
    )
    for question in documents["questions"].values():
        parts.append(
            f"\n### `{question.name}` {{ #{question.name} }}\n\n{prose(question.caption)}\n\n{prose(question.method)}\n"
        )
        parts.append(
            table(
                ["column", "what it holds"],
                [
                    [Cell(f"<code>{text(name)}</code>"), Cell(prose(about))]
                    for name, about in question.columns.items()
                ],
            )
        )
        parts.append(
            f'\n??? note "SQL of {question.name}"\n\n    ```sql\n'
            + "\n".join(f"    {line}" for line in question.text.splitlines())
            + "\n    ```\n"
        )
    yield Page("method", "\n".join(parts))


def _estimator(name: str, function: Callable[..., Any]) -> str:
    documented = inspect.cleandoc(function.__doc__ or "")
    words = documented.split(">>>")[0].strip()
    paragraphs = "\n\n".join(prose(p) for p in words.split("\n\n"))
    return f"\n### `{name}` {{ #estimate-{name.replace('_', '-')} }}\n\n{paragraphs}\n"
