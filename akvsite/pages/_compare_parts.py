"""The parts of a comparison, in their order: each is made of every run alike, and formed by the one design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from akvsite.pages._compare_form import Design, Measured, Part, form
from akvsite.pages._compare_records import calls, records
from akvsite.pages._compare_steps import Subject, layers, phases, regions
from akvsite.pages._compare_tokens import requests, tokens

Measure = Callable[[Sequence[Subject]], list[Measured]]

#: An A/A experiment times steps or a command: how far anything within them differs from itself is not known from it.
OF_STEPS_ALONE = "of these numbers unknown, since A/A experiments time whole steps or commands"


def _each(measure: Callable[[Subject], Measured]) -> Measure:
    return lambda subjects: [measure(subject) for subject in subjects]


#: Each part, how it is measured, and whether it is structure whatever the runs may be used for.
_PARTS: tuple[tuple[Part, Measure, bool], ...] = (
    (
        Part(
            "regions",
            "Regions of the step budget",
            "step_budget",
            "Where does the host's time in a mean step go, on each side?",
            "regions",
        ),
        _each(regions),
        False,
    ),
    (
        Part(
            "layers",
            "Layer windows",
            "layer_time",
            "How long is each layer's window on the host, on each side?",
            "regions",
        ),
        _each(layers),
        False,
    ),
    (
        Part(
            "phases",
            "Runner phases",
            "phase_time",
            "How is a mean step's time spread over the runner's phases, on each side?",
            "phases",
        ),
        _each(phases),
        False,
    ),
    (
        Part(
            "kernels",
            "Kernels, copies and fills",
            "step_record",
            "How much device time do the records of each name take, on each side?",
            "intervals",
        ),
        records,
        True,
    ),
    (
        Part(
            "calls",
            "Runtime calls",
            "step_call",
            "How long is the host inside the calls of each name, on each side?",
            "calls",
        ),
        calls,
        True,
    ),
    (
        Part(
            "tokens",
            "Between milestones of a token",
            "token_step",
            "How long is it from each milestone of a token to its next, on each side?",
            "tokens",
        ),
        _each(tokens),
        False,
    ),
    (
        Part(
            "requests",
            "TTFT and TPOT",
            "request_time",
            "How long do requests wait for their first and for each further token, on each side?",
            "requests",
        ),
        _each(requests),
        False,
    ),
)


def parts(subjects: Sequence[Subject], design: Design, noise: str) -> tuple[Part, ...]:
    """Every part, formed or absent with the reason; ``noise`` is the noise floor of the host's steps, in a line."""
    return tuple(
        form(
            replace(part, noise=f"{noise}; {OF_STEPS_ALONE}"),
            design,
            [(s.side, s.name, m) for s, m in zip(subjects, measure(subjects), strict=True)],
            structure=structure,
        )
        for part, measure, structure in _PARTS
    )
