"""Claims, retractions and inquiries: their pages, the feed, and the stamp on all that a withdrawn claim stands on."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import claims
import pytest
import stamped
import words
import yaml
from bundles import read_in, write_capture

from akvsite import site
from akvsite.errors import BadInput
from akvsite.pages import _feed, _held
from akvsite.store import Store

ATOM = "{http://www.w3.org/2005/Atom}"
RUNS = ("run-a", "run-b", "run-c", "run-d", "run-e", "run-f")
STATEMENT = "Copies *run* while kernels run & <b>more</b>."


def steps_of(seed: int) -> list[dict[str, Any]]:
    return [
        {
            "name": f"step.{n}", "start_ns": 1_000 * n, "end_ns": 1_000 * n + 800 + (7 * n + seed) % 40, "number": n,
            "kind": "decode", "source": "client", "warm_up": 0,
        }
        for n in range(60)
    ]  # fmt: skip


def comparison(name: str, a: str, b: str) -> str:
    return f'name = "{name}"\ntitle = "Of {name}?"\ndesign = "two runs"\n[a]\nlabel = "x"\nruns = ["{a}"]\n[b]\nlabel = "y"\nruns = ["{b}"]\n'


def write_inquiry(notes: Path, **keys: Any) -> None:
    (notes / "inquiries").mkdir(exist_ok=True)
    front = {
        "id": "path",
        "date": "2026-02-03",
        "title": "Why <i>?",
        "symptom": "It stalls.",
        "rungs": [],
    } | keys
    (notes / "inquiries" / "path.md").write_text(f"---\n{yaml.safe_dump(front)}---\nIts **text**.\n")


RUNGS = [
    {"scope": "application", "question": "Is it so?", "found": "Yes, `now`.", "runs": ["run-a", "run-d"],
     "charts": ["runs/run-a#step-series", "comparisons/de#runs-p50"], "comparisons": ["ab"]},
    {"scope": "kernel", "question": "Which?", "charts": ["runs/run-a#step-series"]},
]  # fmt: skip


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of six small runs, two comparisons and a history, of which nothing is claimed yet."""
    folder = tmp_path_factory.mktemp("captured")
    notes = folder / "captures"
    captures = [write_capture(notes / name, {"step": steps_of(at)}) for at, name in enumerate(RUNS)]
    for kind in ("comparisons", "histories", "claims"):
        (notes / kind).mkdir()
    (notes / "comparisons" / "ab.toml").write_text(comparison("ab", "run-a", "run-b"))
    (notes / "comparisons" / "de.toml").write_text(comparison("de", "run-d", "run-e"))
    (notes / "histories" / "day.toml").write_text('name = "day"\nruns = ["run-a", "run-c", "run-f"]\n')
    (folder / "site_src").mkdir()
    site._bundle(folder / "site_src")  # once, since it takes seconds
    read_in(folder / "akvsite.db", *captures)
    return folder


def project(captured: Path, folder: Path) -> Path:
    return Path(shutil.copytree(captured, folder / "project"))


def written(folder: Path) -> dict[str, str]:
    """Everything that a build writes, by its path, without the chart library."""
    with Store.open(folder / "akvsite.db") as store:
        site.take_notes(store, folder / "captures")
        site.write_pages(store, folder)
    source = folder / "site_src"
    return {
        path.relative_to(source).as_posix(): path.read_text(encoding="utf-8")
        for path in source.rglob("*")
        if path.suffix in (".md", ".js", ".csv", ".atom") and path.name != "vega.js"
    }


def claimed(captured: Path, folder: Path) -> Path:
    """The same with two claims, and an inquiry that uses the first of them."""
    made = project(captured, folder)
    notes = made / "captures"
    claims.write_claim(
        notes, "overlaps", claims.cited("chart", "runs/run-a#step-series"), statement=STATEMENT, body="What was `seen`.",
    )  # fmt: skip
    claims.write_claim(notes, "idles", claims.cited("run", "run-d"), about=["idleness", "time"])
    write_inquiry(notes, rungs=RUNGS, uses={"claims": ["overlaps"]})
    return made


@pytest.fixture(scope="module")
def withdrawn(captured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, built, the first claim withdrawn, and built again."""
    folder = claimed(captured, tmp_path_factory.mktemp("withdrawn"))
    written(folder)
    claims.withdraw(
        folder / "captures", "overlaps", on="2026-02-02", named="looked", control="run-c", reason="It was <i>not</i> so.", body="More.",
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def again(withdrawn: Path) -> Mapping[str, str]:
    return written(withdrawn)


def plain(page: str) -> str:
    """All words of a page, quoted ones too."""
    return " ".join(words.of_page(re.sub(r"</?(q|samp|code|blockquote)\b[^>]*>", " ", page)).split())


def test_a_retraction_reaches_what_was_built_before(again: Mapping[str, str], withdrawn: Path) -> None:
    """Found by what each page and chart names, not by a list."""
    under = stamped.of_store(withdrawn / "akvsite.db")
    assert {name for folder, name in under if folder == "runs"} == {"run-a"}
    assert {name for folder, name in under if folder == "comparisons"} == {"ab"}
    naming = 0
    for name, text in again.items():
        if name.endswith(".md"):
            assert not stamped.unmarked(text, under), name
            naming += "run-a" in plain(text)
        elif text.startswith("akvChart("):
            assert not stamped.unprinted(text, under), name
    assert naming > 8
    for name in (
        "data/runs/run-a/step-series.js",
        "data/comparisons/ab/runs-p50.js",
        "data/inquiries/path/rung-1-chart-2.js",
    ):
        assert "RETRACTED 2026-02-02 (looked)" in again[name], name
        rows = again[name.replace(".js", ".csv")].splitlines()
        assert rows[0].endswith(",retracted") and all(
            "RETRACTED 2026-02-02 (looked)" in r for r in rows[1:]
        ), name
    # Its band by history would have the spread of run-a.
    assert (
        "RETRACTED 2026-02-02 (looked): a claim that stands on run run-a"
        in again["data/runs/run-c/step-series.js"]
    )
    for name in ("runs/run-d.md", "runs/run-e.md", "comparisons/de.md"):
        assert "etracted on" not in again[name], name
    assert not [name for name in again if name.startswith("data/runs/run-d/") and "RETRACTED" in again[name]]


def test_the_check_of_stamps_finds_one_that_is_missing(again: Mapping[str, str], withdrawn: Path) -> None:
    under = stamped.of_store(withdrawn / "akvsite.db")
    bare = {
        name: text.replace("data-akv-retraction", "data-other")
        for name, text in again.items()
        if name.endswith(".md")
    }
    found = {name for name, text in bare.items() if stamped.unmarked(text, under)}
    assert {
        "index.md",
        "runs.md",
        "runs/run-a.md",
        "runs/run-c.md",
        "comparisons.md",
        "comparisons/ab.md",
        "hosts.md",
        "inquiries/path.md",
    } <= found
    assert not {"runs/run-d.md", "comparisons/de.md"} & found
    script = again["data/runs/run-a/step-series.js"]
    assert stamped.unprinted(script.replace("RETRACTED", "NOTED"), under)
    assert not stamped.unprinted(again["data/runs/run-d/step-series.js"], under)


def test_an_open_claim_says_why_it_is_open(again: Mapping[str, str]) -> None:
    page = plain(again["claims/idles.md"])
    assert "state open" in page
    assert "names no control with capture off" in page
    assert "It is about idleness" in page and "designed experiment with capture off" in page
    assert "made 2026-01-02" not in page and "2026-01-02 made" in page, (
        "the history has a date and an event a row"
    )
    assert "2026-01-02 cited run run-d" in page


def test_a_withdrawn_claim_stays_readable_under_its_stamp(again: Mapping[str, str]) -> None:
    raw = again["claims/overlaps.md"]
    page = plain(raw)
    assert page.index("Retracted on 2026-02-02") < page.index(STATEMENT) < page.index("What was seen .")
    assert "retracted on 2026-02-02 ( looked )" in page
    assert re.search(r"retracted retraction looked , SHA-256 [0-9a-f]{8}…", page)
    assert "Why it is open" not in page
    assert "<b>" not in raw.replace("&#60;b&#62;", ""), "a statement is text"
    assert plain(again["claims.md"]).count("retracted on 2026-02-02") == 1


def test_a_supported_claim_names_its_control(captured: Path, tmp_path: Path) -> None:
    made = project(captured, tmp_path)
    claims.write_claim(
        made / "captures", "holds", claims.cited("run", "run-d"), claims.supported("run-e", date="2026-01-09")
    )
    pages = written(made)
    assert "state supported by control run-e" in plain(pages["claims/holds.md"])
    assert "That it is a control is a matter of form" in plain(pages["claims/holds.md"])
    assert "2026-01-09 supported control run-e" in plain(pages["claims/holds.md"])
    assert (
        'href="../claims/holds.html"' in pages["runs/run-d.md"]
        and 'href="../claims/holds.html"' in pages["runs/run-e.md"]
    )
    assert "Cited by" not in pages["runs/run-c.md"]


def test_a_retraction_lists_all_that_it_stamps(again: Mapping[str, str]) -> None:
    page = plain(again["retractions.md"])
    for line in (
        "1 run or experiment: run-a", "1 comparison: ab", "1 chart: runs/run-a#step-series", "1 inquiry: path",
        "control: run-c", "reason: It was <i>not</i> so.", "claim: overlaps , made on 2026-01-02",
    ):  # fmt: skip
        assert line.replace(" ,", ",") in page.replace(" ,", ","), line
    assert page.index("Retracted on 2026-02-02") < page.index(STATEMENT)


def test_home_has_the_latest_of_the_ledger(again: Mapping[str, str]) -> None:
    page = again["index.md"]
    assert 'href="claims/idles.html"' in page and 'href="inquiries/path.html"' in page
    assert 'href="retractions.html#looked"' in page and 'href="retractions.atom"' in page
    assert f'type="application/atom+xml" href="{_feed.PATH}{_feed.ENDING}"' in again["retractions.md"]


def test_an_inquiry_is_a_ladder_with_the_charts_that_it_cites(again: Mapping[str, str]) -> None:
    raw = again["inquiries/path.md"]
    page = plain(raw)
    rest = page
    for part in (
        "Symptom",
        "It stalls.",
        "Rung 1: application",
        "Is it so?",
        "Yes, now .",
        "Rung 2: kernel",
        "Which?",
        "Change",
        "Validation",
    ):
        assert part in rest, part
        rest = rest.partition(part)[2]
    assert "Not yet: nothing was changed" in page and "Not yet: nothing was looked at" in page
    assert re.findall(r'data-akv-src="([^"]+)"', raw) == [
        "../data/inquiries/path/rung-1-chart-1.js", "../data/inquiries/path/rung-1-chart-2.js",
    ]  # fmt: skip
    assert "run-d" in again["data/inquiries/path/rung-1-chart-1.js"], "charts in the order of their names"
    assert 'is drawn <a href="#rung-1-chart-2">above</a>' in raw
    assert "one behind what this inquiry uses was withdrawn" in page
    assert "inquiry path" in plain(again["runs/run-a.md"])
    assert "Its **text**." in page, "what a person wrote is no markup"


def test_a_chart_that_no_page_has_stops_the_build(captured: Path, tmp_path: Path) -> None:
    made = project(captured, tmp_path)
    write_inquiry(
        made / "captures", rungs=[*RUNGS, {"scope": "source", "question": "?", "charts": ["runs/run-a#gone"]}]
    )
    with pytest.raises(
        BadInput, match=r"^inquiries/path\.md: rung 3: cites the chart 'runs/run-a#gone', which no page has$"
    ):
        written(made)
    (made / "captures" / "inquiries" / "path.md").unlink()
    # A run that is not in the store is said to be not there.
    write_inquiry(
        made / "captures", rungs=[{"scope": "source", "question": "?", "charts": ["runs/elsewhere#steps"]}]
    )
    assert "runs/elsewhere#steps (not in the store)" in plain(written(made)["inquiries/path.md"])
    # What a claim's history names stays there, so that a chart that is not there is said and stops nothing.
    claims.write_claim(made / "captures", "shown", claims.cited("chart", "comparisons/ab#gone"))
    assert "comparisons/ab#gone (no page has this chart)" in plain(written(made)["claims/shown.md"])
    # A build that stopped leaves nothing that the next one does not take away.
    (made / "captures" / "claims" / "shown.md").unlink()
    assert "claims/shown.md" not in written(made)


@pytest.mark.parametrize(
    "quote",
    [
        "Copies run while kernels run & <b>more</b>.",
        "copies **run**\nwhile KERNELS  run &amp; &lt;b&gt;more&lt;/b&gt;",
        "> Co<em>pie</em>s run <br>while&nbsp;kernels&#32;run, b more b!",
        "Copies [run](runs/run-a.html) while ker\u00adnels run <!-- not --> b more b",
        '<!-- <a data-akv-retraction="looked"> -->Copies run while kernels run b more b',
    ],
)
def test_no_page_quotes_a_withdrawn_claim_without_its_stamp(quote: str) -> None:
    row = {"claim": "overlaps", "retraction": "looked", "statement": STATEMENT}
    assert _held.unstamped(f"# Mine\n\nIt is said: {quote}\n", [row]) == [row]
    marked = (
        f'# Mine\n\n<a data-akv-retraction="looked" href="retractions.html#looked">retracted</a>: {quote}\n'
    )
    assert _held.unstamped(marked, [row]) == []
    other = marked.replace("looked", "another")
    assert _held.unstamped(other, [row]) == [row], "the stamp of another retraction is not its stamp"
    assert _held.unstamped(quote.replace("while", "before"), [row]) == []


def test_a_page_written_by_hand_is_held_to_it(captured: Path, tmp_path: Path) -> None:
    made = claimed(captured, tmp_path)
    mine = made / "site_src" / "mine.md"
    mine.write_text("# Mine\n\nAs we know, copies _run_ while kernels run & <b>more</b>.\n")
    written(made)
    claims.withdraw(
        made / "captures", "overlaps", on="2026-02-02", named="looked", control="run-c", reason="No."
    )
    with pytest.raises(
        BadInput,
        match=r"mine\.md: quotes claim 'overlaps', which retraction 'looked' withdrew, without its stamp",
    ) as found:
        written(made)
    assert len(str(found.value).splitlines()) == 1
    put = re.search(r"put (<a .*</a>) beside it", str(found.value))
    assert put
    mine.write_text(mine.read_text() + f"\n{put[1]}\n")
    written(made)


def test_a_statement_of_few_words_is_looked_for_on_no_page() -> None:
    """Pages that quote nobody have its words; of a claim that is made now there are at least four."""
    row = {"claim": "k", "retraction": "r", "statement": "The engine waits for the card"}
    assert _held.unstamped("the engine waits for the card", [row]) == [row]
    assert _held.unstamped("the engine waits", [row | {"statement": "The engine waits"}]) == []
    assert (
        _held.unstamped("複製は計算と同時に進むのだ", [row | {"statement": "複製は計算と同時に進むのだ"}])
        != []
    )


def test_what_is_never_edited_gets_the_stamp_when_it_quotes(captured: Path, tmp_path: Path) -> None:
    """The words of another claim, and the note of a capture, cannot be altered after the retraction."""
    made = claimed(captured, tmp_path)
    claims.write_claim(made / "captures", "narrower", statement=f"At batch 1: {STATEMENT}", about=["other"])
    claims.withdraw(
        made / "captures", "overlaps", on="2026-02-02", named="looked", control="run-c", reason="No."
    )
    pages = written(made)
    assert "Claim retracted on 2026-02-02: one that is quoted on this page was withdrawn" in plain(
        pages["claims/narrower.md"]
    )
    assert 'href="../retractions.html#looked"' in pages["claims/narrower.md"]
    assert plain(pages["claims/narrower.md"]).startswith("# Claim: narrower Claim retracted on")
    assert "etracted on" not in pages["claims/idles.md"]


def test_the_check_of_quotes_is_linear_in_the_text() -> None:
    """Were it not, this would take hours."""
    row = {"claim": "k", "retraction": "r", "statement": "a " * 1_000 + "b"}
    for text in (
        "<" * 2_000_000,
        "<!--" * 500_000,
        "a " * 1_000_000,
        "](" * 500_000,
        '<a data-akv-retraction="' * 100_000,
    ):
        assert _held.unstamped(text, [row]) == []


def test_the_feed_is_atom_and_of_the_notes_alone(
    again: Mapping[str, str], withdrawn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = again["retractions.atom"]
    feed = ET.fromstring(text)
    assert feed.tag == f"{ATOM}feed"
    assert feed.get("{http://www.w3.org/XML/1998/namespace}base") == "./"
    for part in ("id", "title", "updated", "author"):
        assert feed.find(f"{ATOM}{part}") is not None, part
    (entry,) = feed.findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}updated") == "2026-02-02T00:00:00Z" == feed.findtext(f"{ATOM}updated")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", entry.findtext(f"{ATOM}id") or "")
    assert [link.get("href") for link in entry.findall(f"{ATOM}link")] == ["retractions.html#looked"]
    content = entry.findtext(f"{ATOM}content") or ""
    assert STATEMENT in plain(content) and "<i>" not in content, "its HTML is escaped too"

    monkeypatch.setenv("AKVSITE_URL", "https://pages.example/akv")
    there = written(withdrawn)["retractions.atom"]
    assert re.findall(r'href="([^"]+)"', there) == [
        "https://pages.example/akv/retractions.atom",
        "https://pages.example/akv/retractions.html",
        "https://pages.example/akv/retractions.html#looked",
    ]
    assert "xml:base" not in there
    assert re.findall("<(?:id|updated)>.*", there) == re.findall("<(?:id|updated)>.*", text)


def test_a_feed_holds_any_text_and_none() -> None:
    row = {
        "retraction": "r",
        "claim": "k",
        "made": "2026-01-01",
        "date": "2026-01-02",
        "control": None,
        "reason": "]]> \x00\x0b\ufffe & <x>",
    }
    assert (
        ET.fromstring(_feed.text([row | {"statement": "\ud800 'q' \"q\""}], None)).find(f"{ATOM}entry")
        is not None
    )
    empty = ET.fromstring(_feed.text([], 'https://pages.example/?a=1&b="2"'))
    assert empty.findtext(f"{ATOM}updated") and not empty.findall(f"{ATOM}entry")
