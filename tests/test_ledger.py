"""Claims, retractions, exclusions, comparisons and histories: held to what they must say, with the file and the key."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akvsite import ledger
from akvsite.errors import BadInput

CLAIM = """---
id: copies-overlap
date: 2026-01-02
state: open
scope: timeline
statement: Copies run while kernels run.
runs: [a, b]
---
Its text.
"""
RETRACTION = """---
id: no-overlap
date: 2026-01-03
claim: copies-overlap
reason: The observer changed the answer.
---
"""
EXCLUSION = """---
run: a
date: 2026-01-04
because: another job ran
---
"""
COMPARISON = """
name = "a-b"
title = "Does it differ?"
design = "unpaired"
[a]
label = "old"
runs = ["a"]
[b]
label = "new"
runs = ["b", "c"]
"""
HISTORY = """
name = "decode"
note = "One day, one host."
runs = ["a", "b", "c"]
"""
KINDS = {
    "claims": ("one.md", CLAIM),
    "retractions": ("one.md", RETRACTION),
    "exclusions": ("one.md", EXCLUSION),
    "comparisons": ("one.toml", COMPARISON),
    "histories": ("one.toml", HISTORY),
}


def put(folder: Path, kind: str, text: str | bytes, name: str | None = None) -> Path:
    path = folder / kind / (name or KINDS[kind][0])
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for kind, (_, text) in KINDS.items():
        put(tmp_path, kind, text)
    return tmp_path


def refused(folder: Path, path: Path) -> str:
    with pytest.raises(BadInput) as error:
        ledger.load(folder)
    assert error.value.source == str(path)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


def test_no_folder_is_an_empty_ledger(tmp_path: Path) -> None:
    assert ledger.load(tmp_path) == ledger.Ledger()
    assert list(ledger.rows(ledger.Ledger())) == []


def test_everything_is_read(folder: Path) -> None:
    found = ledger.load(folder)
    (claim,) = found.claims
    assert (claim.id, claim.date, claim.runs, claim.control, claim.body) == (
        "copies-overlap",
        "2026-01-02",
        ("a", "b"),
        None,
        "Its text.",
    )
    assert found.retractions[0].reason == "The observer changed the answer."
    assert found.exclusions == (ledger.Exclusion("a", "2026-01-04", "another job ran"),)
    assert found.comparisons[0].b == ledger.Side("new", ("b", "c"))
    assert found.histories == (ledger.History("decode", "One day, one host.", ("a", "b", "c")),)


def test_a_withdrawn_claim_is_retracted_whatever_its_file_says(folder: Path) -> None:
    rows = list(ledger.rows(ledger.load(folder)))
    assert [row["state"] for table, row in rows if table == "claim"] == ["retracted"]
    assert {table for table, _ in rows} <= set(ledger.TABLES)


@pytest.mark.parametrize(
    ("kind", "old", "new", "words"),
    [
        ("claims", "id: copies-overlap\n", "", "id: is missing"),
        ("claims", "id: copies-overlap", "id: ../up", "id: '../up'"),
        ("claims", "id: copies-overlap", "id: 5", "id: must be text, not int"),
        ("claims", "date: 2026-01-02", "date: soon", "date: 'soon' is not a date"),
        ("claims", "date: 2026-01-02", "date: 2026-01-02 10:00:00", "date: '2026-01-02T10:00:00' is not a date"),
        ("claims", "date: 2026-01-02", "date: 2026-13-02", "front matter is not YAML"),
        ("claims", "state: open", "state: supported", "state: a claim without a control stays open"),
        ("claims", "state: open", "state: supported\ncontrol: ", "state: a claim without a control stays open"),
        ("claims", "state: open", "state: supported\ncontrol: ''", "control: is missing"),
        ("claims", "state: open", "state: retracted", "state: 'retracted'; one of open, supported"),
        ("claims", "state: open", "state: true", "state: must be text, not bool"),
        ("claims", "scope: timeline", "scope: hunch", "scope: 'hunch'"),
        ("claims", "statement: Copies run while kernels run.", "statement: ''", "statement: is missing"),
        ("claims", "statement:", "statment:", "statment: is not a key here"),
        ("claims", "runs: [a, b]", "runs: 0", "runs: must be a list of names"),
        ("claims", "runs: [a, b]", "runs: [1]", "runs: must be a list of names"),
        ("claims", "runs: [a, b]", "runs: ['<b>']", "runs: must be a list of names"),
        ("claims", "runs: [a, b]", "runs: {a: 1}", "runs: must be a list of names"),
        ("claims", "statement: Copies", 'statement: "\\ud800" #', "statement: holds half of a character"),
        ("claims", "statement: Copies run", "statement: !!timestamp foo #", "front matter is not YAML"),
        ("claims", "statement: Copies run", "statement: !!int '' #", "front matter is not YAML"),
        ("claims", "statement: Copies run", "statement: !!python/name:os.system x #", "front matter is not YAML"),
        ("claims", "statement:", "? [a]\n: x\nstatement:", "is not"),
        ("claims", "---\nid", "id", "has no front matter"),
        ("claims", CLAIM, "---\n- a\n---\n", "front matter must be keys and values"),
        ("claims", CLAIM, "---\n" + "[" * 5000 + "\n---\n", "front matter is not YAML"),
        ("claims", CLAIM, "", "has no front matter"),
        ("retractions", "claim: copies-overlap", "claim: another", "claim: withdraws 'another', and there is no such claim"),
        ("retractions", "reason: The observer changed the answer.", "reason:", "reason: is missing"),
        ("retractions", "reason:", "control: ['a']\nreason:", "control: must be text"),
        ("retractions", "reason:", "control: 'a b'\nreason:", "control: 'a b'"),
        ("exclusions", "run: a\n", "", "run: is missing"),
        ("exclusions", "because: another job ran", "because: ' '", "because: is missing"),
        ("exclusions", "because:", "until: 2027-01-01\nbecause:", "until: is not a key here"),
        ("comparisons", 'name = "a-b"', 'name = "A B"', "name: 'A B'"),
        ("comparisons", 'name = "a-b"', "", "name: must be text"),
        ("comparisons", 'title = "Does it differ?"', 'title = ""', "title: must be text"),
        ("comparisons", 'design = "unpaired"', 'design = "by eye"', "design: 'by eye'"),
        ("comparisons", 'design = "unpaired"', 'design = ["unpaired"]', "design: must be text"),
        ("comparisons", 'design = "unpaired"', 'design = "ABBA pairs"', "design: ABBA pairs need as many runs"),
        ("comparisons", 'design = "unpaired"', 'design = "two runs"', "design: two runs are one a side"),
        ("comparisons", 'design = "unpaired"', 'design = "unpaired"\nnote = 1', "note: must be text"),
        ("comparisons", 'design = "unpaired"', 'design = "unpaired"\nwinner = "a"', "winner: is not a key"),
        ("comparisons", 'label = "old"', "", "a: must be a table with label and runs"),
        ("comparisons", 'label = "old"', 'label = "old"\nrun = "a"', "a.run: is not a key of a side"),
        ("comparisons", 'runs = ["a"]', "runs = []", "a.runs: must be a list of run names"),
        ("comparisons", 'runs = ["a"]', 'runs = ["a", "a"]', "a.runs: names a run twice"),
        ("comparisons", 'runs = ["a"]', 'runs = ["b"]', "run 'b' is on both sides"),
        ("comparisons", 'runs = ["a"]', 'runs = ["../a"]', "a.runs: must be a list of run names"),
        ("comparisons", 'runs = ["a"]', f"runs = [{'9' * 5000}]", "is not TOML"),
        ("comparisons", COMPARISON, "x = " + "[" * 5000, "is not TOML"),
        ("histories", '"b", "c"', '"b"', "runs: 2 runs; a history is of 3 to 24"),
        ("histories", '"b", "c"', ", ".join(f'"r{n}"' for n in range(24)), "runs: 25 runs; a history is of 3 to 24"),
        ("histories", '"b", "c"', '"b", "a"', "runs: names a run twice"),
        ("histories", '"b", "c"', '"b", 3', "runs: must be a list of run names"),
        ("histories", "note =", "title =", "title: is not a key of a history"),
        ("histories", 'name = "decode"', "", "name: must be text"),
    ],
)  # fmt: skip
def test_a_note_that_is_not_as_it_should_be_is_named(
    kind: str, old: str, new: str, words: str, folder: Path
) -> None:
    text = KINDS[kind][1]
    assert old in text
    path = put(folder, kind, text.replace(old, new, 1))
    assert words in refused(folder, path)


def test_a_run_is_in_one_history(folder: Path) -> None:
    other = HISTORY.replace("decode", "other").replace('["a"', '["d"')
    assert "runs: run 'b' is in one.toml already" in refused(
        folder, put(folder, "histories", other, "two.toml")
    )


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_that_are_not_text_are_refused(kind: str, folder: Path) -> None:
    refused(folder, put(folder, kind, b"---\n\xff\xfe\n---\n"))


@pytest.mark.parametrize(
    ("kind", "words"),
    [("claims", "id"), ("retractions", "id"), ("exclusions", "run"), ("comparisons", "name")],
)
def test_twins_are_refused(kind: str, words: str, folder: Path) -> None:
    name, text = KINDS[kind]
    assert f"{words}: " in (said := refused(folder, put(folder, kind, text, f"two{name}")))
    assert f"is in {name} already" in said


def test_a_claim_is_withdrawn_once(folder: Path) -> None:
    path = put(folder, "retractions", RETRACTION.replace("id: no-overlap", "id: again"), "two.md")
    assert "claim: 'copies-overlap' is in one.md already" in refused(folder, path)


def test_a_supported_claim_cites_its_control(folder: Path) -> None:
    put(folder, "claims", CLAIM.replace("state: open", "state: supported\ncontrol: quiet"))
    rows = [row for table, row in ledger.rows(ledger.load(folder)) if table == "claim_run"]
    assert {(r["kind"], r["name"]) for r in rows} == {("run", "a"), ("run", "b"), ("control", "quiet")}


def test_an_exclusion_is_written_once_and_read_back(tmp_path: Path) -> None:
    because = 'it said: "no" --- # and\nleft \u202e'
    path = ledger.write_exclusion(tmp_path, "run-1", because, date(2026, 1, 5))
    assert ledger.load(tmp_path).exclusions == (ledger.Exclusion("run-1", "2026-01-05", because),)
    with pytest.raises(BadInput, match=r"excludes the run already"):
        ledger.write_exclusion(tmp_path, "run-1", "again", date(2026, 1, 6))
    assert "2026-01-05" in path.read_text()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 200), st.text(max_size=12))
def test_odd_text_anywhere_is_refused_or_understood(folder: Path, kind: str, place: int, odd: str) -> None:
    for name, (_, text) in KINDS.items():
        put(folder, name, text)
    text = KINDS[kind][1]
    data = (text[:place] + odd + text[place:]).encode("utf-8", "surrogatepass")
    path = put(folder, kind, data)
    try:
        for _, row in ledger.rows(ledger.load(folder)):
            for value in row.values():
                str(value).encode()
    except BadInput as error:
        assert error.source in {str(path), str(folder / "retractions" / "one.md")}
