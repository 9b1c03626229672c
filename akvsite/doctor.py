"""Whether what the commands need is there."""

from __future__ import annotations

import importlib.util
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from akvsite.errors import BadInput

#: Module, what it is for, whether the site needs it.
_MODULES = (
    ("mkdocs", "makes the site", True),
    ("material", "the site's theme", True),
    ("altair", "charts", True),
    ("vl_convert", "the chart library that the site serves", True),
    ("pyarrow", "level files", True),
    ("msgspec", "reads traces", True),
    ("numpy", "numbers and their bands", True),
    ("sqlite_utils", "the store's schema", True),
    ("yaml", "claims and retractions", True),
    ("torch", "makes captures with the torch profiler; not needed to read them", False),
    ("playwright", "opens the site in a browser, in tests", False),
)


def examine(store: Path) -> list[dict[str, str]]:
    """One row a check: what, its state (``ok``, ``missing``, ``not installed``), and what it means."""
    rows = [
        _row(
            "python",
            sys.version_info >= (3, 11),
            f"{sys.version_info.major}.{sys.version_info.minor}; 3.11 or later is needed",
        ),
        _row(
            "sqlite",
            sqlite3.sqlite_version_info >= (3, 37),
            f"{sqlite3.sqlite_version}; STRICT tables need 3.37",
        ),
    ]
    for module, about, needed in _MODULES:
        try:
            present = importlib.util.find_spec(module) is not None
        except (ImportError, ValueError):
            present = False
        state = "ok" if present else "missing" if needed else "not installed"
        rows.append({"check": module, "state": state, "about": about})
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    rows.append(
        {
            "check": "chromium",
            "state": "ok" if browser else "not installed",
            "about": "opens the site in tests",
        }
    )
    rows.append(_wal(store.parent if store.parent.is_dir() else Path()))
    rows.append(_store(store))
    return rows


def _row(check: str, good: bool, about: str) -> dict[str, str]:
    return {"check": check, "state": "ok" if good else "missing", "about": about}


def _wal(folder: Path) -> dict[str, str]:
    try:
        with tempfile.TemporaryDirectory(dir=folder) as probe:
            connection = sqlite3.connect(Path(probe) / "probe.db")
            try:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            finally:
                connection.close()
    except (OSError, sqlite3.OperationalError) as error:
        mode = str(error)
    said = "in use here" if mode == "wal" else f"not on this file system ({mode}): a plain journal is used"
    return {"check": "write-ahead log", "state": "ok", "about": said}


def _store(path: Path) -> dict[str, str]:
    try:
        # Late: this module has to be there when what the store needs is not.
        from akvsite.store import Store
    except ImportError as error:
        return {"check": str(path), "state": "missing", "about": f"cannot be opened: {error}"}
    if not path.exists():
        return {
            "check": str(path),
            "state": "not installed",
            "about": "no store yet: akvsite ingest PATH makes one",
        }
    try:
        with Store.read(path) as store:
            count = store.one("SELECT count(*) FROM run")
            fault = store.one("PRAGMA quick_check")
    except BadInput as error:
        return {"check": str(path), "state": "missing", "about": error.why}
    except sqlite3.DatabaseError as error:
        return {"check": str(path), "state": "missing", "about": f"is damaged: {error}"}
    return {
        "check": str(path),
        "state": "ok" if fault == "ok" else "missing",
        "about": f"{count} runs; {'whole' if fault == 'ok' else fault}",
    }
