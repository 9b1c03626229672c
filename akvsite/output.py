"""From Markdown to HTML: MkDocs is run, and the folder that it filled takes the place of the last one whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from akvsite.errors import BadInput

CONFIG = "mkdocs.yml"
#: Marks a folder as ours to replace.
MARK = ".akvsite"


def make(project: Path, out: Path) -> None:
    """Build the project's HTML and put it in the place of ``out``. Raises ``BadInput`` where MkDocs finds a fault."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.resolve().parent))
    try:
        _mkdocs(project, fresh)
        fresh.chmod(0o755)
        (fresh / MARK).write_text("made by akvsite build; replaced by the next one\n", encoding="utf-8")
        _swap(fresh, out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def refuse_other_folder(out: Path) -> None:
    """Raises ``BadInput`` where ``out`` cannot be made, or holds what no build wrote."""
    if not out.parent.is_dir():
        raise BadInput(out, "the folder above it does not exist")
    if out.exists() and not out.is_dir():
        raise BadInput(out, "is not a folder")
    if (
        out.is_dir()
        and any(out.iterdir())
        and not (out / MARK).is_file()
        and not (out / "sitemap.xml").is_file()
    ):
        raise BadInput(
            out, "holds files that no build wrote; they are left as they are. Name another folder with --out"
        )


def _mkdocs(project: Path, out: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "-f",
        str(project / CONFIG),
        "-d",
        str(out.resolve()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        wanted = next(
            (line for line in said if line.startswith(("ERROR", "WARNING"))),
            said[-1] if said else "it says nothing",
        )
        raise BadInput(project / CONFIG, f"MkDocs stopped: {wanted}")


def _swap(fresh: Path, out: Path) -> None:
    """Put the new folder in the place of the old one; the old one goes back where that cannot be done."""
    old = None
    if out.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.resolve().parent)) / "site"
        out.rename(old)
    try:
        fresh.rename(out)
    except OSError:
        if old is not None:
            old.rename(out)
        raise
    finally:
        if old is not None:
            shutil.rmtree(old.parent, ignore_errors=True)
