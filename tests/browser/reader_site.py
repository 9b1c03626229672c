"""A site of a few captures with the pages of a few modules: what a reader needs, and nothing besides."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import site_build
from bundles import read_in
from mkdocs.commands.build import build
from mkdocs.config import load_config

from akvsite import site
from akvsite.store import Store


def built(folder: Path, captures: Path, modules: Sequence[ModuleType], bundle: str) -> Path:
    """The HTML of those pages, and what they load. ``captures`` is a folder of capture folders; ``bundle`` draws charts."""
    docs, out = folder / "docs", folder / "site"
    site_build.write(docs, {}, bundle)
    read_in(folder / "akvsite.db", captures)

    def leave(name: str, text: str) -> None:
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")

    with Store.open(folder / "akvsite.db") as store:
        site.take_notes(store, captures)
        desk = site.SiteDesk(store, leave)
        for module in modules:
            for page in module.write(desk):
                leave(page.path + page.ending, page.text)
    build(load_config(str(site_build.config(docs, out, "http://127.0.0.1:8000/")), strict=True))
    shutil.rmtree(docs)
    return out
