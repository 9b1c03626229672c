"""Designed sets of runs: one file each, found by being here.

An experiment is a module of this package whose name has no underscore in front and which defines ``EXPERIMENT``, an
object that meets ``akvsite.experiments._runner.Experiment``. The runner knows order, seed, fresh processes, resuming
and the bundle; the experiment knows what is run and what is said about it.
"""

from __future__ import annotations

import importlib
import pkgutil

from akvsite.errors import BadInput
from akvsite.experiments._runner import Done, Experiment, Plan, carry_out

__all__ = ["Done", "Experiment", "Plan", "carry_out", "find", "names"]


def names() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def find(name: str) -> Experiment:
    """Raises ``BadInput`` where there is no experiment of this name."""
    if name not in names():
        raise BadInput(name, f"no such experiment; there are {', '.join(names())}")
    found: Experiment = importlib.import_module(f"{__name__}.{name}").EXPERIMENT
    return found
