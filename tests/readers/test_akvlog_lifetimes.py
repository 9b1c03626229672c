"""Handles are reused: who handed one out is told by lifetimes, as a slow and obvious reading tells it too."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from akvsite.readers import _akvlog_lifetimes
from akvsite.readers._akvlog_lifetimes import Lifetimes

#: Few handles, so that they are reused all the time; times are apart, as those of one thread are.
ACTS = st.lists(
    st.tuples(st.sampled_from(["made", "hidden", "retained", "released", "asked"]), st.integers(0, 3)),
    max_size=40,
)


def slowly(acts: list[tuple[str, int]]) -> list[int | None]:
    owner: dict[int, int | None] = {}
    references: dict[int, int] = {}
    answers: list[int | None] = []
    for number, (act, handle) in enumerate(acts):
        if act in ("made", "hidden"):
            owner[handle] = number if act == "made" else None
            references[handle] = 1
        elif act == "asked":
            answers.append(owner.get(handle))
        elif handle in references:
            references[handle] += 1 if act == "retained" else -1
            if references[handle] <= 0:
                owner[handle] = None
    return answers


def words(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint64)


def told(acts: list[tuple[str, int]], batch: int = 1 << 30) -> list[int | None]:
    lifetimes = Lifetimes()
    for first in range(0, len(acts), batch):
        part = list(enumerate(acts))[first : first + batch]
        for name in ("made", "hidden", "retained", "released"):
            own = [(number, handle) for number, (act, handle) in part if act == name]
            times, handles = words([10 * n for n, _ in own]), words([h for _, h in own])
            if name == "made":
                lifetimes.made(handles, times, words([n for n, _ in own]))
            else:
                getattr(lifetimes, name)(handles, times)
    asked = [(number, handle) for number, (act, handle) in enumerate(acts) if act == "asked"]
    makers, known = lifetimes.makers_of(words([h for _, h in asked]), words([10 * n for n, _ in asked]))
    return [int(m) if k else None for m, k in zip(makers, known, strict=True)]


@given(ACTS, st.integers(1, 7), st.integers(1, 50))
def test_a_maker_is_the_one_that_a_slow_reading_finds(
    acts: list[tuple[str, int]], batch: int, together: int
) -> None:
    """Whatever the batches, and however many records are looked at together."""
    with mock.patch.object(_akvlog_lifetimes, "TOGETHER", together):
        assert told(acts, batch) == slowly(acts)


def test_a_handle_that_was_handed_out_again_is_the_later_ones() -> None:
    acts = [("made", 1), ("asked", 1), ("released", 1), ("asked", 1), ("made", 1), ("asked", 1), ("asked", 2)]
    assert told(acts) == [0, None, 4, None]


def test_a_handle_lives_as_long_as_it_is_retained() -> None:
    acts = [("made", 1), ("retained", 1), ("released", 1), ("asked", 1), ("released", 1), ("asked", 1)]
    assert told(acts) == [0, None]


def test_an_event_of_the_recorder_is_waited_for_by_nobody() -> None:
    assert told([("made", 1), ("hidden", 1), ("asked", 1)]) == [None]


def test_at_one_moment_it_is_released_then_handed_out_then_waited_for() -> None:
    lifetimes = Lifetimes()
    lifetimes.made(words([7, 7]), words([10, 20]), words([1, 2]))
    lifetimes.released(words([7]), words([20]))
    makers, known = lifetimes.makers_of(words([7, 7]), words([19, 20]))
    assert (makers.tolist(), known.tolist()) == ([1, 2], [True, True])


def test_handles_keep_their_64_bits() -> None:
    lifetimes = Lifetimes()
    lifetimes.made(words([5, 2**32 + 5, 2**64 - 1]), words([1, 2, 3]), words([10, 20, 30]))
    makers, known = lifetimes.makers_of(words([5, 2**32 + 5, 2**64 - 1, 2**63]), words([9] * 4))
    assert (makers.tolist(), known.tolist()) == ([10, 20, 30, 0], [True, True, True, False])


def test_nothing_asked_and_nothing_known() -> None:
    assert Lifetimes().makers_of(words([1]), words([1]))[1].tolist() == [False]
    lifetimes = Lifetimes()
    lifetimes.made(words([1]), words([1]), words([1]))
    assert lifetimes.makers_of(words([]), words([]))[0].tolist() == []
