"""A chart on a page: the HTML block, the data script beside it, the CSV file, and the script that draws.

From ``file://`` a browser refuses fetch, module scripts and workers, so a chart's data is a classic script that calls
one function, and the drawing library is one file of the site.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, Final

import altair as alt
import vl_convert

from akvsite.charts import ESTIMATE_COLUMNS, Drawing, missing_parts, shortened
from akvsite.errors import visible
from akvsite.escape import csv_cell

#: Rows of a chart's table on the page; the CSV file has all.
TABLE_ROWS: Final = 20

#: Columns that the caption tells once where all rows say the same.
_TOLD_ONCE: Final = frozenset((*ESTIMATE_COLUMNS, "level", "clock"))

#: How the printed line, which may be broken anywhere, names a retraction.
_RETRACTED: Final = re.compile(r"RETRACTED \d{4}-\d\d-\d\d \([^()]*\)")

#: What is read until the script has drawn, and where it never runs.
WAITING: Final = "This chart is drawn by a script; the table below has the same numbers."


def figure(
    drawing: Drawing,
    key: str,
    data_dir: str,
    *,
    sql: str = "",
    cite: str = "",
    rows: tuple[str, str] = ("", ""),
) -> str:
    """The HTML block of a chart for a Markdown page.

    ``key`` names the chart on its page and its files: ``<data_dir>/<key>.js`` (``data_script``) and
    ``<data_dir>/<key>.csv`` (``csv_text``). ``data_dir`` is relative to the page as it is served, such as
    "../data/runs/r1". ``sql`` is the address of the question's SQL, relative to the page; empty where there is none.
    ``rows`` is that of the rows that its numbers are made from, and what a link to them says. ``cite`` is what a claim or an inquiry cites the chart by; empty where none can.
    A drawing whose printed line lacks a part is a ``ValueError``.
    """
    _printed(drawing, key)
    base = f"{data_dir.rstrip('/')}/{key}"
    # As the page's script names its images: a file says which page it comes from.
    parts = [part for part in f"/{base}".split("/data/")[-1].split("/") if part not in ("", "..")]
    name = "-".join(parts)
    links = [f'<a href="{_text(base)}.csv" download="{_text(name)}.csv">data (CSV)</a>']
    if sql:
        links.append(f'<a href="{_text(sql)}">question (SQL)</a>')
    if rows[0]:
        links.append(f'<a href="{_text(rows[0])}">{_text(rows[1])}</a>')
    cited = f'<p class="akv-cite">To cite it: <code>{_text(cite)}</code></p>' if cite else ""
    return "\n".join(
        (
            f'<figure class="akv-chart" id="{_text(key)}" data-akv-key="{_text(key)}"'
            f' data-akv-src="{_text(base)}.js" data-search-exclude>',
            f'<div class="akv-drawing"><p class="akv-waiting"><strong>{_text(drawing.question)}</strong>'
            f" {_text(WAITING)}</p></div>",
            f'<figcaption><p class="akv-links">{" · ".join(links)}</p>'
            f'<details class="akv-fold"><summary>In words</summary>'
            f'<p class="akv-summary">{_text(drawing.summary)}</p>{cited}</details></figcaption>',
            *_table(drawing),
            "</figure>",
            "",
        )
    )


def data_script(drawing: Drawing, key: str) -> str:
    """The text of ``<key>.js``: one call of ``akvChart`` with the specification."""
    # All but ASCII is escaped (line separators end a statement in old engines), and no tag can begin in it.
    spec = json.dumps(drawing.spec, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return f"akvChart({json.dumps(key)},{spec});\n".replace("<", "\\u003c")


def csv_text(drawing: Drawing) -> str:
    """The chart's rows as CSV; text that a spreadsheet would run as a formula gets a leading apostrophe.

    Where the chart is under a retraction its printed line says so, and each row here does, in a last column ``retracted``.
    """
    footer = drawing.spec.get("usermeta", {}).get("akv", {}).get("footer", ())
    stamps = "; ".join(dict.fromkeys(_RETRACTED.findall(" ".join(footer))))
    more = [stamps] if stamps else []
    return rows_as_csv(
        (*drawing.columns, *(["retracted"] if stamps else [])), ((*row, *more) for row in drawing.rows)
    )


def rows_as_csv(columns: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV under their columns, each cell as in ``csv_text``."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([csv_cell(cell) for cell in row] for row in (columns, *rows))
    return out.getvalue()


def vega_bundle() -> str:
    """The drawing library as one classic script that sets ``window.vegaEmbed``. Takes seconds: write it once."""
    # In a function of its own: the library's short names would be globals of the page.
    return f"{vega_version()}\n(function(){{\n{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;', vl_version=_vega_lite())}\n}})();\n"


def vega_version() -> str:
    """What ``vega_bundle`` would write: the first line of the file it made, without making it."""
    return (
        f"/*! Vega {vl_convert.get_vega_version()}, Vega-Lite {_vega_lite()},"
        f" Vega-Embed {vl_convert.get_vega_embed_version()}; University of Washington Interactive Data Lab and"
        f" contributors; BSD-3-Clause; bundled by vl-convert {version('vl-convert-python')} */"
    )


def _vega_lite() -> str:
    """The version that Altair writes for, as "6.1"."""
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def _printed(drawing: Drawing, key: str) -> None:
    """No chart comes onto a page without its printed line."""
    missing = missing_parts(drawing.spec.get("usermeta", {}).get("akv", {}).get("footer", ()))
    if missing:
        raise ValueError(f"the printed line of the chart {key!r} does not say: {', '.join(missing)}")


def _text(text: object) -> str:
    """Text for HTML, in an attribute or between tags. A line break would end the block for Markdown."""
    return html.escape(visible(text), quote=True)


def _table(drawing: Drawing) -> list[str]:
    """The first rows as a table that opens on demand, without the columns that are empty or the same in all rows."""
    used = [
        at
        for at in range(len(drawing.columns))
        if at == 0 or any(row[at] not in (None, "") for row in drawing.rows)
    ]
    same = {
        at: drawing.rows[0][at]
        for at in used
        if drawing.columns[at] in _TOLD_ONCE
        and len(drawing.rows) > 1
        and isinstance(drawing.rows[0][at], str)
        and all(row[at] == drawing.rows[0][at] for row in drawing.rows)
    }
    used = [at for at in used if at not in same]
    once = "; ".join(f"{drawing.columns[at]}: {shortened(text, 300)}" for at, text in same.items())
    caption = " ".join(part for part in (drawing.caption, f"All rows: {once}." if once else "") if part)
    shown = drawing.rows[:TABLE_ROWS]
    more = len(drawing.rows) - len(shown)
    head = "".join(
        f'<th scope="col"{_number_class(row[at] for row in shown)}>{_text(drawing.columns[at])}</th>'
        for at in used
    )
    body = ["<tr>" + "".join(_cell(row[at]) for at in used) + "</tr>" for row in shown]
    left = (
        f'<p class="akv-more">{more} more rows are in the CSV file, which has all of them.</p>'
        if more
        else ""
    )
    return [
        f'<details class="akv-fold akv-rows"><summary>The numbers as a table ({len(drawing.rows)} rows)</summary>',
        # Over what scrolls, so that it can be read whole.
        *([f'<p class="akv-more">{_text(caption)}</p>'] if caption else []),
        f'<div class="akv-scroll" role="region" tabindex="0" aria-label="{_text(drawing.question)} Table">',
        f'<table class="akv-table"><thead><tr>{head}</tr></thead><tbody>',
        *body,
        f"</tbody></table></div>{left}</details>",
    ]


def _number_class(cells: Iterable[Any]) -> str:
    """A head stands over its numbers: on the right where all cells are numbers or empty."""
    held = [cell for cell in cells if cell is not None]
    numbers = held and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in held)
    return ' class="akv-number"' if numbers else ""


def _cell(cell: Any) -> str:
    if cell is None:
        return '<td class="akv-none">–</td>'
    if isinstance(cell, bool):
        return f"<td>{'yes' if cell else 'no'}</td>"
    if isinstance(cell, int | float):
        if not math.isfinite(cell):
            return f'<td class="akv-number">{"not a number" if math.isnan(cell) else "unbounded"}</td>'
        return f'<td class="akv-number">{cell if isinstance(cell, int) else f"{cell:.10g}"}</td>'
    return f"<td><bdi>{_text(cell)}</bdi></td>"
