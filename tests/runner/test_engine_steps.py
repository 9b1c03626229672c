"""The engine's loop by a backend without arithmetic: the order of its work, what it marks, and what it streams."""

from __future__ import annotations

from pathlib import Path

import pytest
from bundles import ask, read_in
from engines import WORK, Adding, cache

from akvsite import milestones, record
from akvsite.record.counters import Counters
from akvsite.runner import run
from akvsite.runner.engine import Engine, Piece, launch, warm_up
from akvsite.runner.workload import Asked, Workload, drawn


class Kept:
    """Pieces in their order, each sent at once."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def send(self, piece: Piece) -> None:
        self.pieces.append(piece)
        piece.mark("sent")

    def fail(self, request: str, why: str) -> None: ...


def test_blocks_are_fetched_one_layer_ahead_or_when_they_are_needed() -> None:
    backend = Adding()
    launch(backend, 3, prefetch=True)
    assert backend.calls == [
        "embed", "fetch 0",
        "fetch 1", "attention 0", "write 0", "mlp 0",
        "fetch 2", "attention 1", "write 1", "mlp 1",
        "attention 2", "write 2", "mlp 2",
        "head",
    ]  # fmt: skip
    backend.calls.clear()
    launch(backend, 2, prefetch=False)
    assert backend.calls == [
        "embed",
        "fetch 0", "attention 0", "write 0", "mlp 0",
        "fetch 1", "attention 1", "write 1", "mlp 1",
        "head",
    ]  # fmt: skip


def test_warming_up_is_no_step_of_the_run() -> None:
    backend = Adding()
    sizes = cache()
    warm_up(backend, 2, sizes, True, 2)
    assert [(b.kind, len(b.rows)) for b in backend.steps] == [("prefill", 1), ("decode", 4), ("decode", 4)]
    for row in (row for batch in backend.steps for row in batch.rows):
        assert row.position + len(row.tokens) <= min(sizes.max_context, len(row.blocks) * sizes.block_tokens)


def test_pieces_hold_every_token_once_and_text_that_is_whole() -> None:
    kept = Kept()
    engine = Engine(Adding(), 1, cache(), kept, record)
    run.alone(engine, WORK)
    streamed: dict[str, list[int]] = {asked.name: [] for asked in drawn(WORK)}
    for piece in kept.pieces:
        assert piece.first == len(streamed[piece.request])
        streamed[piece.request] += piece.tokens
        assert piece.done == (len(streamed[piece.request]) == len(engine.outcome.tokens[piece.request]))
    assert streamed == engine.outcome.tokens
    assert {len(tokens) for tokens in streamed.values()} == {asked.output_tokens for asked in drawn(WORK)}
    for name, tokens in streamed.items():
        text = "".join(piece.text for piece in kept.pieces if piece.request == name)
        assert text == bytes(token & 0xFF for token in tokens).decode("utf-8", "replace")
    # A byte that begins a character waits for the rest of it.
    assert any(len(piece.tokens) > 1 for piece in kept.pieces)


def test_a_fixed_schedule_arrives_by_steps() -> None:
    schedule = run.Schedule()
    for step, what in ((0, "a"), (0, "b"), (7, "c"), (7, "d"), (9, "e")):
        schedule.hold(step, what)
    assert schedule.due(0, idle=False) == ["a", "b"]
    assert schedule.due(6, idle=False) == []
    assert schedule.due(6, idle=True) == ["c", "d"]
    assert schedule.due(9, idle=False) == ["e"] and not schedule


def test_a_request_is_the_same_however_many_there_are() -> None:
    few = Workload(3, 1, 8, 8, 512)
    many = Workload(30, 9, 8, 8, 512)
    assert drawn(many)[:3] == drawn(few)
    assert [asked.at_step for asked in drawn(Workload(4, 2, 8, 8, 512, schedule="fixed"))] == [0, 0, 4, 8]


def test_an_abandoned_request_gives_its_blocks_back_and_the_others_finish() -> None:
    engine = Engine(Adding(), 1, cache(), Kept(), record)
    for name in ("stays", "goes", "waits"):
        assert engine.accept(Asked(name, (1, 2, 3), 6)) is None
    assert engine.accept(Asked("goes", (1,), 1)) == "there is a request of this name"
    for _ in range(2):
        engine.step()
    engine.abandon("goes")
    engine.abandon("never was")
    while engine.step():
        pass
    assert sorted(engine.outcome.tokens) == ["stays", "waits"]
    assert (engine.outcome.finished, engine.outcome.failed) == (2, 2)
    assert engine.scheduler.blocks.free == engine.scheduler.cache.blocks and engine.idle


def _told(folder: Path, store: Path, level: str) -> None:
    (folder / "capture.toml").write_text(
        "\n".join(
            [f'format = 1\nname = "{folder.name}"\nlevel = "{level}"\n[host]\nname = "h"\nrole = "dev"']
            + [f'[[file]]\npath = "{path.name}"' for path in sorted(folder.glob("*.akvlog"))]
        )
    )
    read_in(store, folder)


def test_the_probe_is_told_of_every_step_token_and_preemption(tmp_path: Path) -> None:
    folder = tmp_path / "told"
    folder.mkdir()
    record.set_level("host", folder)
    try:
        engine = Engine(Adding(), 2, cache(blocks=11), Kept(), record)
        run.alone(engine, WORK)
    finally:
        record.set_level("off")
    store = tmp_path / "akvsite.db"
    _told(folder, store, "host")
    steps = [(n, kind, batch) for n, kind, batch, _, _ in engine.outcome.steps]
    assert [
        tuple(r.values()) for r in ask(store, "SELECT number, kind, batch FROM step ORDER BY start_ns")
    ] == steps
    phases = ask(store, "SELECT name, count(*) AS n FROM level1_runner GROUP BY name")
    assert {r["name"]: r["n"] for r in phases} == dict.fromkeys(milestones.PHASES, len(steps))
    regions = ask(
        store, "SELECT name, count(*) AS n FROM level2_host WHERE name NOT LIKE 'layer%' GROUP BY name"
    )
    per_layer = dict.fromkeys(("kv fetch", "attention", "kv write", "mlp"), 2 * len(steps))
    assert {r["name"]: r["n"] for r in regions} == {"embed": len(steps), "head": len(steps)} | per_layer
    events = {
        r["event"]: r["n"]
        for r in ask(store, "SELECT event, count(*) AS n FROM request_event GROUP BY event")
    }
    times = engine.scheduler.preemptions
    assert times > 0
    assert events == {
        "arrived": 10, "admitted": 10, "preempted": times, "resumed": times, "finished": 10
    }  # fmt: skip
    _in_order(store, engine)


def test_counters_are_told_the_same_at_level_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "counted"
    folder.mkdir()
    monkeypatch.setenv("AKV_FILES", str(folder))
    counters = Counters()
    engine = Engine(Adding(), 2, cache(), Kept(), counters)
    run.alone(engine, WORK)
    counters.write()
    store = tmp_path / "akvsite.db"
    _told(folder, store, "off")
    found = ask(store, "SELECT number, kind, batch, start_ns, end_ns, source FROM step ORDER BY number")
    assert [tuple(r.values())[:3] for r in found] == [step[:3] for step in engine.outcome.steps]
    assert {r["source"] for r in found} == {"engine counter"}
    assert [r["end_ns"] - r["start_ns"] for r in found] == [
        end - start for *_, start, end in engine.outcome.steps
    ]
    _in_order(store, engine)


def _in_order(store: Path, engine: Engine) -> None:
    """Every token has every milestone that the host sees, in their order, in the step that made it."""
    seen = [m for m in milestones.TOKEN if not m.startswith("device") and m != "client"]
    columns = ", ".join(f"{milestone}_ns" for milestone in seen)
    rows = ask(store, f"SELECT request, number, step, {columns} FROM token")
    assert len(rows) == sum(map(len, engine.outcome.tokens.values()))
    for row in rows:
        times = [row[f"{milestone}_ns"] for milestone in seen]
        assert None not in times and times == sorted(times), row
