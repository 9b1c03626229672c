"""Timed repetitions of an experiment: overlap from the wall clock, each repeat a dot."""

from __future__ import annotations

import numpy as np

from akvsite import estimators
from akvsite.charts import trials
from akvsite.pages._html import Cell, link, number_of, table, text
from akvsite.pages._run import Run
from akvsite.pages.experiments import TITLES

TITLE = "Trials"


def write(run: Run) -> str:
    rows = run.desk.ask("trial_time", run_id=run.id, order="treatment,repeat,arm")
    if not rows:
        return ""
    treatments: dict[str, dict[int, dict[str, float]]] = {}
    for row in rows:
        treatments.setdefault(row["treatment"], {}).setdefault(row["repeat"], {})[row["arm"]] = row["mean_ns"]
    drawn, listed = [], []
    for treatment, repeats in treatments.items():
        whole = {r: arms for r, arms in repeats.items() if {"copy", "compute", "both"} <= arms.keys()}
        if not whole:
            continue
        sides = [np.array([arms[arm] for arms in whole.values()]) for arm in ("copy", "compute", "both")]
        number = run.marked(estimators.overlap_triples(*sides))
        drawn.append(trials.Treatment(treatment, list(number.dots), number))
        listed.append(
            [
                treatment,
                Cell(text(number.text())),
                number_of(len(whole), "repeat"),
                ", ".join(f"{dot:.2f}" for dot in number.dots),
            ]
        )
    if not drawn:
        if page := _page_of_its_own(run):
            return f"\n{text('These are the runs of an experiment, which has a page of its own:')} {page}.\n"
        return (
            "\n"
            + text(
                f"{number_of(len(rows), 'timed arm')}, not copy, compute and both in one repeat: no overlap can be told."
            )
            + "\n"
        )
    chart = trials.draw(
        "How much of the shorter of copy and compute hides under the other, by the wall clock?", drawn,
        run.footer(notes=("each repeat from the means of its timed repetitions",)), unit="fraction of the shorter",
        references=[("take turns", 0.0), ("the shorter hides wholly", 1.0)], axis="overlap",
    )  # fmt: skip
    return (
        "\n" + text("From the wall clock of copy alone, compute alone and both; no device record is used. Each repeat is the mean of its timed repetitions; a figure from their medians is another one.") + "\n\n"
        + run.desk.figure(run.page, "overlap", chart, "trial_time")
        + table(["treatment", "overlap and band", "n", "each repeat"], listed)
    )  # fmt: skip


def _page_of_its_own(run: Run) -> str:
    facts = run.desk.ask("fact_list", run_id=run.id, part="capture", key="experiment")
    title = next((TITLES[fact["value"]] for fact in facts if fact["value"] in TITLES), "")
    return link(title, f"../experiments/{run.name}.html") if title else ""
