"""What each level needs in the command's environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from akvsite.errors import BadInput
from akvsite.tables import LEVELS

#: The recorder's libraries by the runtime they look at.
LIBRARIES = {"ur": "libakv_ur.so", "cudart": "libakv_cudart.so"}
_BUILT = Path(__file__).resolve().parents[2] / "shim" / "build"


def shim_libraries(runtime: str, environment: Mapping[str, str]) -> list[Path]:
    """The libraries to preload: those of ``runtime``, or with ``auto`` whichever are there. Raises ``BadInput``."""
    folder = Path(environment.get("AKVSITE_SHIM") or _BUILT).absolute()
    wanted = LIBRARIES if runtime == "auto" else {runtime: LIBRARIES[runtime]}
    found = [folder / name for name in wanted.values() if (folder / name).is_file()]
    if not found:
        raise BadInput(
            " and ".join(wanted.values()),
            "not built, and level edge needs them: run `make shim`, or set AKVSITE_SHIM to their folder",
        )
    if any(c in str(folder) for c in ": "):
        raise BadInput(folder.name, "its path holds a space or a colon, at which the loader would part it")
    return found


def environment_for(
    level: str,
    environment: Mapping[str, str],
    *,
    folder: Path | None,
    timing: str,
    preload: list[Path],
    files: Path | None = None,
) -> dict[str, str]:
    """The command's environment at ``level``: nothing of an outer capture, then what this one needs.

    ``files`` is where the command may leave files of its own, ``folder`` where recorders write: none at level off, which
    loads nothing.
    """
    ours = ("AKV_DIR", "AKV_FILES", "AKV_TIMING", "AKV_LEVEL")
    made = {n: v for n, v in environment.items() if n not in ours}
    others = [p for p in made.pop("LD_PRELOAD", "").replace(":", " ").split() if _is_foreign(p)]
    made["AKV_LEVEL"] = level
    if folder is not None:
        made["AKV_DIR"] = os.fspath(folder)
    if files is not None:
        made["AKV_FILES"] = os.fspath(files)
    if level == LEVELS[-1]:
        made["AKV_TIMING"] = timing
        # In front: a library that comes first is asked first.
        others = [*map(os.fspath, preload), *others]
    if others:
        made["LD_PRELOAD"] = ":".join(others)
    return made


def _is_foreign(library: str) -> bool:
    return Path(library).name not in LIBRARIES.values()
