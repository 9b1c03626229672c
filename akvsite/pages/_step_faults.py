"""What is odd about the steps of a run: steps without an end, and numbers that were given more than once."""

from __future__ import annotations

from collections import defaultdict

from akvsite.pages import Record
from akvsite.pages._html import items, number_of, text
from akvsite.pages._run import Run
from akvsite.pages._step_profile import Places, step_link

#: Steps that a line names.
NAMED = 8


def write(run: Run, at: Places) -> str:
    """A line for each kind of fault, with the steps that have it; empty where there is none."""
    steps = run.desk.ask("step_time", run_id=run.id, nested=0, order="process_id,start_ns,step_id")
    lines = []
    endless = [s for s in steps if s["end_ns"] is None]
    if endless:
        have = number_of(len(endless), "step has", "steps have")
        lines.append(
            f"{have} no end on record ({_named(endless, at)}): no duration, and in no number; what was done after their start is of no step."
        )
    numbered: dict[tuple[int, str, int], list[Record]] = defaultdict(list)
    for step in steps:
        if step["number"] is not None:
            numbered[step["process_id"], step["source"], step["number"]].append(step)
    again = [group for group in numbered.values() if len(group) > 1]
    if again:
        of = "; ".join(f"{text(group[0]['number'])}: {_named(group, at)}" for group in again[:NAMED])
        lines.append(
            f"{number_of(len(again), 'number was', 'numbers were')} given to more than one step ({of}): a token with such a number is of no one step."
        )
    return items(lines) if lines else ""


def _named(steps: list[Record], at: Places) -> str:
    links = [step_link(at[step["step_id"]]).html for step in steps[:NAMED]]
    return ", ".join(links) + (f" and {len(steps) - NAMED:,} more" if len(steps) > NAMED else "")
