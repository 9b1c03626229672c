"""What the name of an annotation says about the step or the layer that it encloses, whatever tool recorded it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class StepName:
    kind: str
    source: str
    number: int | None = None
    batch: int | None = None


_LAYER = re.compile(r"^layer\.(\d{1,9})$")
_NUMBERED = re.compile(r"^(decode|prefill|mixed)\.step\.(\d{1,18})$")
_PROFILER = re.compile(r"^ProfilerStep#(\d{1,18})$")
_BRACKETS = re.compile(r"^step\[(\w+)(?: bs=(\d{1,9}))?[^\]]*\]$")
_EXECUTE = re.compile(r"^execute_(?:\d+_)?context_(\d{1,9})(?:\(.*\))?_generation_(\d{1,9})(?:\(.*\))?$")
_FORWARD_MODES = {"DECODE": "decode", "EXTEND": "prefill", "PREFILL": "prefill", "MIXED": "mixed"}


def layer_of(name: str) -> int | None:
    """
    >>> layer_of("layer.31"), layer_of("layer.norm")
    (31, None)
    """
    match = _LAYER.match(name)
    return int(match[1]) if match else None


def step_of(name: str) -> StepName | None:
    """What the name of an annotation says about the step it encloses; None where it encloses none.

    In ``execute_32_context_0(...)_generation_32(...)`` the numbers after the words are requests.

    >>> step_of("step[DECODE bs=32]")
    StepName(kind='decode', source='engine annotation', number=None, batch=32)
    >>> step_of("ProfilerStep#6").number, step_of("aten::add")
    (6, None)
    """
    if match := _NUMBERED.match(name):
        return StepName(match[1], "engine annotation", number=int(match[2]))
    if match := _PROFILER.match(name):
        return StepName("profiler", "profiler step", number=int(match[1]))
    if match := _BRACKETS.match(name):
        batch = int(match[2]) if match[2] else None
        return StepName(_FORWARD_MODES.get(match[1].upper(), "other"), "engine annotation", batch=batch)
    if match := _EXECUTE.match(name):
        context, generation = int(match[1]), int(match[2])
        kind = "other"
        if context or generation:
            kind = "mixed" if context and generation else "prefill" if context else "decode"
        return StepName(kind, "engine annotation", batch=context + generation)
    return None
