"""Method: how each number is made and read, with worked examples, and how often the bands really held."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from akvsite import clock
from akvsite.estimate import Estimate
from akvsite.pages import Desk, Page
from akvsite.pages._calibration import Row, Table, tables
from akvsite.pages._html import Cell, items, number_of, prose, table, text
from akvsite.pages._stamps import stamps_of_runs
from akvsite.pages._worked import WORKED, Worked
from akvsite.pages._worked_clock import worked as worked_clock

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

#: The entries of the charts' legends, in words.
MARKS = {
    "value with band": "a filled dot on a thick line: the value, and the band of 95 % that its printed line describes.",
    "no band: refused": "an open diamond: there is a value, and no band is stated for it. The reason is in the printed line and in the tooltip.",
    "no end on that side": "an arrow at an end of the line: the band goes on beyond what was measured. It is not the largest sample.",
    "with the clock's bound": "a thin line with caps outside the band: what the clock may add, which no number of samples makes smaller.",
    "clock's bound unknown": "a question mark: the times were converted by a clock whose error nobody has bounded.",
    "counted or declared": "a square: counted or declared, so nothing was estimated and there is no band.",
    "unknown": "an open ring beside the axis: not known. It has no place on the axis, least of all at 0.",
}
SMALL_MARKS = (
    "Small dots are what a value was made from: one a run, a pair or a triple; or the samples, where they are too few for a band.",
    "A dotted line is a second band, made another way, such as by history or of the median run.",
)
#: Words of the designs, of inquiries and of the noise floor.
TERMS = {
    "control": "what something is held against. In a probe experiment it is level off, to which every other level is compared. A claim is supported by a control: a run or experiment with capture off that it does not stand on. A retraction names as its control the run with capture off that showed the claim to be wrong.",
    "ABBA pair": "two runs side by side in time, one of each side, in turn A first and B first, so that a drift of the host falls on both sides alike.",
    "triple": "three measurements side by side in time in an overlap experiment: copies alone, compute alone, and both together. One triple gives one overlap.",
    "one more pair": "what the band of a single pair speaks of. It holds the pairs that were seen, from least to most, and its confidence is how often the next pair of the same kind lies in it; a band over all pairs speaks of their middle.",
    "rung": "one step of an inquiry: an evidence scope, the question that was asked there, what was seen, and what it stands on.",
}
#: The real repeats on which bands were tried.
REPEATS = tuple(f"h200-decode-off-{side}{number}" for side in "ab" for number in range(6))
#: Tables of the calibration that stand open on the page: their title, the heading, and what to know of them.
OPENED = (
    (
        "where the bands do not hold",
        "Where they do not hold",
        (
            "No range is stated for these cases: the share is what was really got.",
            "Steps that lean on each other by more than 0.95, or by as much over fewer than 500 steps, leave too few independent ones. The printed line says up to which correlation (phi) a band was calibrated; that of a run is not known.",
            "p99 of fewer than 5,000 steps has too few steps beyond it. The band is refused; what it would get is shown.",
            "Where the waits of requests carry over from one round in flight to the next by more than 0.5, 50 rounds are too few; of fewer than 50 the band is refused, and what it would get is shown.",
            "A mean follows its largest steps: where bursts of them are rare, many runs hold none.",
            "Runs with two modes: a few runs often hold one of them alone, and lie close together. The runs are always drawn as dots, so that two modes can be seen.",
            "All runs of one side after those of the other: a drift is read as a difference. Where the order is on record, the band is refused.",
            "Archived runs that are longer than this one lie closer together than runs like this one.",
        ),
    ),
    (
        "clock",
        "The clock's band",
        (
            "This is no band of 95 %: while its assumptions hold, it must contain the truth in every simulated capture.",
            "Rows without a range are what it cannot see, and other ways to convert, which are not used here, on the same captures.",
        ),
    ),
    (
        "real repeats, one left out",
        "On real repeats",
        (
            "Twelve runs of one decode loop on one lent host, six a side, level off: the captures h200-decode-off-a0 to -b5. Their truth is not known.",
            "A band of one run speaks of that run only, so another run outside it is no fault of the band. It shows how far runs of one configuration lie apart, and why one run says nothing about its configuration.",
            "A band over five runs is one for their long-run middle, not for a sixth run; were runs normal and alike, it would hold the sixth in 68 %. By history of four others it would be 89 %.",
        ),
    ),
)


def write(desk: Desk) -> Iterator[Page]:
    documents = desk.documents()
    yield Page(
        "method",
        "\n".join(
            [
                "# Method\n",
                stamps_of_runs(desk, "", REPEATS, why="on which bands are tried below"),
                "How every number here is made, what it says, and how often its band really held when the truth was known.\n",
                "## Rules\n",
                "\n".join(f"{n}. {text(rule)}" for n, rule in enumerate(RULES, 1)) + "\n",
                "\n## Levels\n" + table(["level", "table", "what it adds"], documents["levels"]),
                _reading(),
                *_estimates(documents["estimators"]),
                _two_clocks(),
                *_calibration(tables()),
                *_questions(documents["questions"].values()),
            ]
        ),
    )


def _reading() -> str:
    """How a number is read: its line, and the marks."""
    name, made = WORKED[0].lines()[0]
    return (
        "\n## How to read a number\n\n"
        + _printed(name, made)
        + items(
            [
                text("First the value in the unit named, then the band in brackets, rounded outwards, and its confidence."),
                text("Then what the band speaks of. A band of one run says nothing about the next run."),
                text("Below it: how many samples, how many of them were cut as the capture declares, how the band was made, and what must hold for it to mean what it says."),
            ]
        )
        + "\nMarks of the charts, by their entry in the legend:\n"
        + table(["entry", "what it means"], [[entry, Cell(text(words))] for entry, words in MARKS.items()])
        + items(text(words) for words in SMALL_MARKS)
        + "\nWords that are used of experiments, claims and inquiries:\n"
        + table(["word", "what it means"], [[word, Cell(text(words))] for word, words in TERMS.items()])
    )  # fmt: skip


def _estimates(documented: Mapping[str, Callable[..., Any]]) -> Iterator[str]:
    yield (
        "\n## Estimates\n\nEach kind of number with a small example. The numbers are computed when this page is built, from fixed data.\n"
    )
    left = dict(documented)
    for example in WORKED:
        yield _example(example)
        for name in example.of:
            function = left.pop(name)
            if not name.endswith("_rows"):  # the same of many runs at once
                yield _estimator(name, function)
    if left:
        yield "\n### Also used\n"
        for name, function in left.items():
            yield _estimator(name, function)


def _example(worked: Worked) -> str:
    return (
        f"\n### {text(worked.title)}\n\n{text(worked.data)}\n\n"
        + "\n".join(_printed(name, made) for name, made in worked.lines())
        + items(
            text(f"{said}: {words[0].lower()}{words[1:]}")
            for said, words in (("It says", worked.says), ("It does not say", worked.not_said))
        )
    )


def _printed(name: str, made: Estimate) -> str:
    """A number as its chart prints it."""
    rest = made.footer()
    return f"> **{text(made.text(name))}**" + (f"<br>{text(rest)}" if rest else "") + "\n"


def _two_clocks() -> str:
    about = inspect.cleandoc(inspect.getmodule(clock.feasible).__doc__ or "")
    documented = (
        clock.Resolution,
        clock.unwrapped,
        clock.Constraints.of_readings,
        clock.Constraints.of_causality,
        clock.feasible,
        clock.Band.at,
        clock.least_wander,
        clock.blind_range,
    )
    parts = [
        f"\n## Two clocks {{ #two-clocks }}\n\n{_paragraphs(about)}\n\n### Three readings\n\n{worked_clock()}"
    ]
    for one in documented:
        name = one.__qualname__
        anchor = name.replace(".", "-").replace("_", "-").lower()
        parts.append(f"\n#### `{name}` {{ #clock-{anchor} }}\n\n{_paragraphs(inspect.getdoc(one) or '')}\n")
    return "".join(parts)


def _calibration(made: list[Table]) -> Iterator[str]:
    yield (
        "\n## How often the bands hold\n\n"
        "A band of 95 % should contain the truth in 95 of 100 cases. On simulated runs the truth is known, so this can be counted; "
        "`make calibration` does, with fixed seeds. Each figure is a share of so many trials: of 4,000, chance alone moves it by 0.7 to either side.\n"
    )
    if not made:
        yield "\nNo results are kept: `make calibration` was not run.\n"
        return
    for part in dict.fromkeys(t.rests_on for t in made if not t.of_these_sources):
        dates = ", ".join(dict.fromkeys(t.date for t in made if t.rests_on == part))
        yield f"\n**{text(f'The results of {dates} were made before the last change of the {part}.')}**\n"
    yield table(
        ["what", "cases", "got", "range stated", "outside it", "made on"],
        [[t.title, len(t.rows), _span(t.rows), _stated(t.rows), Cell(str(sum(not r.inside for r in t.rows)), 0), t.date] for t in made],
    )  # fmt: skip
    numpys = ", ".join(dict.fromkeys(t.numpy for t in made))
    yield f"\nWith numpy {text(numpys)}. {text('A case outside its range is marked in its table.')}\n"
    titled = {t.title: t for t in made}
    for title, heading, words in OPENED:
        if title in titled:
            yield f"\n### {heading}\n{items(text(line) for line in words)}{_cases(titled.pop(title))}"
    yield "\n### All other cases\n"
    for one in titled.values():
        summary = text(f"{one.title}: {number_of(len(one.rows), 'case')}")
        yield f"\n<details><summary>{summary}</summary>\n{_cases(one)}\n</details>\n"


def _cases(of: Table) -> str:
    ranged = any(row.stated for row in of.rows)
    return table(
        ["case", "got", "trials", *(["range stated"] if ranged else [])],
        [
            [
                row.case,
                Cell(text(f"{_number(row.got)} {row.unit}") + ("" if row.inside else ", outside"), row.got),
                Cell(f"{row.of:,}", row.of) if row.of else "no share",
                *([_stated((row,))] if ranged else []),
            ]
            for row in of.rows
        ],
    )


def _number(got: float) -> str:
    return f"{got:,.0f}" if abs(got) >= 1000 else f"{got:.4g}"


def _span(rows: Iterable[Row]) -> str:
    """From the least to the most, for each unit."""
    units: dict[str, list[float]] = {}
    for row in rows:
        units.setdefault(row.unit, []).append(row.got)
    if len(units) > 1:
        return "several units, see its table"
    return "; ".join(f"{min(got):.4g} to {max(got):.4g} {unit}" for unit, got in units.items())


def _stated(rows: Iterable[Row]) -> str:
    ranges = [f"{r.stated[0]:g} to {r.stated[1]:g} {r.unit}" if r.stated else "none" for r in rows]
    distinct = list(dict.fromkeys(ranges))
    return "; ".join(distinct) if len(distinct) < 4 else "several, see its table"


def _questions(asked: Iterable[Any]) -> Iterator[str]:
    yield (
        "\n## Questions\n\nEach number on a page is the answer to one of these questions; each is a view of the store, so `akvsite sql` can ask it too.\n"
    )
    for question in asked:
        yield f"\n### `{question.name}` {{ #{question.name} }}\n\n{prose(question.caption)}\n\n{prose(question.method)}\n"
        yield table(
            ["column", "what it holds"],
            [
                [Cell(f"<code>{text(name)}</code>"), Cell(prose(about))]
                for name, about in question.columns.items()
            ],
        )
        # As plain text: with a tag around each word the page would be more than twice as long.
        yield (
            f'\n??? note "SQL of {question.name}"\n\n    ```text\n'
            + "\n".join(f"    {line}" for line in question.text.splitlines())
            + "\n    ```\n"
        )


def _estimator(name: str, function: Callable[..., Any]) -> str:
    documented = inspect.cleandoc(function.__doc__ or "")
    return f"\n#### `{name}` {{ #estimate-{name.replace('_', '-')} }}\n\n{_paragraphs(documented.split('>>>')[0])}\n"


def _paragraphs(documented: str) -> str:
    """Docstring paragraphs and lists as Markdown."""
    made = []
    for block in documented.strip().split("\n\n"):
        if block.startswith("- "):
            made.append("\n".join(f"- {prose(one)}" for one in block[2:].split("\n- ")))
        else:
            made.append(prose(block))
    return re.sub(r"&#42;(\w+)&#42;", r"<em>\1</em>", "\n\n".join(made))
