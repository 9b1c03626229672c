"""The commands of the ledger: what they write, what they refuse, and that nothing is left half written unnoticed."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bundles import ask, interval, read_in, steps, write_capture
from claims import cited, enter, supported, write_claim

from akvsite import ledger
from akvsite.errors import BadInput
from akvsite.ledger import writing

ROOT = Path(__file__).parents[2]
NEW = (
    "--statement",
    "Copies run while kernels run.",
    "--predicts",
    "Less than the sum.",
    "--about",
    "overlap",
    "--scope",
    "timeline",
)
TRIALS = [
    {"arm": arm, "treatment": "timing off", "repeat": 0, "number": n, "duration_ns": 10 + n}
    for n, arm in enumerate(("copy", "compute", "both"))
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with capture off, one that was looked at, an experiment with capture off, and one that is not ingested."""
    folder = tmp_path_factory.mktemp("store")
    off = write_capture(folder / "plain", {"step": steps(3)})
    device = write_capture(folder / "looked-at", {"level3_device": [interval(1, 2, 1)]}, level="device")
    designed = write_capture(folder / "designed", {"trial": TRIALS}, more='[capture]\ndesign = "mirrored"')
    read_in(folder / "akvsite.db", off, device, designed)
    return folder / "akvsite.db"


@pytest.fixture
def here(store: Path, tmp_path: Path) -> Path:
    (tmp_path / "captures").mkdir()
    (tmp_path / "akvsite.db").write_bytes(store.read_bytes())
    return tmp_path / "captures"


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_claim_from_its_first_word_to_its_retraction(akvsite: Any, here: Path) -> None:
    body = here.parent / "text.md"
    body.write_text("\ufeffWhat was *seen*.\r\n")
    done = akvsite(
        "claim", "new", "hides", *NEW, "--about", "time, overlap", "--run", "looked-at", "--body", body
    )
    assert done.code == 0 and "hides: open" in done.out, done
    assert "`akvsite claim link hides --control RUN` adds it" in done.out
    assert "Runs of the store that the rule admits: designed." in done.out
    assert akvsite("claim", "link", "hides", "--run", "plain", "--chart", "runs/plain#step-series").code == 0
    done = akvsite("claim", "link", "hides", "--control", "designed", "--json")
    assert json.loads(done.out)["state"] == "supported" and json.loads(done.out)["missing"] == []
    assert akvsite("claim", "open", "hides", "--because", "The host was busy.").out.startswith(
        "hides is open;"
    )
    done = akvsite(
        "retract", "hides", "--because", "Timing events made it so.", "--control", "designed", "--json"
    )
    assert json.loads(done.out)["retraction"] == "hides-withdrawn"
    assert [row["id"] for row in json.loads(akvsite("claim", "status", "--json").out)] == ["hides"]
    said = json.loads(akvsite("claim", "status", "hides", "--json").out)
    assert [e["event"] for e in said["history"]] == [
        "made",
        "cited",
        "cited",
        "cited",
        "supported",
        "opened",
        "retracted",
    ]
    assert (said["about"], said["body"], said["missing"]) == (["overlap", "time"], "What was *seen*.", [])
    assert said["history"][-1]["sha256"] == json.loads(done.out)["sha256"]
    # The store's copy followed.
    assert ask(here.parent / "akvsite.db", "SELECT state FROM claim") == [{"state": "retracted"}]
    assert ask(here.parent / "akvsite.db", "SELECT control, sha256 FROM retraction") == [
        {"control": "designed", "sha256": json.loads(done.out)["sha256"]}
    ]
    plain = akvsite("claim", "status", "hides").out
    assert "The host was busy." in plain and "hides: retracted" in plain


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("claim", "new", "one", *NEW), "one.md: is there already"),
        (("claim", "new", "../up", *NEW), "ID: '../up': lower-case"),
        (("claim", "new", "two", *NEW[:-1], "hunch"), "--scope: 'hunch'; one of"),
        (("claim", "new", "two", *NEW, "--about", "speed"), "--about: 'speed'; one of"),
        (("claim", "new", "two", *NEW, "--statement", " "), "--statement: is empty"),
        (("claim", "new", "two", *NEW, "--run", "nowhere"), "--run: 'nowhere' is not in the store"),
        (("claim", "new", "two", *NEW, "--comparison", "plain"), "--comparison: 'plain' is not in the store"),
        (("claim", "new", "two", *NEW, "--chart", "claims/a#b"), "--chart: 'claims/a#b': a chart is PAGE#KEY of a run"),
        (("claim", "new", "two", *NEW, "--chart", "runs/nowhere#b"), "--chart: 'runs/nowhere#b' is not in the store"),
        (("claim", "new", "two", *NEW, "--chart", "experiments/plain#b"), "'plain' is no experiment with trials"),
        (("claim", "new", "two", *NEW, "--chart", "comparisons/plain#b"), "'plain' is a run; its charts are runs/plain#KEY"),
        (("claim", "new", "two", *NEW, "--statement", "The engine"), "--statement: has 2 words: a falsifiable statement"),
        (("claim", "new", "two", *NEW, "--predicts", "x"), "--predicts: has 1 word:"),
        (("claim", "new", "two", *NEW, "--body", "nowhere.md"), "nowhere.md"),
        (("claim", "new", "two", *NEW, "--run", "plain", "--store", "none.db"), "none.db: no such store"),
        (("claim", "new", "two", *NEW, "--captures", "none"), "none: does not exist: claims are kept there"),
        (("claim", "link", "nothing", "--run", "plain"), "nothing: no such claim"),
        (("claim", "link", "one"), "is missing: say what the claim is linked to"),
        (("claim", "link", "one", "--run", "looked-at"), "run 'looked-at' is cited already"),
        (("claim", "link", "one", "--control", "looked-at"), "control 'looked-at' is one of the runs"),
        (("claim", "link", "one", "--control", "plain"), "is no designed experiment: a claim about overlap needs one"),
        (("claim", "link", "one", "--control", "nowhere"), "--control: 'nowhere' is not in the store"),
        (("claim", "link", "one", "--chart", "runs/designed#x", "--control", "designed"), "one of the runs that the claim stands on"),
        (("claim", "open", "one", "--because", "x"), "the claim is open as it is"),
        (("claim", "open", "one", "--because", ""), "--because: is empty"),
        (("claim", "status", "nothing"), "nothing: no such claim"),
        (("claim", "seal", "nowhere.md"), "nowhere.md"),
        (("retract", "nothing", "--because", "x"), "nothing: no such claim"),
        (("retract", "one"), "--because: is missing: say why"),
        (("retract", "one", "--because", "x", "--control", "looked-at"), "'looked-at' is no control: captured while it ran"),
        (("retract", "one", "--because", "x", "--control", "nowhere"), "'nowhere' is not in the store"),
        (("retract", "one", "--because", "x", "--control", "a b"), "--control: 'a b': lower-case"),
        (("retract", "one", "--because", "x", "--id", "../r"), "--id: '../r': lower-case"),
        (("retract", "old", "--because", "x"), "'old-1' withdrew it on 2026-01-02"),
        (("retract", "one", "--because", "x", "--id", "old-1"), "old-1.md: is there already; name another with --id"),
        (("claim", "link", "old", "--run", "plain"), "nothing follows the retraction of a claim"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line_and_nothing_is_written(
    akvsite: Any, here: Path, words: tuple[str, ...], refusal: str
) -> None:
    write_claim(here, "one", cited("run", "looked-at"), about=["overlap"])
    write_claim(here, "old")
    (here / "retractions").mkdir()
    (here / "retractions" / "old-1.md").write_text(
        "---\nid: old-1\ndate: 2026-01-02\nclaim: old\nreason: No.\n---\n"
    )
    enter(here, "old")
    before = files(here)
    assert refusal in akvsite(*words).refused()
    assert files(here) == before


def test_what_a_statement_says_counts_whatever_it_says_that_it_is_about(akvsite: Any, here: Path) -> None:
    words = (
        "--statement",
        "Kernels wait for copies, which go on in parallel.",
        "--predicts",
        "It will be seen there.",
        "--about",
        "other",
        "--scope",
        "kernel",
    )
    assert (
        "a claim whose statement or prediction says `in parallel`, `wait` needs"
        in akvsite("claim", "new", "sly", *words).out
    )
    akvsite("claim", "link", "sly", "--control", "plain").refused(
        "`in parallel`, `wait`", "cannot leave open"
    )
    words = (
        "--statement",
        "A page of 16 takes as much memory.",
        "--predicts",
        "It will be seen there.",
        "--about",
        "memory",
        "--scope",
        "kernel",
    )
    assert akvsite("claim", "new", "plainly", *words).code == 0
    assert akvsite("claim", "link", "plainly", "--control", "plain").code == 0


def test_without_a_store_a_claim_is_made_and_withdrawn(akvsite: Any, tmp_path: Path) -> None:
    """What is predicted before a capture was made is worth most."""
    (tmp_path / "captures").mkdir()
    done = akvsite("claim", "new", "early", *NEW)
    assert done.code == 0 and "there is no store" in done.out
    assert akvsite("retract", "early", "--because", "It was a thought.").code == 0
    assert not (tmp_path / "akvsite.db").exists()


def test_a_store_that_cannot_be_read_hinders_no_retraction(akvsite: Any, tmp_path: Path) -> None:
    write_claim(tmp_path / "captures", "early")
    (tmp_path / "akvsite.db").write_bytes(b"not a store\n" * 99)
    done = akvsite("retract", "early", "--because", "It was a thought.")
    assert "early is retracted" in done.out and "akvsite.db" in done.refused()
    assert ledger.load(tmp_path / "captures").claims[0].state == "retracted"


def test_a_build_holds_a_claim_that_was_written_by_hand_to_the_same_rules(akvsite: Any, here: Path) -> None:
    path = write_claim(here, "bold", supported("plain"), about=["overlap"])
    akvsite("exclude", "looked-at", "--because", "another job ran").refused(
        "bold.md: history: 'bold' cannot leave open: its control 'plain' is no designed experiment",
        "`akvsite claim open bold --because …`",
    )
    assert not (here / "exclusions").exists()
    path.unlink()
    # A note that was written by hand, after the run supported a claim: the claim can be opened, or withdrawn.
    note = here / "exclusions" / "designed.md"
    note.parent.mkdir()
    for way in (("claim", "open", "held"), ("retract", "held")):
        write_claim(here, "held", supported("designed"), about=["overlap"])
        note.write_text("---\nrun: designed\ndate: 2026-01-03\nbecause: shared\n---\n")
        akvsite("exclude", "plain", "--because", "x").refused(
            "held.md: history: 'held' cannot leave open: its control 'designed' is no control: excluded on"
        )
        assert akvsite(*way, "--because", "Its control was excluded.").code == 0
        note.unlink()
    # A retraction that was written by hand names a run that was looked at.
    write_claim(here, "other")
    (here / "retractions" / "r.md").write_text(
        "---\nid: r\ndate: 2026-01-03\nclaim: other\ncontrol: looked-at\nreason: x\n---\n"
    )
    akvsite("retract", "other").refused("'looked-at' is no control: captured while it ran")


def test_a_run_that_supports_a_claim_is_excluded_when_its_support_was_taken_back(
    akvsite: Any, here: Path
) -> None:
    write_claim(here, "held", supported("designed"), about=["overlap"])
    before = files(here)
    for _ in range(2):
        akvsite("exclude", "designed", "--because", "the card was shared").refused(
            "designed: supports claim 'held', so that it is not excluded",
            "First `akvsite claim open held --because …`",
        )
        assert files(here) == before
    assert akvsite("claim", "open", "held", "--because", "The card was shared.").code == 0
    assert akvsite("exclude", "designed", "--because", "the card was shared").code == 0


def test_a_wrong_citation_is_dropped_in_writing(akvsite: Any, here: Path) -> None:
    write_claim(here, "one", cited("run", "plain"), cited("chart", "runs/gone#x"), about=["overlap"])
    done = akvsite("claim", "drop", "one", "--chart", "runs/gone#x", "--because", "Another chart.", "--json")
    said = json.loads(done.out)
    assert (said["runs"], said["charts"]) == (["plain"], [])
    assert [e["event"] for e in said["history"]] == ["made", "cited", "cited", "dropped"]
    again = ("claim", "drop", "one", "--chart", "runs/gone#x", "--because", "x")
    akvsite(*again).refused("chart 'runs/gone#x' is not cited")
    akvsite("claim", "drop", "one", "--because", "x").refused("--run, --comparison or --chart: is missing")
    # What a claim stood on becomes no control of it by being dropped.
    assert akvsite("claim", "drop", "one", "--run", "plain", "--because", "No.").code == 0
    akvsite("claim", "link", "one", "--control", "plain").refused("one of the runs that the claim stood on")
    # Cited anew, and withdrawn: what is dropped now is part of what was withdrawn, and keeps its stamp.
    assert akvsite("claim", "link", "one", "--run", "plain").code == 0
    assert akvsite("retract", "one", "--because", "It was not so.").code == 0
    assert akvsite("claim", "drop", "one", "--run", "plain", "--because", "It was another.").code == 0
    said = json.loads(akvsite("claim", "status", "one", "--json").out)
    assert (said["state"], said["runs"]) == ("retracted", ["plain"])
    assert said["history"][-1]["event"] == "dropped"
    stamped = ask(here.parent / "akvsite.db", "SELECT name FROM stamp WHERE kind = 'run'")
    assert stamped == [{"name": "plain"}]
    akvsite("retract", "one", "--because", "x").refused("withdrew it on")


def test_a_control_under_a_retraction_itself_is_said(akvsite: Any, here: Path) -> None:
    write_claim(here, "other", cited("run", "designed"))
    write_claim(here, "one", about=["overlap"])
    assert akvsite("retract", "other", "--because", "It was not so.").code == 0
    line = "control 'designed' stands under retraction 'other-withdrawn' itself: claim 'other' was withdrawn"
    assert line in akvsite("claim", "link", "one", "--control", "designed").out
    assert line in akvsite("claim", "status", "one").out
    assert line in json.loads(akvsite("claim", "status", "one", "--json").out)["under_retraction"][0]


@pytest.mark.parametrize("odd", ["file", "loop", "pipe", "folder", "dangling", "capitals"])
def test_what_looks_like_notes_and_cannot_be_read_is_refused(akvsite: Any, here: Path, odd: str) -> None:
    claims = here / "claims"
    if odd in ("file", "loop"):
        claims.write_text("x") if odd == "file" else claims.symlink_to("claims")
        akvsite("claim", "status").refused("claims: is no folder that can be read")
        return
    claims.mkdir()
    match odd:
        case "pipe":
            os.mkfifo(claims / "x.md")
        case "folder":
            (claims / "x.md").mkdir()
        case "dangling":
            (claims / "x.md").symlink_to("nowhere")
        case _:
            (claims / "x.MD").write_text("x")
    akvsite("claim", "status").refused("ending is .MD" if odd == "capitals" else "x.md: is ")


def test_what_is_not_read_and_what_is_gone_is_said(akvsite: Any, here: Path) -> None:
    write_claim(here, "one")
    (here / "claims" / "old").mkdir()
    done = akvsite("retract", "one", "--because", "It was not so.")
    assert done.code == 0 and "old: is not read: only files that end in .md are" in done.err
    for kind in ("claims", "retractions"):
        (here / kind).rename(here / f"{kind}-gone")
    done = akvsite("exclude", "plain", "--because", "x")
    assert "captures: holds fewer notes than the store's copy had, by 1 claim, 1 retraction" in done.err


def test_a_file_that_cannot_be_written_is_named(akvsite: Any, here: Path, monkeypatch: Any) -> None:
    def full(_: int) -> None:
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr(os, "fsync", full)
    akvsite("claim", "new", "one", *NEW).refused("claims/one.md: File too large")
    assert files(here) == {}


def test_files_that_name_each_other_are_refused_where_one_is_gone(akvsite: Any, here: Path) -> None:
    akvsite("claim", "new", "hides", *NEW)
    akvsite("retract", "hides", "--because", "No.")
    note, claim = here / "retractions" / "hides-withdrawn.md", here / "claims" / "hides.md"
    whole = note.read_bytes()
    note.write_bytes(whole + b"\n")
    akvsite("claim", "status").refused(
        str(note.relative_to(here.parent)), "it was altered after it was written"
    )
    note.unlink()
    akvsite("claim", "status").refused(
        str(claim.relative_to(here.parent)), "history[1]: names retraction 'hides-withdrawn'"
    )
    akvsite("exclude", "plain", "--because", "x").refused("names retraction 'hides-withdrawn'")
    note.write_bytes(whole)
    claim.rename(here / "gone")
    akvsite("claim", "status").refused(str(note.relative_to(here.parent)), "there is no such claim")


@pytest.mark.parametrize("harm", ["deleted", "altered", "not named"])
def test_a_build_stops_where_a_retraction_is_not_what_it_was(akvsite: Any, here: Path, harm: str) -> None:
    """Before a page is written; the site that is there stays."""
    project = here.parent
    (project / "mkdocs.yml").write_text("site_name: x\n")
    (project / "site_src").mkdir()
    (project / "site").mkdir()
    (project / "site" / "sitemap.xml").write_text("as it was")
    write_claim(here, "hides")
    assert akvsite("retract", "hides", "--because", "No.").code == 0
    note = here / "retractions" / "hides-withdrawn.md"
    match harm:
        case "deleted":
            note.unlink()
            words = "hides.md: history[1]: names retraction 'hides-withdrawn', and no file of retractions/ holds it"
        case "altered":
            note.write_text(note.read_text().replace("No.", "Yes."))
            words = "hides-withdrawn.md: has SHA-256"
        case _:
            (here / "retractions" / "more.md").write_text(note.read_text().replace("id: hides", "id: more"))
            words = "more.md: claim: withdraws 'hides', which 'hides-withdrawn' withdrew before"
    akvsite("build").refused(words)
    assert files(project / "site") == {"sitemap.xml": b"as it was"}
    assert not list((project / "site_src").glob("*.md"))


# Broken off.


class Broken(BaseException):
    """An interrupt: no error that a handler of errors would take."""


@pytest.mark.parametrize("how", [Broken(), OSError(errno.ENOSPC, "No space left on device")])
@pytest.mark.parametrize("calls", ["open", "fsync", "replace", "replaced"])
def test_a_retraction_that_breaks_off_is_written_whole_or_not_at_all(
    here: Path, monkeypatch: pytest.MonkeyPatch, calls: str, how: BaseException
) -> None:
    """At every place where it writes, before it and right behind it."""
    path = write_claim(here, "one")
    before = path.read_bytes()
    real = {"open": Path.open, "fsync": os.fsync, "replace": Path.replace}
    for place in range(2):
        left = place

        def breaks(*words: Any, **more: Any) -> Any:
            nonlocal left
            left -= 1
            if left == -1 and calls != "replaced":
                raise how
            done = real[calls.removesuffix("d")](*words, **more)
            if left == -1:
                raise how
            return done

        with monkeypatch.context() as broken:
            broken.setattr(os if calls == "fsync" else Path, calls.removesuffix("d"), breaks)
            with pytest.raises(type(how)):
                writing.retract(here, "one", lambda _: None, ledger_day(), because="No.")
        done = ledger.load(here).claims[0].state == "retracted"
        assert done == (calls == "replaced" and place == 1), "the last rename is the end of it"
        assert done or path.read_bytes() == before
        assert not [name for name in files(here) if name.endswith(".half")]
    if not done:
        assert writing.retract(here, "one", lambda _: None, ledger_day(), because="No.")
    assert ledger.load(here).claims[0].state == "retracted"


def ledger_day() -> Any:
    from datetime import date

    return date(2026, 1, 3)


KILLED = """
import os, sys
from datetime import date
from pathlib import Path
from akvsite.ledger import writing
real, left = Path.replace, int(sys.argv[2])
def replace(self, target):
    global left
    if left == 0:
        os.kill(os.getpid(), 9)
    left -= 1
    return real(self, target)
Path.replace = replace
writing.retract(Path(sys.argv[1]), "one", lambda _: None, date(2026, 1, 3), because="No.")
"""


@pytest.mark.parametrize("renamed", [0, 1])
def test_after_a_kill_the_next_command_says_how_to_go_on(akvsite: Any, here: Path, renamed: int) -> None:
    path = write_claim(here, "one")
    before = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(here), str(renamed)],
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    if renamed == 0:
        assert ledger.load(here).retractions == ()
        assert akvsite("retract", "one", "--because", "No.").code == 0
    else:
        with pytest.raises(
            BadInput, match=r"one-withdrawn\.md: claim: no history names it: `akvsite retract one`"
        ):
            ledger.load(here)
        akvsite("claim", "status").refused("`akvsite retract one` enters it", "remove the file")
        akvsite("retract", "one", "--because", "again").refused("its history does not name it yet")
        assert akvsite("retract", "one").code == 0
    (claim,) = ledger.load(here).claims
    assert claim.retracted_by is not None and claim.retracted_by.name == "one-withdrawn"


def test_two_that_append_at_once_lose_no_entry(here: Path) -> None:
    write_claim(here, "one")
    code = (
        "import sys\nfrom pathlib import Path\nfrom akvsite.ledger import Entry, writing\n"
        "for n in range(5): writing.append(Path(sys.argv[1]), 'one',"
        " [Entry('2026-01-03', 'cited', 'run', f'{sys.argv[2]}{n}')], lambda _: None)"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(here), name], env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        for name in "ab"
    ]
    assert [each.wait() for each in both] == [0, 0]
    assert len(ledger.load(here).claims[0].cited("run")) == 10


@pytest.mark.parametrize(
    "words", [("claim", "new"), ("claim", "link"), ("claim", "open"), ("claim", "status"), ("claim", "seal")]
)
def test_each_command_of_claims_shows_an_example(akvsite: Any, words: tuple[str, str]) -> None:
    done = akvsite(*words, "--help")
    assert done.code == 0 and f"Example: akvsite {' '.join(words)}" in " ".join(done.out.split())
