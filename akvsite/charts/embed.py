"""A chart on a page: the HTML block, the data script beside it, the CSV file, and the script that draws.

From ``file://`` a browser refuses fetch, module scripts and workers, so a chart's data is a classic script that calls
one function, and the drawing library is one file of the site.
"""

from __future__ import annotations

from akvsite.charts import Drawing


def figure(drawing: Drawing, key: str, data_dir: str, *, sql: str = "") -> str:
    """The HTML block of a chart for a Markdown page.

    ``key`` names the chart on its page and its files: ``<data_dir>/<key>.js`` (``data_script``) and
    ``<data_dir>/<key>.csv`` (``csv_text``). ``data_dir`` is relative to the page as it is served, such as
    "../data/runs/r1". ``sql`` is the address of the question's SQL, relative to the page; empty where there is none.
    """
    raise NotImplementedError


def data_script(drawing: Drawing, key: str) -> str:
    """The text of ``<key>.js``: one call of ``akvChart`` with the specification."""
    raise NotImplementedError


def csv_text(drawing: Drawing) -> str:
    """The chart's rows as CSV; text that a spreadsheet would run as a formula gets a leading apostrophe."""
    raise NotImplementedError


def vega_bundle() -> str:
    """The drawing library as one classic script that sets ``window.vegaEmbed``. Takes seconds: write it once."""
    raise NotImplementedError


def vega_version() -> str:
    """What ``vega_bundle`` would write: the first line of the file it made, without making it."""
    raise NotImplementedError
