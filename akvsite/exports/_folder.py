"""What a folder says of itself."""

from __future__ import annotations

import json
from pathlib import Path

from akvsite.exports._rows import Source, described
from akvsite.exports._target import ABOUT, MADE_BY


def write_about(source: Source, out: Path, written: dict[str, int]) -> None:
    """``about.json``: what the run is, how many rows there are, and what each column holds."""
    told = {**source.about, "made by": MADE_BY, "rows": written, "columns": described()}
    (out / ABOUT).write_text(json.dumps(told, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
