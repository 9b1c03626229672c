"""How long the steps took: in their order, as a distribution, and as percentiles with their bands."""

from __future__ import annotations

import numpy as np

from akvsite import estimators
from akvsite.charts import bands, distribution, series
from akvsite.pages._html import Cell, table, text
from akvsite.pages._run import Run

TITLE = "Steps"


def write(run: Run) -> str:
    columns = run.desk.columns("step_time", run_id=run.id, nested=0, order="process_id,start_ns,step_id")
    if not len(columns["step_id"]):
        return "\nThis capture draws no step boundaries, so it cannot say how long a step took. Any level can: a step is wall clock.\n"
    parts = []
    kinds = list(
        dict.fromkeys(
            zip(
                columns["process_id"].tolist(),
                columns["kind"].tolist(),
                columns["source"].tolist(),
                strict=True,
            )
        )
    )
    for number, (process, kind, source) in enumerate(kinds):
        mask = (columns["process_id"] == process) & (columns["kind"] == kind) & (columns["source"] == source)
        ranks = columns["rank"][mask]
        rank = ranks[0] if len(ranks) and ranks[0] is not None and ranks[0] == ranks[0] else None
        label = f"{kind} steps" + (f", rank {int(rank)}" if rank is not None else "")
        parts.append(_one(run, columns, mask, label, source, f"-{number}" if number else ""))
    return "\n".join(parts)


def _one(
    run: Run, columns: dict[str, np.ndarray], mask: np.ndarray, label: str, source: str, suffix: str
) -> str:
    durations = columns["duration_ns"][mask]
    warm = columns["warm_up"][mask].astype(bool)
    open_steps = (
        int(np.count_nonzero([d is None or d != d for d in durations.tolist()]))
        if durations.dtype != np.int64
        else 0
    )
    if open_steps:
        known = np.array([d is not None and d == d for d in durations.tolist()])
        whole = durations[known].astype(np.int64)
        kept = whole[~warm[known]]
    else:
        kept = durations[~warm]
    cut = int(np.count_nonzero(warm))
    numbers = [
        ("mean", estimators.mean(kept, unit="ns")),
        *((f"p{round(100 * p)}", estimators.quantile(kept, p, unit="ns")) for p in (0.5, 0.95, 0.99)),
    ]
    numbers = [(name, run.marked(number)) for name, number in numbers]
    drawn_by = f"boundaries drawn by: {source}"
    declared = f"{cut} cut, declared" if cut else "no warm-up declared, none cut"
    notes = (
        f"{declared} · {drawn_by}",
        *((f"{open_steps} steps have no end: no duration",) if open_steps else ()),
    )
    footer = run.footer(notes=notes)
    headline = [(f"{name} step", number) for name, number in numbers[:2]]
    samples = [None if d is None or d != d else int(d) for d in durations.tolist()]
    out = [f"\n### {text(label)}\n" if suffix or label != "decode steps" else ""]
    out.append(
        run.desk.figure(
            run.page, f"steps{suffix}",
            series.draw(
                f"How long did each of the {label} take, in order?",
                samples, run.footer(method="every step, as captured", notes=notes), unit="ns", cut=cut, headline=headline, axis="step time",
            ),
            "step_time",
        )
    )  # fmt: skip
    if len(kept) > 1:
        out.append(
            run.desk.figure(
                run.page, f"step-distribution{suffix}",
                distribution.draw(
                    f"How are the times of the {label} distributed?", {label: kept.tolist()},
                    run.footer(method="empirical distribution, every step after the cut", notes=notes), unit="ns", axis="step time",
                ),
                "step_time",
            )
        )  # fmt: skip
    out.append(
        run.desk.figure(
            run.page, f"step-percentiles{suffix}",
            bands.draw(
                f"What are the mean and the percentiles of the {label}, and how far are they known?",
                [bands.Row(name, number) for name, number in numbers], footer, axis="step time",
            ),
            "step_time",
        )
    )  # fmt: skip
    out.append(
        table(["number", "value and band"], [[name, Cell(text(number.text()))] for name, number in numbers])
    )
    return "\n".join(out)
