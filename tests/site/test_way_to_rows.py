"""From every number to the rows that it is made from: two links at most, and one from each chart of a run."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import listing_files
import pytest
from bundles import read_in, steps, write_capture

from akvsite.desk import PAGES_OF_A_RUN
from akvsite.pages import _compare_tokens
from akvsite.pages._compare_steps import Subject
from akvsite.pages._listed import BY_NAME, KNOWN, between, named, part, rows_link
from akvsite.pages._run import StepGroups
from akvsite.site import SiteDesk
from akvsite.store import Store

#: Pages of no run, though some have tables with numbers: of the suite itself, of hosts, and of what people wrote.
OF_NO_RUN = re.compile(
    r"(404|bring|claims|device|discipline|edge|export|inquiries|instrument|method|publish|retractions|runner|schema)\.html$"
)


@dataclass
class Way(HTMLParser):
    """The links of a page's own text, and of each of its charts and tables; the theme's navigation is none of it."""

    links: set[str] = field(default_factory=set)
    charts: dict[str, set[str]] = field(default_factory=dict)
    numbers: bool = False
    _within: bool = False
    _chart: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        self._within = self._within or tag == "article"
        if not self._within:
            return
        if tag == "figure" and held.get("data-akv-src"):
            self._chart = str(held["data-akv-key"])
            self.charts[self._chart] = set()
        if tag in ("td", "th") and "akv-number" in (held.get("class") or ""):
            self.numbers = True
        if tag == "a" and held.get("href"):
            self.links.add(str(held["href"]))
            if self._chart:
                self.charts[self._chart].add(str(held["href"]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "figure":
            self._chart = ""
        if tag == "article":
            self._within = False


@cache
def way(page: Path) -> Way:
    found = Way()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def targets(page: Path, links: set[str]) -> set[Path]:
    """The pages of the site that links lead to."""
    parts = [urlsplit(link) for link in links]
    found = {(page.parent / unquote(p.path)).resolve() for p in parts if p.path and not p.scheme}
    return {target for target in found if target.suffix == ".html" and target.is_file()}


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        ("~tilde", "=~tilde"),
        ("1..2", "=1..2"),
        ("", "="),
        ("!", "=!"),
        (None, "!"),
        (0, "0"),
        (between(3, 8), "3..8"),
        (part("a&b"), "~a&b"),
    ],
)
def test_an_address_asks_for_the_value_whatever_signs_it_holds(value: object, asked: str) -> None:
    fragment = urlsplit(rows_link("r", "calls", "../", name=value)).fragment
    assert parse_qs(fragment, keep_blank_values=True) == {"of": ["calls"], "name": [asked]}


def test_of_a_very_long_name_a_part_is_asked_for() -> None:
    fragment = urlsplit(named("r", "calls", "", "name", "~" * 500, kind="launch")).fragment
    assert parse_qs(fragment) == {"of": ["calls"], "name": ["~" * 301], "kind": ["launch"]}


@pytest.fixture(scope="module")
def site(project: Path) -> Path:
    return (project / "site").resolve()


def test_from_every_number_at_most_two_links_lead_to_its_rows(site: Path) -> None:
    lost = []
    for page in sorted(site.rglob("*.html")):
        if OF_NO_RUN.match(page.relative_to(site).as_posix()) or not (way(page).charts or way(page).numbers):
            continue
        near = targets(page, way(page).links) | {page}
        far = {target for one in near for target in targets(one, way(one).links)} | near
        run = (
            page.stem if page.parent.name in PAGES_OF_A_RUN and (site / "rows" / page.name).is_file() else ""
        )
        rows = {target.stem for target in far if target.parent == site / "rows"}
        if not rows or (run and run not in rows):
            lost.append(page.relative_to(site).as_posix())
    assert not lost, f"no way of two links to rows from: {lost}"


def test_each_chart_of_a_run_leads_to_its_rows_and_each_such_link_names_a_listing(site: Path) -> None:
    charts = 0
    for page in sorted(site.rglob("*.html")):
        of_a_run = page.parent.name in PAGES_OF_A_RUN and (site / "rows" / page.name).is_file()
        for key, links in way(page).charts.items():
            to = [link for link in links if f"rows/{page.name}" in unquote(link)]
            assert bool(to) == of_a_run, f"{page.relative_to(site)}: the chart {key}"
            charts += len(to)
        for link in way(page).links:
            parts = urlsplit(link)
            if "/rows/" in f"/{parts.path}" and parts.fragment:
                listing = re.match(r"of=(\w+)", parts.fragment)
                assert listing and listing[1] in BY_NAME, f"{page.relative_to(site)}: {link}"
    assert charts > 50


def dead(site: Path, page: Path, link: str) -> str:
    """What is wrong with a link to rows, by what the page of the rows is told and by the index of their listing."""
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve()
    if not target.is_file():
        return "no such page"
    about = re.search(r'data-akv-reader-about="([^"]*)"', target.read_text(encoding="utf-8"))
    assert about, target
    kinds = {kind["name"] for kind in json.loads(html.unescape(about[1]))["kinds"]}
    asked = parse_qs(parts.fragment, keep_blank_values=True)
    listing = asked.pop("of", [""])[0]
    if listing not in kinds:
        return f"no kind of rows has the name {listing}"
    index = (site / "data" / "rows" / target.stem / listing / "index.js").read_text(encoding="utf-8")
    told = listing_files.index({"x/index.js": index})
    columns = {column["name"] for column in told["columns"]} | {"row", "from"}
    strange = {name for name in asked if name not in columns and f"{name}_id" not in columns}
    if strange:
        return f"no column has the name {', '.join(sorted(strange))}"
    if page.parent.name == "comparisons":
        # Of a name that only the other side was seen to have there may be no row, as is said beside it.
        return ""
    for name, (value, *_) in asked.items():
        values = told["values"].get(name)
        known = values and {None if v is None else str(v) for v in values["of"]}
        plain = value.removeprefix("=") if value != "!" else None
        if known and value[:1] != "~" and ".." not in value and plain not in known:
            return f"no row has {name} {value}"
    return ""


def test_no_address_of_rows_that_a_page_writes_is_a_dead_link(site: Path) -> None:
    followed, wrong = 0, []
    for page in sorted(site.rglob("*.html")):
        for link in sorted(way(page).links):
            if re.search(r"(^|/)rows/[^/]+\.html#of=", link):
                followed += 1
                why = dead(site, page, link)
                wrong += [f"{page.relative_to(site)}: {link}: {why}"] if why else []
    assert not wrong, "\n".join(wrong[:20])
    assert followed > 200


def test_scripts_lead_to_kinds_of_rows_alone() -> None:
    kinds = {name for name, listed in BY_NAME.items() if not listed.pairs}
    found = {
        of
        for script in (Path(__file__).parents[2] / "site_src/assets").glob("akv-*.js")
        for of in re.findall(r'(?:rows\(about, .*?, "|\bof: ")(\w+)"', script.read_text(encoding="utf-8"))
    }
    assert {"gaps", "regions", "intervals", "calls"} <= found
    assert found <= kinds


def test_names_of_calls_and_kernels_lead_to_rows_of_that_name(site: Path) -> None:
    page = site / "runs" / "h200-kv-prefetch-device.html"
    asked = [urlsplit(link).fragment for link in way(page).links if "/rows/" in link]
    assert any(re.match(r"of=calls&name=cuda\w+&source=vendor", one) for one in asked), asked[:20]
    assert any(one.startswith("of=intervals&name=") and one.endswith("kind=kernel") for one in asked), asked[
        :20
    ]


def test_numbers_between_milestones_lead_to_the_tokens_that_they_are_made_from(tmp_path: Path) -> None:
    drawn = [row | {"warm_up": int(row["number"] == 0), "kind": "prefill" if row["number"] == 2 else "decode"} for row in steps(4, 1000)]  # fmt: skip
    tokens = [
        {"request": "r", "number": n, "step": n, "arrived_ns": 0, "scheduled_ns": 1000 * n, "sampled_ns": 1000 * n + 500, "tokens": 1}
        for n in range(4)
    ]  # fmt: skip
    write_capture(tmp_path / "r", {"step": drawn, "token": tokens}, top="warm_up_steps = 1")
    read_in(tmp_path / "akvsite.db", tmp_path / "r")
    with Store.open(tmp_path / "akvsite.db") as opened:
        desk = SiteDesk(opened)
        (run,) = desk.ask("run_list")
        made = _compare_tokens.tokens(Subject(desk, "a", "r", run, StepGroups({}, [])))
        (decode,) = [chosen for label, chosen in made.chosen.items() if label.endswith("decode steps")]
        # Of the warm-up, and of another kind, there are more.
        assert decode == {"counted": 1, "step": KNOWN, "kind": "decode"}
        found = desk.ask("row_token", run_id=run["run_id"], counted=1, kind="decode")
    assert [row["number"] for row in found] == [1, 3]
