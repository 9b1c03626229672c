"""A claim's history: what can follow what, seals that hold, and entries that are put into a file that a person wrote."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml
from claims import cited, supported, write_claim
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akvsite import ledger
from akvsite.errors import BadInput
from akvsite.ledger import Claim, Entry, _text, claims, writing

NOT_HELD = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
OPENED = {"event": "opened", "because": "It was noisy."}


def allowed(_: ledger.Ledger) -> None:
    pass


@pytest.mark.parametrize(
    ("history", "state", "controls"),
    [
        ((), "open", ()),
        ((cited("run", "a"),), "open", ()),
        ((supported("c"),), "supported", ("c",)),
        ((supported("c"), cited("run", "a"), supported("d")), "supported", ("c", "d")),
        ((supported("c"), OPENED), "open", ()),
        ((supported("c"), OPENED, cited("run", "c")), "open", ()),
        ((supported("c"), OPENED, supported("c")), "supported", ("c",)),
    ],
)
def test_the_state_is_what_the_history_says(
    tmp_path: Path, history: tuple[dict[str, str], ...], state: str, controls: tuple[str, ...]
) -> None:
    write_claim(tmp_path, "one", *history)
    (claim,) = ledger.load(tmp_path).claims
    assert (claim.state, claim.controls) == (state, controls)
    rows = [row for table, row in ledger.rows(ledger.load(tmp_path)) if table == "claim_run"]
    assert tuple(r["name"] for r in rows if r["kind"] == "control") == controls


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (({"event": "made"},), "history[1]: a claim is made once"),
        ((cited("run", "a"), cited("run", "a")), "history[2]: run 'a' is cited already"),
        ((supported("a"), supported("a")), "history[2]: control 'a' supports it already"),
        ((cited("run", "a"), supported("a")), "history[2]: control 'a' is one of the runs"),
        ((supported("a"), cited("run", "a")), "history[2]: control 'a' is one of the runs"),
        ((OPENED,), "history[1]: the claim is open as it is"),
        ((supported("a"), OPENED, OPENED), "history[3]: the claim is open as it is"),
        ((cited("run", "a", date="2026-01-01"),), "history[1].date: 2026-01-01 is before 2026-01-02"),
        (
            (
                {"event": "retracted", "kind": "retraction", "name": "r", "sha256": "0" * 64},
                cited("run", "a"),
            ),
            "history[2]: nothing follows the retraction",
        ),
    ],
)
def test_what_cannot_follow_is_refused(
    tmp_path: Path, history: tuple[dict[str, str], ...], words: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(words)) as error:
        write_claim(tmp_path, "one", *history)
    assert error.value.source == str(tmp_path / "claims" / "one.md")


def test_a_history_begins_when_the_claim_was_made(tmp_path: Path) -> None:
    path = write_claim(tmp_path, "one", cited("run", "a"))
    text = path.read_text()
    for old, new in (
        ("- date: 2026-01-02\n  event: made", "- date: 2026-01-03\n  event: made"),
        ("event: made", "event: opened\n  because: x"),
    ):
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(
            BadInput, match=r"history\[0\]: must be `made`, on the claim's own date 2026-01-02"
        ):
            ledger.load(tmp_path)


# Seals.

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=20).filter(
    lambda t: t.strip() == t
)
NAMES = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True)
BEHIND = st.one_of(
    st.builds(lambda n: ("cited", "run", n), NAMES),
    st.builds(lambda n: ("cited", "comparison", n), NAMES),
    st.builds(lambda n: ("cited", "chart", f"runs/{n}#steps"), NAMES),
)


@st.composite
def made(draw: st.DrawFn) -> Claim:
    """A claim whose history is in order."""
    day = date(2026, 1, 2)
    history = [Entry(day.isoformat(), "made")]
    for event, kind, name in draw(st.lists(BEHIND, unique=True, max_size=5)):
        day += timedelta(days=draw(st.integers(0, 40)))
        history.append(Entry(day.isoformat(), event, kind, name))
    if draw(st.booleans()):
        history.append(Entry(day.isoformat(), "supported", "control", "a-control-of-its-own"))
        if draw(st.booleans()):
            history.append(Entry(day.isoformat(), "opened", because=draw(WORDS)))
    about = tuple(draw(st.lists(st.sampled_from(ledger.ABOUT), min_size=1, unique=True)))
    words = draw(WORDS), draw(WORDS), draw(st.one_of(st.just(""), WORDS))
    return Claim("one", "2026-01-02", draw(st.sampled_from(ledger.SCOPES)), about, *words, tuple(history))


@NOT_HELD
@given(claim=made())
def test_what_is_written_is_read_again_whatever_its_words(tmp_path: Path, claim: Claim) -> None:
    path = tmp_path / "claims" / "one.md"
    path.unlink(missing_ok=True)
    assert writing.new_claim(tmp_path, claim, allowed) == path
    (found,) = ledger.load(tmp_path).claims
    assert found == claim.sealed()
    with pytest.raises(BadInput, match="is there already"):
        writing.new_claim(tmp_path, claim, allowed)


@NOT_HELD
@given(claim=made(), data=st.data())
def test_a_word_or_an_entry_altered_after_the_fact_is_refused(
    tmp_path: Path, claim: Claim, data: st.DataObject
) -> None:
    """Any word of the claim, any value of any entry, entries left out, put in or in another order: never the same seals."""
    sealed = claim.sealed()
    place = data.draw(st.integers(0, len(sealed.history) - 1))
    entry = sealed.history[place]
    last = len(sealed.history) - 1
    others = {
        "statement": replace(sealed, statement=sealed.statement + "."),
        "predicts": replace(sealed, predicts="x" + sealed.predicts),
        "body": replace(sealed, body=sealed.body + "x"),
        "about": replace(sealed, about=tuple(w for w in ledger.ABOUT if w not in sealed.about) or ("other",)),
        "scope": replace(sealed, scope=next(s for s in ledger.SCOPES if s != sealed.scope)),
        "id": replace(sealed, id="two"),
        "twice": replace(sealed, history=(*sealed.history[: place + 1], *sealed.history[place:])),
    }
    altered = {
        "date": replace(entry, date=(date.fromisoformat(entry.date) + timedelta(days=1)).isoformat()),
        "event": replace(entry, event="opened" if entry.event != "opened" else "made"),
        "name": replace(entry, name=f"{entry.name}x"),
        "because": replace(entry, because=f"{entry.because}x"),
        "seal": replace(entry, seal=entry.seal[::-1] + "0"),
    }
    for what, other in altered.items():
        others[what] = replace(sealed, history=(*sealed.history[:place], other, *sealed.history[place + 1 :]))
    if place < last:
        others["left out"] = replace(sealed, history=(*sealed.history[:place], *sealed.history[place + 1 :]))
    which = data.draw(st.sampled_from(sorted(others)))
    path = tmp_path / "claims" / "one.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(_text.whole(others[which]), encoding="utf-8")
    with pytest.raises(BadInput) as error:
        ledger.load(tmp_path)
    assert error.value.source == str(path) and (error.value.place or "").startswith("history")


def test_an_alteration_is_named_with_its_place(tmp_path: Path) -> None:
    path = write_claim(tmp_path, "one", cited("run", "a"), cited("run", "b"), statement="Copies hide.")
    text = path.read_text()
    for old, new, words in (
        (
            "Copies hide.",
            "Copies may hide.",
            "history[0].seal: does not hold: the claim's words or this entry (made, 2026-01-02)",
        ),
        ("name: a", "name: c", "history[1].seal: does not hold: this entry (cited, 2026-01-02) was altered"),
    ):
        path.write_text(text.replace(old, new))
        with pytest.raises(BadInput, match=re.escape(words)):
            ledger.load(tmp_path)


def test_the_last_entry_that_was_taken_away_is_seen_where_it_named_a_retraction(tmp_path: Path) -> None:
    path = write_claim(tmp_path, "one")
    before = path.read_text()
    writing.retract(tmp_path, "one", allowed, date(2026, 1, 3), because="No.")
    path.write_text(before)
    with pytest.raises(
        BadInput,
        match=re.escape("one-withdrawn.md: claim: no history names it: `akvsite retract one` enters it"),
    ):
        ledger.load(tmp_path)


# By hand.

HAND = """---
# A comment that stays.
history:
    - date: 2026-01-02   # the first
      event: made
    - {date: 2026-01-03, event: cited, kind: run, name: a}
    - event: cited
      kind: chart
      date: 2026-01-03
      name: >-
        runs/a#steps

id: one
date:    2026-01-02
scope: timeline
about: time
statement: |
   It is so,
   and so.
predicts: "That"
---

Text ---
---
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_file_written_by_hand_is_sealed_and_appended_to_and_stays_as_it_was(
    tmp_path: Path, ends: str
) -> None:
    path = tmp_path / "claims" / "hand.md"
    path.parent.mkdir()
    path.write_bytes(HAND.replace("\n", ends).encode())
    with pytest.raises(BadInput, match=re.escape("history[0].seal: is missing: `akvsite claim seal ")):
        ledger.load(tmp_path)
    assert writing.seal(path) == 3
    assert writing.seal(path) == 0
    writing.append(
        tmp_path,
        "one",
        [Entry("2026-01-04", "cited", "run", "b"), Entry("2026-01-05", "supported", "control", "c")],
        allowed,
    )
    (found,) = ledger.load(tmp_path).claims
    assert [e.name for e in found.history] == [None, "a", "runs/a#steps", "b", "c"]
    written = path.read_bytes().decode()
    assert written.count("\r\n") == (written.count("\n") if ends == "\r\n" else 0)
    kept = iter(written.split(ends))
    assert all(any(line.strip("}") in k for k in kept) for line in HAND.split("\n")), "no line went, or moved"


def test_what_is_sealed_is_not_sealed_anew(tmp_path: Path) -> None:
    path = write_claim(tmp_path, "one", cited("run", "a"))
    path.write_text(path.read_text().replace("It is so.", "It is not so."))
    with pytest.raises(BadInput, match=r"history\[0\]\.seal: does not hold"):
        writing.seal(path)


@pytest.mark.parametrize(
    "form",
    [
        "history: [{date: 2026-01-02, event: made}]",
        "history: &h\n- &m {date: 2026-01-02, event: made}\nx: *h",
    ],
)
def test_a_history_that_cannot_be_appended_to_is_left_as_it_is(tmp_path: Path, form: str) -> None:
    path = tmp_path / "claims" / "odd.md"
    path.parent.mkdir()
    path.write_text(
        f"---\nid: one\ndate: 2026-01-02\nscope: kernel\nabout: time\nstatement: a\npredicts: b\n{form}\n---\n"
    )
    text = path.read_text()
    with pytest.raises(BadInput):
        writing.seal(path)
        text = path.read_text()
        writing.append(tmp_path, "one", [Entry("2026-01-04", "cited", "run", "b")], allowed)
    assert path.read_text() == text


@NOT_HELD
@given(because=WORDS, column=st.integers(0, 4), comment=st.booleans())
def test_entries_are_appended_at_any_indentation_whatever_their_words(
    tmp_path: Path, because: str, column: int, comment: bool
) -> None:
    path = write_claim(tmp_path, "one", supported("c"))
    head, history = path.read_text().split("history:\n")
    lines = [" " * column + line if line and line != "---" else line for line in history.splitlines()]
    path.write_text(head + "history:" + (" # so far" if comment else "") + "\n" + "\n".join(lines) + "\n")
    _, claim = writing.append(tmp_path, "one", [Entry("2026-01-04", "opened", because=because)], allowed)
    assert claim.history[-1].because == because
    assert ledger.load(tmp_path).claims == (claim,)


@NOT_HELD
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.dates() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.text(max_size=5)
                | st.sampled_from(["date", "event", "kind", "name", "seal", "because", "sha256"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    ),
    st.sampled_from(["history", "about", "statement", "predicts", "id", "date", "scope"]),
)
def test_odd_values_of_a_key_are_refused_or_understood(tmp_path: Path, value: object, key: str) -> None:
    path = write_claim(tmp_path, "one", cited("run", "a"))
    front = yaml.safe_load(path.read_text().split("---")[1]) | {key: value}
    path.write_text(f"---\n{yaml.safe_dump(front, allow_unicode=False)}---\n")
    try:
        claims.claim(path, unsealed=True)
    except BadInput as error:
        assert error.source == str(path) and len(str(error).splitlines()) == 1
