"""How numbers get their bands. Every rule was chosen by simulation, which ``tests/calibration`` repeats.

Steps of one run depend on each other, so bands of one run rest on a long-run variance: equal-weighted cosines
(EWC; Lazarus, Lewis, Stock and Watson, "HAR Inference: Recommendations for Practice", JBES 36(4), 2018),
which give a t distribution with as many degrees as there are cosines. Runs are the unit of everything said
about a configuration.

Samples are one-dimensional, in the order in which they happened, finite, integer or float, in ``unit``.
``cut`` is the number of warm-up samples that the capture declares; it is never chosen from the data. An empty
sample is ``unknown``; samples that are not numbers are a ``ValueError``. A refusal depends on counts alone,
never on an effective sample size estimated from the same data: refusing so selects the samples that look too
steady.

What no count makes smaller, such as a clock's bound, is no part of a band: it is the estimate's ``systematic``, and what
is made from estimates carries it on.
"""

from akvsite.estimators._bounds import student_t
from akvsite.estimators._rules import FEWEST_SAMPLES, FEWEST_SAMPLES_P99, ONE_RUN
from akvsite.estimators.history import FEWEST_IN_HISTORY, with_history
from akvsite.estimators.looking import (
    FEWEST_PAIRS,
    LevelRun,
    LoopRun,
    Statistic,
    added_time,
    effect_of_looking,
    growth,
    one_pair,
    plain_time,
    step_at_level,
)
from akvsite.estimators.one_run import (
    FEWEST_ROUNDS,
    STEP,
    UNATTRIBUTED,
    budget,
    mean,
    mean_rows,
    paired_steps,
    quantile,
    quantile_rows,
    request_quantile,
    throughput,
    throughput_rows,
)
from akvsite.estimators.overlap import overlap_triples
from akvsite.estimators.runs import (
    difference_of_paired_runs,
    difference_of_two_runs,
    median_run,
    over_runs,
    ratio_of_paired_runs,
    ratio_of_two_runs,
)
from akvsite.estimators.shift import DECILES, decile_shift
from akvsite.estimators.systematic import with_clock

__all__ = [
    "DECILES",
    "FEWEST_IN_HISTORY",
    "FEWEST_PAIRS",
    "FEWEST_ROUNDS",
    "FEWEST_SAMPLES",
    "FEWEST_SAMPLES_P99",
    "ONE_RUN",
    "STEP",
    "UNATTRIBUTED",
    "LevelRun",
    "LoopRun",
    "Statistic",
    "added_time",
    "budget",
    "decile_shift",
    "difference_of_paired_runs",
    "difference_of_two_runs",
    "effect_of_looking",
    "growth",
    "mean",
    "mean_rows",
    "median_run",
    "one_pair",
    "over_runs",
    "overlap_triples",
    "paired_steps",
    "plain_time",
    "quantile",
    "quantile_rows",
    "ratio_of_paired_runs",
    "ratio_of_two_runs",
    "request_quantile",
    "step_at_level",
    "student_t",
    "throughput",
    "throughput_rows",
    "with_clock",
    "with_history",
]
