"""What the tests of the readers share: real files, and every part of a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from akvsite.conform import conform
from akvsite.reading import Counted, Ending, Fact, Part, Process, Reader, Rejected, Rows

REAL = Path(__file__).parents[3] / "shared" / "real"


@pytest.fixture(scope="session")
def real() -> Path:
    if not REAL.is_dir():
        pytest.skip("the real files are not here: ../shared/real")
    return REAL


@dataclass
class Gathered:
    """Everything that a reader hands over, in the order in which it came."""

    processes: list[Process] = field(default_factory=list)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    counted: dict[tuple[str, str], int] = field(default_factory=dict)
    facts: dict[tuple[str, str], str] = field(default_factory=dict)
    ending: Ending | None = None

    def take(self, part: Part) -> None:
        assert self.ending is None, "nothing follows the ending"
        match part:
            case Process():
                assert not self.rows, "processes come before their rows"
                self.processes.append(part)
            case Rows():
                conform(part.table, part.rows)
                assert set(part.rows.column("process").to_pylist()) <= {p.index for p in self.processes}
                rows = self.rows.setdefault(part.table, [])
                rows += [{k: v for k, v in row.items() if v is not None} for row in part.rows.to_pylist()]
            case Rejected():
                self.rejected.append(part)
            case Counted():
                assert (part.what, part.fate) not in self.counted
                self.counted[part.what, part.fate] = part.count
            case Fact():
                assert (part.part, part.key) not in self.facts
                self.facts[part.part, part.key] = part.value
            case Ending():
                self.ending = part

    def fates(self) -> dict[str, int]:
        """Records by table or reason, whatever their kind."""
        fates: dict[str, int] = {}
        for (_, fate), count in self.counted.items():
            fates[fate] = fates.get(fate, 0) + count
        return fates

    def plain(self) -> dict[str, Any]:
        assert self.ending is not None
        return {
            "processes": [vars(p) for p in self.processes],
            "rows": self.rows,
            "rejected": [vars(r) for r in self.rejected],
            "counted": [[what, fate, count] for (what, fate), count in self.counted.items()],
            "facts": [[part, key, value] for (part, key), value in self.facts.items()],
            "ending": vars(self.ending),
        }


Gather = Callable[[Reader, Path], Gathered]


@pytest.fixture(scope="session")
def gather() -> Gather:
    def everything(reader: Reader, path: Path) -> Gathered:
        gathered = Gathered()
        for part in reader.read(path):
            gathered.take(part)
        assert gathered.ending is not None
        return gathered

    return everything
