"""The charts and tables over all tokens of a run: where their time goes, and the longest lives."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import numpy as np

from akvsite.charts import bands, budget
from akvsite.estimate import written
from akvsite.milestones import TOKEN
from akvsite.pages import _token_proof
from akvsite.pages._html import Cell, counted, estimated, link, number_of, table, text
from akvsite.pages._listed import LATER, OF_LIVES
from akvsite.pages._run import Run
from akvsite.pages._token_life import DETOKENISED, DEVICE, Lives, Mask, Sampled, between_records, segment_name
from akvsite.pages.sections.tokens import ON_DEVICE

#: Kinds of steps that have a chart of their own, and lives in each list, at most.
DRAWN, LONGEST = 3, 10
#: Numbers of tokens in a step that have a row each; beyond, they are put together in ranges.
ROWS = 12

_ABOUT = (
    "The life of a request's first token begins at its arrival, that of a later one where its step was scheduled; it ends at the last "
    "milestone on record. Its segments add up to it. A stretch over a milestone that is not on record is unknown inside, and stands apart: "
    "it is nobody's. Tokens of one step share most of their times, so the sample is the step: the mean over its tokens. The mean of a "
    "segment is over the tokens that have it, counted beside it: where not all have the same segments, means do not add up."
)
_LONGEST = (
    "An order of what is on record, no estimate: one life each. What a segment is long with is associated with it, and no cause; what would "
    "show a cause stands above, beside the token. "
    "First tokens have a list of their own, since their lives begin at their request's arrival."
)
_GAPS = (
    "What its client waited from one chunk of a request to the next, in the order of that wait: no estimate. The life of a later token "
    "begins where its step was scheduled, so the wait before it is in no life. A chunk with several tokens is told of by the first of them."
)
_OF_A_LIFE = ("life", "longest segment", "unknown inside", "step", "kind of step")
_HELD = (
    "{held} of {known} tokens (counted) were detokenised at the same time as a later token of their request, which a later step made: "
    "their text was held back until that token came. What such a life has in “until detokenised” is the wait for that token; the "
    "runner's phase of that name, in the token's own step, is another and shorter time."
)


def write(run: Run, lives: Lives) -> str:
    """Charts and tables; empty where no token has a life."""
    if not lives.has.any():
        return ""
    return "\n".join(
        [
            "\n## Where the time of the tokens goes\n",
            f"{text(_ABOUT)}\n",
            _left_out(lives),
            _held_back(run, lives),
            *_kinds(run, lives),
            _by_place(run, lives),
            _by_company(run, lives),
            _longest(run, lives),
        ]
    )


def _left_out(lives: Lives) -> str:
    """What no number here is made from, counted."""
    parts = [
        (np.count_nonzero(lives.has & lives.warm_up), "of steps that are declared as warm-up"),
        (np.count_nonzero(lives.has & (lives.steps < 0)), "whose step is not known"),
        (np.count_nonzero(~lives.has), "without two milestones"),
    ]
    said = [f"{count:,} {what}" for count, what in parts if count]
    return f"{text('Tokens that are in no number here, counted: ' + ', '.join(said) + '.')}\n" if said else ""


def _held_back(run: Run, lives: Lives) -> str:
    """How many tokens came out with a later one: their time until then is a wait for it, whatever its segment is called."""
    held, known = np.count_nonzero(lives.held >= 0), len(lives.held)
    if not held:
        return ""
    return f"{text(_HELD.format(held=f'{held:,}', known=f'{known:,}'))} {text(_token_proof.holds(run))}\n"


def _footer_seen(run: Run, lives: Lives, mask: Mask) -> str:
    own = mask[lives.owner]
    device = [TOKEN.index(name) for name in ON_DEVICE]
    least = [
        len(np.unique(lives.owner[own & ((lives.place == at) | (lives.to_place == at))])) for at in device
    ]
    return f"device milestones of {min(least):,} of {number_of(int(np.count_nonzero(mask)), 'token')}"


def _kinds(run: Run, lives: Lives) -> list[str]:
    kinds = np.array(["" if k is None or k != k else str(k) for k in lives.kind.tolist()])
    names, tokens = np.unique(kinds[lives.counted], return_counts=True)
    largest = [names[n] for n in np.argsort(-tokens, kind="stable")]
    made = [
        _kind(run, lives, lives.counted & (kinds == name), name, n) for n, name in enumerate(largest[:DRAWN])
    ]
    if len(largest) > DRAWN:
        further = number_of(len(largest) - DRAWN, "further kind of steps has", "further kinds of steps have")
        made.append(f"\n{text(f'{further} no chart.')}\n")
    return made


def _kind(run: Run, lives: Lives, mask: Mask, kind: str, number: int) -> str:
    what = f"{kind} steps" if kind else "steps whose kind is not known"
    sampled = Sampled(run, lives, mask)
    whole, tokens = int(lives.life[mask].sum()), int(np.count_nonzero(mask))
    regions, rows = [], []
    stretches = lives.stretches(mask)
    for stretch in stretches:
        mean = sampled.stretch(stretch)
        name = segment_name(*stretch)
        own = mask[lives.owner] & lives.of(stretch)
        having = int(np.count_nonzero(mask & lives.having(stretch)))
        total, known = int(lives.ns[own].sum()), stretch[1] == stretch[0] + 1
        early = int(np.count_nonzero(lives.ns[own] < 0))
        part = "" if having == tokens else f", {having:,} of {number_of(tokens, 'token')}"
        regions.append(budget.Region(name + part, mean, known))
        rows.append([name, estimated(mean), _share(total, whole), _of(having, tokens), _total(total), counted(early)])  # fmt: skip
    unknown = int(lives.unknown[mask].sum())
    if not unknown and all(region.attributed for region in regions):
        regions.append(budget.Region("unknown", sampled.nothing(), attributed=False))
    life = sampled.life()
    rows += [
        ["unknown inside, in all", "as above", _share(unknown, whole), _of(_holes(lives, mask), tokens), _total(unknown), "as above"],
        ["the life", estimated(life), _share(whole, whole), _of(tokens, tokens), _total(whole), counted(int(np.count_nonzero(lives.life[mask] < 0)))],
    ]  # fmt: skip
    alike = between_records(run) if DEVICE in stretches else ""
    footer = run.footer(
        seen=_footer_seen(run, lives, mask),
        axis="both" if any(TOKEN[place] in ON_DEVICE for ends in stretches for place in ends) else "host",
        notes=(
            f"one sample a step, the mean over its tokens: {number_of(len(sampled.tokens), what.replace('steps', 'step', 1), what)}, {number_of(tokens, 'token')} (counted)",
            f"unknown inside: {_percent(unknown, whole)} of all their lives",
            *([alike] if alike else []),
        ),
    )
    drawing = budget.draw(
        f"Where does the time of a token go, in {what}?",
        regions, footer, headline=[("mean life", life)], axis="mean over the tokens that have it",
    )  # fmt: skip
    key = f"life-{number}" if number else "life"
    return run.desk.figure(
        f"tokens/{run.name}", key, drawing, "token_life_segment", **OF_LIVES, kind=kind or None
    ) + table(
        [
            "segment",
            "mean of a token that has it",
            "share of all lives",
            "tokens that have it",
            "sum over tokens",
            "out of order",
        ],
        rows,
        caption=f"Segments of lives, {what}; sums and shares are totals of what is on record, unknown stretches last{alike and f'; {alike}'}",
    )


def _of(having: int, tokens: int) -> Cell:
    return Cell(text(f"{having:,} of {tokens:,}"), having)


def _holes(lives: Lives, mask: Mask) -> int:
    """How many of these tokens have a stretch that is unknown inside."""
    inside = mask[lives.owner] & (lives.to_place > lives.place + 1)
    return len(np.unique(lives.owner[inside]))


def _total(ns: int) -> Cell:
    return Cell(text(f"{written(ns, 'ns')} (total)"), ns)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole > 0 else "an unknown share"


def _share(part: int, whole: int) -> Cell:
    return Cell(text(_percent(part, whole)), part / whole) if whole > 0 else Cell("unknown")


def _by_place(run: Run, lives: Lives) -> str:
    """By place in the output, in ranges that double."""
    groups = []
    for power in range(int(lives.number.max()).bit_length() + 1):
        low, high = (0, 0) if not power else (2 ** (power - 1), 2**power - 1)
        label = f"{low}" if low == high else f"{low} to {high}"
        groups.append((f"token{'s' if high > low else ''} {label}" + ("" if low else ", from its schedule"), lives.counted & (lives.number >= low) & (lives.number <= high)))  # fmt: skip
    return _grouped(
        run,
        lives,
        groups,
        "life-place",
        "How long does a token live, by its place in its request's output?",
        "place",
        ("places count from 0; how long a request waited for its first step stands in the table alone",),
    )


def _by_company(run: Run, lives: Lives) -> str:
    """By how many tokens the step made; a first token's life is of its request's wait, and is not in it."""
    later = lives.counted & (lives.number > 0)
    sizes = np.unique(lives.in_step[later]).tolist()
    if len(sizes) > ROWS:
        powers = range(1, int(sizes[-1]).bit_length() + 1)
        bounds = [(2 ** (power - 1), 2**power - 1) for power in powers]
    else:
        bounds = [(size, size) for size in sizes]
    groups = [
        (
            number_of(low, "token") if low == high else f"{low} to {high} tokens",
            later & (lives.in_step >= low) & (lives.in_step <= high),
        )
        for low, high in bounds
    ]
    return _grouped(
        run,
        lives,
        groups,
        "life-concurrency",
        "How long does a token live, by how many tokens its step makes?",
        "tokens of the step",
        ("first tokens are left out: their lives begin at their request's arrival",),
        number=LATER,
    )


def _grouped(
    run: Run,
    lives: Lives,
    groups: Sequence[tuple[str, Mask]],
    key: str,
    question: str,
    column: str,
    notes: tuple[str, ...],
    **chosen: object,
) -> str:
    """A chart of mean lives by group, and a table of their segments."""
    found = [(label, mask, Sampled(run, lives, mask)) for label, mask in groups if mask.any()]
    if not found:
        return ""
    drawn = [bands.Row(label, sampled.life(without_wait=True)) for label, _, sampled in found]
    rows = [
        [label, segment_name(*stretch), estimated(sampled.stretch(stretch)), counted(_steps(lives, mask & lives.having(stretch))), _of(int((mask & lives.having(stretch)).sum()), int(mask.sum()))]
        for label, mask, sampled in found
        for stretch in lives.stretches(mask)
    ]  # fmt: skip
    every = np.logical_or.reduce([mask for _, mask, _ in found])
    footer = run.footer(
        seen=_footer_seen(run, lives, every),
        notes=("one sample a step, the mean over its tokens of the row", *notes),
    )
    chart = bands.draw(question, drawn, footer, axis="mean life of a token")
    inside = table(
        [column, "segment", "mean of a token that has it", "steps", "tokens that have it"], rows, caption="Segments of each row", sortable=True
    )  # fmt: skip
    return run.desk.figure(
        f"tokens/{run.name}", key, chart, "token_life_segment", **OF_LIVES, **chosen
    ) + _folded(f"Segments by {column}", inside)


def _steps(lives: Lives, mask: Mask) -> int:
    return len(np.unique(lives.steps[mask]))


def _folded(title: str, inside: str) -> str:
    return f'\n<details class="akv-fold"><summary>{text(title)}</summary>\n{inside.strip()}\n</details>\n'


def _longest(run: Run, lives: Lives) -> str:
    parts = ["\n## Longest lives\n", f"{text(_LONGEST)}\n"]
    if lives.warm_up.any():
        parts.append(
            f"{text('Tokens of steps that are declared as warm-up are not in it.')}{_of_warm_up(run, lives)}\n"
        )
    for title, mask in (("First tokens", lives.number == 0), ("Later tokens", lives.number > 0)):
        own = np.flatnonzero(mask & lives.has & ~lives.warm_up)
        if not len(own):
            continue
        longest = own[np.argsort(-lives.life[own], kind="stable")][:LONGEST]
        parts.append(
            table(
                ["token", *_OF_A_LIFE],
                [_life(run, lives, int(at)) for at in longest],
                caption=f"{title}: the {len(longest)} longest of {number_of(len(own), 'life', 'lives')}, one record each",
            )
        )
    return "\n".join([*parts, _gaps(run, lives)])


def _of_warm_up(run: Run, lives: Lives) -> str:
    """Where to find the longest of those that are left out."""
    own = np.flatnonzero(lives.warm_up & lives.has)
    if not len(own):
        return ""
    at = int(own[np.argmax(lives.life[own])])
    token = link(f"{lives.request[at]}, token {lives.number[at]}", f"{quote(run.name)}.html#token={at}")
    return f" The longest of them is that of {token}, {text(_exact(int(lives.life[at])))}."


def _gaps(run: Run, lives: Lives) -> str:
    """What a client waited longest for, which no life shows: that of a later token begins where its step was scheduled."""
    own = np.flatnonzero((lives.gap >= 0) & lives.has & ~lives.warm_up)
    if not len(own):
        return ""
    longest = own[np.argsort(-lives.gap[own], kind="stable")][:LONGEST]
    rows = []
    for at in longest.tolist():
        token, *life = _life(run, lives, at)
        rows.append([token, Cell(text(_exact(int(lives.gap[at]))), int(lives.gap[at])), *life])
    return f"\n### Longest gaps at the client\n\n{text(_GAPS)}\n" + table(
        ["token that ended it", "gap at the client", *_OF_A_LIFE],
        rows,
        caption=f"Gaps at the client: the {len(rows)} longest of {number_of(len(own), 'gap')}, one record each",
    )


def _life(run: Run, lives: Lives, at: int) -> list[object]:
    own = np.flatnonzero(lives.owner == at)
    most = own[np.argmax(lives.ns[own])]
    life, unknown = int(lives.life[at]), int(lives.unknown[at])
    longest = int(lives.ns[most])
    name = segment_name(int(lives.place[most]), int(lives.to_place[most]))
    later, with_it = int(lives.held[at]), ""
    if later >= 0 and lives.to_place[most] == DETOKENISED:
        said = f"held back, came out with token {lives.number[later]}"
        with_it = f" ({link(said, f'{quote(run.name)}.html#token={later}')})"
    label = f"{lives.request[at]}, token {lives.number[at]}"
    step = lives.step[at]
    return [
        Cell(link(label, f"{quote(run.name)}.html#token={at}"), label),
        Cell(text(_exact(life)), life),
        Cell(text(name) + with_it + text(f", {_exact(longest)}, {_percent(longest, life)}"), longest),
        Cell(text(f"{_exact(unknown)}, {_percent(unknown, life)}" if unknown else "none"), unknown),
        Cell("unknown") if step is None or step != step else counted(int(step)),
        None if lives.kind[at] is None or lives.kind[at] != lives.kind[at] else str(lives.kind[at]),
    ]


def _exact(ns: int) -> str:
    """A length as it is on record, to the nanosecond."""
    return f"{ns:,} ns"
