"""Experiments, and what people wrote down: comparisons, histories, claims, retractions."""

from __future__ import annotations

from typing import Annotated

from akvsite.columns import Col, Row, describes
from akvsite.tables._shared import OF_PROCESS, ProcessId, RunId


@describes
class Trial(Row):
    """One timed repetition of one arm of an experiment, from the wall clock."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, repeat",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    arm: Annotated[str, Col("what was timed: `copy`, `compute`, `both`, ...")]
    treatment: Annotated[str, Col("how the arm was run, such as `timing on`")]
    repeat: Annotated[int, Col("number of the repeat, in the order in which they were run")]
    number: Annotated[int, Col("place inside the repeat")]
    duration_ns: Annotated[int, Col("wall-clock time", "ns")]


@describes
class Comparison(Row):
    """Two sets of runs that are shown side by side."""

    __key__ = "name"
    name: Annotated[str, Col("name of the comparison")]
    title: Annotated[str, Col("the question it answers")]
    design: Annotated[str, Col("`ABBA pairs`, `unpaired` or `two runs`")]
    note: Annotated[str | None, Col("what its maker says about it")]


@describes
class ComparisonRun(Row):
    """A run on one side of a comparison."""

    __key__ = "comparison, side, place"
    __foreign__ = ("FOREIGN KEY (comparison) REFERENCES comparison (name) ON DELETE CASCADE",)
    comparison: Annotated[str, Col("name of the comparison")]
    side: Annotated[str, Col("`A` or `B`")]
    label: Annotated[str, Col("what the side is called")]
    place: Annotated[int, Col("place on its side, from 0; in ABBA pairs the pair")]
    run_name: Annotated[str, Col("name of the run")]


@describes
class History(Row):
    """Archived runs of one host and contract, named by a person: their spread stands for that between runs."""

    __key__ = "name"
    name: Annotated[str, Col("name of the history")]
    note: Annotated[str | None, Col("what its maker says about it")]


@describes
class HistoryRun(Row):
    """A run of a history; a run is in one at most."""

    __key__ = "run_name"
    __foreign__ = ("FOREIGN KEY (history) REFERENCES history (name) ON DELETE CASCADE",)
    __indexes__ = ("history",)
    run_name: Annotated[str, Col("name of the run")]
    history: Annotated[str, Col("name of the history")]
    place: Annotated[int, Col("place in it, from 0")]


@describes
class Claim(Row):
    """A falsifiable statement with the runs it stands on."""

    __key__ = "claim"
    claim: Annotated[str, Col("id of the claim")]
    date: Annotated[str, Col("date, ISO 8601")]
    state: Annotated[str, Col("`open`, `supported` or `retracted`")]
    scope: Annotated[str, Col("evidence scope: application, timeline, kernel, source or instruction")]
    statement: Annotated[str, Col("the statement")]
    body: Annotated[str, Col("its text, Markdown")]


@describes
class ClaimRun(Row):
    """A run or comparison that a claim cites."""

    __key__ = "claim, kind, name"
    claim: Annotated[str, Col("id of the claim")]
    kind: Annotated[str, Col("`run`, `control` or `comparison`")]
    name: Annotated[str, Col("name of the run or comparison")]


@describes
class Retraction(Row):
    """A claim withdrawn in writing."""

    __key__ = "retraction"
    retraction: Annotated[str, Col("id of the retraction")]
    date: Annotated[str, Col("date, ISO 8601")]
    claim: Annotated[str, Col("the claim it withdraws")]
    control: Annotated[str | None, Col("the run that showed it")]
    reason: Annotated[str, Col("why")]
    body: Annotated[str, Col("its text, Markdown")]
