"""Claims, retractions, exclusions, comparisons and histories: held to what they must say, with the file and the key."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akvsite import ledger
from akvsite.errors import BadInput
from akvsite.ledger import writing
from akvsite.tables import TABLES

CLAIM = """---
id: copies-overlap
date: 2026-01-02
scope: timeline
about: [overlap]
statement: Copies run while kernels run.
predicts: Both take less than the sum.
history:
- date: 2026-01-02
  event: made
  seal: 7160bc87a75e6249
- date: 2026-01-02
  event: cited
  kind: run
  name: a
  seal: f75f1f1ffc8e42c0
- date: 2026-01-03
  event: retracted
  kind: retraction
  name: no-overlap
  sha256: f8a3abf8e323475ecee51890127c5b41743cc23ce8982fa975877f0124f24e50
  seal: 5c359931e1ea7e07
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
INQUIRY = """---
id: slow-step
date: 2026-01-04
title: Why is a step slow?
symptom: A step takes 8 ms.
uses:
  runs: [a]
  charts: ["runs/a#steps"]
rungs:
- scope: application
  question: Which step?
  found: All.
- scope: timeline
  question: What runs then?
  claims: [copies-overlap]
  retractions: no-overlap
---
How it went.
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
    "inquiries": ("one.md", INQUIRY),
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
    assert (claim.id, claim.date, claim.about, claim.body) == (
        "copies-overlap",
        "2026-01-02",
        ("overlap",),
        "Its text.",
    )
    assert (claim.cited("run"), claim.controls, claim.state) == (("a",), (), "retracted")
    assert found.retractions[0].reason == "The observer changed the answer."
    assert found.inquiries[0].uses == (("run", "a"), ("chart", "runs/a#steps"))
    assert found.inquiries[0].rungs[1] == ledger.Rung(
        "timeline", "What runs then?", None, (("claim", "copies-overlap"), ("retraction", "no-overlap"))
    )
    assert found.exclusions == (ledger.Exclusion("a", "2026-01-04", "another job ran"),)
    assert found.comparisons[0].b == ledger.Side("new", ("b", "c"))
    assert found.histories == (ledger.History("decode", "One day, one host.", ("a", "b", "c")),)


def test_rows_are_those_of_the_tables_and_name_every_table_that_is_emptied(folder: Path) -> None:
    rows = list(ledger.rows(ledger.load(folder)))
    assert {table for table, _ in rows} == set(ledger.TABLES)
    for table, row in rows:
        columns = {c.name: c.nullable for c in TABLES[table].columns}
        assert set(row) <= set(columns)
        assert all(row.get(name) is not None or null for name, null in columns.items())


@pytest.mark.parametrize(
    ("kind", "old", "new", "words"),
    [
        ("claims", "id: copies-overlap\n", "", "id: is missing"),
        ("claims", "id: copies-overlap", "id: ../up", "id: '../up'"),
        ("claims", "id: copies-overlap", "id: 5", "id: must be text, not int"),
        ("claims", "date: 2026-01-02", "date: soon", "date: 'soon' is not a date"),
        ("claims", "date: 2026-01-02", "date: 2026-01-02 10:00:00", "date: '2026-01-02T10:00:00' is not a date"),
        ("claims", "date: 2026-01-02", "date: 2026-13-02", "front matter is not YAML"),
        ("claims", "scope: timeline", "scope: hunch", "scope: 'hunch'"),
        ("claims", "scope: timeline", "scope: timeline\nstate: open", "state: is not a key here"),
        ("claims", "scope: timeline", "scope: timeline\nscope: kernel", "the key 'scope' stands there twice"),
        ("claims", "about: [overlap]", "about: [speed]", "about: 'speed'; one of overlap, serialisation"),
        ("claims", "about: [overlap]", "about: []", "about: is missing: one or more of overlap"),
        ("claims", "about: [overlap]", "about: [1]", "about: must be a list of names"),
        ("claims", "about: [overlap]", "about: {a: 1}", "about: must be a list of names"),
        ("claims", "about: [overlap]", "about: ['<b>']", "about: must be a list of names"),
        ("claims", "statement: Copies run while kernels run.", "statement: ''", "statement: is missing"),
        ("claims", "predicts: Both take less than the sum.", "", "predicts: is missing"),
        ("claims", "statement:", "statment:", "statment: is not a key here"),
        ("claims", CLAIM[CLAIM.index("history:"):CLAIM.index("---\nIts")], "", "history: is missing: write its first entry"),
        ("claims", "history:\n", "history: []\nh:\n", "is not a key here"),
        ("claims", CLAIM[CLAIM.index("history:"):CLAIM.index("---\nIts")], "history: made\n", "history: must be a list"),
        ("claims", CLAIM[CLAIM.index("history:"):CLAIM.index("---\nIts")], "history: [made]\n", "history[0]: must be a table"),
        ("claims", "  event: made\n", "  event: born\n", "history[0].event: 'born'; one of made, cited"),
        ("claims", "  kind: run\n", "  kind: control\n", "history[1].kind: 'control'; one of run, comparison, chart"),
        ("claims", "  name: a\n", "", "history[1].name: is missing"),
        ("claims", "  name: a\n", "  name: A\n", "history[1].name: 'A': lower-case"),
        ("claims", "  kind: run\n", "  kind: chart\n", "history[1].name: 'a': a chart is PAGE#KEY"),
        ("claims", "  name: a\n", "  name: a\n  because: x\n", "history[1].because: is not a key here"),
        ("claims", "  sha256: ", "  sha256: x", "history[2].sha256: is not a SHA-256"),
        ("claims", "- date: 2026-01-02\n  event: cited", "- date: 2026-01-01\n  event: cited", "history[1].date: 2026-01-01 is before 2026-01-02"),
        ("claims", "  seal: f75f1f1ffc8e42c0\n", "", "history[1].seal: is missing, and entries behind it are sealed"),
        ("claims", "  seal: 7160bc87a75e6249\n", "  seal: 1\n", "history[0].seal: must be text, not int"),
        ("claims", "statement: Copies", 'statement: "\\ud800" #', "statement: holds half of a character"),
        ("claims", "statement: Copies run", "statement: !!timestamp foo #", "front matter is not YAML"),
        ("claims", "statement: Copies run", "statement: !!int '' #", "front matter is not YAML"),
        ("claims", "statement: Copies run", "statement: !!python/name:os.system x #", "front matter is not YAML"),
        ("claims", "statement:", "? [a]\n: x\nstatement:", "is not"),
        ("claims", "statement:", "x: &x [*x]\nstatement:", "is not"),
        ("claims", "---\nid", "id", "has no front matter"),
        ("claims", CLAIM, "---\n- a\n---\n", "front matter must be keys and values"),
        ("claims", CLAIM, "---\nid: a\nstate: open\nruns: [a]\n---\n", "state: was a key before claims had a history: make the claim anew with `akvsite claim new`"),
        ("claims", CLAIM, "---\n" + "[" * 5000 + "\n---\n", "front matter is not YAML"),
        ("claims", CLAIM, "", "has no front matter"),
        ("retractions", "claim: copies-overlap", "claim: another", "claim: withdraws 'another', and one.md names it as its own"),
        ("retractions", "reason: The observer changed the answer.", "reason:", "reason: is missing"),
        ("retractions", "The observer", "An observer", "one.md names it by"),
        ("retractions", "answer.\n---\n", "answer.\n---\nMore.\n", "it was altered after it was written"),
        ("inquiries", "title: Why is a step slow?\n", "", "title: is missing"),
        ("inquiries", "symptom: A step takes 8 ms.", "symptom: [a]", "symptom: must be text"),
        ("inquiries", "uses:\n", "uses: [a]\nmore:\n", "more: is not a key here"),
        ("inquiries", "  runs: [a]\n", "  run: [a]\n", "uses.run: is not a key here; known: runs, comparisons"),
        ("inquiries", '"runs/a#steps"', '"pages/a#steps"', "uses.charts: must be a list of names; 'pages/a#steps': a chart is"),
        ("inquiries", "scope: application", "scope: hunch", "rungs[0].scope: 'hunch'"),
        ("inquiries", "  question: Which step?\n", "", "rungs[0].question: is missing"),
        ("inquiries", "  found: All.", "  found: ''", "rungs[0].found: is missing"),
        ("inquiries", "  found: All.", "  seen: All.", "rungs[0].seen: is not a key here"),
        ("inquiries", "claims: [copies-overlap]", "claims: [gone]", "rungs[1].claims: 'gone': there is no such claim"),
        ("inquiries", "retractions: no-overlap", "retractions: gone", "rungs[1].retractions: 'gone': there is no such"),
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
    [
        ("claims", "id"),
        ("retractions", "id"),
        ("inquiries", "id"),
        ("exclusions", "run"),
        ("comparisons", "name"),
    ],
)
def test_twins_are_refused(kind: str, words: str, folder: Path) -> None:
    name, text = KINDS[kind]
    assert f"{words}: " in (said := refused(folder, put(folder, kind, text, f"two{name}")))
    assert f"is in {name} already" in said


def test_a_claim_is_withdrawn_once(folder: Path) -> None:
    path = put(folder, "retractions", RETRACTION.replace("id: no-overlap", "id: again"), "two.md")
    assert "claim: withdraws 'copies-overlap', which 'no-overlap' withdrew before" in refused(folder, path)


def test_an_exclusion_is_written_once_and_read_back(tmp_path: Path) -> None:
    because = 'it said: "no" --- # and\nleft \u202e'
    path = writing.exclude(tmp_path, "run-1", because, date(2026, 1, 5), lambda _: None)
    assert ledger.load(tmp_path).exclusions == (ledger.Exclusion("run-1", "2026-01-05", because),)
    with pytest.raises(BadInput, match=r"excludes the run already"):
        writing.exclude(tmp_path, "run-1", "again", date(2026, 1, 6), lambda _: None)
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
        # What names a note may be the one that is refused, where the note is not what it was.
        assert error.source in {
            str(path),
            *(str(folder / k / "one.md") for k in ("claims", "retractions", "inquiries")),
        }
