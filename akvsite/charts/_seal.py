"""From a mark's form to a drawing: values filled in, the question over it, the printed line under it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import altair as alt
from altair.utils import schemapi

from akvsite.charts._drawing import MAX_ROWS, NOT_STATED, Drawing, Footer, Headline, Spec, several
from akvsite.charts._form import HEIGHT, TICKS, filled
from akvsite.charts._look import DARK, LIGHT, _colors, _config, _over
from akvsite.charts._text import bare, broken, over_drawing, said, said_bare, shortened
from akvsite.errors import visible
from akvsite.estimate import Estimate


def skeleton(build: Callable[[], Sequence[alt.Chart]]) -> Callable[[], Spec]:
    """Layers as a plain specification with its placeholders, built once: Altair takes a tenth of a second a chart.

    Altair's check is off while building, since it knows no placeholders; filled specifications are checked by tests.
    """

    @cache
    def built() -> Spec:
        with schemapi.debug_mode(False):
            spec: Spec = alt.layer(*build()).to_dict(validate=False)
        return {key: value for key, value in spec.items() if key not in ("config", "$schema")} | {
            "height": HEIGHT
        }

    return built


def told(question: str, headline: Headline, items: Sequence[tuple[str, str | Estimate]], about: str) -> str:
    """The text summary: the question, what is drawn, and the first numbers in words.

    Where no number has a band, why is said once, here if ``about`` does not say it.
    """
    drawn = [item for _, item in (*headline, *items) if isinstance(item, Estimate)]
    word = said_bare if bare(drawn) else said
    why = several((e.refusal for e in drawn if e.value is not None), "reasons") if bare(drawn) else ""
    if why and why not in about:
        about = f"{about} No number here has a band: {why}."
    first = [
        f"{shortened(name, 80)}: {item if isinstance(item, str) else word(item)}" for name, item in items[:8]
    ]
    rest = [f"and {len(items) - 8} more in the table"] if len(items) > 8 else []
    lead = [f"{visible(name)}: {word(estimate)}" for name, estimate in headline]
    return " ".join((shortened(question, 300), about, "; ".join([*lead, *first, *rest]) + ".")).strip()


#: The columns that an Estimate fills in a table; the CSV file carries all it knows.
ESTIMATE_COLUMNS: Final = (
    "value",
    "low",
    "high",
    "systematic",
    "systematic of",
    "unit",
    "n",
    "kind",
    "method",
    "scope",
    "seen",
    "use",
    "no band because",
)


def estimate_cells(estimate: Estimate) -> tuple[Any, ...]:
    """One cell a column. A systematic part that is not known is said to be unknown; where there is none, nothing is."""
    e = estimate
    systematic = "unknown" if e.systematic is None else e.systematic if e.systematic_of else None
    return (
        *(e.value, e.low, e.high, systematic, e.systematic_of, e.unit),
        *(e.n, e.kind, e.method, e.scope, e.seen, e.use, e.refusal),
    )


def sealed(
    form: Spec,
    values: Mapping[str, Any],
    datasets: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    question: str,
    headline: Headline,
    footer: Footer,
    estimates: Sequence[Estimate],
    notes: Iterable[str] = (),
    count: str = "",
    summary: str,
    columns: tuple[str, ...],
    rows: Iterable[tuple[Any, ...]],
    caption: str = "",
    config: Spec | None = None,
) -> Drawing:
    """The drawing with its question on top and its printed line underneath, all in one specification.

    A view has one title only, so the drawing is the single child of a concatenation: the outer title is the question,
    the child's title, at the bottom, is the footer, which says of ``estimates`` what they cannot show. ``usermeta.akv`` keeps the unbroken text for a page of any width.
    """
    drawn = sum(len(data) for data in datasets.values())
    if drawn > MAX_ROWS:
        raise ValueError(f"{drawn} rows in one chart; aggregate to {MAX_ROWS} first")
    title = shortened(question, 400)
    # Why no number has a band is in the printed line once.
    word = said_bare if bare([*estimates, *(e for _, e in headline)]) else said
    lead = over_drawing(headline, word)
    paragraphs = footer.paragraphs(estimates, notes, count, headline)
    printed = tuple(line for paragraph in paragraphs for line in broken(visible(paragraph)))
    child: Spec = filled(form, {TICKS: {}, **values})
    child["width"] = 560
    child["title"] = {
        "text": list(printed),
        "orient": "bottom",
        "anchor": "start",
        "frame": "bounds",
        "offset": 14,
        "style": "akv-footer",
    }
    spec: Spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": summary,
        "title": {
            "text": broken(title),
            **({"subtitle": [line for text in lead for line in broken(text)]} if lead else {}),
            "anchor": "start",
            "frame": "bounds",
        },
        "vconcat": [child],
        "datasets": {name: list(data) for name, data in datasets.items()},
        "config": _over(_config(LIGHT), config or {}),
        "usermeta": {
            "akv": {
                "question": title,
                "headline": lead,
                "footer": [visible(paragraph) for paragraph in paragraphs],
                "dark": _colors(DARK),
            }
        },
    }
    columns, cells = _completed(columns, rows, footer, estimates)
    return Drawing(spec, title, printed, summary, columns, cells, caption)


def _completed(
    columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], footer: Footer, estimates: Sequence[Estimate]
) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """Rows that say what was seen, what they may be used for, at which level and by which clock.

    A file of numbers leaves its page as an image does; where a row does not say it itself, the footer does.
    """
    given = {
        "seen": footer.seen or NOT_STATED,
        "use": footer.use or several((e.use for e in estimates), "uses") or NOT_STATED,
        "level": footer.looked,
        "clock": footer.clocked(estimates),
    }
    places = {columns.index(name): text for name, text in given.items() if name in columns}
    added = {name: text for name, text in given.items() if name not in columns}
    tail = tuple(added.values())
    cells = tuple(
        (*((places.get(at, "") if cell == "" else cell) for at, cell in enumerate(row)), *tail)
        for row in rows
    )
    return (*columns, *added), cells
