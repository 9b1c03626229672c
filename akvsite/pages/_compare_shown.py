"""A comparison's parts as rows: tables of a page, a CSV file, and what a script reads. All have the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from akvsite.charts import ESTIMATE_COLUMNS, embed, estimate_cells
from akvsite.estimate import Estimate
from akvsite.pages._compare import Compared
from akvsite.pages._compare_form import Line, Part
from akvsite.pages._compare_steps import REMAINDER
from akvsite.pages._html import Cell, code, estimated, items, link, number_of, table, text

#: Lines of a part on a page at first, and names that one side alone has: the rest is in the CSV file.
FIRST = 16
FIRST_OF_ONE_SIDE = 12
NUMBERS = ("A", "B", "B minus A", "B over A")
COLUMNS = (
    "part", "name", "statistic", "state",
    *(f"{of}: {column}" for of in NUMBERS for column in ESTIMATE_COLUMNS),
    "no difference because", "noise floor", "outputs and retractions",
)  # fmt: skip


def numbers_of(line: Line) -> dict[str, Estimate]:
    return dict(zip(NUMBERS, (line.a, line.b, line.difference, line.ratio), strict=True))


def csv_text(found: Compared, withdrawn: Sequence[str] = ()) -> str:
    """Every number of every part, a line of both sides a row; ``withdrawn`` are the retractions that stand over it."""
    outputs = ["THE OUTPUTS OF THE TWO SIDES DIFFER"] if found.outputs else []
    over = "; ".join([*outputs, *withdrawn])
    return embed.rows_as_csv(COLUMNS, _rows(found, over))


def _rows(found: Compared, over: str) -> Iterator[Sequence[Any]]:
    for part in found.parts:
        for line in part.lines:
            numbers = (cell for number in numbers_of(line).values() for cell in estimate_cells(number))
            why = part.refusal or line.difference.refusal if line.difference.value is None else ""
            yield part.name, line.name, line.statistic, line.state, *numbers, why, part.noise, over


def as_json(part: Part) -> dict[str, Any]:
    """The part for a script: why it is absent, or every line with its four numbers."""
    return {
        "part": part.name,
        "absent_because": part.absent,
        "refusal": part.refusal,
        "of": list(part.notes),
        "noise_floor": part.noise,
        "lines": [
            {
                "name": line.name,
                "statistic": line.statistic,
                "state": line.state,
                **{of: number.as_row() for of, number in numbers_of(line).items()},
            }
            for line in part.lines
        ],
    }


def first(part: Part, most: int = FIRST) -> list[Line]:
    """The lines that are read first: of the longest times, whole names, and always what no region covers."""
    taken: dict[str, int] = {}
    for line in part.lines:
        if line.name in taken or sum(taken.values()) < most:
            taken[line.name] = taken.get(line.name, 0) + 1
    return [line for line in part.lines if line.name in taken or line.name == REMAINDER]


def sections(found: Compared, address: str) -> str:
    """Every part but the steps', as far as it is there; what is not there is named with the level that would tell.

    ``address`` is that of the CSV file, from the page.
    """
    formed = [part for part in found.parts if part.name != "steps"]
    whole = sum(len(part.lines) for part in found.parts)
    out = [
        "\n## Part by part\n",
        f"\nEvery number of every part, with its band: {link('CSV file', address)} ({number_of(whole, 'row')}). "
        "Names with the longest times stand first; a share is of A, whose number is 1.\n",
        *(_section(part, found, address) for part in formed if not part.absent),
    ]
    absent = [f"{text(part.title)}: {text(part.absent)}." for part in formed if part.absent]
    if absent:
        out.append("\n### Not on record on both sides\n" + items(absent))
    return "\n".join(out)


def _section(part: Part, found: Compared, address: str) -> str:
    why = part.refusal or found.apart
    shown = first(part)
    more = len(part.lines) - len(shown)
    caption = f"{len(shown)} of {number_of(len(part.lines), 'row')}" + (
        ", the others in the CSV file" if more else ""
    )
    one_sided = [line for line in part.lines if line.state]
    return "\n".join(
        [
            f"\n### {text(part.title)}\n",
            items(text(note) for note in part.notes) if part.notes else "",
            f"\nNo difference is formed: {text(why)}.\n" if why else "",
            f"\nBeside the bands: {text(part.noise)}. {link('SQL', f'../method.html#{part.question}')} · {link('all rows (CSV)', address)}\n",
            table(_heads(why), [_row(line, why) for line in shown], caption=caption, prose=True),
            _of_one_side(one_sided, why),
        ]
    )


def _heads(why: str) -> list[str]:
    return ["name", "what", *(NUMBERS[:2] if why else NUMBERS)]


def _row(line: Line, why: str) -> list[Any]:
    numbers = list(numbers_of(line).values())
    return [
        Cell(code(line.name, 60), line.name[:200]),
        line.statistic,
        *map(estimated, numbers[:2] if why else numbers),
    ]


def _of_one_side(lines: Sequence[Line], why: str) -> str:
    """Names that one side alone has, with what is known of the other: the longest times first."""
    names = dict.fromkeys(line.name for line in lines)
    if not names:
        return ""
    kept = set(list(names)[:FIRST_OF_ONE_SIDE])
    return table(
        [*_heads(why), "on record"],
        [[*_row(line, why), line.state] for line in lines if line.name in kept],
        caption=f"On one side alone: {len(kept)} of {number_of(len(names), 'name')}",
        prose=True,
    )
