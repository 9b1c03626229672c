"""Experiments, and what people wrote down: comparisons, histories, claims, retractions, inquiries."""

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
    """A falsifiable statement with the change it predicts."""

    __key__ = "claim"
    claim: Annotated[str, Col("id of the claim")]
    date: Annotated[str, Col("date, ISO 8601")]
    state: Annotated[str, Col("`open`, `supported` or `retracted`")]
    scope: Annotated[str, Col("evidence scope: application, timeline, kernel, source or instruction")]
    statement: Annotated[str, Col("the statement")]
    body: Annotated[str, Col("its text, Markdown")]
    predicts: Annotated[str | None, Col("what would be seen if it holds")]
    about: Annotated[
        str | None,
        Col(
            "what it is about, comma-separated: `overlap`, `serialisation`, `waiting`, `idleness`, `time`, `memory` or `other`"
        ),
    ]


@describes
class ClaimRun(Row):
    """What a claim cites: runs, comparisons, charts and its control."""

    __key__ = "claim, kind, name"
    claim: Annotated[str, Col("id of the claim")]
    kind: Annotated[str, Col("`run`, `comparison`, `chart` or `control`")]
    name: Annotated[
        str, Col("name of the run or comparison; of a chart its page and its key, such as `runs/a#steps`")
    ]


@describes
class ClaimEvent(Row):
    """What happened to a claim, in order. Its file is only ever appended to, and each entry seals those before it."""

    __key__ = "claim, place"
    claim: Annotated[str, Col("id of the claim")]
    place: Annotated[int, Col("place in its history, from 0")]
    date: Annotated[str, Col("date, ISO 8601")]
    event: Annotated[str, Col("`made`, `cited`, `supported`, `opened` or `retracted`")]
    kind: Annotated[
        str | None, Col("of what it names: `run`, `comparison`, `chart`, `control` or `retraction`")
    ]
    name: Annotated[str | None, Col("what it names")]
    because: Annotated[str | None, Col("the reason, where one is given")]
    sha256: Annotated[str | None, Col("hash of the retraction's file, as the claim names it")]
    seal: Annotated[str, Col("hash over this entry and the seal before it")]


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
    sha256: Annotated[str | None, Col("hash of its file")]


@describes
class Inquiry(Row):
    """A written path from a symptom through evidence scopes to a change and its validation."""

    __key__ = "inquiry"
    inquiry: Annotated[str, Col("id of the inquiry")]
    date: Annotated[str, Col("date, ISO 8601")]
    title: Annotated[str, Col("its title")]
    symptom: Annotated[str, Col("what was noticed first")]
    change: Annotated[str | None, Col("what was changed; NULL while nothing was")]
    validation: Annotated[str | None, Col("what was looked at after the change; NULL while nothing was")]
    body: Annotated[str, Col("its text, Markdown")]


@describes
class InquiryRung(Row):
    """One rung of an inquiry's ladder of evidence."""

    __key__ = "inquiry, place"
    __foreign__ = ("FOREIGN KEY (inquiry) REFERENCES inquiry (inquiry) ON DELETE CASCADE",)
    inquiry: Annotated[str, Col("id of the inquiry")]
    place: Annotated[int, Col("place on the ladder, from 1")]
    scope: Annotated[str, Col("evidence scope: application, timeline, kernel, source or instruction")]
    question: Annotated[str, Col("what was asked")]
    found: Annotated[str | None, Col("what was seen, in its maker's words; NULL while it is not answered")]


@describes
class InquiryUse(Row):
    """What an inquiry, or one rung of it, stands on."""

    __key__ = "inquiry, place, kind, name"
    __foreign__ = ("FOREIGN KEY (inquiry) REFERENCES inquiry (inquiry) ON DELETE CASCADE",)
    inquiry: Annotated[str, Col("id of the inquiry")]
    place: Annotated[int, Col("the rung; 0 for the inquiry as a whole")]
    kind: Annotated[str, Col("`run`, `comparison`, `chart`, `claim` or `retraction`")]
    name: Annotated[str, Col("its name; of a chart its page and its key, such as `runs/a#steps`")]
