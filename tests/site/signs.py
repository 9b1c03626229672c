"""Colours and arrows that would code a verdict: by the sign of a number, or by which of two is the larger."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from akvsite.charts import _marks
from akvsite.charts._marks import CAPPED, HOLLOW, OPEN_ARROW, OPEN_DIAMOND, QUERY

#: Schemes of Vega whose two halves stand for two signs.
DIVERGING = frozenset(
    (
        "blueorange", "brownbluegreen", "purplegreen", "pinkyellowgreen", "purpleorange", "redblue", "redgrey", "redyellowblue",
        "redyellowgreen", "spectral",
    )
)  # fmt: skip
#: Channels by which a mark could say more than where a number lies.
CODING = frozenset(
    ("color", "fill", "stroke", "shape", "opacity", "fillOpacity", "strokeOpacity", "size", "angle")
)
#: Shapes that are drawn as paths: what they mean is in the legend of each chart, and none is of a sign.
PATHS = frozenset((CAPPED, HOLLOW, OPEN_ARROW, OPEN_DIAMOND, QUERY, _marks._DIAMOND))
#: Triangles and arrows are drawn where an axis, a band or an interval goes on, in the style that is open.
OPEN = "akv-open"

_TERM = r"(?:datum(?:\.\w+|\[[^\]]+\])|\w+\([^()]*\))"
_ZERO = r"[-+]?0(?:\.0*)?(?![\w.])"
#: A number against 0, two numbers against each other, or its sign taken.
_SIGN = re.compile(
    rf"{_TERM}\s*(?:[<>]=?)\s*{_ZERO}|(?<![\w.]){_ZERO}\s*(?:[<>]=?)\s*{_TERM}|\bsign\s*\(|\babs\s*\([^()]*\)\s*[!=]="
)
_AGAINST = re.compile(rf"{_TERM}\s*[<>]=?\s*(?:{_TERM}|[-+]?\d)")
_SIGN_WORDS = re.compile(
    r"(?i)(?<![a-z])(pos|neg|positive|negative|up|down|plus|minus|gain|loss|increase[ds]?|decrease[ds]?|good|bad|better|worse|"
    r"faster|slower|win|lose|improved?|regressed?|pass|fail(ure|ed)?|success|danger)(?![a-z])"
)
#: Classes of ours with such a word that are of no number: a chart that could not be drawn.
NOT_OF_A_NUMBER = frozenset(("akv-failed",))
_COLOURING = re.compile(
    r"(?i)(^|[;{\s])(color|background(-color)?|fill|stroke|border(-\w+)*-color|border(-\w+)?)\s*:"
)
_ARROWS = re.compile(
    r"(?i)\\(2191|2193|21d1|21d3|2197|2198|25b2|25b3|25b4|25bc|25bd|25be|2b06|2b07)|[▲▼△▽▴▾↑↓⇑⇓↗↘⬆⬇]"
)


def of_spec(spec: Any, where: str = "") -> Iterator[str]:
    """What of a chart's specification depends on a sign."""
    if isinstance(spec, list):
        for number, value in enumerate(spec):
            yield from of_spec(value, f"{where}[{number}]")
    if not isinstance(spec, dict):
        return
    for key, value in spec.items():
        here = f"{where}.{key}"
        if key in ("datasets", "values", "usermeta"):
            continue
        if (
            key in ("filter", "calculate", "test", "expr", "signal")
            and isinstance(value, str)
            and _SIGN.search(value)
        ):
            yield f"{here}: {value}"
        if (
            key in ("filter", "test")
            and isinstance(value, dict)
            and value.keys() & {"lt", "lte", "gt", "gte", "range"}
        ):
            yield f"{here}: {value}"
        if key == "encoding" and isinstance(value, dict):
            for channel, coded in value.items():
                if channel in CODING:
                    yield from _coded(coded, f"{here}.{channel}")
        if key == "mark" and isinstance(value, dict):
            yield from _mark(value, here)
        if key == "diverging" or (key == "scheme" and _scheme(value) in DIVERGING):
            yield f"{here}: {value}"
        if key == "domainMid":
            yield f"{here}: {value}"
        yield from of_spec(value, here)


def _coded(coded: Any, here: str) -> Iterator[str]:
    """A channel: a condition on a size, a scale about 0, or names of signs."""
    if isinstance(coded, list):
        for one in coded:
            yield from _coded(one, here)
    if not isinstance(coded, dict):
        return
    conditions = coded.get("condition", [])
    for one in conditions if isinstance(conditions, list) else [conditions]:
        test = one.get("test") if isinstance(one, dict) else None
        if isinstance(test, dict) or (
            isinstance(test, str) and (_AGAINST.search(test) or _SIGN.search(test))
        ):
            yield f"{here}: coded by a comparison: {test}"
    scale = coded.get("scale")
    if scale is None and "scale" in coded:
        yield f"{here}: colours that are in the data"
    if isinstance(scale, dict):
        domain = scale.get("domain")
        for end in domain if isinstance(domain, list) else ():
            if isinstance(end, str) and (
                _SIGN_WORDS.fullmatch(end.strip()) or end.strip() in ("+", "-", "−")
            ):
                yield f"{here}: named after a sign: {end}"
        numbers = [end for end in domain if isinstance(end, int | float)] if isinstance(domain, list) else []
        about_zero = numbers and (
            min(numbers) < 0 < max(numbers) or (0 in numbers and scale.get("type") == "threshold")
        )
        if about_zero:
            yield f"{here}: a scale about 0: {domain}"
        shapes = scale.get("range")
        for shape in shapes if isinstance(shapes, list) else ():
            if isinstance(shape, str) and _pointed(shape):
                yield f"{here}: a shape that points: {shape[:40]}"
    if coded.get("type") == "quantitative" and not isinstance(scale, dict):
        yield f"{here}: a number as a colour or shape, on a scale that is not stated"


def _mark(mark: dict[str, Any], here: str) -> Iterator[str]:
    shape = mark.get("shape")
    styles = mark.get("style")
    if (
        isinstance(shape, str)
        and _pointed(shape)
        and OPEN not in (styles if isinstance(styles, list) else [styles])
    ):
        yield f"{here}: a shape that points: {shape[:40]}"
    for key in ("text", "tooltip"):
        if isinstance(mark.get(key), str) and _ARROWS.search(mark[key]):
            yield f"{here}: an arrow"


def _pointed(shape: str) -> bool:
    """A triangle, an arrow, or a path that nobody knows."""
    if shape.startswith(("triangle", "arrow", "wedge")):
        return True
    return bool(re.match(r"[Mm][-\d.]", shape)) and shape not in PATHS


def _scheme(value: Any) -> str:
    name = value.get("name", "") if isinstance(value, dict) else value
    return str(name).split("-")[0].lower()


def _named_after_a_sign(name: str) -> bool:
    return name not in NOT_OF_A_NUMBER and bool(_SIGN_WORDS.search(name))


def of_css(css: str) -> Iterator[str]:
    """Rules that colour what is named after a sign, and arrows that do not show the order of a table."""
    plain = re.sub(r"/\*.*?\*/", "", css, flags=re.S)
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", plain):
        named = [name for name in re.findall(r"[.#]([\w-]+)", selector) if _named_after_a_sign(name)]
        signed = re.search(r"""\[[\w-]+\s*[\^*|~]?=\s*["']?[-+−]""", selector)
        if (named or signed) and _COLOURING.search(body):
            yield f"{' '.join(selector.split())}: a colour by sign"
        if _ARROWS.search(body) and "sort" not in selector:
            yield f"{' '.join(selector.split())}: an arrow"


def of_script(script: str) -> Iterator[str]:
    """Lines of a script of ours that choose a colour or a class by a sign."""
    for number, line in enumerate(script.splitlines(), 1):
        chosen = re.search(r"[<>]=?\s*0\s*\?", line) or re.search(r"\bMath\.sign\b", line)
        if chosen and re.search(r"(?i)colou?r|class|fill|stroke|#[0-9a-f]{3,8}\b|\bred\b|\bgreen\b", line):
            yield f"line {number}: {line.strip()}"


_ATTRIBUTE = r"""\b{}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))"""
_CLASSES, _STYLES = (re.compile(_ATTRIBUTE.format(name)) for name in ("class", "style"))
_PAINTED = re.compile(r"<(?!svg\b|path\b)(\w+)\b[^<>]*\s(?:fill|stroke|color|bgcolor)\s*=")


def of_page(html: str) -> list[str]:
    """Elements that are coloured where they stand, or named after a sign; and rules of a style in the page."""
    plain = re.sub(r"<script\b.*?</script>", "", html, flags=re.S)
    classes = {name for found in _CLASSES.findall(plain) for value in found for name in value.split()}
    styles = {value for found in _STYLES.findall(plain) for value in found}
    # The theme's own classes say nothing of numbers.
    own = (name for name in classes if not name.startswith(("md-", "twemoji")))
    return sorted(
        [f"class {name}" for name in own if _named_after_a_sign(name)]
        + [f"style {style}" for style in styles if _COLOURING.search(style)]
        + [f"<{tag}> is coloured by an attribute" for tag in _PAINTED.findall(plain)]
        + [rule for css in re.findall(r"<style[^>]*>(.*?)</style>", plain, re.S) for rule in of_css(css)]
    )
