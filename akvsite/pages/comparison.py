"""One page a comparison: what differed beforehand, then the differences with their intervals. No verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akvsite.charts import Footer, bands, distribution, runs, shift
from akvsite.estimate import Estimate
from akvsite.pages import Desk, Page, Record, _control
from akvsite.pages._cited import cited_by
from akvsite.pages._compare import STATISTICS, Compared, OneRun, compare
from akvsite.pages._compare_facts import Difference
from akvsite.pages._compare_form import Part, formed
from akvsite.pages._compare_parts import OF_STEPS_ALONE
from akvsite.pages._compare_shown import csv_texts, drawn, sections
from akvsite.pages._html import (
    Cell,
    captured,
    counted,
    front_matter,
    items,
    link,
    number_of,
    stamp,
    table,
    text,
)
from akvsite.pages._listed import rows_link
from akvsite.pages._quoted import quoted
from akvsite.pages._stamps import Stamped, run_cell, run_link, stamped_runs, stamps, withdrawn


def write(desk: Desk) -> Iterator[Page]:
    members: dict[str, list[Record]] = {}
    for row in desk.ask("comparison_list", order="comparison,side,place"):
        members.setdefault(row["comparison"], []).append(row)
    for name, rows in members.items():
        labels = tuple(next(m["label"] for m in rows if m["side"] == side) for side in ("A", "B"))
        found = compare(desk, rows, (labels[0], labels[1]), rows[0]["design"])
        yield Page(f"comparisons/{name}", _page(desk, name, rows, found))
        for file, made in zip(FILES, csv_texts(found, withdrawn(desk, "comparison", name)), strict=True):
            yield Page(_file_at(name, file), made, ".csv")


#: Files of a comparison: every number, and the words of those numbers.
FILES = ("all", "words")


def _file_at(name: str, file: str) -> str:
    """Where a file of a comparison lies in the site, without its ending."""
    return f"data/comparisons/{name}/{file}"


def _page(desk: Desk, name: str, members: list[Record], found: Compared) -> str:
    page = f"comparisons/{name}"
    stamped = stamped_runs(desk)
    parts = [
        front_matter(title=members[0]["title"]),
        f"# {text(members[0]['title'])}\n",
        stamps(desk, "../", comparison=name),
        _outputs(found),
        f"\nA: {text(found.labels[0])} ({number_of(len(found.of_side('A')), 'run')}). B: {text(found.labels[1])} ({number_of(len(found.of_side('B')), 'run')}). "
        f"Design: {text(found.design)}. Use: {text(found.use)}.\n",
        quoted(members[0]["note"] or ""),
        cited_by(desk, "../", "comparisons", name),
        items(
            f"{run_link(one, stamped, '../')} is left out: {text(why)}" for one, why in found.left_out.items()
        )
        if found.left_out
        else "",
        "\n## What differs before any number\n",
        _facts(found.under("contract"), "Contract, host and software"),
        _load(found),
        _facts(found.under("capture"), "How each was captured, and its place in the design"),
        _not_stated(found),
        _own(found, stamped),
        "\n## Step time\n",
    ]
    if found.refusal:
        parts.append(f"\nNo difference is formed: {text(found.refusal)}.\n")
    all_at, words_at = (f"../{_file_at(name, file)}.csv" for file in FILES)
    footer = _Footers(name, found, withdrawn(desk, "comparison", name), _looked(desk, found))
    parts += [
        f"\nBeside the bands: {text(found.noise)}.\n",
        _numbers(found),
        _charts(desk, page, found, footer),
        sections(found, all_at, words_at, lambda part: _part(desk, page, found, footer, part)),
        "\n## Each run\n",
        _runs(found, stamped),
    ]
    return "\n".join(part for part in parts if part)


def _outputs(found: Compared) -> str:
    stated = [r for r in found.runs if ("contract", "output_hash") in r.facts]
    lines = [
        f"The outputs differ ({text(difference.key.replace('_', ' '))}): the two sides did not produce the same. "
        f"A: {text(difference.written('A'))}. B: {text(difference.written('B'))}."
        for difference in found.outputs
    ]
    if not lines and len(stated) < len(found.runs):
        lines.append(
            f"It is unknown whether the outputs are the same: {len(stated)} of {len(found.runs)} captures state their hash."
        )
    return (
        stamp(lines)
        if lines
        else f"\n{text('The output hash is the same in all runs.')}\n"
        if found.runs
        else ""
    )


def _facts(differences: Sequence[Difference], caption: str) -> str:
    known = [d for d in differences if d.known]
    if not known:
        return f"\n{text(caption)}: nothing that the captures state differs.\n"
    return _sides(known, f"{caption}: what is not the same in all runs")


def _sides(facts: Sequence[Difference], caption: str) -> str:
    rows = [[d.part, d.key, captured(d.written("A")), captured(d.written("B"))] for d in facts]
    return table(["part", "fact", "A", "B"], rows, caption=caption, prose=True)


def _not_stated(found: Compared) -> str:
    """Facts of which two values are not known: what a run does not state may be the same."""
    facts = [d for d in found.under("outputs", "contract", "capture") if not d.known]
    return _sides(facts, "Not stated by every run: whether it differs is unknown") if facts else ""


def _own(found: Compared, stamped: Stamped) -> str:
    """That there is more that a run states of itself alone, and where it stands."""
    facts = found.under("own", "load")
    if not facts:
        return ""
    runs_of = ", ".join(run_link(run.name, stamped, "../") for run in found.runs)
    return (
        f"\nWhat a run measured or read of itself, such as durations, processor time, peaks of memory and loads, is no difference before"
        f" the numbers: {number_of(len(facts), 'such fact')} stand with each run ({runs_of}).\n"
    )


def _load(found: Compared) -> str:
    """Whether the load was the same, and what is known of it for each run."""
    if not found.runs:
        return ""
    rows = [[run.name, run.side, captured(found.loads.fingerprints[run.name])] for run in found.runs]
    return f"\nLoad before the runs: {text(found.loads.words)}.\n" + table(
        ["run", "side", "load fingerprint"], rows, caption="Load before each run, as its capture states it"
    )


def _numbers(found: Compared) -> str:
    if not found.difference:
        return ""
    rows = [
        [label, *(Cell(text(numbers[name].text())) for name in STATISTICS)]
        for label, numbers in (
            ("A, over runs", {name: sides[0] for name, sides in found.sides.items()}),
            ("B, over runs", {name: sides[1] for name, sides in found.sides.items()}),
            (formed("B minus A", found.use), found.difference),
            (formed("B over A", found.use), found.ratio),
        )
    ]
    return table(["statistic of a run", *STATISTICS], rows, prose=True)


@dataclass(frozen=True)
class _Footers:
    """The printed line of this comparison's charts. What a screenshot must not lose stands in each of them."""

    name: str
    found: Compared
    withdrawn: tuple[str, ...]
    #: What looking on cost, for the printed line.
    looked: str

    def __call__(
        self,
        *,
        method: str = "",
        notes: tuple[str, ...] = (),
        seen: str = "not from device records",
        clock: str = "host only",
    ) -> Footer:
        runs_of = self.found.runs
        levels = sorted({r.listed["level"] for r in runs_of})
        roles = sorted({r.listed["role"] for r in runs_of})
        outputs = ("THE OUTPUTS OF THE TWO SIDES DIFFER",) if self.found.outputs else ()
        out = self.found.left_out
        left_out = (f"left out: {', '.join(out)}",) if out else ()
        return Footer(
            of=f"comparison {self.name}",
            level=f"{' and '.join(levels)}, {' and '.join(roles)} host",
            control=self.looked,
            seen=seen,
            clock=clock,
            method=method,
            use=self.found.use,
            stamps=(*self.withdrawn, *outputs),
            notes=(*left_out, f"load: {self.found.loads.words}", self.found.noise, *notes),
        )


def _looked(desk: Desk, found: Compared) -> str:
    """What looking on cost the runs that were looked at: each different statement once."""
    lines = [
        (r.listed["level"], _control.line(desk, r.listed["run_id"], r.listed["level"])) for r in found.runs
    ]
    known = list(dict.fromkeys(line for line in lines if line[1]))
    return known[0][1] if len(known) == 1 else "; ".join(f"{level}: {said}" for level, said in known)


def _charts(desk: Desk, page: str, found: Compared, footer: _Footers) -> str:
    a, b = (f"A: {found.labels[0]}", f"B: {found.labels[1]}")
    names = {"A": a, "B": b}
    paired = found.design == "ABBA pairs"
    parts = []
    for name in ("p50", "mean"):
        dots = [
            runs.Run(names[r.side], r.name, r.numbers[name], f"pair {r.place}" if paired else "")
            for r in found.runs
            if len(r.steps)
        ]
        sides: list[tuple[str, Estimate]] = (
            list(zip((a, b), found.sides[name], strict=True)) if found.sides else []
        )
        headline = [("B minus A", found.difference[name])] if found.difference else []
        if dots:
            chart = runs.draw(
                f"What is the {name} step of each run, and of each side?",
                dots,
                footer(),
                bands=sides,
                headline=headline,
                axis=f"{name} step",
            )
            parts.append(desk.figure(page, f"runs-{name}", chart, "step_time"))
    samples = {names[side]: [x for r in found.of_side(side) for x in r.steps.tolist()] for side in ("A", "B")}
    if all(samples.values()) and not found.refusal:
        chart = distribution.draw(
            "How are the step times of each side distributed?", samples,
            footer(method="empirical distribution, the steps of a side's runs together", notes=("the runs of a side differ among themselves: see their dots",)),
            unit="ns", axis="step time",
        )  # fmt: skip
        parts.append(desk.figure(page, "distribution", chart, "step_time"))
    if found.shift:
        deciles = [(round(100 * p), e) for p, e in found.shift.items()]
        chart = shift.draw(
            "By how much does each decile of the step time differ, B minus A?",
            deciles,
            footer(),
            sides=(a, b),
            axis="B minus A",
        )
        parts.append(desk.figure(page, "shift", chart, "step_time"))
    if found.refusal and not found.difference:
        rows = [bands.Row(r.name, r.numbers["p50"], names[r.side]) for r in found.runs if len(r.steps)]
        if rows:
            chart = bands.draw(
                "What is the p50 step of each run, side by side?", rows, footer(), axis="p50 step"
            )
            parts.append(desk.figure(page, "side-by-side", chart, "step_time"))
    return "\n".join(parts)


#: What is said of the clocks where device times are in a chart; of the others the host's clock alone.
_CLOCKS = {
    "kernels": "device durations as recorded; no host time is in them",
    "tokens": "host, and device milestones with the bound that stands beside them",
}


def _part(desk: Desk, page: str, found: Compared, footer: _Footers, part: Part) -> str:
    rows, axis = drawn(part, {"A": f"A: {found.labels[0]}", "B": f"B: {found.labels[1]}"})
    if not any(row.estimate.value is not None for row in rows):
        return ""
    chart = bands.draw(
        part.asks, rows,
        footer(
            notes=(*part.notes, *([part.refusal] if part.refusal else []), f"noise floor {OF_STEPS_ALONE}"),
            seen=part.seen or "not from device records", clock=_CLOCKS.get(part.name, "host only"),
        ),
        axis=axis,
    )  # fmt: skip
    return desk.figure(page, part.name, chart, part.question)


def _steps_of(run: OneRun) -> Cell:
    """How many steps the numbers of a run are made from, which lead to their rows."""
    taken = run.groups.largest()
    if taken is None:
        return counted(0)
    kind, source = (str(run.groups.columns[of][taken[1]][0]) for of in ("kind", "source"))
    address = rows_link(run.name, "steps", "../", kind=kind, source=source, nested=0, warm_up=0)
    return Cell(link(f"{len(run.steps):,}", address), len(run.steps))


def _runs(found: Compared, stamped: Stamped) -> str:
    def row(run: OneRun) -> list[Cell | str | int | None]:
        return [
            run_cell(run.name, stamped, "../"), run.side,
            *(Cell(text(run.numbers[s].text()), run.numbers[s].value) for s in STATISTICS),
            run.place, _steps_of(run), run.facts.get(("contract", "output_hash"), "not stated"),
        ]  # fmt: skip

    return table(
        ["run", "side", *STATISTICS, "place", "steps after the cut", "output hash"],
        [row(r) for r in found.runs],
        sortable=True,
    )
