"""The life of a token, in its order: the words that the probe writes and the reader knows.

A vocabulary of its own, without any import, since an engine that is looked at loads it.
"""

from __future__ import annotations

#: Milestones of one generated token, each the name of a column of ``token`` without ``_ns``, in the order in which they
#: can happen. Those of a step are of every token that the step made.
TOKEN: tuple[str, ...] = (
    "arrived",
    "scheduled",
    "launched",
    "device_first",
    "device_last",
    "sampled",
    "copied",
    "detokenised",
    "sent",
    "client",
)

#: What happens to a request in the engine, and at its client.
REQUEST: tuple[str, ...] = ("arrived", "admitted", "preempted", "resumed", "finished", "failed")
CLIENT: tuple[str, ...] = ("client sent", "client done", "client failed")

#: Phases of a step of the runner, in their order.
PHASES: tuple[str, ...] = ("schedule", "prepare", "launch", "wait", "sample", "detokenise", "send")
