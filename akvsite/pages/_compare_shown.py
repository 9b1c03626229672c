"""A comparison's parts as rows: tables of a page, a CSV file, and what a script reads. All have the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from akvsite.charts import ESTIMATE_COLUMNS, bands, embed, estimate_cells
from akvsite.estimate import Estimate
from akvsite.pages._compare import Compared
from akvsite.pages._compare_form import Line, Part, formed
from akvsite.pages._compare_parts import OF_STEPS_ALONE
from akvsite.pages._compare_steps import REMAINDER
from akvsite.pages._html import Cell, captured, estimated, items, link, number_of, table, text
from akvsite.pages._listed import named, rows_link

#: Lines of a part on a page at first, and names that one side alone has: the rest is in the CSV file.
FIRST = 16
FIRST_OF_ONE_SIDE = 12
#: Names in the chart of a part.
DRAWN = 8
NUMBERS = ("A", "B", "B minus A", "B over A")
#: What differs from number to number. The rest is words, the same in thousands of rows: they stand in a file of their own.
IN_ROWS = ("value", "low", "high", "systematic", "unit", "n")
WORDS = (*(column for column in ESTIMATE_COLUMNS if column not in IN_ROWS), "noise floor")
COLUMNS = (
    "part", "name", "statistic", "state",
    *(f"{of}: {column}" for of in NUMBERS for column in (*IN_ROWS, "words")),
    "use", "outputs and retractions",
)  # fmt: skip
WORDS_COLUMNS = ("words", *WORDS)


def numbers_of(line: Line) -> dict[str, Estimate]:
    return dict(zip(NUMBERS, (line.a, line.b, line.difference, line.ratio), strict=True))


def csv_texts(found: Compared, withdrawn: Sequence[str] = ()) -> tuple[str, str]:
    """Every number of every part, a line of both sides a row; and the words of those numbers, each once.

    A row names the words of each of its numbers by their place in the second file. What a reader of a row alone must not
    miss stands in each row: its use, that outputs differ, and the retractions that stand over it (``withdrawn``).
    """
    outputs = ["THE OUTPUTS OF THE TWO SIDES DIFFER"] if found.outputs else []
    words: dict[tuple[Any, ...], int] = {}
    rows = embed.rows_as_csv(COLUMNS, _rows(found, "; ".join([*outputs, *withdrawn]), words))
    return rows, embed.rows_as_csv(WORDS_COLUMNS, ((place, *said) for said, place in words.items()))


def _rows(found: Compared, over: str, words: dict[tuple[Any, ...], int]) -> Iterator[Sequence[Any]]:
    for part in found.parts:
        for line in part.lines:
            numbers: list[Any] = []
            for number in numbers_of(line).values():
                cells = dict(zip(ESTIMATE_COLUMNS, estimate_cells(number), strict=True)) | {
                    "noise floor": part.noise
                }
                place = words.setdefault(tuple(cells[column] for column in WORDS), len(words) + 1)
                numbers += [*(cells[column] for column in IN_ROWS), place]
            yield part.name, line.name, line.statistic, line.state, *numbers, line.a.use, over


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


def drawn(part: Part, names: Mapping[str, str]) -> tuple[list[bands.Row], str]:
    """Both sides of what takes longest, a time a name, and which time that is; ``names`` are those of the two sides.

    What was seen is told of the part, side by side, and not of each number again.
    """
    times: dict[str, Line] = {}
    for line in part.lines:
        if line.a.unit == line.b.unit == "ns" and len(times) < DRAWN:
            times.setdefault(line.name, line)
    rows = [
        bands.Row(line.name, replace(number, seen=""), names[side])
        for line in times.values()
        for side, number in (("A", line.a), ("B", line.b))
    ]
    return rows, next((line.statistic for line in times.values()), "")


def sections(found: Compared, address: str, words: str, chart: Callable[[Part], str]) -> str:
    """Every part but the steps', as far as it is there; what is not there is named with the level that would tell.

    ``address`` is that of the CSV file, from the page, and ``words`` that of its words; ``chart`` draws a part.
    """
    parts = [part for part in found.parts if part.name != "steps"]
    whole = sum(len(part.lines) for part in found.parts)
    out = [
        "\n## Part by part\n",
        f"\nEvery number of every part, with its band: {link('CSV file', address)} ({number_of(whole, 'row')}); "
        f"{link('words of those numbers', words)}, such as methods and reasons, each once. "
        "Names with the longest times stand first; a share is of A, whose number is 1. "
        + (
            f"Beside the bands: {text(found.noise)}; {OF_STEPS_ALONE}.\n"
            if any(part.lines for part in parts)
            else "\n"
        ),
        *(_section(part, found, address, chart) for part in parts if not part.absent),
    ]
    absent = [f"{text(part.title)}: {text(part.absent)}." for part in parts if part.absent]
    if absent:
        out.append("\n### Not on record on both sides\n" + items(absent))
    return "\n".join(out)


def _section(part: Part, found: Compared, address: str, chart: Callable[[Part], str]) -> str:
    why = found.apart or part.refusal
    shown = first(part)
    of = f"{len(shown)} of {number_of(len(part.lines), 'row')}"
    return "\n".join(
        [
            f"\n### {text(part.title)}\n",
            items(map(text, (*part.notes, *([f"seen: {part.seen}"] if part.seen else [])))),
            f"\nNo difference is formed: {text(why)}.\n" if why else "",
            chart(part),
            _table(part, found, shown, f"{of}; noise floor {OF_STEPS_ALONE}"),
            f'\n<p class="akv-links">{link("all rows (CSV)", address)} · {link("SQL", f"../method.html#{part.question}")}</p>\n',
            _of_one_side(part, found),
        ]
    )


def _table(part: Part, found: Compared, lines: Sequence[Line], caption: str, *, states: bool = False) -> str:
    apart = bool(found.apart or part.refusal)
    with_rows = len(found.runs) == len(NUMBERS[:2])
    use = next((line.a.use for line in lines), found.use)
    heads = ["name", "what", *NUMBERS[:2], *([] if apart else (formed(of, use) for of in NUMBERS[2:]))]
    heads += [*(["on record"] if states else []), *(["rows of"] if with_rows else [])]
    rows = []
    for line in lines:
        numbers = list(numbers_of(line).values())
        cells: list[Any] = [captured(line.name, 60), line.statistic]
        cells += map(estimated, numbers[:2] if apart else numbers)
        cells += [line.state] if states else []
        cells += [_rows_of(part, found, line)] if with_rows else []
        rows.append(cells)
    return table(heads, rows, caption=caption, prose=True)


def _rows_of(part: Part, found: Compared, line: Line) -> Cell:
    """Links to what the numbers of the two runs are made from; none to a side that has none of it."""
    chosen = dict(line.chosen)
    name = chosen.pop("name", None)

    def address(run: str) -> str:
        if name is None:
            return rows_link(run, part.listing, "../", **chosen)
        return named(run, part.listing, "../", "name", str(name), **chosen)

    of_one = ": in " in line.state
    sides = (r for r in found.runs if not of_one or line.state.endswith(f": in {r.side} alone"))
    return Cell(" · ".join(link(run.side, address(run.name)) for run in sides))


def _of_one_side(part: Part, found: Compared) -> str:
    """Names that one side alone has, with what is known of the other: the longest times first."""
    lines = [line for line in part.lines if line.state]
    names = dict.fromkeys(line.name for line in lines)
    if not names:
        return ""
    kept = set(list(names)[:FIRST_OF_ONE_SIDE])
    caption = f"On one side alone: {len(kept)} of {number_of(len(names), 'name')}"
    return _table(part, found, [line for line in lines if line.name in kept], caption, states=True)
