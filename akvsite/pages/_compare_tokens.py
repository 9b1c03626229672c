"""What a run's tokens and requests waited for: from milestone to milestone, TTFT, TPOT."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akvsite import estimators
from akvsite.estimate import Estimate, unknown
from akvsite.pages._compare_form import Key, Measured
from akvsite.pages._compare_steps import Subject, lacking
from akvsite.pages._listed import KNOWN, OF_LIVES
from akvsite.pages._run import finished
from akvsite.pages.sections.requests import in_flight
from akvsite.pages.sections.tokens import ON_DEVICE, word
from akvsite.wording import number_of

PERCENTILES = (0.5, 0.95)


def tokens(subject: Subject) -> Measured:
    """Percentiles of the time from each milestone of a token to its next; a step is one sample, the mean over its tokens."""
    if not subject.listed["tokens"]:
        return lacking("milestones of tokens", "runner")
    columns = subject.desk.columns(
        "token_step", run_id=subject.run_id, warm_up=0, order="process_id,step,place"
    )
    kinds = np.array(
        [str(k) if k is not None and k == k else "" for k in columns["kind"].tolist()], dtype=object
    )
    numbers: dict[Key, Estimate] = {}
    chosen: dict[str, dict[str, object]] = {}
    for kind in sorted(set(kinds.tolist())):
        for pair, own in _pairs(columns, kinds == kind):
            label = f"{word(pair[0])} to {word(pair[1])}" + (f", {kind} steps" if kind else "")
            chosen[label] = OF_LIVES | {"step": KNOWN, "kind": kind or None}
            if pair[0] == "arrived":
                chosen[label]["number"] = 0
            for p in PERCENTILES:
                made = estimators.quantile(columns["mean_ns"][own].astype(np.int64), p, unit="ns")
                if (pair[0] in ON_DEVICE) != (pair[1] in ON_DEVICE):
                    made = _with_bound(made, columns["bound_ns"][own])
                numbers[label, f"p{round(100 * p)}"] = made
    if not numbers:
        return Measured(lacks="tokens without two milestones of a step; level runner would tell")
    return Measured(numbers, lambda key: unknown("no token has both milestones", "ns"), chosen=chosen)


def _pairs(columns: dict[str, np.ndarray], mask: np.ndarray) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """Pairs of neighbouring milestones, in their order, with their rows, (n,) bool."""
    milestone, following = (columns[name].astype(str) for name in ("milestone", "next"))
    found = dict.fromkeys(
        zip(columns["place"][mask].tolist(), milestone[mask].tolist(), following[mask].tolist(), strict=True)
    )
    for _, first, second in sorted(found):
        yield (first, second), mask & (milestone == first) & (following == second)


def _with_bound(made: Estimate, column: np.ndarray) -> Estimate:
    bounds = [float(b) if known else None for b, known in zip(column.tolist(), finished(column), strict=True)]
    return estimators.with_clock(made, bounds, "unproven" if None in bounds else "bounded")


def requests(subject: Subject) -> Measured:
    """Percentiles of TTFT and TPOT over the requests that completed, in the order in which they did."""
    if not subject.listed["requests"]:
        return lacking("requests", "runner")
    columns = subject.desk.columns("request_time", run_id=subject.run_id, order="end_ns,request_id")
    done = columns["ok"] == 1
    concurrency = in_flight(subject.desk, subject.run_id)
    numbers: dict[Key, Estimate] = {}
    for name, key in (("TTFT", "ttft_ns"), ("TPOT", "tpot_ns")):
        own = finished(columns[key]) & done
        for p in PERCENTILES if own.any() else ():
            numbers[name, f"p{round(100 * p)}"] = estimators.request_quantile(
                columns[key][own].astype(np.int64), p, unit="ns", concurrency=concurrency
            )
    if not numbers:
        return Measured(lacks="no completed request with a time to its first token or per token")
    of = f"{np.count_nonzero(done):,} of {number_of(len(done), 'request')} completed"
    chosen = {"TTFT": {"ok": 1, "ttft_ns": KNOWN}, "TPOT": {"ok": 1, "tpot_ns": KNOWN}}
    return Measured(
        numbers, lambda key: unknown(f"no completed request has a {key[0]}", "ns"), of=of, chosen=chosen
    )
