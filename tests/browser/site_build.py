"""A small site with the project's own theme settings, scripts and styles: two pages of charts, one plain page."""

from __future__ import annotations

import functools
import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.utils.yaml import yaml_load

from akvsite.charts import Drawing, embed

ROOT = Path(__file__).parents[2]

TABLE = """
<div data-akv-table>
<table><thead><tr><th>run</th><th>p50 step</th><th>steps</th></tr></thead><tbody>
<tr><td>beta</td><td data-sort="21340000">21.34 ms [21.10, 21.61]</td><td>1,700</td></tr>
<tr><td>alpha 10</td><td data-sort="900">900 ns [850, 990]</td><td>40</td></tr>
<tr><td>alpha 9</td><td data-sort="">unknown: no steps</td><td>0</td></tr>
</tbody></table>
</div>
"""


def page(title: str, drawings: Mapping[str, Drawing], data_dir: str = "data") -> str:
    charts = "\n".join(
        f"## Chart {key}\n\n{embed.figure(drawing, key, data_dir, sql='data/q.sql')}"
        for key, drawing in drawings.items()
    )
    return f"# {title}\n\nWords that the search should find.\n\n{charts}\n"


def write(docs: Path, pages: Mapping[str, Mapping[str, Drawing]], bundle: str) -> None:
    """The sources of a site whose pages, by name, show drawings, by key."""
    shutil.copytree(ROOT / "site_src" / "assets", docs / "assets", ignore=shutil.ignore_patterns("vega.js"))
    (docs / "assets" / "vega.js").write_text(bundle, encoding="utf-8")
    (docs / "data").mkdir()
    (docs / "data" / "q.sql").write_text("-- question\nselect 1;\n", encoding="utf-8")
    links = "\n".join(f"- [{name}]({name}.md)" for name in pages)
    (docs / "index.md").write_text(
        f"# Plain\n\n{links}\n\n<p class='akv-stamp'><strong>Retracted</strong> 2026-01-01: a stamp.</p>\n\n"
        "??? note\n    A fold of the theme.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        encoding="utf-8",
    )
    (docs / "runs.md").write_text(f"# Runs\n\n{TABLE}\n", encoding="utf-8")
    for name, drawings in pages.items():
        (docs / f"{name}.md").write_text(page(name, drawings), encoding="utf-8")
        for key, drawing in drawings.items():
            (docs / "data" / f"{key}.js").write_text(embed.data_script(drawing, key), encoding="utf-8")
            (docs / "data" / f"{key}.csv").write_text(embed.csv_text(drawing), encoding="utf-8")


def config(docs: Path, out: Path, url: str) -> Path:
    """The project's mkdocs.yml, for other folders and without its list of pages."""
    settings = yaml_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings |= {"docs_dir": str(docs), "site_dir": str(out), "site_url": url}
    settings.pop("nav", None)
    file = docs.parent / "mkdocs.yml"
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return file


def built(
    folder: Path,
    pages: Mapping[str, Mapping[str, Drawing]],
    bundle: str,
    url: str = "http://127.0.0.1:8000/",
) -> Path:
    docs, out = folder / "docs", folder / "site"
    write(docs, pages, bundle)
    build(load_config(str(config(docs, out, url)), strict=True))
    return out


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """A test's output is its own."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[str]:
    """The folder on the loopback, on a free port if none is given; gives its address, with a slash at the end."""
    handler: Callable[..., SimpleHTTPRequestHandler] = functools.partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
