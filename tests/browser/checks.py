"""What must hold of a page, as functions that take a Playwright page. Any site's pages can be checked with them.

``Watch`` is attached before a page is opened; the other checks look at the page as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

FIGURES = "figure[data-akv-src]"
READERS = "[data-akv-reader]"


@dataclass
class Watch:
    """What a page says on its console, what it throws, and what it asks for outside ``origin``."""

    page: Page
    origin: str
    errors: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda asked: self._asked(asked.url))

    def _asked(self, url: str) -> None:
        if not url.startswith((self.origin, "data:", "blob:")):
            self.strays.append(url)

    def assert_clean(self) -> None:
        assert not self.errors, f"the console says: {self.errors}"
        assert not self.strays, f"requests that leave the site: {self.strays}"


def settle(page: Page, timeout_ms: float = 60_000) -> None:
    """Waits until each chart of the page is drawn and each reader stands, or has said why it does not."""
    page.wait_for_function(
        f"[...document.querySelectorAll('{FIGURES}')].every(f => f.hasAttribute('data-akv-drawn'))"
        f" && [...document.querySelectorAll('{READERS}')].every(r => r.hasAttribute('data-akv-reader-ready'))",
        timeout=timeout_ms,
    )


def drawn_text(page: Page) -> dict[str, str]:
    """By key of a chart, all text that its SVG holds, with single spaces."""
    texts: dict[str, str] = page.evaluate(
        f"""() => Object.fromEntries([...document.querySelectorAll('{FIGURES}')].map(f => [
            f.dataset.akvKey,
            [...f.querySelectorAll('svg text')].map(t =>
                t.querySelector('tspan') ? [...t.querySelectorAll('tspan')].map(s => s.textContent).join(' ')
                                         : t.textContent
            ).join(' ')]))"""
    )
    return {key: " ".join(text.split()) for key, text in texts.items()}


def assert_drawn(page: Page, expected: dict[str, Iterable[str]] | None = None) -> None:
    """Every chart is an SVG with a text alternative; where lines are given by key, the SVG has each as text."""
    settle(page)
    states: dict[str, Any] = page.evaluate(
        f"""() => Object.fromEntries([...document.querySelectorAll('{FIGURES}')].map(f => [f.dataset.akvKey,
            f.dataset.akvDrawn === 'yes' && f.querySelector('svg.marks') !== null
              && (f.querySelector('.akv-drawing').getAttribute('aria-label') || '').length > 20]))"""
    )
    assert all(states.values()), f"not drawn, or without a text alternative: {states}"
    readers = page.eval_on_selector_all(READERS, "all => all.map(r => r.dataset.akvReaderReady)")
    assert set(readers) <= {"yes"}, f"readers: {readers}"
    texts = drawn_text(page)
    for key, lines in (expected or {}).items():
        # A line breaks where the page's width wants it, also within a word that is wider than the page.
        text = texts[key].replace(" ", "")
        for line in lines:
            assert "".join(line.split()) in text, f"chart {key} does not show {line!r} but {texts[key]!r}"


def footer_parts(page: Page) -> dict[str, list[str]]:
    """By key, which of the parts that every footer has are missing from the drawn text."""
    return {
        key: [part for part in ("level ", "clock ", "seen: ") if part not in text]
        for key, text in drawn_text(page).items()
    }


def assert_footers(page: Page) -> None:
    missing = {key: parts for key, parts in footer_parts(page).items() if parts}
    assert not missing, f"footers without {missing}"


def assert_no_overflow(page: Page) -> None:
    """Nothing makes the page scroll sideways, and no chart's text or mark lies outside its drawing."""
    wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide[0] <= wide[1], f"the page is {wide[0]} px wide in a window of {wide[1]}"
    out = page.evaluate(
        f"""() => [...document.querySelectorAll('{FIGURES}')].flatMap(f => {{
            const box = f.querySelector('.akv-drawing').getBoundingClientRect();
            return [...f.querySelectorAll('svg text, svg.marks')].filter(t => {{
                const r = t.getBoundingClientRect();
                return r.width && (r.left < box.left - 1 || r.right > box.right + 1);
            }}).map(t => f.dataset.akvKey + ': ' + t.textContent.slice(0, 60));
        }})"""
    )
    assert not out, f"outside their drawing: {out}"


def assert_contrast(page: Page, least: float = 4.5) -> None:
    """Text of charts stands out from its ground. Labels of an axis that Vega takes out, lest they overlap, have opacity 0."""
    poor = page.evaluate(
        """([figures, least]) => {
            const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
            const rgb = color => {
                pen.clearRect(0, 0, 1, 1); pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
                return [...pen.getImageData(0, 0, 1, 1).data];
            };
            const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
                .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            return [...document.querySelectorAll(figures)].flatMap(f => {
                const ground = light(rgb(getComputedStyle(f.querySelector('svg')).backgroundColor));
                const shown = t => +getComputedStyle(t).opacity !== 0;
                return [...f.querySelectorAll('svg text')].filter(shown).map(t => {
                    const style = getComputedStyle(t);
                    const ink = light(rgb(style.fill));
                    const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
                    return [f.dataset.akvKey, t.textContent.slice(0, 40), ratio * +style.opacity];
                }).filter(([, text, ratio]) => text && ratio < least);
            });
        }""",
        [FIGURES, least],
    )
    assert not poor, f"text that is hard to read: {poor}"


def axe_ids(page: Page) -> set[str]:
    """The rules of axe that the page breaks."""
    return {violation["id"] for violation in Axe().run(page).response["violations"]}


def assert_lines_apart(page: Page, least_px: float = 11) -> None:
    """Every line of text that a chart shows lies within its SVG, is at least ``least_px`` high in type, and on no other.

    Rows of a footer are parts of one text; each is measured for itself, as it is drawn.
    """
    found = page.evaluate(
        """([figures, least]) => [...document.querySelectorAll(figures)].flatMap(f => {
            const svg = f.querySelector('svg.marks'), found = [];
            // What is left of the SVG once the page has cut it, as an image of the figure shows it.
            const [own, box] = [svg, f.querySelector('.akv-drawing')].map(e => e.getBoundingClientRect());
            const all = {left: Math.max(own.left, box.left), right: Math.min(own.right, box.right),
                         top: Math.max(own.top, box.top), bottom: Math.min(own.bottom, box.bottom)};
            const scale = own.width / svg.width.baseVal.value;
            const shown = t => { for (let e = t; e !== svg; e = e.parentNode) if (+getComputedStyle(e).opacity === 0) return false; return true; };
            const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim() && shown(t));
            const lines = texts.flatMap(t => t.querySelector('tspan') ? [...t.querySelectorAll('tspan')] : [t])
                .filter(t => t.textContent.trim()).map(t => {
                    const b = t.getBBox(), m = t.getScreenCTM();
                    const at = [[b.x, b.y], [b.x + b.width, b.y + b.height]].map(([x, y]) =>
                        [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
                    const [x, y] = [0, 1].map(i => at.map(p => p[i]).sort((p, q) => p - q));
                    return {text: t.textContent.trim().slice(0, 50), x, y, size: parseFloat(getComputedStyle(t).fontSize) * scale};
                });
            const say = (what, ...of) => found.push(`${f.dataset.akvKey}: ${what}: ${of.map(l => l.text).join(' | ')}`);
            lines.forEach((l, at) => {
                if (l.size < least) say(`${l.size} px`, l);
                if (l.x[0] < all.left - 1 || l.x[1] > all.right + 1 || l.y[0] < all.top - 1 || l.y[1] > all.bottom + 1) say('outside', l);
                lines.slice(at + 1).forEach(o => {
                    const over = (a, b) => Math.min(a[1], b[1]) - Math.max(a[0], b[0]);
                    if (over(l.x, o.x) > 1 && over(l.y, o.y) > 2.5) say('over each other', l, o);
                });
            });
            if (!lines.length) found.push(f.dataset.akvKey + ': no text');
            return found;
        })""",
        [FIGURES, least_px],
    )
    assert not found, f"text that cannot be read: {found}"


def resize(page: Page, width: int) -> None:
    """A window of another width, once each chart is drawn for it."""
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(
        f"""() => [...document.querySelectorAll('{FIGURES}')].every(f =>
            Math.abs(f.dataset.akvWidth - f.querySelector('.akv-drawing').clientWidth) < 2)"""
    )


def use_scheme(page: Page, scheme: str) -> None:
    """Light ("default") or dark ("slate"), as the theme's own toggle leaves it."""
    page.evaluate("scheme => document.body.setAttribute('data-md-color-scheme', scheme)", scheme)
    page.wait_for_timeout(100)
    page.wait_for_function(
        f"""scheme => [...document.querySelectorAll('{FIGURES}[data-akv-drawn=yes]')].every(f =>
            f.dataset.akvScheme === scheme)""",
        arg=scheme,
    )
