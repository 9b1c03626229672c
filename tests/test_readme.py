"""The blocks of the README and of the hand-written pages are run, or held against what they describe."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import built_site
import pytest

from akvsite import ledger, manifest, tables

ROOT = built_site.ROOT


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.S)


def commands() -> list[list[str]]:
    return [
        words
        for block in blocks("README.md", "sh")
        for line in block.splitlines()
        if (words := shlex.split(line, comments=True))
    ]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with some of the committed captures, and the files that the README speaks of: all are built elsewhere, once."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    shutil.copytree(ROOT / "captures", folder / "captures", ignore=_left_out)
    (folder / "site_src").mkdir()
    for page in built_site.PAGES:
        shutil.copy(ROOT / "site_src" / page, folder / "site_src")
    shutil.copytree(ROOT / "site_src" / "assets", folder / "site_src" / "assets")
    for rank, name in enumerate(("my_trace", "rank0", "rank1")):
        trace = {
            "distributedInfo": {"rank": rank, "world_size": 2},
            "traceEvents": built_site.traces()["hostile-names"],
        }
        (folder / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(trace).encode()))
    built_site.run(folder, "ingest", "captures")
    return folder


def test_the_commands_of_the_readme_run_in_its_order(checkout: Path) -> None:
    ran = 0
    given = commands()
    for place, words in enumerate(given):
        if words in given[place + 1 :]:
            continue  # once, where it sees all that came before: what a build makes of a built site is tested elsewhere
        if words[0] == "make":
            assert (
                subprocess.run(
                    ["make", "-n", words[1]], cwd=ROOT, capture_output=True, check=False
                ).returncode
                == 0
            ), words
        else:
            assert words[0] == "akvsite", f"the README has a command that no test runs: {words}"
            built_site.run(checkout, *words[1:])
            ran += 1
    assert ran >= 9
    rows = json.loads(built_site.run(checkout, "runs", "--json").stdout)
    assert {r["name"]: r["excluded"] for r in rows}["two-ranks"] == 1
    assert (checkout / "site" / "runs" / "my_trace.html").is_file()


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Of the captures those that the commands name, with all notes."""
    if Path(folder) != ROOT / "captures":
        return set()
    named = {word for words in commands() for word in words}
    return {
        name for name in names if (ROOT / "captures" / name / "capture.toml").is_file() and name not in named
    }


def test_the_bundle_shown_in_the_docs_ingests(tmp_path: Path) -> None:
    """The TOML and the Python of the bundle page make a capture that the store takes."""
    folder = tmp_path / "bundle"
    folder.mkdir()
    (text,) = [b for b in blocks("site_src/bring.md", "toml") if "format = 1" in b]
    (folder / "capture.toml").write_text(text, encoding="utf-8")
    (code,) = blocks("site_src/bring.md", "python")
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    (folder / "trace.json.gz").write_bytes(
        gzip.compress(json.dumps({"traceEvents": built_site.traces()["two-devices"]}).encode())
    )
    done = built_site.run(tmp_path, "ingest", "bundle", "--json")
    (outcome,) = json.loads(done.stdout)
    assert (outcome["run"], outcome["stored"]) == ("my-decode-1", 6)
    declared = manifest.load(folder)
    assert declared.warm_up_steps == 100 and declared.role == "dev"


def test_every_key_of_the_manifest_is_shown() -> None:
    (text,) = [b for b in blocks("site_src/bring.md", "toml") if "format = 1" in b]
    shown = set(tomllib.loads(text))
    assert {
        "format",
        "name",
        "level",
        "started",
        "engine",
        "timing_events",
        "warm_up_steps",
        "clock",
        "note",
        "host",
        "load",
        "contract",
        "file",
    } <= shown


def test_the_notes_shown_in_the_docs_load(tmp_path: Path) -> None:
    claim, retraction = blocks("site_src/bring.md", "markdown")
    (comparison,) = [b for b in blocks("site_src/bring.md", "toml") if "[a]" in b]
    for kind, name, text in (
        ("claims", "c.md", claim),
        ("retractions", "r.md", retraction),
        ("comparisons", "c.toml", comparison),
    ):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / name).write_text(text, encoding="utf-8")
    found = ledger.load(tmp_path)
    assert [r.claim for r in found.retractions] == [c.id for c in found.claims]
    assert found.comparisons[0].design == "ABBA pairs"


def test_tables_named_in_the_docs_exist() -> None:
    for block in blocks("site_src/bring.md", "toml"):
        for table in re.findall(r'^table = "(\w+)"', block, re.M):
            assert table in tables.CAPTURED
