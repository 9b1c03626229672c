"""capture.toml: whatever stands in it, the answer is a manifest or one line with the file and the key."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akvsite import manifest
from akvsite.errors import BadInput
from akvsite.reading import Fact, Process

MINIMAL = """
format = 1
name = "run-1"
level = "off"
[[file]]
path = "step.parquet"
table = "step"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "step.parquet").touch()
    (tmp_path / "trace.json").touch()
    return tmp_path


def load(folder: Path, text: str | bytes) -> manifest.Manifest:
    path = folder / "capture.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return manifest.load(folder)


def refused(folder: Path, text: str | bytes) -> str:
    with pytest.raises(BadInput) as error:
        load(folder, text)
    assert error.value.source.startswith(str(folder))
    return str(error.value)


def test_what_is_not_said_is_unknown(folder: Path) -> None:
    found = load(folder, MINIMAL)
    assert (found.host, found.role, found.timing, found.clock) == (None, "unknown", "unknown", "unknown")
    assert found.warm_up_steps is None and found.started is None and found.engine is None
    assert found.processes == (Process(0, "unknown"),)
    assert found.facts == ()


def test_a_mark_of_utf_8_in_front_is_no_fault(folder: Path) -> None:
    assert load(folder, b"\xef\xbb\xbf" + MINIMAL.encode()) == load(folder, MINIMAL)
    assert load(folder, b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode()).name == "run-1"


def test_everything_that_can_be_said(folder: Path) -> None:
    found = load(
        folder,
        """
        format = 1
        name = "run-1"
        level = "device"
        started = 2026-11-29T10:00:00Z
        engine = "an engine"
        timing_events = "on"
        warm_up_steps = 0
        clock = "vendor, unproven"
        note = "a note"
        [host]
        name = "box"
        role = "proof"
        [host.facts]
        cpus = 2
        [contract]
        deep.er = { list = [1, "a"], yes = true, no = false, half = 0.5 }
        [[process]]
        pid = -1
        rank = 3
        name = "engine"
        [[file]]
        path = "step.parquet"
        table = "step"
        rank = 3
        [[file]]
        path = "trace.json"
        """,
    )
    assert found.started == "2026-11-29T10:00:00+00:00"
    assert (found.level, found.role, found.warm_up_steps) == ("device", "proof", 0)
    assert found.processes == (Process(0, "-1", 3, "engine"),)
    assert [(f.path.name, f.table, f.rank) for f in found.files] == [
        ("step.parquet", "step", 3),
        ("trace.json", None, None),
    ]
    assert found.facts == (
        Fact("host", "cpus", "2"),
        Fact("contract", "deep.er.list", "1, a"),
        Fact("contract", "deep.er.yes", "yes"),
        Fact("contract", "deep.er.no", "no"),
        Fact("contract", "deep.er.half", "0.5"),
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format = 1", "", "format: is None; this version reads format 1"),
        ("format = 1", "format = 2", "format: is 2"),
        ("format = 1", "format = true", "format: is True"),
        ("format = 1", 'format = "1"', "format: is '1'"),
        ('name = "run-1"', "", "name: is missing"),
        ('name = "run-1"', "name = 1", "name: must be text, not int"),
        ('name = "run-1"', 'name = "../up"', "name: is '../up'"),
        ('name = "run-1"', 'name = "Run"', "name: is 'Run'"),
        ('name = "run-1"', 'name = "a\\n"', "name: is"),
        ('name = "run-1"', f'name = "{"a" * 101}"', "100 at most"),
        ('name = "run-1"', 'name = "a..b"', "no two dots in a row"),
        ('name = "run-1"', 'name = "a-..."', "no two dots in a row"),
        ('level = "off"', "", "level: is missing"),
        ('level = "off"', "level = 0", "level: must be text, not int"),
        ('level = "off"', 'level = "Off"', "level: is 'Off'; one of off, runner"),
        ('level = "off"', 'level = "off"\nwarmup_steps = 3', "warmup_steps: is not a key of a capture"),
        ('level = "off"', 'level = "off"\nwarm_up_steps = -1', "warm_up_steps: must be a whole number from 0, not -1"),
        ('level = "off"', 'level = "off"\nwarm_up_steps = true', "warm_up_steps: must be a whole number"),
        ('level = "off"', 'level = "off"\nwarm_up_steps = 1.0', "warm_up_steps: must be a whole number"),
        ('level = "off"', f'level = "off"\nwarm_up_steps = {2**63}', "warm_up_steps: must be a whole number"),
        ('level = "off"', 'level = "off"\nstarted = "yesterday"', "started: is 'yesterday'"),
        ('level = "off"', 'level = "off"\nstarted = 20261129', "started: is 20261129"),
        ('level = "off"', 'level = "off"\nstarted = 10:00:00', "started: is"),
        ('level = "off"', 'level = "off"\nclock = "good"', "clock: is 'good'"),
        ('level = "off"', 'level = "off"\ntiming_events = true', "timing_events: must be text, not bool"),
        ('level = "off"', 'level = "off"\nengine = " "', "engine: is empty"),
        ('level = "off"', 'level = "off"\nnote = "a\\u0000b"', "note: holds a NUL"),
        ('level = "off"', 'level = "off"\nhost = "box"', "host: must be a table"),
        ('level = "off"', 'level = "off"\nhost = {role = "proof"}', "host.name: is missing"),
        ('level = "off"', 'level = "off"\nhost = {name = "a", role = "quiet"}', "host.role: is 'quiet'"),
        ('level = "off"', 'level = "off"\nhost = {name = "a", facts = 1}', "host.facts: must be a table"),
        ('level = "off"', 'level = "off"\nhost = {name = "a", ip = "1"}', "host.ip: is not a key"),
        ('level = "off"', 'level = "off"\ncontract = [1]', "contract: must be a table"),
        ('level = "off"', 'level = "off"\ncontract = {"a.b" = 1, a = {b = 2}}', "contract.a.b: is there twice"),
        ('level = "off"', 'level = "off"\nprocess = {pid = 1}', "process: must be a list of tables"),
        ('level = "off"', 'level = "off"\nprocess = [{rank = 1}]', "process[0].pid: must be text or a whole number"),
        ('level = "off"', 'level = "off"\nprocess = [{pid = 1, rank = -1}]', "process[0].rank: must be a whole number"),
        ('level = "off"', 'level = "off"\nprocess = [{pid = 1, tid = 1}]', "process[0].tid: is not a key"),
        ("[[file]]", "[file]", "file: must be a list of tables"),
        ('path = "step.parquet"', "", "file[0].path: is missing"),
        ('path = "step.parquet"', "path = 1", "file[0].path: must be text"),
        ('path = "step.parquet"', 'path = ""', "file[0].path: is empty"),
        ('path = "step.parquet"', 'path = "a\\u0000b"', "file[0].path: holds a NUL"),
        ('path = "step.parquet"', f'path = "{"a/" * 5000}"', "file[0].path"),
        ('path = "step.parquet"', f'path = "{"a" * 300}"', "file[0].path"),
        ('path = "step.parquet"', 'path = "none.parquet"', "file[0].path: 'none.parquet' is not a file"),
        ('path = "step.parquet"', 'path = "loop"', "file[0].path"),
        ('table = "step"', 'table = "run"', "file[0].table: is 'run'; one of step, request"),
        ('table = "step"', 'table = ["step"]', "file[0].table: must be text, not list"),
        ('table = "step"', "rank = 1.5", "file[0].rank: must be a whole number"),
        ('table = "step"', "sha = 1", "file[0].sha: is not a key"),
        ('table = "step"', '[[file]]\npath = "./step.parquet"', "file: names the same file twice"),
        ('table = "step"', '[[process]]\npid = 1', "process: is for level files"),
    ],
)  # fmt: skip
def test_a_key_that_is_not_as_it_should_be_is_named(old: str, new: str, words: str, folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    assert words in refused(folder, MINIMAL.replace(old, new))


@pytest.mark.parametrize(
    "text",
    [
        "format = ",
        b"\xff\xfe",
        b"name = '\xc0'",
        "x = " + "[" * 5000,
        "x = " + "9" * 5000,
        MINIMAL + f"[contract]\nx = 0x{'f' * 5000}",
        MINIMAL + "[contract]\n" + ".".join("a" * 3000) + " = 1",
        "a = 1\na = 2",
        "",
    ],
)
def test_what_is_no_toml_is_refused(text: str | bytes, folder: Path) -> None:
    refused(folder, text)


def test_no_manifest_no_capture(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"has no capture.toml"):
        manifest.load(folder)


def written(value: Any) -> str:
    """A value as TOML."""
    match value:
        case bool():
            return str(value).lower()
        case float() if math.isnan(value) or math.isinf(value):
            return str(value)
        case int() | float():
            return repr(value)
        case str():
            return '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'
        case list():
            return f"[{', '.join(map(written, value))}]"
        case dict():
            return "{" + ", ".join(f"{written(k)} = {written(v)}" for k, v in value.items()) + "}"
    return str(value.isoformat())


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | TEXTS
    | st.dates()
    | st.times()
    | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["format", "name", "level", "started", "engine", "timing_events", "warm_up_steps", "clock", "note", "host", "file",
     "process", "contract", "load", "capture", "software", "device"]
)  # fmt: skip
WORDS = st.sampled_from(["off", "edge", "run", "on", "host only", "2026-01-01", "step.parquet", "step", 1, 0])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.dictionaries(KEYS | TEXTS, VALUES | WORDS, max_size=6), st.booleans())
def test_odd_values_are_refused_or_understood(folder: Path, values: dict[str, Any], on_top: bool) -> None:
    base = {"format": 1, "name": "run", "level": "off", "file": [{"path": "step.parquet", "table": "step"}]}
    data = {**base, **values} if on_top else values
    text = "\n".join(f"{written(k)} = {written(v)}" for k, v in data.items())
    try:
        found = load(folder, text)
    except BadInput as error:
        assert error.source == str(folder / "capture.toml")
        assert error.place or error.why.startswith("is not TOML")
        return
    assert found.level in manifest.LEVELS
    assert all(isinstance(f.value, str) for f in found.facts)
    assert all(
        isinstance(getattr(found, k), (str, type(None))) for k in ("engine", "note", "started", "host")
    )


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60))
def test_odd_bytes_are_refused(folder: Path, data: bytes) -> None:
    refused(folder, data)
