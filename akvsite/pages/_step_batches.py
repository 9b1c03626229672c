"""How long steps take by the number of requests in their batch: never one number over kinds, sources or processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from akvsite import estimators
from akvsite.charts import bands
from akvsite.pages._html import Cell, counted, estimated, items, link, number_of, table, text
from akvsite.pages._listed import KNOWN, OF_NUMBERS, between, rows_link
from akvsite.pages._run import Run, finished, step_groups
from akvsite.pages._step_sums import per_step

#: Batch sizes that stand alone; with more of them, sizes between two powers of two stand together.
ALONE = 12
#: Lines of the chart, those of the largest groups.
DRAWN = 40


@dataclass(frozen=True)
class Batch:
    """Finished steps of one group whose batch holds ``least`` to ``most`` requests; ``ids`` and ``durations`` (n,) ns."""

    label: str
    least: int
    most: int
    ids: np.ndarray[Any, Any]
    durations: np.ndarray[Any, Any]
    #: What the rows of its steps have in common.
    chosen: dict[str, object]

    @property
    def size(self) -> str:
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


def write(run: Run, page: str) -> str:
    """A chart and a table for the page at ``page``; says so where no step tells its batch."""
    batches, untold = _batches(run)
    if not batches:
        return items(
            [
                text(
                    "How long a step takes by its batch is not known: no finished step says how many requests were in it. An engine's own counters or annotations would tell."
                )
            ]
        )
    tokens = _tokens(run)
    lines, rows = [], []
    for batch in batches:
        mean, half = (
            run.marked(estimators.mean(batch.durations, unit="ns")),
            run.marked(estimators.quantile(batch.durations, 0.5, unit="ns")),
        )
        rows.append(bands.Row(f"{batch.label}, batch {batch.size}", half))
        lines.append(
            [batch.label, Cell(text(batch.size), batch.least), estimated(half), estimated(mean), _how_many(run, batch), *_made(batch, tokens)]
        )  # fmt: skip
    notes: tuple[str, ...] = (
        "the batch counts requests, not the tokens of a prompt",
        "warm-up cut where declared",
    )
    if untold:
        notes += (f"{number_of(untold, 'step does', 'steps do')} not say the batch: in no number",)
    if len(rows) > DRAWN:
        notes += (f"{number_of(len(rows) - DRAWN, 'further line is', 'further lines are')} in the table",)
    chart = bands.draw(
        "How long does a step take, by the number of requests in its batch?",
        rows[:DRAWN], run.footer(notes=notes), axis="p50 of the step",
    )  # fmt: skip
    return run.desk.figure(page, "step-batches", chart, "step_time", **OF_NUMBERS, batch=KNOWN) + table(
        [
            "steps",
            "requests in the batch",
            "p50 step",
            "mean step",
            "how many",
            "tokens made a step",
            "tokens in all",
        ],
        lines,
        caption=f"Steps by their batch; {run.use}",
    )


def _how_many(run: Run, batch: Batch) -> Cell:
    """The steps of a batch, counted, which lead to their rows."""
    count = len(batch.ids)
    return Cell(link(f"{count:,}", rows_link(run.name, "steps", "../", **batch.chosen)), count)


def _batches(run: Run) -> tuple[list[Batch], int]:
    """Batches of each group of steps, smallest first, and how many finished steps do not tell theirs."""
    steps = step_groups(run.desk, run.id, warm_up=0)
    made: list[Batch] = []
    untold = 0
    for label, mask in steps.groups:
        kept = mask & finished(steps.columns["duration_ns"])
        sizes = np.array(
            [-1 if b is None or b != b else int(b) for b in steps.columns["batch"][kept].tolist()],
            dtype=np.int64,
        )
        ids, durations = (steps.columns[name][kept].astype(np.int64) for name in ("step_id", "duration_ns"))
        untold += int(np.count_nonzero(sizes < 0))
        for least, most in spans(np.unique(sizes[sizes >= 0]).tolist()):
            at = (sizes >= least) & (sizes <= most)
            chosen = OF_NUMBERS | steps.chosen(mask) | {"batch": between(least, most)}
            made.append(Batch(label, least, most, ids[at], durations[at], chosen))
    return made, untold


def spans(sizes: list[int]) -> list[tuple[int, int]]:
    """Each size, or where there are many the sizes between two powers of two that are there: least and most."""
    if len(sizes) <= ALONE:
        return [(size, size) for size in sizes]
    found: dict[int, list[int]] = {}
    for size in sizes:
        found.setdefault(max(size - 1, 0).bit_length(), []).append(size)
    return [(own[0], own[-1]) for own in found.values()]


def _tokens(run: Run) -> tuple[np.ndarray, np.ndarray] | None:
    """The step of each token on record and how many tokens its row holds; None where no token names its step."""
    if not run.listed["tokens"]:
        return None
    columns = run.desk.columns("row_token", run_id=run.id, order="token_id")
    steps, tokens = columns["step_id"].tolist(), columns["tokens"].tolist()
    known = [
        (step, held) for step, held in zip(steps, tokens, strict=True) if step is not None and step == step
    ]
    if not known or any(held is None or held != held for _, held in known):
        return None
    of, held = (np.array(values, dtype=np.int64) for values in zip(*known, strict=True))
    return of, held


def _made(batch: Batch, tokens: tuple[np.ndarray, np.ndarray] | None) -> list[Any]:
    if tokens is None:
        return [None, None]
    made = per_step(batch.ids, *tokens)
    if not made.any():
        # Tokens belong to the steps of another source.
        return [None, None]
    least, most = int(made.min()), int(made.max())
    each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return [Cell(text(f"{each} (counted)"), most), counted(int(made.sum()))]
