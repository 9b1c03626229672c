"""The check for verdicts finds each that is planted, and takes nothing that is quoted or captured for one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import literals
import pytest
import signs
import words

import akvsite
from akvsite.charts import Footer, bands, embed
from akvsite.estimate import Estimate

FOOTER = Footer(level="off, dev host", seen="not from device records", clock="host only", use="structure")


def drawn(
    label: str = "kernel", question: str = "How long is it?", **changed: Any
) -> tuple[dict[str, Any], str]:
    """The specification and the CSV file of a chart with one number."""
    number = Estimate(1.5, 1.0, 2.0, 9, "ms", changed.pop("method", "t"), scope="this run only")
    drawing = bands.draw(question, [bands.Row(label, number)], FOOTER, axis=changed.pop("axis", "time"))
    spec = words.spec_of(embed.data_script(drawing, "a"))
    assert spec and not changed
    return spec, embed.csv_text(drawing)


def said(spec: dict[str, Any], names: words.Names = words.NO_NAMES) -> list[str]:
    return [word for text in words.of_spec(spec) for word in words.verdicts(text, names)]


@pytest.mark.parametrize(
    "planted",
    [
        "B is faster than A", "a clear win", "p < 0.05", "▲ 3 %", "not significantly so", "it was slower", "an improvement of 3 %",
        "no regression", "the best of them", "the check passed", "a speed-up of 2", "it fails", "the step got worse", "✅", "degraded by 2 %",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "page",
    [
        "<p>The step. {}.</p>", '<figure aria-label="The step: {}."></figure>', '<img alt="{}">', '<td data-label="{}">1</td>',
        '<abbr title="{}">n</abbr>', '<meta name="description" content="{}">', "<title>{}</title>", '<input placeholder="{}">',
        "<blockquote><p>{}</p></blockquote>", "<p>a <code>name</code> and {}</p>", "<q>a note</q><span>{}</span>",
    ],
)  # fmt: skip
def test_a_planted_verdict_is_found_wherever_it_stands_on_a_page(page: str, planted: str) -> None:
    assert words.verdicts(words.of_page(page.format(planted)))


@pytest.mark.parametrize(
    "page",
    [
        '<div class="akv-quoted"><p>{}</p></div>', '<blockquote class="akv-quoted"><p>{}</p></blockquote>', "<p>It said: <q>{}</q></p>",
        "<code>{}</code>", '<code title="{0}">{0}</code>', "<samp>{}</samp>", '<span class="akv-captured">{}</span>', "<script>{}</script>",
    ],
)  # fmt: skip
def test_what_is_quoted_or_captured_is_exempt(page: str) -> None:
    assert not words.verdicts(words.of_page(page.format("a clear win, faster and better")))


@pytest.mark.parametrize(
    "fact",
    [
        "the kernel replay: pass 3 of 7",
        "1 request failed",
        "the upper half",
        "spill-over",
        "12 significant digits",
    ],
)
def test_a_fact_is_no_verdict(fact: str) -> None:
    assert not words.verdicts(fact)


def test_what_a_capture_names_is_exempt_as_a_whole_and_where_it_was_shortened() -> None:
    name = "void at::native::best_fit_kernel<(anonymous namespace)::better::pass>(float*, int, long)"
    names = words.Names.of([name, "void harmless()"])
    assert len(names.texts) == 1
    short = f"{name[:66]}…{name[-9:]}"
    for text in (name, f"kernel {name}: 3 ms", short, f"3 ms in {short} of them"):
        assert words.verdicts(text) and not words.verdicts(text, names)
    # The word alone is ours, and so is a piece of the name that stands for nothing.
    for text in ("this is better", "better::pass", f"{name} is better", f"{name[40:66]}"):
        assert words.verdicts(text, names), text


@pytest.mark.parametrize("where", ["question", "axis", "label", "method"])
def test_a_verdict_in_a_chart_is_found_in_its_specification_and_its_table(where: str) -> None:
    spec, table = drawn(**{where: "Is B faster than A?"})
    assert said(spec)
    assert where in ("question", "axis") or words.verdicts(words.of_csv(table))


def test_a_verdict_in_a_tooltip_or_over_several_lines_of_a_title_is_found() -> None:
    spec, _ = drawn()
    assert not said(spec)
    spec["vconcat"][0]["layer"][0]["encoding"]["tooltip"] = [{"field": "name", "title": "slower by"}]
    assert said(spec)
    spec, _ = drawn()
    spec["title"]["text"] = ["the speed", "test", "passed"]
    assert said(spec)


def test_a_captured_name_in_a_chart_is_exempt_and_our_word_beside_it_is_not() -> None:
    names = words.Names.of(["better_gemm best"])
    spec, table = drawn(label="better_gemm best")
    assert said(spec) and not said(spec, names) and not words.verdicts(words.of_csv(table), names)
    spec, _ = drawn(label="better_gemm best", question="Is better_gemm best better?")
    assert said(spec, names)


@pytest.mark.parametrize(
    "line",
    [
        "a: stored, faster than before",
        '{"says": "a win"}',
        "akvsite: the comparison failed",
        "MkDocs: no regression",
    ],
)
def test_a_verdict_in_a_line_of_a_command_or_a_log_is_found(line: str) -> None:
    assert words.verdicts(line)


@pytest.mark.parametrize("kind", ["", ' type="text"', ' type="html"'])
def test_a_verdict_in_a_feed_is_found_and_a_quoted_one_is_not(kind: str) -> None:
    feed = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title{}>{}</title></entry></feed>'
    assert words.verdicts(words.of_feed(feed.format(kind, "it was faster")))
    quoted = "&lt;q&gt;it was faster&lt;/q&gt;"
    assert bool(words.verdicts(words.of_feed(feed.format(kind, quoted)))) == ("html" not in kind)


SIGNED: list[dict[str, Any]] = [
    {"encoding": {"color": {"condition": {"test": "datum.value > 0", "value": "#b4610a"}, "value": "#1f5f99"}}},
    {"encoding": {"fill": {"condition": [{"test": "datum['value'] < 0.0", "value": "red"}]}}},
    {"encoding": {"stroke": {"condition": {"test": {"field": "value", "gt": 0}, "value": "red"}}}},
    {"encoding": {"color": {"condition": {"test": "datum.b < datum.a", "value": "red"}}}},
    {"encoding": {"opacity": {"condition": {"test": "datum.low > 3", "value": 1}}}},
    {"encoding": {"color": {"field": "value", "type": "quantitative", "scale": {"scheme": "redblue"}}}},
    {"encoding": {"color": {"field": "value", "type": "quantitative", "scale": {"scheme": {"name": "redyellowgreen-9"}}}}},
    {"encoding": {"color": {"field": "value", "type": "quantitative", "scale": {"domainMid": 0}}}},
    {"encoding": {"color": {"field": "value", "type": "quantitative", "scale": {"domain": [-5, 5]}}}},
    {"encoding": {"color": {"field": "value", "type": "quantitative"}}},
    {"encoding": {"color": {"field": "value", "scale": {"type": "threshold", "domain": [0]}}}},
    {"encoding": {"color": {"field": "hue", "scale": None}}},
    {"encoding": {"color": {"field": "sign", "scale": {"domain": ["negative", "positive"]}}}},
    {"encoding": {"shape": {"field": "state", "scale": {"range": ["triangle-up", "triangle-down"]}}}},
    {"encoding": {"shape": {"field": "state", "scale": {"range": ["circle", "M0,-1L1,1L-1,1Z"]}}}},
    {"transform": [{"filter": "datum.value >= 0"}], "mark": {"type": "point", "color": "red"}},
    {"transform": [{"filter": {"field": "value", "lt": 0}}], "mark": "point"},
    {"transform": [{"calculate": "sign(datum.value)", "as": "s"}]},
    {"transform": [{"calculate": "0 < datum.value ? 'up' : 'down'", "as": "s"}]},
    {"mark": {"type": "point", "shape": "triangle-up"}},
    {"mark": {"type": "point", "shape": "arrow", "style": "akv-dot"}},
    {"mark": {"type": "text", "text": "▲"}},
    {"config": {"range": {"diverging": ["#f00", "#fff", "#00f"]}}},
]  # fmt: skip


@pytest.mark.parametrize("planted", SIGNED, ids=range(len(SIGNED)))
def test_a_colour_or_shape_by_sign_is_found_in_a_specification(planted: dict[str, Any]) -> None:
    spec, _ = drawn()
    assert list(signs.of_spec(spec)) == []
    spec["vconcat"][0]["layer"].append(planted)
    assert list(signs.of_spec(spec))


@pytest.mark.parametrize(
    "spec",
    [
        {"encoding": {"color": {"field": "group", "type": "nominal", "scale": {"domain": ["median", "mean"]}}}},
        {"encoding": {"x": {"field": "value", "type": "quantitative", "scale": {"domain": [-5, 5]}}}},
        {"mark": {"type": "point", "style": "akv-open", "shape": "triangle-left"}, "transform": [{"filter": "datum.open_low"}]},
        {"transform": [{"filter": "isValid(datum.from)"}]},
    ],
)  # fmt: skip
def test_a_hue_that_tells_series_apart_and_an_end_that_is_open_are_no_signs(spec: dict[str, Any]) -> None:
    assert list(signs.of_spec(spec)) == []


@pytest.mark.parametrize(
    "css",
    [
        ".akv-negative { color: #c00 }", "td.down { background: pink }", '[data-sort^="-"] { color: red }', ".better{border-left: 2px solid green}",
        ".akv-cell::after { content: '▲' }", ".akv-cell::before { content: \"\\25bc\" }",
    ],
)  # fmt: skip
def test_a_colour_by_sign_and_an_arrow_are_found_in_styles(css: str) -> None:
    assert list(signs.of_css(css))
    assert signs.of_page(f"<style>{css}</style>")


@pytest.mark.parametrize(
    "page",
    ['<td class="akv-down">3</td>', "<td class=positive>3</td>", '<td style="color: red">-3</td>', '<font color="red">-3</font>', '<div class="admonition failure">x</div>'],
)  # fmt: skip
def test_a_colour_by_sign_is_found_on_a_page(page: str) -> None:
    assert signs.of_page(page)
    assert not signs.of_page('<td class="akv-number">-3</td><p class="akv-stamp md-down">a</p>')


def test_a_colour_by_sign_is_found_in_a_script() -> None:
    assert list(signs.of_script("cell.style.color = value < 0 ? 'red' : 'green';"))
    assert not list(signs.of_script("return left < 0 ? -1 : 1;"))


def test_arrows_that_show_the_order_of_a_table_are_its_own() -> None:
    assert not list(
        signs.of_css(
            ".akv-sort::after { content: '\\2195' } th[aria-sort] .akv-sort::after { content: '\\2191' }"
        )
    )


def test_no_source_has_a_word_of_a_verdict_that_somebody_may_come_to_read() -> None:
    assert list(literals.found()) == []


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ('print("B is faster")', True), ('f"{a} is faster than {b}"', True), ('x = {"k": ["no regression"]}', True), ("# it is faster\nx = 1", False),
        ('def f():\n    """The better reader."""', False), ('"""A module."""\nx = """a win"""', True),
    ],
)  # fmt: skip
def test_a_verdict_in_a_literal_is_found_and_what_nobody_reads_is_not(source: str, is_found: bool) -> None:
    texts = literals._of_python(Path("made_up.py"), source)
    assert bool([word for _, text in texts for word in words.verdicts(text)]) == is_found


def test_every_exempt_literal_is_still_there() -> None:
    for name, part in literals.EXEMPT:
        texts = [text for _, text in literals._of_python(literals.ROOT / name)]
        assert any(part in text for text in texts), f"{name} has no {part!r} any more"


#: A count that stands before its noun in an f-string, as in "{n:,} requests": of one it would say "1 requests".
_COUNT = re.compile(
    r"\{[^{}]*:,\} (?:requests|runs|steps|rows|records|tokens|calls|names|parts|pieces|groups|kinds|queues|lines|samples|pairs|events"
    r"|(?:device|more|further|other) [a-z]+s)\b"
)


def test_a_count_of_one_has_its_noun_in_the_singular() -> None:
    rooms = Path(akvsite.__file__).parent
    sources = [
        path for room in ("pages", "exports", "charts") for path in sorted((rooms / room).rglob("*.py"))
    ]
    assert sources and _COUNT.search('f"{len(left):,} further names"')
    assert [(path.name, found) for path in sources for found in _COUNT.findall(path.read_text())] == []
