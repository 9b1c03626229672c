"""How two distributions differ at each decile, with a simultaneous band."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import altair as alt

from akvsite import charts
from akvsite.charts import Drawing, Footer, Headline
from akvsite.estimate import Estimate


def draw(
    question: str,
    deciles: Sequence[tuple[int, Estimate]],
    footer: Footer,
    *,
    sides: tuple[str, str],
    headline: Headline = (),
    axis: str = "",
) -> Drawing:
    """``deciles`` are (10, difference) to (90, difference), each ``sides[1]`` minus ``sides[0]``."""
    estimates = [estimate for _, estimate in deciles]
    scale = charts.scale(charts.unit_of(estimates), [0.0, *charts.band_values(estimates)])
    data = [
        charts.band_row(f"{decile} %", f"{decile} %", "", estimate, scale) for decile, estimate in deciles
    ]
    a, b = (charts.shortened(side, 30) for side in sides)
    notes = [
        f"a row: that decile of {b} minus that decile of {a}{_at_once(estimates)}",
        *charts.band_notes(data, estimates, scale),
    ]
    return charts.sealed(
        _skeleton(),
        charts.band_fill(data, scale, axis or f"{b} minus {a}"),
        {"rows": data, "zero": [] if scale.empty else [{"at": 0.0}]},
        question=question,
        headline=headline,
        footer=footer,
        # The methods differ in the decile's own number only.
        estimates=[replace(e, method=re.sub(r"' p\d+\b", ", each decile", e.method)) for e in estimates],
        notes=notes,
        summary=charts.told(
            question,
            headline,
            [(f"{decile} %", estimate) for decile, estimate in deciles],
            f"Deciles of {b} minus deciles of {a}: {charts.banded(estimates)}.",
        ),
        columns=("decile", *charts.ESTIMATE_COLUMNS),
        rows=[(decile, *charts.estimate_cells(estimate)) for decile, estimate in deciles],
    )


def _at_once(estimates: Sequence[Estimate]) -> str:
    """Whether the bands hold all together: one by one, some of nine would miss more often than 5 %."""
    scopes = [e.scope for e in estimates if e.low is not None]
    if not scopes:
        return ""
    if all("at once" in scope for scope in scopes):
        return " · simultaneous band: all deciles at once"
    return " · each band for its own decile, not for all at once"


@charts.skeleton
def _skeleton() -> list[alt.Chart]:
    zero = alt.Chart(alt.NamedData("zero")).mark_rule(style="akv-neutral").encode(x=charts.band_x("at"))
    return [zero, *charts.band_layers()]
