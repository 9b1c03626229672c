"""What is under captures/ can be published: small, declared, and without a trace of who made it."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from akvsite import ledger, manifest
from akvsite.conform import conform

CAPTURES = Path(__file__).resolve().parent.parent / "captures"
FOLDERS = sorted(path.parent for path in CAPTURES.glob(f"*/{manifest.FILE_NAME}"))
FILES = sorted(path for path in CAPTURES.rglob("*") if path.is_file())
#: Folders of what people wrote; every other folder is a capture.
WRITTEN = {"claims", "comparisons", "exclusions", "histories", "inquiries", "retractions"}

MIB = 2**20
#: What must not be published, and the text that gives it away. Each begins with what is rare, and looks back from there:
#: they are held against 160 MB.
TRACES = {
    "a home folder": rb"/(?:home|root|Users)/|:(?<=[A-Z]:)\\+Users",
    "a folder of one machine": rb"/(?:tmp|work|mnt|opt|var|srv|data)/",
    "a host or user name": rb'(?i)"(?:host_?name|user_?name|user|computer_?name|node_?name)"\s*:',
    "an environment row": rb"\b(?:HOME|USER|LOGNAME|HOSTNAME|PWD|OLDPWD)=",
    "a UUID": rb"(?i)-(?<=\b[0-9a-f]{8}-)(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    "a mail address": rb"@(?<=[\w.+-]@)[\w-]+\.[a-zA-Z]{2,}",
    # With a scheme or a port: four numbers with dots alone may be a version.
    "an internet address": rb"\d(?<![\d.]\d)\d{0,2}\.(?:\d{1,3}\.){2}\d{1,3}:\d",
    "an internet address after a scheme": rb"//(?:\d{1,3}\.){3}\d",
    "a token": rb"\b(?:gh[pousr]_|github_pat_|glpat-|hf_|sk-|xox[abp]-|AKIA)[A-Za-z0-9_-]{12}|-----BEGIN",
}


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(CAPTURES)) for path in paths]


def content(path: Path) -> bytes:
    """What a person could read in the file: unpacked where it is packed."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        texts = [
            text
            for column in table.columns
            if pa.types.is_string(column.type)
            for text in column.unique().to_pylist()
        ]
        return "\n".join([str(table.schema), *filter(None, texts)]).encode()
    return path.read_bytes()


def traces(text: bytes) -> list[str]:
    return [what for what, pattern in TRACES.items() if re.search(pattern, text)]


def test_every_folder_is_declared() -> None:
    # With a dot in front is what is being made: it is not committed.
    shown = {path for path in CAPTURES.iterdir() if path.is_dir() and not path.name.startswith(".")}
    undeclared = {path for path in shown if path.name not in WRITTEN} - set(FOLDERS)
    assert not undeclared
    assert len(FOLDERS) >= 15


@pytest.mark.parametrize("folder", FOLDERS, ids=names(FOLDERS))
def test_a_capture_is_whole(folder: Path) -> None:
    declared = manifest.load(folder)
    assert declared.name == folder.name
    assert {file.path for file in declared.files} == {
        path.resolve() for path in folder.rglob("*") if path.is_file() and path.name != manifest.FILE_NAME
    }
    for file in declared.files:
        if file.table is not None:
            rows = conform(file.table, pq.read_table(file.path))
            assert rows.num_rows > 0


@pytest.mark.parametrize("folder", FOLDERS, ids=names(FOLDERS))
def test_declared_warm_up_is_marked(folder: Path) -> None:
    declared = manifest.load(folder)
    for file in declared.files:
        if file.table == "step":
            warm = pq.read_table(file.path, columns=["warm_up"]).column("warm_up").to_pylist()
            assert warm == [1] * (declared.warm_up_steps or 0) + [0] * (
                len(warm) - (declared.warm_up_steps or 0)
            )


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_a_file_gives_nobody_away(path: Path) -> None:
    assert traces(content(path)) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b'{"traceName": "/home/ada/run.json"}', "a home folder"),
        (rb"C:\\Users\\ada\\run.json", "a home folder"),
        (b'"/tmp/run/trace.json"', "a folder of one machine"),
        (b'{"hostname": "node7"}', "a host or user name"),
        (b"LOGNAME=ada", "an environment row"),
        (b"GPU-01234567-89ab-cdef-0123-456789abcdef", "a UUID"),
        (b"ada@example.org", "a mail address"),
        (b"listening on 10.1.2.3:80", "an internet address"),
        (b"http://10.1.2.3/run", "an internet address after a scheme"),
        (b"Bearer hf_abcdefghijklmnop", "a token"),
    ],
)
def test_the_search_finds_what_it_looks_for(text: bytes, what: str) -> None:
    assert traces(text) == [what]


def test_captures_stay_small() -> None:
    sizes = {str(path.relative_to(CAPTURES)): path.stat().st_size for path in FILES}
    assert {name: size for name, size in sizes.items() if size >= 4 * MIB} == {}
    assert sum(sizes.values()) < 24 * MIB


def test_what_people_wrote_names_runs_that_are_there() -> None:
    written = ledger.load(CAPTURES)
    there = {folder.name for folder in FOLDERS}
    compared = {run for c in written.comparisons for run in (*c.a.runs, *c.b.runs)}
    claimed = {run for c in written.claims for run in (*c.cited("run"), *c.controls)}
    controls = {r.control for r in written.retractions if r.control}
    excluded = {e.run for e in written.exclusions}
    asked = {
        name
        for i in written.inquiries
        for uses in (i.uses, *(r.uses for r in i.rungs))
        for kind, name in uses
        if kind == "run"
    }
    assert (compared | claimed | controls | excluded | asked) - there == set()
    assert {name for c in written.claims for name in c.cited("comparison")} <= {
        c.name for c in written.comparisons
    }


def test_pairs_of_the_first_comparison_are_pairs_of_its_design() -> None:
    comparison = next(c for c in ledger.load(CAPTURES).comparisons if c.name == "h200-prefetch")
    for variant, side in (("A", comparison.a), ("B", comparison.b)):
        for place, run in enumerate(side.runs):
            facts = {f.key: f.value for f in manifest.load(CAPTURES / run).facts if f.part == "capture"}
            assert (facts["variant"], facts["pair"]) == (variant, str(place))
