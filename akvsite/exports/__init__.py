"""Rows of a run, or of some of its steps, for other tools: one file here for each format.

A format is a module with ``ENDING`` (of the name that is written where none is given), ``ABOUT``, ``NEXT`` (what to do
with it) and ``write(source, out, progress)``, which makes ``out`` and returns the rows that it wrote, by kind.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from akvsite.errors import BadInput
from akvsite.exports import csv, parquet, perfetto
from akvsite.exports._rows import Source, Steps
from akvsite.exports._target import replaced

__all__ = ["FORMATS", "Source", "Steps", "write"]

FORMATS = {"perfetto": perfetto, "parquet": parquet, "csv": csv}


def write(
    source: Source, form: str, out: Path, *, replace: bool, progress: Callable[[str], None]
) -> dict[str, int]:
    """Export to ``out``, which is there whole or not at all; rows that were written, by kind.

    Raises ``BadInput`` where the format or a step is unknown, or ``out`` cannot be made or may not be replaced.
    """
    if form not in FORMATS:
        raise BadInput("--format", f"{form!r}; one of {', '.join(FORMATS)}")
    source.refuse_unknown_steps()
    with replaced(out, source.store.path, replace=replace) as fresh:
        written: dict[str, int] = FORMATS[form].write(source, fresh, progress)
    return written
