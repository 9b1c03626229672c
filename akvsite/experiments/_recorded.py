"""What recorders and an engine's own counters left in a folder: records by their kind, and decode steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

#: Kinds of records of an akvlog file (``shim/AKVLOG.md``): calls, the probe's steps, stretches between device events.
CALLS, STEPS, STRETCHES = (1, 2), (16,), (23,)
_DECODE = "decode"
#: What an entry of the names of a file is, where it names marks and calls.
_NAME = 1


def recorded(folder: Path) -> dict[int, int]:
    """Records of all processes by their kind, counted."""
    from akvsite import scan

    counts: dict[int, int] = {}
    for path in folder.glob("*.akvlog"):
        with scan.open_log(path) as log:
            for kind, number in log.tally().present.items():
                counts[kind] = counts.get(kind, 0) + number
    return counts


def count(counts: Mapping[int, int], kinds: Sequence[int]) -> int:
    return sum(counts.get(kind, 0) for kind in kinds)


def decode_steps(folder: Path) -> list[list[int]]:
    """The decode steps of each file that has some: ns, in their order. Steps that have no end are left out."""
    from akvsite import scan

    found = []
    for path in sorted(folder.glob("*.akvlog")):
        with scan.open_log(path) as log:
            names = log.names.to_pylist()
            decode = [entry["id"] for entry in names if entry["what"] == _NAME and entry["text"] == _DECODE]
            parts = [
                np.stack([batch.column(key).to_numpy() for key in ("start_ns", "end_ns")])[
                    :, np.isin(batch.column("kind"), STEPS) & np.isin(batch.column("name"), decode)
                ]
                for batch in log.batches("marks")
            ]
        if not parts:
            continue
        starts, ends = np.concatenate(parts, axis=1)
        order = np.argsort(starts, kind="stable")
        times = [int(b) - int(a) for a, b in zip(starts[order], ends[order], strict=True) if b > a]
        if times:
            found.append(times)
    return found
