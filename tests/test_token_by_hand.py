"""One token followed by hand: its milestones out of the raw records, with ``struct`` and ``shim/AKVLOG.md`` alone.

Nothing of the reader, the scanner or the links is used (``by_hand.py``), so that none of them is its own witness. It is done on
a made-up capture, and on the first committed one that holds a probe's file and its client's.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bundles import ask, read_in
from by_hand import CAPTURES, MILESTONES, OF_TOKEN, PHASE, Raw, declared, milestones, roles
from probe_logs import ProbeLog


def made_up(folder: Path) -> Path:
    """Two processes, three requests, chunks of one and two tokens; one token is never detokenised."""
    folder.mkdir()
    engine, client = ProbeLog(pid=41), ProbeLog(pid=42)
    for n, request in enumerate(("r1", "r2", 17)):
        engine.request(request, "arrived", 50 + n, tokens=4)
        client.request(request, "client sent", 20 + n, tokens=4)
    for step in range(4):
        at = 1_000 * (step + 1)
        engine.step(step, at, at + 900, batch=3)
        engine.phase("launch", at + 100, at + 200)
        engine.phase("wait", at + 200, at + 600)
        engine.stamp("scheduled", at + 10, step=step)
        engine.stamp("launched", at + 100, step=step)
        engine.stamp("sampled", at + 650, step=step)
        for n, request in enumerate(("r1", "r2", 17)):
            if (step, request) != (2, "r2"):
                engine.token(request, step, "detokenised", at + 700 + n, step=step)
            engine.token(request, step, "sent", at + 800 + n, step=step)
            if step % 2:
                client.token(request, step - 1, "client", at + 850 + n, tokens=2)
    engine.write(folder / "engine.akvlog")
    client.write(folder / "client.akvlog")
    lines = ["format = 1", f'name = "{folder.name}"', 'level = "runner"', '[host]\nname = "h"\nrole = "dev"']
    lines += [f'[[file]]\npath = "{role}.akvlog"' for role in ("engine", "client")]
    (folder / "capture.toml").write_text("\n".join(lines) + "\n")
    return folder


def committed() -> Path | None:
    for toml in sorted(CAPTURES.glob("*/capture.toml")):
        files = declared(toml.parent)
        if len(files) > 1 and roles([Raw(path) for path in files]):
            return toml.parent
    return None


@pytest.mark.parametrize("which", ["made up", "committed"])
def test_a_token_followed_by_hand_is_the_stores(which: str, tmp_path: Path) -> None:
    folder = made_up(tmp_path / "by-hand") if which == "made up" else committed()
    if folder is None:
        pytest.skip("no committed capture holds a probe's file and its client's yet")
    files = [Raw(path) for path in declared(folder)]
    found = roles(files)
    assert found is not None
    engine, client = found
    store = tmp_path / "akvsite.db"
    read_in(store, folder)
    (axis,) = {r["value"][:14] for r in ask(store, "SELECT value FROM run_fact WHERE key = 'host axis'")}
    # All files of one boot are moved by what the first of them says.
    moved = files[0].ahead if axis == "CLOCK_REALTIME" else 0
    tokens = sorted({(engine.request(r.words[0]), r.value) for r in engine.of_kind(OF_TOKEN)})
    assert tokens
    for request, place in {tokens[0], tokens[len(tokens) // 2], tokens[-1]}:
        step, marks = milestones(engine, client, request, place)
        rows = ask(
            store,
            "SELECT * FROM token t JOIN process p ON p.id = t.process_id WHERE p.pid = ? AND request = ? AND number = ? AND tokens IS NOT 0",
            str(engine.pid), request, place,
        )  # fmt: skip
        assert len(rows) == 1 and rows[0]["step"] == step
        expected = {milestone: at + moved for milestone, at in marks.items()}
        stored = {m: rows[0][f"{m}_ns"] for m in MILESTONES if rows[0][f"{m}_ns"] is not None}
        device = {m: stored.pop(m) for m in ("device_first", "device_last") if m not in marks and m in stored}
        assert stored == expected
        _assert_inside_its_phases(engine, step, device, rows[0]["device_bound_ns"], moved)


def _assert_inside_its_phases(
    engine: Raw, step: int | None, device: dict[str, int], bound: int | None, moved: int
) -> None:
    """What the store knows of the device lies between the step's launch phase and the end of its wait, within the bound."""
    steps = [r for r in engine.records if r.kind == 16 and r.words[0] == step]
    if not device or bound is None or len(steps) != 1:
        return
    own = [p for p in engine.of_kind(PHASE) if steps[0].start <= p.start and p.end <= steps[0].end]
    launched = min(p.start for p in own if p.name == "launch")
    waited = max(p.end for p in own if p.name == "wait")
    assert launched + moved <= device["device_first"] + bound
    assert device["device_last"] - bound <= waited + moved


def test_the_hand_sees_a_difference(tmp_path: Path) -> None:
    """The check itself can fail: another client's clock is another milestone."""
    folder = made_up(tmp_path / "by-hand")
    engine, client = (Raw(folder / f"{role}.akvlog") for role in ("engine", "client"))
    assert milestones(engine, client, "r2", 2) == (
        2,
        {
            "scheduled": 3_010,
            "launched": 3_100,
            "sampled": 3_650,
            "sent": 3_801,
            "arrived": 51,
            "client": 4_851,
        },
    )
    assert milestones(engine, None, "17", 0)[1].get("client") is None
