"""No page, chart, command or log of the test site passes a verdict, in words, by a colour or by an arrow."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import built_site
import captured
import claims
import pytest
import signs
import typer
import words

from akvsite import cli, ingest, site
from akvsite.pages import Page
from akvsite.pages import claims as claim_pages
from akvsite.store import Store

Command = Callable[..., Any]
ROOT = built_site.ROOT


def files(project: Path, *endings: str) -> Iterator[Path]:
    return (path for path in sorted((project / "site").rglob("*")) if path.suffix in endings)


@pytest.fixture(scope="module")
def names(project: Path) -> words.Names:
    return captured.names(project / "akvsite.db")


def test_no_page_speaks_a_verdict_or_colours_by_sign(project: Path, names: words.Names) -> None:
    read = 0
    for path in files(project, ".html"):
        html = path.read_text(encoding="utf-8")
        assert not words.verdicts(words.of_page(html), names), path.name
        assert not signs.of_page(html), path.name
        read += 1
    assert read > 30


def test_no_feed_speaks_a_verdict(project: Path, names: words.Names) -> None:
    feeds = list(files(project, ".atom"))
    assert [feed.name for feed in feeds] == ["retractions.atom"]
    for feed in feeds:
        assert not words.verdicts(words.of_feed(feed.read_text(encoding="utf-8")), names)


def test_no_chart_speaks_a_verdict_or_colours_by_sign(project: Path, names: words.Names) -> None:
    charts = 0
    for path in files(project, ".js", ".json", ".csv"):
        if "data" not in path.relative_to(project / "site").parts:
            continue
        text = path.read_text(encoding="utf-8")
        spec = words.spec_of(text) if path.suffix == ".js" else None
        if spec is None:
            said = words.of_csv(text) if path.suffix == ".csv" else text
            assert not words.verdicts(said, names), path
            continue
        charts += 1
        for text in words.of_spec(spec):
            assert not words.verdicts(text, names), path
        assert not list(signs.of_spec(spec)), path
    assert charts > 100


def test_the_search_finds_no_verdict_but_what_people_wrote(project: Path) -> None:
    theirs = captured.names(project / "akvsite.db", written=True)
    index = json.loads((project / "site" / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert len(index["docs"]) > 100
    for doc in index["docs"]:
        said = words.of_page(f"{doc['title']} {doc['text']}")
        assert not words.verdicts(said, theirs), doc["location"]


@pytest.mark.parametrize(
    "page", ["instruments", "runs/h200-kv-prefetch-device", "comparisons/h200-prefetch", "claims/withdrawn"]
)
def test_a_word_planted_in_a_page_as_it_was_built_is_found(
    project: Path, names: words.Names, page: str
) -> None:
    html = (project / "site" / f"{page}.html").read_text(encoding="utf-8")
    planted = html.replace("</article>", "<p>So B was faster.</p></article>", 1)
    assert planted != html and words.verdicts(words.of_page(planted), names)
    table = html.replace('aria-label="table"', 'aria-label="the worse ones"', 1)
    assert table == html or words.verdicts(words.of_page(table), names)


def test_no_style_and_no_script_of_ours_colours_by_sign() -> None:
    assets = ROOT / "site_src" / "assets"
    for path in assets.glob("akv*.css"):
        assert not list(signs.of_css(path.read_text(encoding="utf-8")))
    for path in assets.glob("akv*.js"):
        assert not list(signs.of_script(path.read_text(encoding="utf-8")))


def commands() -> Iterator[tuple[str, ...]]:
    """Every command and sub-command, found in the program itself."""
    waiting: list[tuple[tuple[str, ...], object]] = [((), typer.main.get_command(cli.app))]
    while waiting:
        path, command = waiting.pop()
        yield path
        waiting += [((*path, name), one) for name, one in sorted(getattr(command, "commands", {}).items())]


def test_every_command_is_known() -> None:
    found = {" ".join(path) for path in commands()}
    assert {
        "",
        "ingest",
        "build",
        "claim",
        "claim new",
        "claim link",
        "claim status",
        "retract",
        "experiment",
    } <= found


@pytest.mark.parametrize("path", sorted(commands()), ids=" ".join)
def test_the_help_of_no_command_speaks_a_verdict(path: tuple[str, ...], akvsite: Command) -> None:
    done = akvsite(*path, "--help")
    assert done.code == 0 and len(done.out) > 100
    assert not words.verdicts(done.out + done.err)


#: What a person asks of a whole site; the runs are shown one by one.
ASKED = (
    ["runs"], ["runs", "--json"], ["compare", "h200-decode-off-a0", "h200-decode-off-b0"], ["compare", "h200-decode-off-a0", "h200-decode-off-b0", "--json"],
    ["compare", "same-load-a", "same-load-b"], ["compare", "--last-same-load", "same-load-b"], ["compare", "h200-decode-off-a0", "h200-kv-prefetch-device"],
    ["formats"], ["formats", "--json"], ["doctor"], ["doctor", "--json"], ["claim", "status"], ["claim", "status", "--json"], ["claim", "status", "withdrawn"],
    ["claim", "status", "withdrawn", "--json"], ["sql", "SELECT * FROM run_use"], ["sql", "--json", "SELECT * FROM coverage"],
    # and what is asked in vain
    ["show", "nothing"], ["compare", "nothing", "looked-at"], ["sql", "SELECT nothing FROM nowhere"], ["sql", "DROP TABLE run"], ["ingest", "nothing"],
    ["claim", "status", "nothing"], ["claim", "link", "nothing", "--run", "looked-at"], ["retract", "nothing", "--because", "no"], ["exclude", "nothing", "--because", "no"],
    ["experiment", "nothing"], ["scan", "nothing"], ["build", "--captures", "nothing"], ["nothing"], ["ingest"],
)  # fmt: skip


def test_no_command_speaks_a_verdict_about_the_site(
    project: Path, akvsite: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = captured.names(project / "akvsite.db", written=True)
    monkeypatch.chdir(project)
    with Store.read(project / "akvsite.db") as store:
        runs = [row["name"] for row in store.rows("SELECT name FROM run ORDER BY name")]
    asked = [*ASKED, *(["show", run] for run in runs[::3]), *(["show", run, "--json"] for run in runs[:3])]
    codes = set()
    for command in asked:
        done = akvsite(*command)
        codes.add(done.code)
        assert not words.verdicts(" ".join((done.out + done.err).split()), theirs), command
    assert codes == {0, 2}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A project of two captures, where commands may write."""
    folder = tmp_path / "tiny"
    for name in ("h200-decode-off-a0", "h200-overlap-control"):
        shutil.copytree(ROOT / "captures" / name, folder / "captures" / name)
    source = folder / "site_src"
    source.mkdir()
    shutil.copy(ROOT / "mkdocs.yml", folder)
    for page in built_site.PAGES:
        shutil.copy(ROOT / "site_src" / page, source)
    shutil.copytree(ROOT / "site_src" / "assets", source / "assets")
    return folder


def test_no_command_that_writes_and_no_line_of_progress_speaks_a_verdict(
    tiny: Path, akvsite: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny)
    because = "It said so with timing events on."
    (tiny / "a.md").write_text("More.\n")
    first = [
        "--scope",
        "timeline",
        "--about",
        "overlap",
        "--statement",
        "Copies of blocks lie beside kernels.",
        "--predicts",
        "Both at once.",
    ]
    other = [*first[:-3], "No copy lies beside a kernel.", *first[-2:]]
    said = []
    for command in (
        ["ingest", "captures"], ["ingest", "captures", "--json"], ["claim", "new", "c1", *first, "--run", "h200-decode-off-a0", "--body", "a.md"],
        ["claim", "new", "c1", *first], ["claim", "new", "c2", *other, "--json"], ["claim", "link", "c1", "--control", "h200-overlap-control"],
        ["claim", "link", "c1", "--control", "h200-decode-off-a0"], ["claim", "link", "c2"], ["claim", "open", "c1", "--because", because],
        ["claim", "seal", "captures/claims/c1.md"], ["claim", "status"], ["retract", "c1", "--because", because, "--control", "h200-overlap-control"],
        ["retract", "c1", "--because", because], ["retract", "c2", "--because", because, "--json"], ["claim", "status", "c1"],
        ["exclude", "h200-decode-off-a0", "--because", "a second job ran"], ["scan", str(ROOT / "captures" / "runner-sycl-runner")],
        ["experiment", "aa", "--pairs", "0", "--", "true"], ["capture", "--level", "nowhere", "--", "true"],
        ["capture", "--level", "edge", "--name", "a-command", "--", "true"],
    ):  # fmt: skip
        done = akvsite(*command)
        assert done.out + done.err, command
        said.append(done.out + done.err)
    with Store.open(tiny / "akvsite.db") as store:
        lines: list[str] = []
        again = ingest.plan([tiny / "captures"], None)
        list(ingest.ingest(store, again, replace=True, progress=lines.append))
        site.build(store, tiny, tiny / "captures", tiny / "site", lines.append)
    assert "MkDocs" in lines and len(lines) > 10
    for text in [*said, *lines]:
        assert not words.verdicts(text), text


def test_what_an_engineer_claims_is_exempt_as_quoted_and_the_same_words_of_a_page_are_not(
    tmp_path: Path,
) -> None:
    """Rule 4 in the texts that come in while the site runs: a claim may say what its maker thinks."""
    words_of_verdict = "Prefetching is faster: a significant improvement, and no regression."
    claims.write_claim(
        tmp_path, "bold", statement=words_of_verdict, predicts="A better p50.", body="A clear **win**."
    )
    with Store.open(tmp_path / "akvsite.db") as store:
        ingest.install_views(store)
        site.take_notes(store, tmp_path)
        desk = site.SiteDesk(store, {}.__setitem__)
        made = {page.path: page.text for page in claim_pages.write(desk)}
    assert {"claims", "claims/bold"} <= made.keys()
    for path, text in made.items():
        assert "Prefetching" in text, path
        assert not words.verdicts(words.of_page(text)), path
        # The same page, had its text not been marked as somebody's.
        unmarked = text.replace("akv-quoted", "akv-note").replace("<q>", "<span>").replace("</q>", "</span>")
        assert words.verdicts(words.of_page(unmarked)), path
    assert words.verdicts(words.of_page(Page("mine", f"# Mine\n\n{words_of_verdict}\n").text))
