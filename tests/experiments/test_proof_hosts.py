"""A busy host is no proof host: thresholds are checked before an experiment and before each of its runs, and kept."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from test_runner import Counting, plan

from akvsite.errors import BadInput
from akvsite.experiments import carry_out
from akvsite.manifest import load
from akvsite.record import host, quiet

PROOF = {"host": "bench", "role": "proof"}


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A quiet host; what others take of it just before each run, in turn (then nothing)."""
    taken: list[float] = []
    monkeypatch.setattr(host, "load_per_core", lambda: 0.01)
    monkeypatch.setattr(host, "busy_per_core", lambda seconds: taken.pop(0) if taken else 0.02)
    monkeypatch.setattr(quiet.device, "present", lambda: False)
    monkeypatch.setattr(host, "governor", lambda: "performance")
    return taken


def test_a_busy_host_is_refused_before_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "load_per_core", lambda: 0.57)
    experiment = Counting()
    with pytest.raises(
        BadInput, match=r"not quiet: load a core over 1 min 0\.57 \(threshold: at most 0\.10\)"
    ):
        carry_out(experiment, plan(tmp_path / "out", **PROOF))
    assert experiment.prepared == 0 and not (tmp_path / "out").exists()
    # A development host is busy on purpose.
    assert carry_out(experiment, plan(tmp_path / "out", host="bench", role="dev")).quiet == {}


def test_thresholds_and_what_was_found_are_kept_and_told(tmp_path: Path, still: list[float]) -> None:
    said: list[str] = []
    done = carry_out(Counting(), plan(tmp_path, **PROOF), {}, said.append)
    assert said[0] == "quiet: load a core over 1 min 0.01 (threshold: at most 0.10)"
    facts = {f"{f.part}.{f.key}": f.value for f in load(tmp_path / "counting").facts}
    kept = {key.removeprefix("capture.quiet."): value for key, value in facts.items() if ".quiet." in key}
    assert kept == done.quiet and len(kept) == 8
    assert kept["after the last run, load a core over 1 s"].startswith("load a core over 1 s 0.02")
    assert "load a core over 1 s 0.02" in facts["capture.runs.011"]


def test_a_host_that_became_busy_stops_it_and_the_same_command_goes_on(
    tmp_path: Path, still: list[float]
) -> None:
    still += [0.0, 0.1, 0.43]
    first, second = Counting(), Counting()
    with pytest.raises(
        BadInput, match=r"over 1 s 0\.43 .*; run 3 of 12 was not made, and those before it are kept"
    ):
        carry_out(first, plan(tmp_path, **PROOF))
    assert len(first.made) == 2 and not (tmp_path / "counting").exists()
    carry_out(second, plan(tmp_path, **PROOF))
    assert len(second.made) == 10 and second.prepared == 0


def test_a_host_that_became_busy_in_the_last_run_is_not_published_as_proof(
    tmp_path: Path, still: list[float]
) -> None:
    still += [0.0] * 12 + [0.43]
    first, second = Counting(), Counting()
    with pytest.raises(BadInput, match=r"over 1 s 0\.43 .*after the last run, which is not kept"):
        carry_out(first, plan(tmp_path, **PROOF))
    assert len(first.made) == 12 and [p.name for p in tmp_path.iterdir()] == [".counting.experiment"]
    # A later quiet moment does not speak for that run: it is made again.
    carry_out(second, plan(tmp_path, **PROOF))
    assert len(second.made) == 1


def test_a_tracer_that_is_switched_on_is_refused(tmp_path: Path, still: list[float]) -> None:
    with pytest.raises(BadInput, match="tracers switched on SYCL_UR_TRACE"):
        carry_out(Counting(), plan(tmp_path, **PROOF), {"SYCL_UR_TRACE": "2"})


def test_the_command_line_ends_with_2(akvsite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "load_per_core", lambda: 3.0)
    akvsite("experiment", "aa", "--host", "bench", "--host-role", "proof", "--", "true").refused(
        "--host-role proof", "not quiet", "nothing was run"
    )


def test_thresholds_are_printed_for_scripts(akvsite: Any, still: list[float]) -> None:
    done = akvsite(
        "experiment", "aa", "--pairs", "1", "--host", "bench", "--host-role", "proof", "--json", "--", "true"
    )
    assert json.loads(done.out)["quiet"]["governor"].startswith("governor performance")


def test_what_the_processors_do_is_a_part_of_their_time() -> None:
    began = time.monotonic()
    busy = host.busy_per_core(0.05)
    assert 0 <= busy <= 1 and time.monotonic() - began >= 0.05
