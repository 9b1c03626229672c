"""All comparisons, with what stands on each side."""

from __future__ import annotations

from collections.abc import Iterator

from akvsite.pages import Desk, Page
from akvsite.pages._html import Cell, number_of, table, text
from akvsite.pages._stamps import comparison_link, stamped_comparisons


def write(desk: Desk) -> Iterator[Page]:
    found: dict[str, list[dict[str, object]]] = {}
    for row in desk.ask("comparison_list", order="comparison,side,place"):
        found.setdefault(row["comparison"], []).append(row)
    stamped = stamped_comparisons(desk)
    rows = []
    for name, members in found.items():
        counts = {side: sum(m["side"] == side for m in members) for side in ("A", "B")}
        labels = {side: next(m["label"] for m in members if m["side"] == side) for side in ("A", "B")}
        rows.append(
            [
                Cell(comparison_link(name, str(members[0]["title"]), stamped), name), str(members[0]["design"]),
                f"{labels['A']} ({number_of(counts['A'], 'run')})", f"{labels['B']} ({number_of(counts['B'], 'run')})",
                ", ".join(sorted({str(m["level"] or "not in the store") for m in members})),
                ", ".join(sorted({str(m["role"] or "not in the store") for m in members})),
            ]
        )  # fmt: skip
    intro = "Two sets of runs, side by side, as declared beside the captures. A comparison says by how much and how far that is known; what it means is for its reader to judge."
    yield Page(
        "comparisons",
        f"# Comparisons\n\n{text(intro)}\n"
        + table(["question", "design", "A", "B", "levels", "host roles"], rows, sortable=True),
    )
