"""Texts in the sources that a person may come to read: the test site does not reach every branch that has one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from built_site import PAGES
from words import verdicts

ROOT = Path(__file__).parents[2]

#: Files whose docstrings are printed: help of commands, and the Method and Schema pages.
PUBLISHED = (
    "akvsite/cli.py",
    "akvsite/estimators/",
    "akvsite/tables/",
    "akvsite/experiments/",
    "akvsite/columns.py",
)
#: Literals that nobody reads as words of ours: where, what, and why.
EXEMPT = {
    ("akvsite/record/software.py", "        pass\n"): "a program of a few lines, which it runs",
    ("akvsite/record/software.py", "|PASS|"): "part of the name of an environment variable that holds a password",
}  # fmt: skip


def found() -> Iterator[str]:
    """Each word of a verdict in a text of the sources, with its place."""
    for path in sorted((ROOT / "akvsite").rglob("*.py")):
        yield from _said(path, _of_python(path))
    for path in sorted((ROOT / "akvsite").rglob("*.sql")):
        yield from _said(path, [(1, path.read_text(encoding="utf-8"))])
    for name in PAGES:
        path = ROOT / "site_src" / name
        # What stands in the font of code is quoted.
        text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.S)
        yield from _said(path, [(1, text)])
    for path in sorted((ROOT / "site_src/assets").glob("akv*")):
        yield from _said(path, [(1, path.read_text(encoding="utf-8"))])
    for path in sorted((ROOT / "shim").rglob("*.[ch]")):
        lines = path.read_text(encoding="utf-8").splitlines()
        yield from _said(
            path,
            [(n, said) for n, line in enumerate(lines, 1) for said in re.findall(r'"(?:[^"\\]|\\.)*"', line)],
        )


def _said(path: Path, texts: Iterator[tuple[int, str]] | list[tuple[int, str]]) -> Iterator[str]:
    name = path.relative_to(ROOT).as_posix()
    for line, text in texts:
        for where, part in EXEMPT:
            if where == name:
                text = text.replace(part, "")
        yield from (f"{name}:{line}: {word}" for word in verdicts(text))


def _of_python(path: Path, text: str | None = None) -> Iterator[tuple[int, str]]:
    """String literals; docstrings where they are printed."""
    tree = ast.parse(path.read_text(encoding="utf-8") if text is None else text)
    published = path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix().startswith(PUBLISHED)
    documented: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and not published
        ):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documented.add(id(first.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.lineno, node.value
