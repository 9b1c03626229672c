"""What a command states of itself in facts.json, and what is made of a file that states nothing sound."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest
from capturing import Capture

from akvsite.record import stated

STATE = "import os, pathlib, sys; pathlib.Path(os.environ['AKV_FILES'], 'facts.json').write_text(sys.argv[1])"


@pytest.mark.parametrize("level", ["off", "runner"])
def test_facts_of_the_command_stand_in_the_declaration(capture: Capture, level: str) -> None:
    said = {
        "contract": {"output_hash": "sha256 ab12", "layers": 4},
        "engine": {"operators": "rms_norm", "preempted": 0, "of": "/opt/models/tiny"},
    }
    done = capture(level, [sys.executable, "-c", STATE, json.dumps(said)], "--contract", "layers=8")
    assert done.code == 0, done.err
    found = tomllib.loads((done.bundle / "capture.toml").read_text())
    assert found["contract"] == {"output_hash": "sha256 ab12", "layers": "8"}
    assert found["capture"]["engine"] == {"operators": "rms_norm", "preempted": 0, "of": "tiny"}
    assert list(found["capture"]["left_out"].values()) == [
        "facts.json: contract.layers is 4 there, and known otherwise"
    ]
    assert not (done.bundle / "files").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting"),
        ("[]", "is no object of tables"),
        ('{"capture": {"tool": "x"}}', "has a table 'capture'"),
        ('{"contract": 3}', "contract is no table"),
        ('{"contract": {"a": [1]}}', "contract.a is no plain value"),
        ('{"contract": {"a": 18446744073709551616}}', "contract.a is no plain value"),
        ('{"contract": {"a": 1e999}}', "contract.a is no finite number"),
        ('{"contract": {"": 1}}', "a key that is empty"),
        ("[" * 100_000, "facts are missing"),
        ('"' + "x" * 70_000 + '"', "more than 65,536 bytes"),
    ],
)
def test_a_file_that_states_nothing_sound_is_told_and_taken_away(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / stated.NAME).write_text(text)
    found = stated.take(tmp_path)
    assert found.tables == {} and why in found.left_out[0]
    assert not list(tmp_path.iterdir())


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('{"contract": {"a": "secret"}}')
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / stated.NAME).symlink_to(tmp_path / "elsewhere")
    found = stated.take(tmp_path / "own")
    assert found.tables == {} and found.left_out
    assert (tmp_path / "elsewhere").exists() and not list((tmp_path / "own").iterdir())


def test_without_the_file_nothing_is_stated(tmp_path: Path) -> None:
    assert stated.take(tmp_path) == stated.Stated()
