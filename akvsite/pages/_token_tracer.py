"""Steps and requests as the scheduler met them: batch sizes, what a request waits for, how many are in flight."""

from __future__ import annotations

from akvsite.pages._run import Run


def write(run: Run) -> str:
    """The part of a run's token page over all its steps and requests; empty where nothing of it is on record."""
    return ""
