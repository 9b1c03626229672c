"""Which rows of a run an export holds: a whole run's, or those of some of its steps, in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from akvsite.errors import BadInput
from akvsite.questions import questions
from akvsite.store import Store

#: Rows that are in memory at once.
BATCH: Final = 20_000

#: Columns that hold text; all others hold whole numbers, but for a few of both kinds there are none.
TEXT: Final = frozenset(
    {
        "process", "name", "kind", "source", "request", "event", "category", "thread", "queue", "ran", "device", "made_by", "no_record",
        "clock", "zero",
    }
)  # fmt: skip

_STEPS = "SELECT id FROM step WHERE run_id = :run AND number BETWEEN :first AND :last"
_CALLS = f"SELECT id FROM level4_edge WHERE run_id = :run AND step_id IN ({_STEPS})"
_REQUESTS = "SELECT request FROM token WHERE run_id = :run AND step BETWEEN :first AND :last"
_OF_STEP = f"step_id IN ({_STEPS})"


@dataclass(frozen=True)
class Rows:
    """One kind of rows: the question that has them, their order, and which of them are of some steps."""

    name: str
    question: str
    order: str
    narrowed: str


#: A call is of the step in which it began, a device record of the step of its call.
ROWS: Final = (
    Rows("steps", "row_step", "process_id, start_ns, step_id", _OF_STEP),
    Rows("pairs", "row_step_pair", "step_id, other_id", f"({_OF_STEP} OR other_id IN ({_STEPS}))"),
    Rows("requests", "row_request", "start_ns, request_id", f"name IN ({_REQUESTS})"),
    Rows("events", "row_event", "at_ns, event_id", f"request IN ({_REQUESTS})"),
    Rows("tokens", "row_token", "request, number, token_id", "step BETWEEN :first AND :last"),
    Rows("phases", "row_phase", "process_id, start_ns, duration_ns DESC, phase_id", _OF_STEP),
    Rows("regions", "row_region", "process_id, start_ns, duration_ns DESC, region_id", _OF_STEP),
    Rows("calls", "row_call", "process_id, start_ns, duration_ns DESC, call_id", _OF_STEP),
    Rows("twins", "row_same_call", "shim_id", f"(shim_id IN ({_CALLS}) OR vendor_id IN ({_CALLS}))"),
    Rows("waits", "row_wait", "call_id, wait_id", f"call_id IN ({_CALLS})"),
    Rows("intervals", "row_interval", "process_id, coalesce(start_ns, own_start_ns), duration_ns DESC, interval_id", _OF_STEP),
)  # fmt: skip


@dataclass(frozen=True)
class Steps:
    """Numbers of steps, both counted."""

    first: int
    last: int


@dataclass(frozen=True)
class Source:
    """A run of an open store, or some steps of it.

    ``about``: what an export says of the run, by key: level, role, use, clock, seen, retractions.
    """

    store: Store
    run_id: int
    about: dict[str, Any] = field(default_factory=dict)
    steps: Steps | None = None

    def rows(self, kind: Rows) -> Iterator[list[tuple[Any, ...]]]:
        """Rows with the columns of ``columns(kind)``, at most ``BATCH`` at once."""
        sql = f"SELECT {', '.join(columns(kind))} FROM {kind.question} WHERE run_id = :run"
        if self.steps is not None:
            sql += f" AND {kind.narrowed}"
        return self.store.batches(f"{sql} ORDER BY {kind.order}", self._values(), size=BATCH)

    def refuse_unknown_steps(self) -> None:
        """Raises ``BadInput`` where no step has one of these numbers, with those that there are."""
        if self.steps is None or self.store.rows(f"{_STEPS} LIMIT 1", self._values()):
            return
        first, last = self.steps.first, self.steps.last
        (found,) = self.store.rows(
            "SELECT count(*) AS steps, min(number) AS least, max(number) AS most FROM step WHERE run_id = ?",
            [self.run_id],
        )
        if not found["steps"]:
            why = "has no steps on record"
        elif found["least"] is None:
            why = "has steps on record, and none of them has a number"
        else:
            asked = f"of number {first}" if first == last else f"with a number from {first} to {last}"
            why = f"has no step {asked}; those on record are from {found['least']} to {found['most']}"
        raise BadInput(self.about["run"], why)

    def retractions(self) -> list[str]:
        return list(self.about.get("retractions", ()))

    def _values(self) -> dict[str, int]:
        values = {"run": self.run_id}
        return (
            values | {"first": self.steps.first, "last": self.steps.last}
            if self.steps is not None
            else values
        )


def columns(kind: Rows) -> list[str]:
    """The columns of an export: the question's, without the run, which is the same in all rows."""
    return [name for name in questions()[kind.question].columns if name != "run_id"]


def described(kinds: Sequence[Rows] = ROWS) -> dict[str, dict[str, str]]:
    """What each column holds, by kind of rows."""
    return {
        kind.name: {n: w for n, w in questions()[kind.question].columns.items() if n != "run_id"}
        for kind in kinds
    }
