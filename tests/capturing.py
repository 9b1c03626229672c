"""Captures of real commands, by the program in a process of its own, and C programs to capture."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]


class Captured(NamedTuple):
    code: int
    out: str
    err: str
    bundle: Path

    @property
    def facts(self) -> dict[str, Any]:
        return tomllib.loads((self.bundle / "capture.toml").read_text())

    @property
    def summary(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out[self.out.index("{") :])
        return found


def words(out: Path, name: str, *options: str, command: list[str | Path]) -> list[str]:
    given = ["--out", str(out), "--name", name, *options]
    return [sys.executable, "-m", "akvsite", "capture", *given, "--", *map(str, command)]


def environment(**more: str) -> dict[str, str]:
    """The environment of tests without what would change a capture."""
    plain = {n: v for n, v in os.environ.items() if not n.startswith(("AKV", "LD_PRELOAD", "PYTHON"))}
    return {**plain, "PYTHONPATH": str(ROOT), **more}


Capture = Callable[..., Captured]


def compile(out: Path, *words: str | Path) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed"
    subprocess.run([compiler, "-std=c11", "-O1", *map(str, words), "-o", str(out)], check=True)
    return out
