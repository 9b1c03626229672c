"""What the scheduler keeps whatever is asked of it, and small cases by hand."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st

from akvsite.runner import cache as pages
from akvsite.runner.config import Cache
from akvsite.runner.scheduler import Request, Scheduler
from akvsite.runner.workload import Asked


def test_stretches() -> None:
    assert doctest.testmod(pages).failed == 0
    assert list(pages.stretches([])) == []


def owned_once(scheduler: Scheduler) -> None:
    tables = [scheduler.blocks.of(r.name) for r in (*scheduler.running, *scheduler.waiting)]
    held = [block for table in tables for block in table]
    assert len(held) == len(set(held))
    assert len(held) + scheduler.blocks.free == scheduler.cache.blocks
    assert not any(scheduler.blocks.held(r.name) for r in scheduler.waiting)


@given(
    lengths=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12),
    block_tokens=st.integers(1, 5),
    more_blocks=st.integers(0, 12),
    max_batch=st.integers(1, 5),
    dropped=st.sets(st.integers(0, 11)),
)
def test_no_block_has_two_owners_nothing_is_lost_and_everyone_finishes(
    lengths: list[tuple[int, int]], block_tokens: int, more_blocks: int, max_batch: int, dropped: set[int]
) -> None:
    blocks = max(-(-(prompt + output) // block_tokens) for prompt, output in lengths) + more_blocks
    scheduler = Scheduler(Cache(blocks, block_tokens, max_batch, 18))
    requests = [Request(Asked(f"r{n}", (7,) * prompt, output)) for n, (prompt, output) in enumerate(lengths)]
    for request in requests:
        assert scheduler.refusal(request.asked) is None
        scheduler.add(request)
    expected = sum(output for _, output in lengths)
    steps = made = 0
    while (coming := scheduler.coming()) is not None:
        decision = scheduler.decide()
        assert decision is not None
        rows = decision.batch.rows
        assert coming == (decision.batch.kind, len(rows))
        assert 1 <= len(rows) == len(decision.requests) <= max_batch
        for request, row in zip(decision.requests, rows, strict=True):
            # The row runs what is known and not yet in the cache, and there is room for it.
            assert row.position + len(row.tokens) == request.known
            assert len(row.blocks) * block_tokens >= request.known
            known = (*request.asked.prompt, *request.generated)
            assert row.tokens == (known if decision.batch.kind == "prefill" else known[-1:])
            scheduler.took(request, 7)
            made += 1
        owned_once(scheduler)
        for request in decision.requests:
            if request.done:
                scheduler.drop(request)
        if steps == 3:
            for n in dropped & set(range(len(requests))):
                if not requests[n].done:
                    expected -= requests[n].asked.output_tokens - len(requests[n].generated)
                    scheduler.drop(requests[n])
        owned_once(scheduler)
        steps += 1
        assert steps < 10_000
    assert scheduler.blocks.free == blocks
    assert made == expected
    if steps <= 3 or not dropped:
        assert all(request.done for request in requests)


def test_the_last_admitted_makes_way_and_is_resumed_with_what_it_had() -> None:
    scheduler = Scheduler(Cache(blocks=4, block_tokens=2, max_batch=2, max_context=8))
    first, second = (Request(Asked(name, (1, 2, 3), 4)) for name in ("first", "second"))
    scheduler.add(first)
    scheduler.add(second)
    for _ in range(2):
        decision = scheduler.decide()
        assert decision is not None and decision.batch.kind == "prefill"
        assert decision.admitted is decision.requests[0]
        scheduler.took(decision.requests[0], 9)
    assert scheduler.blocks.free == 0  # two of two tokens each, for three tokens and one to come
    decision = scheduler.decide()
    assert decision is not None and not decision.preempted
    for request in decision.requests:
        scheduler.took(request, 9)
    decision = scheduler.decide()
    assert decision is not None
    assert decision.preempted == (second,) and decision.requests == (first,)
    scheduler.took(first, 9)
    assert scheduler.coming() == ("decode", 1)  # two free tokens of four are no room for five
    scheduler.drop(first)
    decision = scheduler.decide()
    assert decision is not None and decision.resumed is second and decision.admitted is None
    assert decision.batch.rows[0].tokens == (1, 2, 3, 9, 9)


def test_what_can_never_run_is_refused() -> None:
    scheduler = Scheduler(Cache(blocks=2, block_tokens=4, max_batch=2, max_context=12))
    for prompt, output, why in (
        (0, 1, "one token"),
        (1, 0, "one token"),
        (9, 4, "the most"),
        (5, 4, "2 blocks"),
    ):
        refusal = scheduler.refusal(Asked("r", (1,) * prompt, output))
        assert refusal is not None and why in refusal
    assert scheduler.refusal(Asked("r", (1,) * 4, 4)) is None
