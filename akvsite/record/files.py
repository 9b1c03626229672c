"""Files of the command's own that belong into the capture: what it leaves in ``$AKV_FILES``, such as a profiler's trace.

They go in as they are, since a raw file is never changed. One that names this machine, its user or somebody's home
folder does not go in: it stays beside the bundle, and the capture says so.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass, field
from pathlib import Path

from akvsite.record.clean import own_names

#: Bytes that are looked at in one go; a name may lie across two of them.
_PIECE, _OVERLAP = 1 << 22, 256
_HOMES = rb"/(?:home|Users)/[^/\s\"']+|/root/"


@dataclass
class Files:
    """Names relative to the bundle, and one line for each file that was left out."""

    kept: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def collect(source: Path, target: Path, beside: Path) -> Files:
    """Move the regular files of ``source`` to ``target``; those that tell on somebody to ``beside``. Folders and links
    are left out."""
    made = Files()
    for path in sorted(source.iterdir()):
        if path.is_symlink() or not path.is_file():
            made.left_out.append(f"{path.name}: no plain file")
            continue
        told = _tells(path)
        place = beside if told else target
        place.mkdir(exist_ok=True)
        path.rename(place / path.name)
        if told:
            made.left_out.append(f"{path.name}: names {told}; it is beside the bundle, in {beside.name}")
        else:
            made.kept.append((target / path.name).relative_to(target.parent).as_posix())
    return made


def _tells(path: Path) -> str | None:
    """Whose machine the file names, if any: this host or user, or a home folder."""
    own = b"|".join(re.escape(name.encode()) for name in own_names())
    pattern = re.compile(
        rb"(?P<own>\b(?:" + own + rb")\b)|(?P<home>" + _HOMES + rb")" if own else b"(?P<home>" + _HOMES + b")"
    )
    packed = path.name.endswith(".gz")
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            before = b""
            while piece := file.read(_PIECE):
                if found := pattern.search(before + piece):
                    return "this machine or its user" if found.lastgroup == "own" else "a home folder"
                before = piece[-_OVERLAP:]
    except (OSError, EOFError) as error:
        # Cut short or not gzip at all: what it says cannot be known.
        return f"nobody knows whom ({type(error).__name__})"
    return None
