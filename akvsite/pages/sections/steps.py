"""How long the steps took: in their order, as a distribution, and as percentiles with their bands."""

from __future__ import annotations

import numpy as np

from akvsite import estimators
from akvsite.charts import bands, distribution, series
from akvsite.pages._history import by_history
from akvsite.pages._html import Cell, link, number_of, table, text
from akvsite.pages._listed import OF_NUMBERS
from akvsite.pages._run import Run, StepGroups, finished, statistics, step_groups

TITLE = "Steps"

STEADINESS = "The bands hold for a steady series: where the chart above drifts or jumps, they may hold less often than 95 %."


def write(run: Run) -> str:
    steps = step_groups(run.desk, run.id)
    return "\n".join(
        _one(run, steps, mask, label, f"-{number}" if number else "")
        for number, (label, mask) in enumerate(steps.groups)
    )


def _one(run: Run, steps: StepGroups, mask: np.ndarray, label: str, suffix: str) -> str:
    columns, of = steps.columns, {"nested": 0, **steps.chosen(mask)}
    durations = columns["duration_ns"][mask]
    warm = columns["warm_up"][mask].astype(bool)
    whole = finished(durations)
    kept = durations[whole & ~warm].astype(np.int64)
    cut = int(np.count_nonzero(warm))
    numbers, history = by_history(run, label, statistics(run, kept))
    declared = (
        "no warm-up declared, none cut" if run.warm_up_steps is None and not cut else f"{cut} cut, declared"
    )
    notes: tuple[str, ...] = (f"{declared} · boundaries drawn by: {columns['source'][mask][0]}",)
    if not whole.all():
        notes += (
            f"{number_of(int(np.count_nonzero(~whole)), 'step has', 'steps have')} no end, or no time that can be used: no duration",
        )
    headline = numbers[:2]
    samples = [None if d is None or d != d else int(d) for d in durations.tolist()]
    out = [f"\n### {text(label)}\n" if suffix or label != "decode steps" else ""]
    out.append(
        run.desk.figure(
            run.page, f"step-series{suffix}",
            series.draw(
                f"How long did each of the {label} take, in order?",
                samples, run.footer(method="every step, as captured", notes=notes), unit="ns", cut=cut, headline=headline, axis="step time",
            ),
            "step_time", **of,
        )
    )  # fmt: skip
    of |= OF_NUMBERS
    if len(kept) > 1:
        out.append(
            run.desk.figure(
                run.page, f"step-distribution{suffix}",
                distribution.draw(
                    f"How are the times of the {label} distributed?", {label: kept.tolist()},
                    run.footer(method="empirical distribution, every step after the cut", notes=notes), unit="ns", axis="step time",
                ),
                "step_time", **of,
            )
        )  # fmt: skip
    out.append(
        run.desk.figure(
            run.page, f"step-percentiles{suffix}",
            bands.draw(
                f"What are the mean and the percentiles of the {label}, and how far are they known?",
                [bands.Row(name, number) for name, number in numbers],
                run.footer(notes=(*notes, history) if history else notes), axis="step time",
            ),
            "step_time", **of,
        )
    )  # fmt: skip
    out.append(
        table(
            [
                "number",
                "value and band",
                *(["the configuration, by history"] if any(e.also for _, e in numbers) else []),
            ],
            [
                [name, Cell(text(e.text())), *([Cell(text(e.also.text()), e.also.value)] if e.also else [])]
                for name, e in numbers
            ],
        )
        + (f"\n{text(history[0].upper() + history[1:])}.\n" if history else "")
    )
    if len(kept) >= estimators.FEWEST_SAMPLES:
        out.append(f"\n{text(STEADINESS)} See {link('Method', '../method.html#estimate-quantile')}.\n")
    return "\n".join(out)
