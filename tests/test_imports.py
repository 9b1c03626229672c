"""Who may know whom: the import contract, formats and marks that do not know each other, and a quick start."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("akvsite", cache_dir=None)


def test_the_import_contract_is_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("room", ["readers", "charts"])
def test_files_of_one_room_do_not_know_each_other(room: str, graph: grimp.ImportGraph) -> None:
    """A new format or mark is one new file: what two of them share begins with an underscore."""
    package = f"akvsite.{room}"
    files = {m for m in graph.find_children(package) if not m.rpartition(".")[2].startswith("_")}
    assert len(files) > 2
    known = {(a, b) for a in files for b in files - {a} if graph.chain_exists(a, b)}
    assert known == set()
    # Nor does the room itself name its files: they are found by being there.
    assert graph.find_modules_directly_imported_by(package) & files == set()


def test_vocabularies_know_no_room(graph: grimp.ImportGraph) -> None:
    vocabulary = {
        "columns",
        "conform",
        "tables",
        "reading",
        "estimate",
        "estimators",
        "calls",
        "manifest",
        "errors",
    }
    for name in vocabulary:
        known = {m.split(".")[1] for m in graph.find_upstream_modules(f"akvsite.{name}", as_package=True)}
        assert known <= vocabulary, name


def loaded(code: str) -> set[str]:
    program = f"import sys\n{code}\nimport json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["ingest", "--help"],
        ["ingest"],
        ["sql", "--nonsense"],
        ["claim", "new", "--help"],
        ["retract"],
    ],
)
def test_help_and_mistakes_load_no_heavy_library(words: list[str]) -> None:
    code = (
        f"sys.argv = ['akvsite', *{words!r}]\n"
        "from akvsite import cli\ntry: cli.main()\nexcept SystemExit: pass"
    )
    heavy = {
        "pyarrow",
        "altair",
        "numpy",
        "vl_convert",
        "sqlite_utils",
        "msgspec",
        "yaml",
        "mkdocs",
        "pandas",
    }
    assert loaded(code) & heavy == set()


def test_reading_captures_loads_no_chart_library() -> None:
    assert loaded("import akvsite.ingest") & {"altair", "vl_convert", "mkdocs"} == set()


def test_numbers_can_be_used_without_store_or_charts() -> None:
    heavy = {"pyarrow", "altair", "vl_convert", "sqlite_utils"}
    assert loaded("import akvsite.estimators") & heavy == set()


def test_what_is_imported_is_declared() -> None:
    """Every third-party module of the package comes with a dependency of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {d.partition("==")[0].lower() for d in project["dependencies"]}
    names = {"vl_convert": "vl-convert-python", "sqlite_utils": "sqlite-utils", "yaml": "pyyaml"}
    outside = grimp.build_graph("akvsite", include_external_packages=True, cache_dir=None)
    used = {
        m
        for m in outside.modules
        if "." not in m and m != "akvsite" and m not in sys.stdlib_module_names and m != "__future__"
    }
    # The last is a file of the same folder, found by the programs that run beside a device.
    optional = {"torch", "dpctl", "akvscan", "_overlap_cycles"}
    assert {names.get(m, m) for m in used - optional} <= declared
